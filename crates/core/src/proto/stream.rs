//! Bytes that are read once, front to back, seen through a window.

use crate::error::{Error, Kind, Result};
use crate::proto::walk::{CHUNK_BYTES, Damage};
use std::io::Read;

/// A window on bytes that are read once, front to back.
pub(crate) struct Source<'a> {
    read: &'a mut dyn Read,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    /// Offset of `buffer[0]`.
    base: u64,
    ended: bool,
    /// Set when the bytes ended because what packs them was cut.
    pub(crate) cut: Option<Damage>,
}

impl<'a> Source<'a> {
    /// A window on what `read` gives, whose first byte is at offset `base`.
    pub(crate) fn new(read: &'a mut dyn Read, base: u64) -> Self {
        Source { read, buffer: Vec::new(), at: 0, filled: 0, base, ended: false, cut: None }
    }

    /// Where the window begins.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// True when no byte will follow those that [`Source::peek`] shows.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Passes over bytes that [`Source::peek`] showed.
    pub(crate) fn consume(&mut self, n: usize) {
        self.at += n;
    }

    /// The bytes ahead: at least `n` of them unless the input ends before.
    pub(crate) fn peek(&mut self, n: usize) -> Result<&[u8]> {
        while self.filled - self.at < n && !self.ended {
            self.fill(n)?;
        }
        Ok(&self.buffer[self.at..self.filled])
    }

    /// Skips `n` bytes; false when the input ends before.
    pub(crate) fn skip(&mut self, mut n: u64) -> Result<bool> {
        while n > 0 {
            let ahead = self.peek(1)?.len() as u64;
            if ahead == 0 {
                return Ok(false);
            }
            let step = ahead.min(n);
            self.consume(step as usize);
            n -= step;
        }
        Ok(true)
    }

    fn fill(&mut self, n: usize) -> Result<()> {
        self.buffer.copy_within(self.at..self.filled, 0);
        self.base += self.at as u64;
        self.filled -= self.at;
        self.at = 0;
        if self.filled == self.buffer.len() {
            // Grown as bytes arrive, never by a length that the input claims.
            let size = (self.buffer.len() * 2).clamp(CHUNK_BYTES, n.max(CHUNK_BYTES));
            self.buffer.resize(size, 0);
        }
        match self.read.read(&mut self.buffer[self.filled..]) {
            Ok(0) => self.ended = true,
            Ok(more) => self.filled += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) if packed_damage(&error) => {
                let offset = self.base + self.filled as u64;
                self.cut = Some(Damage { offset, seen: format!("the packed file is damaged: {error}") });
                self.ended = true;
            }
            Err(error) => return Err(Error::from(error)),
        }
        Ok(())
    }
}

/// True for an error that says that packed bytes are cut or corrupt: what came before is good.
fn packed_damage(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    let limit = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Error>())
        .is_some_and(|inner| inner.kind == Kind::Limit);
    !limit && matches!(error.kind(), UnexpectedEof | InvalidData | InvalidInput)
}
