//! Tables of sorted keys: what both kinds of checkpoint keep their index in.
//!
//! A table is a row of blocks, then an index block with the last key and the place of each, then a footer.
//! Each block is followed by its packing and a CRC-32C over both. Keys share their beginnings.

use super::snappy;
use crate::error::{Error, Kind, Result};
use crate::input::RandomAccess;
use crate::input::crc::masked_crc32c;
use crate::proto::wire::varint;

/// The last eight bytes of a table.
pub const MAGIC: u64 = 0xdb47_7524_8b80_fb57;
/// Bytes of the footer: two places, padded, and the magic number.
pub const FOOTER_BYTES: u64 = 48;
/// Longest block that is read, packed or not.
const BLOCK_LIMIT: u64 = 1 << 30;
/// Most bytes that the keys of a table may take once they are whole, and how many times its file they may
/// take if that is more. Keys share their beginnings, and so a false file of a megabyte could ask for gigabytes.
const KEYS_LIMIT: u64 = 64 << 20;
const KEYS_TIMES: u64 = 16;
/// Bytes behind a block: packing and checksum.
const TRAILER_BYTES: u64 = 5;

#[derive(Debug, Clone, Copy)]
struct Place {
    offset: u64,
    bytes: u64,
}

/// A key and its value; where the block that holds them begins.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The whole key.
    pub key: Vec<u8>,
    /// The value.
    pub value: Vec<u8>,
    /// Offset of the block.
    pub block: u64,
}

/// A table of which only the index is held.
pub struct Table {
    file: RandomAccess,
    blocks: Vec<(Vec<u8>, Place)>,
}

fn damaged(offset: u64, seen: impl Into<String>) -> Error {
    Error::at(Kind::Damaged, offset, seen)
}

/// Reads exactly so many bytes.
pub fn read_exactly(file: &RandomAccess, offset: u64, out: &mut [u8]) -> Result<()> {
    let mut done = 0;
    while done < out.len() {
        match file.read_at(offset + done as u64, &mut out[done..])? {
            0 => return Err(damaged(offset + done as u64, "the file is cut short")),
            read => done += read,
        }
    }
    Ok(())
}

fn place(bytes: &[u8], at: &mut usize) -> Option<Place> {
    Some(Place { offset: varint(bytes, at)?, bytes: varint(bytes, at)? })
}

/// Whether a file ends as a table does.
pub fn is_table(file: &RandomAccess) -> Result<bool> {
    let mut end = [0; 8];
    if file.len() < FOOTER_BYTES {
        return Ok(false);
    }
    read_exactly(file, file.len() - 8, &mut end)?;
    Ok(u64::from_le_bytes(end) == MAGIC)
}

impl Table {
    /// Reads footer and index.
    pub fn open(file: RandomAccess) -> Result<Table> {
        let length = file.len();
        if !is_table(&file)? {
            let seen = "the file does not end as a checkpoint does: it is cut short or something else";
            return Err(damaged(length.saturating_sub(8), seen));
        }
        let start = length - FOOTER_BYTES;
        let mut footer = [0; FOOTER_BYTES as usize];
        read_exactly(&file, start, &mut footer)?;
        let mut at = 0;
        let places = place(&footer, &mut at).zip(place(&footer, &mut at));
        let (about, index) =
            places.ok_or_else(|| damaged(start, "a footer without the place of the index"))?;
        let mut table = Table { file, blocks: Vec::new() };
        // Nothing is in the first one, but damage there is damage of the file.
        let mut room = table.room();
        table.block(about, &mut room)?;
        let mut behind = 0;
        for entry in table.block(index, &mut room)? {
            let mut at = 0;
            let place = place(&entry.value, &mut at)
                .ok_or_else(|| damaged(index.offset, "an index entry without a place"))?;
            // Blocks follow each other: none is read twice, whatever the index says.
            if place.offset < behind {
                return Err(damaged(
                    index.offset,
                    format!("an index that goes back to byte {}", place.offset),
                ));
            }
            behind = place.offset.saturating_add(place.bytes).saturating_add(TRAILER_BYTES);
            table.blocks.push((entry.key, place));
        }
        Ok(table)
    }

