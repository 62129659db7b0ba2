//! TensorFlow's Timeline for Python. Signature and its meaning: `_core.pyi`.

use crate::free;
use crate::input::Input;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use stepscope_tfprof::tf_timeline::{OpTime, Style, make};

type Made = (String, u64, u64, Option<(u64, String)>);

#[pyfunction]
#[pyo3(signature = (input, *, dataflow, memory, op_time))]
pub fn tf_timeline(
    py: Python<'_>,
    input: &Bound<'_, Input>,
    dataflow: bool,
    memory: bool,
    op_time: &str,
) -> PyResult<Made> {
    let Some(op_time) = OpTime::named(op_time) else {
        return Err(PyValueError::new_err(format!("no op_time is called {op_time}")));
    };
    let style = Style { dataflow, memory, op_time };
    let input = input.get();
    let made = free(py, || make(&input.0, style))?;
    Ok((made.json, made.events, made.lost, made.damage))
}
