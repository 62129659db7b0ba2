//! Profiles for pprof from stacks that Python has counted.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use stepscope_core::proto::pprof::{About, Function, Profile};

type Sample = (usize, Vec<i64>, Vec<(PyBackedStr, PyBackedStr)>);

/// A frame: a function, or a line of one with its file.
#[derive(FromPyObject)]
enum Frame {
    Name(PyBackedStr),
    Line(PyBackedStr, PyBackedStr, i64),
}

/// The stack below a frame, if any, and the location of the frame.
struct Stack {
    below: Option<usize>,
    location: u64,
}

#[pyfunction]
#[pyo3(signature = (kinds, frames, stacks, samples, *, default, start_unix_ns=0, span_ns=0))]
#[allow(clippy::too_many_arguments)]
pub fn pprof<'py>(
    py: Python<'py>,
    kinds: Vec<(PyBackedStr, PyBackedStr)>,
    frames: &Bound<'py, PyAny>,
    stacks: &Bound<'py, PyAny>,
    samples: &Bound<'py, PyAny>,
    default: &str,
    start_unix_ns: i64,
    span_ns: i64,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut profile = Profile::default();
    for (kind, unit) in &kinds {
        profile.kind(kind, unit);
    }
    // A location is a line of a function: there are no addresses.
    let (mut locations, mut functions) = (0, HashMap::new());
    for frame in frames.try_iter()? {
        let (name, file, line) = match frame?.extract()? {
            Frame::Name(name) => (profile.text(&name), 0, 0),
            Frame::Line(name, file, line) => (profile.text(&name), profile.text(&file), line),
        };
        let id = functions.len() as u64 + 1;
        let function = *functions.entry((name, file)).or_insert_with(|| {
            profile.function(Function { id, name, system_name: name, file, ..Function::default() });
            id
        });
        locations += 1;
        profile.location(locations, function, line);
    }
    let mut all: Vec<Stack> = Vec::new();
    for stack in stacks.try_iter()? {
        let (below, frame): (isize, u64) = stack?.extract()?;
        let below = usize::try_from(below).ok();
        // Each stack lies on top of an earlier one, so every way down ends.
        if frame >= locations || below.is_some_and(|below| below >= all.len()) {
            let what = format!("stack {} without its frame or what is below", all.len());
            return Err(PyValueError::new_err(what));
        }
        all.push(Stack { below, location: frame + 1 });
    }
    let mut way = Vec::new();
    for sample in samples.try_iter()? {
        let (stack, values, labels): Sample = sample?.extract()?;
        way.clear();
        let mut at = Some(stack);
        while let Some(number) = at {
            let unknown = || PyValueError::new_err("a sample of a stack that is not there");
            let stack = all.get(number).ok_or_else(unknown)?;
            way.push(stack.location);
            at = stack.below;
        }
        let labels: Vec<(u64, u64)> = labels
            .iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(key, text)| (profile.text(key), profile.text(text)))
            .collect();
        profile.sample(way.iter().copied(), values, labels);
    }
    let about = About { start_unix_ns, span_ns, default_kind: profile.text(default), comment: 0 };
    Ok(PyBytes::new(py, &profile.finish(about)))
}
