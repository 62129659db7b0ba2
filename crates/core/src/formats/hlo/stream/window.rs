//! The stretch of a long text that is in memory.

use super::super::scan::Cursor;
use crate::error::{Error, Kind, Result};
use std::io::Read;
use xxhash_rust::xxh3::Xxh3;

/// One line, or one bracket, may take so many.
const MOST_OPEN: usize = 512 << 20;

/// A stretch of the text.
pub(super) struct Window<R> {
    pub(super) read: R,
    pub(super) piece: usize,
    pub(super) bytes: Vec<u8>,
    pub(super) at: usize,
    pub(super) ended: bool,
    pub(super) passed: u64,
    pub(super) hash: Xxh3,
}

impl<R: Read> Window<R> {
    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor {
            bytes: &self.bytes,
            at: self.at,
        }
    }

    /// Whether more can be read before something is let go of.
    pub(super) fn grows(&self) -> bool {
        !self.ended && self.bytes.len() - self.at < MOST_OPEN
    }

    /// Reads on, at least as much as is there already, so that trying anew takes no time to speak of.
    pub(super) fn more(&mut self) -> Result<()> {
        self.bytes.drain(..self.at);
        self.passed += self.at as u64;
        self.at = 0;
        let (before, room) = (self.bytes.len(), self.piece.max(self.bytes.len()));
        self.bytes.reserve_exact(room);
        let read = (&mut self.read)
            .take(room as u64)
            .read_to_end(&mut self.bytes)?;
        self.hash.update(&self.bytes[before..]);
        self.ended = read < room;
        Ok(())
    }

    /// Reads on until a whole line lies behind the blanks. Whether anything does.
    pub(super) fn line(&mut self) -> Result<bool> {
        loop {
            let mut cursor = self.cursor();
            cursor.blanks(true);
            let rest = self.bytes.get(cursor.at..).unwrap_or_default();
            if memchr::memchr(b'\n', rest).is_some() || !self.grows() {
                let there = !rest.is_empty();
                if there && !self.ended && memchr::memchr(b'\n', rest).is_none() {
                    let seen = format!("a line of more than {MOST_OPEN} bytes");
                    return Err(Error::at(Kind::Limit, self.passed, seen));
                }
                self.at = cursor.at.min(self.bytes.len());
                return Ok(there);
            }
            self.more()?;
        }
    }
}
