//! Level of detail: what a timeline of any size shows in a window of a few thousand pixels.
//!
//! Slices lie in lanes, one for each track and depth, ordered by start. Above them stands a pyramid with the longest
//! slice, the latest end and the sum of every block, so that a window costs what its pixels cost and not what its
//! slices cost. Nothing is cut: a slice that meets the window is in exactly one cell, and a cell says how many it holds.
//!
//! * [`rows`]: slices in few bytes, each readable by itself.
//! * [`builder`]: slices as they come, packed track by track.
//! * [`pyramid`]: the longest, the latest and the sum of any stretch of rows.
//! * [`file`]: a source's slices and pyramid as a file, which is mapped and not read.
//! * [`cells`]: the cells of a window.
//! * [`frame`]: cells as bytes for a page.
//! * [`labels`]: what slices are called, and the types of their ops.
//! * [`sums`]: what the slices of a range add up to.

pub mod builder;
pub mod cells;
pub mod file;
pub mod frame;
pub mod labels;
pub mod pyramid;
pub mod rows;
pub mod sums;

pub use builder::Builder;

use labels::{Labels, Numbered};
use pyramid::Pyramid;
use rows::{Near, Rows};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// One slice of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// Id in the table of slices.
    pub id: i64,
    /// Start.
    pub ts_ps: i64,
    /// Duration, at least 0.
    pub dur_ps: i64,
    /// Number of what it is called: in a source, one for each name and op type; in a cell, an index into the names.
    pub name: u32,
}

impl Slice {
    /// Where it ends; the last moment there is for one that would end later.
    #[must_use]
    pub fn end_ps(&self) -> i64 {
        self.ts_ps.saturating_add(self.dur_ps)
    }
}

/// The slices of a track at a depth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// Track.
    pub track: i64,
    /// Depth.
    pub depth: u32,
    /// Rows.
    pub rows: Range<usize>,
}

impl Lane {
    fn key(&self) -> (i64, u32) {
        (self.track, self.depth)
    }
}

/// Every slice of a source, or of several that share their ids, ready to be looked at.
#[derive(Debug)]
pub struct Packed {
    slices: Rows,
    /// Ordered by track, then depth.
    lanes: Vec<Lane>,
    labels: Labels,
    pyramid: Pyramid,
}

impl Packed {
    /// Builds the pyramid over rows whose lanes are in order.
    fn new(slices: Rows, lanes: Vec<Lane>, labels: Labels) -> Packed {
        Packed { pyramid: Pyramid::new(&slices), slices, lanes, labels }
    }

    /// How many slices there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slices.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// First start and latest end of any.
    #[must_use]
    pub fn bounds_ps(&self) -> Option<(i64, i64)> {
        let firsts = self.lanes.iter().filter(|lane| !lane.rows.is_empty());
        let first = firsts.map(|lane| self.slices.ts_ps(lane.rows.start)).min()?;
        let all = self.pyramid.over(&mut Near::new(&self.slices), 0..self.len())?;
        Some((first, all.end_ps))
    }

    /// The lanes of a track.
    fn of_track(&self, track: i64) -> &[Lane] {
        let first = self.lanes.partition_point(|lane| lane.track < track);
        let last = self.lanes.partition_point(|lane| lane.track <= track);
        &self.lanes[first..last]
    }
}

/// A source among others.
#[derive(Debug)]
pub struct Part {
    /// Its slices.
    pub packed: Packed,
    /// Added to its tracks and ids.
    pub first_id: i64,
    /// Added to its times.
    pub shift_ps: i64,
}

impl Part {
    /// The same moments on its own clock; `None` when it has none of them.
    fn on_clock(&self, from_ps: i64, to_ps: i64) -> Option<(i64, i64)> {
        let own = |moment: i64| moment.saturating_sub(self.shift_ps);
        let (from_ps, to_ps) = (own(from_ps), own(to_ps));
        (from_ps < to_ps).then_some((from_ps, to_ps))
    }
}

/// Every slice of a recording, ready to be looked at.
#[derive(Debug, Default)]
pub struct Lod {
    parts: Vec<Part>,
    /// For each part, the numbers that its labels have among all.
    numbers: Vec<Vec<u32>>,
    /// Name and op type of each label, as indices.
    labels: Vec<(u32, Option<u32>)>,
    names: Vec<String>,
    op_types: Vec<String>,
    /// Parts that have slices of a track.
    of_track: FxHashMap<i64, Vec<usize>>,
}

impl Lod {
    /// Of one or more sources.
    #[must_use]
    pub fn new(parts: Vec<Part>) -> Lod {
        let mut lod = Lod::default();
        let (mut names, mut op_types) = (Numbered::default(), Numbered::default());
        let mut known: FxHashMap<(u32, Option<u32>), u32> = FxHashMap::default();
        for (place, part) in parts.iter().enumerate() {
            let own = &part.packed.labels;
            let mut numbers = Vec::with_capacity(own.len());
            for (name, op_type) in own.iter() {
                let label = (names.of(name), op_type.map(|op_type| op_types.of(op_type)));
                let next = lod.labels.len() as u32;
                let number = *known.entry(label).or_insert(next);
                if number == next {
                    lod.labels.push(label);
                }
                numbers.push(number);
            }
            lod.numbers.push(numbers);
            for lanes in part.packed.lanes.chunk_by(|one, other| one.track == other.track) {
                let track = lanes[0].track.wrapping_add(part.first_id);
                lod.of_track.entry(track).or_default().push(place);
            }
        }
        lod.parts = parts;
        (lod.names, lod.op_types) = (names.texts, op_types.texts);
        lod
    }

    /// The index into the names of a slice of a part.
    fn name_of(&self, part: usize, label: u32) -> u32 {
        let number = self.numbers[part].get(label as usize);
        number.map_or(0, |number| self.labels[*number as usize].0)
    }

    /// Names of slices; a cell holds an index into them.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Tracks in order, each with its number of lanes (the largest depth and one) and of slices.
    #[must_use]
    pub fn tracks(&self) -> Vec<(i64, u32, usize)> {
        let mut found: Vec<(i64, u32, usize)> = Vec::with_capacity(self.of_track.len());
        for (track, parts) in &self.of_track {
            let (mut depths, mut slices) = (0, 0);
            for part in parts.iter().map(|place| &self.parts[*place]) {
                for lane in part.packed.of_track(track.wrapping_sub(part.first_id)) {
                    depths = depths.max(lane.depth.saturating_add(1));
                    slices += lane.rows.len();
                }
            }
            found.push((*track, depths, slices));
        }
        found.sort_unstable();
        found
    }
}
