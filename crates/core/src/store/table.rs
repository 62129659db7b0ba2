//! A table as an Arrow stream: parts side by side, ids counted, codes joined with their texts.
//!
//! A little over 400 lines, with the texts of a column, which no other table has.

use crate::error::{Error, Kind, Result};
use crate::store::lazy_text::{self, Dictionaries, Lazy};
use crate::store::mapping;
use crate::store::part::{Access, BATCH_ROWS, Field, Part, Shape};
use crate::store::slices;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int64Array, LargeStringArray, RecordBatch, RecordBatchReader,
    StringArray,
};
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema, SchemaRef};
use std::fs::File;
use std::sync::{Arc, OnceLock};

/// The texts behind codes.
#[derive(Debug)]
pub struct Dictionary {
    texts: Arc<Part>,
    values: OnceLock<ArrayRef>,
    lazy: Vec<Lazy>,
    names: OnceLock<Arc<Dictionaries>>,
}

impl Dictionary {
    /// A dictionary whose texts are the only column of a part; or the names for args of one of these formats.
    pub fn new(texts: Arc<Part>, lazy: &[Lazy]) -> Dictionary {
        Dictionary { texts, values: OnceLock::new(), lazy: lazy.to_vec(), names: OnceLock::new() }
    }

    /// The names for args in the part; read once and kept.
    pub(crate) fn names(&self) -> Result<Arc<Dictionaries>> {
        if let Some(names) = self.names.get() {
            return Ok(Arc::clone(names));
        }
        let names = Arc::new(Dictionaries::read(&self.texts, &self.lazy)?);
        Ok(Arc::clone(self.names.get_or_init(|| names)))
    }

    /// The part with the texts.
    pub fn part(&self) -> &Arc<Part> {
        &self.texts
    }

    /// The type of a column of codes with their texts. Engines take in a dictionary anew with every
    /// batch; so one that is longer than a batch is not handed out, but the texts row by row.
    fn joined_type(&self) -> DataType {
        match self.value_type() {
            DataType::Utf8 if self.texts.rows() > slices::BATCH_ROWS as u64 => DataType::Utf8View,
            values => DataType::Dictionary(Box::new(DataType::Int32), Box::new(values)),
        }
    }

    /// A column of codes with their texts.
    fn join(&self, codes: &ArrayRef) -> Result<ArrayRef> {
        let codes = codes.as_primitive::<Int32Type>();
        let values = self.values()?;
        if self.joined_type() == DataType::Utf8View {
            return Ok(Arc::new(mapping::pick(codes, values.as_string::<i32>())?));
        }
        let joined = DictionaryArray::try_new(codes.clone(), values);
        Ok(Arc::new(joined.map_err(|error| Error::new(Kind::Damaged, error.to_string()))?))
    }

    /// The type of [`Dictionary::values`], known without reading them.
    fn value_type(&self) -> DataType {
        let bytes = |batch: &crate::store::part::Batch| {
            batch.columns.first().and_then(|column| column.buffers.last()).map_or(0, |place| match place {
                crate::store::part::Place::Memory(buffer) => buffer.len() as u64,
                crate::store::part::Place::File { bytes, .. } => *bytes,
            })
        };
        let total: u64 = self.texts.batches.iter().map(bytes).sum();
        if total > i32::MAX as u64 { DataType::LargeUtf8 } else { DataType::Utf8 }
    }

    /// All texts as one column; read once and kept.
    pub(crate) fn values(&self) -> Result<ArrayRef> {
        if let Some(values) = self.values.get() {
            return Ok(Arc::clone(values));
        }
        let mut arrays = Vec::new();
        for batch in 0..self.texts.batches.len() {
            arrays.push(self.texts.array(batch, 0, &Access::Mapped)?);
        }
        let values: ArrayRef = match arrays.len() {
            0 => Arc::new(StringArray::new_null(0)),
            1 => arrays.remove(0),
            _ => join(&arrays, self.value_type() == DataType::LargeUtf8),
        };
        Ok(Arc::clone(self.values.get_or_init(|| values)))
    }
}

/// Several columns of texts as one.
fn join(arrays: &[ArrayRef], large: bool) -> ArrayRef {
    let texts = || arrays.iter().flat_map(|array| array.as_string::<i32>().iter());
    if large {
        Arc::new(texts().collect::<LargeStringArray>())
    } else {
        Arc::new(texts().collect::<StringArray>())
    }
}

