//! Bytes to decode, plain or packed, with the guard against bombs.
//!
//! The content hash is taken of the bytes as stored while they are read, so that it costs no second
//! pass. Plain files are read, never mapped: their pages must not count as memory of this process.

use crate::error::{Error, Kind, Result};
use flate2::bufread::{DeflateDecoder, GzDecoder};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use xxhash_rust::xxh3::Xxh3;

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

/// Expansion that no honest trace reaches (they reach about 13) but a bomb does.
pub const RATIO_LIMIT: u64 = 200;
/// Unpacked bytes from which on the ratio counts.
pub const RATIO_FROM_BYTES: u64 = 64 << 20;
/// Packed or streamed input up to this size is kept in memory for random access.
const SPOOL_BYTES: u64 = 64 << 20;

/// Bytes to decode: where they are and how they are packed.
pub struct Input {
    place: Place,
    codec: Codec,
    tally: Arc<Tally>,
}

enum Place {
    File {
        path: PathBuf,
        offset: u64,
        len: Option<u64>,
    },
    Bytes(Arc<Vec<u8>>),
    Reader(Mutex<Option<Box<dyn Read + Send>>>),
}

/// What is learnt while reading.
#[derive(Default)]
struct Tally {
    /// Packed bytes read, for progress; a second pass counts again.
    packed: Arc<AtomicU64>,
    /// Unpacked bytes of the longest pass.
    unpacked: AtomicU64,
    hash: Mutex<Hash>,
}

/// Hash of a growing prefix of the stored bytes.
#[derive(Default)]
struct Hash {
    state: Xxh3,
    at: u64,
}

impl Hash {
    /// Takes in what lies beyond the prefix hashed so far, if `bytes` at `offset` joins it.
    fn take(&mut self, offset: u64, bytes: &[u8]) {
        let end = offset + bytes.len() as u64;
        if offset <= self.at && self.at < end {
            self.state.update(&bytes[(self.at - offset) as usize..]);
            self.at = end;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
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
        Input {
            place,
            codec,
            tally: Arc::default(),
        }
    }

    /// Counts the packed bytes read so far.
    pub fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.tally.packed)
    }

    /// Bytes after decompression, of the longest pass so far.
    pub fn bytes_in(&self) -> u64 {
        self.tally.unpacked.load(Ordering::Relaxed)
    }

    /// The unpacked bytes from the start. Fails with [`Kind::Limit`] (as an `io::Error` that
    /// [`Error`] turns back) on a bomb, with `UnexpectedEof` after the good bytes of a cut gzip.
    pub fn open(&self) -> Result<Box<dyn Read + Send>> {
        let packed = self.packed()?;
        let read: Box<dyn Read + Send> = match self.codec {
            Codec::Plain => Box::new(packed),
            Codec::Gzip => Box::new(Guard {
                read: Members::new(packed),
                tally: Arc::clone(&self.tally),
                out: 0,
            }),
            Codec::Deflate => Box::new(Guard {
                read: DeflateDecoder::new(BufReader::with_capacity(1 << 18, packed)),
                tally: Arc::clone(&self.tally),
                out: 0,
            }),
        };
        Ok(Box::new(Count {
            read,
            tally: Arc::clone(&self.tally),
            out: 0,
        }))
    }

    /// The unpacked bytes for reading at any place.
    pub fn random(&self) -> Result<RandomAccess> {
        let bytes = match (&self.place, self.codec) {
            (Place::Bytes(data), Codec::Plain) => Bytes::Memory(Arc::clone(data)),
            (Place::File { path, offset, len }, Codec::Plain) => {
                let file = File::open(path)?;
                let size = file.metadata()?.len();
                let there = size.saturating_sub(*offset);
                Bytes::File {
                    file,
                    offset: *offset,
                    len: len.map_or(there, |len| len.min(there)),
                }
            }
            _ => self.spool()?,
        };
        let hash = self.codec == Codec::Plain && !matches!(self.place, Place::Reader(_));
        let access = RandomAccess {
            bytes,
            tally: Arc::clone(&self.tally),
            hash,
        };
        self.tally
            .unpacked
            .fetch_max(access.len(), Ordering::Relaxed);
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
        Ok(Packed {
            source,
            tally: Some(Arc::clone(&self.tally)),
            at: 0,
        })
    }

    /// Reads everything: up to [`SPOOL_BYTES`] into memory, more into an unnamed temporary file.
    fn spool(&self) -> Result<Bytes> {
        let mut read = self.open()?;
        let mut data = Vec::new();
        read.by_ref().take(SPOOL_BYTES).read_to_end(&mut data)?;
        if (data.len() as u64) < SPOOL_BYTES {
            return Ok(Bytes::Memory(Arc::new(data)));
        }
        let mut file = unnamed_file()?;
        file.write_all(&data)?;
        drop(data);
        let len = SPOOL_BYTES + io::copy(&mut read, &mut file)?;
        Ok(Bytes::File {
            file,
            offset: 0,
            len,
        })
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

fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// The bytes as stored, counted and hashed as they pass.
struct Packed {
    source: Source,
    tally: Option<Arc<Tally>>,
    at: u64,
}

enum Source {
    File(File, u64),
    Bytes(Arc<Vec<u8>>, usize),
    Reader(Box<dyn Read + Send>),
}

impl Packed {
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
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
            lock(&tally.hash).take(self.at, &out[..n]);
        }
        self.at += n as u64;
        Ok(n)
    }
}

