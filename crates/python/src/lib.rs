//! `stepscope._core`: the core as a Python module. Signatures and their meaning: `_core.pyi`.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCapsule, PyDict, PyFloat, PyInt};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use stepscope_core::columns::Cell;
use stepscope_core::error::{Error, Kind, Result};
use stepscope_core::input::{Codec, Input as CoreInput};
use stepscope_core::part::{Field, Shape};
use stepscope_core::store::{Needs, Options, Progress, Store as CoreStore, Value};
use stepscope_core::table::Table;

pyo3::create_exception!(
    _core,
    CoreError,
    PyException,
    "A decoder gave up: (kind, offset, seen)."
);

/// The core's error as Python's.
fn raise(py: Python<'_>, error: Error) -> PyErr {
    let kind = match error.kind {
        Kind::NotThisFormat => "not_this_format",
        Kind::Damaged => "damaged",
        Kind::Limit => "limit",
        Kind::Io => "io",
        Kind::Interrupted => "interrupted",
    };
    let raised = CoreError::new_err((kind, error.offset, error.seen.clone()));
    let value = raised.value(py);
    let set = value
        .setattr("kind", kind)
        .and_then(|()| value.setattr("offset", error.offset));
    match set.and_then(|()| value.setattr("seen", error.seen)) {
        Ok(()) => raised,
        Err(other) => other,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Runs without the GIL; the error becomes Python's.
fn free<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(|error| raise(py, error))
}

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
            let room = out
                .get_mut(..bytes.len())
                .ok_or_else(|| PyValueError::new_err("read more than asked"))?;
            room.copy_from_slice(bytes);
            Ok(bytes.len())
        })
        .map_err(|error: PyErr| io::Error::other(error.to_string()))
    }
}

#[pyclass(module = "stepscope._core", frozen)]
struct Input(CoreInput);

#[pymethods]
impl Input {
    #[staticmethod]
    #[pyo3(signature = (path, offset=0, length=None, codec="plain"))]
    fn file(path: PathBuf, offset: u64, length: Option<u64>, codec: &str) -> PyResult<Self> {
        Ok(Input(CoreInput::file(
            path,
            offset,
            length,
            self::codec(codec)?,
        )))
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

#[pyclass(module = "stepscope._core", frozen)]
struct Stream {
    table: Arc<Table>,
    wanted: Option<Vec<String>>,
    mapped: bool,
    #[pyo3(get)]
    rows: u64,
    #[pyo3(get)]
    columns: Vec<String>,
}

#[pymethods]
impl Stream {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol lets the producer ignore the request; the consumer then casts.
        drop(requested_schema);
        let batches = free(py, || self.table.read(self.wanted.as_deref(), self.mapped))?;
        PyCapsule::new_with_value(
            py,
            FFI_ArrowArrayStream::new(Box::new(batches)),
            c"arrow_array_stream",
        )
    }
}

#[pyclass(module = "stepscope._core", frozen)]
struct Store(Mutex<CoreStore>);

#[pymethods]
impl Store {
    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = lock(&self.0).facts_json().to_owned();
        py.import("json")?.call_method1("loads", (text,))
    }

    fn update_facts(&self, py: Python<'_>, facts: &Bound<'_, PyDict>) -> PyResult<()> {
        let all = self.facts(py)?;
        all.call_method1("update", (facts,))?;
        let text: String = py
            .import("json")?
            .call_method1("dumps", (all,))?
            .extract()?;
        free(py, || lock(&self.0).set_facts_json(text))
    }

    fn tables(&self) -> BTreeMap<String, u64> {
        lock(&self.0).tables()
    }

    #[pyo3(signature = (table, mapped=true, columns=None))]
    fn stream(
        &self,
        py: Python<'_>,
        table: &str,
        mapped: bool,
        columns: Option<Vec<String>>,
    ) -> PyResult<Stream> {
        let table = free(py, || lock(&self.0).table(table).cloned())?;
        let names = columns.clone().unwrap_or_else(|| table.columns());
        Ok(Stream {
            rows: table.rows(),
            columns: names,
            table,
            wanted: columns,
            mapped,
        })
    }

    fn rows<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let rows = free(py, || lock(&self.0).rows(table))?;
        let mut out = Vec::with_capacity(rows.len());
        for row in rows {
            let dict = PyDict::new(py);
            for (name, value) in row {
                match value {
                    Value::Null => dict.set_item(name, py.None())?,
                    Value::Bool(value) => dict.set_item(name, value)?,
                    Value::I64(value) => dict.set_item(name, value)?,
                    Value::U64(value) => dict.set_item(name, value)?,
                    Value::F64(value) => dict.set_item(name, value)?,
                    Value::Text(value) => dict.set_item(name, value)?,
                }
            }
            out.push(dict);
        }
        Ok(out)
    }

    fn replace(&self, py: Python<'_>, table: &str, columns: &Bound<'_, PyDict>) -> PyResult<()> {
        let mut fields = Vec::new();
        let mut values: Vec<Vec<Value>> = Vec::new();
        for (name, column) in columns.iter() {
            let column: Vec<Bound<'_, PyAny>> = column.try_iter()?.collect::<PyResult<_>>()?;
            let name: String = name.extract()?;
            let shape = shape(&column)
                .map_err(|what| PyValueError::new_err(format!("column {name}: {what}")))?;
            values.push(
                column
                    .iter()
                    .map(|item| value(item, shape))
                    .collect::<PyResult<_>>()?,
            );
            fields.push(Field::new(&name, shape));
        }
        let count = values.first().map_or(0, Vec::len);
        if values.iter().any(|column| column.len() != count) {
            return Err(PyValueError::new_err("the columns differ in length"));
        }
        let rows: Vec<Vec<Cell<'_>>> = (0..count)
            .map(|row| values.iter().map(|column| cell(&column[row])).collect())
            .collect();
        free(py, || lock(&self.0).replace(table, fields, &rows))
    }

    fn assign_steps(
        &self,
        py: Python<'_>,
        begin_ps: Vec<i64>,
        end_ps: Vec<i64>,
        number: Vec<i64>,
    ) -> PyResult<()> {
        free(py, || {
            lock(&self.0).assign_steps(&begin_ps, &end_ps, &number)
        })
    }
}

