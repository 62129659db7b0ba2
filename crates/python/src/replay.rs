//! Steps replayed with other times.

use crate::batch::wide;
use crate::free;
use crate::streams::batches;
use crate::while_wanted;
use arrow_array::RecordBatch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::HashMap;
use stepscope_core::error::Result;
use stepscope_core::replay::{
    Arrow, At, Change, Doing, Graph, Kind, Label, Place, Recording, Slice, Track, UNLABELLED, Way, What,
};
use stepscope_core::spans::Span;

/// Whether they wait, open a stretch of work, close one.
type Called = (bool, bool, bool);

/// A stretch of the longest way: a slice or a label of the driving thread, and its picoseconds.
type Stretch = (Option<i64>, Option<Label>, i64);

#[pyclass(module = "stepscope._core", frozen)]
pub struct Replay {
    graph: Graph,
    /// Numbers of kinds by rows of rollup_op.
    kinds: HashMap<i64, usize>,
}

#[pymethods]
impl Replay {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        slices: &Bound<'_, PyAny>,
        arrows: &Bound<'_, PyAny>,
        on_devices: HashMap<i64, bool>,
        driver: i64,
        doing: Vec<(i64, i64, Label)>,
        marks: Vec<i64>,
        may_wait: u32,
        may_join: u32,
        kinds: HashMap<i64, Called>,
    ) -> PyResult<Self> {
        let mut reading = Reading::of(&on_devices, &kinds);
        let mut found = Recording {
            tracks: reading.tracks(&on_devices),
            arrows: Vec::new(),
            driver: reading.track(driver)?,
            doing: doing.into_iter().map(|(from, to, label)| Doing { from, to, label }).collect(),
            marks,
            may_wait,
            may_join,
            kinds: std::mem::take(&mut reading.called),
        };
        for (table, take) in [(slices, Reading::slices as Take), (arrows, Reading::arrows)] {
            for batch in batches(table)? {
                let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
                free(py, || take(&reading, &mut found, &batch))?;
                py.check_signals()?;
            }
        }
        let graph = while_wanted(py, |wanted| {
            for track in &mut found.tracks {
                track.slices.sort_by_key(|slice| (slice.from, std::cmp::Reverse(slice.to)));
            }
            Graph::of(&found, wanted)
        })?;
        Ok(Replay { graph, kinds: reading.kinds })
    }

    #[pyo3(signature = (kinds=None, labels=None, *, unbound=0, event_ps=0, link=1.0))]
    fn replay(
        &self,
        py: Python<'_>,
        kinds: Option<HashMap<i64, f64>>,
        labels: Option<Vec<f64>>,
        unbound: u32,
        event_ps: i64,
        link: f64,
    ) -> PyResult<Vec<i64>> {
        let change = self.change(kinds, labels, unbound, event_ps, link)?;
        while_wanted(py, |wanted| self.graph.replay(&change, wanted))
    }

    #[pyo3(signature = (kinds=None, labels=None, *, unbound=0, event_ps=0, link=1.0))]
    fn longest_way(
        &self,
        py: Python<'_>,
        kinds: Option<HashMap<i64, f64>>,
        labels: Option<Vec<f64>>,
        unbound: u32,
        event_ps: i64,
        link: f64,
    ) -> PyResult<Vec<Stretch>> {
        let change = self.change(kinds, labels, unbound, event_ps, link)?;
        let ids: HashMap<usize, i64> = self.kinds.iter().map(|(id, n)| (*n, *id)).collect();
        let way = while_wanted(py, |wanted| self.graph.longest_way(&change, wanted))?;
        let named = |(way, ps): (Way, i64)| match way {
            Way::Track(kind, label) => {
                let label = Some(label).filter(|label| *label != UNLABELLED);
                (Some(ids.get(&(kind as usize)).copied().unwrap_or(-1)), label, ps)
            }
            Way::Arrow(_) => (None, None, ps),
        };
        Ok(way.into_iter().map(named).collect())
    }

    fn counts(&self) -> HashMap<&str, i64> {
        let counts = self.graph.counts;
        HashMap::from([
            ("points", counts.points as i64),
            ("arrows", counts.arrows as i64),
            ("backward", counts.backward as i64),
            ("inferred", counts.inferred as i64),
            ("held_ps", counts.held_ps),
        ])
    }
}

