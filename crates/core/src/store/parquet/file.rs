//! A Parquet file: the chunks in order, then the metadata. Hashed while it is written.

use super::page::{Chunk, Encoding};
use super::thrift::{BINARY, I32, STRUCT, Thrift};
use super::{Column, Kind};
use crate::error::{Error, Kind as Failure, Result};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use xxhash_rust::xxh3::Xxh3;

const MAGIC: &[u8; 4] = b"PAR1";
const BY: &str = concat!("stepscope version ", env!("CARGO_PKG_VERSION"));

/// A chunk whose bytes are written.
struct Placed {
    at: u64,
    bytes: u64,
    chunk: Chunk,
}

struct Group {
    rows: usize,
    chunks: Vec<Placed>,
}

/// A file being written.
pub struct Parquet {
    file: File,
    hash: Xxh3,
    at: u64,
    groups: Vec<Group>,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Size of the file.
    pub bytes: u64,
    /// Rows in it.
    pub rows: u64,
    /// Its xxh3-128 in hexadecimal, as [`crate::input::Input::content_hash`] has it.
    pub hash: String,
}

impl Parquet {
    /// Creates the file, which must not be there.
    pub fn create(path: &Path) -> Result<Parquet> {
        let mut this = Parquet {
            file: File::options().write(true).create_new(true).open(path)?,
            hash: Xxh3::new(),
            at: 0,
            groups: Vec::new(),
        };
        this.put(MAGIC)?;
        Ok(this)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes)?;
        self.hash.update(bytes);
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Writes the next chunk: those of a row group in the order of the columns.
    pub fn chunk(&mut self, columns: usize, mut chunk: Chunk) -> Result<()> {
        let (at, bytes) = (self.at, std::mem::take(&mut chunk.bytes));
        self.put(&bytes)?;
        let full = |group: &Group| group.chunks.len() == columns;
        if self.groups.last().is_none_or(full) {
            self.groups.push(Group {
                rows: chunk.rows,
                chunks: Vec::with_capacity(columns),
            });
        }
        if let Some(group) = self.groups.last_mut() {
            if group.rows != chunk.rows {
                return Err(Error::new(Failure::Damaged, "columns differ in length"));
            }
            group.chunks.push(Placed {
                at,
                bytes: bytes.len() as u64,
                chunk,
            });
        }
        Ok(())
    }

    /// Writes the metadata. The file is not yet forced to the disk.
    pub fn finish(mut self, columns: &[Column]) -> Result<(File, Written)> {
        let rows: u64 = self.groups.iter().map(|group| group.rows as u64).sum();
        let mut footer = self.footer(columns, rows);
        let length = u32::try_from(footer.len())
            .map_err(|_| Error::new(Failure::Limit, "too many row groups for one file"))?;
        footer.extend_from_slice(&length.to_le_bytes());
        footer.extend_from_slice(MAGIC);
        self.put(&footer)?;
        let written = Written {
            bytes: self.at,
            rows,
            hash: format!("{:032x}", self.hash.digest128()),
        };
        Ok((self.file, written))
    }

    fn footer(&self, columns: &[Column], rows: u64) -> Vec<u8> {
        let mut out = Thrift::new();
        out.i32(1, 1);
        out.list(2, STRUCT, columns.len() + 1);
        out.item();
        out.bytes(4, b"schema");
        out.i32(5, columns.len() as i32);
        out.end();
        for column in columns {
            element(&mut out, column);
        }
        out.i64(3, rows as i64);
        out.list(4, STRUCT, self.groups.len());
        for (number, group) in self.groups.iter().enumerate() {
            out.item();
            out.list(1, STRUCT, group.chunks.len());
            for (placed, column) in group.chunks.iter().zip(columns) {
                out.item();
                out.i64(2, 0);
                out.begin(3);
                placed.describe(&mut out, column);
                out.end();
                out.end();
            }
            let unpacked: u64 = group.chunks.iter().map(|one| one.chunk.unpacked).sum();
            let packed: u64 = group.chunks.iter().map(|one| one.bytes).sum();
            out.i64(2, unpacked as i64);
            out.i64(3, group.rows as i64);
            out.i64(5, group.chunks.first().map_or(4, |first| first.at) as i64);
            out.i64(6, packed as i64);
            if let Ok(number) = i16::try_from(number) {
                out.i16(7, number);
            }
            out.end();
        }
        out.bytes(6, BY.as_bytes());
        // Bounds are ordered as the types say: without this readers must not use them.
        out.list(7, STRUCT, columns.len());
        for _ in columns {
            out.item();
            out.begin(1);
            out.end();
            out.end();
        }
        out.finish()
    }
}

/// A column of the schema.
fn element(out: &mut Thrift, column: &Column) {
    out.item();
    out.i32(1, physical(column.kind));
    out.i32(3, i32::from(!column.is_constant()));
    out.bytes(4, column.name.as_bytes());
    let integer = |out: &mut Thrift, converted, bits| {
        out.i32(6, converted);
        out.begin(10);
        out.begin(10);
        out.i8(1, bits);
        out.flag(2, true);
        out.end();
        out.end();
    };
    match column.kind {
        Kind::I64 => integer(out, 18, 64),
        Kind::I32 => integer(out, 17, 32),
        Kind::Text => {
            out.i32(6, 0);
            out.begin(10);
            out.begin(1);
            out.end();
            out.end();
        }
        Kind::F64 | Kind::Bool => {}
    }
    out.end();
}

fn physical(kind: Kind) -> i32 {
    match kind {
        Kind::Bool => 0,
        Kind::I32 => 1,
        Kind::I64 => 2,
        Kind::F64 => 5,
        Kind::Text => 6,
    }
}

impl Placed {
    fn describe(&self, out: &mut Thrift, column: &Column) {
        let chunk = &self.chunk;
        let mut encodings = vec![chunk.encoding, Encoding::Rle];
        if chunk.dictionary_bytes.is_some() {
            encodings.push(Encoding::Plain);
        }
        out.i32(1, physical(column.kind));
        out.list(2, I32, encodings.len());
        for encoding in encodings {
            out.item_i32(encoding as i32);
        }
        out.list(3, BINARY, 1);
        out.item_bytes(column.name.as_bytes());
        out.i32(4, chunk.codec as i32);
        out.i64(5, chunk.rows as i64);
        out.i64(6, chunk.unpacked as i64);
        out.i64(7, self.bytes as i64);
        out.i64(
            9,
            (self.at + chunk.dictionary_bytes.unwrap_or(0) as u64) as i64,
        );
        if chunk.dictionary_bytes.is_some() {
            out.i64(11, self.at as i64);
        }
        out.begin(12);
        out.i64(3, chunk.statistics.nulls as i64);
        if let Some((least, most)) = &chunk.statistics.bounds {
            out.bytes(5, most);
            out.bytes(6, least);
            out.flag(7, true);
            out.flag(8, true);
        }
        out.end();
        // Tells readers that a value which is not in the dictionary is not in the chunk.
        let dictionary = usize::from(chunk.dictionary_bytes.is_some());
        out.list(13, STRUCT, dictionary + 1);
        if dictionary == 1 {
            page_statistics(out, 2, Encoding::Plain, 1);
        }
        page_statistics(out, 0, chunk.encoding, chunk.pages);
    }
}

fn page_statistics(out: &mut Thrift, page: i32, encoding: Encoding, count: usize) {
    out.item();
    out.i32(1, page);
    out.i32(2, encoding as i32);
    out.i32(3, i32::try_from(count).unwrap_or(i32::MAX));
    out.end();
}