/// The shape that holds all values of a column; int64 when there is none.
fn shape(column: &[Bound<'_, PyAny>]) -> std::result::Result<Shape, String> {
    let mut found = None;
    for item in column.iter().filter(|item| !item.is_none()) {
        let shape = if item.is_instance_of::<PyBool>() {
            Shape::Bool
        } else if item.is_instance_of::<PyInt>() {
            if item.extract::<i64>().is_ok() {
                Shape::I64
            } else {
                Shape::U64
            }
        } else if item.is_instance_of::<PyFloat>() {
            Shape::F64
        } else {
            Shape::Text
        };
        found = match (found, shape) {
            (None, shape) => Some(shape),
            (Some(old), shape) if old == shape => Some(old),
            (Some(Shape::I64 | Shape::F64), Shape::I64 | Shape::F64) => Some(Shape::F64),
            (Some(Shape::I64 | Shape::U64), Shape::I64 | Shape::U64) => Some(Shape::U64),
            (Some(old), shape) => return Err(format!("{old:?} and {shape:?} in one column")),
        };
    }
    Ok(found.unwrap_or(Shape::I64))
}

fn value(item: &Bound<'_, PyAny>, shape: Shape) -> PyResult<Value> {
    if item.is_none() {
        return Ok(Value::Null);
    }
    Ok(match shape {
        Shape::Bool => Value::Bool(item.extract()?),
        Shape::I64 | Shape::I32 | Shape::Code => Value::I64(item.extract()?),
        Shape::U64 => Value::U64(item.extract()?),
        Shape::F64 => Value::F64(item.extract()?),
        Shape::Text => Value::Text(item.extract()?),
    })
}

fn cell(value: &Value) -> Cell<'_> {
    match value {
        Value::Null => Cell::Null,
        Value::Bool(value) => Cell::I64(i64::from(*value)),
        Value::I64(value) => Cell::I64(*value),
        Value::U64(value) => Cell::U64(*value),
        Value::F64(value) => Cell::F64(*value),
        Value::Text(value) => Cell::Text(value),
    }
}

fn needs(names: Option<Vec<String>>) -> PyResult<Needs> {
    let Some(names) = names else {
        return Ok(Needs::default());
    };
    let mut needs = Needs {
        args: false,
        nesting: false,
        tables: false,
    };
    for name in names {
        match name.as_str() {
            "args" => needs.args = true,
            "nesting" => needs.nesting = true,
            "tables" => needs.tables = true,
            _ => return Err(PyValueError::new_err(format!("no need is called {name}"))),
        }
    }
    Ok(needs)
}

#[pyfunction]
#[pyo3(signature = (format, input, folder=None, *, needs=None, options=None, threads=0, progress=None))]
#[allow(clippy::too_many_arguments)]
fn decode(
    py: Python<'_>,
    format: &str,
    input: &Bound<'_, Input>,
    folder: Option<PathBuf>,
    needs: Option<Vec<String>>,
    options: Option<BTreeMap<String, String>>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Store> {
    let input = input.get();
    let raised: Arc<Mutex<Option<PyErr>>> = Arc::default();
    let slot = Arc::clone(&raised);
    // Without a callback the signals are still looked at, so that Ctrl-C stops a long decode.
    let ask = move |read: u64| {
        Python::attach(|py| {
            let told = progress
                .as_ref()
                .map_or(Ok(()), |call| call.call1(py, (read,)).map(drop));
            match told.and_then(|()| py.check_signals()) {
                Ok(()) => true,
                Err(error) => {
                    *lock(&slot) = Some(error);
                    false
                }
            }
        })
    };
    let defaults = Options::default();
    let options = Options {
        folder,
        needs: self::needs(needs)?,
        threads: if threads == 0 {
            defaults.threads
        } else {
            threads
        },
        extra: options.unwrap_or_default(),
        progress: Some(Progress::new(input.0.counter(), ask)),
        ..defaults
    };
    let store = free(py, || stepscope_core::decode(format, &input.0, &options));
    match (store, lock(&raised).take()) {
        (Err(_), Some(error)) => Err(error),
        (store, _) => Ok(Store(Mutex::new(store?))),
    }
}

#[pyfunction]
#[pyo3(signature = (folder=None))]
fn build(py: Python<'_>, folder: Option<PathBuf>) -> PyResult<Store> {
    Ok(Store(Mutex::new(free(py, || {
        CoreStore::build(folder.as_deref())
    })?)))
}

#[pyfunction]
fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Store> {
    Ok(Store(Mutex::new(free(py, || CoreStore::open(&folder))?)))
}

#[pyfunction]
fn hash_file(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    free(py, || {
        CoreInput::file(path, 0, None, Codec::Plain).content_hash()
    })
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("DECODER_VERSION", stepscope_core::DECODER_VERSION)?;
    module.add("CoreError", module.py().get_type::<CoreError>())?;
    module.add_class::<Input>()?;
    module.add_class::<Stream>()?;
    module.add_class::<Store>()?;
    module.add_function(wrap_pyfunction!(decode, module)?)?;
    module.add_function(wrap_pyfunction!(build, module)?)?;
    module.add_function(wrap_pyfunction!(open, module)?)?;
    module.add_function(wrap_pyfunction!(hash_file, module)?)
}