impl Replay {
    fn change(
        &self,
        kinds: Option<HashMap<i64, f64>>,
        labels: Option<Vec<f64>>,
        unbound: u32,
        event_ps: i64,
        link: f64,
    ) -> PyResult<Change> {
        let mut by_number = vec![1.0; self.kinds.len()];
        for (rollup_id, left) in kinds.unwrap_or_default() {
            if let Some(number) = self.kinds.get(&rollup_id) {
                by_number[*number] = left;
            }
        }
        let change = Change { kinds: by_number, labels: labels.unwrap_or_default(), unbound, event_ps, link };
        let sound = |left: &f64| left.is_finite() && *left >= 0.0;
        let times = change.kinds.iter().all(sound) && change.labels.iter().all(sound);
        if event_ps < 0 || !times || !sound(&change.link) {
            return Err(PyValueError::new_err("a time below zero, or none at all"));
        }
        Ok(change)
    }
}

/// Numbers of what is read.
struct Reading {
    tracks: HashMap<i64, usize>,
    kinds: HashMap<i64, usize>,
    called: Vec<Kind>,
}

/// Takes a batch of a table.
type Take = fn(&Reading, &mut Recording, &RecordBatch) -> Result<()>;

impl Reading {
    fn of(on_devices: &HashMap<i64, bool>, kinds: &HashMap<i64, Called>) -> Reading {
        let mut ids: Vec<i64> = on_devices.keys().copied().collect();
        ids.sort_unstable();
        let mut named: Vec<(&i64, &Called)> = kinds.iter().collect();
        named.sort_unstable();
        let called = |(_, (waits, opens, closes)): &(&i64, &Called)| Kind {
            waits: *waits,
            opens: *opens,
            closes: *closes,
        };
        Reading {
            tracks: ids.into_iter().enumerate().map(|(n, id)| (id, n)).collect(),
            called: named.iter().map(called).collect(),
            kinds: named.iter().enumerate().map(|(n, (id, _))| (**id, n)).collect(),
        }
    }

    fn tracks(&self, on_devices: &HashMap<i64, bool>) -> Vec<Track> {
        let host = Track { place: Place::Host, slices: Vec::new() };
        let mut tracks = vec![host; self.tracks.len()];
        for (id, number) in &self.tracks {
            if on_devices.get(id).copied().unwrap_or(false) {
                tracks[*number].place = Place::Device;
            }
        }
        tracks
    }

    fn track(&self, id: i64) -> PyResult<usize> {
        let found = self.tracks.get(&id).copied();
        found.ok_or_else(|| PyValueError::new_err("the driving track is not among the tracks"))
    }

    /// Adds slices of tracks that are known; of kinds that are not, they are of no kind.
    fn slices(&self, found: &mut Recording, batch: &RecordBatch) -> Result<()> {
        let (begin, end) = (wide(batch, "begin_ps")?, wide(batch, "end_ps")?);
        let (tracks, ids) = (wide(batch, "track_id")?, wide(batch, "kind_id")?);
        let unknown = found.kinds.len() as u32;
        for row in 0..batch.num_rows() {
            if let Some(track) = self.tracks.get(&tracks.value(row)) {
                let span: Span = (begin.value(row), end.value(row));
                let kind = self.kinds.get(&ids.value(row));
                found.tracks[*track].slices.push(Slice {
                    from: span.0,
                    to: span.1.max(span.0),
                    kind: kind.map_or(unknown, |number| *number as u32),
                });
            }
        }
        Ok(())
    }

    fn arrows(&self, found: &mut Recording, batch: &RecordBatch) -> Result<()> {
        let (from, from_ps) = (wide(batch, "from_track")?, wide(batch, "from_ps")?);
        let (to, to_ps) = (wide(batch, "to_track")?, wide(batch, "to_ps")?);
        let what = wide(batch, "what")?;
        for row in 0..batch.num_rows() {
            let ends = (self.tracks.get(&from.value(row)), self.tracks.get(&to.value(row)));
            if let (Some(earlier), Some(later)) = ends {
                let at = |track: &usize, ps: i64| At { track: *track, ps };
                found.arrows.push(Arrow {
                    from: at(earlier, from_ps.value(row)),
                    to: at(later, to_ps.value(row)),
                    what: match what.value(row) {
                        0 => What::Launch,
                        1 => What::Hand,
                        _ => What::Link,
                    },
                });
            }
        }
        Ok(())
    }
}
