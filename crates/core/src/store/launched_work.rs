//! What devices did of the work that stretches of a host's time launched, in one pass over four columns.

use crate::error::Result;
use crate::store::Store;
use crate::store::part::Access;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, PrimitiveArray};
use std::collections::{HashMap, HashSet};

/// The work of devices that one stretch of time launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// When the last of its slices ends.
    pub end_ps: i64,
    /// The least time from a launch to the begin of what it launched: negative where clocks differ.
    pub delay_ps: i64,
}

/// A slice of a device that names the call it was launched by.
struct Executed {
    track: i32,
    correlation: i64,
    ts_ps: i64,
    end_ps: i64,
}

impl Store {
    /// What the tracks `devices` executed of the launches before the first of `begin_ps`, and of those from each
    /// of them to the next; the last stretch is open. A launch is the first slice of another track with the same
    /// `correlation_id`. What a track executed first, before all of which a launch was recorded, was launched
    /// before the recording began: it counts to the first stretch. `begin_ps` must be sorted.
    pub fn launched_work(&self, begin_ps: &[i64], devices: &HashSet<i32>) -> Result<Vec<Option<Work>>> {
        let (launches, executed) = self.correlated(devices)?;
        let mut found: Vec<Option<Work>> = vec![None; begin_ps.len() + 1];
        found[0] = queued_before(&executed, &launches).map(|end_ps| Work { end_ps, delay_ps: i64::MAX });
        for slice in executed {
            let Some(&launch_ps) = launches.get(&slice.correlation) else { continue };
            let place = &mut found[begin_ps.partition_point(|begin| *begin <= launch_ps)];
            let delay_ps = slice.ts_ps.saturating_sub(launch_ps);
            let work = place.get_or_insert(Work { end_ps: slice.end_ps, delay_ps });
            work.end_ps = work.end_ps.max(slice.end_ps);
            work.delay_ps = work.delay_ps.min(delay_ps);
        }
        Ok(found)
    }

    /// When each launch begins, by its number, and what devices executed of all.
    fn correlated(&self, devices: &HashSet<i32>) -> Result<(HashMap<i64, i64>, Vec<Executed>)> {
        let part = &self.table("slice")?.parts[0];
        let (track, ts, dur) = (part.column("track_id")?, part.column("ts_ps")?, part.column("dur_ps")?);
        let correlation = part.column("correlation_id")?;
        let file = part.open()?;
        let access = file.as_ref().map_or(Access::Mapped, Access::Read);
        let (mut launches, mut executed) = (HashMap::new(), Vec::new());
        for batch in 0..part.batches.len() {
            let read = |column| part.array(batch, column, &access);
            let numbers = read(correlation)?;
            let numbers: &PrimitiveArray<Int64Type> = numbers.as_primitive();
            if numbers.null_count() == numbers.len() {
                continue;
            }
            let (tracks, ts, dur) = (read(track)?, read(ts)?, read(dur)?);
            let tracks = tracks.as_primitive::<Int32Type>().values();
            let (ts, dur) =
                (ts.as_primitive::<Int64Type>().values(), dur.as_primitive::<Int64Type>().values());
            for (row, correlation) in numbers.iter().enumerate() {
                let Some(correlation) = correlation else { continue };
                let ts_ps = ts[row];
                if devices.contains(&tracks[row]) {
                    let end_ps = ts_ps.saturating_add(dur[row]);
                    executed.push(Executed { track: tracks[row], correlation, ts_ps, end_ps });
                } else {
                    let first = launches.entry(correlation).or_insert(ts_ps);
                    *first = ts_ps.min(*first);
                }
            }
        }
        Ok((launches, executed))
    }
}

/// When the devices are done with what was launched before the recording began. A track on which work without
/// a launch follows work with one lacks launches, and says nothing.
fn queued_before(executed: &[Executed], launches: &HashMap<i64, i64>) -> Option<i64> {
    let mut first: HashMap<i32, i64> = HashMap::new();
    let (launched, others): (Vec<_>, Vec<_>) =
        executed.iter().partition(|slice| launches.contains_key(&slice.correlation));
    for slice in launched {
        let begin = first.entry(slice.track).or_insert(slice.ts_ps);
        *begin = slice.ts_ps.min(*begin);
    }
    for slice in &others {
        if first.get(&slice.track).is_some_and(|begin| slice.ts_ps >= *begin) {
            first.remove(&slice.track);
        }
    }
    others.iter().filter(|slice| first.contains_key(&slice.track)).map(|slice| slice.end_ps).max()
}
