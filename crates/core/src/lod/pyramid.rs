//! The longest slice, the latest end and the sum of durations of any stretch of rows.

use super::rows::{BLOCK_ROWS, Near, Rows, long};
use arrow_buffer::Buffer;
use std::ops::Range;

/// Rows of a block, and blocks of the block above it. Two ends of a stretch are walked row by row, so a smaller
/// factor answers faster and takes more memory: 64 costs half a byte a row.
const FACTOR: usize = BLOCK_ROWS;
/// Bytes of a block as it is kept.
const BLOCK_BYTES: usize = 32;

/// What a block of rows comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Row of the longest slice, the first of several.
    pub longest: usize,
    /// How long it is.
    pub longest_ps: i64,
    /// The latest end of any.
    pub end_ps: i64,
    /// Durations together; the largest number for those that add up to more.
    pub sum_ps: i64,
}

/// Blocks of rows, blocks of blocks, and so on.
#[derive(Debug)]
pub struct Pyramid {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level(Buffer);

impl Level {
    fn len(&self) -> usize {
        self.0.len() / BLOCK_BYTES
    }

    fn at(&self, place: usize) -> Block {
        let bytes = &self.0[place * BLOCK_BYTES..(place + 1) * BLOCK_BYTES];
        Block {
            longest: long(bytes, 0) as usize,
            longest_ps: long(bytes, 1),
            end_ps: long(bytes, 2),
            sum_ps: long(bytes, 3),
        }
    }

    fn of(blocks: impl Iterator<Item = Block>) -> Level {
        let bytes =
            blocks.flat_map(|block| [block.longest as i64, block.longest_ps, block.end_ps, block.sum_ps]);
        Level(Buffer::from_vec(bytes.map(i64::to_le).collect::<Vec<i64>>()))
    }
}

impl Pyramid {
    /// Over all rows, whatever lanes they are of: a stretch never leaves its lane.
    #[must_use]
    pub fn new(rows: &Rows) -> Self {
        let firsts = (0..rows.len()).step_by(FACTOR);
        let mut near = Near::new(rows);
        let mut level = Level::of(firsts.filter_map(|first| {
            let block = first..(first + FACTOR).min(rows.len());
            of_rows(&mut near, block)
        }));
        let mut levels = Vec::new();
        while level.len() > 1 {
            let firsts = (0..level.len()).step_by(FACTOR);
            let above = Level::of(firsts.filter_map(|first| {
                let blocks = first..(first + FACTOR).min(level.len());
                blocks.map(|place| level.at(place)).reduce(join)
            }));
            levels.push(level);
            level = above;
        }
        levels.push(level);
        Pyramid { levels }
    }

    /// Blocks of each level above so many rows, from the lowest on.
    pub fn sizes(rows: usize) -> Vec<usize> {
        let mut sizes = vec![rows.div_ceil(FACTOR)];
        while let Some(last) = sizes.last().filter(|last| **last > 1) {
            sizes.push(last.div_ceil(FACTOR));
        }
        sizes
    }

    /// One that was built before, its levels in order. `None` when it is not one over so many rows.
    pub fn of(rows: usize, bytes: &Buffer) -> Option<Self> {
        let mut at = 0_usize;
        let mut levels = Vec::new();
        for blocks in Self::sizes(rows) {
            let length = blocks.checked_mul(BLOCK_BYTES)?;
            if at.checked_add(length)? > bytes.len() {
                return None;
            }
            let level = Level(bytes.slice_with_length(at, length));
            if !(0..level.len()).all(|place| level.at(place).longest < rows) {
                return None;
            }
            levels.push(level);
            at += length;
        }
        (at == bytes.len()).then_some(Pyramid { levels })
    }

    /// The bytes of each level.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.levels.iter().map(|level| &*level.0)
    }

    /// What `rows` come to; `None` for no rows.
    #[must_use]
    pub fn over(&self, slices: &mut Near<'_>, rows: Range<usize>) -> Option<Block> {
        let mut sum: Option<Block> = None;
        let mut add = |block: Block| sum = Some(sum.map_or(block, |so_far| join(so_far, block)));
        let (mut first, mut last) = (rows.start, rows.end);
        if first >= last {
            return None;
        }
        // Rows before the first whole block, and after the last.
        let whole = first.div_ceil(FACTOR)..last / FACTOR;
        let ends = if whole.start <= whole.end {
            [first..whole.start * FACTOR, whole.end * FACTOR..last]
        } else {
            [first..last, last..last]
        };
        for end in ends {
            if !end.is_empty() {
                of_rows(slices, end).into_iter().for_each(&mut add);
            }
        }
        (first, last) = (whole.start, whole.end);
        for level in &self.levels {
            while first < last && first % FACTOR != 0 {
                add(level.at(first));
                first += 1;
            }
            while first < last && last % FACTOR != 0 {
                last -= 1;
                add(level.at(last));
            }
            if first >= last {
                break;
            }
            (first, last) = (first / FACTOR, last / FACTOR);
        }
        sum
    }

    /// The first row of `rows` that ends after `moment`.
    #[must_use]
    pub fn first_beyond(&self, slices: &Rows, rows: Range<usize>, moment: i64) -> Option<usize> {
        let mut row = rows.start;
        while row < rows.end {
            // The largest block that begins here and ends too early is stepped over whole.
            let mut step = 1;
            for level in &self.levels {
                let size = step * FACTOR;
                let here = row / size;
                if !row.is_multiple_of(size) || here >= level.len() || level.at(here).end_ps > moment {
                    break;
                }
                step = size;
            }
            if step == 1 && slices.slice(row).end_ps() > moment {
                return Some(row);
            }
            row += step;
        }
        None
    }
}

/// What rows of one block come to; `None` for no rows.
fn of_rows(slices: &mut Near<'_>, rows: Range<usize>) -> Option<Block> {
    let first = rows.start;
    let (starts, durations) = slices.spans(rows);
    let mut whole = Block { longest: first, longest_ps: *durations.first()?, end_ps: i64::MIN, sum_ps: 0 };
    for (row, (ts_ps, dur_ps)) in (first..).zip(starts.iter().zip(durations)) {
        if *dur_ps > whole.longest_ps {
            (whole.longest, whole.longest_ps) = (row, *dur_ps);
        }
        whole.end_ps = whole.end_ps.max(ts_ps.saturating_add(*dur_ps));
        whole.sum_ps = whole.sum_ps.saturating_add(*dur_ps);
    }
    Some(whole)
}

fn join(one: Block, other: Block) -> Block {
    let (a, b) = (one.longest_ps, other.longest_ps);
    let other_is_longer = b > a || (b == a && other.longest < one.longest);
    let longer = if other_is_longer { other } else { one };
    Block { end_ps: one.end_ps.max(other.end_ps), sum_ps: one.sum_ps.saturating_add(other.sum_ps), ..longer }
}
