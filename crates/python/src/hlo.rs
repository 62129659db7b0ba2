//! Compiled programs, for Python. Signatures and their meaning: `_core.pyi`.

use crate::input::Input;
use crate::store::Store;
use crate::{free, lock};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use stepscope_core::error::{Error, Kind, Result};
use stepscope_core::formats::hlo;
use stepscope_core::formats::hlo::buffers::{Buffers, Totals};
use stepscope_core::formats::hlo::cost::{Cost, Costs, Ran};
use stepscope_core::formats::hlo::diff::{self, CHANGES, Changes, Lone};
use stepscope_core::formats::hlo::summary::Summary;
use stepscope_core::formats::hlo::tables::{Place, Tables};

type Frame = (String, i32, String, u32);

fn frames(found: Vec<hlo::Frame>) -> Vec<Frame> {
    let frames = found.into_iter();
    frames.map(|one| (one.file, one.line, one.function, one.parent)).collect()
}

/// A larger file is no program: protobuf itself has this limit.
const MOST_BYTES: u64 = 2 << 30;

fn too_large(size: u64) -> Error {
    Error::new(Kind::Limit, format!("a file of {size} bytes"))
}

fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    let size = std::fs::metadata(path)?.len();
    if size > MOST_BYTES {
        return Err(too_large(size));
    }
    Ok(std::fs::read(path)?)
}

/// A file, or a stretch of one that may be packed.
#[derive(FromPyObject)]
pub enum Given {
    Input(Py<Input>),
    Path(PathBuf),
}

impl Given {
    fn bytes(&self) -> Result<Vec<u8>> {
        let input = match self {
            Given::Path(path) => return bytes_of(path),
            Given::Input(input) => input.get().0.open()?,
        };
        let mut bytes = Vec::new();
        let read = input.take(MOST_BYTES + 1).read_to_end(&mut bytes)? as u64;
        if read > MOST_BYTES {
            return Err(too_large(read));
        }
        Ok(bytes)
    }
}

/// Files of more bytes are read one after the other, since a text takes several times its size in memory.
const ALONE_BYTES: u64 = 64 << 20;
static ALONE: Mutex<()> = Mutex::new(());

impl Given {
    fn summary(&self) -> Result<Summary> {
        let size = match self {
            Given::Path(path) => std::fs::metadata(path)?.len(),
            Given::Input(_) => 0,
        };
        let _alone = (size > ALONE_BYTES).then(|| ALONE.lock());
        hlo::summary::summary(self.bytes()?)
    }
}

/// Sums up files, on as many threads as given, in their order.
fn summaries(files: &[Given], threads: usize) -> Vec<Result<Summary>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(at) else {
                return done;
            };
            done.push((at, file.summary()));
        }
    };
    let mut found: Vec<(usize, Result<Summary>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.clamp(1, 64)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().filter_map(|one| one.join().ok()).flatten().collect()
    });
    found.sort_by_key(|one| one.0);
    found.into_iter().map(|one| one.1).collect()
}

fn set_cost(into: &Bound<'_, PyDict>, cost: &Cost, ran: &Ran) -> PyResult<()> {
    into.set_item("flops", cost.flops)?;
    into.set_item("transcendentals", cost.transcendentals)?;
    into.set_item("bytes", cost.bytes)?;
    into.set_item("run_flops", ran.cost.flops)?;
    into.set_item("run_transcendentals", ran.cost.transcendentals)?;
    into.set_item("run_bytes", ran.cost.bytes)?;
    into.set_item("run_custom_calls", ran.custom_calls)?;
    into.set_item("run_open_loops", ran.open_loops)
}

fn set_memory(into: &Bound<'_, PyDict>, memory: &Totals) -> PyResult<()> {
    into.set_item("parameter_bytes", memory.parameter)?;
    into.set_item("constant_bytes", memory.constant)?;
    into.set_item("thread_local_bytes", memory.thread_local)?;
    into.set_item("output_bytes", memory.output)?;
    into.set_item("temp_bytes", memory.temp)?;
    into.set_item("alias_bytes", memory.alias)?;
    into.set_item("allocated_bytes", memory.all())
}

