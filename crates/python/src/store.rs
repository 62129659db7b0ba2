//! Stores and the streams of their tables.

use crate::streams::{capsule, names_at};
use crate::values::{cell, shape, value};
use crate::{free, lock};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};
use stepscope_core::columns::Cell;
use stepscope_core::rollup;
use stepscope_core::store::extents::Extent;
use stepscope_core::store::launched_work::Work;
use stepscope_core::store::part::Field;
use stepscope_core::store::table::Table;
use stepscope_core::store::{Store as CoreStore, Value};

/// End of the last slice, and the least delay of a launch.
type WorkTuple = (i64, i64);

#[pyclass(module = "stepscope._core", frozen)]
pub struct Stream {
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
    /// The stream with some of its columns, given by their positions, in that order.
    fn narrowed(&self, positions: Vec<usize>) -> PyResult<Stream> {
        let columns = names_at(&self.columns, &positions)?;
        Ok(Stream {
            table: Arc::clone(&self.table),
            wanted: Some(columns.clone()),
            mapped: self.mapped,
            rows: self.rows,
            columns,
        })
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        capsule(py, free(py, || self.table.read(self.wanted.as_deref(), self.mapped))?)
    }
}

#[pyclass(module = "stepscope._core", frozen)]
pub struct Store(pub Mutex<CoreStore>);

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
        let text: String = py.import("json")?.call_method1("dumps", (all,))?.extract()?;
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
        Ok(Stream { rows: table.rows(), columns: names, table, wanted: columns, mapped })
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
            let shape =
                shape(&column).map_err(|what| PyValueError::new_err(format!("column {name}: {what}")))?;
            values.push(column.iter().map(|item| value(item, shape)).collect::<PyResult<_>>()?);
            fields.push(Field::new(&name, shape));
        }
        let count = values.first().map_or(0, Vec::len);
        if values.iter().any(|column| column.len() != count) {
            return Err(PyValueError::new_err("the columns differ in length"));
        }
        let rows: Vec<Vec<Cell<'_>>> =
            (0..count).map(|row| values.iter().map(|column| cell(&column[row])).collect()).collect();
        free(py, || lock(&self.0).replace(table, fields, &rows))
    }

    #[pyo3(signature = (before_ps = i64::MAX))]
    fn extents(&self, py: Python<'_>, before_ps: i64) -> PyResult<BTreeMap<i32, (u64, i64, i64, i64)>> {
        let found = free(py, || lock(&self.0).extents(before_ps))?;
        let tuple = |one: Extent| (one.slices, one.first_ps, one.last_ps, one.end_ps);
        Ok(found.into_iter().map(|(track, one)| (track, tuple(one))).collect())
    }

    fn launched_work(
        &self,
        py: Python<'_>,
        begin_ps: Vec<i64>,
        devices: HashSet<i32>,
    ) -> PyResult<Vec<Option<WorkTuple>>> {
        let found = free(py, || lock(&self.0).launched_work(&begin_ps, &devices))?;
        let tuple = |work: Work| (work.end_ps, work.delay_ps);
        Ok(found.into_iter().map(|work| work.map(tuple)).collect())
    }

    fn roll_up(&self, py: Python<'_>, producer: &str) -> PyResult<()> {
        free(py, || rollup::roll_up(&mut lock(&self.0), producer))
    }

    fn assign_steps(
        &self,
        py: Python<'_>,
        begin_ps: Vec<i64>,
        end_ps: Vec<i64>,
        number: Vec<i64>,
    ) -> PyResult<()> {
        free(py, || lock(&self.0).assign_steps(&begin_ps, &end_ps, &number))
    }
}