/// A table of a store.
#[derive(Debug)]
pub struct Table {
    /// Parts side by side; a column of a later part replaces an earlier one of the same name.
    pub parts: Vec<Arc<Part>>,
    /// Texts by the name of the column.
    pub dictionaries: Vec<(String, Arc<Dictionary>)>,
}

/// Where a column comes from.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// The number of the row.
    Row,
    /// A column of a part.
    Stored { part: usize, column: usize, dictionary: Option<Arc<Dictionary>> },
    /// A column of args that are still to become text, and the one with the tracks.
    Lazy { part: usize, column: usize, tracks: usize, names: Arc<Dictionary> },
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.parts.first().map_or(0, |part| part.rows())
    }

    /// The names of the columns.
    pub fn columns(&self) -> Vec<String> {
        self.origins().into_iter().map(|(name, _, _)| name).collect()
    }

    pub(crate) fn origins(&self) -> Vec<(String, DataType, Origin)> {
        let mut origins: Vec<(String, DataType, Origin)> = Vec::new();
        let counted = self.parts.iter().flat_map(|part| &part.fields).all(|field| field.name != "id");
        if counted {
            origins.push(("id".to_owned(), DataType::Int64, Origin::Row));
        }
        for (p, part) in self.parts.iter().enumerate() {
            for (column, field) in part.fields.iter().enumerate() {
                let dictionary = self.dictionary(field);
                let tracks = part.fields.iter().position(|field| field.name == "track_id");
                let (kind, origin) = match (field.shape, dictionary, tracks) {
                    (Shape::Lazy, Some(names), Some(tracks)) => {
                        let origin = Origin::Lazy { part: p, column, tracks, names };
                        (DataType::Utf8, origin)
                    }
                    (shape, dictionary, _) => {
                        let kind = match &dictionary {
                            Some(dictionary) => dictionary.joined_type(),
                            None => shape.stored_type(),
                        };
                        let origin = Origin::Stored { part: p, column, dictionary };
                        (kind, origin)
                    }
                };
                match origins.iter_mut().find(|(name, _, _)| *name == field.name) {
                    Some(there) => *there = (field.name.clone(), kind, origin),
                    None => origins.push((field.name.clone(), kind, origin)),
                }
            }
        }
        origins
    }

    fn dictionary(&self, field: &Field) -> Option<Arc<Dictionary>> {
        let named = self.dictionaries.iter().find(|(name, _)| *name == field.name);
        named
            .filter(|_| matches!(field.shape, Shape::Code | Shape::Lazy))
            .map(|(_, dictionary)| Arc::clone(dictionary))
    }

    /// The table as Arrow, of those columns in that order, or of all. Mapped: without copying, the file
    /// stays mapped as long as the store. Not mapped: each batch is read and freed after use.
    pub fn read(self: &Arc<Self>, columns: Option<&[String]>, mapped: bool) -> Result<Batches> {
        let mut origins = self.origins();
        if let Some(wanted) = columns {
            origins = wanted
                .iter()
                .map(|name| {
                    let at = origins.iter().position(|(there, _, _)| there == name);
                    at.map(|at| origins[at].clone())
                        .ok_or_else(|| Error::new(Kind::Io, format!("the table has no column {name}")))
                })
                .collect::<Result<_>>()?;
        }
        let fields: Vec<ArrowField> =
            origins.iter().map(|(name, kind, _)| ArrowField::new(name, kind.clone(), true)).collect();
        let files = if mapped {
            None
        } else {
            Some(self.parts.iter().map(|part| part.open()).collect::<Result<_>>()?)
        };
        Ok(Batches {
            table: Arc::clone(self),
            schema: Arc::new(Schema::new(fields)),
            origins: origins.into_iter().map(|(_, _, origin)| origin).collect(),
            files,
            batch: 0,
            row: 0,
            open: None,
        })
    }
}

/// The batches of a table, one after the other.
pub struct Batches {
    table: Arc<Table>,
    schema: SchemaRef,
    origins: Vec<Origin>,
    files: Option<Vec<Option<File>>>,
    batch: usize,
    row: i64,
    /// A batch whose texts are too long for one batch of the stream, and how far it was handed out.
    open: Option<(Vec<ArrayRef>, usize)>,
}

