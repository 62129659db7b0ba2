//! Bytes that can be read at any place, and files that go with the process.

use crate::error::Result;
use crate::packed::{Tally, lock, retry};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The unpacked bytes, readable at any place and from several threads.
pub struct RandomAccess {
    pub(crate) bytes: Bytes,
    pub(crate) tally: Arc<Tally>,
    pub(crate) hash: bool,
}

pub(crate) enum Bytes {
    Memory(Arc<Vec<u8>>),
    File { file: File, offset: u64, len: u64 },
}

impl RandomAccess {
    /// Number of bytes.
    pub fn len(&self) -> u64 {
        match &self.bytes {
            Bytes::Memory(data) => data.len() as u64,
            Bytes::File { len, .. } => *len,
        }
    }

    /// True when there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `out` from `offset` on; returns less only at the end. Read in rising order where
    /// possible: then the content hash is taken in passing.
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        let n = match &self.bytes {
            Bytes::Memory(data) => {
                let rest = data
                    .get(offset.min(data.len() as u64) as usize..)
                    .unwrap_or_default();
                let n = rest.len().min(out.len());
                out[..n].copy_from_slice(&rest[..n]);
                n
            }
            Bytes::File {
                file,
                offset: base,
                len,
            } => {
                let most = len.saturating_sub(offset).min(out.len() as u64) as usize;
                let mut done = 0;
                while done < most {
                    match retry(|| file.read_at(&mut out[done..most], base + offset + done as u64))?
                    {
                        0 => break,
                        n => done += n,
                    }
                }
                done
            }
        };
        if self.hash {
            self.tally.packed.fetch_add(n as u64, Ordering::Relaxed);
            lock(&self.tally.hash).take(offset, &out[..n]);
        }
        Ok(n)
    }
}

/// A file in the folder for temporary files that has no name any more: it goes with the process.
pub fn unnamed_file() -> io::Result<File> {
    unnamed_file_in(&std::env::temp_dir())
}

/// A file in a folder that has no name any more.
pub fn unnamed_file_in(folder: &Path) -> io::Result<File> {
    for attempt in 0_u32.. {
        let path = folder.join(format!("stepscope-{}-{attempt}", std::process::id()));
        match File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
        {
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("the loop ends by returning")
}
