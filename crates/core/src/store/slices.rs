//! The table of slices: nests what comes in nesting order and writes it batch by batch, in a thread of
//! its own, so that it runs beside the decoding.
//!
//! Over 400 lines because a batch is one thing: filled, nested, patched and written over the same columns.

use crate::columns::{MISSING, NONE, Placed, SliceColumns};
use crate::error::{Error, Kind, Result};
use crate::options::Needs;
use crate::store::bits::{some, texts};
use crate::store::heap::Heap;
use crate::store::nesting::Nester;
use crate::store::part::{self, Field, Part, Shape};
use crate::store::part_writer::{Column, PartWriter, Stretch};
use crate::store::worker::{Inbox, Stage};
use arrow_buffer::ToByteSlice;
use std::ops::Range;
use std::sync::Arc;

/// Rows of a batch: a quarter of a row group. Columns this long stay near the processor while they are filled,
/// nested and packed, and their memory is used again sooner.
pub const BATCH_ROWS: usize = part::BATCH_ROWS / 4;
/// Args of a batch from which on it is written, however few its rows.
const BATCH_ARGS_BYTES: usize = 64 << 20;
/// Used memory that is kept for the args of further pieces.
const SPARES: usize = 32;
/// Column of the file that is written when all slices of the batch have ended.
const SELF_PS: usize = 7;
/// Batches that may wait for a slice to end. Those that wait for longer are patched in the end.
const WAITING: usize = 64;

fn fields(args: Shape) -> Vec<Field> {
    [
        ("track_id", Shape::I32),
        ("name", Shape::Code),
        ("category", Shape::Code),
        ("ts_ps", Shape::I64),
        ("dur_ps", Shape::I64),
        ("depth", Shape::I32),
        ("parent_id", Shape::I64),
        ("self_ps", Shape::I64),
        ("step", Shape::I64),
        ("op_name", Shape::Code),
        ("op_type", Shape::Code),
        ("correlation_id", Shape::I64),
        ("args_json", args),
        ("op_self_ps", Shape::I64),
        ("rollup_id", Shape::I32),
    ]
    .map(|(name, shape)| Field::new(name, shape))
    .to_vec()
}

/// The finished table.
pub struct Slices {
    /// The rows.
    pub part: Part,
    /// First start and last end.
    pub bounds_ps: Option<(i64, i64)>,
    /// Slices whose args were too long to be kept (2 GiB).
    pub args_too_long: u64,
}

/// Starts the thread that writes slices; the table goes into the heap or stays in memory.
/// `args`: how the pieces hold their args, [`Shape::Text`] or [`Shape::Lazy`].
pub fn start(heap: Option<Arc<Heap>>, needs: Needs, args: Shape) -> Result<Stage<Slices>> {
    let part = PartWriter::in_heap(heap, fields(args));
    Stage::new("slices", move |inbox| {
        let mut encoder = Encoder::new(part, needs, inbox);
        while let Some(piece) = encoder.inbox.next()? {
            encoder.piece(piece)?;
        }
        encoder.finish()
    })
}

/// Starts a thread that keeps nothing of the slices it is given: their memory is filled again.
pub fn discard(args: Shape) -> Result<Stage<Slices>> {
    Stage::new("slices", move |inbox| {
        while let Some(piece) = inbox.next()? {
            inbox.give_back(piece);
        }
        Ok(Slices {
            part: PartWriter::in_heap(None, fields(args)).finish()?,
            bounds_ps: None,
            args_too_long: 0,
        })
    })
}

/// A stretch of the args of the batch.
enum Text {
    /// In the piece of that number.
    Held(usize, Range<usize>),
    /// Written before.
    There(Placed),
}

/// A batch that was written without its self times, because slices of it had not ended.
struct Waiting {
    batch: usize,
    /// Number of its first row.
    first: i64,
    self_ps: Vec<i64>,
    /// Slices that have not ended.
    open: usize,
}

/// Puts the self time of a row where it belongs: into the batch that is being filled, whose rows from `first`
/// on are `own`, or into one before it.
#[inline]
fn settle(
    (first, own): (i64, &mut [i64]),
    waiting: &mut [Waiting],
    late: &mut Vec<(i64, i64)>,
    row: i64,
    self_ps: i64,
) {
    match own.get_mut((row - first) as usize) {
        Some(place) if row >= first => *place = self_ps,
        _ => settle_before(waiting, late, row, self_ps),
    }
}

