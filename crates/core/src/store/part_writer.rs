//! Writes a part batch by batch, into memory or into its file; in memory as packed as in a file.

use crate::error::{Error, Kind, Result};
use crate::store::arena::Arena;
use crate::store::heap::Heap;
use crate::store::packing::{Packing, expand, pack};
use crate::store::part::{Batch, Field, Part, Place, Shape, Stored, StoredFile};
use arrow_buffer::ToByteSlice;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A column of a batch to be written.
#[derive(Clone, Copy)]
pub enum Column<'a> {
    /// NULL in every row; takes no room.
    Nulls,
    /// Everything but texts.
    Fixed {
        /// Absent when no row is NULL.
        valid: Option<Valid<'a>>,
        /// The values as they lie in memory.
        values: &'a [u8],
    },
    /// Texts: offsets from 0, and the text in any number of stretches.
    Text {
        /// Absent when no row is NULL.
        valid: Option<Valid<'a>>,
        /// Where each text begins, and where the last ends.
        offsets: &'a [i32],
        /// The text.
        data: &'a [&'a [u8]],
    },
    /// Texts of which some may have been written before, and checked; for a [`Heap`] or memory.
    Placed {
        /// Absent when no row is NULL.
        valid: Option<Valid<'a>>,
        /// Where each text begins, and where the last ends.
        offsets: &'a [i32],
        /// The text.
        data: &'a [Stretch<'a>],
    },
}

/// A stretch of the text of a column.
#[derive(Clone, Copy)]
pub enum Stretch<'a> {
    /// To be written; UTF-8.
    Bytes(&'a [u8]),
    /// Written before.
    There {
        /// Where it begins in the heap.
        offset: u64,
        /// How many bytes.
        bytes: u64,
        /// Their xxh3-64.
        hash: u64,
    },
}

/// Which rows are not NULL, one bit each.
#[derive(Clone, Copy)]
pub struct Valid<'a> {
    /// The bits, lowest first.
    pub bits: &'a [u8],
    /// Number of NULLs, at least 1.
    pub nulls: usize,
}

/// Writes a part batch by batch.
pub struct PartWriter {
    fields: Vec<Field>,
    batches: Vec<Batch>,
    heap: Option<Arc<Heap>>,
    scratch: Vec<u8>,
}

impl PartWriter {
    /// A part in the file `<name>.columns` of a folder, or in memory.
    pub fn new(folder: Option<&Path>, name: &str, fields: Vec<Field>) -> Result<PartWriter> {
        let heap = match folder {
            Some(folder) => Some(Arc::new(Heap::create(folder.join(format!("{name}.columns")))?)),
            None => None,
        };
        Ok(PartWriter::in_heap(heap, fields))
    }

    /// A part in a heap, or in memory.
    pub fn in_heap(heap: Option<Arc<Heap>>, fields: Vec<Field>) -> PartWriter {
        PartWriter { fields, batches: Vec::new(), heap, scratch: Vec::new() }
    }

