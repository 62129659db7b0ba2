//! Keeps the executions of a file until all are known: in memory, beyond a limit on disk.

use crate::error::Result;
use crate::input::at::FileExt;
use crate::input::unnamed_file;
use std::borrow::Cow;
use std::fs::File;
use std::io::Write;

/// Bytes kept in memory before the rest goes to disk.
const MEMORY_BYTES: usize = 64 << 20;

/// Bytes that are appended first and read at any place later.
#[derive(Default)]
pub struct Spool {
    tail: Vec<u8>,
    /// Bytes that are on disk already, before `tail`.
    flushed: u64,
    file: Option<File>,
}

impl Spool {
    /// Appends bytes and returns where they are.
    pub fn push(&mut self, bytes: &[u8]) -> Result<u64> {
        if self.tail.len() + bytes.len() > MEMORY_BYTES && !self.tail.is_empty() {
            let file = match &mut self.file {
                Some(file) => file,
                None => self.file.insert(unnamed_file()?),
            };
            file.write_all(&self.tail)?;
            self.flushed += self.tail.len() as u64;
            self.tail.clear();
        }
        let place = self.flushed + self.tail.len() as u64;
        self.tail.extend_from_slice(bytes);
        Ok(place)
    }

    /// The bytes at a place that [`Spool::push`] gave.
    pub fn get(&self, place: u64, length: usize) -> Result<Cow<'_, [u8]>> {
        match (place.checked_sub(self.flushed), &self.file) {
            (Some(at), _) => Ok(Cow::Borrowed(&self.tail[at as usize..at as usize + length])),
            (None, Some(file)) => {
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, place)?;
                Ok(Cow::Owned(bytes))
            }
            (None, None) => Ok(Cow::Borrowed(&[])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let mut spool = Spool::default();
        let piece = |i: usize| vec![i as u8; 3 << 20 | i];
        let places: Vec<u64> = (0..60).map(|i| spool.push(&piece(i)).unwrap()).collect();
        assert!(spool.file.is_some());
        for (i, place) in places.into_iter().enumerate() {
            assert_eq!(spool.get(place, 3 << 20 | i).unwrap(), piece(i));
        }
    }
}
