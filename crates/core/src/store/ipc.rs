//! Writes the Arrow IPC file format (https://arrow.apache.org/docs/format/Columnar.html): buffers go
//! from where they are straight to the file, and each is hashed while it is hot.
//!
//! Columns that hold nothing but NULL share one stretch of zeros at the end of their batch, which is
//! never written: a hole in the file.

use crate::error::Result;
use crate::store::heap::hash;
use crate::store::packing::Packing;
use crate::store::part::{Field, Place, Stored};
use crate::store::part_writer::Column;
use arrow_buffer::ToByteSlice;
use arrow_ipc::convert::IpcSchemaEncoder;
use arrow_ipc::{
    Block, Buffer as FlatBuffer, FieldNode, Footer, FooterArgs, Message, MessageArgs,
    MessageHeader, MetadataVersion, RecordBatch, RecordBatchArgs,
};
use arrow_schema::{Field as ArrowField, Schema};
use flatbuffers::FlatBufferBuilder;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

const MAGIC: &[u8; 6] = b"ARROW1";
const ALIGN: u64 = 64;

/// An Arrow IPC file being written.
pub struct IpcFile {
    file: File,
    path: PathBuf,
    at: u64,
    blocks: Vec<Block>,
}

fn schema(fields: &[Field]) -> Schema {
    let fields: Vec<ArrowField> = fields
        .iter()
        .map(|field| ArrowField::new(&field.name, field.shape.stored_type(), true))
        .collect();
    Schema::new(fields)
}

/// Where the next buffer goes: aligned, so that engines may read it in place.
fn aligned(at: u64) -> u64 {
    at.next_multiple_of(ALIGN)
}

impl IpcFile {
    /// Creates the file, which must not be there, and writes the schema.
    pub fn create(path: PathBuf, fields: &[Field]) -> Result<IpcFile> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)?;
        let mut this = IpcFile {
            file,
            path,
            at: 8,
            blocks: Vec::new(),
        };
        this.file.write_all_at(b"ARROW1\0\0", 0)?;
        let mut builder = FlatBufferBuilder::new();
        let header = IpcSchemaEncoder::new().schema_to_fb_offset(&mut builder, &schema(fields));
        let message = Message::create(
            &mut builder,
            &MessageArgs {
                version: MetadataVersion::V5,
                header_type: MessageHeader::Schema,
                header: Some(header.as_union_value()),
                bodyLength: 0,
                custom_metadata: None,
            },
        );
        builder.finish(message, None);
        this.message(builder.finished_data())?;
        Ok(this)
    }

    /// Writes a message without its body, so that the body begins aligned. Returns its length.
    fn message(&mut self, message: &[u8]) -> Result<u64> {
        let end = aligned(self.at + 8 + message.len() as u64);
        let length = end - self.at;
        let mut bytes = Vec::with_capacity(length as usize);
        bytes.extend_from_slice(&u32::MAX.to_le_bytes());
        bytes.extend_from_slice(&(length as u32 - 8).to_le_bytes());
        bytes.extend_from_slice(message);
        bytes.resize(length as usize, 0);
        self.file.write_all_at(&bytes, self.at)?;
        self.at = end;
        Ok(length)
    }

    /// Writes a batch; tells where its buffers went.
    pub fn write(
        &mut self,
        rows: usize,
        fields: &[Field],
        columns: &[Column<'_>],
    ) -> Result<Vec<Stored>> {
        let plan = Plan::new(rows, fields, columns);
        let start = self.at;
        let length = self.message(&plan.message(rows))?;
        let body = self.at;
        let mut stored = Vec::with_capacity(columns.len());
        for (column, offsets) in columns.iter().zip(&plan.offsets) {
            let mut offsets = offsets.iter().map(|offset| body + offset);
            let mut put = |data: &[&[u8]]| -> Result<Place> {
                let offset = offsets.next().unwrap_or_default();
                put_at(&self.file, offset, data)
            };
            let mut buffers = Vec::new();
            let mut nulls = 0;
            if let Column::Fixed {
                valid: Some(valid), ..
            }
            | Column::Text {
                valid: Some(valid), ..
            } = column
            {
                nulls = valid.nulls;
                buffers.push(put(&[valid.bits])?);
            }
            match column {
                Column::Nulls | Column::Placed { .. } => nulls = rows,
                Column::Fixed { values, .. } => buffers.push(put(&[values])?),
                Column::Text { offsets, data, .. } => {
                    buffers.push(put(&[offsets.to_byte_slice()])?);
                    buffers.push(put(data)?);
                }
            }
            stored.push(Stored {
                nulls,
                packing: Packing::PLAIN,
                buffers,
            });
        }
        self.at = body + plan.bytes;
        self.blocks
            .push(Block::new(start as i64, length as i32, plan.bytes as i64));
        Ok(stored)
    }

    /// Writes the footer. Returns path and size.
    pub fn finish(self, fields: &[Field]) -> Result<(PathBuf, u64)> {
        let mut builder = FlatBufferBuilder::new();
        let header = IpcSchemaEncoder::new().schema_to_fb_offset(&mut builder, &schema(fields));
        let none: [Block; 0] = [];
        let dictionaries = builder.create_vector(&none);
        let blocks = builder.create_vector(&self.blocks);
        let footer = Footer::create(
            &mut builder,
            &FooterArgs {
                version: MetadataVersion::V5,
                schema: Some(header),
                dictionaries: Some(dictionaries),
                recordBatches: Some(blocks),
                custom_metadata: None,
            },
        );
        builder.finish(footer, None);
        let footer = builder.finished_data();
        let mut bytes = Vec::with_capacity(footer.len() + 18);
        bytes.extend_from_slice(&u32::MAX.to_le_bytes());
        bytes.extend_from_slice(&0_u32.to_le_bytes());
        bytes.extend_from_slice(footer);
        bytes.extend_from_slice(&(footer.len() as u32).to_le_bytes());
        bytes.extend_from_slice(MAGIC);
        self.file.write_all_at(&bytes, self.at)?;
        Ok((self.path, self.at + bytes.len() as u64))
    }
}

