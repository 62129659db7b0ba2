//! The tfprof engine for Python. Signatures and their meaning: `_core.pyi`.

use crate::input::Input;
use crate::{free, lock};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use stepscope_core::error::Result;
use stepscope_core::formats::checkpoint::Checkpoint;
use stepscope_tfprof::flops::Arithmetic;
use stepscope_tfprof::model::Model;
use stepscope_tfprof::options::{self, Options};
use stepscope_tfprof::outline::Row;
use stepscope_tfprof::{Session, flops, meanings, read, write_profile};

/// Options, kept between questions.
#[pyclass(name = "TfprofOptions", module = "stepscope._core")]
#[derive(Clone, Default)]
pub struct TfprofOptions(pub Options);

#[pymethods]
impl TfprofOptions {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn copy(&self) -> Self {
        self.clone()
    }

    /// Sets one option; ValueError holds TensorFlow's words when the value is refused.
    #[pyo3(signature = (name, value=None))]
    fn set(&mut self, name: &str, value: Option<String>) -> PyResult<()> {
        let done = self.0.set(&format!("-{name}"), value.as_ref());
        done.map_err(PyValueError::new_err)
    }

    /// Sets an option whatever its words are: what Python's interface of TensorFlow lets through.
    fn force(&mut self, name: &str, values: Vec<String>) -> PyResult<()> {
        match name {
            "order_by" => self.0.order_by = values.concat(),
            "select" => self.0.select = values.into_iter().collect(),
            "account_type_regexes" => self.0.regexes[0] = values,
            "start_name_regexes" => self.0.regexes[1] = values,
            "trim_name_regexes" => self.0.regexes[2] = values,
            "show_name_regexes" => self.0.regexes[3] = values,
            "hide_name_regexes" => self.0.regexes[4] = values,
            "device_regexes" => self.0.device_regexes = values,
            _ => return Err(PyValueError::new_err(format!("{name} takes one value"))),
        }
        Ok(())
    }

    fn read_line(&mut self, line: &str) -> PyResult<String> {
        self.0.read_line(line).map_err(PyValueError::new_err)
    }

    fn list(&self) -> String {
        self.0.list()
    }

    /// Each option with its default and what it does.
    #[staticmethod]
    fn meanings() -> Vec<(&'static str, String, &'static str)> {
        let all = meanings::all().into_iter();
        all.map(|one| (one.name, one.default, one.meaning)).collect()
    }

    /// Each column with what it shows.
    #[staticmethod]
    fn columns() -> Vec<(&'static str, &'static str)> {
        meanings::COLUMN_MEANINGS.to_vec()
    }

    /// What siblings can be ordered by.
    #[staticmethod]
    fn orders() -> Vec<&'static str> {
        options::ORDERS.to_vec()
    }

    #[getter]
    fn output(&self) -> &str {
        &self.0.output
    }

    #[getter]
    fn select(&self) -> Vec<&str> {
        self.0.select.iter().map(String::as_str).collect()
    }
}

/// A model that questions can be asked about.
#[pyclass(name = "Tfprof", module = "stepscope._core", frozen)]
pub struct Tfprof(pub Arc<Mutex<Session>>);

type Figures = [i64; 11];
type About = (Vec<String>, Vec<String>, Vec<i64>, Vec<String>);
type Line = (usize, String, bool, Figures, Figures, About);
type Step = (i64, i64, i64, i64, i64, i64);
type Stack = Vec<(String, i64, String)>;
type Ran = (String, String, (String, String), Vec<String>, i64, Stack, Vec<String>, Vec<Step>);
type Shown = (String, Vec<String>, Vec<(String, Vec<u8>)>);

impl Tfprof {
    /// Changes the model, without the GIL: what was answered about it before is forgotten.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Model) -> Result<T> + Send,
    ) -> PyResult<T> {
        free(py, || {
            let mut session = lock(&self.0);
            session.changed();
            work(&mut session.model)
        })
    }
}

#[pymethods]
impl Tfprof {
    #[new]
    fn new() -> Self {
        Tfprof(Arc::default())
    }

    fn add_graph(&self, py: Python<'_>, input: &Bound<'_, Input>) -> PyResult<u64> {
        let input = input.get();
        self.change(py, |model| read::graph(model, &input.0))
    }

    fn add_run_metadata(&self, py: Python<'_>, step: i64, input: &Bound<'_, Input>) -> PyResult<bool> {
        let input = input.get();
        self.change(py, |model| read::run_metadata(model, step, &input.0))
    }

