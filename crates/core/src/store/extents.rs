//! When the slices of each track lie, in one pass over three of their columns.

use crate::error::Result;
use crate::store::Store;
use crate::store::part::Access;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use std::collections::BTreeMap;

/// When slices of one track lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// How many.
    pub slices: u64,
    /// When the first of them begins.
    pub first_ps: i64,
    /// When the last of them begins.
    pub last_ps: i64,
    /// When the last of them ends.
    pub end_ps: i64,
}

impl Store {
    /// By track: when its slices lie. `before_ps`: of those that end before it.
    pub fn extents(&self, before_ps: i64) -> Result<BTreeMap<i32, Extent>> {
        let part = &self.table("slice")?.parts[0];
        let (track, ts, dur) = (part.column("track_id")?, part.column("ts_ps")?, part.column("dur_ps")?);
        let file = part.open()?;
        let access = file.as_ref().map_or(Access::Mapped, Access::Read);
        let mut found = BTreeMap::new();
        for batch in 0..part.batches.len() {
            let read = |column| part.array(batch, column, &access);
            let (tracks, ts, dur) = (read(track)?, read(ts)?, read(dur)?);
            let times =
                ts.as_primitive::<Int64Type>().values().iter().zip(dur.as_primitive::<Int64Type>().values());
            for (track, (&ts_ps, &dur_ps)) in tracks.as_primitive::<Int32Type>().values().iter().zip(times) {
                let end_ps = ts_ps.saturating_add(dur_ps);
                if end_ps >= before_ps {
                    continue;
                }
                let none = Extent { slices: 0, first_ps: ts_ps, last_ps: ts_ps, end_ps };
                let extent = found.entry(*track).or_insert(none);
                extent.slices += 1;
                extent.first_ps = extent.first_ps.min(ts_ps);
                extent.last_ps = extent.last_ps.max(ts_ps);
                extent.end_ps = extent.end_ps.max(end_ps);
            }
        }
        Ok(found)
    }
}
