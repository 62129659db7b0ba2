//! The tables decoded from one source, in memory or in a folder.
//!
//! A store in a folder holds one heap of buffers for each table (`track.columns`, `counter.columns`, ...).
//! The heap of the slices (`slice.columns`) also holds their args, block by block in the order in which they
//! were decoded. Further files hold one more column of a table, batch by batch as long as the table
//! (`slice.step.columns`, `flow.slice_id.columns`), the texts behind the codes in `slice`
//! (`slice.name.columns`, ...), and, for formats whose args become text only when they are read, the names in
//! them (`slice.args_json.columns`). `facts.json` holds the facts; `tables.index` lists the files of each
//! table. The column `id` is the row number and is not stored.
//!
//! Arrow's own file format was used for the small tables before. Heaps, which the slices need, replaced it: with
//! 600,000 counters and arrows they took as long to write and to read (1.01 and 1.05 of the processor time, medians
//! of five rounds in turns), and 0.75 of the disk.

mod account;
mod arena;
pub(crate) mod bits;
mod blocks;
pub mod extents;
mod flows;
mod guard;
pub(crate) mod heap;
mod index;
pub mod launched_work;
pub mod lazy_text;
pub mod mapping;
pub mod nesting;
mod packing;
pub mod parquet;
pub mod part;
pub(crate) mod part_writer;
pub(crate) mod placed;
pub mod pool;
mod pooled;
pub mod raw;
pub mod rows;
mod slices;
mod sorted_runs;
pub mod table;
mod worker;
mod writer;

pub use crate::facts::{Effect, Facts, Note};
pub use crate::options::{Needs, Options, Progress};
pub use crate::store::pool::Pool;
pub use crate::store::table::Batches;
pub use crate::store::writer::Writer;

use crate::columns::Cell;
use crate::error::{Error, Kind, Result};
use crate::store::bits::Bits;
use crate::store::lazy_text::Lazy;
use crate::store::part::{Access, Field, Part, Shape};
use crate::store::part_writer::{Column, PartWriter};
use crate::store::rows::Rows;
use crate::store::table::{Dictionary, Table};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatchReader};
use arrow_buffer::ToByteSlice;
use arrow_schema::{ArrowError, DataType};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The tables decoded from one source.
pub struct Store {
    /// What the decoder found; nothing in a store that was opened ([`Store::facts_json`] has it).
    pub facts: Facts,
    facts_json: String,
    folder: Option<PathBuf>,
    tables: BTreeMap<String, Arc<Table>>,
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Value {
    Null,
    Bool(bool),
    I64(i64),
    U64(u64),
    F64(f64),
    Text(String),
}

impl Store {
    /// A store of parts; entries named `slice.<column>` are the texts of that column.
    pub(crate) fn new(
        folder: Option<&Path>,
        facts: Facts,
        parts: Vec<(String, Vec<Arc<Part>>)>,
        lazy: &[Lazy],
    ) -> Result<Store> {
        let facts_json = facts.to_json();
        let store =
            Store { facts, facts_json, folder: folder.map(Path::to_path_buf), tables: assemble(parts, lazy) };
        store.save()?;
        Ok(store)
    }

