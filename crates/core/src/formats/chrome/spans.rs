//! Slices that are told by their two ends: B and E on a thread, b and e (or S and F) of a sequence.
//!
//! Ends are matched as they come, so that memory holds open slices only. The format allows any order
//! in the file, though: from the first event on that is earlier than one before it, a track's ends
//! are collected and matched by time when the file ends.

use super::piece::{Flaw, Flaws};
use super::repair::join;
use super::tracks::Tracks;
use crate::columns::{MISSING, NONE, SliceColumns};
use rustc_hash::FxHashMap;

/// One end. Codes are the writer's.
#[derive(Debug, Clone)]
pub struct End {
    /// True for the beginning of a slice.
    pub begin: bool,
    /// Picoseconds from the origin.
    pub ts_ps: i64,
    /// Code of the name, or [`NONE`].
    pub name: u32,
    /// Code of the category, or [`NONE`].
    pub category: u32,
    /// Code of the op name, or [`NONE`].
    pub op_name: u32,
    /// Code of the op type, or [`NONE`].
    pub op_type: u32,
    /// Correlation id, or [`MISSING`].
    pub correlation: i64,
    /// Step number, or [`MISSING`].
    pub step: i64,
    /// Arguments.
    pub args: Vec<u8>,
    /// Byte offset in the file.
    pub offset: u64,
}

struct Open {
    end: End,
    /// Children that began with this slice. Should they end with it too, they have to come after
    /// it, or nesting would take them for its parents.
    held: Vec<(End, i64)>,
}

#[derive(Default)]
struct Track {
    by_name: bool,
    open: Vec<Open>,
    last_ps: Option<i64>,
    /// Ends that matched nothing; they may match what comes late.
    orphans: Vec<End>,
    /// Everything since the first that came late.
    late: Vec<End>,
}

/// Ends without a beginning that are kept in case their beginning comes late.
const ORPHANS: usize = 1 << 16;

/// The open slices of all tracks.
#[derive(Default)]
pub struct Spans {
    tracks: FxHashMap<u32, Track>,
    /// Tracks that are still to be finished, last first.
    rest: Option<Vec<u32>>,
    orphans: usize,
    /// Finished slices in an order that keeps parents first, with the writer's codes.
    pub done: SliceColumns,
    /// Step numbers of finished slices: index and number.
    pub steps: Vec<(u32, i64)>,
    /// Ends that could not be used.
    pub lost: u64,
    /// Slices that were closed for want of an end.
    pub repaired: u64,
    /// Ends that became slices, and the slices.
    pub stored: (u64, u64),
    joined: Vec<u8>,
}

impl Spans {
    /// Takes an end. `by_name`: an end with a name closes the innermost open slice of its name and no other.
    pub fn take(&mut self, number: u32, by_name: bool, end: End, flaws: &mut Flaws) {
        let mut track = std::mem::take(self.tracks.entry(number).or_default());
        track.by_name = by_name;
        if !track.late.is_empty() || track.last_ps.is_some_and(|last| end.ts_ps < last) {
            track.late.push(end);
        } else {
            track.last_ps = Some(end.ts_ps);
            if let Some(orphan) = self.step(number, &mut track, end, flaws) {
                if self.orphans < ORPHANS {
                    self.orphans += 1;
                    track.orphans.push(orphan);
                } else {
                    self.lost += 1;
                    flaws.add(Flaw::EndWithoutBegin, orphan.offset);
                }
            }
        }
        // A file may have millions of sequences, each short.
        if by_name && track.open.is_empty() && track.orphans.is_empty() && track.late.is_empty() {
            self.tracks.remove(&number);
        } else {
            self.tracks.insert(number, track);
        }
    }

    /// True when the track has an open slice.
    pub fn is_open(&self, number: u32) -> bool {
        self.tracks.get(&number).is_some_and(|track| !track.open.is_empty() || !track.late.is_empty())
    }

