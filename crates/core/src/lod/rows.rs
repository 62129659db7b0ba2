//! Slices in few bytes: blocks of 64 rows, each column of a block as the difference to its smallest value, in as
//! many whole bytes as the block needs. A row of a real recording takes about 12 bytes instead of 32, and any row
//! is read without reading others.

use super::Slice;
use arrow_buffer::Buffer;
use std::ops::Range;

/// Rows of a block. The ends of a stretch are walked row by row: see [`super::pyramid`].
pub const BLOCK_ROWS: usize = 64;
/// Bytes that tell where a block is and how it is packed.
pub const ENTRY_BYTES: usize = 40;
const WIDTHS: [u8; 5] = [0, 1, 2, 4, 8];
/// Units that times are tried in: clocks count microseconds or nanoseconds.
const UNITS: [u64; 3] = [1, 1000, 1_000_000];
const COLUMNS: usize = 4;

/// How a column of a block is packed: value = base + unit * what is written.
#[derive(Clone, Copy, Default)]
struct Shape {
    width: u8,
    unit: u8,
}

/// Where a block is and how it is packed.
struct Entry {
    /// Where each column begins.
    at: [usize; COLUMNS],
    /// Where the last one ends; nowhere when that is no number.
    end: Option<usize>,
    base: [i64; COLUMNS],
    shapes: [Shape; COLUMNS],
}

/// Packed rows.
#[derive(Debug)]
pub struct Rows {
    rows: usize,
    directory: Buffer,
    data: Buffer,
}