    /// Writes a batch of 1 to [`BATCH_ROWS`] rows. Texts must be UTF-8, each by itself; stats, which
    /// come as texts as well, may be any bytes.
    pub fn write(&mut self, rows: usize, columns: &[Column<'_>]) -> Result<()> {
        for (field, column) in self.fields.iter().zip(columns) {
            match column {
                _ if field.shape != Shape::Text => {}
                Column::Text { offsets, data, .. } => {
                    check_texts(offsets, data.iter().map(|bytes| Stretch::Bytes(bytes)))?;
                }
                Column::Placed { offsets, data, .. } => {
                    check_texts(offsets, data.iter().copied())?;
                }
                Column::Nulls | Column::Fixed { .. } => {}
            }
        }
        let columns = match &self.heap {
            Some(heap) => columns
                .iter()
                .zip(&self.fields)
                .map(|(column, field)| store(heap, rows, field.shape, column, &mut self.scratch))
                .collect::<Result<_>>()?,
            None => keep(rows, &self.fields, columns, &mut self.scratch)?,
        };
        self.batches.push(Batch { rows, columns });
        Ok(())
    }

    /// Writes a column that a batch was written without, with NULL in every row in its stead.
    pub fn fill(&mut self, batch: usize, at: usize, column: &Column<'_>) -> Result<()> {
        let batch = &mut self.batches[batch];
        let field = &self.fields[at];
        batch.columns[at] = match &self.heap {
            Some(heap) => store(heap, batch.rows, field.shape, column, &mut self.scratch)?,
            None => {
                let field = std::slice::from_ref(field);
                let column = std::slice::from_ref(column);
                keep(batch.rows, field, column, &mut self.scratch)?.remove(0)
            }
        };
        Ok(())
    }

    /// Changes values of an int64 column without NULLs. `values`: pairs of row within the batch and value.
    pub fn patch(&mut self, number: usize, at: usize, values: &[(usize, i64)]) -> Result<()> {
        let batch = &self.batches[number];
        let stored = &batch.columns[at];
        let written = match (&stored.buffers[0], &self.heap) {
            (Place::Memory(buffer), _) => buffer.to_vec(),
            (Place::File { offset, bytes, .. }, Some(heap)) => {
                let mut written = vec![0; *bytes as usize];
                heap.read(*offset, &mut written)?;
                written
            }
            (Place::File { .. }, None) => {
                return Err(Error::new(Kind::Io, "a part without its file"));
            }
        };
        let mut all = expand(stored.packing, batch.rows, &written)?;
        for (row, value) in values {
            all[*row] = *value;
        }
        let column = Column::Fixed { valid: None, values: all.to_byte_slice() };
        // What was written stays as a hole: it is rare, and the new values may need more room.
        self.fill(number, at, &column)
    }

    /// Ends the file.
    pub fn finish(self) -> Result<Part> {
        let file = match self.heap {
            Some(heap) => {
                let (path, bytes) = heap.finish()?;
                Some(StoredFile::new(path, bytes))
            }
            None => None,
        };
        Ok(Part { fields: self.fields, batches: self.batches, file })
    }
}

/// Writes a column into a heap.
fn store(
    heap: &Heap,
    rows: usize,
    shape: Shape,
    column: &Column<'_>,
    scratch: &mut Vec<u8>,
) -> Result<Stored> {
    let mut packing = Packing::PLAIN;
    let (nulls, mut buffers) = match column {
        Column::Nulls => (rows, Vec::new()),
        Column::Fixed { valid, .. } | Column::Text { valid, .. } | Column::Placed { valid, .. } => {
            match valid {
                Some(valid) => (valid.nulls, vec![heap.put(&[valid.bits])?]),
                None => (0, Vec::new()),
            }
        }
    };
    match column {
        Column::Nulls => {}
        Column::Fixed { valid, values } => {
            packing = pack(shape, valid.map(|valid| valid.bits), values, scratch);
            let bytes = if packing == Packing::PLAIN { values } else { scratch.as_slice() };
            buffers.push(heap.put(&[bytes])?);
        }
        Column::Text { offsets, data, .. } => {
            buffers.push(heap.put(&[offsets.to_byte_slice()])?);
            buffers.push(heap.put(data)?);
        }
        Column::Placed { offsets, data, .. } => {
            buffers.push(heap.put(&[offsets.to_byte_slice()])?);
            for stretch in *data {
                buffers.push(match stretch {
                    Stretch::Bytes(bytes) => heap.put(&[bytes])?,
                    Stretch::There { offset, bytes, hash } => Place::file(*offset, *bytes, *hash),
                });
            }
        }
    }
    Ok(Stored { nulls, packing, buffers })
}

/// Texts are handed to others as UTF-8 without another look, so this is the look.
pub fn check_texts<'a>(offsets: &[i32], data: impl IntoIterator<Item = Stretch<'a>>) -> Result<()> {
    let mut start = 0_usize;
    let mut row = 0_usize;
    for stretch in data {
        let stretch = match stretch {
            Stretch::Bytes(stretch) => stretch,
            Stretch::There { bytes, .. } => {
                start += bytes as usize;
                row += offsets[row..].partition_point(|offset| (*offset as usize) < start);
                continue;
            }
        };
        let end = start + stretch.len();
        if !stretch.is_ascii() {
            let text = std::str::from_utf8(stretch)
                .map_err(|error| Error::new(Kind::Damaged, format!("a decoder gave bad text: {error}")))?;
            while row < offsets.len() && (offsets[row] as usize) < end {
                let at = offsets[row] as usize;
                if at >= start && !text.is_char_boundary(at - start) {
                    return Err(Error::new(Kind::Damaged, "a decoder cut a text within a character"));
                }
                row += 1;
            }
        } else {
            row += offsets[row..].partition_point(|offset| (*offset as usize) < end);
        }
        start = end;
    }
    Ok(())
}

