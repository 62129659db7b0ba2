//! The timeline's level of detail, fed from any Arrow stream, from a store, or from files.

use crate::batch::{column, nullable_texts, texts, unfit, wide};
use crate::store::Store;
use crate::streams::batches;
use crate::{free, go_on, lock, while_wanted};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use stepscope_core::error::{Error, Kind, Result};
use stepscope_core::input::{Codec, Input};
use stepscope_core::lod::cells::Window;
use stepscope_core::lod::sums::Sums as CoreSums;
use stepscope_core::lod::{Builder, Lod as CoreLod, Packed, Part, Slice, frame};
use stepscope_core::store::mapping::{self, Mapped};
use stepscope_core::store::table::Table;
use stepscope_core::wanted::Wanted;

#[pyclass(module = "stepscope._core", frozen)]
pub struct Lod {
    lod: CoreLod,
    /// What it reads when it is asked.
    files: Vec<Mapped>,
}

/// Where the slices of a source are: a file that `write_lod` made with its size, or a store.
#[derive(FromPyObject)]
pub enum Place<'py> {
    File(PathBuf, u64),
    Store(PyRef<'py, Store>),
}

#[pymethods]
impl Lod {
    #[new]
    #[pyo3(signature = (stream=None, *, sources=Vec::new()))]
    fn new(
        py: Python<'_>,
        stream: Option<&Bound<'_, PyAny>>,
        sources: Vec<(Place<'_>, i64, i64)>,
    ) -> PyResult<Self> {
        let mut parts = Vec::with_capacity(sources.len() + 1);
        let mut files = Vec::new();
        for (place, first_id, shift_ps) in sources {
            let packed = match place {
                Place::File(path, bytes) => free(py, || {
                    let file = mapping::map(&path, bytes)?;
                    let packed = Packed::read(&file.bytes)
                        .map_err(|odd| Error::new(odd.kind, format!("{}: {}", path.display(), odd.seen)));
                    file.check()?;
                    files.push(file);
                    packed
                })?,
                Place::Store(store) => {
                    let table = slices(&store);
                    while_wanted(py, |wanted| of_table(table, wanted))?
                }
            };
            go_on(py)?;
            parts.push(Part { packed, first_id, shift_ps });
        }
        if let Some(stream) = stream {
            let mut builder = Builder::default();
            // The producer may need the interpreter for each batch; only what is ours runs without it.
            for batch in batches(stream)? {
                let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
                free(py, || add(&mut builder, &batch))?;
                go_on(py)?;
            }
            parts.push(Part {
                packed: while_wanted(py, |wanted| builder.finish(wanted))?,
                first_id: 0,
                shift_ps: 0,
            });
        }
        let lod = py.detach(|| CoreLod::new(parts));
        Ok(Lod { lod, files })
    }

    #[getter]
    fn names(&self) -> &[String] {
        self.lod.names()
    }

    #[getter]
    fn tracks(&self) -> BTreeMap<i64, (u32, usize)> {
        self.lod.tracks().into_iter().map(|(track, depths, slices)| (track, (depths, slices))).collect()
    }

    fn cells<'py>(
        &self,
        py: Python<'py>,
        tracks: Vec<i64>,
        from_ps: i64,
        to_ps: i64,
        px: u32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let window =
            Window::new(from_ps, to_ps, px).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let bytes = free(py, || {
            let bytes = frame::write(&self.lod.cells(&tracks, window), window);
            // What was read is looked at before it is believed.
            self.files.iter().try_for_each(Mapped::check)?;
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn sums(slf: Bound<'_, Self>, tracks: Vec<i64>, from_ps: i64, to_ps: i64) -> PyResult<Sums> {
        let window =
            Window::new(from_ps, to_ps, 1).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let this = slf.get();
        let sums = free(slf.py(), || {
            let sums = CoreSums::new(&this.lod, &tracks, window);
            this.files.iter().try_for_each(Mapped::check)?;
            Ok(sums)
        })?;
        Ok(Sums { sums: Mutex::new(sums), of: slf.unbind() })
    }
}

#[pyclass(module = "stepscope._core", frozen)]
pub struct Sums {
    sums: Mutex<CoreSums>,
    of: Py<Lod>,
}

/// Name, op type, slices, their durations and self times.
type SumRow = (String, Option<String>, u64, i64, i64);

#[pymethods]
impl Sums {
    fn go_on(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let until = Duration::try_from_secs_f64(seconds)
            .ok()
            .and_then(|long| Instant::now().checked_add(long))
            .ok_or_else(|| PyValueError::new_err("a time that is none"))?;
        let of = self.of.get();
        free(py, || {
            let mut sums = lock(&self.sums);
            loop {
                sums.go_on(&of.lod);
                let (done, pieces) = sums.progress();
                if done == pieces || Instant::now() >= until {
                    of.files.iter().try_for_each(Mapped::check)?;
                    return Ok(done == pieces);
                }
            }
        })
    }

    fn rows(&self, py: Python<'_>, most: usize) -> (Vec<SumRow>, usize) {
        py.detach(|| {
            let (rows, all) = lock(&self.sums).rows(&self.of.get().lod, most);
            let told = rows.into_iter().map(|row| {
                let op_type = row.op_type.map(str::to_owned);
                (row.name.to_owned(), op_type, row.slices, row.total_ps, row.self_ps)
            });
            (told.collect(), all)
        })
    }

    #[getter]
    fn slices(&self) -> u64 {
        lock(&self.sums).slices()
    }

    #[getter]
    fn busy_ps(&self) -> i64 {
        lock(&self.sums).busy_and_work_ps().0
    }

    #[getter]
    fn work_ps(&self) -> i64 {
        lock(&self.sums).busy_and_work_ps().1
    }
}

/// Writes the slices of a store as the file that a Lod maps, and forces it to the disk: its bytes, slices and hash.
#[pyfunction]
pub fn write_lod(py: Python<'_>, path: PathBuf, store: PyRef<'_, Store>) -> PyResult<(u64, u64, String)> {
    let table = slices(&store);
    while_wanted(py, |wanted| {
        let packed = of_table(table, wanted)?;
        let file = std::fs::File::options().write(true).create_new(true).open(&path)?;
        let mut out = std::io::BufWriter::with_capacity(1 << 20, file);
        packed.write(&mut out)?;
        out.flush()?;
        let file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        let hash = Input::file(path, 0, None, Codec::Plain).content_hash()?;
        Ok((bytes, packed.len() as u64, hash))
    })
}

/// The slices of a store, if it has any; the store is free again.
fn slices(store: &Store) -> Option<Arc<Table>> {
    lock(&store.0).table("slice").ok().cloned()
}

fn of_table(table: Option<Arc<Table>>, still: &Wanted<'_>) -> Result<Packed> {
    let mut builder = Builder::default();
    let Some(table) = table else {
        return builder.finish(still);
    };
    let wanted = ["id", "track_id", "depth", "ts_ps", "dur_ps", "name", "op_type"].map(str::to_owned);
    let mut known: [Option<(ArrayRef, Vec<u32>)>; 2] = [None, None];
    for batch in table.read(Some(&wanted), false)? {
        let batch = batch.map_err(|error| Error::new(Kind::Damaged, error.to_string()))?;
        still.steps(batch.num_rows())?;
        let codes = |name: &str| batch.column_by_name(name)?.as_dictionary_opt::<Int32Type>();
        let (Some(names), Some(op_types)) = (codes("name"), codes("op_type")) else {
            let labels = labels_of(&mut builder, &batch)?;
            add_rows(&mut builder, &batch, "track_id", &labels)?;
            continue;
        };
        column(&batch, "name")?;
        for (known, codes) in known.iter_mut().zip([names, op_types]) {
            // Every batch has the same texts: they are numbered once.
            let texts = codes.values();
            let same = known.as_ref().is_some_and(|(before, _)| before.to_data().ptr_eq(&texts.to_data()));
            if !same {
                *known = Some((texts.clone(), numbered(&mut builder, texts)?));
            }
        }
        let number = |column: usize, code: i32| {
            let (_, numbers) = known[column].as_ref()?;
            numbers.get(usize::try_from(code).ok()?).copied()
        };
        let mut labels = Vec::with_capacity(batch.num_rows());
        let (own, other) = (names.keys(), op_types.keys());
        for row in 0..batch.num_rows() {
            let name = number(0, own.value(row)).ok_or_else(|| unfit("name"))?;
            let op_type = other.is_valid(row).then(|| number(1, other.value(row)));
            labels.push(builder.labels.pair(name, op_type.flatten())?);
        }
        add_rows(&mut builder, &batch, "track_id", &labels)?;
    }
    builder.finish(still)
}

/// The numbers of texts.
fn numbered(builder: &mut Builder, texts: &ArrayRef) -> Result<Vec<u32>> {
    let labels = &mut builder.labels;
    if let Some(texts) = texts.as_string_opt::<i32>() {
        texts.iter().map(|text| labels.text(text.unwrap_or(""))).collect()
    } else if let Some(texts) = texts.as_string_opt::<i64>() {
        texts.iter().map(|text| labels.text(text.unwrap_or(""))).collect()
    } else {
        Err(unfit("name"))
    }
}

/// The label of each row of a batch with the columns name and perhaps op_type.
fn labels_of(builder: &mut Builder, batch: &RecordBatch) -> Result<Vec<u32>> {
    let name = texts(batch, "name")?;
    let op_types = batch.column_by_name("op_type");
    let op_type = op_types.map(|_| nullable_texts(batch, "op_type"));
    let op_type = op_type.transpose()?;
    (0..batch.num_rows())
        .map(|row| {
            let name = builder.labels.text(name(row))?;
            let op_type = op_type.as_ref().and_then(|of| of(row));
            let op_type = op_type.map(|text| builder.labels.text(text)).transpose()?;
            builder.labels.pair(name, op_type)
        })
        .collect()
}

/// Adds the rows of a batch with the columns track, depth, id, ts_ps, dur_ps, name and perhaps op_type.
fn add(builder: &mut Builder, batch: &RecordBatch) -> Result<()> {
    let labels = labels_of(builder, batch)?;
    add_rows(builder, batch, "track", &labels)
}

fn add_rows(builder: &mut Builder, batch: &RecordBatch, track: &str, labels: &[u32]) -> Result<()> {
    let [id, ts_ps, dur_ps] = ["id", "ts_ps", "dur_ps"].map(|name| wide(batch, name));
    let (id, ts_ps, dur_ps) = (id?, ts_ps?, dur_ps?);
    let track = whole(batch, track)?;
    let depth = column(batch, "depth")?.as_primitive_opt::<Int32Type>().ok_or_else(|| unfit("depth"))?;
    for (row, label) in labels.iter().enumerate() {
        let slice =
            Slice { id: id.value(row), ts_ps: ts_ps.value(row), dur_ps: dur_ps.value(row), name: *label };
        builder.add(track(row), depth.value(row).max(0) as u32, slice);
    }
    Ok(())
}

/// A column of integers: of 32 bits in a store, of 64 in an engine.
fn whole<'a>(batch: &'a RecordBatch, name: &str) -> Result<Box<dyn Fn(usize) -> i64 + 'a>> {
    let found = column(batch, name)?;
    if let Some(values) = found.as_primitive_opt::<Int32Type>() {
        return Ok(Box::new(|row| i64::from(values.value(row))));
    }
    let values = wide(batch, name)?;
    Ok(Box::new(|row| values.value(row)))
}
