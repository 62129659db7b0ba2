//! Steps taken apart: what a thread does, the sweep, and its sums.

use crate::batch::{texts, unfit, wide};
use crate::streams::batches;
use crate::{free, lock};
use arrow_array::RecordBatch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use stepscope_core::error::Result;
use stepscope_core::spans::Span;
use stepscope_core::steps::Label;
use stepscope_core::steps::callers::{Callers, OpsInCall};
use stepscope_core::steps::innermost::{self, Innermost, Line};
use stepscope_core::steps::sums::Sums;
use stepscope_core::steps::sweep::{self, Layers, Piece, Segment};
use stepscope_core::steps::thread::{self, Kind, Meaning, Rules, Slice};

/// A label, and whether it holds for all within.
type Told = (Option<Label>, bool);
/// What it stands for when it is short and when it is long, whether it builds, whether it is jitted.
type Called = (Told, Told, bool, bool);
/// From, to, label.
type Row = (i64, i64, Label);
/// Begin, end, rollup_id.
type Found = (i64, i64, i64);
/// Slices of a thread.
type Threads = HashMap<i64, Vec<Found>>;

fn meaning((label, whole): Told) -> Meaning {
    Meaning { label, whole }
}

fn segments(rows: Vec<Row>) -> Vec<Segment> {
    rows.into_iter().map(|(from, to, label)| Segment { from, to, label }).collect()
}

#[pyfunction]
pub fn thread_segments(
    py: Python<'_>,
    stream: &Bound<'_, PyAny>,
    within: HashMap<i64, Span>,
    kinds: HashMap<i64, Called>,
    traced: Vec<Found>,
    compiled: Told,
    long_ps: i64,
) -> PyResult<HashMap<i64, Vec<Row>>> {
    let mut found: Threads = within.keys().map(|track| (*track, Vec::new())).collect();
    for batch in batches(stream)? {
        let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
        free(py, || read(&mut found, &within, &batch))?;
        py.check_signals()?;
    }
    let mut numbers: HashMap<i64, usize> = HashMap::new();
    let kinds: Vec<Kind> = kinds
        .into_iter()
        .enumerate()
        .map(|(number, (id, (short, long, builds, jitted)))| {
            numbers.insert(id, number);
            Kind { short: meaning(short), long: meaning(long), builds, jitted }
        })
        .collect();
    let traced: HashSet<Found> = traced.into_iter().collect();
    let slice = |found: Found| {
        let (begin, end, id) = found;
        numbers.get(&id).map(|kind| Slice { begin, end, kind: *kind, traced: traced.contains(&found) })
    };
    let rules = Rules { compiled: meaning(compiled), long_ps };
    py.detach(|| {
        found
            .into_iter()
            .map(|(track, found)| {
                let slices: Option<Vec<Slice>> = found.into_iter().map(slice).collect();
                let told = thread::segments(&slices?, &kinds, rules);
                let rows = told.iter().map(|one| (one.from, one.to, one.label));
                Some((track, rows.collect()))
            })
            .collect::<Option<_>>()
    })
    .ok_or_else(|| PyValueError::new_err("a slice of an unknown kind"))
}

/// Adds the rows of a batch that reach into the stretch of their thread.
fn read(found: &mut Threads, within: &HashMap<i64, Span>, batch: &RecordBatch) -> Result<()> {
    let (begin, end) = (wide(batch, "begin_ps")?, wide(batch, "end_ps")?);
    let (tracks, ids) = (wide(batch, "track_id")?, wide(batch, "rollup_id")?);
    for row in 0..batch.num_rows() {
        let (track, slice) = (tracks.value(row), (begin.value(row), end.value(row), ids.value(row)));
        let Some((from, to)) = within.get(&track) else {
            continue;
        };
        if slice.0 < *to && slice.1 > *from {
            found.entry(track).or_default().push(slice);
        }
    }
    Ok(())
}

/// Call, kind of op, device, executions and how long they took.
type CalledRow = (i64, i64, i64, i64, i64);

