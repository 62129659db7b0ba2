//! The replay: when each point comes, if stretches take other times.

use super::graph::{Edge, Graph};
use super::{Label, UNLABELLED, What};
use crate::error::Result;
use crate::wanted::Wanted;
use std::collections::BTreeMap;

/// What takes another time than it did.
#[derive(Debug, Clone)]
pub struct Change {
    /// For each kind, what is left of the time of its slices, with all that lies in them, that they hand over and
    /// that they launch; 1 for those beyond the end.
    pub kinds: Vec<f64>,
    /// For each label, what is left of the driving thread's time under it; 1 for those beyond the end.
    pub labels: Vec<f64>,
    /// A bit for each label under which the driving thread waits for nobody any more.
    pub unbound: u32,
    /// What an event takes of the stretch in which it begins.
    pub event_ps: i64,
    /// What is left of the time that participants of a collective take from the last to come.
    pub link: f64,
}

impl Default for Change {
    fn default() -> Self {
        Change { kinds: Vec::new(), labels: Vec::new(), unbound: 0, event_ps: 0, link: 1.0 }
    }
}

impl Change {
    fn label(&self, label: Label) -> f64 {
        self.labels.get(usize::from(label)).copied().unwrap_or(1.0)
    }

    fn waits_for_nobody(&self, label: Label) -> bool {
        label != UNLABELLED && self.unbound & (1 << label.min(31)) != 0
    }
}

/// What a stretch of the longest way is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Time on a track: the kind of its slice, and what the driving thread does.
    Track(u32, Label),
    /// Time from one track to another.
    Arrow(What),
}

/// A change with what is left of each way of open slices.
struct Applied<'a> {
    given: &'a Change,
    left: Vec<f64>,
}

impl Graph {
    /// When the marks come after the change, in the order in which they were given. What nothing comes before comes
    /// when it was recorded.
    ///
    /// # Errors
    /// It is not wanted any more.
    pub fn replay(&self, change: &Change, wanted: &Wanted<'_>) -> Result<Vec<i64>> {
        let comes = self.moments(&self.applied(change), wanted)?;
        let marks = self.marks.iter();
        Ok(marks.map(|mark| comes[*mark as usize]).collect())
    }

    /// What the longest way from the first mark to the last consists of after the change, added up: what has to take
    /// less time before the steps do.
    ///
    /// # Errors
    /// It is not wanted any more.
    pub fn longest_way(&self, change: &Change, wanted: &Wanted<'_>) -> Result<BTreeMap<Way, i64>> {
        let mut found = BTreeMap::new();
        let (Some(first), Some(last)) = (self.marks.first(), self.marks.last()) else {
            return Ok(found);
        };
        let change = &self.applied(change);
        let comes = self.moments(change, wanted)?;
        let mut place = vec![0_u32; self.ps.len()];
        for (number, point) in self.order.iter().enumerate() {
            place[*point as usize] = number as u32;
        }
        let (until, mut point) = (comes[*first as usize], *last as usize);
        while comes[point] > until {
            wanted.step()?;
            let own = self.along(point, &comes, change);
            let first = point > 0 && place[point - 1] < place[point];
            let (at, way) = if first && own == Some(comes[point]) {
                (point - 1, Way::Track(self.frames.kind(self.frame[point]), self.label[point]))
            } else {
                let edges = self.edges_that_hold(point, change);
                let mut latest = edges.filter(|edge| {
                    place[edge.from as usize] < place[point]
                        && self.after(edge, &comes, change) == comes[point]
                });
                let Some(edge) = latest.next() else { break };
                (edge.from as usize, Way::Arrow(edge.what))
            };
            *found.entry(way).or_insert(0) += comes[point] - comes[at].max(until);
            point = at;
        }
        Ok(found)
    }

    fn applied<'a>(&self, change: &'a Change) -> Applied<'a> {
        Applied { given: change, left: self.frames.left(&change.kinds) }
    }

    /// When each point comes.
    fn moments(&self, change: &Applied<'_>, wanted: &Wanted<'_>) -> Result<Vec<i64>> {
        let mut comes = vec![i64::MIN; self.ps.len()];
        for point in self.order.iter().map(|point| *point as usize) {
            wanted.step()?;
            let mut at = self.along(point, &comes, change).unwrap_or(i64::MIN);
            for edge in self.edges_that_hold(point, change) {
                // One that would come later was left out to break a circle.
                if comes[edge.from as usize] > i64::MIN {
                    at = at.max(self.after(edge, &comes, change));
                }
            }
            comes[point] = if at == i64::MIN { self.ps[point] } else { at };
        }
        Ok(comes)
    }

    /// When a point comes after the one before it on its track. None where that has not come, or is not there.
    fn along(&self, point: usize, comes: &[i64], change: &Applied<'_>) -> Option<i64> {
        let there = !self.begins[point] && comes[point - 1] > i64::MIN;
        there.then(|| comes[point - 1] + self.takes(point, change))
    }

    fn edges_that_hold(&self, point: usize, change: &Applied<'_>) -> std::slice::Iter<'_, Edge> {
        if change.given.waits_for_nobody(self.label[point]) {
            return [].iter();
        }
        self.edges_of(point).iter()
    }

    /// When a point comes after an edge.
    fn after(&self, edge: &Edge, comes: &[i64], change: &Applied<'_>) -> i64 {
        let lag_ps = match edge.what {
            What::Link => scaled(edge.lag_ps, change.given.link),
            _ => edge.lag_ps,
        };
        let from = edge.from as usize;
        comes[from] + lag_ps + self.part_after(from, edge.part, change)
    }

    /// What the stretch before a point takes.
    fn takes(&self, point: usize, change: &Applied<'_>) -> i64 {
        if self.elastic[point] {
            return 0;
        }
        let long = self.ps[point] - self.ps[point - 1];
        let long = long - (i64::from(self.events[point]) * change.given.event_ps).min(long);
        let left = change.given.label(self.label[point]);
        scaled(long, left * change.left[self.frame[point] as usize])
    }

    /// What the first part takes of the stretch after a point.
    fn part_after(&self, point: usize, part: f32, change: &Applied<'_>) -> i64 {
        if part <= 0.0 || point + 1 >= self.ps.len() || self.begins[point + 1] {
            return 0;
        }
        scaled(self.takes(point + 1, change), f64::from(part))
    }
}

fn scaled(ps: i64, by: f64) -> i64 {
    if by == 1.0 { ps } else { (ps as f64 * by) as i64 }
}
