//! Level of detail: what a timeline of any size shows in a window of a few thousand pixels.
//!
//! Slices lie in lanes, one for each track and depth, ordered by start. Above them stands a pyramid with the longest
//! slice, the latest end and the sum of every block, so that a window costs what its pixels cost and not what its
//! slices cost. Nothing is cut: a slice that meets the window is in exactly one cell, and a cell says how many it holds.
//!
//! * [`pyramid`]: the longest, the latest and the sum of any stretch of rows.
//! * [`cells`]: the cells of a window.
//! * [`frame`]: cells as bytes for a page.

pub mod cells;
pub mod frame;
pub mod pyramid;

use crate::error::{Error, Kind, Result};
use pyramid::Pyramid;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Slices as they come, in any order.
#[derive(Debug, Default)]
pub struct Builder {
    lanes: FxHashMap<(i64, u32), u32>,
    keys: Vec<(i64, u32)>,
    rows: Vec<(u32, Slice)>,
    numbers: FxHashMap<String, u32>,
    names: Vec<String>,
}

/// One slice of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// Id in the table of slices.
    pub id: i64,
    /// Start.
    pub ts_ps: i64,
    /// Duration, at least 0.
    pub dur_ps: i64,
    /// Index into [`Lod::names`].
    pub name: u32,
}

impl Slice {
    /// Where it ends; the last moment there is for one that would end later.
    #[must_use]
    pub fn end_ps(&self) -> i64 {
        self.ts_ps.saturating_add(self.dur_ps)
    }
}

/// Every slice of a recording, ready to be looked at.
#[derive(Debug)]
pub struct Lod {
    slices: Vec<Slice>,
    /// Track, depth and rows of each lane, ordered by track, then depth.
    lanes: Vec<(i64, u32, Range<usize>)>,
    names: Vec<String>,
    pyramid: Pyramid,
}

impl Builder {
    /// The number of a name.
    ///
    /// # Errors
    /// There are more than 2^32 names.
    pub fn name(&mut self, text: &str) -> Result<u32> {
        if let Some(number) = self.numbers.get(text) {
            return Ok(*number);
        }
        let number = u32::try_from(self.names.len())
            .map_err(|_| Error::new(Kind::Limit, "more than 4,294,967,296 names of slices"))?;
        self.names.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        Ok(number)
    }

    /// Adds a slice. A negative duration counts as none.
    pub fn add(&mut self, track: i64, depth: u32, mut slice: Slice) {
        slice.dur_ps = slice.dur_ps.max(0);
        let next = self.keys.len() as u32;
        let lane = *self.lanes.entry((track, depth)).or_insert(next);
        if lane == next {
            self.keys.push((track, depth));
        }
        self.rows.push((lane, slice));
    }

    /// Sorts what was added and builds the pyramid.
    #[must_use]
    pub fn finish(self) -> Lod {
        let mut order: Vec<u32> = (0..self.keys.len() as u32).collect();
        order.sort_unstable_by_key(|lane| self.keys[*lane as usize]);
        let mut rows = vec![0usize; self.keys.len()];
        for (lane, _) in &self.rows {
            rows[*lane as usize] += 1;
        }
        let mut next = vec![0usize; self.keys.len()];
        let mut lanes = Vec::with_capacity(order.len());
        let mut first = 0;
        for lane in order {
            let (track, depth) = self.keys[lane as usize];
            next[lane as usize] = first;
            lanes.push((track, depth, first..first + rows[lane as usize]));
            first += rows[lane as usize];
        }
        let nothing = Slice {
            id: 0,
            ts_ps: 0,
            dur_ps: 0,
            name: 0,
        };
        let mut slices = vec![nothing; self.rows.len()];
        for (lane, slice) in self.rows {
            let place = &mut next[lane as usize];
            slices[*place] = slice;
            *place += 1;
        }
        for (_, _, rows) in &lanes {
            let rows = &mut slices[rows.clone()];
            if !rows.is_sorted_by_key(|slice| slice.ts_ps) {
                rows.sort_by_key(|slice| slice.ts_ps);
            }
        }
        Lod {
            pyramid: Pyramid::new(&slices),
            slices,
            lanes,
            names: self.names,
        }
    }
}

impl Lod {
    /// Names of slices; a cell holds an index into them.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Tracks in order, each with its number of lanes (the largest depth and one) and of slices.
    pub fn tracks(&self) -> impl Iterator<Item = (i64, u32, usize)> {
        self.lanes
            .chunk_by(|one, other| one.0 == other.0)
            .map(|lanes| {
                let depths = lanes.last().map_or(0, |(_, depth, _)| depth + 1);
                (
                    lanes[0].0,
                    depths,
                    lanes.iter().map(|(_, _, rows)| rows.len()).sum(),
                )
            })
    }

    /// The lanes of a track: depth and rows of each.
    fn of_track(&self, track: i64) -> &[(i64, u32, Range<usize>)] {
        let first = self.lanes.partition_point(|lane| lane.0 < track);
        let last = self.lanes.partition_point(|lane| lane.0 <= track);
        &self.lanes[first..last]
    }
}
