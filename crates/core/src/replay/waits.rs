//! Who waited for whom, where no arrow tells: what ended, or began, right before a wait did.

use super::points::Points;
use super::{NOTHING, Place, Recording, UNLABELLED};
use crate::error::Result;
use crate::wanted::Wanted;

/// Shorter waits are not explained.
pub(super) const LEAST_PS: i64 = 20_000_000;
/// What hands work over and goes on by itself takes less than this.
const LEAST_JOIN_PS: i64 = 100_000_000;
/// Who wakes another does so no longer before it goes on: threads and devices take up to this to notice.
const MOST_LAG_PS: i64 = 200_000_000;

/// Points by time.
struct ByTime(Vec<(i64, u32)>);

impl ByTime {
    fn of(mut found: Vec<(i64, u32)>) -> ByTime {
        found.sort_unstable();
        ByTime(found)
    }

    /// The last one in a stretch of time that is not in a range of points.
    fn last(&self, after: i64, until: i64, but: &std::ops::Range<usize>) -> Option<usize> {
        let end = self.0.partition_point(|(ps, _)| *ps <= until);
        // The excluded range may span thousands of points of one thread, so the search is bounded.
        let near = self.0[end.saturating_sub(MOST_LOOKED_AT)..end].iter().rev();
        near.take_while(|(ps, _)| *ps > after)
            .map(|(_, point)| *point as usize)
            .find(|point| !but.contains(point))
    }
}

const MOST_LOOKED_AT: usize = 64;

/// What was found by time.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// From which point, from which part of the stretch after it, to which point.
    pub arrows: Vec<(usize, f32, usize)>,
    /// For each point, whether the stretch before it only waits.
    pub elastic: Vec<bool>,
    /// Time in which the driving thread waits for what nobody recorded.
    pub held_ps: i64,
}

/// Finds them. For each point, reached: whether what arrives there began it; hands: whether an arrow leaves it.
pub(super) fn find(
    recording: &Recording,
    points: &Points,
    reached: &[bool],
    hands: &[bool],
    wanted: &Wanted<'_>,
) -> Result<Found> {
    let (mut works, mut done) = (Vec::new(), Vec::new());
    for (number, track) in recording.tracks.iter().enumerate() {
        if number == recording.driver {
            continue;
        }
        let range = points.of_track(number);
        let edges = range.filter(|point| points.edge[*point]).map(|point| (points.ps[point], point as u32));
        match track.place {
            Place::Host => works.extend(edges),
            Place::Device => done.extend(edges),
        }
    }
    let all = Finding { recording, points, reached, hands, works: ByTime::of(works), done: ByTime::of(done) };
    let mut found = Found { elastic: vec![false; points.ps.len()], ..Found::default() };
    all.driver(&mut found, wanted)?;
    for (number, track) in recording.tracks.iter().enumerate() {
        wanted.steps(points.of_track(number).len())?;
        if number != recording.driver {
            match track.place {
                Place::Host => all.thread(number, &mut found),
                Place::Device => all.stream(number, &mut found),
            }
        }
    }
    Ok(found)
}

struct Finding<'a> {
    recording: &'a Recording,
    points: &'a Points,
    reached: &'a [bool],
    hands: &'a [bool],
    works: ByTime,
    done: ByTime,
}

impl Finding<'_> {
    /// The thread that drives the steps waits where its label lets it.
    fn driver(&self, found: &mut Found, wanted: &Wanted<'_>) -> Result<()> {
        let range = self.points.of_track(self.recording.driver);
        let said = |point: usize, labels: u32| {
            let label = self.points.label[point];
            label != UNLABELLED && labels & (1 << label.min(31)) != 0
        };
        // Whether something was handed over within the outermost slice.
        let mut handed = false;
        for point in range.clone() {
            wanted.step()?;
            if point > range.start {
                let took = self.points.ps[point] - self.points.ps[point - 1];
                handed &= self.points.kind[point] != NOTHING || took < LEAST_PS;
                let joins = handed && took >= LEAST_JOIN_PS && said(point, self.recording.may_join);
                let waits = said(point, self.recording.may_wait) || self.waits(point);
                if joins || (waits && took >= LEAST_PS) {
                    let reached = self.reached[point];
                    let other = if reached { None } else { self.releaser(point, &range) };
                    if reached || other.is_some() {
                        found.elastic[point] = true;
                        found.arrows.extend(other.map(|other| (other, 0.0, point)));
                    } else if !joins {
                        found.held_ps += took;
                    }
                }
            }
            handed |= self.hands[point];
        }
        Ok(())
    }

    /// Any other thread waits between its slices, and in those that may.
    fn thread(&self, track: usize, found: &mut Found) {
        let range = self.points.of_track(track);
        if range.is_empty() {
            return;
        }
        self.anchor(range.start, found);
        for point in range.clone().skip(1) {
            let idle = self.points.kind[point] == NOTHING;
            let took = self.points.ps[point] - self.points.ps[point - 1];
            if self.reached[point] && (idle || self.waits(point)) {
                found.elastic[point] = true;
            } else if took >= LEAST_PS && (idle || self.waits(point)) {
                if let Some(other) = self.releaser(point, &range) {
                    found.arrows.push((other, 0.0, point));
                    found.elastic[point] = true;
                } else if idle && self.anchor(point, found) {
                    found.elastic[point] = true;
                }
            }
        }
    }

    /// A stream waits for launches, or for another stream.
    fn stream(&self, track: usize, found: &mut Found) {
        let range = self.points.of_track(track);
        if range.is_empty() {
            return;
        }
        self.anchor(range.start, found);
        for point in range.clone().skip(1) {
            let took = self.points.ps[point] - self.points.ps[point - 1];
            if self.points.kind[point] != NOTHING {
                continue;
            }
            if self.reached[point] {
                found.elastic[point] = true;
            } else if took >= LEAST_PS
                && let Some(other) = self.done.last(self.points.ps[point - 1], self.points.ps[point], &range)
                && self.points.ps[point] - self.points.ps[other] <= MOST_LAG_PS
            {
                found.arrows.push((other, 0.0, point));
                found.elastic[point] = true;
            }
        }
    }

    fn waits(&self, point: usize) -> bool {
        self.recording.waits(self.points.kind[point])
    }

    /// What happened last before a wait was over, on a device or on a thread that does not drive the steps.
    fn releaser(&self, point: usize, but: &std::ops::Range<usize>) -> Option<usize> {
        let (begin, end) = (self.points.ps[point - 1], self.points.ps[point]);
        let after = begin.max(end - MOST_LAG_PS - 1);
        let device = self.done.last(after, end, but);
        device.or_else(|| self.works.last(after, end, but))
    }

    /// What begins while the driving thread is at work, for no other reason, begins because of it.
    fn anchor(&self, point: usize, found: &mut Found) -> bool {
        let ps = self.points.ps[point];
        let range = self.points.of_track(self.recording.driver);
        if self.reached[point] || range.is_empty() || ps < self.points.ps[range.start] {
            return false;
        }
        let before = self.points.at(self.recording.driver, ps);
        let next = before + 1;
        // While it waits itself, what it did last was to begin to wait: to ask for what it waits for.
        let part = if next < range.end && !found.elastic[next] {
            let long = self.points.ps[next] - self.points.ps[before];
            (ps - self.points.ps[before]) as f32 / long as f32
        } else {
            0.0
        };
        found.arrows.push((before, part, point));
        true
    }
}
