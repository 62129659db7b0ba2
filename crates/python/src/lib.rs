//! `stepscope._core`: the core as a Python module. Signatures and their meaning: `_core.pyi`.

mod batch;
mod checkpoint;
mod classes;
mod event_file;
mod hlo;
mod input;
mod layout;
mod lod;
mod parquet;
mod pickle;
mod pprof;
mod replay;
mod spans;
mod stack_slices;
mod steps;
mod store;
mod streams;
mod tfprof;
mod tfprof_views;
mod timeline;
mod values;

use input::Input;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use stepscope_core::error::{Error, Kind, Result};
use stepscope_core::input::{Codec, Input as CoreInput};
use stepscope_core::store::{Needs, Options, Progress, Store as CoreStore};
use stepscope_core::wanted::Wanted;
use store::Store;

pyo3::create_exception!(_core, CoreError, PyException, "A decoder gave up: (kind, offset, seen).");

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
    let set = value.setattr("kind", kind).and_then(|()| value.setattr("offset", error.offset));
    match set.and_then(|()| value.setattr("seen", error.seen)) {
        Ok(()) => raised,
        Err(other) => other,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Runs without the GIL; the error becomes Python's.
fn free<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(|error| raise(py, error))
}

/// Raises what Ctrl-C raises, or `Stopped` when nobody wants any more what this thread works on.
fn go_on(py: Python<'_>) -> PyResult<()> {
    py.check_signals()?;
    let background = py.import("stepscope.background")?;
    background.call_method0("go_on").map(drop)
}

/// The same as [`free`] for work that may take long: it ends with what Ctrl-C raises, or with `Stopped` when
/// nobody wants it any more (see `stepscope.background`).
fn while_wanted<T: Send>(py: Python<'_>, work: impl FnOnce(&Wanted<'_>) -> Result<T> + Send) -> PyResult<T> {
    let raised: Mutex<Option<PyErr>> = Mutex::new(None);
    let ask = || {
        let told = Python::attach(go_on);
        told.map_err(|error| *lock(&raised) = Some(error)).is_ok()
    };
    let found = py.detach(|| work(&Wanted::while_(&ask)));
    let raised = lock(&raised).take();
    raised.map_or_else(|| found.map_err(|error| raise(py, error)), Err)
}

fn needs(names: Option<Vec<String>>) -> PyResult<Needs> {
    let Some(names) = names else {
        return Ok(Needs::default());
    };
    let mut needs = Needs { args: false, nesting: false, tables: false, ops: false };
    for name in names {
        match name.as_str() {
            "args" => needs.args = true,
            "nesting" => needs.nesting = true,
            "tables" => needs.tables = true,
            "ops" => needs.ops = true,
            _ => return Err(PyValueError::new_err(format!("no need is called {name}"))),
        }
    }
    Ok(needs)
}

#[pyfunction]
#[pyo3(signature = (format, input, folder=None, *, needs=None, options=None, threads=0, progress=None, keep=true))]
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
    keep: bool,
) -> PyResult<Store> {
    let input = input.get();
    let raised: Arc<Mutex<Option<PyErr>>> = Arc::default();
    let slot = Arc::clone(&raised);
    // Without a callback the signals are still looked at, so that Ctrl-C stops a long decode.
    let ask = move |read: u64| {
        Python::attach(|py| {
            let called = progress.as_ref().map_or(Ok(()), |call| call.call1(py, (read,)).map(drop));
            match called.and_then(|()| py.check_signals()) {
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
        keep,
        threads: if threads == 0 { defaults.threads } else { threads },
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
    Ok(Store(Mutex::new(free(py, || CoreStore::build(folder.as_deref()))?)))
}

#[pyfunction]
fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Store> {
    Ok(Store(Mutex::new(free(py, || stepscope_core::open(&folder))?)))
}

#[pyfunction]
fn sniff(format: &str, head: &[u8], name: &str) -> PyResult<bool> {
    let found = stepscope_core::formats::by_name(format);
    let format = found.map_err(|error| PyValueError::new_err(error.seen))?;
    Ok((format.sniff)(head, name))
}

#[pyfunction]
fn hash_file(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    free(py, || CoreInput::file(path, 0, None, Codec::Plain).content_hash())
}

#[pyfunction]
fn hash_bytes(py: Python<'_>, data: Vec<u8>) -> PyResult<String> {
    free(py, || CoreInput::bytes(data, Codec::Plain).content_hash())
}

#[pymodule]
mod _core {
    use super::CoreError;
    use pyo3::prelude::*;

    #[pymodule_export]
    const DECODER_VERSION: u32 = stepscope_core::DECODER_VERSION;
    #[pymodule_export]
    const MOST_PX: u32 = stepscope_core::lod::cells::MOST_PX;
    #[pymodule_export]
    use crate::{
        build,
        checkpoint::{Checkpoint, is_checkpoint_index},
        classes::{class_rules, collective_kind, slice_class, slice_label},
        decode,
        event_file::event_messages,
        hash_bytes, hash_file,
        hlo::{hlo_diff, hlo_module, hlo_summaries, hlo_tables},
        input::Input,
        layout::layered_layout,
        lod::{Lod, Sums, write_lod},
        open,
        parquet::write_parquet,
        pickle::unpickle,
        pprof::pprof,
        replay::Replay,
        sniff,
        spans::Spans,
        stack_slices::stack_slices,
        steps::{Pieces, StepSums, innermost_slices, ops_in_calls, sweep_steps, thread_segments},
        store::{Store, Stream},
        streams::arrow_stream,
        tfprof::{Tfprof, TfprofOptions},
        tfprof_views::{ViewStream, tfprof_views},
        timeline::tf_timeline,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("CoreError", module.py().get_type::<CoreError>())
    }
}
