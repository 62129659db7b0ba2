//! Slices that come in any order: sorted piece by piece as they come, merged at the end.
//!
//! Every piece becomes a run, sorted by track, start, duration (the longer first) and place in the
//! file. Runs stay in memory up to a limit; later ones are spilled, in blocks that are read back one
//! at a time. The merge copies stretches, not rows: where runs do not overlap in time it costs one
//! comparison per track and run. Args go into the file of the store as soon as their piece is sorted,
//! unless the stretches of one track are short; the merge then moves only their places.

use crate::columns::SliceColumns;
use crate::error::Result;
use crate::input::at::FileExt;
use crate::input::{unnamed_file, unnamed_file_in};
use crate::store::blocks::{Held as Columns, decode, encode};
use crate::store::heap::Heap;
use crate::store::part::Shape;
use crate::store::placed::{Text, Texts, place};
use crate::store::worker::Stage;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// Rows of a spilled block; a block is the part of a spilled run that is in memory during the merge.
pub const BLOCK_ROWS: usize = 1024;
/// Args of a spilled block from which on it is closed, however few its rows.
pub const BLOCK_ARGS_BYTES: usize = 256 << 10;
/// Bytes of a row in memory, without its args.
const ROW_BYTES: usize = 52;
/// Rows and args of a merged piece.
const PIECE_ROWS: usize = 1 << 15;
const PIECE_ARGS_BYTES: usize = 8 << 20;

/// Sorted runs of slices.
pub struct Runs {
    folder: Option<PathBuf>,
    /// Where args go, and how pieces hold them.
    heap: Option<(Arc<Heap>, Shape)>,
    memory_bytes: usize,
    used_bytes: usize,
    runs: Vec<Run>,
    spill: Option<File>,
    spilled_bytes: u64,
    bytes: Vec<u8>,
    text: Vec<u8>,
}

struct Run {
    rows: Held,
    /// Where the args are, when they were written before.
    texts: Vec<Text>,
}

enum Held {
    Memory(Box<SliceColumns>),
    Spilled(Vec<Block>),
}

struct Block {
    offset: u64,
    rows: usize,
    /// Bytes of its args, which come last.
    args: usize,
    held: Columns,
}

impl Runs {
    /// No runs yet. Without a folder nothing is spilled.
    fn new(folder: Option<PathBuf>, heap: Option<(Arc<Heap>, Shape)>, memory_bytes: usize) -> Runs {
        let memory_bytes = if folder.is_some() { memory_bytes } else { usize::MAX };
        Runs {
            folder,
            heap,
            memory_bytes,
            used_bytes: 0,
            runs: Vec::new(),
            spill: None,
            spilled_bytes: 0,
            bytes: Vec::new(),
            text: Vec::new(),
        }
    }

    /// Sorts a piece and keeps it. Returns an empty one.
    fn push(&mut self, mut piece: SliceColumns) -> Result<SliceColumns> {
        if piece.is_empty() {
            return Ok(piece);
        }
        let order = order(&piece);
        let texts = match &self.heap {
            Some((heap, args)) => place(heap, *args, &piece, order.as_deref(), &mut self.text)?,
            None => Vec::new(),
        };
        // The buffer goes back whatever becomes of the rows.
        let written = (!texts.is_empty()).then(|| std::mem::take(&mut piece.args_json));
        let emptied = |mut piece: SliceColumns| {
            piece.args_json = written.unwrap_or(piece.args_json);
            piece.clear();
            piece
        };
        let bytes = piece.len() * ROW_BYTES + piece.args_json.len();
        if self.used_bytes + bytes > self.memory_bytes {
            let rows = Held::Spilled(self.spill(&piece, order.as_deref())?);
            self.runs.push(Run { rows, texts });
            return Ok(emptied(piece));
        }
        self.used_bytes += bytes;
        let Some(order) = order else {
            let rows = Held::Memory(Box::new(piece));
            self.runs.push(Run { rows, texts });
            return Ok(emptied(SliceColumns::default()));
        };
        let mut sorted = SliceColumns::default();
        gather(&mut sorted, &piece, &order);
        let rows = Held::Memory(Box::new(sorted));
        self.runs.push(Run { rows, texts });
        Ok(emptied(piece))
    }

    fn spill(&mut self, piece: &SliceColumns, order: Option<&[u32]>) -> Result<Vec<Block>> {
        let file = match self.spill.take() {
            Some(file) => file,
            None => match &self.folder {
                Some(folder) => unnamed_file_in(folder)?,
                None => unnamed_file()?,
            },
        };
        let held = Columns::of(piece);
        let inline = !piece.args_json.is_empty();
        let row = |at: usize| order.map_or(at, |order| order[at] as usize);
        let mut blocks = Vec::new();
        let bytes = &mut self.bytes;
        bytes.clear();
        let mut from = 0;
        while from < piece.len() {
            let most = (from + BLOCK_ROWS).min(piece.len());
            let mut args = 0;
            let mut to = from;
            while to < most && (to == from || args <= BLOCK_ARGS_BYTES) {
                args += if inline { piece.args(row(to)).len() } else { 0 };
                to += 1;
            }
            let offset = self.spilled_bytes + bytes.len() as u64;
            match order {
                Some(order) => encode(bytes, piece, held, order[from..to].iter().map(|row| *row as usize)),
                None => encode(bytes, piece, held, from..to),
            }
            blocks.push(Block { offset, rows: to - from, args, held });
            from = to;
        }
        file.write_all_at(bytes, self.spilled_bytes)?;
        self.spilled_bytes += bytes.len() as u64;
        self.spill = Some(file);
        Ok(blocks)
    }