impl Rows {
    /// Rows that were packed before. `None` when the parts do not belong together.
    pub fn of(rows: usize, directory: Buffer, data: Buffer) -> Option<Rows> {
        let blocks = rows.div_ceil(BLOCK_ROWS);
        if directory.len() != blocks.checked_mul(ENTRY_BYTES)? {
            return None;
        }
        let this = Rows { rows, directory, data };
        let whole = (0..blocks).all(|block| {
            let entry = this.entry(block);
            let known = entry
                .shapes
                .iter()
                .all(|shape| WIDTHS.contains(&shape.width) && usize::from(shape.unit) < UNITS.len());
            known && entry.end.is_some_and(|end| end <= this.data.len())
        });
        whole.then_some(this)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Where blocks are, and their bytes.
    pub fn parts(&self) -> (&[u8], &[u8]) {
        (&self.directory, &self.data)
    }

    /// Start of a row.
    pub fn ts_ps(&self, row: usize) -> i64 {
        let bytes = &self.directory[row / BLOCK_ROWS * ENTRY_BYTES..][..ENTRY_BYTES];
        let shape = Shape::of(bytes[36]);
        self.read((long(bytes, 0) as usize, long(bytes, 1), shape), row)
    }

    /// A whole row.
    pub fn slice(&self, row: usize) -> Slice {
        let entry = self.entry(row / BLOCK_ROWS);
        Slice {
            ts_ps: self.value(&entry, row, 0),
            dur_ps: self.value(&entry, row, 1),
            id: self.value(&entry, row, 2),
            name: self.value(&entry, row, 3) as u32,
        }
    }

    /// Each of these rows in turn: start, duration and name.
    pub fn each(&self, rows: Range<usize>, mut take: impl FnMut(i64, i64, u32)) {
        let mut columns = [[0_i64; BLOCK_ROWS]; 3];
        let mut first = rows.start;
        while first < rows.end {
            let block = first / BLOCK_ROWS;
            let (place, last) = (first % BLOCK_ROWS, rows.end.min((block + 1) * BLOCK_ROWS));
            let (entry, count) = (self.entry(block), last - first);
            for (values, column) in columns.iter_mut().zip([0, 1, 3]) {
                self.unpack(&entry, column, place, &mut values[..count]);
            }
            let [starts, durations, names] = &columns;
            for row in 0..count {
                take(starts[row], durations[row], names[row] as u32);
            }
            first = last;
        }
    }

    /// The values of a column of a block from a row of it on.
    fn unpack(&self, entry: &Entry, column: usize, place: usize, values: &mut [i64]) {
        let Shape { width, unit } = entry.shapes[column];
        let (base, unit) = (entry.base[column], UNITS[usize::from(unit)]);
        let value = |more: u64| base.wrapping_add(more.wrapping_mul(unit) as i64);
        let at = entry.at[column] + usize::from(width) * place;
        let bytes = &self.data[at..at + usize::from(width) * values.len()];
        match width {
            0 => values.fill(base),
            1 => read_into(values, bytes, |&[byte]| value(u64::from(byte))),
            2 => read_into(values, bytes, |two| value(u64::from(u16::from_le_bytes(*two)))),
            4 => read_into(values, bytes, |four| value(u64::from(u32::from_le_bytes(*four)))),
            _ => read_into(values, bytes, |eight| value(u64::from_le_bytes(*eight))),
        }
    }

    /// How many of the first of these rows, which are in order, start before `moment`: found in the logarithm of
    /// that number.
    pub fn before(&self, rows: Range<usize>, moment: i64) -> usize {
        let starts_before = |row: usize| self.ts_ps(row) < moment;
        let mut reach = 1;
        while reach < rows.len() && starts_before(rows.start + reach) {
            reach *= 2;
        }
        let (mut low, mut high) = (reach / 2, reach.min(rows.len()));
        while low < high {
            let middle = usize::midpoint(low, high);
            if starts_before(rows.start + middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn entry(&self, block: usize) -> Entry {
        let bytes = &self.directory[block * ENTRY_BYTES..(block + 1) * ENTRY_BYTES];
        let rows = BLOCK_ROWS.min(self.rows - block * BLOCK_ROWS);
        let shapes = [36, 37, 38, 39].map(|place| Shape::of(bytes[place]));
        let mut next = Some(long(bytes, 0) as usize);
        let at = shapes.map(|shape| {
            let at = next.unwrap_or(usize::MAX);
            next = next.and_then(|next| next.checked_add(rows * usize::from(shape.width)));
            at
        });
        Entry {
            at,
            end: next,
            base: [long(bytes, 1), long(bytes, 2), long(bytes, 3), long(bytes, 4) & 0xffff_ffff],
            shapes,
        }
    }

    #[inline]
    fn value(&self, entry: &Entry, row: usize, column: usize) -> i64 {
        let (at, base) = (entry.at[column], entry.base[column]);
        self.read((at, base, entry.shapes[column]), row)
    }

    /// A value of the column of a block that begins at a place.
    #[inline]
    fn read(&self, (at, base, shape): (usize, i64, Shape), row: usize) -> i64 {
        let Shape { width, unit } = shape;
        let at = at + usize::from(width) * (row % BLOCK_ROWS);
        let more = match width {
            0 => return base,
            1 => u64::from(self.data[at]),
            2 => u64::from(u16::from_le_bytes([self.data[at], self.data[at + 1]])),
            4 => u64::from(u32::from_le_bytes(chunk(&self.data[at..]))),
            _ => u64::from_le_bytes(chunk(&self.data[at..])),
        };
        base.wrapping_add(more.wrapping_mul(UNITS[usize::from(unit)]) as i64)
    }
}

impl Shape {
    fn of(byte: u8) -> Shape {
        Shape { width: byte & 15, unit: byte >> 4 }
    }
}

/// Rows with a block of them unpacked: who reads neighbours, one after the other, unpacks each block once.
pub struct Near<'a> {
    rows: &'a Rows,
    block: usize,
    ts_ps: [i64; BLOCK_ROWS],
    dur_ps: [i64; BLOCK_ROWS],
}

impl<'a> Near<'a> {
    /// No block of the rows is unpacked yet.
    #[must_use]
    pub fn new(rows: &'a Rows) -> Self {
        Near { rows, block: usize::MAX, ts_ps: [0; BLOCK_ROWS], dur_ps: [0; BLOCK_ROWS] }
    }

    /// Starts and durations of rows of one block.
    pub fn spans(&mut self, rows: Range<usize>) -> (&[i64], &[i64]) {
        let block = rows.start / BLOCK_ROWS;
        if self.block != block {
            let count = BLOCK_ROWS.min(self.rows.rows - block * BLOCK_ROWS);
            let entry = self.rows.entry(block);
            self.rows.unpack(&entry, 0, 0, &mut self.ts_ps[..count]);
            self.rows.unpack(&entry, 1, 0, &mut self.dur_ps[..count]);
            self.block = block;
        }
        let first = rows.start % BLOCK_ROWS;
        let own = first..first + rows.len();
        (&self.ts_ps[own.clone()], &self.dur_ps[own])
    }

    /// How many of the first of these rows, which are in order, start before `moment`: see [`Rows::before`].
    pub fn before(&mut self, rows: Range<usize>, moment: i64) -> usize {
        if rows.is_empty() {
            return 0;
        }
        let end = rows.end.min((rows.start / BLOCK_ROWS + 1) * BLOCK_ROWS);
        let (starts, _) = self.spans(rows.start..end);
        let here = starts.partition_point(|ts_ps| *ts_ps < moment);
        if rows.start + here < end || end == rows.end {
            return here;
        }
        here + self.rows.before(end..rows.end, moment)
    }
}

#[inline]
fn read_into<const N: usize>(values: &mut [i64], bytes: &[u8], read: impl Fn(&[u8; N]) -> i64) {
    for (value, bytes) in values.iter_mut().zip(bytes.as_chunks().0) {
        *value = read(bytes);
    }
}

/// The number at a place of eight bytes each.
pub(super) fn long(bytes: &[u8], place: usize) -> i64 {
    i64::from_le_bytes(chunk(&bytes[8 * place..]))
}

/// The first bytes, which are there.
#[inline]
fn chunk<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

/// Packs rows in the order in which they come.
#[derive(Debug, Default)]
pub struct Packer {
    rows: usize,
    block: Vec<Slice>,
    directory: Vec<u8>,
    data: Vec<u8>,
}

impl Packer {
    /// How many rows there are so far.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Adds a row.
    pub fn push(&mut self, slice: Slice) {
        self.rows += 1;
        self.block.push(slice);
        if self.block.len() == BLOCK_ROWS {
            self.pack();
        }
    }

    /// All of them.
    pub fn finish(mut self) -> Rows {
        if !self.block.is_empty() {
            self.pack();
        }
        Rows { rows: self.rows, directory: Buffer::from(self.directory), data: Buffer::from(self.data) }
    }

    fn pack(&mut self) {
        let block = std::mem::take(&mut self.block);
        let at = self.data.len() as u64;
        let columns = [
            self.column(&block, |slice| slice.ts_ps, &UNITS),
            self.column(&block, |slice| slice.dur_ps, &UNITS),
            self.column(&block, |slice| slice.id, &UNITS[..1]),
            self.column(&block, |slice| i64::from(slice.name), &UNITS[..1]),
        ];
        self.directory.extend_from_slice(&at.to_le_bytes());
        for (base, _) in &columns[..3] {
            self.directory.extend_from_slice(&base.to_le_bytes());
        }
        self.directory.extend_from_slice(&(columns[3].0 as u32).to_le_bytes());
        for (_, shape) in columns {
            self.directory.push(shape.width | shape.unit << 4);
        }
        self.block = block;
        self.block.clear();
    }

    /// Packs a column in the unit that takes the fewest bytes.
    fn column(&mut self, block: &[Slice], value: impl Fn(&Slice) -> i64, units: &[u64]) -> (i64, Shape) {
        let base = block.iter().map(&value).min().unwrap_or(0);
        let beyond = |slice: &Slice| value(slice).wrapping_sub(base) as u64;
        let most = block.iter().map(beyond).max().unwrap_or(0);
        let fits = |unit: u64| block.iter().all(|slice| beyond(slice).is_multiple_of(unit));
        let mut shape = Shape { width: width(most), unit: 0 };
        for (place, unit) in (0u8..).zip(units) {
            let narrower = width(most / unit);
            if narrower < shape.width && fits(*unit) {
                shape = Shape { width: narrower, unit: place };
            }
        }
        let unit = UNITS[usize::from(shape.unit)];
        for slice in block {
            let bytes = (beyond(slice) / unit).to_le_bytes();
            self.data.extend_from_slice(&bytes[..usize::from(shape.width)]);
        }
        (base, shape)
    }
}

fn width(most: u64) -> u8 {
    match most {
        0 => 0,
        1..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}
