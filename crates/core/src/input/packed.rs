//! The bytes as stored, on their way in: counted for progress, hashed in passing.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use xxhash_rust::xxh3::Xxh3;

/// What is learnt while reading.
#[derive(Default)]
pub(crate) struct Tally {
    /// Packed bytes read, for progress; a second pass counts again.
    pub packed: Arc<AtomicU64>,
    /// Packed bytes of the longest pass.
    pub passed: AtomicU64,
    /// Unpacked bytes of the longest pass.
    pub unpacked: AtomicU64,
    pub hash: Mutex<Hash>,
}

/// Hash of a growing prefix of the stored bytes.
#[derive(Default)]
pub(crate) struct Hash {
    pub state: Xxh3,
    pub at: u64,
    /// Whether it is taken while bytes are read, too, and not only when it is asked for.
    pub in_passing: bool,
}

impl Hash {
    /// Hashes what lies beyond the prefix hashed so far, if `bytes` at `offset` joins it.
    pub fn take(&mut self, offset: u64, bytes: &[u8]) {
        let end = offset + bytes.len() as u64;
        if offset <= self.at && self.at < end {
            self.state.update(&bytes[(self.at - offset) as usize..]);
            self.at = end;
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Reads again when a signal came in between.
pub(crate) fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// The bytes as stored, counted and hashed as they pass.
pub(crate) struct Packed {
    pub source: Source,
    pub tally: Option<Arc<Tally>>,
    pub at: u64,
}

pub(crate) enum Source {
    File(File, u64),
    Bytes(Arc<Vec<u8>>, usize),
    Reader(Box<dyn Read + Send>),
}

impl Packed {
    pub fn skip(&mut self, bytes: u64) -> io::Result<()> {
        match &mut self.source {
            Source::File(file, left) => {
                file.seek(SeekFrom::Current(bytes as i64))?;
                *left = left.saturating_sub(bytes);
            }
            Source::Bytes(_, at) => *at += bytes as usize,
            Source::Reader(_) => {}
        }
        Ok(())
    }
}

impl Read for Packed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = match &mut self.source {
            Source::File(file, left) => {
                let most = (*left).min(out.len() as u64) as usize;
                let n = retry(|| file.read(&mut out[..most]))?;
                *left -= n as u64;
                n
            }
            Source::Bytes(data, at) => {
                let rest = data.get(*at..).unwrap_or_default();
                let n = rest.len().min(out.len());
                out[..n].copy_from_slice(&rest[..n]);
                *at += n;
                n
            }
            Source::Reader(read) => retry(|| read.read(out))?,
        };
        if let Some(tally) = &self.tally {
            tally.packed.fetch_add(n as u64, Ordering::Relaxed);
            tally.passed.fetch_max(self.at + n as u64, Ordering::Relaxed);
            let mut hash = lock(&tally.hash);
            if hash.in_passing {
                hash.take(self.at, &out[..n]);
            }
        }
        self.at += n as u64;
        Ok(n)
    }
}