    /// Starts a thread that sorts and keeps pieces.
    /// `args`: how the pieces hold their args, [`Shape::Text`] or [`Shape::Lazy`].
    pub fn start(
        folder: Option<PathBuf>,
        heap: Option<Arc<Heap>>,
        args: Shape,
        memory_bytes: usize,
    ) -> Result<Stage<Runs>> {
        Stage::new("runs", move |inbox| {
            let mut runs = Runs::new(folder, heap.map(|heap| (heap, args)), memory_bytes);
            while let Some(piece) = inbox.next()? {
                let used = runs.push(piece)?;
                inbox.give_back(used);
            }
            Ok(runs)
        })
    }

    /// Merges all runs; `give` takes pieces in nesting order and returns empty ones.
    pub fn merge(self, mut give: impl FnMut(SliceColumns) -> Result<SliceColumns>) -> Result<()> {
        let spill = self.spill;
        let file = self.heap.map(|(heap, _)| heap);
        let mut cursors = Vec::with_capacity(self.runs.len());
        let mut heap = BinaryHeap::with_capacity(self.runs.len());
        for run in self.runs {
            let mut cursor = Cursor::new(run);
            if cursor.fill(spill.as_ref())? {
                heap.push(Reverse(cursor.key(cursor.at, cursors.len())));
            }
            cursors.push(cursor);
        }
        drop(self.bytes);
        let mut out = SliceColumns::default();
        while let Some(Reverse(key)) = heap.pop() {
            let run = key.3;
            let cursor = &mut cursors[run];
            let limit = heap.peek().map(|Reverse(next)| *next);
            loop {
                let to = cursor.reach(run, limit);
                let args = cursor.piece.args_start(to) - cursor.piece.args_start(cursor.at);
                let held = out.args_end.last().map_or(0, |end| *end as usize);
                if !out.is_empty() && held + args > PIECE_ARGS_BYTES {
                    out = give(out)?;
                }
                cursor.append(&mut out, to, file.as_deref())?;
                cursor.at = to;
                if out.len() >= PIECE_ROWS {
                    out = give(out)?;
                }
                if !cursor.fill(spill.as_ref())? {
                    break;
                }
                let next = cursor.key(cursor.at, run);
                if limit.is_some_and(|limit| limit < next) {
                    heap.push(Reverse(next));
                    break;
                }
            }
        }
        if !out.is_empty() {
            give(out)?;
        }
        Ok(())
    }
}

/// Order of slices: track, start, longer first, run. Within a run they are in order already.
type Key = (u32, i64, Reverse<i64>, usize);

/// A place in a run.
struct Cursor {
    piece: SliceColumns,
    at: usize,
    blocks: std::vec::IntoIter<Block>,
    bytes: Vec<u8>,
    /// Row of the run with which the piece begins.
    first: usize,
    texts: Texts,
}

impl Cursor {
    fn new(run: Run) -> Cursor {
        let (piece, blocks) = match run.rows {
            Held::Memory(piece) => (*piece, Vec::new()),
            Held::Spilled(blocks) => (SliceColumns::default(), blocks),
        };
        Cursor {
            piece,
            at: 0,
            blocks: blocks.into_iter(),
            bytes: Vec::new(),
            first: 0,
            texts: Texts::new(run.texts),
        }
    }

    /// Appends the rows up to `to`.
    fn append(&mut self, out: &mut SliceColumns, to: usize, heap: Option<&Heap>) -> Result<()> {
        let at = self.at;
        match heap.filter(|_| !self.texts.is_empty()) {
            Some(heap) => self.texts.append(out, &self.piece, self.first, at..to, heap)?,
            None => {
                let (start, end) = (self.piece.args_start(at), self.piece.args_start(to));
                out.args_json.extend_from_slice(&self.piece.args_json[start..end]);
            }
        }
        append(out, &self.piece, at, to);
        Ok(())
    }

