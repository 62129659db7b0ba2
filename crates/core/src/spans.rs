//! Unions of spans of time that come in any order, and lanes for those that overlap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// From one instant to another.
pub type Span = (i64, i64);

/// Spans that wait to be sorted, at least: sorting more at once takes less time, and more memory.
const LEAST_LATE: usize = 1 << 16;

/// The union of all spans added so far, in the memory of what is left of them.
#[derive(Debug, Default)]
pub struct Union {
    /// In order; none touches another.
    settled: Vec<Span>,
    /// In the order in which they came.
    late: Vec<Span>,
}

impl Union {
    /// Adds a span. One that does not end after it begins adds nothing.
    pub fn add(&mut self, from: i64, to: i64) {
        if to <= from {
            return;
        }
        // Slices of a thread come one after the other, and children after their parents.
        if let Some(last) = self.late.last_mut()
            && from >= last.0
            && from <= last.1
        {
            last.1 = last.1.max(to);
            return;
        }
        if self.late.len() >= LEAST_LATE.max(self.settled.len()) {
            self.settle();
        }
        self.late.push((from, to));
    }

    /// The union, in order; no span touches another.
    pub fn spans(mut self) -> Vec<Span> {
        self.settle();
        self.settled
    }

    fn settle(&mut self) {
        self.late.sort_unstable();
        let mut both = Vec::with_capacity(self.settled.len() + self.late.len());
        let mut settled = self.settled.drain(..).peekable();
        let mut late = self.late.drain(..).peekable();
        loop {
            let first = match (settled.peek(), late.peek()) {
                (Some(one), Some(other)) if one <= other => settled.next(),
                (_, Some(_)) => late.next(),
                (_, None) => settled.next(),
            };
            let Some((from, to)) = first else { break };
            match both.last_mut() {
                Some((_, end)) if from <= *end => *end = to.max(*end),
                _ => both.push((from, to)),
            }
        }
        drop((settled, late));
        self.settled = both;
    }
}

/// The parts of spans that lie between two instants. spans: a union, in order.
pub fn within(spans: &[Span], from: i64, to: i64) -> Vec<Span> {
    let first = spans.partition_point(|span| span.1 <= from);
    spans[first..]
        .iter()
        .take_while(|span| span.0 < to)
        .map(|span| (span.0.max(from), span.1.min(to)))
        .filter(|span| span.0 < span.1)
        .collect()
}

/// The lane of each of some spans, which come in the order of their starts. None of a lane overlap: each takes the
/// lowest lane that is free, as tfprof's rows are filled; one that starts where another ends may follow it.
pub fn lanes(spans: impl Iterator<Item = Span>) -> Vec<u32> {
    let mut busy: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    let mut number = 0;
    spans
        .map(|(start, end)| {
            while let Some(Reverse((until, lane))) = busy.peek().copied()
                && until <= start
            {
                busy.pop();
                free.push(Reverse(lane));
            }
            let lane = free.pop().map_or_else(
                || {
                    number += 1;
                    number - 1
                },
                |Reverse(lane)| lane,
            );
            busy.push(Reverse((end, lane)));
            lane
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn union(spans: &[Span]) -> Vec<Span> {
        let mut found = Union::default();
        for (number, (from, to)) in spans.iter().enumerate() {
            found.add(*from, *to);
            if number % 3 == 0 {
                found.settle();
            }
        }
        found.spans()
    }

    #[test]
    fn spans_that_touch_are_one() {
        assert_eq!(union(&[(5, 7), (1, 3), (3, 5), (9, 9), (9, 8)]), [(1, 7)]);
        assert_eq!(union(&[(5, 7), (1, 3)]), [(1, 3), (5, 7)]);
        assert_eq!(union(&[]), []);
    }

    #[test]
    fn more_spans_than_wait_at_once() {
        let mut found = Union::default();
        for at in (0..200_000).rev() {
            found.add(at * 4, at * 4 + 2);
            found.add(at * 4 + 1, at * 4 + 3);
        }
        let spans = found.spans();
        assert_eq!(spans.len(), 200_000);
        assert_eq!((spans[0], spans[199_999]), ((0, 3), (799_996, 799_999)));
    }

    #[test]
    fn lowest_free_lane() {
        let spans = [(0, 10), (2, 4), (4, 6), (5, 5), (10, 12), (10, 10)];
        assert_eq!(lanes(spans.into_iter()), [0, 1, 1, 2, 0, 1]);
    }

    proptest! {
        #[test]
        fn no_overlap_and_no_lane_too_many(mut spans in prop::collection::vec((0_i64..200, 0_i64..30), 0..100)) {
            spans.sort();
            let spans: Vec<Span> = spans.into_iter().map(|(start, dur)| (start, start + dur)).collect();
            let lanes = lanes(spans.iter().copied());
            let mut most = 0;
            for (i, a) in spans.iter().enumerate() {
                // An interval that is running when this one starts needs a lane of its own.
                let running = spans[..i].iter().filter(|b| b.1 > a.0).count() as u32 + 1;
                most = most.max(running);
                for (j, b) in spans[..i].iter().enumerate() {
                    prop_assert!(lanes[i] != lanes[j] || b.1 <= a.0);
                }
            }
            prop_assert!(lanes.iter().all(|lane| *lane < most));
        }

        #[test]
        fn an_instant_is_in_the_union_when_it_is_in_a_span(
            spans in prop::collection::vec((0_i64..60, 0_i64..12).prop_map(|(at, long)| (at, at + long)), 0..30),
            from in 0_i64..60,
            long in 0_i64..40,
        ) {
            let found = union(&spans);
            let inside = |spans: &[Span], at: i64| spans.iter().any(|span| span.0 <= at && at < span.1);
            for at in 0..80 {
                prop_assert_eq!(inside(&found, at), inside(&spans, at));
            }
            prop_assert!(found.windows(2).all(|pair| pair[0].1 < pair[1].0));
            let to = from + long;
            let cut = within(&found, from, to);
            for at in 0..80 {
                prop_assert_eq!(inside(&cut, at), inside(&found, at) && (from..to).contains(&at));
            }
            prop_assert!(cut.iter().all(|span| from <= span.0 && span.0 < span.1 && span.1 <= to));
        }
    }
}
