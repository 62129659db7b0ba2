//! Layouts of graphs.

use crate::while_wanted;
use pyo3::prelude::*;
use stepscope_core::layout::layered;

/// Layers and left edges of boxes; see `_core.pyi`.
#[pyfunction]
pub fn layered_layout(
    py: Python<'_>,
    widths: Vec<f32>,
    edges: Vec<(u32, u32)>,
) -> PyResult<(Vec<u32>, Vec<f32>)> {
    let places = while_wanted(py, |wanted| layered(&widths, &edges, wanted))?;
    Ok(places.into_iter().map(|place| (place.layer, place.x)).unzip())
}
