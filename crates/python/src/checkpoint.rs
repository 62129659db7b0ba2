//! Checkpoints for Python. Signatures and their meaning: `_core.pyi`.

use crate::free;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::path::PathBuf;
use stepscope_core::formats::checkpoint::{self, Values, dtype, text};

/// A checkpoint whose index was read.
#[pyclass(name = "Checkpoint", module = "stepscope._core", frozen)]
pub struct Checkpoint(checkpoint::Checkpoint);

type Listed = (String, String, Vec<u64>, Option<u64>, usize);

#[pymethods]
impl Checkpoint {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        free(py, || checkpoint::Checkpoint::open(&path)).map(Checkpoint)
    }

    fn tensors(&self) -> Vec<Listed> {
        let tensors = self.0.tensors().iter();
        tensors
            .map(|tensor| {
                let name = dtype::name(tensor.dtype);
                (tensor.name.clone(), name, tensor.shape.clone(), tensor.bytes, tensor.slices)
            })
            .collect()
    }

    fn absent(&self, py: Python<'_>) -> PyResult<Vec<(String, Option<u64>, String)>> {
        free(py, || {
            let absent = self.0.absent().into_iter();
            Ok(absent.map(|(name, error)| (name, error.offset, error.seen)).collect())
        })
    }

    fn read<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let tensor = self.find(name)?;
        match free(py, || self.0.values(tensor))? {
            Values::Fixed(bytes) => Ok(PyBytes::new(py, &bytes).into_any()),
            Values::Texts(texts) => {
                let texts = texts.iter().map(|text| PyBytes::new(py, text));
                Ok(PyList::new(py, texts)?.into_any())
            }
        }
    }

    fn text(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        let tensor = self.find(name)?;
        free(py, || Ok(text::print(tensor, &self.0.values(tensor)?)))
    }
}

#[pyfunction]
pub fn is_checkpoint_index(head: &[u8]) -> bool {
    checkpoint::version(head) == Some(checkpoint::Version::V2)
}

impl Checkpoint {
    fn find(&self, name: &str) -> PyResult<&checkpoint::Tensor> {
        self.0.find(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}