    /// An empty store, to be filled with [`Store::replace`].
    pub fn build(folder: Option<&Path>) -> Result<Store> {
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder)?;
        }
        Store::new(folder, Facts::default(), Vec::new(), &[])
    }

    /// A store in a folder. A folder that was moved has to be opened anew. `lazy`: the formats that may have
    /// left the text of args for later ([`crate::open`] knows them).
    pub fn open(folder: &Path, lazy: &[Lazy]) -> Result<Store> {
        let listing = index::read(folder)?;
        Ok(Store {
            facts: Facts::default(),
            facts_json: listing.facts,
            folder: Some(folder.to_path_buf()),
            tables: assemble(listing.tables, lazy),
        })
    }

    /// The facts as a JSON object.
    pub fn facts_json(&self) -> &str {
        &self.facts_json
    }

    /// Keeps other facts.
    pub fn set_facts_json(&mut self, facts: String) -> Result<()> {
        self.facts_json = facts;
        self.save()
    }

    /// Name and number of rows of every table that is there.
    pub fn tables(&self) -> BTreeMap<String, u64> {
        self.tables.iter().map(|(name, table)| (name.clone(), table.rows())).collect()
    }

    /// A table.
    pub fn table(&self, name: &str) -> Result<&Arc<Table>> {
        self.tables.get(name).ok_or_else(|| Error::new(Kind::Io, format!("the store has no table {name}")))
    }

    /// A small table as rows of (column, value). A table that is not there has none.
    pub fn rows(&self, table: &str) -> Result<Vec<BTreeMap<String, Value>>> {
        let Some(table) = self.tables.get(table) else {
            return Ok(Vec::new());
        };
        let mut rows = Vec::new();
        let batches = table.read(None, false)?;
        let schema = batches.schema();
        for batch in batches {
            let batch = batch.map_err(own)?;
            let first = rows.len();
            rows.resize_with(first + batch.num_rows(), BTreeMap::new);
            for (field, column) in schema.fields().iter().zip(batch.columns()) {
                for (i, row) in rows[first..].iter_mut().enumerate() {
                    row.insert(field.name().clone(), value(column, i));
                }
            }
        }
        Ok(rows)
    }

    /// Writes a small table anew, or a new one. `rows` have a cell for each field; truths are I64.
    pub fn replace(&mut self, name: &str, fields: Vec<Field>, rows: &[Vec<Cell<'_>>]) -> Result<()> {
        let mut part = self.growing(name, fields)?;
        for row in rows {
            part.push(row)?;
        }
        self.keep(name, part)
    }

    /// A table that grows row by row, and is in the store once it was given to [`Store::keep`].
    pub fn growing(&self, name: &str, fields: Vec<Field>) -> Result<Rows> {
        let plain = !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        if !plain || name == "slice" {
            return Err(Error::new(Kind::Io, format!("a table cannot be called {name:?} or be replaced")));
        }
        Rows::new(self.folder.as_deref(), &self.file(name), fields)
    }

    /// Takes in a table that has grown, in the place of one of its name.
    pub fn keep(&mut self, name: &str, rows: Rows) -> Result<()> {
        let table = Table { parts: vec![Arc::new(rows.finish()?)], dictionaries: Vec::new() };
        let old = self.tables.insert(name.to_owned(), Arc::new(table));
        self.save()?;
        old.map_or(Ok(()), |old| forget(&old.parts))
    }

    /// Fills `slice.step`: the number of the step in whose interval (begin included, end not) the
    /// slice starts. The intervals must be sorted and must not overlap.
    pub fn assign_steps(&mut self, begin_ps: &[i64], end_ps: &[i64], number: &[i64]) -> Result<()> {
        let sorted = begin_ps.iter().zip(end_ps).all(|(begin, end)| begin <= end)
            && end_ps.iter().zip(begin_ps.iter().skip(1)).all(|(end, begin)| end <= begin);
        if !sorted || begin_ps.len() != end_ps.len() || begin_ps.len() != number.len() {
            return Err(Error::new(Kind::Io, "steps must be sorted and must not overlap"));
        }
        let slices = Arc::clone(self.table("slice")?);
        let part = &slices.parts[0];
        let column = part.column("ts_ps")?;
        let file = part.open()?;
        let access = file.as_ref().map_or(Access::Mapped, Access::Read);
        let fields = vec![Field::new("step", Shape::I64)];
        // Packed: the steps of most batches are one number.
        let name = self.file("slice.step");
        let mut steps = PartWriter::new(self.folder.as_deref(), &name, fields)?;
        let (mut values, mut valid) = (Vec::new(), Bits::default());
        // Slices of a track rise in time: most lie in the step, or between the steps, of the one before.
        let mut found = Stretch::default();
        for batch in 0..part.batches.len() {
            let ts_ps = part.array(batch, column, &access)?;
            values.clear();
            valid.clear();
            let mut rest = &ts_ps.as_primitive::<Int64Type>().values()[..];
            while let Some(first) = rest.first() {
                if !found.holds(*first) {
                    found = Stretch::of(*first, begin_ps, end_ps, number);
                }
                let run = rest.iter().skip(1).take_while(|ts_ps| found.holds(**ts_ps));
                let run = 1 + run.count();
                values.resize(values.len() + run, found.step);
                valid.extend(found.inside, run);
                rest = &rest[run..];
            }
            // The parts of a table have the same batches.
            let column = match valid.all_null() {
                true => Column::Nulls,
                false => Column::Fixed { valid: valid.valid(), values: values.to_byte_slice() },
            };
            steps.write(values.len(), &[column])?;
        }
        let parts = vec![Arc::clone(part), Arc::new(steps.finish()?)];
        let old = slices.parts[1..].to_vec();
        let table = Table { parts, dictionaries: slices.dictionaries.clone() };
        self.tables.insert("slice".to_owned(), Arc::new(table));
        self.save()?;
        forget(&old)
    }

    /// Writes more columns of slices: batches must be those of the table. In memory or in a file of their own,
    /// packed. `name`: a part of the file's name.
    pub fn slice_columns(&self, name: &str, fields: Vec<Field>) -> Result<PartWriter> {
        let file = self.file(&format!("slice.{name}"));
        PartWriter::new(self.folder.as_deref(), &file, fields)
    }

    /// Takes in columns of [`slice_columns`](Store::slice_columns), in the place of older ones of their names.
    pub fn lay_slice_columns(&mut self, columns: PartWriter) -> Result<()> {
        let slices = Arc::clone(self.table("slice")?);
        let added = Arc::new(columns.finish()?);
        let same = |part: &Arc<Part>| part.fields == added.fields;
        let (old, mut parts): (Vec<_>, Vec<_>) = slices.parts.iter().cloned().partition(same);
        parts.push(added);
        let table = Table { parts, dictionaries: slices.dictionaries.clone() };
        self.tables.insert("slice".to_owned(), Arc::new(table));
        self.save()?;
        forget(&old)
    }

    /// A file name, without its extension, that no table uses: files are replaced, not overwritten.
    fn file(&self, name: &str) -> String {
        let taken = |file: &str| {
            let mut parts = self.tables.values().flat_map(|table| &table.parts);
            parts.any(|part| {
                part.file.as_ref().is_some_and(|stored| stored.path.file_stem() == Some(file.as_ref()))
            })
        };
        let mut file = name.to_owned();
        let mut number = 1;
        while taken(&file) {
            number += 1;
            file = format!("{name}.{number}");
        }
        file
    }

    fn save(&self) -> Result<()> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let mut parts = Vec::new();
        for (name, table) in &self.tables {
            parts.push((name.clone(), table.parts.clone()));
            for (column, dictionary) in &table.dictionaries {
                parts.push((format!("{name}.{column}"), vec![Arc::clone(dictionary.part())]));
            }
        }
        index::write(folder, &self.facts_json, &parts)
    }
}

