//! Tables that grow row by row: counters, tracks, graph nodes and the like.

use crate::columns::{Cell, Type};
use crate::error::{Error, Kind, Result};
use crate::store::bits::Bits;
use crate::store::part::{BATCH_ROWS, Field, Part, Shape};
use crate::store::part_writer::{Column, PartWriter};
use arrow_buffer::ToByteSlice;
use std::path::Path;

/// Text of one column from which on a batch is written, however few its rows.
const BATCH_TEXT_BYTES: usize = 32 << 20;

/// A growing column.
#[derive(Debug)]
struct Growing {
    shape: Shape,
    valid: Bits,
    /// Values as their 64 bits.
    words: Vec<u64>,
    /// Values of a column of truths.
    truths: Bits,
    offsets: Vec<i32>,
    text: Vec<u8>,
}

impl Growing {
    fn new(shape: Shape) -> Growing {
        Growing {
            shape,
            valid: Bits::default(),
            words: Vec::new(),
            truths: Bits::default(),
            offsets: vec![0],
            text: Vec::new(),
        }
    }

    fn push(&mut self, cell: &Cell<'_>) -> Result<()> {
        let word = match (self.shape, cell) {
            (_, Cell::Null) => 0,
            (Shape::I64, Cell::I64(value)) => *value as u64,
            (Shape::Bool, Cell::I64(value)) => *value as u64,
            (Shape::U64, Cell::U64(value)) => *value,
            (Shape::F64, Cell::F64(value)) => value.to_bits(),
            (Shape::Text, Cell::Text(text)) => {
                self.text.extend_from_slice(text.as_bytes());
                0
            }
            (shape, cell) => {
                return Err(Error::new(Kind::Io, format!("{cell:?} in a column of {shape:?}")));
            }
        };
        match self.shape {
            Shape::Text => {
                let end = i32::try_from(self.text.len())
                    .map_err(|_| Error::new(Kind::Limit, format!("a text of {} bytes", self.text.len())))?;
                self.offsets.push(end);
            }
            Shape::Bool => self.truths.push(word != 0),
            _ => self.words.push(word),
        }
        self.valid.push(*cell != Cell::Null);
        Ok(())
    }

    fn clear(&mut self) {
        self.valid.clear();
        self.truths.clear();
        self.words.clear();
        self.text.clear();
        self.offsets.truncate(1);
    }
}

/// A table that grows row by row and is written batch by batch.
pub struct Rows {
    columns: Vec<Growing>,
    part: PartWriter,
    pending: usize,
    rows: i64,
}

/// The shape in which a column of a decoder's table is held.
pub fn shape(kind: Type) -> Shape {
    match kind {
        Type::I64 => Shape::I64,
        Type::F64 => Shape::F64,
        Type::Text => Shape::Text,
    }
}

impl Rows {
    /// A table without rows, in the file `<name>.columns` of a folder or in memory.
    pub fn new(folder: Option<&Path>, name: &str, fields: Vec<Field>) -> Result<Rows> {
        let columns = fields.iter().map(|field| Growing::new(field.shape)).collect();
        Ok(Rows { columns, part: PartWriter::new(folder, name, fields)?, pending: 0, rows: 0 })
    }

    /// Adds a row, one cell for each column; truths are I64 0 and 1. Returns its number.
    pub fn push(&mut self, cells: &[Cell<'_>]) -> Result<i64> {
        if cells.len() != self.columns.len() {
            return Err(Error::new(
                Kind::Io,
                format!("{} cells for {} columns", cells.len(), self.columns.len()),
            ));
        }
        let fits = self.columns.iter().zip(cells).all(|(column, cell)| match cell {
            Cell::Text(text) => column.text.len() + text.len() <= BATCH_TEXT_BYTES,
            _ => true,
        });
        if self.pending == BATCH_ROWS || (!fits && self.pending > 0) {
            self.flush()?;
        }
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell)?;
        }
        self.pending += 1;
        self.rows += 1;
        Ok(self.rows - 1)
    }

    /// Number of rows so far.
    pub fn len(&self) -> i64 {
        self.rows
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Ends the batch.
    pub fn flush(&mut self) -> Result<()> {
        if self.pending == 0 {
            return Ok(());
        }
        let data: Vec<[&[u8]; 1]> = self.columns.iter().map(|column| [column.text.as_slice()]).collect();
        let columns: Vec<Column<'_>> = self
            .columns
            .iter()
            .zip(&data)
            .map(|(column, data)| match column.shape {
                _ if column.valid.all_null() => Column::Nulls,
                Shape::Text => Column::Text {
                    valid: column.valid.valid(),
                    offsets: &column.offsets,
                    data: data.as_slice(),
                },
                Shape::Bool => Column::Fixed { valid: column.valid.valid(), values: column.truths.bytes() },
                _ => Column::Fixed { valid: column.valid.valid(), values: column.words.to_byte_slice() },
            })
            .collect();
        self.part.write(self.pending, &columns)?;
        self.columns.iter_mut().for_each(Growing::clear);
        self.pending = 0;
        Ok(())
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Result<Part> {
        self.flush()?;
        self.part.finish()
    }
}
