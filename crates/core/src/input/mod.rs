//! Bytes to decode, plain or packed, with the guard against bombs.
//!
//! The content hash is taken of the bytes as stored, while they are read where it is wanted, so that it costs
//! no second pass. Plain files are read, never mapped: their pages must not count as memory of this process.

pub(crate) mod at;
pub mod crc;
mod packed;
mod random;
mod unpack;

pub use crate::input::random::{RandomAccess, unnamed_file, unnamed_file_in};

use crate::error::{Error, Kind, Result};
pub(crate) use crate::input::packed::lock;
use crate::input::packed::{Packed, Source, Tally, retry};
use crate::input::random::Bytes;
pub(crate) use crate::input::unpack::ends_early;
use crate::input::unpack::{Checked, Count, Guard, Members};
use flate2::bufread::DeflateDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// How bytes are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// Not at all.
    Plain,
    /// Gzip, one member or several.
    Gzip,
    /// Raw deflate, as in zip archives.
    Deflate,
}

/// Packed or streamed input up to this size is kept in memory for random access.
const SPOOL_BYTES: u64 = 64 << 20;

/// Bytes to decode: where they are and how they are packed.
pub struct Input {
    place: Place,
    codec: Codec,
    /// CRC-32 of the unpacked bytes, where an archive states it.
    crc: Option<u32>,
    tally: Arc<Tally>,
}

enum Place {
    File { path: PathBuf, offset: u64, len: Option<u64> },
    Bytes(Arc<Vec<u8>>),
    Reader(Mutex<Option<Box<dyn Read + Send>>>),
}

impl Input {
    /// A stretch of a file.
    pub fn file(path: PathBuf, offset: u64, len: Option<u64>, codec: Codec) -> Input {
        Input::new(Place::File { path, offset, len }, codec)
    }

    /// Bytes in memory.
    pub fn bytes(data: Vec<u8>, codec: Codec) -> Input {
        Input::new(Place::Bytes(Arc::new(data)), codec)
    }

    /// A stream that can be read once ([`Input::random`] keeps a copy).
    pub fn reader(read: Box<dyn Read + Send>) -> Input {
        Input::new(Place::Reader(Mutex::new(Some(read))), Codec::Plain)
    }

    fn new(place: Place, codec: Codec) -> Input {
        Input { place, codec, crc: None, tally: Arc::default() }
    }

    /// The same bytes, whose CRC-32 is compared with `crc` whenever they are read from the first to the last.
    /// Plain bytes that are read at any place ([`Input::random`]) are not compared.
    #[must_use]
    pub fn with_crc(mut self, crc: u32) -> Input {
        self.crc = Some(crc);
        self
    }

