//! Cuts tracks into stretches in which nothing changes. A point lies at both ends of each.

use super::frames::Frames;
use super::{Doing, Kind, Label, NOTHING, Place, REGION, Recording, Slice, UNLABELLED, What};
use crate::error::Result;
use crate::wanted::Wanted;

/// The points of all tracks, track by track and in order of time. What is said of a point holds for the stretch that
/// ends there; the first point of a track has none.
#[derive(Debug, Default)]
pub(super) struct Points {
    /// When.
    pub ps: Vec<i64>,
    /// The innermost slice's kind in the stretch.
    pub kind: Vec<u32>,
    /// What is open in the stretch, in `Frames`.
    pub frame: Vec<u32>,
    /// What the driving thread does in it.
    pub label: Vec<Label>,
    /// How many slices begin with the stretch.
    pub events: Vec<u32>,
    /// What slices are open together.
    pub frames: Frames,
    /// When the last one ends of the slices that begin at the point; the point's own moment where none does.
    pub until: Vec<i64>,
    /// Whether a slice begins or ends at the point.
    pub edge: Vec<bool>,
    /// Where each track begins, and where the last one ends.
    pub first: Vec<usize>,
}

impl Points {
    /// Those of a recording.
    pub fn of(recording: &Recording, wanted: &Wanted<'_>) -> Result<Points> {
        let mut moments: Vec<Vec<i64>> = vec![Vec::new(); recording.tracks.len()];
        for arrow in &recording.arrows {
            for at in [arrow.from, arrow.to] {
                moments[at.track].push(at.ps);
            }
        }
        let driver = &mut moments[recording.driver];
        driver.extend(&recording.marks);
        driver.extend(recording.doing.iter().flat_map(|one| [one.from, one.to]));
        let mut found = Points::default();
        for (number, (track, moments)) in recording.tracks.iter().zip(moments).enumerate() {
            found.first.push(found.ps.len());
            let doing: &[Doing] = if number == recording.driver { &recording.doing } else { &[] };
            found.cut(&track.slices, moments, doing, &recording.kinds, wanted)?;
        }
        found.first.push(found.ps.len());
        found.come_from(recording, wanted)?;
        Ok(found)
    }

    /// A thread that works outside of slices does what the slices do from which its work was handed over, and what
    /// runs on a device is part of what launched it.
    fn come_from(&mut self, recording: &Recording, wanted: &Wanted<'_>) -> Result<()> {
        let mut handed: Vec<_> = recording
            .arrows
            .iter()
            .filter(|arrow| arrow.what != What::Link && arrow.from.ps <= arrow.to.ps)
            .collect();
        handed.sort_unstable_by_key(|arrow| (arrow.to.ps, arrow.to.track, arrow.from));
        // Where several arrows arrive, the last of them tells.
        handed.dedup_by(|later, kept| {
            let same = later.to == kept.to;
            if same {
                *kept = *later;
            }
            same
        });
        for arrow in handed {
            wanted.step()?;
            let to = self.at(arrow.to.track, arrow.to.ps) + 1;
            let end = self.first[arrow.to.track + 1];
            let from = self.at(arrow.from.track, arrow.from.ps) + 1;
            if to >= end || from >= self.first[arrow.from.track + 1] {
                continue;
            }
            let around = self.frame[from];
            if self.frames.kind(around) >= REGION {
                continue;
            }
            let launched = recording.tracks[arrow.to.track].place == Place::Device;
            if !launched && self.frame[to] != Frames::REGION {
                continue;
            }
            let ends = self.until[to - 1];
            // To the end of the region, across slices that lie in it; on a device, to the end of the slice.
            for point in to..end {
                if self.kind[point] == NOTHING || (launched && self.ps[point - 1] >= ends) {
                    break;
                }
                if launched {
                    self.frame[point] = self.frames.within(around, self.frame[point]);
                } else if self.frame[point] == Frames::REGION {
                    self.frame[point] = around;
                }
            }
        }
        Ok(())
    }

    /// The points of a track.
    pub fn of_track(&self, track: usize) -> std::ops::Range<usize> {
        self.first[track]..self.first[track + 1]
    }

    /// The point of a track at a moment at which it has one, else the last one before it; the first point of the
    /// track when there is none before.
    pub fn at(&self, track: usize, ps: i64) -> usize {
        let range = self.of_track(track);
        let after = self.ps[range.clone()].partition_point(|one| *one <= ps);
        range.start + after.saturating_sub(1)
    }

    fn cut(
        &mut self,
        slices: &[Slice],
        mut moments: Vec<i64>,
        doing: &[Doing],
        kinds: &[Kind],
        wanted: &Wanted<'_>,
    ) -> Result<()> {
        moments.reserve(2 * slices.len());
        moments.extend(slices.iter().flat_map(|slice| [slice.from, slice.to]));
        moments.sort_unstable();
        moments.dedup();
        // Each with what is open together with it.
        let mut open: Vec<(Slice, u32)> = Vec::new();
        let (mut slices, mut doing) = (slices.iter().peekable(), doing.iter().peekable());
        let (mut kind, mut frame, mut label, mut events) = (NOTHING, Frames::NOTHING, UNLABELLED, 0);
        let mut works = false;
        for ps in moments {
            wanted.step()?;
            self.ps.push(ps);
            self.kind.push(kind);
            self.frame.push(frame);
            self.label.push(label);
            self.events.push(events);
            let (mut edge, mut until) = (false, ps);
            while open.pop_if(|(slice, _)| slice.to <= ps).is_some() {
                edge = true;
            }
            events = 0;
            while let Some(slice) = slices.next_if(|slice| slice.from <= ps) {
                edge = true;
                events += 1;
                let called = kinds.get(slice.kind as usize).copied().unwrap_or_default();
                works = (works || called.opens) && !called.closes;
                if slice.to > ps {
                    until = until.max(slice.to);
                    let around = open.last().map_or(Frames::NOTHING, |(_, frame)| *frame);
                    open.push((*slice, self.frames.of(around, slice.kind)));
                }
            }
            self.edge.push(edge);
            self.until.push(until);
            (kind, frame) = match open.last() {
                Some((slice, frame)) => (slice.kind, *frame),
                None if works => (REGION, Frames::REGION),
                None => (NOTHING, Frames::NOTHING),
            };
            while doing.next_if(|one| one.to <= ps).is_some() {}
            label = match doing.peek() {
                Some(one) if one.from <= ps => one.label,
                _ => UNLABELLED,
            };
        }
        Ok(())
    }
}