fn summary_dict<'py>(py: Python<'py>, one: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    made.set_item("name", &one.name)?;
    made.set_item("id", one.id)?;
    made.set_item("written", one.written.name())?;
    made.set_item("size", one.size)?;
    made.set_item("hash", one.hash)?;
    made.set_item("computations", one.computations)?;
    made.set_item("instructions", one.instructions)?;
    made.set_item("opcodes", &one.opcodes)?;
    set_cost(&made, &one.cost, &one.ran)?;
    made.set_item("entry", one.entry)?;
    made.set_item("parameters", &one.parameters)?;
    made.set_item("replicas", one.devices.0)?;
    made.set_item("partitions", one.devices.1)?;
    let donors = one.donors.iter();
    let donors: Vec<_> = donors.map(|(one, bytes)| (one.parameter, one.index.clone(), *bytes)).collect();
    made.set_item("donors", donors)?;
    let memory = one.memory.as_ref().map(|memory| {
        let sums = PyDict::new(py);
        set_memory(&sums, memory).map(|()| sums)
    });
    made.set_item("memory", memory.transpose()?)?;
    made.set_item("heap_needed_bytes", &one.needed)?;
    made.set_item("doubles", one.doubles)?;
    made.set_item("dangling", one.dangling)?;
    made.set_item("unknown_fields", one.unknown_fields)?;
    made.set_item("lost", one.lost)?;
    made.set_item("cut", one.cut)?;
    made.set_item("cyclic", one.cyclic)?;
    Ok(made)
}

#[pyfunction]
#[pyo3(signature = (paths, threads=0))]
pub fn hlo_summaries<'py>(
    py: Python<'py>,
    paths: Vec<Given>,
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        given => given,
    };
    let found = py.detach(|| summaries(&paths, threads));
    let made = PyList::empty(py);
    for one in found {
        match one {
            Ok(summary) => made.append(summary_dict(py, &summary)?)?,
            Err(error) => made.append((error.offset, error.seen))?,
        }
    }
    Ok(made)
}

/// Where a module belongs: its row, that of its stage, its number and name, and the stage.
type Row = (Given, i64, Option<i64>, String, String, Option<String>);

#[pyfunction]
pub fn hlo_tables<'py>(
    py: Python<'py>,
    store: &Bound<'py, Store>,
    files: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let store = store.get();
    let mut tables = free(py, || Tables::new(&lock(&store.0)))?;
    let made = PyList::empty(py);
    // One after the other, so that those that are made of bytes are never in memory together.
    for row in files.try_iter()? {
        let (given, module_id, pass_id, program_id, module, stage): Row = row?.extract()?;
        let place = Place { module_id, pass_id, program_id, module, stage };
        let told = free(py, || match given.bytes().and_then(|bytes| hlo::module(&bytes)) {
            Ok(module) => {
                let costs = hlo::cost::costs(&module);
                tables.add(&module, &costs, &place)?;
                let summary = || hlo::summary::with(&module, &costs);
                Ok(Ok(pass_id.is_none().then(summary)))
            }
            Err(error) => Ok(Err(error)),
        })?;
        match told {
            Ok(None) => made.append(py.None())?,
            Ok(Some(summary)) => made.append(summary_dict(py, &summary)?)?,
            Err(error) => made.append((error.offset, error.seen))?,
        }
    }
    free(py, || tables.finish(&mut lock(&store.0)))?;
    Ok(made)
}

#[pyfunction]
pub fn hlo_module<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    let (module, costs) = free(py, || {
        let module = hlo::module(data)?;
        let costs = hlo::cost::costs(&module);
        Ok((module, costs))
    })?;
    let made = summary_dict(py, &hlo::summary::with(&module, &costs))?;
    made.set_item("scheduled", module.scheduled)?;
    made.set_item("entry_computation", module.entry)?;
    made.set_item("computation_rows", computations(py, &module, &costs)?)?;
    made.set_item("instruction_rows", instructions(py, &module, &costs)?)?;
    let buffers = module.buffers.as_ref().map(|one| buffers(py, one)).transpose()?;
    made.set_item("buffers", buffers)?;
    made.set_item("frames", frames(module.frames))?;
    Ok(made)
}

fn computations<'py>(py: Python<'py>, module: &hlo::Module, costs: &Costs) -> PyResult<Bound<'py, PyList>> {
    let made = PyList::empty(py);
    let counted = costs.computations.iter().zip(&costs.times);
    for (one, ((cost, ran), times)) in module.computations.iter().zip(counted) {
        let row = PyDict::new(py);
        row.set_item("name", &one.name)?;
        row.set_item("instructions", one.instructions.len())?;
        row.set_item("root", one.root)?;
        row.set_item("times", times)?;
        set_cost(&row, cost, ran)?;
        made.append(row)?;
    }
    Ok(made)
}