#[pyfunction]
pub fn ops_in_calls(
    py: Python<'_>,
    stream: &Bound<'_, PyAny>,
    calls: HashSet<i64>,
) -> PyResult<Vec<CalledRow>> {
    let mut found = Callers::default();
    for batch in batches(stream)? {
        let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
        free(py, || add_called(&mut found, &batch, &calls))?;
        py.check_signals()?;
    }
    let row = |one: OpsInCall| {
        let (call, kind, device) = one.alike;
        (call, kind, device, one.executions, one.took_ps)
    };
    Ok(found.sums().into_iter().map(row).collect())
}

/// Adds the ops of a batch, and those of its calls that are wanted.
fn add_called(found: &mut Callers, batch: &RecordBatch, wanted: &HashSet<i64>) -> Result<()> {
    let (threads, begin) = (wide(batch, "track_id")?, wide(batch, "begin_ps")?);
    let (end, calls) = (wide(batch, "end_ps")?, wide(batch, "call_id")?);
    let (kinds, devices) = (wide(batch, "alike_id")?, wide(batch, "device_track_id")?);
    let took = wide(batch, "took_ps")?;
    for row in 0..batch.num_rows() {
        let (thread, begin) = (threads.value(row), begin.value(row));
        match calls.value(row) {
            call if wanted.contains(&call) => found.call(thread, begin, end.value(row), call),
            call if call >= 0 => {}
            _ => {
                let (kind, device) = (kinds.value(row), devices.value(row));
                found.op(thread, begin, kind, device, took.value(row));
            }
        }
    }
    Ok(())
}

/// For each moment which of the second, or -1; the names of the innermost slice and of the call whose line counts.
type AroundRows = (Vec<i64>, Vec<(String, Option<String>)>);

#[pyfunction]
pub fn innermost_slices(
    py: Python<'_>,
    slices: &Bound<'_, PyAny>,
    names: &Bound<'_, PyAny>,
    moments: Vec<(i64, i64)>,
    line_of: &Bound<'_, PyAny>,
) -> PyResult<AroundRows> {
    let named = Names::read(py, names, line_of)?;
    let mut found = Innermost::new(&moments);
    for batch in batches(slices)? {
        let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
        free(py, || add_slices(&mut found, &batch, &named))?;
        py.check_signals()?;
    }
    let mut numbers = HashMap::new();
    let mut around = Vec::new();
    let number = |one: Option<innermost::Around>| {
        one.map_or(-1, |one| {
            *numbers.entry(one).or_insert_with(|| {
                let (name, line) = one;
                let text = |at: usize| named.texts[at].clone();
                around.push((text(name), line.map(text)));
                around.len() as i64 - 1
            })
        })
    };
    let of_moments = found.finish().into_iter().map(number).collect();
    Ok((of_moments, around))
}

/// Names of slices: each once.
struct Names {
    texts: Vec<String>,
    lines: Vec<Line>,
    /// By rollup_id.
    numbers: HashMap<i64, usize>,
}

impl Names {
    /// Reads them from a stream. line_of: what a name tells of lines.
    fn read(py: Python<'_>, stream: &Bound<'_, PyAny>, line_of: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut numbers = HashMap::new();
        for batch in batches(stream)? {
            let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
            free(py, || {
                let (ids, text) = (wide(&batch, "rollup_id")?, texts(&batch, "name")?);
                for row in 0..batch.num_rows() {
                    let (name, next) = (text(row), known.len());
                    let number = known.get(name).copied().unwrap_or_else(|| {
                        known.insert(name.to_owned(), next);
                        next
                    });
                    numbers.insert(ids.value(row), number);
                }
                Ok(())
            })?;
        }
        let mut texts = vec![String::new(); known.len()];
        for (text, number) in known {
            texts[number] = text;
        }
        let mut lines = Vec::with_capacity(texts.len());
        for text in &texts {
            let told: Option<bool> = line_of.call1((text,))?.extract()?;
            lines.push(match told {
                None => Line::Unknown,
                Some(false) => Line::OfFramework,
                Some(true) => Line::OfProgram,
            });
        }
        Ok(Self { texts, lines, numbers })
    }
}