    /// Opens or closes; gives the end back when there is nothing to close.
    fn step(&mut self, number: u32, track: &mut Track, end: End, flaws: &mut Flaws) -> Option<End> {
        if end.begin {
            track.open.push(Open { end, held: Vec::new() });
            return None;
        }
        // Sequences are told by category and id; within one, ends belong to the begin of their name.
        let fits = |open: &Open| {
            !track.by_name || open.end.name == end.name || open.end.name == NONE || end.name == NONE
        };
        let named = |open: &Open| track.by_name && open.end.name == end.name;
        let places = || track.open.iter();
        let Some(place) = places().rposition(named).or_else(|| places().rposition(fits)) else {
            return Some(end);
        };
        let mut open = track.open.remove(place);
        let Some(dur_ps) = end.ts_ps.checked_sub(open.end.ts_ps) else {
            self.lost += 2;
            flaws.add(Flaw::TimeOutOfRange, open.end.offset);
            return None;
        };
        self.stored.0 += 2;
        self.stored.1 += 1;
        if !end.args.is_empty() {
            join(&open.end.args, &end.args, &mut self.joined);
            open.end.args.clone_from(&self.joined);
        }
        if open.end.name == NONE {
            open.end.name = end.name;
        }
        let mut family = vec![(open.end, dur_ps)];
        family.append(&mut open.held);
        let parent = place.checked_sub(1).map(|parent| &mut track.open[parent]);
        match parent {
            Some(parent) if parent.end.ts_ps == family[0].0.ts_ps => parent.held.append(&mut family),
            _ => self.emit(number, family),
        }
        None
    }

    fn emit(&mut self, number: u32, family: Vec<(End, i64)>) {
        let done = &mut self.done;
        for (end, dur_ps) in family {
            if end.step != MISSING {
                self.steps.push((done.track.len() as u32, end.step));
            }
            done.track.push(number);
            done.name.push(end.name);
            done.category.push(end.category);
            done.ts_ps.push(end.ts_ps);
            done.dur_ps.push(dur_ps);
            done.op_name.push(end.op_name);
            done.op_type.push(end.op_type);
            done.correlation.push(end.correlation);
            done.args_json.extend_from_slice(&end.args);
            done.args_end.push(done.args_json.len() as u32);
        }
    }

    /// Matches what came late, and closes what is open at the end of its track. Stops early when
    /// `done` is full; call it until it answers true.
    pub fn finish(&mut self, tracks: &Tracks, flaws: &mut Flaws) -> bool {
        let rest = self.rest.get_or_insert_with(|| {
            let mut numbers: Vec<u32> = self.tracks.keys().copied().collect();
            numbers.sort_unstable_by_key(|number| std::cmp::Reverse(*number));
            numbers
        });
        let mut rest = std::mem::take(rest);
        while let Some(number) = rest.pop() {
            let mut track = self.tracks.remove(&number).unwrap_or_default();
            let late = std::mem::take(&mut track.late);
            if !late.is_empty() {
                let mut ends: Vec<End> = std::mem::take(&mut track.orphans);
                ends.extend(late);
                for open in std::mem::take(&mut track.open) {
                    self.emit(number, open.held);
                    ends.push(open.end);
                }
                ends.sort_by_key(|end| (end.ts_ps, end.offset));
                for end in ends {
                    if let Some(orphan) = self.step(number, &mut track, end, flaws) {
                        track.orphans.push(orphan);
                    }
                }
            }
            for orphan in track.orphans {
                self.lost += 1;
                flaws.add(Flaw::EndWithoutBegin, orphan.offset);
            }
            let last_ps = tracks.last_ps(number);
            let mut family = Vec::new();
            for mut open in track.open {
                flaws.add(Flaw::UnclosedBegin, open.end.offset);
                match last_ps.max(open.end.ts_ps).checked_sub(open.end.ts_ps) {
                    Some(dur_ps) => {
                        self.repaired += 1;
                        self.stored.0 += 1;
                        self.stored.1 += 1;
                        family.push((open.end, dur_ps));
                        family.append(&mut open.held);
                    }
                    None => self.lost += 1,
                }
            }
            self.emit(number, family);
            if self.done.args_json.len() > 1 << 26 || self.done.len() > 1 << 18 {
                self.rest = Some(rest);
                return false;
            }
        }
        true
    }
}
