//! The graph: points, what each comes after, and an order in which that can be followed.

use super::frames::Frames;
use super::points::Points;
use super::waits;
use super::{Label, NOTHING, Recording, What};
use crate::error::Result;
use crate::wanted::Wanted;

/// A point comes no earlier than so long after another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    /// The other point.
    pub from: u32,
    /// How long after it.
    pub lag_ps: i64,
    /// Of the stretch after that point, the part which comes first.
    pub part: f32,
    /// What it stands for.
    pub what: What,
}

/// What was found of a recording.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Points.
    pub points: usize,
    /// Arrows that the recording has.
    pub arrows: usize,
    /// Those of them that would go back in time.
    pub backward: usize,
    /// Arrows that were found by time.
    pub inferred: usize,
    /// Time in which the driving thread waits for what nobody recorded: it stays as it is.
    pub held_ps: i64,
}

/// A recording that can be replayed.
#[derive(Debug)]
pub struct Graph {
    /// When each point was recorded.
    pub(super) ps: Vec<i64>,
    pub(super) frame: Vec<u32>,
    pub(super) frames: Frames,
    pub(super) label: Vec<Label>,
    pub(super) events: Vec<u32>,
    /// Whether the stretch before a point only waits.
    pub(super) elastic: Vec<bool>,
    /// Whether a point is the first of its track.
    pub(super) begins: Vec<bool>,
    /// Where the edges of each point begin, and where those of the last one end.
    pub(super) first: Vec<u32>,
    pub(super) edges: Vec<Edge>,
    /// All points, each after those that it comes after.
    pub(super) order: Vec<u32>,
    /// The points that are asked for.
    pub(super) marks: Vec<u32>,
    /// What was found.
    pub counts: Counts,
}

impl Graph {
    /// The graph of a recording.
    ///
    /// # Errors
    /// It is not wanted any more.
    pub fn of(recording: &Recording, wanted: &Wanted<'_>) -> Result<Graph> {
        let points = Points::of(recording, wanted)?;
        let all = points.ps.len();
        let mut counts = Counts { points: all, ..Counts::default() };
        let mut found: Vec<(u32, Edge)> = Vec::with_capacity(recording.arrows.len());
        for arrow in &recording.arrows {
            wanted.step()?;
            let from = points.at(arrow.from.track, arrow.from.ps);
            let to = points.at(arrow.to.track, arrow.to.ps);
            if points.ps[from] > points.ps[to] || arrow.from.track == arrow.to.track {
                counts.backward += usize::from(arrow.from.track != arrow.to.track);
                continue;
            }
            let lag_ps = points.ps[to] - points.ps[from];
            found.push((to as u32, edge(from, lag_ps, 0.0, arrow.what)));
        }
        counts.arrows = found.len();
        let reached = begun(recording, &points, &mut found);
        let mut hands = vec![false; all];
        for (_, edge) in &found {
            hands[edge.from as usize] = true;
        }
        let waits = waits::find(recording, &points, &reached, &hands, wanted)?;
        counts.inferred = waits.arrows.len();
        counts.held_ps = waits.held_ps;
        for (from, part, to) in waits.arrows {
            let long = match points.ps.get(from + 1) {
                Some(next) if part > 0.0 => next - points.ps[from],
                _ => 0,
            };
            let lag_ps = points.ps[to] - points.ps[from] - (long as f64 * f64::from(part)) as i64;
            let what = if part > 0.0 { What::Anchor } else { What::Release };
            found.push((to as u32, edge(from, lag_ps, part, what)));
        }
        let mut begins = vec![false; all];
        for track in 0..recording.tracks.len() {
            if let Some(one) = begins[points.of_track(track)].first_mut() {
                *one = true;
            }
        }
        let driver = recording.driver;
        let marks = recording.marks.iter();
        let marks = marks.map(|ps| points.at(driver, *ps) as u32).collect();
        let mut graph = Graph {
            ps: points.ps,
            frame: points.frame,
            frames: points.frames,
            label: points.label,
            events: points.events,
            elastic: waits.elastic,
            begins,
            first: Vec::new(),
            edges: Vec::new(),
            order: Vec::new(),
            marks,
            counts,
        };
        graph.connect(found);
        graph.sort(wanted)?;
        Ok(graph)
    }

    /// The edges that end at a point.
    pub(super) fn edges_of(&self, point: usize) -> &[Edge] {
        &self.edges[self.first[point] as usize..self.first[point + 1] as usize]
    }

