//! Tables as Parquet files.

use crate::store::Store;
use crate::{free, lock};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Mutex;
use stepscope_core::error::{Error, Kind as Failure};
use stepscope_core::options::Options;
use stepscope_core::store::parquet::{Column, Job, Kind, Source, write};

/// A value that all rows have.
#[derive(FromPyObject)]
pub enum Constant {
    Number(i64),
    Text(String),
}

type Spec = (String, String, Option<Constant>, i64);
type File<'py> = (PathBuf, PyRef<'py, Store>, String, Vec<Spec>);

fn kind(name: &str) -> PyResult<Kind> {
    Ok(match name {
        "BIGINT" => Kind::I64,
        "INTEGER" => Kind::I32,
        "DOUBLE" => Kind::F64,
        "BOOLEAN" => Kind::Bool,
        "VARCHAR" => Kind::Text,
        _ => return Err(PyValueError::new_err(format!("no type is called {name}"))),
    })
}

fn column((name, of, constant, add): Spec) -> PyResult<Column> {
    let kind = kind(&of)?;
    let source = match constant {
        None => Source::Stored(name.clone(), add),
        Some(Constant::Number(number)) if kind == Kind::I64 => Source::Number(number),
        Some(Constant::Text(text)) if kind == Kind::Text => Source::Text(text),
        Some(_) => {
            let what = format!("column {name} of type {of} cannot have that value in all rows");
            return Err(PyValueError::new_err(what));
        }
    };
    Ok(Column { name, kind, source })
}

#[pyfunction]
#[pyo3(signature = (files, *, threads=0))]
pub fn write_parquet(
    py: Python<'_>,
    files: Vec<File<'_>>,
    threads: usize,
) -> PyResult<Vec<(u64, u64, String)>> {
    let mut jobs = Vec::with_capacity(files.len());
    for (path, store, table, columns) in files {
        let table = lock(&store.0).table(&table).cloned();
        jobs.push(Job {
            path,
            table: table.map_err(|error| crate::raise(py, error))?,
            columns: columns.into_iter().map(column).collect::<PyResult<_>>()?,
        });
    }
    let threads = match threads {
        0 => Options::default().threads,
        given => given,
    };
    let raised: Mutex<Option<PyErr>> = Mutex::default();
    let check = || {
        Python::attach(|py| py.check_signals()).map_err(|error| {
            *lock(&raised) = Some(error);
            Error::new(Failure::Interrupted, "the caller asked to stop")
        })
    };
    let written = free(py, || write(&jobs, threads, check));
    match lock(&raised).take() {
        Some(error) => Err(error),
        None => Ok(written?.into_iter().map(|file| (file.bytes, file.rows, file.hash)).collect()),
    }
}