    /// Sees that there is a row at `at`; false at the end of the run, whose memory is freed.
    fn fill(&mut self, spill: Option<&File>) -> Result<bool> {
        while self.at == self.piece.len() {
            self.first += self.piece.len();
            let (Some(block), Some(spill)) = (self.blocks.next(), spill) else {
                self.piece = SliceColumns::default();
                self.bytes = Vec::new();
                self.texts = Texts::default();
                self.at = 0;
                return Ok(false);
            };
            self.bytes.resize(block.held.bytes(block.rows), 0);
            spill.read_exact_at(&mut self.bytes, block.offset)?;
            decode(&mut self.piece, &self.bytes, block.held, block.rows);
            self.piece.args_json.resize(block.args, 0);
            spill.read_exact_at(&mut self.piece.args_json, block.offset + self.bytes.len() as u64)?;
            self.at = 0;
        }
        Ok(true)
    }

    fn key(&self, at: usize, run: usize) -> Key {
        (self.piece.track[at], self.piece.ts_ps[at], Reverse(self.piece.dur_ps[at]), run)
    }

    /// The first row after `at` that does not come before `limit`.
    fn reach(&self, run: usize, limit: Option<Key>) -> usize {
        let rows = self.piece.len();
        let Some(limit) = limit else { return rows };
        if self.key(rows - 1, run) < limit {
            return rows;
        }
        // Doubling steps, then halving: short stretches cost little, long ones little more.
        let mut low = self.at + 1;
        let mut step = 1;
        while low + step < rows && self.key(low + step, run) < limit {
            low += step;
            step *= 2;
        }
        let mut high = (low + step).min(rows);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.key(middle, run) < limit {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// The order in which the rows of a piece are sorted; `None` when they are already.
fn order(piece: &SliceColumns) -> Option<Vec<u32>> {
    let key = |row: usize| (piece.track[row], piece.ts_ps[row], Reverse(piece.dur_ps[row]));
    if (1..piece.len()).all(|row| key(row - 1) <= key(row)) {
        return None;
    }
    let mut order = by_track(&piece.track);
    for track in order.chunk_by_mut(|a, b| piece.track[*a as usize] == piece.track[*b as usize]) {
        let time = |row: &u32| (piece.ts_ps[*row as usize], Reverse(piece.dur_ps[*row as usize]));
        if !track.is_sorted_by_key(time) {
            track.sort_by_key(time);
        }
    }
    Some(order)
}

/// The rows by track, within a track as they come.
fn by_track(track: &[u32]) -> Vec<u32> {
    let (low, high) = track.iter().fold((u32::MAX, 0), |(low, high), t| (low.min(*t), high.max(*t)));
    let span = (high - low) as usize + 1;
    if span > track.len() * 4 {
        let mut order: Vec<u32> = (0..track.len() as u32).collect();
        order.sort_by_key(|row| track[*row as usize]);
        return order;
    }
    let mut starts = vec![0_u32; span + 1];
    track.iter().for_each(|t| starts[(t - low) as usize + 1] += 1);
    (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
    let mut order = vec![0; track.len()];
    for (row, t) in track.iter().enumerate() {
        let place = &mut starts[(t - low) as usize];
        order[*place as usize] = row as u32;
        *place += 1;
    }
    order
}

/// Fills `out` with the rows of `piece` in an order.
fn gather(out: &mut SliceColumns, piece: &SliceColumns, order: &[u32]) {
    fn pick<T: Copy>(out: &mut Vec<T>, from: &[T], order: &[u32]) {
        out.extend(order.iter().map(|row| from[*row as usize]));
    }
    pick(&mut out.track, &piece.track, order);
    pick(&mut out.name, &piece.name, order);
    pick(&mut out.category, &piece.category, order);
    pick(&mut out.ts_ps, &piece.ts_ps, order);
    pick(&mut out.dur_ps, &piece.dur_ps, order);
    pick(&mut out.op_name, &piece.op_name, order);
    pick(&mut out.op_type, &piece.op_type, order);
    pick(&mut out.correlation, &piece.correlation, order);
    let inline = !piece.args_json.is_empty();
    out.args_json.reserve(piece.args_json.len());
    let mut end = 0;
    for row in order.iter().map(|row| *row as usize) {
        if inline {
            out.args_json.extend_from_slice(piece.args(row));
        }
        end += piece.args_bytes(row);
        out.args_end.push(end);
    }
}

/// Appends rows `from..to` of a piece, without the text of the args.
fn append(out: &mut SliceColumns, piece: &SliceColumns, from: usize, to: usize) {
    out.track.extend_from_slice(&piece.track[from..to]);
    out.name.extend_from_slice(&piece.name[from..to]);
    out.category.extend_from_slice(&piece.category[from..to]);
    out.ts_ps.extend_from_slice(&piece.ts_ps[from..to]);
    out.dur_ps.extend_from_slice(&piece.dur_ps[from..to]);
    out.op_name.extend_from_slice(&piece.op_name[from..to]);
    out.op_type.extend_from_slice(&piece.op_type[from..to]);
    out.correlation.extend_from_slice(&piece.correlation[from..to]);
    let start = piece.args_start(from) as u32;
    let base = out.args_end.last().copied().unwrap_or(0);
    out.args_end.extend(piece.args_end[from..to].iter().map(|end| end - start + base));
}