fn put_at(file: &File, offset: u64, data: &[&[u8]]) -> Result<Place> {
    let mut at = offset;
    for stretch in data {
        file.write_all_at(stretch, at)?;
        at += stretch.len() as u64;
    }
    Ok(Place::file(offset, at - offset, hash(data)))
}

/// Where each buffer of a batch goes, from the start of its body.
struct Plan {
    nodes: Vec<FieldNode>,
    buffers: Vec<FlatBuffer>,
    /// For each column the places of the buffers that it has.
    offsets: Vec<Vec<u64>>,
    bytes: u64,
}

impl Plan {
    fn new(rows: usize, fields: &[Field], columns: &[Column<'_>]) -> Plan {
        let mut plan = Plan {
            nodes: Vec::new(),
            buffers: Vec::new(),
            offsets: Vec::new(),
            bytes: 0,
        };
        // The hole of the columns without values comes last, so its place is known last.
        let mut holes = Vec::new();
        for (field, column) in fields.iter().zip(columns) {
            let mut offsets = Vec::new();
            let mut room = |bytes: usize, buffers: &mut Vec<FlatBuffer>| {
                buffers.push(FlatBuffer::new(plan.bytes as i64, bytes as i64));
                offsets.push(plan.bytes);
                plan.bytes = aligned(plan.bytes + bytes as u64);
            };
            let nulls = match column {
                Column::Nulls | Column::Placed { .. } => {
                    let mut hole = |bytes: usize, buffers: &mut Vec<FlatBuffer>| {
                        holes.push((buffers.len(), bytes));
                        buffers.push(FlatBuffer::new(0, bytes as i64));
                    };
                    hole(rows.div_ceil(8), &mut plan.buffers);
                    hole(field.shape.bytes(rows), &mut plan.buffers);
                    if field.shape.is_long() {
                        hole(0, &mut plan.buffers);
                    }
                    rows
                }
                Column::Fixed { valid, .. } | Column::Text { valid, .. } => {
                    match valid {
                        Some(valid) => room(valid.bits.len(), &mut plan.buffers),
                        None => plan.buffers.push(FlatBuffer::new(0, 0)),
                    }
                    match column {
                        Column::Text { offsets, data, .. } => {
                            room(offsets.len() * 4, &mut plan.buffers);
                            room(
                                data.iter().map(|stretch| stretch.len()).sum(),
                                &mut plan.buffers,
                            );
                        }
                        Column::Fixed { values, .. } => room(values.len(), &mut plan.buffers),
                        Column::Nulls | Column::Placed { .. } => {}
                    }
                    valid.map_or(0, |valid| valid.nulls)
                }
            };
            plan.nodes.push(FieldNode::new(rows as i64, nulls as i64));
            plan.offsets.push(offsets);
        }
        let hole = plan.bytes;
        for (buffer, bytes) in holes {
            plan.buffers[buffer] = FlatBuffer::new(hole as i64, bytes as i64);
            plan.bytes = plan.bytes.max(aligned(hole + bytes as u64));
        }
        plan
    }

    fn message(&self, rows: usize) -> Vec<u8> {
        let mut builder = FlatBufferBuilder::new();
        let nodes = builder.create_vector(&self.nodes);
        let buffers = builder.create_vector(&self.buffers);
        let batch = RecordBatch::create(
            &mut builder,
            &RecordBatchArgs {
                length: rows as i64,
                nodes: Some(nodes),
                buffers: Some(buffers),
                compression: None,
                variadicBufferCounts: None,
            },
        );
        let message = Message::create(
            &mut builder,
            &MessageArgs {
                version: MetadataVersion::V5,
                header_type: MessageHeader::RecordBatch,
                header: Some(batch.as_union_value()),
                bodyLength: self.bytes as i64,
                custom_metadata: None,
            },
        );
        builder.finish(message, None);
        builder.finished_data().to_vec()
    }
}
