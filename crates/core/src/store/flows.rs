//! Which slice an arrow starts at, passes or ends at.
//!
//! An arrow starts at the innermost slice with begin < ts <= end, else at one that begins at ts. It
//! passes or ends at the innermost with begin <= ts < end, else at one that ends at ts. (An arrow is
//! written when its cause ends and when its effect begins; so the ends of slices count differently.)
//!
//! Where a format says of which slice an arrow is, but the slice has no number yet, it is the first on its track
//! with the same begin and duration.

use crate::columns::MISSING;
use crate::error::Result;
use crate::store::part::{Access, Part};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use std::cmp::Reverse;

/// Stations of arrows, and the slices they were tied to.
#[derive(Default)]
pub struct Flows {
    /// For each row of the table the slice, or [`MISSING`].
    pub slice_id: Vec<i64>,
    waiting: Vec<Station>,
    tied: Vec<Tied>,
}

/// A station of the slice that begins and lasts like this.
#[derive(Clone, Copy)]
struct Tied {
    track: u32,
    ts_ps: i64,
    dur_ps: i64,
    row: usize,
}

impl Tied {
    /// As slices nest: those that begin first, then the longest.
    fn key(&self) -> (i64, Reverse<i64>) {
        (self.ts_ps, Reverse(self.dur_ps))
    }
}

#[derive(Clone, Copy)]
struct Station {
    track: u32,
    ts_ps: i64,
    row: usize,
    start: bool,
}

#[derive(Clone, Copy)]
struct Open {
    row: i64,
    end_ps: i64,
}

impl Flows {
    /// One more row of the table. Without a slice it waits for [`Flows::bind`].
    pub fn push(&mut self, track: u32, ts_ps: i64, start: bool, slice: Option<i64>) {
        if slice.is_none() {
            self.waiting.push(Station { track, ts_ps, row: self.slice_id.len(), start });
        }
        self.slice_id.push(slice.unwrap_or(MISSING));
    }

    /// One more row, of the slice on the track that begins then and lasts so long.
    pub fn push_tied(&mut self, track: u32, ts_ps: i64, dur_ps: i64) {
        self.tied.push(Tied { track, ts_ps, dur_ps, row: self.slice_id.len() });
        self.slice_id.push(MISSING);
    }

    /// Ties the waiting stations to slices that are in nesting order in columns 0 (track), 3 (start)
    /// and 4 (duration) of `slices`.
    pub fn bind(&mut self, slices: &Part) -> Result<()> {
        if self.waiting.is_empty() && self.tied.is_empty() {
            return Ok(());
        }
        self.tied.sort_unstable_by_key(|tied| (tied.track, tied.key(), tied.row));
        self.waiting.sort_unstable_by_key(|station| (station.track, station.ts_ps));
        let file = slices.open()?;
        let mut sweep = Sweep { stations: &self.waiting, slice_id: &mut self.slice_id, ..Sweep::empty() };
        let mut current = None;
        let mut row = 0;
        for batch in 0..slices.batches.len() {
            let access = file.as_ref().map_or(Access::Mapped, Access::Read);
            let column = |column| slices.array(batch, column, &access);
            let (track, ts_ps, dur_ps) = (column(0)?, column(3)?, column(4)?);
            let track = track.as_primitive::<Int32Type>().values();
            let ts_ps = ts_ps.as_primitive::<Int64Type>().values();
            let dur_ps = dur_ps.as_primitive::<Int64Type>().values();
            for ((track, ts_ps), dur_ps) in track.iter().zip(ts_ps).zip(dur_ps) {
                if current != Some(*track) {
                    sweep.end_track();
                    current = Some(*track);
                    sweep.begin_track(&self.waiting, *track as u32);
                    sweep.tied = of_track(&self.tied, *track as u32, |tied| tied.track);
                }
                sweep.tie(row, *ts_ps, *dur_ps);
                sweep.slice(row, *ts_ps, ts_ps + dur_ps);
                row += 1;
            }
        }
        sweep.end_track();
        self.waiting.clear();
        self.tied.clear();
        Ok(())
    }
}

