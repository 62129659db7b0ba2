//! Columns of equal length in batches, in memory or in one file.
//!
//! The file is a heap of buffers ([`crate::store::heap`]); the store's index ([`crate::store::index`]) knows
//! place, length and hash of each. A buffer is compared with its hash before its first use, so a damaged file
//! ends in an error and opening a store costs nothing that grows with the rows.

use crate::error::{Error, Kind, Result};
use crate::input::at::FileExt;
use crate::store::mapping::{self, Mapped};
use crate::store::packing::{Packing, unpack};
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, Float64Array, Int32Array, Int64Array, UInt64Array};
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use xxhash_rust::xxh3::xxh3_64;

/// Most rows of a batch: a row group of DuckDB.
pub const BATCH_ROWS: usize = 122_880;

/// How a column is held. `Code` is an int32 into a dictionary beside the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Shape {
    I32,
    I64,
    U64,
    F64,
    Bool,
    Text,
    Code,
    /// Args as a decoder found them; read as text ([`crate::store::lazy_text`]).
    Lazy,
}

impl Shape {
    /// All shapes, in the order of their numbers in the index.
    pub const ALL: [Shape; 8] =
        [Shape::I32, Shape::I64, Shape::U64, Shape::F64, Shape::Bool, Shape::Text, Shape::Code, Shape::Lazy];

    /// The Arrow type of its values.
    pub fn stored_type(self) -> DataType {
        match self {
            Shape::I32 | Shape::Code => DataType::Int32,
            Shape::I64 => DataType::Int64,
            Shape::U64 => DataType::UInt64,
            Shape::F64 => DataType::Float64,
            Shape::Bool => DataType::Boolean,
            Shape::Text => DataType::Utf8,
            Shape::Lazy => DataType::Binary,
        }
    }

    /// Bytes of the first buffer after the validity for so many rows.
    pub fn bytes(self, rows: usize) -> usize {
        match self {
            Shape::I32 | Shape::Code => rows * 4,
            Shape::I64 | Shape::U64 | Shape::F64 => rows * 8,
            Shape::Bool => rows.div_ceil(8),
            Shape::Text | Shape::Lazy => (rows + 1) * 4,
        }
    }

    /// True for values of any length: offsets and bytes.
    pub fn is_long(self) -> bool {
        matches!(self, Shape::Text | Shape::Lazy)
    }
}

/// Name and shape of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Name in SQL.
    pub name: String,
    /// How it is held.
    pub shape: Shape,
}

impl Field {
    /// A column.
    pub fn new(name: &str, shape: Shape) -> Field {
        Field { name: name.to_owned(), shape }
    }
}

/// A batch that was written.
#[derive(Debug)]
pub struct Batch {
    /// Number of rows, at most [`BATCH_ROWS`].
    pub rows: usize,
    /// One for each field.
    pub columns: Vec<Stored>,
}

/// A column that was written: validity if there are NULLs, then values, or offsets and the text in one
/// or several stretches. Without buffers every row is NULL.
#[derive(Debug)]
pub struct Stored {
    /// Number of NULLs.
    pub nulls: usize,
    /// How the values are written.
    pub packing: Packing,
    /// Where the bytes are.
    pub buffers: Vec<Place>,
}

/// Where the bytes of a buffer are.
#[derive(Debug)]
pub enum Place {
    /// In memory.
    Memory(Buffer),
    /// In the file of the part.
    File {
        /// Where they begin.
        offset: u64,
        /// How many there are.
        bytes: u64,
        /// Their xxh3-64.
        hash: u64,
        /// Whether the mapped bytes were compared with the hash.
        checked: AtomicBool,
    },
}

impl Place {
    /// How many bytes there are.
    pub fn bytes(&self) -> u64 {
        match self {
            Place::Memory(buffer) => buffer.len() as u64,
            Place::File { bytes, .. } => *bytes,
        }
    }
}

/// A finished file of a store.
#[derive(Debug)]
pub struct StoredFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    map: OnceLock<Mapped>,
}

impl StoredFile {
    /// A file that is there with that size.
    pub fn new(path: PathBuf, bytes: u64) -> Self {
        StoredFile { path, bytes, map: OnceLock::new() }
    }

    fn mapped(&self) -> Result<&Mapped> {
        if let Some(map) = self.map.get() {
            return Ok(map);
        }
        let map = mapping::map(&self.path, self.bytes)?;
        Ok(self.map.get_or_init(|| map))
    }
}

/// Columns of equal length, in batches.
#[derive(Debug)]
pub struct Part {
    /// Names and shapes of the columns.
    pub fields: Vec<Field>,
    /// The rows.
    pub batches: Vec<Batch>,
    /// Where they are, if not in memory.
    pub file: Option<StoredFile>,
}

/// How the bytes of stored buffers are got.
pub enum Access<'a> {
    /// Memory-mapped.
    Mapped,
    /// Read from the open file of the part, and freed after use.
    Read(&'a File),
}

