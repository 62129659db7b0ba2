//! Packs executions that overlap into lanes, so that no two of a lane do.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The lane of each interval, which come as (start, end) in the order of their starts. Each takes the
/// lowest lane that is free; one that starts where another ends may follow it.
pub fn pack(intervals: impl Iterator<Item = (i64, i64)>) -> Vec<u32> {
    let mut busy: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let mut free: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    let mut lanes = 0;
    intervals
        .map(|(start, end)| {
            while let Some(Reverse((until, lane))) = busy.peek().copied()
                && until <= start
            {
                busy.pop();
                free.push(Reverse(lane));
            }
            let lane = free.pop().map_or_else(
                || {
                    lanes += 1;
                    lanes - 1
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

    #[test]
    fn lowest_free_lane() {
        let spans = [(0, 10), (2, 4), (4, 6), (5, 5), (10, 12), (10, 10)];
        assert_eq!(pack(spans.into_iter()), [0, 1, 1, 2, 0, 1]);
    }

    proptest! {
        #[test]
        fn no_overlap_and_no_lane_too_many(mut spans in prop::collection::vec((0_i64..200, 0_i64..30), 0..100)) {
            spans.sort();
            let spans: Vec<(i64, i64)> = spans.into_iter().map(|(start, dur)| (start, start + dur)).collect();
            let lanes = pack(spans.iter().copied());
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
    }
}
