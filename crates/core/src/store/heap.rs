//! A file of buffers that several threads add to: each buffer is aligned, hashed while it is hot, and
//! found again by its place.

use crate::error::Result;
use crate::input::at::FileExt;
use crate::store::part::Place;
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Buffers begin where engines may read them in place.
const ALIGN: u64 = 64;

/// A file of buffers being written.
#[derive(Debug)]
pub struct Heap {
    file: File,
    path: PathBuf,
    end: AtomicU64,
}

impl Heap {
    /// Creates the file, or empties the one that is there.
    pub fn create(path: PathBuf) -> Result<Heap> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        Ok(Heap { file, path, end: AtomicU64::new(0) })
    }

    /// Room for so many bytes; returns where it begins.
    fn room(&self, bytes: u64) -> u64 {
        self.end.fetch_add(bytes.next_multiple_of(ALIGN), Ordering::Relaxed)
    }

    /// Adds a buffer that lies in several stretches.
    pub fn put(&self, stretches: &[&[u8]]) -> Result<Place> {
        let bytes = stretches.iter().map(|stretch| stretch.len() as u64).sum();
        let offset = self.room(bytes);
        let mut at = offset;
        for stretch in stretches {
            self.file.write_all_at(stretch, at)?;
            at += stretch.len() as u64;
        }
        Ok(Place::file(offset, bytes, hash(stretches)))
    }

    /// Adds bytes that hold several buffers; returns where they begin.
    pub fn put_all(&self, bytes: &[u8]) -> Result<u64> {
        let offset = self.room(bytes.len() as u64);
        self.file.write_all_at(bytes, offset)?;
        Ok(offset)
    }

    /// Fills `out` with what was written at a place.
    pub fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        Ok(self.file.read_exact_at(out, offset)?)
    }

    /// Ends the file. Returns path and size.
    pub fn finish(&self) -> Result<(PathBuf, u64)> {
        let bytes = self.end.load(Ordering::Relaxed);
        self.file.set_len(bytes)?;
        Ok((self.path.clone(), bytes))
    }
}

/// The xxh3-64 of bytes in stretches.
pub fn hash(stretches: &[&[u8]]) -> u64 {
    match stretches {
        [one] => xxh3_64(one),
        many => {
            let mut hash = Xxh3::new();
            many.iter().for_each(|stretch| hash.update(stretch));
            hash.digest()
        }
    }
}

impl Place {
    /// A buffer in a file.
    pub fn file(offset: u64, bytes: u64, hash: u64) -> Place {
        Place::File { offset, bytes, hash, checked: AtomicBool::new(false) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_buffers_that_do_not_meet() {
        let folder = std::env::temp_dir().join(format!("stepscope-heap-{}", std::process::id()));
        let heap = Heap::create(folder.clone()).unwrap();
        let add = |byte: u8| {
            (0..50_usize).map(|i| heap.put(&[&vec![byte; i], &[byte; 3]]).unwrap()).collect::<Vec<_>>()
        };
        let (ones, twos) = std::thread::scope(|scope| {
            let other = scope.spawn(|| add(2));
            (add(1), other.join().unwrap())
        });
        for (byte, places) in [(1, ones), (2, twos)] {
            for (i, place) in places.iter().enumerate() {
                let Place::File { offset, bytes, hash: stored, .. } = place else {
                    unreachable!("a heap is a file");
                };
                assert_eq!((*bytes, offset % ALIGN), (i as u64 + 3, 0));
                let mut found = vec![0; i + 3];
                heap.read(*offset, &mut found).unwrap();
                assert_eq!((&found, *stored), (&vec![byte; i + 3], hash(&[&found])));
            }
        }
        let (path, bytes) = heap.finish().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), bytes);
        std::fs::remove_file(path).unwrap();
    }
}
