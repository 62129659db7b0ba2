//! The tfprof engine for Python. Signatures and their meaning: `_core.pyi`.

use crate::input::Input;
use crate::{free, lock};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Mutex;
use stepscope_core::tfprof::options::Options;
use stepscope_core::tfprof::{Session, read, words};

/// Options, kept between questions.
#[pyclass(name = "TfprofOptions", module = "stepscope._core")]
#[derive(Clone, Default)]
pub struct TfprofOptions(Options);

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
pub struct Tfprof(Mutex<Session>);

type Shown = (String, Vec<String>, Vec<(String, Vec<u8>)>);

#[pymethods]
impl Tfprof {
    #[new]
    fn new() -> Self {
        Tfprof(Mutex::default())
    }

    fn add_graph(&self, py: Python<'_>, input: &Bound<'_, Input>) -> PyResult<u64> {
        let input = input.get();
        free(py, || {
            let mut session = lock(&self.0);
            session.changed();
            read::graph(&mut session.model, &input.0)
        })
    }

    fn add_run_metadata(
        &self,
        py: Python<'_>,
        step: i64,
        input: &Bound<'_, Input>,
    ) -> PyResult<bool> {
        let input = input.get();
        free(py, || {
            let mut session = lock(&self.0);
            session.changed();
            read::run_metadata(&mut session.model, step, &input.0)
        })
    }

    fn add_op_log(&self, py: Python<'_>, input: &Bound<'_, Input>) -> PyResult<u64> {
        let input = input.get();
        free(py, || {
            let mut session = lock(&self.0);
            session.changed();
            read::op_log(&mut session.model, &input.0)
        })
    }

    /// What was odd about the files so far; told once.
    fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.0).model.warnings)
    }

    fn coverage(&self) -> f64 {
        lock(&self.0).model.coverage()
    }

    fn show(&self, py: Python<'_>, view: &str, options: &TfprofOptions) -> PyResult<Shown> {
        let options = &options.0;
        if !["scope", "graph", "op", "code"].contains(&view) {
            return Err(PyValueError::new_err(format!("no view is called {view}")));
        }
        let answer = free(py, || lock(&self.0).show(view, options, &mut |_| None))?;
        Ok((answer.text, answer.warnings, answer.files))
    }

    #[classattr]
    const HELP: &'static str = words::HELP;
}
