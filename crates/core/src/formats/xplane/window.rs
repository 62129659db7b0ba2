//! Walking over fields of a file that need not fit into memory.

use crate::error::{Error, Result};
use crate::proto::wire::{self, Damage};

/// Bytes that can be read at any offset.
pub trait ReadAt: Sync {
    /// Length in bytes.
    fn len(&self) -> u64;
    /// Reads at `offset`; fewer bytes than asked for only at the end.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize>;
    /// The same for stretches that come nearly in the order of the file and are most of it.
    fn read_next(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        self.read_at(offset, buffer)
    }
}

/// Why a walk stopped: the bytes are wrong here (others may still be good), or nothing can be read.
#[derive(Debug)]
pub enum Trouble {
    /// Wrong bytes.
    Damage(Damage),
    /// Reading failed, or the caller wants to stop.
    Failure(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Failure(error)
    }
}

/// The bytes from `start` to `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    pub start: u64,
    pub end: u64,
}

impl Extent {
    pub fn len(self) -> u64 {
        self.end - self.start
    }
}

/// A field's frame: for lengths, where the payload is; for numbers, the value.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    pub number: u32,
    pub wire: u8,
    /// The value of a number; bits of a fixed one.
    pub value: u64,
    /// The payload; empty for numbers, and then where the field ends.
    pub body: Extent,
    /// True when the payload should be longer than what holds it; `body` then ends where that ends.
    pub cut: bool,
}

impl Head {
    /// True for a string, bytes or message field with this number.
    pub fn is(&self, number: u32) -> bool {
        self.number == number && self.wire == 2
    }

    /// The number in a varint field with this number.
    pub fn varint(&self, number: u32) -> Option<u64> {
        (self.number == number && self.wire == 0).then_some(self.value)
    }
}

/// A window over the bytes, moved as needed.
pub struct Window<'a> {
    source: &'a dyn ReadAt,
    chunk: usize,
    buffer: Vec<u8>,
    start: u64,
    /// Where the first message was met that is read in parts and is damaged.
    pub damaged: Option<u64>,
}

impl<'a> Window<'a> {
    /// `chunk`: how many bytes are read at once.
    pub fn new(source: &'a dyn ReadAt, chunk: usize) -> Self {
        Window { source, chunk, buffer: Vec::new(), start: 0, damaged: None }
    }

    /// Bytes from `offset` on: at least `want` of them, fewer only at the end of the file. `want` is
    /// a small number of ours, never one from the file.
    #[inline(always)]
    pub fn at(&mut self, offset: u64, want: usize) -> Result<&[u8]> {
        let skip = offset.wrapping_sub(self.start) as usize;
        if offset < self.start || skip > self.buffer.len() || self.buffer.len() - skip < want {
            return self.load(offset, want);
        }
        Ok(&self.buffer[skip..])
    }

    #[cold]
    fn load(&mut self, offset: u64, want: usize) -> Result<&[u8]> {
        let left = self.source.len().saturating_sub(offset);
        let size = left.min(self.chunk.max(want) as u64) as usize;
        self.buffer.resize(size, 0);
        self.start = offset;
        let filled = self.source.read_at(offset, &mut self.buffer)?;
        self.buffer.truncate(filled);
        Ok(&self.buffer)
    }

    /// Up to `limit` bytes of an extent, and whether that was all of it.
    pub fn copy(&mut self, extent: Extent, limit: usize) -> Result<(Vec<u8>, bool)> {
        let size = extent.len().min(limit as u64) as usize;
        let mut out = Vec::new();
        while out.len() < size {
            let missing = size - out.len();
            let found = self.at(extent.start + out.len() as u64, 1)?;
            if found.is_empty() {
                break;
            }
            out.extend_from_slice(&found[..found.len().min(missing)]);
        }
        let whole = out.len() as u64 == extent.len();
        Ok((out, whole))
    }

    /// The field at `at` inside something that ends at `end`; None at its end. Groups are passed over.
    pub fn field(&mut self, mut at: u64, end: u64) -> std::result::Result<Option<Head>, Trouble> {
        let mut open: Vec<u32> = Vec::new();
        while at < end {
            let head = self.head(at, end)?;
            let damage = |seen| Trouble::Damage(Damage { offset: at, seen });
            match head.wire {
                3 if open.len() >= 100 => return Err(damage("groups nested too deep")),
                3 => open.push(head.number),
                4 if open.pop() == Some(head.number) => {}
                4 => return Err(damage("the end of a group that never began")),
                _ if open.is_empty() => return Ok(Some(head)),
                _ if head.cut => {
                    return Err(damage("a field that reaches past the end of what holds it"));
                }
                _ => {}
            }
            at = head.body.end;
        }
        if open.is_empty() {
            return Ok(None);
        }
        Err(Trouble::Damage(Damage { offset: at, seen: "a group without its end" }))
    }

    fn head(&mut self, at: u64, end: u64) -> std::result::Result<Head, Trouble> {
        let bytes = self.at(at, 24)?;
        let bytes = &bytes[..bytes.len().min((end - at).min(24) as usize)];
        read_head(bytes, at, end).map_err(|seen| Trouble::Damage(Damage { offset: at, seen }))
    }
}

/// `bytes`: the field's first bytes, all that it has or 24.
fn read_head(bytes: &[u8], at: u64, end: u64) -> std::result::Result<Head, &'static str> {
    let mut next = 0;
    let (number, wire) = wire::tag(bytes, &mut next)?;
    let mut head = Head {
        number,
        wire,
        value: 0,
        body: Extent { start: at + next as u64, end: at + next as u64 },
        cut: false,
    };
    match wire {
        0 => head.value = wire::varint(bytes, &mut next).ok_or("a number that is cut short or too long")?,
        1 => {
            let fixed = bytes.get(next..next + 8).ok_or("a fixed number that is cut short")?;
            head.value =
                u64::from_le_bytes(fixed.try_into().map_err(|_| "a fixed number that is cut short")?);
            next += 8;
        }
        2 => {
            let before = next;
            let length = wire::varint(bytes, &mut next).ok_or("a length that is cut short or too long")?;
            if !wire::plausible_length(length, next - before) {
                return Err("a length that is too long");
            }
            let start = at + next as u64;
            head.cut = length > end - start;
            head.body = Extent { start, end: if head.cut { end } else { start + length } };
            return Ok(head);
        }
        5 => {
            let fixed = bytes.get(next..next + 4).ok_or("a fixed number that is cut short")?;
            head.value = u64::from(u32::from_le_bytes(
                fixed.try_into().map_err(|_| "a fixed number that is cut short")?,
            ));
            next += 4;
        }
        _ => {}
    }
    head.body = Extent { start: at + next as u64, end: at + next as u64 };
    Ok(head)
}

/// Writes a varint.
pub fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

impl ReadAt for &[u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let from = <[u8]>::len(self).min(usize::try_from(offset).unwrap_or(usize::MAX));
        let size = buffer.len().min(<[u8]>::len(self) - from);
        buffer[..size].copy_from_slice(&self[from..from + size]);
        Ok(size)
    }
}
