//! Writes a part batch by batch, into memory or into its file.

use crate::error::{Error, Kind, Result};
use crate::ipc::IpcFile;
use crate::part::{Batch, Field, Part, Place, Shape, Stored, StoredFile};
use arrow_buffer::Buffer;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

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
    file: Option<IpcFile>,
}

impl PartWriter {
    /// A part in the file `<name>.arrow` of a folder, or in memory.
    pub fn new(folder: Option<&Path>, name: &str, fields: Vec<Field>) -> Result<PartWriter> {
        let file = match folder {
            Some(folder) => Some(IpcFile::create(
                folder.join(format!("{name}.arrow")),
                &fields,
            )?),
            None => None,
        };
        Ok(PartWriter {
            fields,
            batches: Vec::new(),
            file,
        })
    }

    /// Writes a batch of 1 to [`BATCH_ROWS`] rows. Texts must be UTF-8, each by itself; stats, which
    /// come as [`Column::Text`] as well, may be any bytes.
    pub fn write(&mut self, rows: usize, columns: &[Column<'_>]) -> Result<()> {
        for (field, column) in self.fields.iter().zip(columns) {
            if let Column::Text { offsets, data, .. } = column
                && field.shape == Shape::Text
            {
                check_texts(offsets, data)?;
            }
        }
        let columns = match &mut self.file {
            Some(file) => file.write(rows, &self.fields, columns)?,
            None => columns.iter().map(keep).collect(),
        };
        self.batches.push(Batch { rows, columns });
        Ok(())
    }

    /// Changes values of an int64 column without NULLs: pairs of row within the batch and value.
    pub fn patch(&mut self, batch: usize, column: usize, values: &[(usize, i64)]) -> Result<()> {
        let place = &mut self.batches[batch].columns[column].buffers[0];
        let mut bytes = match place {
            Place::Memory(buffer) => buffer.to_vec(),
            Place::File { offset, bytes, .. } => {
                let file = self
                    .file
                    .as_ref()
                    .ok_or_else(|| Error::new(Kind::Io, "a part without its file"))?;
                file.read(*offset, *bytes as usize)?
            }
        };
        for (row, value) in values {
            bytes[row * 8..row * 8 + 8].copy_from_slice(&value.to_le_bytes());
        }
        match place {
            Place::Memory(buffer) => *buffer = Buffer::from_slice_ref(&bytes),
            Place::File { offset, hash, .. } => {
                let file = self
                    .file
                    .as_ref()
                    .ok_or_else(|| Error::new(Kind::Io, "a part without its file"))?;
                file.overwrite(*offset, &bytes)?;
                *hash = xxh3_64(&bytes);
            }
        }
        Ok(())
    }

    /// Ends the file.
    pub fn finish(self) -> Result<Part> {
        let file = match self.file {
            Some(file) => {
                let (path, bytes) = file.finish(&self.fields)?;
                Some(StoredFile::new(path, bytes))
            }
            None => None,
        };
        Ok(Part {
            fields: self.fields,
            batches: self.batches,
            file,
        })
    }
}

/// Texts are handed to others as UTF-8 without another look, so this is the look.
fn check_texts(offsets: &[i32], data: &[&[u8]]) -> Result<()> {
    let mut start = 0_usize;
    let mut row = 0_usize;
    for stretch in data {
        let end = start + stretch.len();
        if !stretch.is_ascii() {
            let text = std::str::from_utf8(stretch).map_err(|error| {
                Error::new(Kind::Damaged, format!("a decoder gave bad text: {error}"))
            })?;
            while row < offsets.len() && (offsets[row] as usize) < end {
                let at = offsets[row] as usize;
                if at >= start && !text.is_char_boundary(at - start) {
                    return Err(Error::new(
                        Kind::Damaged,
                        "a decoder cut a text within a character",
                    ));
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

/// A copy of a column in memory.
fn keep(column: &Column<'_>) -> Stored {
    let memory = |bytes: &[u8]| Place::Memory(Buffer::from_slice_ref(bytes));
    let mut buffers = Vec::new();
    let mut nulls = 0;
    if let Column::Fixed {
        valid: Some(valid), ..
    }
    | Column::Text {
        valid: Some(valid), ..
    } = column
    {
        buffers.push(memory(valid.bits));
        nulls = valid.nulls;
    }
    match column {
        Column::Nulls => {}
        Column::Fixed { values, .. } => buffers.push(memory(values)),
        Column::Text { offsets, data, .. } => {
            buffers.push(memory(arrow_buffer::ToByteSlice::to_byte_slice(*offsets)));
            let mut text = Vec::with_capacity(data.iter().map(|stretch| stretch.len()).sum());
            data.iter()
                .for_each(|stretch| text.extend_from_slice(stretch));
            buffers.push(Place::Memory(Buffer::from_vec(text)));
        }
    }
    Stored { nulls, buffers }
}
