//! The longest slice, the latest end and the sum of durations of any stretch of rows.

use super::Slice;
use std::ops::Range;

/// Rows of a block, and blocks of the block above it. Two ends of a stretch are walked row by row, so a smaller
/// factor answers faster and takes more memory: 64 costs 24/64 bytes a row.
const FACTOR: usize = 64;

/// What a block of rows comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Row of the longest slice, the first of several.
    pub longest: usize,
    /// The latest end of any.
    pub end_ps: i64,
    /// Durations together; the largest number for those that add up to more.
    pub sum_ps: i64,
}

/// Blocks of rows, blocks of blocks, and so on.
#[derive(Debug)]
pub struct Pyramid {
    levels: Vec<Vec<Block>>,
}

impl Pyramid {
    /// Over all slices, whatever lanes they are of: a stretch never leaves its lane.
    #[must_use]
    pub fn new(slices: &[Slice]) -> Self {
        let mut levels: Vec<Vec<Block>> = Vec::new();
        let mut level: Vec<Block> = slices
            .chunks(FACTOR)
            .enumerate()
            .filter_map(|(i, _)| {
                let rows = i * FACTOR..((i + 1) * FACTOR).min(slices.len());
                rows.map(|row| of_row(slices, row))
                    .reduce(|a, b| join(slices, a, b))
            })
            .collect();
        while level.len() > 1 {
            let above = level
                .chunks(FACTOR)
                .filter_map(|blocks| blocks.iter().copied().reduce(|a, b| join(slices, a, b)))
                .collect();
            levels.push(level);
            level = above;
        }
        levels.push(level);
        Pyramid { levels }
    }

    /// What `rows` come to; `None` for no rows.
    #[must_use]
    pub fn over(&self, slices: &[Slice], rows: Range<usize>) -> Option<Block> {
        let (mut first, mut last) = (rows.start, rows.end);
        let mut sum: Option<Block> = None;
        let mut add = |block: Block| {
            sum = Some(sum.map_or(block, |so_far| join(slices, so_far, block)));
        };
        // Level 0 is of rows; level n of the blocks that `levels[n - 1]` holds.
        for level in 0..=self.levels.len() {
            let at = |i: usize| match level {
                0 => of_row(slices, i),
                _ => self.levels[level - 1][i],
            };
            while first < last && first % FACTOR != 0 {
                add(at(first));
                first += 1;
            }
            while first < last && last % FACTOR != 0 {
                last -= 1;
                add(at(last));
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
    pub fn first_beyond(&self, slices: &[Slice], rows: Range<usize>, moment: i64) -> Option<usize> {
        let mut row = rows.start;
        while row < rows.end {
            // The largest block that begins here and ends too early is stepped over whole.
            let mut step = 1;
            for level in &self.levels {
                let size = step * FACTOR;
                let here = row / size;
                if !row.is_multiple_of(size) || here >= level.len() || level[here].end_ps > moment {
                    break;
                }
                step = size;
            }
            if step == 1 && slices[row].end_ps() > moment {
                return Some(row);
            }
            row += step;
        }
        None
    }
}

fn of_row(slices: &[Slice], row: usize) -> Block {
    Block {
        longest: row,
        end_ps: slices[row].end_ps(),
        sum_ps: slices[row].dur_ps,
    }
}

fn join(slices: &[Slice], one: Block, other: Block) -> Block {
    let (a, b) = (slices[one.longest].dur_ps, slices[other.longest].dur_ps);
    let other_is_longer = b > a || (b == a && other.longest < one.longest);
    Block {
        longest: if other_is_longer {
            other.longest
        } else {
            one.longest
        },
        end_ps: one.end_ps.max(other.end_ps),
        sum_ps: one.sum_ps.saturating_add(other.sum_ps),
    }
}
