//! The messages of event files, for Python. Signature and its meaning: `_core.pyi`.

use crate::free;
use crate::input::Input;
use pyo3::prelude::*;
use stepscope_core::formats::event_file;

type Message = (&'static str, String, Option<i64>, u64, u64);

#[pyfunction]
pub fn event_messages(py: Python<'_>, input: &Bound<'_, Input>) -> PyResult<(Vec<Message>, Vec<String>)> {
    let input = input.get();
    let found = free(py, || event_file::places(&input.0))?;
    let messages =
        found.messages.into_iter().map(|one| (one.kind, one.tag, one.step, one.offset, one.length)).collect();
    Ok((messages, found.warnings))
}
