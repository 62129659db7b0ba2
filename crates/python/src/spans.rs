//! Unions of spans of many sources, fed from any Arrow stream.

use crate::batch::{texts, wide};
use crate::free;
use crate::streams::batches;
use arrow_array::RecordBatch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::{BTreeMap, HashMap};
use stepscope_core::error::Result;
use stepscope_core::spans::{Span, Union, within};

#[pyclass(module = "stepscope._core", frozen)]
pub struct Spans(HashMap<i64, BTreeMap<String, Vec<Span>>>);

/// The unions of each source, by layer.
type Unions = HashMap<i64, Vec<(String, Union)>>;

#[pymethods]
impl Spans {
    #[new]
    fn new(py: Python<'_>, streams: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut unions = Unions::new();
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
                .map(|(source, layers)| {
                    let spans = layers.into_iter().map(|(name, one)| (name, one.spans()));
                    (source, spans.collect())
                })
                .collect()
        })))
    }

    fn within(&self, source_id: i64, from_ps: i64, to_ps: i64) -> BTreeMap<&str, Vec<Span>> {
        let layers = self.0.get(&source_id).into_iter().flatten();
        layers.map(|(layer, spans)| (layer.as_str(), within(spans, from_ps, to_ps))).collect()
    }
}

/// Adds the rows of a batch with the columns source_id, layer, begin_ps and end_ps.
fn add(unions: &mut Unions, batch: &RecordBatch) -> Result<()> {
    let (begin, end) = (wide(batch, "begin_ps")?, wide(batch, "end_ps")?);
    let (sources, layers) = (wide(batch, "source_id")?, texts(batch, "layer")?);
    let mut at = 0;
    for row in 0..batch.num_rows() {
        let layer = layers(row);
        let unions = unions.entry(sources.value(row)).or_default();
        // Rows of a layer mostly follow each other, and there are few layers.
        if unions.get(at).is_none_or(|(name, _)| name != layer) {
            at = unions.iter().position(|(name, _)| name == layer).unwrap_or_else(|| {
                unions.push((layer.to_owned(), Union::default()));
                unions.len() - 1
            });
        }
        unions[at].1.add(begin.value(row), end.value(row));
    }
    Ok(())
}
