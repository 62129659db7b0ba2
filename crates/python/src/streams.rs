//! Arrow streams that Python hands over, and one that it gets.

#![allow(unsafe_code)]

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Schema, ffi::FFI_ArrowSchema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyCapsule;
use std::ffi::CStr;
use std::sync::Arc;

/// What a capsule with a stream is called in Arrow's protocol.
const NAME: &CStr = c"arrow_array_stream";

/// A column: its name, Arrow's format string, and its buffers, the validity of its values first.
type Column = (String, String, Vec<Option<PyBackedBytes>>);

#[pyfunction]
pub fn arrow_stream(py: Python<'_>, columns: Vec<Column>, length: usize) -> PyResult<Bound<'_, PyCapsule>> {
    let odd = |error: ArrowError| PyValueError::new_err(error.to_string());
    let batch = batch(columns, length).map_err(odd)?;
    let schema = batch.schema();
    capsule(py, RecordBatchIterator::new([Ok(batch)], schema))
}

/// What `__arrow_c_stream__` returns. Arrow's protocol lets the producer ignore a schema that is asked for; the
/// consumer then casts.
pub fn capsule<R>(py: Python<'_>, batches: R) -> PyResult<Bound<'_, PyCapsule>>
where
    R: RecordBatchReader + Send + 'static,
{
    let stream = FFI_ArrowArrayStream::new(Box::new(batches));
    PyCapsule::new_with_value(py, stream, NAME)
}

/// The names at these positions, in that order.
pub fn names_at(names: &[String], positions: &[usize]) -> PyResult<Vec<String>> {
    let names = positions.iter().map(|&at| names.get(at).cloned());
    let unknown = || PyValueError::new_err("the stream has no such column");
    names.collect::<Option<_>>().ok_or_else(unknown)
}

fn batch(columns: Vec<Column>, length: usize) -> Result<RecordBatch, ArrowError> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (name, format, buffers) in columns {
        let kind = DataType::try_from(&FFI_ArrowSchema::try_new(&format, Vec::new(), None)?)?;
        let mut buffers = buffers.into_iter().map(|bytes| bytes.map(|bytes| Buffer::from(&bytes[..])));
        let valid = buffers.next().flatten();
        let array = ArrayData::builder(kind.clone())
            .len(length)
            .null_bit_buffer(valid)
            .buffers(buffers.flatten().collect());
        arrays.push(make_array(array.build()?));
        fields.push(Field::new(name, kind, true));
    }
    let rows = RecordBatchOptions::new().with_row_count(Some(length));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &rows)
}

/// The batches of anything that has `__arrow_c_stream__`.
pub fn batches(
    stream: &Bound<'_, PyAny>,
) -> PyResult<impl Iterator<Item = Result<RecordBatch, ArrowError>> + use<>> {
    let capsule = stream.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let held = capsule.pointer_checked(Some(NAME))?;
    // SAFETY: a capsule of this name holds a pointer to a stream, so says Arrow's interface for Python. The stream is
    // moved out and an empty one is left behind, which the capsule's destructor knows to leave alone.
    let reader = unsafe { RecordBatchStreamReader::from_raw(held.cast::<FFI_ArrowArrayStream>().as_ptr()) };
    reader.map_err(|error| PyValueError::new_err(error.to_string()))
}
