//! Views of tfprof as Arrow streams. Signatures and their meaning: `_core.pyi`.
//!
//! A view is made when the first of its rows is read. Engines ask for the schema of a stream when they plan, and leave
//! out streams that no row of an answer can come from: what a statement asks for decides which views are made.

use crate::streams::{capsule, names_at};
use crate::tfprof::{Tfprof, TfprofOptions};
use crate::{free, lock};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::{Arc, Mutex, OnceLock};
use stepscope_core::error::{Error, Kind, Result};
use stepscope_core::store::Batches;
use stepscope_core::store::table::Table;
use stepscope_tfprof::options::Options;
use stepscope_tfprof::{Session, tabulate};

/// Columns that hold numbers of lines.
const NUMBERED: [&str; 2] = ["id", "parent_id"];
const PS_PER_US: i64 = 1_000_000;

struct View {
    name: String,
    session: Arc<Mutex<Session>>,
    table: OnceLock<Arc<Table>>,
}

/// Views whose lines are numbered through, in their order.
struct Views {
    views: Vec<View>,
    options: Options,
    first_id: i64,
}

impl Views {
    /// The lines of a view, with numbers from 0. Without any code there are none in the code view.
    fn table(&self, at: usize) -> Result<Arc<Table>> {
        let view = &self.views[at];
        let mut session = lock(&view.session);
        if let Some(table) = view.table.get() {
            return Ok(Arc::clone(table));
        }
        let lines = match session.outline(&view.name, &self.options) {
            Err(error) if view.name == "code" && error.kind == Kind::NotThisFormat => Vec::new(),
            found => found?.0,
        };
        session.forget_views();
        let table = tabulate::table(&lines, PS_PER_US / session.model.ticks())?;
        let table = Arc::clone(view.table.get_or_init(|| Arc::new(table)));
        drop(session);
        if self.views.iter().all(|view| view.table.get().is_some()) {
            for view in &self.views {
                *lock(&view.session) = Session::default();
            }
        }
        Ok(table)
    }

    /// The number of the first line of a view. Makes the views before it.
    fn first_of(&self, at: usize) -> Result<i64> {
        (0..at).try_fold(self.first_id, |first, before| Ok(first + self.table(before)?.rows() as i64))
    }
}

/// The batches of a view.
struct ViewBatches {
    views: Arc<Views>,
    at: usize,
    columns: Vec<String>,
    schema: SchemaRef,
    /// The number of the first line, and the batches that are left; none before the first is asked for.
    open: Option<(i64, Batches)>,
}

impl ViewBatches {
    fn new(stream: &ViewStream) -> Result<ViewBatches> {
        let columns = stream.columns.clone();
        let empty = Arc::new(tabulate::table(&[], 1)?);
        Ok(ViewBatches {
            views: Arc::clone(&stream.views),
            at: stream.at,
            schema: empty.read(Some(&columns), true)?.schema(),
            columns,
            open: None,
        })
    }

    fn begin(&self) -> Result<(i64, Batches)> {
        let is_numbered = self.columns.iter().any(|name| NUMBERED.contains(&name.as_str()));
        let first = match is_numbered {
            true => self.views.first_of(self.at)?,
            false => 0,
        };
        let table = self.views.table(self.at)?;
        Ok((first, table.read(Some(&self.columns), true)?))
    }

    fn numbered(&self, batch: RecordBatch, first: i64) -> std::result::Result<RecordBatch, ArrowError> {
        let mut columns = batch.columns().to_vec();
        for (column, name) in columns.iter_mut().zip(&self.columns) {
            if NUMBERED.contains(&name.as_str()) {
                let numbers = column.as_primitive::<Int64Type>();
                *column = Arc::new(numbers.unary::<_, Int64Type>(|number| first.wrapping_add(number)));
            }
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

impl Iterator for ViewBatches {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.open.is_none() {
            match self.begin() {
                Ok(open) => self.open = Some(open),
                Err(error) => return Some(Err(ArrowError::ExternalError(Box::new(error)))),
            }
        }
        let (first, batches) = self.open.as_mut()?;
        let (first, batch) = (*first, batches.next()?);
        Some(batch.and_then(|batch| self.numbered(batch, first)))
    }
}

impl RecordBatchReader for ViewBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

#[pyclass(module = "stepscope._core", frozen)]
pub struct ViewStream {
    views: Arc<Views>,
    at: usize,
    #[pyo3(get)]
    columns: Vec<String>,
}

#[pymethods]
impl ViewStream {
    #[getter]
    fn is_made(&self) -> bool {
        self.views.views[self.at].table.get().is_some()
    }

    fn narrowed(&self, positions: Vec<usize>) -> PyResult<ViewStream> {
        Ok(ViewStream {
            views: Arc::clone(&self.views),
            at: self.at,
            columns: names_at(&self.columns, &positions)?,
        })
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        capsule(py, free(py, || ViewBatches::new(self))?)
    }
}

/// The views of these names, each of its model, as streams.
#[pyfunction]
pub fn tfprof_views(
    py: Python<'_>,
    models: Vec<(String, Bound<'_, Tfprof>)>,
    options: &TfprofOptions,
    first_id: i64,
) -> PyResult<Vec<ViewStream>> {
    let view = |(name, model): (String, Bound<'_, Tfprof>)| View {
        name,
        session: Arc::clone(&model.get().0),
        table: OnceLock::new(),
    };
    let views = Arc::new(Views {
        views: models.into_iter().map(view).collect(),
        options: options.0.clone(),
        first_id,
    });
    let columns = free(py, || Ok::<_, Error>(tabulate::table(&[], 1)?.columns()))?;
    let stream = |at| ViewStream { views: Arc::clone(&views), at, columns: columns.clone() };
    Ok((0..views.views.len()).map(stream).collect())
}