/// The members of a gzip file, one after the other; zeros after the last are padding.
struct Members {
    member: Option<GzDecoder<BufReader<Packed>>>,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Inside,
    Ended,
}

impl Members {
    fn new(packed: Packed) -> Self {
        let read = BufReader::with_capacity(1 << 18, packed);
        Members {
            member: Some(GzDecoder::new(read)),
            state: State::Inside,
        }
    }

    /// After a member: true when another one follows.
    fn next(&mut self) -> io::Result<bool> {
        let Some(member) = self.member.take() else {
            return Ok(false);
        };
        let mut read = member.into_inner();
        loop {
            let buffer = read.fill_buf()?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let zeros = buffer.iter().take_while(|byte| **byte == 0).count();
            if zeros == 0 {
                if buffer[0] != 0x1f {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "bytes after the end of the gzip data",
                    ));
                }
                self.member = Some(GzDecoder::new(read));
                return Ok(true);
            }
            read.consume(zeros);
        }
    }
}

impl Read for Members {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() || self.state == State::Ended {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            let n = member.read(out)?;
            if n > 0 {
                return Ok(n);
            }
            if !self.next()? {
                self.state = State::Ended;
            }
        }
        Ok(0)
    }
}

/// Stops a bomb.
struct Guard<R> {
    read: R,
    tally: Arc<Tally>,
    out: u64,
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let packed = lock(&self.tally.hash).at.max(1);
        if self.out > RATIO_FROM_BYTES && self.out / packed > RATIO_LIMIT {
            return Err(io::Error::other(Error::at(
                Kind::Limit,
                self.out,
                format!("{packed} bytes unpack to more than {} bytes", self.out),
            )));
        }
        let n = self.read.read(out)?;
        self.out += n as u64;
        Ok(n)
    }
}

/// Counts the bytes after decompression.
struct Count {
    read: Box<dyn Read + Send>,
    tally: Arc<Tally>,
    out: u64,
}

impl Read for Count {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.read.read(out)?;
        self.out += n as u64;
        self.tally.unpacked.fetch_max(self.out, Ordering::Relaxed);
        Ok(n)
    }
}

/// The unpacked bytes, readable at any place and from several threads.
pub struct RandomAccess {
    bytes: Bytes,
    tally: Arc<Tally>,
    hash: bool,
}

enum Bytes {
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