    /// Counts the packed bytes read so far.
    pub fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.tally.packed)
    }

    /// Lets bytes be hashed while they are read, so that [`Input::content_hash`] need not read them once more.
    /// A stream has no hash without it.
    pub fn hash_in_passing(&self) {
        lock(&self.tally.hash).in_passing = true;
    }

    /// Bytes after decompression, of the longest pass so far.
    pub fn bytes_in(&self) -> u64 {
        self.tally.unpacked.load(Ordering::Relaxed)
    }

    /// The unpacked bytes from the start. Fails with [`Kind::Limit`] (as an `io::Error` that
    /// [`Error`] turns back) on a bomb, with `UnexpectedEof` after the good bytes of a cut gzip, with
    /// `InvalidData` at the end where a checksum differs.
    pub fn open(&self) -> Result<Box<dyn Read + Send>> {
        let packed = self.packed()?;
        let read: Box<dyn Read + Send> = match self.codec {
            Codec::Plain => Box::new(packed),
            Codec::Gzip => {
                Box::new(Guard { read: Members::new(packed), tally: Arc::clone(&self.tally), out: 0 })
            }
            Codec::Deflate => Box::new(Guard {
                read: DeflateDecoder::new(BufReader::with_capacity(1 << 18, packed)),
                tally: Arc::clone(&self.tally),
                out: 0,
            }),
        };
        let count = Count { read, tally: Arc::clone(&self.tally), out: 0 };
        Ok(match self.crc {
            Some(crc) => Box::new(Checked::new(count, crc)),
            None => Box::new(count),
        })
    }

    /// The unpacked bytes for reading at any place. Where packed bytes end too early, those before; `cut` says so.
    pub fn random(&self) -> Result<RandomAccess> {
        let mut cut = None;
        let bytes = match (&self.place, self.codec) {
            (Place::Bytes(data), Codec::Plain) => Bytes::Memory(Arc::clone(data)),
            (Place::File { path, offset, len }, Codec::Plain) => {
                let file = File::open(path)?;
                let size = file.metadata()?.len();
                let there = size.saturating_sub(*offset);
                Bytes::File { file, offset: *offset, len: len.map_or(there, |len| len.min(there)) }
            }
            _ => self.spool(&mut cut)?,
        };
        let stored = self.codec == Codec::Plain && !matches!(self.place, Place::Reader(_));
        let access = RandomAccess { bytes, tally: Arc::clone(&self.tally), stored, cut };
        self.tally.unpacked.fetch_max(access.len(), Ordering::Relaxed);
        Ok(access)
    }

    /// Hash of the bytes as stored, as 32 hex digits. Reads what was not read yet.
    pub fn content_hash(&self) -> Result<String> {
        let mut buffer = vec![0; 1 << 20];
        if let Place::Reader(slot) = &self.place {
            // Whoever opened the stream owns it; what was left unread cannot be known any more.
            if let Some(mut read) = lock(slot).take() {
                loop {
                    let n = retry(|| read.read(&mut buffer))?;
                    if n == 0 {
                        break;
                    }
                    let mut hash = lock(&self.tally.hash);
                    let at = hash.at;
                    hash.take(at, &buffer[..n]);
                }
            }
        } else {
            let mut packed = self.packed()?;
            packed.tally = None;
            packed.skip(lock(&self.tally.hash).at)?;
            loop {
                let n = retry(|| packed.read(&mut buffer))?;
                if n == 0 {
                    break;
                }
                let mut hash = lock(&self.tally.hash);
                let at = hash.at;
                hash.take(at, &buffer[..n]);
            }
        }
        Ok(format!("{:032x}", lock(&self.tally.hash).state.digest128()))
    }

    fn packed(&self) -> Result<Packed> {
        let source = match &self.place {
            Place::File { path, offset, len } => {
                let mut file = File::open(path)?;
                if *offset > 0 {
                    file.seek(SeekFrom::Start(*offset))?;
                }
                Source::File(file, len.unwrap_or(u64::MAX))
            }
            Place::Bytes(data) => Source::Bytes(Arc::clone(data), 0),
            Place::Reader(slot) => match lock(slot).take() {
                Some(read) => Source::Reader(read),
                None => return Err(Error::new(Kind::Io, "a stream can be read only once")),
            },
        };
        Ok(Packed { source, tally: Some(Arc::clone(&self.tally)), at: 0 })
    }

    /// Reads everything: up to [`SPOOL_BYTES`] into memory, more into an unnamed temporary file.
    fn spool(&self, cut: &mut Option<String>) -> Result<Bytes> {
        let mut read = Whole { read: self.open()?, cut };
        let mut data = Vec::new();
        read.by_ref().take(SPOOL_BYTES).read_to_end(&mut data)?;
        if (data.len() as u64) < SPOOL_BYTES {
            return Ok(Bytes::Memory(Arc::new(data)));
        }
        let mut file = unnamed_file()?;
        file.write_all(&data)?;
        drop(data);
        let len = SPOOL_BYTES + io::copy(&mut read, &mut file)?;
        Ok(Bytes::File { file, offset: 0, len })
    }
}

/// Ends where packed bytes end too early, and keeps why.
struct Whole<'a> {
    read: Box<dyn Read + Send>,
    cut: &'a mut Option<String>,
}

impl Read for Whole<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.cut.is_some() {
            return Ok(0);
        }
        self.read.read(out).or_else(|error| {
            if !ends_early(&error) {
                return Err(error);
            }
            *self.cut = Some(error.to_string());
            Ok(0)
        })
    }
}
