//! Layouts of graphs.

use pyo3::prelude::*;
use stepscope_core::layout::layered;

/// Layers and left edges of boxes; see `_core.pyi`.
#[pyfunction]
pub fn layered_layout(
    py: Python<'_>,
    widths: Vec<f32>,
    edges: Vec<(u32, u32)>,
) -> (Vec<u32>, Vec<f32>) {
    py.detach(|| {
        layered(&widths, &edges)
            .into_iter()
            .map(|place| (place.layer, place.x))
            .unzip()
    })
}
