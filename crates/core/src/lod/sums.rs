//! What the slices of a range add up to: by name and op type, and how long anything was going on.
//!
//! A range is added up piece by piece, each about as long as many slices take together, so that who asks can leave
//! between two of them, and so that memory holds the slices of one. Everything is cut at the ends of a piece: what
//! pieces come to is added, and a slice counts in the piece that it begins in, or in the first.
//!
//! Self time is the time in which a slice lies on top. Lanes are read from the outermost to the innermost: a slice lies
//! open until it ends, the next of its lane begins, or what it lies in is no longer open; what is open in it is taken
//! from it again. See [`crate::store`] for how slices are nested.

use super::cells::Window;
use super::{Lane, Lod, Packed};
use std::ops::Range;

/// Slices of a piece.
const PIECE_SLICES: u64 = 1 << 17;
/// Pieces of a range, at most.
const MOST_PIECES: u64 = 1 << 20;

/// Slices of one name and op type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sum {
    slices: u64,
    total_ps: i128,
    self_ps: i128,
}

/// A row of [`Sums::rows`]: slices of one name and op type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'a> {
    /// Name.
    pub name: &'a str,
    /// Type of the op.
    pub op_type: Option<&'a str>,
    /// Slices that begin in the range or reach into it.
    pub slices: u64,
    /// Their durations within the range.
    pub total_ps: i64,
    /// Time within the range in which they lie on top.
    pub self_ps: i64,
}

/// A range on its way into sums.
#[derive(Debug)]
pub struct Sums {
    /// Parts and their tracks.
    tracks: Vec<(usize, i64)>,
    first_ps: i64,
    until_ps: i64,
    pieces: u64,
    done: u64,
    slices: u64,
    sums: Vec<Sum>,
    busy_ps: i128,
    work_ps: i128,
    room: Room,
}

/// Memory of a piece, used again by the next.
#[derive(Debug, Default)]
struct Room {
    /// The lane that is read, and those above it.
    own: Vec<Open>,
    above: Vec<Open>,
    /// Spans in which tracks are at work.
    spans: Vec<(u64, u64)>,
}

/// A slice and for how long it lies open, as picoseconds since the piece began.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// Its start, on the clock of its source.
    ts_ps: i64,
    end: u64,
    label: u32,
}

impl Sums {
    /// The slices of `tracks` that start in a window, or start before it and end in it or after. An unknown track has
    /// none.
    #[must_use]
    pub fn new(lod: &Lod, tracks: &[i64], window: Window) -> Sums {
        let mut found = Vec::new();
        let mut slices = 0;
        for track in tracks {
            for place in lod.of_track.get(track).into_iter().flatten() {
                let part = &lod.parts[*place];
                found.push((*place, track.wrapping_sub(part.first_id)));
                if let Some((from, to)) = part.on_clock(window.from_ps(), window.to_ps()) {
                    for lane in part.packed.of_track(track.wrapping_sub(part.first_id)) {
                        slices += within(&part.packed, lane, from, to).len() as u64;
                    }
                }
            }
        }
        let mut sums = Sums {
            tracks: found,
            first_ps: window.from_ps(),
            until_ps: window.to_ps(),
            pieces: 1,
            done: 0,
            slices: 0,
            sums: vec![Sum::default(); lod.labels.len()],
            busy_ps: 0,
            work_ps: 0,
            room: Room::default(),
        };
        sums.cut_into(slices.div_ceil(PIECE_SLICES));
        sums
    }

    /// Cuts it into other pieces than it would; nothing may be added up yet.
    pub fn cut_into(&mut self, pieces: u64) {
        let span = self.until_ps.abs_diff(self.first_ps);
        self.pieces = pieces.clamp(1, MOST_PIECES.min(span));
    }

    /// How many pieces are added up, and how many there are.
    #[must_use]
    pub fn progress(&self) -> (u64, u64) {
        (self.done, self.pieces)
    }

    /// Adds the next piece. lod: the one that the sums were made of.
    pub fn go_on(&mut self, lod: &Lod) {
        if self.done == self.pieces {
            return;
        }
        let (from, to) = (self.edge(self.done), self.edge(self.done + 1));
        let mut room = std::mem::take(&mut self.room);
        room.spans.clear();
        for place in 0..self.tracks.len() {
            let (part, track) = self.tracks[place];
            self.track(lod, part, track, (from, to), &mut room);
        }
        // Spans of a track are in order already, which a stable sort makes use of.
        room.spans.sort();
        let mut reach = 0;
        for &(begin, end) in &room.spans {
            self.busy_ps += i128::from(end.saturating_sub(begin.max(reach)));
            reach = reach.max(end);
        }
        self.room = room;
        self.done += 1;
    }

    /// Where a piece begins.
    fn edge(&self, piece: u64) -> i64 {
        let span = i128::from(self.until_ps) - i128::from(self.first_ps);
        let into = span * i128::from(piece) / i128::from(self.pieces);
        (i128::from(self.first_ps) + into) as i64
    }