fn instructions<'py>(py: Python<'py>, module: &hlo::Module, costs: &Costs) -> PyResult<Bound<'py, PyList>> {
    let made = PyList::empty(py);
    let present = |ids: &[u32]| -> Vec<Option<u32>> {
        ids.iter().map(|&at| (at != hlo::model::MISSING).then_some(at)).collect()
    };
    for (number, computation) in module.computations.iter().enumerate() {
        for at in computation.instructions.clone() {
            let one = &module.instructions[at];
            let none = hlo::model::More::default();
            let more = one.more.as_deref().unwrap_or(&none);
            let row = PyDict::new(py);
            row.set_item("computation", number)?;
            row.set_item("name", &*one.name)?;
            row.set_item("opcode", &*one.opcode)?;
            row.set_item("shape", one.shape.to_string())?;
            row.set_item("shape_bytes", one.shape.bytes())?;
            row.set_item("operands", present(&one.operands))?;
            row.set_item("called", &one.called)?;
            row.set_item("number", one.number)?;
            row.set_item("op_name", &*one.op_name)?;
            row.set_item("op_type", &more.op_type)?;
            row.set_item("frame", one.frame)?;
            row.set_item("fusion_kind", &more.fusion_kind)?;
            row.set_item("target", &more.target)?;
            row.set_item("direction", &more.direction)?;
            row.set_item("sharding", &more.sharding)?;
            row.set_item("config", &more.config)?;
            row.set_item("after", present(&more.after))?;
            row.set_item("trip_count", costs.trips.get(&(at as u32)))?;
            row.set_item("id", one.id)?;
            set_cost(&row, &costs.instructions[at], &costs.ran[at])?;
            made.append(row)?;
        }
    }
    Ok(made)
}

fn buffers<'py>(py: Python<'py>, found: &Buffers) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    let logical: Vec<_> = (found.logical.iter())
        .map(|one| (one.id, one.size, one.instruction.clone(), one.instruction_id, one.shape_index.clone()))
        .collect();
    made.set_item("logical", logical)?;
    let allocations: Vec<_> = (found.allocations.iter())
        .map(|one| {
            (
                one.index,
                one.size,
                one.class.name(),
                one.aliased,
                one.parameter,
                one.color,
                one.assigned.clone(),
            )
        })
        .collect();
    made.set_item("allocations", allocations)?;
    let traces: Vec<_> = found
        .replays()
        .into_iter()
        .map(|one| (one.needed, one.at, one.allocation, one.said, one.held))
        .collect();
    made.set_item("traces", traces)?;
    Ok(made)
}

/// Matches files one after the other; between the first and the last of more than two by way of those between.
fn compared(paths: &[PathBuf], named: bool) -> Result<(hlo::Module, hlo::Module, Changes)> {
    let read = |path: &PathBuf| bytes_of(path).and_then(|bytes| hlo::module(&bytes));
    let first = read(&paths[0])?;
    let mut last = read(&paths[1])?;
    let mut pairs = diff::matching(&first, &last, named);
    for path in &paths[2..] {
        let next = read(path)?;
        pairs = diff::chained(&pairs, &diff::matching(&last, &next, named));
        last = next;
    }
    let found = diff::joined(&first, &last, &pairs);
    Ok((first, last, found))
}

#[pyfunction]
#[pyo3(signature = (paths, named=true, rows=true))]
pub fn hlo_diff<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    named: bool,
    rows: bool,
) -> PyResult<Bound<'py, PyDict>> {
    if paths.len() < 2 {
        return Err(pyo3::exceptions::PyValueError::new_err("fewer than two files"));
    }
    let (first, last, found) = free(py, || compared(&paths, named))?;
    let made = PyDict::new(py);
    for (name, module) in [("a", &first), ("b", &last)] {
        let side = summary_dict(py, &hlo::summary::of(module))?;
        if rows {
            side.set_item("rows", rows_of(py, module)?)?;
        }
        made.set_item(name, side)?;
    }
    let words = |bits: u16| -> Vec<&str> {
        let all = CHANGES.iter().enumerate();
        all.filter(|(at, _)| bits >> at & 1 == 1).map(|(_, word)| *word).collect()
    };
    let pairs: Vec<_> = (found.pairs.iter())
        .map(|&(a, b, basis, bits)| (a, b, basis.name(), basis.is_guess(), words(bits)))
        .collect();
    made.set_item("pairs", pairs)?;
    let lone = |all: &[Lone]| -> Vec<(u32, &str, Option<u32>)> {
        let present = |at: u32| (at != hlo::model::MISSING).then_some(at);
        all.iter().map(|&(at, fate, about)| (at, fate.name(), present(about))).collect()
    };
    made.set_item("removed", lone(&found.removed))?;
    made.set_item("added", lone(&found.added))?;
    Ok(made)
}

/// Name, opcode, shape, name of the computation, the framework's name of the op, flops and bytes (as they run when it
/// runs once) of each instruction.
fn rows_of<'py>(py: Python<'py>, module: &hlo::Module) -> PyResult<Bound<'py, PyList>> {
    let made = PyList::empty(py);
    let costs = hlo::cost::costs(module);
    for computation in &module.computations {
        let name = pyo3::types::PyString::new(py, &computation.name);
        for at in computation.instructions.clone() {
            let one = &module.instructions[at];
            let cost = costs.ran[at].cost;
            let shape = one.shape.to_string();
            made.append((&*one.name, &*one.opcode, shape, &name, &*one.op_name, cost.flops, cost.bytes))?;
        }
    }
    Ok(made)
}
