//! The timeline's level of detail, fed from any Arrow stream.

use crate::batch::{column, texts, unfit, wide};
use crate::free;
use crate::streams::batches;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
use stepscope_core::error::Result;
use stepscope_core::lod::cells::Window;
use stepscope_core::lod::{Builder, Lod as CoreLod, Slice, frame};

#[pyclass(module = "stepscope._core", frozen)]
pub struct Lod(CoreLod);

#[pymethods]
impl Lod {
    #[new]
    fn new(py: Python<'_>, stream: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut builder = Builder::default();
        // The producer may need the interpreter for each batch; only what is ours runs without it.
        for batch in batches(stream)? {
            let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
            free(py, || add(&mut builder, &batch))?;
            py.check_signals()?;
        }
        Ok(Lod(py.detach(|| builder.finish())))
    }

    #[getter]
    fn names(&self) -> &[String] {
        self.0.names()
    }

    #[getter]
    fn tracks(&self) -> BTreeMap<i64, (u32, usize)> {
        self.0
            .tracks()
            .map(|(track, depths, slices)| (track, (depths, slices)))
            .collect()
    }

    fn cells<'py>(
        &self,
        py: Python<'py>,
        tracks: Vec<i64>,
        from_ps: i64,
        to_ps: i64,
        px: u32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let window = Window::new(from_ps, to_ps, px)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let bytes = py.detach(|| frame::write(&self.0.cells(&tracks, window), window));
        Ok(PyBytes::new(py, &bytes))
    }
}

/// Adds the rows of a batch with the columns track, depth, id, ts_ps, dur_ps and name.
fn add(builder: &mut Builder, batch: &RecordBatch) -> Result<()> {
    let [track, id, ts_ps, dur_ps] =
        ["track", "id", "ts_ps", "dur_ps"].map(|name| wide(batch, name));
    let (track, id, ts_ps, dur_ps) = (track?, id?, ts_ps?, dur_ps?);
    let depth = column(batch, "depth")?
        .as_primitive_opt::<Int32Type>()
        .ok_or_else(|| unfit("depth"))?;
    let name = texts(batch, "name")?;
    for row in 0..batch.num_rows() {
        let slice = Slice {
            id: id.value(row),
            ts_ps: ts_ps.value(row),
            dur_ps: dur_ps.value(row),
            name: builder.name(name(row))?,
        };
        builder.add(track.value(row), depth.value(row).max(0) as u32, slice);
    }
    Ok(())
}