/// The same for a row of a batch that waits, or that did not wait for long enough.
#[cold]
fn settle_before(waiting: &mut [Waiting], late: &mut Vec<(i64, i64)>, row: i64, self_ps: i64) {
    let next = waiting.partition_point(|batch| batch.first <= row);
    let batch = next.checked_sub(1).map(|last| &mut waiting[last]);
    let place = batch.and_then(|batch| {
        let place = batch.self_ps.get_mut((row - batch.first) as usize)?;
        batch.open -= 1;
        Some(place)
    });
    match place {
        Some(place) => *place = self_ps,
        None => late.push((row, self_ps)),
    }
}

/// The batch that is being filled, and what reaches beyond it.
struct Encoder {
    part: PartWriter,
    needs: Needs,
    inbox: Inbox,
    nester: Nester,
    last: Option<(u32, i64, i64)>,
    /// Row with which the batch begins.
    first: i64,
    columns: SliceColumns,
    depth: Vec<i32>,
    parent: Vec<i64>,
    self_ps: Vec<i64>,
    offsets: Vec<i32>,
    /// Args of pieces that are in the batch, and which stretch of them.
    held: Vec<Vec<u8>>,
    stretches: Vec<Text>,
    /// Memory for args that was used before: goes back with the columns of other pieces.
    spares: Vec<Vec<u8>>,
    /// Batches without their self times, in their order.
    waiting: Vec<Waiting>,
    /// Memory of a batch that waited.
    used: Vec<i64>,
    /// Self times of slices whose batch was written with them before they ended.
    late: Vec<(i64, i64)>,
    batch_rows: Vec<usize>,
    bounds_ps: Option<(i64, i64)>,
    args_too_long: u64,
    bits: [Vec<u8>; 6],
}

impl Encoder {
    fn new(part: PartWriter, needs: Needs, inbox: Inbox) -> Encoder {
        Encoder {
            part,
            needs,
            inbox,
            nester: Nester::default(),
            last: None,
            first: 0,
            columns: SliceColumns::default(),
            depth: Vec::new(),
            parent: Vec::new(),
            self_ps: Vec::new(),
            offsets: vec![0],
            held: Vec::new(),
            stretches: Vec::new(),
            spares: Vec::new(),
            waiting: Vec::new(),
            used: Vec::new(),
            late: Vec::new(),
            batch_rows: Vec::new(),
            bounds_ps: None,
            args_too_long: 0,
            bits: Default::default(),
        }
    }

    fn piece(&mut self, mut piece: SliceColumns) -> Result<()> {
        let rows = piece.len();
        let args = std::mem::take(&mut piece.args_json);
        self.held.push(args);
        let mut at = 0;
        while at < rows {
            let taken = self.take(&piece, at)?;
            at += taken;
            // Nothing fitted, or the batch is full.
            if taken == 0 || self.columns.len() == BATCH_ROWS {
                self.flush(at < rows)?;
            }
        }
        self.free_args(0);
        // The columns are warm and of use at once; args stay until their batch is written.
        piece.args_json = self.spares.pop().unwrap_or_default();
        self.inbox.give_back(piece);
        Ok(())
    }

    /// Takes rows of a piece from `at` on into the batch, as many as fit; returns how many.
    fn take(&mut self, piece: &SliceColumns, at: usize) -> Result<usize> {
        let mut to = piece.len().min(at + BATCH_ROWS - self.columns.len());
        if self.needs.args {
            to = self.take_args(piece, at, to)?;
        }
        if to == at {
            return Ok(0);
        }
        let columns = &mut self.columns;
        columns.track.extend_from_slice(&piece.track[at..to]);
        columns.name.extend_from_slice(&piece.name[at..to]);
        columns.category.extend_from_slice(&piece.category[at..to]);
        columns.ts_ps.extend_from_slice(&piece.ts_ps[at..to]);
        columns.dur_ps.extend_from_slice(&piece.dur_ps[at..to]);
        columns.op_name.extend_from_slice(&piece.op_name[at..to]);
        columns.op_type.extend_from_slice(&piece.op_type[at..to]);
        columns.correlation.extend_from_slice(&piece.correlation[at..to]);
        self.nest(piece, at, to)?;
        Ok(to - at)
    }