impl Part {
    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.batches.iter().map(|batch| batch.rows as u64).sum()
    }

    /// The place of a column.
    pub fn column(&self, name: &str) -> Result<usize> {
        let found = self.fields.iter().position(|field| field.name == name);
        found.ok_or_else(|| Error::new(Kind::Damaged, format!("rows without {name}")))
    }

    /// Opens the file for [`Access::Read`].
    pub fn open(&self) -> Result<Option<File>> {
        self.file.as_ref().map_or(Ok(None), |file| Ok(Some(File::open(&file.path)?)))
    }

    /// One column of one batch. Columns of codes come as int32.
    pub fn array(&self, batch: usize, column: usize, access: &Access<'_>) -> Result<ArrayRef> {
        let shape = self.fields[column].shape;
        let batch = &self.batches[batch];
        let stored = &batch.columns[column];
        let rows = batch.rows;
        if stored.buffers.is_empty() {
            let nulls = NullBuffer::new(BooleanBuffer::new(zeros(rows.div_ceil(8)), 0, rows));
            return build(
                shape,
                rows,
                Some(nulls),
                zeros(shape.bytes(rows)),
                Buffer::from_vec(Vec::<u8>::new()),
            );
        }
        let mut buffers = stored.buffers.iter().map(|place| self.bytes(place, access));
        let mut next = || buffers.next().unwrap_or_else(|| Err(damaged("a column lacks a buffer")));
        let nulls = if stored.nulls > 0 {
            let bits = next()?;
            if bits.len() * 8 < rows {
                return Err(damaged("a validity buffer is too short"));
            }
            Some(NullBuffer::new(BooleanBuffer::new(bits, 0, rows)))
        } else {
            None
        };
        let mut values = next()?;
        if stored.packing != Packing::PLAIN {
            values = unpack(shape, stored.packing, rows, &values)?;
        }
        let text = if shape.is_long() {
            let places = &stored.buffers[1 + usize::from(stored.nulls > 0)..];
            match places {
                [_] => next()?,
                many => join(many.iter().map(Place::bytes).sum(), buffers)?,
            }
        } else {
            Buffer::from_vec(Vec::<u8>::new())
        };
        build(shape, rows, nulls, values, text)
    }

    fn bytes(&self, place: &Place, access: &Access<'_>) -> Result<Buffer> {
        let (offset, bytes, hash, checked) = match place {
            Place::Memory(buffer) => return Ok(buffer.clone()),
            Place::File { offset, bytes, hash, checked } => (*offset, *bytes, *hash, checked),
        };
        let file = self.file.as_ref().ok_or_else(|| damaged("a part without its file"))?;
        let buffer = match access {
            Access::Mapped => {
                let all = &file.mapped()?.bytes;
                if offset.checked_add(bytes).is_none_or(|end| end > all.len() as u64) {
                    return Err(damaged("a buffer lies outside its file"));
                }
                all.slice_with_length(offset as usize, bytes as usize)
            }
            Access::Read(open) => {
                let mut buffer = MutableBuffer::from_len_zeroed(bytes as usize);
                open.read_exact_at(buffer.as_slice_mut(), offset).map_err(|error| {
                    Error::new(Kind::Damaged, format!("{}: {error}", file.path.display()))
                })?;
                buffer.into()
            }
        };
        // A mapped buffer stays what it was found to be; one that is read anew is checked anew.
        let known = matches!(access, Access::Mapped) && checked.load(Ordering::Relaxed);
        if !known {
            if xxh3_64(&buffer) != hash {
                return Err(Error::at(
                    Kind::Damaged,
                    offset,
                    format!("{} does not hold what was written", file.path.display()),
                ));
            }
            checked.store(true, Ordering::Relaxed);
        }
        if matches!(access, Access::Mapped) {
            file.mapped()?.check()?;
        }
        Ok(buffer)
    }
}

/// The stretches of a text, put together.
fn join(bytes: u64, stretches: impl Iterator<Item = Result<Buffer>>) -> Result<Buffer> {
    let mut text = Vec::with_capacity(bytes as usize);
    for stretch in stretches {
        text.extend_from_slice(&stretch?);
    }
    Ok(Buffer::from_vec(text))
}

fn damaged(seen: &str) -> Error {
    Error::new(Kind::Damaged, seen)
}

/// Zeros, shared by all columns that hold nothing.
fn zeros(bytes: usize) -> Buffer {
    static ZEROS: OnceLock<Buffer> = OnceLock::new();
    ZEROS
        .get_or_init(|| MutableBuffer::from_len_zeroed((BATCH_ROWS + 1) * 8).into())
        .slice_with_length(0, bytes)
}

fn build(
    shape: Shape,
    rows: usize,
    nulls: Option<NullBuffer>,
    values: Buffer,
    text: Buffer,
) -> Result<ArrayRef> {
    if values.len() < shape.bytes(rows) {
        return Err(damaged("a column is too short"));
    }
    if !(values.as_ptr() as usize).is_multiple_of(8) {
        return Err(damaged("a column is not aligned"));
    }
    let array: ArrayRef = match shape {
        Shape::I32 | Shape::Code => Arc::new(Int32Array::new(ScalarBuffer::new(values, 0, rows), nulls)),
        Shape::I64 => Arc::new(Int64Array::new(ScalarBuffer::new(values, 0, rows), nulls)),
        Shape::U64 => Arc::new(UInt64Array::new(ScalarBuffer::new(values, 0, rows), nulls)),
        Shape::F64 => Arc::new(Float64Array::new(ScalarBuffer::new(values, 0, rows), nulls)),
        Shape::Bool => Arc::new(BooleanArray::new(BooleanBuffer::new(values, 0, rows), nulls)),
        Shape::Text | Shape::Lazy => {
            let offsets = ScalarBuffer::<i32>::new(values, 0, rows + 1);
            let rising = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
            if offsets[0] < 0 || !rising {
                return Err(damaged("offsets of texts fall"));
            }
            let offsets = OffsetBuffer::new(offsets);
            if shape == Shape::Lazy {
                let found = BinaryArray::try_new(offsets, text, nulls);
                return Ok(Arc::new(found.map_err(|error| damaged(&error.to_string()))?));
            }
            Arc::new(mapping::texts(offsets, text, nulls)?)
        }
    };
    Ok(array)
}
