//! The cells of a window.

use super::pyramid::Block;
use super::rows::Near;
use super::{Lod, Packed, Part, Slice};
use crate::error::{Error, Kind, Result};
use std::ops::Range;

/// From this many pixels on, a slice has a cell of its own.
const WIDE_PX: i128 = 2;
/// Wide slices of one column that get cells of their own. Slices of a lane seldom overlap, so two of them is the
/// usual most; what a damaged file stacks beyond this shares one cell.
const WIDE_OF_COLUMN: usize = 8;
/// Pixels of the widest window.
pub const MOST_PX: u32 = 16_384;

/// What part of the recording is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    from_ps: i64,
    to_ps: i64,
    px: u32,
}

/// Slices that are drawn as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Index into the tracks that were asked for.
    pub track: u32,
    /// Depth of the lane.
    pub depth: u32,
    /// Start of the first slice.
    pub ts_ps: i64,
    /// Latest end of any.
    pub end_ps: i64,
    /// How many slices there are.
    pub count: u64,
    /// Their durations together, what lies outside the window included.
    pub busy_ps: i64,
    /// The longest of them.
    pub longest: Slice,
}

impl Window {
    /// A window of `px` pixels.
    ///
    /// # Errors
    /// It ends before it begins, has no pixel, or more than [`MOST_PX`].
    pub fn new(from_ps: i64, to_ps: i64, px: u32) -> Result<Self> {
        if from_ps >= to_ps || px == 0 || px > MOST_PX {
            return Err(Error::new(
                Kind::Limit,
                format!("a window from {from_ps} to {to_ps} ps of {px} pixels"),
            ));
        }
        Ok(Window { from_ps, to_ps, px })
    }

    /// Start of the window.
    #[must_use]
    pub fn from_ps(&self) -> i64 {
        self.from_ps
    }

    /// End of the window, itself outside.
    #[must_use]
    pub fn to_ps(&self) -> i64 {
        self.to_ps
    }

    /// Its width on the screen.
    #[must_use]
    pub fn px(&self) -> u32 {
        self.px
    }

    fn span(&self) -> i128 {
        i128::from(self.to_ps) - i128::from(self.from_ps)
    }

    /// The first moment of the column after the one of `moment`.
    fn next_column(&self, moment: i64) -> i64 {
        let into = i128::from(moment) - i128::from(self.from_ps);
        let column = into * i128::from(self.px) / self.span();
        let next = ((column + 1) * self.span() + i128::from(self.px) - 1) / i128::from(self.px);
        // At most `to_ps`, so it is an i64 again.
        (i128::from(self.from_ps) + next).min(i128::from(self.to_ps)) as i64
    }

    fn is_wide(&self, dur_ps: i64) -> bool {
        i128::from(dur_ps) * i128::from(self.px) >= WIDE_PX * self.span()
    }

    /// The same moments on the clock of a part; `None` when it has none of them.
    fn on_clock(self, of: &Part) -> Option<Self> {
        let (from_ps, to_ps) = of.on_clock(self.from_ps, self.to_ps)?;
        Some(Window { from_ps, to_ps, px: self.px })
    }
}

impl Lod {
    /// The cells of `tracks` in `window`, lane by lane and in order of time. Every slice that starts in the window, or
    /// starts before it and ends in it, is in exactly one. An unknown track has none.
    #[must_use]
    pub fn cells(&self, tracks: &[i64], window: Window) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (index, track) in (0u32..).zip(tracks) {
            for place in self.of_track.get(track).into_iter().flatten() {
                let part = &self.parts[*place];
                let Some(window) = window.on_clock(part) else {
                    continue;
                };
                let first = cells.len();
                lanes_of(part, *track, index, window, &mut cells);
                for cell in &mut cells[first..] {
                    cell.ts_ps = cell.ts_ps.saturating_add(part.shift_ps);
                    cell.end_ps = cell.end_ps.saturating_add(part.shift_ps);
                    let longest = &mut cell.longest;
                    longest.ts_ps = longest.ts_ps.saturating_add(part.shift_ps);
                    longest.id = longest.id.wrapping_add(part.first_id);
                    longest.name = self.name_of(*place, longest.name);
                }
            }
        }
        cells
    }
}

