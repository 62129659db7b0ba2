//! A table column by column and batch by batch, as it is held: for writers that keep codes and texts apart.

use crate::error::Result;
use crate::lazy_args::Dictionaries;
use crate::part::Access;
use crate::table::{Origin, Table};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, StringArray};
use arrow_schema::DataType;
use std::fs::File;
use std::sync::Arc;

/// A column of a batch as it is held: codes and their texts apart.
pub enum Raw {
    /// The numbers of the rows.
    Counted(std::ops::Range<i64>),
    /// Values.
    Values(ArrayRef),
    /// Codes, and the texts they stand for.
    Codes(arrow_array::Int32Array, ArrayRef),
    /// Stats, which become text piece by piece: all of it may be more than fits in memory.
    Stats(Stats),
}

/// Stats of a batch.
pub struct Stats {
    tracks: ArrayRef,
    kept: ArrayRef,
    names: Arc<Dictionaries>,
}

impl Stats {
    /// The texts from a row on, as many as fit into a batch, one at least.
    pub fn texts(&self, from: usize) -> Result<StringArray> {
        self.names.texts(&self.tracks, &self.kept, from)
    }
}

/// The columns of a table, any batch in any order from any thread; each is read and freed after use.
pub struct Columns {
    table: Arc<Table>,
    origins: Vec<(String, DataType, Origin)>,
    files: Vec<Option<File>>,
    firsts: Vec<i64>,
}

impl Table {
    /// The table column by column.
    pub fn raw(self: &Arc<Self>) -> Result<Columns> {
        let mut firsts = Vec::new();
        let mut first = 0;
        for batch in self.parts.first().map_or(&[][..], |part| &part.batches) {
            firsts.push(first);
            first += batch.rows as i64;
        }
        Ok(Columns {
            table: Arc::clone(self),
            origins: self.origins(),
            files: self
                .parts
                .iter()
                .map(|part| part.open())
                .collect::<Result<_>>()?,
            firsts,
        })
    }
}

impl Columns {
    /// Number of batches.
    pub fn batches(&self) -> usize {
        self.firsts.len()
    }

    /// Number of rows of a batch.
    pub fn rows(&self, batch: usize) -> usize {
        self.table.parts[0].batches[batch].rows
    }

    /// A column of a batch; none when the table has no such column.
    pub fn column(&self, batch: usize, name: &str) -> Result<Option<Raw>> {
        let Some((_, _, origin)) = self.origins.iter().find(|(there, _, _)| there == name) else {
            return Ok(None);
        };
        let stored = |part: usize, column: usize| {
            let access = self.files[part]
                .as_ref()
                .map_or(Access::Mapped, Access::Read);
            self.table.parts[part].array(batch, column, &access)
        };
        Ok(Some(match origin {
            Origin::Stats {
                part,
                column,
                tracks,
                names,
            } => Raw::Stats(Stats {
                tracks: stored(*part, *tracks)?,
                kept: stored(*part, *column)?,
                names: names.stats()?,
            }),
            Origin::Row => {
                let first = self.firsts[batch];
                Raw::Counted(first..first + self.rows(batch) as i64)
            }
            Origin::Stored {
                part,
                column,
                dictionary,
            } => {
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