fn assemble(parts: Vec<(String, Vec<Arc<Part>>)>, lazy: &[Lazy]) -> BTreeMap<String, Arc<Table>> {
    let mut tables: BTreeMap<String, Table> = BTreeMap::new();
    let (texts, plain): (Vec<_>, Vec<_>) = parts.into_iter().partition(|(name, _)| name.contains('.'));
    for (name, parts) in plain {
        tables.insert(name, Table { parts, dictionaries: Vec::new() });
    }
    for (name, mut parts) in texts {
        if let Some((table, column)) = name.split_once('.')
            && let Some(table) = tables.get_mut(table)
        {
            table.dictionaries.push((column.to_owned(), Arc::new(Dictionary::new(parts.remove(0), lazy))));
        }
    }
    tables.into_iter().map(|(name, table)| (name, Arc::new(table))).collect()
}

/// A step, or the time between two of them: the moments from its begin to before its end.
#[derive(Default)]
struct Stretch {
    begin_ps: i64,
    end_ps: i64,
    step: i64,
    inside: bool,
}

impl Stretch {
    fn holds(&self, ts_ps: i64) -> bool {
        self.begin_ps <= ts_ps && ts_ps < self.end_ps
    }

    /// The one that a moment lies in.
    fn of(ts_ps: i64, begin_ps: &[i64], end_ps: &[i64], number: &[i64]) -> Stretch {
        let next = begin_ps.partition_point(|begin| *begin <= ts_ps);
        let last = next.checked_sub(1);
        match last.filter(|last| ts_ps < end_ps[*last]) {
            Some(last) => {
                Stretch { begin_ps: begin_ps[last], end_ps: end_ps[last], step: number[last], inside: true }
            }
            None => Stretch {
                begin_ps: last.map_or(i64::MIN, |last| end_ps[last]),
                end_ps: begin_ps.get(next).copied().unwrap_or(i64::MAX),
                step: 0,
                inside: false,
            },
        }
    }
}

/// Removes files of parts that no table uses any more.
fn forget(parts: &[Arc<Part>]) -> Result<()> {
    for file in parts.iter().filter_map(|part| part.file.as_ref()) {
        std::fs::remove_file(&file.path)?;
    }
    Ok(())
}

/// Our own error back from a stream.
fn own(error: ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(inner) => match inner.downcast::<Error>() {
            Ok(own) => *own,
            Err(other) => Error::new(Kind::Damaged, other.to_string()),
        },
        other => Error::new(Kind::Damaged, other.to_string()),
    }
}

fn value(column: &ArrayRef, i: usize) -> Value {
    if column.is_null(i) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Int64 => Value::I64(column.as_primitive::<Int64Type>().value(i)),
        DataType::Int32 => Value::I64(i64::from(column.as_primitive::<Int32Type>().value(i))),
        DataType::UInt64 => Value::U64(column.as_primitive::<UInt64Type>().value(i)),
        DataType::Float64 => Value::F64(column.as_primitive::<Float64Type>().value(i)),
        DataType::Boolean => Value::Bool(column.as_boolean().value(i)),
        DataType::Utf8 => Value::Text(column.as_string::<i32>().value(i).to_owned()),
        DataType::Utf8View => Value::Text(column.as_string_view().value(i).to_owned()),
        DataType::LargeUtf8 => Value::Text(column.as_string::<i64>().value(i).to_owned()),
        DataType::Dictionary(..) => {
            let column = column.as_dictionary::<Int32Type>();
            value(column.values(), column.keys().value(i) as usize)
        }
        _ => Value::Null,
    }
}