    /// Places the args of rows `at..to`; returns the first row that does not fit.
    fn take_args(&mut self, piece: &SliceColumns, at: usize, to: usize) -> Result<usize> {
        let mut next = piece.placed.partition_point(|placed| placed.row < at);
        let mut row = at;
        while row < to {
            match piece.placed.get(next) {
                Some(placed) if placed.row == row => {
                    let base = self.offsets.last().map_or(0, |last| *last as usize);
                    // What was written in one go stays in one batch.
                    if row + placed.rows > to
                        || (base + placed.bytes > BATCH_ARGS_BYTES && self.offsets.len() > 1)
                    {
                        break;
                    }
                    let start = piece.args_start(row);
                    let ends = &piece.args_end[row..row + placed.rows];
                    self.offsets.extend(ends.iter().map(|end| (base + *end as usize - start) as i32));
                    self.stretches.push(Text::There(*placed));
                    row += placed.rows;
                    next += 1;
                }
                placed => {
                    let end = placed.map_or(to, |placed| placed.row.min(to));
                    let before = next.checked_sub(1).map_or(0, |before| {
                        let placed = &piece.placed[before];
                        // How far the texts in the piece lag behind all texts.
                        piece.args_start(placed.row + placed.rows) - placed.after
                    });
                    let taken = self.take_held(piece, row, end, before)?;
                    row += taken;
                    if row < end {
                        break;
                    }
                }
            }
        }
        Ok(row)
    }

    /// Places the args of rows `at..to` that are in the piece itself, `before` bytes before where all
    /// texts would have them; returns how many rows fit.
    fn take_held(&mut self, piece: &SliceColumns, at: usize, to: usize, before: usize) -> Result<usize> {
        let start_of = |row: usize| piece.args_start(row) - before;
        let held = self.held.len() - 1;
        let mut begin = start_of(at);
        let mut base = self.offsets.last().map_or(0, |last| *last as usize);
        let mut row = at;
        while row < to {
            let (start, end) = (start_of(row), piece.args_end[row] as usize - before);
            if base + end - begin > BATCH_ARGS_BYTES && self.offsets.len() > 1 {
                break;
            }
            if end - start > i32::MAX as usize {
                // Cannot be held in a column of texts; the text of this row stays out.
                self.stretch(held, begin..start);
                base += start - begin;
                begin = end;
                self.args_too_long += 1;
            }
            self.offsets.push((base + end - begin) as i32);
            row += 1;
        }
        self.stretch(held, begin..start_of(row));
        Ok(row - at)
    }

    fn stretch(&mut self, held: usize, range: Range<usize>) {
        if !range.is_empty() {
            self.stretches.push(Text::Held(held, range));
        }
    }

    fn nest(&mut self, piece: &SliceColumns, at: usize, to: usize) -> Result<()> {
        let (first, mut row) = (self.first, self.first + self.self_ps.len() as i64);
        let rows = self.self_ps.len() + to - at;
        self.self_ps.resize(rows, 0);
        let (own, waiting, late) = (&mut self.self_ps, &mut self.waiting, &mut self.late);
        let mut done = |row, self_ps| settle((first, own), waiting, late, row, self_ps);
        let (mut low, mut high) = self.bounds_ps.unwrap_or((i64::MAX, i64::MIN));
        let nesting = self.needs.nesting;
        let columns = piece.track[at..to].iter().zip(&piece.ts_ps[at..to]).zip(&piece.dur_ps[at..to]);
        for ((track, ts_ps), dur_ps) in columns {
            let (track, ts_ps, dur_ps) = (*track, *ts_ps, *dur_ps);
            let end_ps = ts_ps.checked_add(dur_ps).filter(|_| dur_ps >= 0).ok_or_else(|| {
                Error::new(Kind::Damaged, format!("a decoder gave a slice at {ts_ps} ps of {dur_ps} ps"))
            })?;
            low = low.min(ts_ps);
            high = high.max(end_ps);
            if !nesting {
                continue;
            }
            match self.last {
                Some((same, ..)) if same != track => self.nester.finish(&mut done),
                Some((_, before_ps, longer_ps)) if (before_ps, -longer_ps) > (ts_ps, -dur_ps) => {
                    return Err(Error::new(
                        Kind::Damaged,
                        format!("a decoder gave track {track} out of order"),
                    ));
                }
                _ => {}
            }
            self.last = Some((track, ts_ps, dur_ps));
            let place = self.nester.begin(row, ts_ps, dur_ps, &mut done);
            self.depth.push(place.depth);
            self.parent.push(place.parent);
            row += 1;
        }
        if !nesting {
            self.depth.resize(rows, 0);
        }
        self.bounds_ps = Some((low, high));
        self.fill()
    }

