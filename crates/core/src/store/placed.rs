//! Args that are written before the slices they belong to: block by block as pieces are decoded or sorted, so
//! that they are not held, spilled and copied until all slices are there.
//!
//! A block holds successive rows of one track. What the merge takes whole it names by its place; of a
//! block that another run cuts in two the text is read back and copied.

use crate::columns::{Placed, SliceColumns};
use crate::error::Result;
use crate::store::heap::{self, Heap};
use crate::store::part::Shape;
use crate::store::part_writer::{Stretch, check_texts};
use crate::store::sorted_runs::{BLOCK_ARGS_BYTES, BLOCK_ROWS};
use std::ops::Range;

/// Mean bytes of blocks below which it is better to keep args with their rows.
const WORTH_BYTES: usize = 4 << 10;
/// Rows of a block that is written by [`place_in_order`]: a batch ends where a block does.
const ORDERED_ROWS: usize = 4 << 10;
/// Args of a piece above which a single text might be too long for a column.
const MOST_BYTES: usize = 64 << 20;

/// A block of args.
#[derive(Debug)]
pub struct Text {
    /// Row of the run after its last.
    end: usize,
    bytes: usize,
    offset: u64,
    hash: u64,
}

/// Writes the args of a piece in its order, if that is worth it; `scratch` is room for them.
pub fn place(
    heap: &Heap,
    args: Shape,
    piece: &SliceColumns,
    order: Option<&[u32]>,
    scratch: &mut Vec<u8>,
) -> Result<Vec<Text>> {
    let rows = piece.len();
    let all = piece.args_json.len();
    let row = |at: usize| order.map_or(at, |order| order[at] as usize);
    let changes = (1..rows).filter(|at| piece.track[row(*at)] != piece.track[row(at - 1)]).count();
    let blocks = 1 + changes + rows / BLOCK_ROWS + all / BLOCK_ARGS_BYTES;
    if all / blocks < WORTH_BYTES || all > MOST_BYTES {
        return Ok(Vec::new());
    }
    scratch.clear();
    let mut offsets = Vec::with_capacity(rows + 1);
    offsets.push(0_i32);
    let mut bytes = 0;
    for at in 0..rows {
        if order.is_some() {
            scratch.extend_from_slice(piece.args(row(at)));
        }
        bytes += piece.args_bytes(row(at)) as usize;
        offsets.push(bytes as i32);
    }
    let text: &[u8] = if order.is_some() { scratch } else { &piece.args_json };
    if args == Shape::Text {
        check_texts(&offsets, [Stretch::Bytes(text)])?;
    }
    let mut offset = heap.put_all(text)?;
    let mut texts = Vec::with_capacity(blocks);
    let mut start = 0;
    for (at, end) in (1..).zip(&offsets[1..]) {
        let end = *end as usize;
        let last = at == rows
            || at % BLOCK_ROWS == 0
            || end - start >= BLOCK_ARGS_BYTES
            || piece.track[row(at)] != piece.track[row(at - 1)];
        if last {
            texts.push(Text { end: at, bytes: end - start, offset, hash: heap::hash(&[&text[start..end]]) });
            offset += (end - start) as u64;
            start = end;
        }
    }
    Ok(texts)
}

/// Writes the args of a piece whose rows go out as they are, for the thread that decoded them: others have
/// enough to do, and here the bytes are still near the processor. Their places stay with the piece.
pub fn place_in_order(heap: &Heap, piece: &mut SliceColumns) -> Result<()> {
    if piece.args_json.len() < WORTH_BYTES || piece.args_json.len() > MOST_BYTES {
        return Ok(());
    }
    let mut offset = heap.put_all(&piece.args_json)?;
    let (mut row, mut start) = (0, 0);
    while row < piece.len() {
        let rows = ORDERED_ROWS.min(piece.len() - row);
        let end = piece.args_end[row + rows - 1] as usize;
        if end > start {
            piece.placed.push(Placed {
                row,
                rows,
                after: 0,
                offset,
                bytes: end - start,
                hash: heap::hash(&[&piece.args_json[start..end]]),
            });
        }
        offset += (end - start) as u64;
        (row, start) = (row + rows, end);
    }
    piece.args_json.clear();
    Ok(())
}

/// The blocks of a run, and the one that was read back.
#[derive(Default)]
pub struct Texts {
    blocks: Vec<Text>,
    open: Option<usize>,
    text: Vec<u8>,
}

impl Texts {
    /// The blocks of a run.
    pub fn new(blocks: Vec<Text>) -> Texts {
        Texts { blocks, ..Texts::default() }
    }

    /// True when the args of the run are with its rows.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Appends the args of rows of `piece`, which begins with row `first` of the run; the rows
    /// themselves come after.
    pub fn append(
        &mut self,
        out: &mut SliceColumns,
        piece: &SliceColumns,
        first: usize,
        rows: Range<usize>,
        heap: &Heap,
    ) -> Result<()> {
        let (mut row, stop) = (first + rows.start, first + rows.end);
        let mut next = self.blocks.partition_point(|block| block.end <= row);
        while row < stop {
            let begin = next.checked_sub(1).map_or(0, |before| self.blocks[before].end);
            let block = &self.blocks[next];
            let end = block.end.min(stop);
            if row == begin && end == block.end {
                if block.bytes > 0 {
                    out.placed.push(Placed {
                        row: out.len() + row - first - rows.start,
                        rows: end - row,
                        after: out.args_json.len(),
                        offset: block.offset,
                        bytes: block.bytes,
                        hash: block.hash,
                    });
                }
            } else {
                if self.open != Some(next) {
                    self.text.resize(block.bytes, 0);
                    heap.read(block.offset, &mut self.text)?;
                    self.open = Some(next);
                }
                let start = piece.args_start(begin - first);
                let (from, to) =
                    (piece.args_start(row - first) - start, piece.args_start(end - first) - start);
                out.args_json.extend_from_slice(&self.text[from..to]);
            }
            row = end;
            next += 1;
        }
        Ok(())
    }
}