impl Batches {
    fn stored(&self, part: usize, column: usize) -> Result<ArrayRef> {
        let access = match self.files.as_ref().and_then(|files| files[part].as_ref()) {
            Some(file) => Access::Read(file),
            None => Access::Mapped,
        };
        self.table.parts[part].array(self.batch, column, &access)
    }

    /// The columns of the batch; lazy args are still as they are stored.
    fn read(&self, rows: usize) -> Result<Vec<ArrayRef>> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.origins.len());
        for origin in &self.origins {
            columns.push(match origin {
                Origin::Row => Arc::new(Int64Array::from_iter_values(self.row..self.row + rows as i64)),
                Origin::Lazy { part, column, .. } => self.stored(*part, *column)?,
                Origin::Stored { part, column, dictionary } => {
                    let array = self.stored(*part, *column)?;
                    match dictionary {
                        None => array,
                        Some(dictionary) => dictionary.join(&array)?,
                    }
                }
            });
        }
        Ok(columns)
    }

    /// Goes on with the next batch after one that cannot be read.
    fn fail(&mut self, error: Error) -> std::result::Result<RecordBatch, ArrowError> {
        let rows = self.table.parts.first().map(|part| &part.batches[self.batch].rows);
        self.row += rows.map_or(0, |rows| *rows as i64);
        self.batch += 1;
        Err(ArrowError::ExternalError(Box::new(error)))
    }

    /// The batch from row `from` on, or as much of it as one batch of the stream holds.
    fn hand_out(&mut self, columns: Vec<ArrayRef>, from: usize, rows: usize) -> Result<RecordBatch> {
        let mut to = rows;
        let mut texts = None;
        for (place, origin) in self.origins.iter().enumerate() {
            if let Origin::Lazy { part, tracks, names, .. } = origin {
                let tracks = self.stored(*part, *tracks)?;
                let found = names.names()?.texts(&tracks, &columns[place], from)?;
                to = from + found.len();
                texts = Some((place, found));
            }
        }
        let mut out = lazy_text::cut(&columns, from, to - from);
        if let Some((place, texts)) = texts {
            out[place] = Arc::new(texts);
        }
        if to < rows {
            self.open = Some((columns, to));
        } else {
            self.batch += 1;
            self.row += rows as i64;
        }
        RecordBatch::try_new(Arc::clone(&self.schema), out)
            .map_err(|error| Error::new(Kind::Damaged, error.to_string()))
    }
}

impl Iterator for Batches {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.table.parts.first()?.batches.get(self.batch)?.rows;
        let (columns, from) = match self.open.take() {
            Some(open) => open,
            None => match self.read(rows) {
                Ok(columns) => (columns, 0),
                Err(error) => return Some(self.fail(error)),
            },
        };
        match self.hand_out(columns, from, rows) {
            Ok(batch) => Some(Ok(batch)),
            Err(error) => Some(self.fail(error)),
        }
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// A part with a pool's texts in memory or a folder, in batches whose offsets fit.
pub fn write_texts(
    folder: Option<&std::path::Path>,
    name: &str,
    column: &str,
    pool: &crate::store::pool::Pool,
) -> Result<Part> {
    use crate::store::part_writer::{Column, PartWriter};
    const BATCH_BYTES: usize = 1 << 28;
    let mut writer = PartWriter::new(folder, name, vec![Field::new(column, Shape::Text)])?;
    let (text, ends) = pool.parts();
    let mut first = 0;
    let mut start = 0;
    while first < ends.len() {
        let most = &ends[first..ends.len().min(first + BATCH_ROWS)];
        let rows = most.partition_point(|end| end - start <= BATCH_BYTES).max(1);
        let end = most[rows - 1];
        if end - start > i32::MAX as usize {
            return Err(Error::new(Kind::Limit, format!("a name of {} bytes", end - start)));
        }
        let mut offsets = vec![0_i32];
        offsets.extend(most[..rows].iter().map(|end| (end - start) as i32));
        let data: &[&[u8]] = &[&text.as_bytes()[start..end]];
        writer.write(rows, &[Column::Text { valid: None, offsets: &offsets, data }])?;
        first += rows;
        start = end;
    }
    writer.finish()
}