    /// Keeps the edges by the points at which they end.
    fn connect(&mut self, mut found: Vec<(u32, Edge)>) {
        found.sort_by_key(|(to, _)| *to);
        self.first = vec![0; self.ps.len() + 1];
        for (to, _) in &found {
            self.first[*to as usize + 1] += 1;
        }
        for point in 0..self.ps.len() {
            self.first[point + 1] += self.first[point];
        }
        self.edges = found.into_iter().map(|(_, edge)| edge).collect();
    }

    /// Finds the order. Points at one moment may come after each other in a circle: then the recording's order breaks
    /// it.
    fn sort(&mut self, wanted: &Wanted<'_>) -> Result<()> {
        let all = self.ps.len();
        let mut open: Vec<u32> = (0..all)
            .map(|point| self.edges_of(point).len() as u32 + u32::from(!self.begins[point]))
            .collect();
        // For each point, those that come after it.
        let mut after_first = vec![0_u32; all + 1];
        for edge in &self.edges {
            after_first[edge.from as usize + 1] += 1;
        }
        for point in 0..all {
            after_first[point + 1] += after_first[point];
        }
        let (mut after, mut next) = (vec![0_u32; self.edges.len()], after_first.clone());
        for point in 0..all {
            for edge in self.edges_of(point) {
                let at = &mut next[edge.from as usize];
                after[*at as usize] = point as u32;
                *at += 1;
            }
        }
        let mut ready: Vec<u32> = (0..all as u32).filter(|p| open[*p as usize] == 0).collect();
        let mut placed = vec![false; all];
        let mut stuck: Option<std::vec::IntoIter<u32>> = None;
        self.order = Vec::with_capacity(all);
        loop {
            while let Some(point) = ready.pop() {
                wanted.step()?;
                let here = point as usize;
                if std::mem::replace(&mut placed[here], true) {
                    continue;
                }
                self.order.push(point);
                let track_next = here + 1;
                let own = (track_next < all && !self.begins[track_next]).then_some(track_next as u32);
                let others = &after[after_first[here] as usize..after_first[here + 1] as usize];
                for later in others.iter().copied().chain(own) {
                    let left = &mut open[later as usize];
                    *left = left.saturating_sub(1);
                    if *left == 0 {
                        ready.push(later);
                    }
                }
            }
            if self.order.len() == all {
                return Ok(());
            }
            let by_time = stuck.get_or_insert_with(|| {
                let mut left: Vec<u32> = (0..all as u32).filter(|p| !placed[*p as usize]).collect();
                left.sort_by_key(|point| (self.ps[*point as usize], *point));
                left.into_iter()
            });
            ready.extend(by_time.find(|point| !placed[*point as usize]));
        }
    }
}

fn edge(from: usize, lag_ps: i64, part: f32, what: What) -> Edge {
    Edge { from: from as u32, lag_ps, part, what }
}

/// Which points are begun by what arrives there. What lies on a stream begins a while after its launch, or as soon as
/// the stream is free; a thread takes a while to notice what it is handed. Where the track had been free for shorter
/// than the arrow is long, what it was busy with decided, and of the arrow only the usual while counts.
fn begun(recording: &Recording, points: &Points, found: &mut [(u32, Edge)]) -> Vec<bool> {
    let mut reached = vec![false; points.ps.len()];
    for what in [What::Launch, What::Hand] {
        let own = || found.iter().filter(|(_, edge)| edge.what == what);
        let free = |to: u32| free_before(recording, points, to as usize);
        let mut lags: Vec<i64> =
            own().filter(|(to, edge)| free(*to) >= edge.lag_ps).map(|(_, edge)| edge.lag_ps).collect();
        if lags.is_empty() {
            lags.extend(own().map(|(_, edge)| edge.lag_ps).min());
        }
        if lags.is_empty() {
            continue;
        }
        let quarter = lags.len() / 4;
        let usual = *lags.select_nth_unstable(quarter).1;
        for (to, edge) in found.iter_mut().filter(|(_, edge)| edge.what == what) {
            let free = free_before(recording, points, *to as usize);
            if free >= edge.lag_ps || (free > 0 && edge.lag_ps <= 2 * usual) {
                reached[*to as usize] = true;
            } else {
                edge.lag_ps = edge.lag_ps.min(usual);
            }
        }
    }
    for (to, _) in found.iter().filter(|(_, edge)| edge.what == What::Link) {
        reached[*to as usize] = true;
    }
    reached
}

/// For how long a track had nothing to do but wait before a point.
fn free_before(recording: &Recording, points: &Points, point: usize) -> i64 {
    let kind = points.kind[point];
    let waits = kind == NOTHING || recording.waits(kind);
    match point.checked_sub(1) {
        Some(before) if waits && points.ps[before] <= points.ps[point] => {
            points.ps[point] - points.ps[before]
        }
        _ => 0,
    }
}