/// Adds the slices of a batch.
fn add_slices(found: &mut Innermost<'_>, batch: &RecordBatch, names: &Names) -> Result<()> {
    let (threads, begin) = (wide(batch, "track_id")?, wide(batch, "begin_ps")?);
    let (end, depth) = (wide(batch, "end_ps")?, wide(batch, "slices_around")?);
    let ids = wide(batch, "rollup_id")?;
    for row in 0..batch.num_rows() {
        let name = names.numbers.get(&ids.value(row));
        let name = *name.ok_or_else(|| unfit("rollup_id"))?;
        found.add(&innermost::Slice {
            thread: threads.value(row),
            begin: begin.value(row),
            end: end.value(row),
            depth: depth.value(row).max(0) as usize,
            name,
            line: names.lines[name],
        });
    }
    Ok(())
}

#[pyclass(module = "stepscope._core", frozen)]
pub struct Pieces(Vec<Piece>);

#[pymethods]
impl Pieces {
    #[new]
    fn new(rows: Vec<(i64, i64, Label, u32)>) -> Self {
        let piece = |(from, to, label, hidden)| Piece { from, to, label, hidden };
        Pieces(rows.into_iter().map(piece).collect())
    }

    fn rows(&self) -> Vec<(i64, i64, Label, u32)> {
        let row = |one: &Piece| (one.from, one.to, one.label, one.hidden);
        self.0.iter().map(row).collect()
    }
}

#[pyfunction]
pub fn sweep_steps(
    py: Python<'_>,
    steps: Vec<Span>,
    spans: Vec<Vec<Span>>,
    by_slices: Vec<Row>,
    by_stacks: Vec<Row>,
    decide: &Bound<'_, PyAny>,
) -> PyResult<Pieces> {
    if spans.len() > 32 {
        return Err(PyValueError::new_err("more than 32 layers"));
    }
    let (by_slices, by_stacks) = (segments(by_slices), segments(by_stacks));
    let layers = Layers { steps: &steps, spans: &spans, segments: [&by_slices, &by_stacks] };
    let decide = decide.clone().unbind();
    let found = py.detach(|| {
        sweep::sweep(&layers, |state| {
            Python::attach(|py| {
                let open: Vec<bool> = (0..spans.len()).map(|layer| state.open & (1 << layer) != 0).collect();
                let [by_slice, by_stack] = state.says;
                decide.call1(py, (open, by_slice, by_stack))?.extract(py)
            })
        })
    });
    found.map(Pieces)
}

#[pyclass(module = "stepscope._core", frozen)]
pub struct StepSums {
    labels: usize,
    sums: Mutex<Option<Sums>>,
}

#[pymethods]
impl StepSums {
    #[new]
    fn new(steps: Vec<Span>, labels: usize) -> Self {
        StepSums { labels, sums: Mutex::new(Some(Sums::new(steps, labels))) }
    }

    fn add(&self, py: Python<'_>, pieces: &Pieces) -> PyResult<()> {
        let all = 1_u64 << self.labels.min(32);
        let unknown = |one: &Piece| usize::from(one.label) >= self.labels || u64::from(one.hidden) >= all;
        if pieces.0.iter().any(unknown) {
            return Err(PyValueError::new_err("a label of a higher number"));
        }
        py.detach(|| match lock(&self.sums).as_mut() {
            Some(sums) => {
                sums.add(&pieces.0);
                Ok(())
            }
            None => Err(PyValueError::new_err("the sums were taken")),
        })
    }

    fn finish(&self) -> PyResult<Vec<Vec<i64>>> {
        let sums = lock(&self.sums).take();
        let sums = sums.ok_or_else(|| PyValueError::new_err("the sums were taken"))?;
        Ok(sums.finish())
    }
}
