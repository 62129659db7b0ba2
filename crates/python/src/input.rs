//! Where the bytes come from: files, bytes, and Python objects with read(n).

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{self, Read};
use std::path::PathBuf;
use stepscope_core::input::{Codec, Input as CoreInput};

fn codec(name: &str) -> PyResult<Codec> {
    match name {
        "plain" => Ok(Codec::Plain),
        "gzip" => Ok(Codec::Gzip),
        "deflate" => Ok(Codec::Deflate),
        _ => Err(PyValueError::new_err(format!("no codec is called {name}"))),
    }
}

/// Reads from a Python object with read(n).
struct Reader(Py<PyAny>);

impl Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let bytes = self.0.bind(py).call_method1("read", (out.len(),))?;
            let bytes = bytes.cast::<PyBytes>()?.as_bytes();
            let room =
                out.get_mut(..bytes.len()).ok_or_else(|| PyValueError::new_err("read more than asked"))?;
            room.copy_from_slice(bytes);
            Ok(bytes.len())
        })
        .map_err(|error: PyErr| io::Error::other(error.to_string()))
    }
}

#[pyclass(module = "stepscope._core", frozen)]
pub struct Input(pub CoreInput);

#[pymethods]
impl Input {
    #[staticmethod]
    #[pyo3(signature = (path, offset=0, length=None, codec="plain", crc=None))]
    fn file(
        path: PathBuf,
        offset: u64,
        length: Option<u64>,
        codec: &str,
        crc: Option<u32>,
    ) -> PyResult<Self> {
        let input = CoreInput::file(path, offset, length, self::codec(codec)?);
        Ok(Input(match crc {
            Some(crc) => input.with_crc(crc),
            None => input,
        }))
    }

    #[staticmethod]
    #[pyo3(signature = (data, codec="plain"))]
    fn bytes(data: &[u8], codec: &str) -> PyResult<Self> {
        Ok(Input(CoreInput::bytes(data.to_vec(), self::codec(codec)?)))
    }

    #[staticmethod]
    fn reader(file: Py<PyAny>) -> Self {
        Input(CoreInput::reader(Box::new(Reader(file))))
    }
}
