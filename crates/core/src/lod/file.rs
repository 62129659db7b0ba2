//! A source's slices and pyramid as one file. Everything is little-endian and every part begins at a multiple of 8
//! bytes:
//!
//! ```text
//! "SSLANES" and the version as u8, then as u64: rows, lanes, labels, bytes of their names, op types, bytes of
//!            these, bytes of rows
//! lanes      track i64, depth, first row and rows as u64
//! labels     the end of each name as u64, then their text; which op type each goes with and one as u32, 0: none
//! op types   the end of each as u64, then their text
//! directory  where each block of rows is and how it is packed: see `rows`
//! levels     of the pyramid, the lowest first: see `pyramid`
//! rows       the packed columns of each block
//! ```

use super::labels::Labels;
use super::pyramid::Pyramid;
use super::rows::{BLOCK_ROWS, ENTRY_BYTES, Rows, long};
use super::{Lane, Packed};
use crate::error::{Error, Kind, Result};
use arrow_buffer::Buffer;
use std::io::Write;

/// What a file begins with. The last byte is the version, raised when a part changes its meaning.
const MAGIC: &[u8; 8] = b"SSLANES\x01";
const HEAD_BYTES: usize = 64;
const LANE_BYTES: usize = 32;

impl Packed {
    /// Writes the file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        let (directory, data) = self.slices.parts();
        let (names, op_types, types) = self.labels.parts();
        let text = |of: &[String]| of.iter().map(String::len).sum::<usize>();
        out.write_all(MAGIC)?;
        let sizes = [
            self.len(),
            self.lanes.len(),
            names.len(),
            text(names),
            op_types.len(),
            text(op_types),
            data.len(),
        ];
        for size in sizes {
            out.write_all(&(size as u64).to_le_bytes())?;
        }
        for lane in &self.lanes {
            out.write_all(&lane.track.to_le_bytes())?;
            for value in [lane.depth as usize, lane.rows.start, lane.rows.len()] {
                out.write_all(&(value as u64).to_le_bytes())?;
            }
        }
        write_texts(out, names)?;
        for number in types {
            out.write_all(&number.to_le_bytes())?;
        }
        pad(out, 4 * types.len())?;
        write_texts(out, op_types)?;
        out.write_all(directory)?;
        for level in self.pyramid.parts() {
            out.write_all(level)?;
        }
        out.write_all(data)?;
        pad(out, data.len())
    }

    /// What a file holds. Rows and pyramid are read where they lie when they are asked for.
    ///
    /// # Errors
    /// It is not such a file, or of another version.
    pub fn read(file: &Buffer) -> Result<Packed> {
        read(file).ok_or_else(|| Error::new(Kind::Damaged, "it is not a timeline of this version"))
    }
}

fn read(file: &Buffer) -> Option<Packed> {
    if file.get(..8)? != MAGIC || file.len() < HEAD_BYTES {
        return None;
    }
    let [rows, lanes, labels, name_bytes, op_types, type_bytes, data] =
        [1, 2, 3, 4, 5, 6, 7].map(|place| usize::try_from(long(file, place)).ok());
    let (rows, lanes, labels, name_bytes) = (rows?, lanes?, labels?, name_bytes?);
    let (op_types, type_bytes, data) = (op_types?, type_bytes?, data?);
    let mut at = HEAD_BYTES;
    let mut next = |count: usize, bytes: usize| {
        let length = count.checked_mul(bytes)?.checked_next_multiple_of(8)?;
        let part = (at.checked_add(length)? <= file.len()).then(|| file.slice_with_length(at, length))?;
        at += length;
        Some(part)
    };
    let (of_lanes, ends, texts) = (next(lanes, LANE_BYTES)?, next(labels, 8)?, next(name_bytes, 1)?);
    let types = next(labels, 4)?;
    let (type_ends, type_texts) = (next(op_types, 8)?, next(type_bytes, 1)?);
    let directory = next(rows.div_ceil(BLOCK_ROWS), ENTRY_BYTES)?;
    let levels = next(Pyramid::sizes(rows).iter().sum(), 32)?;
    let data = next(data, 1)?;
    if at != file.len() {
        return None;
    }
    let lanes = lanes_of(&of_lanes, rows)?;
    let names = texts_of(&ends, texts.get(..name_bytes)?)?;
    if names.is_empty() && rows > 0 {
        return None;
    }
    let op_types = texts_of(&type_ends, type_texts.get(..type_bytes)?)?;
    let types = types.as_chunks().0.iter().take(labels);
    let types = types.map(|bytes| u32::from_le_bytes(*bytes)).collect();
    Some(Packed {
        slices: Rows::of(rows, directory, data)?,
        lanes,
        labels: Labels::of(names, op_types, types)?,
        pyramid: Pyramid::of(rows, &levels)?,
    })
}

fn lanes_of(bytes: &[u8], rows: usize) -> Option<Vec<Lane>> {
    let mut lanes: Vec<Lane> = Vec::with_capacity(bytes.len() / LANE_BYTES);
    for lane in bytes.as_chunks::<LANE_BYTES>().0 {
        let first = usize::try_from(long(lane, 2)).ok()?;
        let end = first.checked_add(usize::try_from(long(lane, 3)).ok()?)?;
        let lane = Lane { track: long(lane, 0), depth: u32::try_from(long(lane, 1)).ok()?, rows: first..end };
        let in_order = lanes.last().is_none_or(|last| last.key() < lane.key());
        if end > rows || !in_order {
            return None;
        }
        lanes.push(lane);
    }
    Some(lanes)
}

fn texts_of(ends: &[u8], text: &[u8]) -> Option<Vec<String>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut start = 0;
    let mut names = Vec::with_capacity(ends.len() / 8);
    for place in 0..ends.len() / 8 {
        let end = usize::try_from(long(ends, place)).ok()?;
        names.push(text.get(start..end)?.to_owned());
        start = end;
    }
    (start == text.len()).then_some(names)
}

fn write_texts(out: &mut impl Write, texts: &[String]) -> std::io::Result<()> {
    let mut end = 0;
    for text in texts {
        end += text.len();
        out.write_all(&(end as u64).to_le_bytes())?;
    }
    for text in texts {
        out.write_all(text.as_bytes())?;
    }
    pad(out, end)
}

fn pad(out: &mut impl Write, length: usize) -> std::io::Result<()> {
    out.write_all(&[0; 8][..length.next_multiple_of(8) - length])
}