    /// Bytes of the file.
    pub fn file(&self) -> &RandomAccess {
        &self.file
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Bytes that the keys may take that one reading of the table brings.
    pub fn room(&self) -> u64 {
        KEYS_LIMIT.max(self.file.len().saturating_mul(KEYS_TIMES))
    }

    /// The entries of a block in the order of their keys, which are taken from `room`.
    pub fn entries(&self, block: usize, room: &mut u64) -> Result<Vec<Entry>> {
        self.block(self.blocks[block].1, room)
    }

    /// The entry of a key.
    pub fn find(&self, key: &[u8]) -> Result<Option<Entry>> {
        // Each key of the index is the last one of its block, or one between that and the next block.
        let block = self.blocks.partition_point(|(last, _)| last.as_slice() < key);
        match self.blocks.get(block) {
            Some((_, place)) => {
                Ok(self.block(*place, &mut self.room())?.into_iter().find(|entry| entry.key == key))
            }
            None => Ok(None),
        }
    }

    fn block(&self, place: Place, room: &mut u64) -> Result<Vec<Entry>> {
        let Place { offset, bytes } = place;
        let end = offset.checked_add(bytes).and_then(|end| end.checked_add(TRAILER_BYTES));
        if end.is_none_or(|end| end > self.file.len()) {
            return Err(damaged(offset, "a block that reaches past the end of the file"));
        }
        if bytes > BLOCK_LIMIT {
            return Err(Error::at(Kind::Limit, offset, "a block of more than 1 GiB"));
        }
        let mut block = vec![0; (bytes + TRAILER_BYTES) as usize];
        read_exactly(&self.file, offset, &mut block)?;
        let (content, checksum) = block.split_at(bytes as usize + 1);
        let wanted = u32::from_le_bytes(checksum.try_into().expect("four bytes are left"));
        if masked_crc32c(content) != wanted {
            return Err(damaged(offset, "a block whose checksum does not fit"));
        }
        let (content, packing) = content.split_at(bytes as usize);
        match packing {
            [0] => entries(content, offset, room),
            [1] => {
                let limit = BLOCK_LIMIT as usize;
                let content = snappy::unpack(content, limit).map_err(|seen| damaged(offset, seen))?;
                entries(&content, offset, room)
            }
            other => Err(damaged(offset, format!("a block packed in an unknown way ({})", other[0]))),
        }
    }
}

/// The entries of an unpacked block.
fn entries(block: &[u8], offset: u64, room: &mut u64) -> Result<Vec<Entry>> {
    let cut = |seen| damaged(offset, seen);
    let count = block.last_chunk::<4>().ok_or_else(|| cut("a block without its end"))?;
    // Places from which keys are whole; we read from the first one on and need none.
    let restarts = u64::from(u32::from_le_bytes(*count)) * 4 + 4;
    if restarts > block.len() as u64 {
        return Err(cut("a block without its end"));
    }
    let content = &block[..block.len() - restarts as usize];
    let (mut found, mut at) = (Vec::new(), 0);
    let mut key: Vec<u8> = Vec::new();
    while at < content.len() {
        let mut number = || varint(content, &mut at);
        let (Some(shared), Some(own), Some(value)) = (number(), number(), number()) else {
            return Err(cut("an entry that is cut short"));
        };
        let left = (content.len() - at) as u64;
        if shared > key.len() as u64 || own > left || value > left - own {
            return Err(cut("an entry that reaches past its block"));
        }
        key.truncate(shared as usize);
        key.extend_from_slice(&content[at..at + own as usize]);
        at += own as usize;
        *room = room.checked_sub(key.len() as u64).ok_or_else(|| {
            let seen = "keys that take far more bytes than the file has";
            Error::at(Kind::Limit, offset, seen)
        })?;
        found.push(Entry {
            key: key.clone(),
            value: content[at..at + value as usize].to_vec(),
            block: offset,
        });
        at += value as usize;
    }
    Ok(found)
}