    /// Adds what a track of a part has in a piece.
    fn track(&mut self, lod: &Lod, place: usize, track: i64, piece: (i64, i64), room: &mut Room) {
        let part = &lod.parts[place];
        let Some((from, to)) = part.on_clock(piece.0, piece.1) else {
            return;
        };
        let (packed, numbers) = (&part.packed, &lod.numbers[place]);
        room.above.clear();
        for lane in packed.of_track(track) {
            let inside = within(packed, lane, from, to);
            let mut adding = Adding {
                sums: &mut self.sums,
                numbers,
                from,
                to,
                counts: self.done == 0,
                above: &room.above,
                at: 0,
                own: &mut room.own,
                slices: 0,
            };
            adding.own.clear();
            let mut next = lane.rows.start;
            while let Some(row) = packed.pyramid.first_beyond(&packed.slices, next..inside.start, from) {
                next = row + 1;
                let slice = packed.slices.slice(row);
                let after = (next < lane.rows.end).then(|| packed.slices.ts_ps(next));
                adding.add((slice.ts_ps, slice.dur_ps, slice.name), after);
            }
            adding.counts = true;
            let mut before: Option<(i64, i64, u32)> = None;
            packed.slices.each(inside, |ts_ps, dur_ps, name| {
                if let Some(slice) = before.replace((ts_ps, dur_ps, name)) {
                    adding.add(slice, Some(ts_ps));
                }
            });
            if let Some(slice) = before {
                adding.add(slice, None);
            }
            self.slices += adding.slices;
            if lane.depth == 0 {
                for open in &room.own {
                    let begin = since(from, open.ts_ps);
                    if begin < open.end {
                        self.work_ps += i128::from(open.end - begin);
                        match room.spans.last_mut() {
                            Some(last) if last.1 == begin && last.0 <= begin => last.1 = open.end,
                            _ => room.spans.push((begin, open.end)),
                        }
                    }
                }
            }
            std::mem::swap(&mut room.own, &mut room.above);
        }
    }

    /// Slices that were added.
    #[must_use]
    pub fn slices(&self) -> u64 {
        self.slices
    }

    /// Picoseconds in which at least one track has a slice, and those of each track added up.
    #[must_use]
    pub fn busy_and_work_ps(&self) -> (i64, i64) {
        (fit(self.busy_ps), fit(self.work_ps))
    }

    /// Slices by name and op type, those with the most self time first, and how many rows there are.
    /// lod: the one that the sums were made of.
    #[must_use]
    pub fn rows<'a>(&self, lod: &'a Lod, most: usize) -> (Vec<Row<'a>>, usize) {
        let named = lod.labels.iter().zip(&self.sums);
        let mut rows: Vec<Row<'a>> = named
            .filter(|(_, sum)| sum.slices > 0)
            .map(|((name, op_type), sum)| Row {
                name: &lod.names[*name as usize],
                op_type: op_type.map(|number| lod.op_types[number as usize].as_str()),
                slices: sum.slices,
                total_ps: fit(sum.total_ps),
                self_ps: fit(sum.self_ps.max(0)),
            })
            .collect();
        let all = rows.len();
        rows.sort_unstable_by(|one, other| {
            (other.self_ps, other.total_ps)
                .cmp(&(one.self_ps, one.total_ps))
                .then(one.name.cmp(other.name))
                // What has none comes last.
                .then(one.op_type.is_none().cmp(&other.op_type.is_none()))
                .then(one.op_type.cmp(&other.op_type))
        });
        rows.truncate(most);
        (rows, all)
    }
}

/// A lane on its way into sums.
struct Adding<'a> {
    sums: &'a mut [Sum],
    numbers: &'a [u32],
    from: i64,
    to: i64,
    /// Whether slices count: those that reach in counted where they began.
    counts: bool,
    above: &'a [Open],
    /// The last one above that begins no later than what came last.
    at: usize,
    own: &'a mut Vec<Open>,
    slices: u64,
}

impl Adding<'_> {
    /// Adds a slice. after: when the next of its lane begins.
    #[inline]
    fn add(&mut self, (ts_ps, dur_ps, name): (i64, i64, u32), after: Option<i64>) {
        let Some(&label) = self.numbers.get(name as usize) else {
            return; // of a damaged file
        };
        let begin = since(self.from, ts_ps);
        let whole = since(self.from, ts_ps.saturating_add(dur_ps).min(self.to));
        let mut end = after.map_or(whole, |after| whole.min(since(self.from, after)));
        while let Some(next) = self.above.get(self.at + 1)
            && next.ts_ps <= ts_ps
        {
            self.at += 1;
        }
        let around = self.above.get(self.at).filter(|open| open.ts_ps <= ts_ps);
        if let Some(around) = around {
            end = end.min(around.end);
        }
        let open = i128::from(end.saturating_sub(begin));
        if let Some(around) = around {
            self.sums[around.label as usize].self_ps -= open;
        }
        let sum = &mut self.sums[label as usize];
        sum.slices += u64::from(self.counts);
        sum.total_ps += i128::from(whole.saturating_sub(begin));
        sum.self_ps += open;
        self.slices += u64::from(self.counts);
        self.own.push(Open { ts_ps, end, label });
    }
}

/// Rows of a lane that start in a window.
fn within(packed: &Packed, lane: &Lane, from: i64, to: i64) -> Range<usize> {
    let rows = lane.rows.clone();
    let first = rows.start + packed.slices.before(rows.clone(), from);
    first..first + packed.slices.before(first..rows.end, to)
}

/// Picoseconds since a piece began; none for a moment before.
#[inline]
fn since(from: i64, moment: i64) -> u64 {
    if moment <= from { 0 } else { moment.abs_diff(from) }
}

fn fit(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
