//! Pages of a column chunk: header, levels, body, compressed when that pays.

use super::packing;
use super::thrift::Thrift;
use crate::error::{Error, Kind, Result};
use arrow_buffer::NullBuffer;
use std::ops::Range;
use zstd::bulk::Compressor;

/// How values are written; the numbers are Parquet's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Encoding {
    Plain = 0,
    Rle = 3,
    Deltas = 5,
    Lengths = 6,
    Dictionary = 8,
}

/// How pages are compressed; the numbers are Parquet's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Codec {
    None = 0,
    Zstd = 6,
}

/// The level of zstd: a third faster than 3, files smaller than those of most writers all the same.
const LEVEL: i32 = 1;
/// Bodies up to this size are not worth compressing.
const SMALL: usize = 64;

/// Memory for compressing, kept by a thread.
pub struct Packer {
    zstd: Compressor<'static>,
    packed: Vec<u8>,
    /// The body of the page that is being made.
    pub body: Vec<u8>,
}

impl Packer {
    /// Memory of a thread.
    pub fn new() -> Result<Packer> {
        Ok(Packer {
            zstd: Compressor::new(LEVEL)?,
            packed: Vec::new(),
            body: Vec::new(),
        })
    }
}

/// What the metadata says about a finished chunk.
#[derive(Debug)]
pub struct Chunk {
    /// Its pages.
    pub bytes: Vec<u8>,
    /// Rows, NULL or not.
    pub rows: usize,
    /// Size without compression.
    pub unpacked: u64,
    /// How it is compressed.
    pub codec: Codec,
    /// Where in `bytes` the first page of data begins, if that is not the first page.
    pub dictionary_bytes: Option<usize>,
    /// The encoding of its data.
    pub encoding: Encoding,
    /// Number of pages of data.
    pub pages: usize,
    /// Smallest, largest and missing values.
    pub statistics: super::statistics::Statistics,
}

/// The pages of a chunk that is being written.
pub struct Pages<'a> {
    packer: &'a mut Packer,
    bytes: Vec<u8>,
    unpacked: u64,
    codec: Option<Codec>,
    dictionary_bytes: Option<usize>,
    pages: usize,
    rows: usize,
}

impl<'a> Pages<'a> {
    /// A chunk without pages.
    pub fn new(packer: &'a mut Packer) -> Pages<'a> {
        Pages {
            packer,
            bytes: Vec::new(),
            unpacked: 0,
            codec: None,
            dictionary_bytes: None,
            pages: 0,
            rows: 0,
        }
    }

    /// The page with the distinct values; comes first. `fill` writes them.
    pub fn dictionary(&mut self, values: usize, fill: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.page(Encoding::Plain, values, fill, true)?;
        self.dictionary_bytes = Some(self.bytes.len());
        Ok(())
    }

    /// A page of data. `fill` writes levels and values.
    pub fn data(
        &mut self,
        encoding: Encoding,
        rows: usize,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> Result<()> {
        self.page(encoding, rows, fill, false)?;
        self.pages += 1;
        self.rows += rows;
        Ok(())
    }

    fn page(
        &mut self,
        encoding: Encoding,
        values: usize,
        fill: impl FnOnce(&mut Vec<u8>),
        dictionary: bool,
    ) -> Result<()> {
        let Packer { zstd, packed, body } = &mut *self.packer;
        body.clear();
        fill(body);
        let mut stored: &[u8] = body;
        if self.codec != Some(Codec::None) && (self.codec.is_some() || body.len() > SMALL) {
            packed.clear();
            packed.reserve(zstd::zstd_safe::compress_bound(body.len()));
            zstd.compress_to_buffer(body.as_slice(), packed)?;
            // The first page tells whether the others are worth it: a chunk has one codec.
            if self.codec.is_some() || packed.len() < body.len() - body.len() / 8 {
                self.codec = Some(Codec::Zstd);
                stored = packed;
            }
        }
        self.codec.get_or_insert(Codec::None);
        let mut header = Thrift::new();
        header.i32(1, if dictionary { 2 } else { 0 });
        header.i32(2, size(body.len())?);
        header.i32(3, size(stored.len())?);
        header.begin(if dictionary { 7 } else { 5 });
        header.i32(1, size(values)?);
        header.i32(2, encoding as i32);
        if !dictionary {
            header.i32(3, Encoding::Rle as i32);
            header.i32(4, Encoding::Rle as i32);
        }
        header.end();
        let header = header.finish();
        self.bytes.extend_from_slice(&header);
        self.bytes.extend_from_slice(stored);
        self.unpacked += (header.len() + body.len()) as u64;
        if body.capacity() > 1 << 24 {
            // One giant text must not hold its memory for good.
            *body = Vec::new();
            *packed = Vec::new();
        }
        Ok(())
    }

    /// Rows so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Ends the chunk.
    pub fn finish(self, encoding: Encoding, statistics: super::statistics::Statistics) -> Chunk {
        Chunk {
            bytes: self.bytes,
            rows: self.rows,
            unpacked: self.unpacked,
            codec: self.codec.unwrap_or(Codec::None),
            dictionary_bytes: self.dictionary_bytes,
            encoding,
            pages: self.pages,
            statistics,
        }
    }
}

fn size(bytes: usize) -> Result<i32> {
    i32::try_from(bytes).map_err(|_| {
        Error::new(
            Kind::Limit,
            format!("a page of {bytes} bytes, which Parquet cannot hold"),
        )
    })
}

/// Which rows of a chunk have a value, as definition levels.
pub fn levels(body: &mut Vec<u8>, nulls: Option<&NullBuffer>, rows: Range<usize>) {
    let start = body.len();
    body.extend_from_slice(&[0; 4]);
    match nulls.map(|nulls| nulls.slice(rows.start, rows.len())) {
        Some(nulls) if nulls.null_count() == rows.len() => {
            packing::run(body, rows.len(), 0, 1);
        }
        Some(nulls) if nulls.null_count() > 0 => {
            packing::bits(body, &nulls.inner().sliced(), rows.len());
        }
        _ => packing::run(body, rows.len(), 1, 1),
    }
    let length = (body.len() - start - 4) as u32;
    body[start..start + 4].copy_from_slice(&length.to_le_bytes());
}