    fn add_op_log(&self, py: Python<'_>, input: &Bound<'_, Input>) -> PyResult<u64> {
        let input = input.get();
        self.change(py, |model| read::op_log(model, &input.0))
    }

    fn add_profile(&self, py: Python<'_>, input: &Bound<'_, Input>) -> PyResult<u64> {
        let input = input.get();
        self.change(py, |model| read::profile(model, &input.0))
    }

    fn add_checkpoint(&self, py: Python<'_>, path: PathBuf) -> PyResult<usize> {
        free(py, || {
            let checkpoint = Checkpoint::open(&path)?;
            let tensors = checkpoint.tensors().len();
            lock(&self.0).add_checkpoint(checkpoint);
            Ok(tensors)
        })
    }

    /// Adds what ran, according to a trace.
    fn add_ran(&self, py: Python<'_>, steps: Vec<i64>, rows: Vec<Ran>) -> PyResult<()> {
        let row = |(name, op, (device, accelerator), types, flops, stack, inputs, steps): Ran| read::Ran {
            name,
            op,
            device,
            accelerator,
            types,
            flops,
            stack,
            inputs,
            steps: steps
                .into_iter()
                .map(|(step, start, runs, device_ps, accelerator_ps, bytes)| read::InStep {
                    step,
                    start,
                    runs,
                    device_ps,
                    accelerator_ps,
                    bytes,
                })
                .collect(),
        };
        let rows: Vec<read::Ran> = rows.into_iter().map(row).collect();
        self.change(py, |model| read::ran(model, &steps, &rows))
    }

    #[getter]
    fn picoseconds(&self) -> bool {
        lock(&self.0).model.picoseconds
    }

    /// From now on the shapes of outputs come from steps.
    fn keep_shapes(&self) {
        lock(&self.0).model.keeps_shapes = true;
    }

    fn fill_flops(&self, py: Python<'_>) -> PyResult<(u64, u64, BTreeMap<String, u64>, u64)> {
        let counted = self.change(py, |model| Ok(flops::fill(model)))?;
        Ok((counted.counted, counted.unknown, counted.without_formula, counted.not_in_graph))
    }

    #[staticmethod]
    fn arithmetic(op: &str) -> &'static str {
        match flops::arithmetic(op) {
            Arithmetic::Counted => "counted",
            Arithmetic::None => "none",
            Arithmetic::Unknown => "unknown",
        }
    }

    fn flops(&self, name: &str) -> Option<i64> {
        let session = lock(&self.0);
        let node = session.model.find(name)?;
        Some(session.model.nodes[node as usize].flops)
    }

    /// From now on large constants of graphs are kept.
    fn keep_tensors(&self) {
        lock(&self.0).model.keeps_tensors = true;
    }

    fn profile(&self, py: Python<'_>) -> PyResult<(Vec<u8>, u64)> {
        free(py, || Ok(write_profile::write(&lock(&self.0).model)))
    }

    /// What was odd about the files so far; reported once.
    fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.0).model.warnings)
    }

    fn coverage(&self) -> f64 {
        lock(&self.0).model.coverage()
    }

    fn show(&self, py: Python<'_>, view: &str, options: &TfprofOptions) -> PyResult<Shown> {
        let options = &options.0;
        known(view)?;
        let answer = free(py, || lock(&self.0).show(view, options))?;
        Ok((answer.text, answer.warnings, answer.files))
    }

    /// The lines of a view as data, and what a reader should know.
    fn outline(
        &self,
        py: Python<'_>,
        view: &str,
        options: &TfprofOptions,
    ) -> PyResult<(Vec<Line>, Vec<String>)> {
        known(view)?;
        let options = &options.0;
        let (rows, warnings) = free(py, || lock(&self.0).outline(view, options))?;
        let line = |row: Row| {
            let (own, total) = (row.own.all(), row.total.all());
            let about = (row.types, row.devices, row.shape, row.nodes);
            (row.level, row.name, row.counts, own, total, about)
        };
        Ok((rows.into_iter().map(line).collect(), warnings))
    }

    fn advise(&self, py: Python<'_>) -> PyResult<(String, Vec<String>)> {
        let answer = free(py, || lock(&self.0).advise())?;
        Ok((answer.text, answer.warnings))
    }
}

fn known(view: &str) -> PyResult<()> {
    match view {
        "scope" | "graph" | "op" | "code" => Ok(()),
        _ => Err(PyValueError::new_err(format!("no view is called {view}"))),
    }
}