/// Copies columns into memory, packed as in a file.
fn keep(rows: usize, fields: &[Field], columns: &[Column<'_>], scratch: &mut Vec<u8>) -> Result<Vec<Stored>> {
    let (mut most, mut buffers) = (0, 0);
    for column in columns {
        let (valid, bytes) = match column {
            Column::Nulls => continue,
            Column::Fixed { valid, values } => (valid, values.len()),
            Column::Text { valid, offsets, .. } | Column::Placed { valid, offsets, .. } => {
                let text = offsets.last().map_or(0, |end| *end as usize);
                (valid, size_of_val(*offsets) + text)
            }
        };
        most += bytes + valid.map_or(0, |valid| valid.bits.len());
        buffers += 3;
    }
    let mut arena = Arena::new(most, buffers)?;
    let kept: Vec<_> = columns
        .iter()
        .zip(fields)
        .map(|(column, field)| keep_one(&mut arena, rows, field.shape, column, scratch))
        .collect();
    let memory = arena.finish();
    let stored = kept.into_iter().map(|(nulls, packing, places)| Stored {
        nulls,
        packing,
        buffers: places
            .into_iter()
            .map(|place| Place::Memory(memory.slice_with_length(place.start, place.len())))
            .collect(),
    });
    Ok(stored.collect())
}

/// Copies a column into memory: number of NULLs, how the values are written, where the buffers are.
fn keep_one(
    arena: &mut Arena,
    rows: usize,
    shape: Shape,
    column: &Column<'_>,
    scratch: &mut Vec<u8>,
) -> (usize, Packing, Vec<Range<usize>>) {
    let mut packing = Packing::PLAIN;
    let (nulls, mut places) = match column {
        Column::Nulls => (rows, Vec::new()),
        Column::Fixed { valid, .. } | Column::Text { valid, .. } | Column::Placed { valid, .. } => {
            match valid {
                Some(valid) => (valid.nulls, vec![arena.put([valid.bits])]),
                None => (0, Vec::new()),
            }
        }
    };
    match column {
        Column::Nulls => {}
        Column::Fixed { valid, values } => {
            packing = pack(shape, valid.map(|valid| valid.bits), values, scratch);
            places.push(arena.put([if packing == Packing::PLAIN { values } else { scratch.as_slice() }]));
        }
        Column::Text { offsets, data, .. } => {
            places.push(arena.put([offsets.to_byte_slice()]));
            places.push(arena.put(data.iter().copied()));
        }
        Column::Placed { offsets, data, .. } => {
            places.push(arena.put([offsets.to_byte_slice()]));
            places.push(arena.put(data.iter().map(|stretch| match stretch {
                Stretch::Bytes(bytes) => *bytes,
                Stretch::There { .. } => &[],
            })));
        }
    }
    (nulls, packing, places)
}
