//! Bytes that can be read at any place, and files that go with the process.

use crate::error::Result;
use crate::input::at::FileExt;
use crate::input::packed::{Tally, lock, retry};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What is left out between two stretches, or comes a little later, is read once more for the hash when it is
/// no longer than this.
const BRIDGE_BYTES: u64 = 1 << 20;

/// The unpacked bytes, readable at any place and from several threads.
pub struct RandomAccess {
    pub(crate) bytes: Bytes,
    pub(crate) tally: Arc<Tally>,
    /// These are the bytes as they are stored.
    pub(crate) stored: bool,
    /// Why packed bytes end before they should.
    pub(crate) cut: Option<String>,
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

    /// True without any bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `out` from `offset` on; returns less only at the end.
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        let n = self.fill(offset, out)?;
        if self.stored {
            self.tally.packed.fetch_add(n as u64, Ordering::Relaxed);
        }
        Ok(n)
    }

    /// The same where the stretches that are read come nearly in rising order, from several threads: the
    /// content hash is taken in passing.
    pub fn read_next(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        let n = self.read_at(offset, out)?;
        if !self.stored {
            return Ok(n);
        }
        let mut hash = lock(&self.tally.hash);
        if hash.in_passing {
            if (1..=BRIDGE_BYTES).contains(&offset.saturating_sub(hash.at)) {
                let at = hash.at;
                let mut between = vec![0; (offset - at) as usize];
                let found = self.fill(at, &mut between)?;
                hash.take(at, &between[..found]);
            }
            hash.take(offset, &out[..n]);
        }
        Ok(n)
    }

    fn fill(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        match &self.bytes {
            Bytes::Memory(data) => {
                let rest = data.get(offset.min(data.len() as u64) as usize..).unwrap_or_default();
                let n = rest.len().min(out.len());
                out[..n].copy_from_slice(&rest[..n]);
                Ok(n)
            }
            Bytes::File { file, offset: base, len } => {
                let most = len.saturating_sub(offset).min(out.len() as u64) as usize;
                let mut done = 0;
                while done < most {
                    match retry(|| file.read_at(&mut out[done..most], base + offset + done as u64))? {
                        0 => break,
                        n => done += n,
                    }
                }
                Ok(done)
            }
        }
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
        match File::options().read(true).write(true).create_new(true).open(&path) {
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

#[cfg(test)]
mod tests {
    use crate::input::{Codec, Input};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever is read in whatever order, also far behind what was hashed.
        #[test]
        fn the_hash_is_that_of_all_bytes(
            size in 0_usize..3_000_000,
            reads in proptest::collection::vec((0_u64..3_000_000, 0_usize..600_000), 0..12),
            sorted in any::<bool>(),
            in_passing in any::<bool>(),
        ) {
            let data: Vec<u8> = (0..size).map(|i| (i * 7 + i / 251) as u8).collect();
            let expected = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&data));
            let input = Input::bytes(data.clone(), Codec::Plain);
            if in_passing {
                input.hash_in_passing();
            }
            let random = input.random().unwrap();
            let mut reads = reads;
            if sorted {
                reads.sort_unstable();
            }
            let mut buffer = vec![0; 600_000];
            for (offset, length) in reads {
                let n = random.read_next(offset, &mut buffer[..length]).unwrap();
                let from = (offset as usize).min(size);
                prop_assert_eq!(&buffer[..n], &data[from..size.min(from + length)]);
            }
            prop_assert_eq!(input.content_hash().unwrap(), expected);
        }
    }
}
