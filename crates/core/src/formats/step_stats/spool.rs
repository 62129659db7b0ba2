//! Keeps the executions of a file until all are known: in memory, beyond a limit on disk.

use crate::error::{Error, Kind, Result};
use crate::input::at::FileExt;
use crate::input::unnamed_file;
use std::borrow::Cow;
use std::cell::RefCell;
use std::fs::File;
use std::io::Write;

/// Bytes kept in memory before the rest goes to disk.
const MEMORY_BYTES: usize = 64 << 20;
/// Bytes that are read at once where one piece was asked for soon after another: those of a lane lie so.
const AHEAD_BYTES: usize = 64 << 10;

/// Bytes that are appended first and read at any place later.
#[derive(Default)]
pub struct Spool {
    tail: Vec<u8>,
    /// Bytes that are on disk already, before `tail`.
    flushed: u64,
    file: Option<File>,
    ahead: RefCell<Ahead>,
}

/// Bytes of the disk that were read last.
#[derive(Default)]
struct Ahead {
    first: u64,
    bytes: Vec<u8>,
}

impl Ahead {
    /// The bytes of a piece; None where they were not read.
    fn get(&self, place: u64, length: usize) -> Option<&[u8]> {
        let at = usize::try_from(place.checked_sub(self.first)?).ok()?;
        self.bytes.get(at..at.checked_add(length)?)
    }

    /// Whether a piece begins in what was read, or soon after it.
    fn is_near(&self, place: u64) -> bool {
        let end = self.first + self.bytes.len() as u64;
        (self.first..=end + AHEAD_BYTES as u64).contains(&place)
    }
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
                let mut ahead = self.ahead.borrow_mut();
                if let Some(bytes) = ahead.get(place, length) {
                    return Ok(Cow::Owned(bytes.to_vec()));
                }
                // Pieces that lie far from each other are read one by one: what lies between is not wanted.
                let there = self.flushed - place;
                let wanted = if ahead.is_near(place) { length.max(AHEAD_BYTES) } else { length };
                let wanted = usize::try_from(there).map_or(wanted, |there| wanted.min(there));
                ahead.first = place;
                ahead.bytes.resize(wanted, 0);
                file.read_exact_at(&mut ahead.bytes, place)?;
                let found = ahead.get(place, length).map(<[u8]>::to_vec);
                found
                    .map(Cow::Owned)
                    .ok_or_else(|| Error::new(Kind::Io, "an execution is not where it was kept"))
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

    #[test]
    fn pieces_come_in_any_order() {
        let mut spool = Spool::default();
        let piece = |i: usize| vec![i as u8; 1000 + i % 7];
        let mut places: Vec<(usize, u64)> = Vec::new();
        for i in 0..200 {
            places.push((i, spool.push(&piece(i)).unwrap()));
        }
        // What is kept in memory goes to the disk before this one.
        spool.push(&vec![0; MEMORY_BYTES]).unwrap();
        assert!(spool.file.is_some());
        let far = (0..200).map(|i| places[i * 77 % 200]);
        let lane = (0..200).step_by(3).map(|i| places[i]);
        for (i, place) in far.chain(lane).chain(places.iter().rev().copied()) {
            assert_eq!(spool.get(place, 1000 + i % 7).unwrap(), piece(i));
        }
    }
}
