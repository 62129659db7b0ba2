//! How long something was covered by slices that come in order of their start, and the gaps in between.

/// A gap is short below this, in picoseconds: 100 µs, as the view device_sum has it.
const SHORT_PS: i64 = 100_000_000;

/// A stretch of time, by the row of the step that it is called after.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    pub id: i64,
    pub open: i64,
    pub close: i64,
}

/// Stretches in order of their begin, to be searched.
pub struct Pieces {
    list: Vec<Piece>,
    /// Latest end of each and all before it.
    reached: Vec<i64>,
}

impl Pieces {
    pub fn new(mut list: Vec<Piece>) -> Pieces {
        list.sort_by_key(|piece| (piece.open, piece.id));
        let mut reached = Vec::with_capacity(list.len());
        for piece in &list {
            let before = reached.last().copied().unwrap_or(i64::MIN);
            reached.push(piece.close.max(before));
        }
        Pieces { list, reached }
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn get(&self, number: usize) -> Piece {
        self.list[number]
    }

    /// The numbers of those that begin before `end` and end after `begin`, the latest first.
    pub fn overlapping(&self, begin: i64, end: i64) -> impl Iterator<Item = usize> + '_ {
        let until = match &self.list[..] {
            [one] => usize::from(one.open < end), // nearly always: all steps that count
            many => many.partition_point(|piece| piece.open < end),
        };
        (0..until)
            .rev()
            .take_while(move |number| self.reached[*number] > begin)
            .filter(move |number| self.list[*number].close > begin)
    }
}

/// Slices of a stretch, added up.
#[derive(Debug, Clone, Default)]
pub struct Load {
    pub busy_ps: i128,
    pub work_ps: i128,
    pub slices: i64,
    pub gaps: i64,
    pub most_gap_ps: i64,
    pub short_gaps: i64,
    pub short_gaps_ps: i128,
    pub first_ps: i64,
    pub last_ps: i64,
    /// Where what is covered without a gap began.
    since_ps: i64,
}

impl Load {
    /// Adds a slice that begins no earlier than those before it. Returns what was covered without a gap up to
    /// now when a gap comes before it.
    pub fn add(&mut self, from: i64, to: i64) -> Option<(i64, i64)> {
        let length = i128::from(to) - i128::from(from);
        let mut closed = None;
        if self.slices == 0 {
            (self.first_ps, self.last_ps, self.since_ps) = (from, to, from);
            self.busy_ps = length;
        } else if self.last_ps < from {
            let gap = from.saturating_sub(self.last_ps);
            self.gaps += 1;
            self.most_gap_ps = self.most_gap_ps.max(gap);
            if gap < SHORT_PS {
                self.short_gaps += 1;
                self.short_gaps_ps += i128::from(gap);
            }
            self.busy_ps += length;
            closed = Some((self.since_ps, self.last_ps));
            (self.since_ps, self.last_ps) = (from, to);
        } else if self.last_ps < to {
            self.busy_ps += i128::from(to) - i128::from(self.last_ps);
            self.last_ps = to;
        }
        self.slices += 1;
        self.work_ps += length;
        closed
    }

    /// What is covered without a gap at the end.
    pub fn rest(&self) -> (i64, i64) {
        (self.since_ps, self.last_ps)
    }
}

/// What tracks cover, merged as they come.
#[derive(Default)]
pub struct Covered {
    /// Each at least twice as long as the next, so that a stretch is merged a few times only.
    lists: Vec<Vec<(i64, i64)>>,
}

impl Covered {
    /// Adds what one track covers: stretches that do not touch, in order.
    pub fn add(&mut self, mut list: Vec<(i64, i64)>) {
        while let Some(other) = self.lists.pop_if(|other| other.len() / 2 < list.len()) {
            list = union(&other, &list);
        }
        self.lists.push(list);
    }

    /// What all tracks cover, in order.
    pub fn all(mut self) -> Vec<(i64, i64)> {
        let mut all = self.lists.pop().unwrap_or_default();
        while let Some(other) = self.lists.pop() {
            all = union(&other, &all);
        }
        all
    }
}

/// Stretches of both lists, those that overlap or touch as one.
fn union(one: &[(i64, i64)], other: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut merged: Vec<(i64, i64)> = Vec::with_capacity(one.len().max(other.len()));
    let (mut i, mut j) = (0, 0);
    while i < one.len() || j < other.len() {
        let next = if j == other.len() || (i < one.len() && one[i] <= other[j]) {
            i += 1;
            one[i - 1]
        } else {
            j += 1;
            other[j - 1]
        };
        match merged.last_mut() {
            Some(last) if next.0 <= last.1 => last.1 = last.1.max(next.1),
            _ => merged.push(next),
        }
    }
    merged
}

/// A sum as a column holds it: no recording comes near the limits, damaged ones may.
pub fn fit(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::{Covered, Load};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tracks_cover_what_their_sorted_slices_cover(
            tracks in proptest::collection::vec(proptest::collection::vec((0_i64..200, 1_i64..9), 1..40), 1..9)
        ) {
            let mut covered = Covered::default();
            let mut every = Vec::new();
            for track in &tracks {
                let mut slices: Vec<_> = track.iter().map(|(from, dur)| (*from, from + dur)).collect();
                slices.sort_unstable();
                every.extend_from_slice(&slices);
                let mut load = Load::default();
                let mut list: Vec<_> = slices.iter().filter_map(|(from, to)| load.add(*from, *to)).collect();
                list.push(load.rest());
                covered.add(list);
            }
            every.sort_unstable();
            let mut load = Load::default();
            let mut wanted: Vec<_> = every.iter().filter_map(|(from, to)| load.add(*from, *to)).collect();
            wanted.push(load.rest());
            prop_assert_eq!(covered.all(), wanted);
        }
    }
}
