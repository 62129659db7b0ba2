//! Slices as they come, packed track by track: memory holds the open tracks and what is packed, not all slices.

use super::labels::Labeller;
use super::rows::Packer;
use super::{Lane, Packed, Slice};
use crate::error::Result;
use crate::wanted::Wanted;
use rustc_hash::FxHashMap;

/// Slices of a track from which on they are packed when another track begins. A track that goes on later has
/// several runs, which are joined in the end.
const RUN_SLICES: usize = 1 << 16;

/// Slices in any order; those of a track best one after the other.
#[derive(Debug)]
pub struct Builder {
    run_slices: usize,
    open: FxHashMap<(i64, u32), Vec<Slice>>,
    /// Slices of the track that comes in.
    of_track: (i64, usize),
    packer: Packer,
    runs: Vec<Lane>,
    /// What slices are called.
    pub labels: Labeller,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::packing_from(RUN_SLICES)
    }
}

impl Builder {
    /// One that packs tracks of at least so many slices as soon as another track begins.
    #[must_use]
    pub fn packing_from(run_slices: usize) -> Self {
        Builder {
            run_slices,
            open: FxHashMap::default(),
            of_track: (0, 0),
            packer: Packer::default(),
            runs: Vec::new(),
            labels: Labeller::default(),
        }
    }

    /// The label of a name without an op type.
    ///
    /// # Errors
    /// There are more than 2^32 - 2 names.
    pub fn name(&mut self, text: &str) -> Result<u32> {
        let name = self.labels.text(text)?;
        self.labels.pair(name, None)
    }

    /// Adds a slice. A negative duration counts as none.
    pub fn add(&mut self, track: i64, depth: u32, mut slice: Slice) {
        slice.dur_ps = slice.dur_ps.max(0);
        if self.of_track.0 != track {
            if self.of_track.1 >= self.run_slices {
                for key in self.lanes(Some(self.of_track.0)) {
                    self.pack(key);
                }
            }
            self.of_track = (track, 0);
        }
        self.of_track.1 += 1;
        self.open.entry((track, depth)).or_default().push(slice);
    }

    /// Packs what is left and builds the pyramid, for as long as that is wanted.
    ///
    /// # Errors
    /// It is not wanted any more.
    pub fn finish(mut self, wanted: &Wanted<'_>) -> Result<Packed> {
        for key in self.lanes(None) {
            wanted.steps(self.pack(key))?;
        }
        let Builder { mut packer, mut runs, labels, .. } = self;
        runs.sort_unstable_by_key(|run| (run.track, run.depth, run.rows.start));
        let several = runs.chunk_by(|one, other| one.key() == other.key());
        if several.clone().any(|lane| lane.len() > 1) {
            // Packed anew as a whole: the runs of a lane must follow each other.
            let rows = packer.finish();
            packer = Packer::default();
            let mut lanes = Vec::new();
            for lane in several {
                let all = lane.iter().flat_map(|run| run.rows.clone());
                let slices: Vec<Slice> = all.map(|row| rows.slice(row)).collect();
                wanted.steps(slices.len())?;
                lanes.push(pack_lane(&mut packer, lane[0].key(), slices));
            }
            runs = lanes;
        }
        wanted.steps(packer.len())?;
        Ok(Packed::new(packer.finish(), runs, labels.finish()))
    }

    /// The open lanes of a track, or of all, in order.
    fn lanes(&self, track: Option<i64>) -> Vec<(i64, u32)> {
        let mut keys: Vec<(i64, u32)> = self.open.keys().copied().collect();
        keys.retain(|key| track.is_none_or(|track| key.0 == track));
        keys.sort_unstable();
        keys
    }

    /// Packs an open lane; gives its slices.
    fn pack(&mut self, key: (i64, u32)) -> usize {
        let slices = self.open.remove(&key).unwrap_or_default();
        let count = slices.len();
        if count > 0 {
            self.runs.push(pack_lane(&mut self.packer, key, slices));
        }
        count
    }
}

/// Packs the slices of a lane in the order of their starts; of several at once the first stays the first.
fn pack_lane(packer: &mut Packer, (track, depth): (i64, u32), mut slices: Vec<Slice>) -> Lane {
    if !slices.is_sorted_by_key(|slice| slice.ts_ps) {
        slices.sort_by_key(|slice| slice.ts_ps);
    }
    let first = packer.len();
    slices.into_iter().for_each(|slice| packer.push(slice));
    Lane { track, depth, rows: first..packer.len() }
}
