//! Arrow streams that Python hands over.

#![allow(unsafe_code)]

use arrow_array::RecordBatch;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The batches of anything that has `__arrow_c_stream__`.
pub fn batches(
    stream: &Bound<'_, PyAny>,
) -> PyResult<impl Iterator<Item = Result<RecordBatch, arrow_schema::ArrowError>> + use<>> {
    let capsule = stream.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let held = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a pointer to a stream, so says Arrow's interface for Python. The stream is
    // moved out and an empty one is left behind, which the capsule's destructor knows to leave alone.
    let reader =
        unsafe { RecordBatchStreamReader::from_raw(held.cast::<FFI_ArrowArrayStream>().as_ptr()) };
    reader.map_err(|error| PyValueError::new_err(error.to_string()))
}