/// The cells of a track of a part, as the part has them.
fn lanes_of(part: &Part, track: i64, index: u32, window: Window, cells: &mut Vec<Cell>) {
    let packed = &part.packed;
    let mut near = Near::new(&packed.slices);
    for of_lane in packed.of_track(track.wrapping_sub(part.first_id)) {
        let rows = of_lane.rows.clone();
        let begin = |moment: i64| rows.start + packed.slices.before(rows.clone(), moment);
        let mut lane = Lane { packed, near: &mut near, window, track: index, depth: of_lane.depth, cells };
        let inside = begin(window.from_ps)..begin(window.to_ps);
        lane.reaching_in(rows.start..inside.start);
        lane.starting(inside);
    }
}

/// A lane on its way into cells.
struct Lane<'a, 'b> {
    packed: &'a Packed,
    near: &'b mut Near<'a>,
    window: Window,
    track: u32,
    depth: u32,
    cells: &'b mut Vec<Cell>,
}

impl Lane<'_, '_> {
    /// Slices that start before the window and end in it: one, unless slices overlap.
    fn reaching_in(&mut self, rows: Range<usize>) {
        let (pyramid, slices) = (&self.packed.pyramid, &self.packed.slices);
        let mut next = rows.start;
        let mut alone = 0;
        let mut rest: Option<Cell> = None;
        while let Some(row) = pyramid.first_beyond(slices, next..rows.end, self.window.from_ps) {
            next = row + 1;
            let cell = self.cell(row..next);
            alone += 1;
            if alone <= WIDE_OF_COLUMN {
                self.cells.extend(cell);
            } else if let Some(cell) = cell {
                rest = Some(rest.map_or(cell, |so_far| joined(so_far, cell)));
            }
        }
        self.cells.extend(rest);
    }

    /// Slices that start in the window, column by column.
    fn starting(&mut self, rows: Range<usize>) {
        let mut first = rows.start;
        while first < rows.end {
            let (starts, _) = self.near.spans(first..first + 1);
            let next = self.window.next_column(starts[0]);
            // Rows of a file that somebody made may be out of order: the first one goes on all the same.
            let last = first + self.near.before(first..rows.end, next).max(1);
            self.column(first..last);
            first = last;
        }
    }

    /// Slices that start in one column: wide ones for themselves, those between them together.
    fn column(&mut self, rows: Range<usize>) {
        let Some(whole) = self.over(rows.clone()) else {
            return;
        };
        if !self.window.is_wide(whole.longest_ps) {
            let cell = self.of_block(rows, whole);
            self.cells.push(cell);
            return;
        }
        let mut wide: Vec<usize> = Vec::new();
        let mut open = vec![rows.clone()];
        while let Some(stretch) = open.pop() {
            let Some(block) = self.over(stretch.clone()) else {
                continue;
            };
            let longest = block.longest;
            if wide.len() < WIDE_OF_COLUMN && self.window.is_wide(block.longest_ps) {
                wide.push(longest);
                open.push(stretch.start..longest);
                open.push(longest + 1..stretch.end);
            }
        }
        wide.sort_unstable();
        let mut first = rows.start;
        for row in wide {
            self.push(first..row);
            self.push(row..row + 1);
            first = row + 1;
        }
        self.push(first..rows.end);
    }

    fn push(&mut self, rows: Range<usize>) {
        let cell = self.cell(rows);
        self.cells.extend(cell);
    }

    fn over(&mut self, rows: Range<usize>) -> Option<Block> {
        self.packed.pyramid.over(self.near, rows)
    }

    fn cell(&mut self, rows: Range<usize>) -> Option<Cell> {
        let block = self.over(rows.clone())?;
        Some(self.of_block(rows, block))
    }

    fn of_block(&self, rows: Range<usize>, block: Block) -> Cell {
        Cell {
            track: self.track,
            depth: self.depth,
            ts_ps: self.packed.slices.ts_ps(rows.start),
            end_ps: block.end_ps,
            count: rows.len() as u64,
            busy_ps: block.sum_ps,
            longest: self.packed.slices.slice(block.longest),
        }
    }
}

fn joined(one: Cell, other: Cell) -> Cell {
    Cell {
        ts_ps: one.ts_ps.min(other.ts_ps),
        end_ps: one.end_ps.max(other.end_ps),
        count: one.count + other.count,
        busy_ps: one.busy_ps.saturating_add(other.busy_ps),
        longest: if other.longest.dur_ps > one.longest.dur_ps { other.longest } else { one.longest },
        ..one
    }
}
