//! A table column by column, as it is held: for writers that keep codes and texts apart.
//!
//! Batches are as small as decoding likes them. A writer is handed several as one group: what reads its file
//! wants long ones.

use crate::error::{Error, Kind, Result};
use crate::store::lazy_text::Dictionaries;
use crate::store::part::{Access, BATCH_ROWS, Batch, Part};
use crate::store::table::{Origin, Table};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, StringArray, make_array};
use arrow_data::transform::MutableArrayData;
use arrow_schema::DataType;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

/// A group does not grow beyond this in memory; a batch may be longer.
const GROUP_BYTES: u64 = 64 << 20;

/// A column of a group as it is held: codes and their texts apart.
pub enum Raw {
    /// The numbers of the rows.
    Counted(Range<i64>),
    /// Values.
    Values(ArrayRef),
    /// Codes, and the texts behind them.
    Codes(arrow_array::Int32Array, ArrayRef),
    /// Args that become text piece by piece: all of it may be more than fits in memory.
    Lazy(LazyTexts),
}

/// Lazy args of a group.
pub struct LazyTexts {
    tracks: ArrayRef,
    kept: ArrayRef,
    names: Arc<Dictionaries>,
}

impl LazyTexts {
    /// The texts from a row on, as many as fit into a batch, one at least.
    pub fn texts(&self, from: usize) -> Result<StringArray> {
        self.names.texts(&self.tracks, &self.kept, from)
    }
}

/// The columns of a table, any group in any order from any thread; each is read and freed after use.
pub struct Columns {
    table: Arc<Table>,
    origins: Vec<(String, DataType, Origin)>,
    files: Vec<Option<File>>,
    groups: Vec<Group>,
}

/// Batches that follow each other.
struct Group {
    batches: Range<usize>,
    rows: usize,
    /// Number of the first row.
    first: i64,
}

/// As many batches at a time as make a row group of DuckDB.
fn groups(batches: &[Batch]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let (mut first, mut bytes) = (0, 0);
    for (number, batch) in batches.iter().enumerate() {
        let places = batch.columns.iter().flat_map(|column| &column.buffers);
        let own: u64 = places.map(|place| place.bytes()).sum();
        bytes += own;
        match groups.last_mut() {
            Some(group) if group.rows + batch.rows <= BATCH_ROWS && bytes <= GROUP_BYTES => {
                group.batches.end = number + 1;
                group.rows += batch.rows;
            }
            _ => {
                bytes = own;
                groups.push(Group { batches: number..number + 1, rows: batch.rows, first });
            }
        }
        first += batch.rows as i64;
    }
    groups
}

impl Table {
    /// The table column by column.
    pub fn raw(self: &Arc<Self>) -> Result<Columns> {
        let batches = self.parts.first().map_or(&[][..], |part| &part.batches);
        Ok(Columns {
            table: Arc::clone(self),
            origins: self.origins(),
            files: self.parts.iter().map(|part| part.open()).collect::<Result<_>>()?,
            groups: groups(batches),
        })
    }
}

impl Columns {
    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Number of rows of a group.
    pub fn rows(&self, group: usize) -> usize {
        self.groups[group].rows
    }

    /// A column of a group; none when the table has no such column.
    pub fn column(&self, group: usize, name: &str) -> Result<Option<Raw>> {
        let group = &self.groups[group];
        let Some((_, _, origin)) = self.origins.iter().find(|(there, _, _)| there == name) else {
            return Ok(None);
        };
        let stored = |part: usize, column: usize| {
            let access = self.files[part].as_ref().map_or(Access::Mapped, Access::Read);
            together(&self.table.parts[part], group, column, &access)
        };
        Ok(Some(match origin {
            Origin::Lazy { part, column, tracks, names } => Raw::Lazy(LazyTexts {
                tracks: stored(*part, *tracks)?,
                kept: stored(*part, *column)?,
                names: names.names()?,
            }),
            Origin::Row => Raw::Counted(group.first..group.first + group.rows as i64),
            Origin::Stored { part, column, dictionary } => {
                let array = stored(*part, *column)?;
                match dictionary {
                    None => Raw::Values(array),
                    Some(dictionary) => {
                        let codes = array.as_primitive::<Int32Type>().clone();
                        Raw::Codes(codes, dictionary.values()?)
                    }
                }
            }
        }))
    }
}

/// A column of all batches of a group.
fn together(part: &Part, group: &Group, column: usize, access: &Access<'_>) -> Result<ArrayRef> {
    let batches = group.batches.clone();
    let arrays: Vec<ArrayRef> =
        batches.map(|batch| part.array(batch, column, access)).collect::<Result<_>>()?;
    if let [only] = arrays.as_slice() {
        return Ok(Arc::clone(only));
    }
    let arrays: Vec<_> = arrays.iter().map(|array| array.to_data()).collect();
    let mut joined = MutableArrayData::new(arrays.iter().collect(), false, group.rows);
    for (number, array) in arrays.iter().enumerate() {
        joined
            .try_extend(number, 0, array.len())
            .map_err(|error| Error::new(Kind::Limit, error.to_string()))?;
    }
    Ok(make_array(joined.freeze()))
}