/// Those of one track, of stations sorted by track.
fn of_track<T>(all: &[T], track: u32, of: impl Fn(&T) -> u32) -> &[T] {
    let from = all.partition_point(|one| of(one) < track);
    let to = all.partition_point(|one| of(one) <= track);
    &all[from..to]
}

/// Slices and stations of one track, by rising time.
struct Sweep<'a> {
    stations: &'a [Station],
    tied: &'a [Tied],
    slice_id: &'a mut [i64],
    open: Vec<Open>,
    /// What is known for the time of the first station, once slices up to it have begun.
    moment: Option<Moment>,
}

/// What is known for one time before the slices that begin at it.
#[derive(Clone, Copy, Default)]
struct Moment {
    /// Innermost with begin < ts <= end.
    around: Option<i64>,
    /// Innermost with begin < ts = end, or last with begin = end = ts.
    ending: Option<i64>,
    /// Last with begin = ts.
    beginning: Option<i64>,
}

impl<'a> Sweep<'a> {
    fn empty() -> Sweep<'a> {
        Sweep { stations: &[], tied: &[], slice_id: &mut [], open: Vec::new(), moment: None }
    }

    fn begin_track(&mut self, all: &'a [Station], track: u32) {
        self.stations = of_track(all, track, |station| station.track);
        self.open.clear();
        self.moment = None;
    }

    /// Ties the stations of a slice to it.
    fn tie(&mut self, row: i64, ts_ps: i64, dur_ps: i64) {
        let key = (ts_ps, Reverse(dur_ps));
        while let Some((tied, rest)) = self.tied.split_first()
            && tied.key() <= key
        {
            if tied.key() == key {
                self.slice_id[tied.row] = row;
            }
            self.tied = rest;
        }
    }

    fn slice(&mut self, row: i64, begin_ps: i64, end_ps: i64) {
        while let Some(station) = self.stations.first() {
            if station.ts_ps > begin_ps {
                break;
            }
            if station.ts_ps == begin_ps {
                let mut moment = self.moment(begin_ps);
                moment.beginning = Some(row);
                if end_ps == begin_ps {
                    moment.ending = Some(row);
                }
                self.moment = Some(moment);
                break;
            }
            self.settle(station.ts_ps);
        }
        if self.stations.is_empty() {
            return;
        }
        while self.open.last().is_some_and(|top| top.end_ps <= begin_ps || top.end_ps < end_ps) {
            self.open.pop();
        }
        self.open.push(Open { row, end_ps });
    }

    fn end_track(&mut self) {
        while let Some(station) = self.stations.first() {
            self.settle(station.ts_ps);
        }
    }

    fn moment(&mut self, ts_ps: i64) -> Moment {
        if let Some(moment) = self.moment {
            return moment;
        }
        while self.open.last().is_some_and(|top| top.end_ps < ts_ps) {
            self.open.pop();
        }
        let top = self.open.last();
        Moment {
            around: top.map(|top| top.row),
            ending: top.filter(|top| top.end_ps == ts_ps).map(|top| top.row),
            beginning: None,
        }
    }

    /// Ties the stations at a time at which no more slices begin.
    fn settle(&mut self, ts_ps: i64) {
        let moment = self.moment(ts_ps);
        while self.open.last().is_some_and(|top| top.end_ps <= ts_ps) {
            self.open.pop();
        }
        let inside = self.open.last().map(|top| top.row);
        let here = self.stations.partition_point(|station| station.ts_ps <= ts_ps);
        for station in &self.stations[..here] {
            let slice =
                if station.start { moment.around.or(moment.beginning) } else { inside.or(moment.ending) };
            self.slice_id[station.row] = slice.unwrap_or(MISSING);
        }
        self.stations = &self.stations[here..];
        self.moment = None;
    }
}