    /// Writes the self times of batches whose slices have ended.
    fn fill(&mut self) -> Result<()> {
        let too_many = self.waiting.len().saturating_sub(WAITING);
        for (number, batch) in self.waiting.iter_mut().enumerate() {
            if batch.open > 0 && number >= too_many {
                continue;
            }
            let mut self_ps = std::mem::take(&mut batch.self_ps);
            let column = Column::Fixed { valid: None, values: self_ps.to_byte_slice() };
            self.part.fill(batch.batch, SELF_PS, &column)?;
            self_ps.clear();
            self.used = self_ps;
        }
        self.waiting.retain(|batch| !batch.self_ps.is_empty());
        Ok(())
    }

    /// Writes the batch. `keep`: the last piece goes on in the next batch.
    fn flush(&mut self, keep: bool) -> Result<()> {
        let rows = self.columns.len();
        if rows == 0 {
            return Ok(());
        }
        let open = self.nester.open_from(self.first);
        let columns = &self.columns;
        let [category, op_name, op_type, parent, correlation, args] = &mut self.bits;
        let data: Vec<Stretch<'_>> = self
            .stretches
            .iter()
            .map(|text| match text {
                Text::Held(held, range) => Stretch::Bytes(&self.held[*held][range.clone()]),
                Text::There(placed) => {
                    Stretch::There { offset: placed.offset, bytes: placed.bytes as u64, hash: placed.hash }
                }
            })
            .collect();
        let written = [
            Column::Fixed { valid: None, values: columns.track.to_byte_slice() },
            Column::Fixed { valid: None, values: columns.name.to_byte_slice() },
            some(&columns.category, NONE, category),
            Column::Fixed { valid: None, values: columns.ts_ps.to_byte_slice() },
            Column::Fixed { valid: None, values: columns.dur_ps.to_byte_slice() },
            Column::Fixed { valid: None, values: self.depth.to_byte_slice() },
            some(&self.parent, -1, parent),
            match open {
                0 => Column::Fixed { valid: None, values: self.self_ps.to_byte_slice() },
                _ => Column::Nulls,
            },
            Column::Nulls,
            some(&columns.op_name, NONE, op_name),
            some(&columns.op_type, NONE, op_type),
            some(&columns.correlation, MISSING, correlation),
            texts(&self.offsets, &data, args),
            // Known when all slices are: which are ops, and which are called alike.
            Column::Nulls,
            Column::Nulls,
        ];
        self.part.write(rows, &written)?;
        if open > 0 {
            self.waiting.push(Waiting {
                batch: self.batch_rows.len(),
                first: self.first,
                self_ps: std::mem::replace(&mut self.self_ps, std::mem::take(&mut self.used)),
                open,
            });
        }
        self.batch_rows.push(rows);
        self.first += rows as i64;
        self.columns.clear();
        self.depth.clear();
        self.parent.clear();
        self.self_ps.clear();
        self.offsets.truncate(1);
        self.stretches.clear();
        self.free_args(usize::from(keep));
        Ok(())
    }

    /// Frees args that are not looked at any more for others; the last `keep` are.
    fn free_args(&mut self, keep: usize) {
        if self.stretches.iter().any(|text| matches!(text, Text::Held(..))) {
            return;
        }
        let last = self.held.len() - keep;
        for mut args in self.held.drain(..last) {
            if self.spares.len() < SPARES {
                args.clear();
                self.spares.push(args);
            }
        }
    }

    fn finish(mut self) -> Result<Slices> {
        let first = self.first;
        let (own, waiting, late) = (&mut self.self_ps, &mut self.waiting, &mut self.late);
        self.nester.finish(|row, self_ps| settle((first, own), waiting, late, row, self_ps));
        self.fill()?;
        self.flush(false)?;
        self.late.sort_unstable();
        let mut late = self.late.as_slice();
        let mut first = 0;
        for (batch, rows) in self.batch_rows.iter().enumerate() {
            let end = first + *rows as i64;
            let here = late.partition_point(|(row, _)| *row < end);
            if here > 0 {
                let values: Vec<(usize, i64)> =
                    late[..here].iter().map(|(row, self_ps)| ((row - first) as usize, *self_ps)).collect();
                self.part.patch(batch, SELF_PS, &values)?;
            }
            late = &late[here..];
            first = end;
        }
        Ok(Slices { part: self.part.finish()?, bounds_ps: self.bounds_ps, args_too_long: self.args_too_long })
    }
}
