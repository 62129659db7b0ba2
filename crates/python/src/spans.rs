//! Unions of spans, fed from any Arrow stream.

use crate::batch::{texts, wide};
use crate::free;
use crate::streams::batches;
use arrow_array::RecordBatch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use stepscope_core::error::Result;
use stepscope_core::spans::{Span, Union, within};

#[pyclass(module = "stepscope._core", frozen)]
pub struct Spans(BTreeMap<String, Vec<Span>>);

#[pymethods]
impl Spans {
    #[new]
    fn new(py: Python<'_>, streams: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut unions: Vec<(String, Union)> = Vec::new();
        for stream in streams.try_iter()? {
            // The producer may need the interpreter for each batch; only what is ours runs without it.
            for batch in batches(&stream?)? {
                let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
                free(py, || add(&mut unions, &batch))?;
                py.check_signals()?;
            }
        }
        Ok(Spans(py.detach(|| {
            unions
                .into_iter()
                .map(|(layer, union)| (layer, union.spans()))
                .collect()
        })))
    }

    #[getter]
    fn layers(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    fn within(&self, layer: &str, from_ps: i64, to_ps: i64) -> Vec<Span> {
        let spans = self.0.get(layer).map_or(&[][..], Vec::as_slice);
        within(spans, from_ps, to_ps)
    }
}

/// Adds the rows of a batch with the columns layer, begin_ps and end_ps.
fn add(unions: &mut Vec<(String, Union)>, batch: &RecordBatch) -> Result<()> {
    let (begin, end) = (wide(batch, "begin_ps")?, wide(batch, "end_ps")?);
    let layers = texts(batch, "layer")?;
    let mut at = 0;
    for row in 0..batch.num_rows() {
        let layer = layers(row);
        // Rows of a layer mostly follow each other, and there are few layers.
        if unions.get(at).is_none_or(|(name, _)| name != layer) {
            at = unions
                .iter()
                .position(|(name, _)| name == layer)
                .unwrap_or_else(|| {
                    unions.push((layer.to_owned(), Union::default()));
                    unions.len() - 1
                });
        }
        unions[at].1.add(begin.value(row), end.value(row));
    }
    Ok(())
}
