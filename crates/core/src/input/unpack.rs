//! Unpacking, with the guard against bombs.

use crate::error::{Error, Kind};
use crate::input::packed::{Packed, Tally};
use flate2::Crc;
use flate2::bufread::GzDecoder;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Expansion that no honest trace reaches (they reach about 13) but a bomb does.
const RATIO_LIMIT: u64 = 200;
/// Unpacked bytes from which on the ratio counts.
const RATIO_FROM_BYTES: u64 = 64 << 20;

/// The members of a gzip file, one after the other; zeros after the last are padding.
pub(crate) struct Members {
    member: Option<GzDecoder<BufReader<Packed>>>,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Inside,
    Ended,
}

impl Members {
    pub fn new(packed: Packed) -> Self {
        let read = BufReader::with_capacity(1 << 18, packed);
        Members { member: Some(GzDecoder::new(read)), state: State::Inside }
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
                    return Err(io::Error::new(io::ErrorKind::InvalidData, Trailing));
                }
                self.member = Some(GzDecoder::new(read));
                return Ok(true);
            }
            read.consume(zeros);
        }
    }
}

/// Bytes behind the last member that are neither zeros nor another member.
#[derive(Debug)]
struct Trailing;

impl fmt::Display for Trailing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes after the end of the gzip data")
    }
}

impl std::error::Error for Trailing {}

/// True for an error of packed bytes that comes when all before it is unpacked and good.
pub(crate) fn ends_early(error: &io::Error) -> bool {
    let inner = error.get_ref();
    error.kind() == io::ErrorKind::UnexpectedEof || inner.is_some_and(|inner| inner.is::<Trailing>())
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
pub(crate) struct Guard<R> {
    pub read: R,
    pub tally: Arc<Tally>,
    pub out: u64,
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let packed = self.tally.passed.load(Ordering::Relaxed).max(1);
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
pub(crate) struct Count {
    pub read: Box<dyn Read + Send>,
    pub tally: Arc<Tally>,
    pub out: u64,
}

impl Read for Count {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.read.read(out)?;
        self.out += n as u64;
        self.tally.unpacked.fetch_max(self.out, Ordering::Relaxed);
        Ok(n)
    }
}

/// Compares the bytes with their CRC-32 once they end.
pub(crate) struct Checked<R> {
    read: R,
    seen: Crc,
    wanted: Option<u32>,
}

impl<R> Checked<R> {
    pub fn new(read: R, crc: u32) -> Self {
        Checked { read, seen: Crc::new(), wanted: Some(crc) }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.read.read(out)?;
        self.seen.update(&out[..n]);
        if n == 0 && !out.is_empty() && self.wanted.take().is_some_and(|crc| crc != self.seen.sum()) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the checksum of the archive does not match",
            ));
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::RATIO_FROM_BYTES;
    use crate::input::{Codec, Input};
    use flate2::{Compression, write::GzEncoder};
    use std::io::{self, Read, Write};

    fn packed(block: &[u8], times: usize) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        (0..times).for_each(|_| packer.write_all(block).unwrap());
        packer.finish().unwrap()
    }

    #[test]
    fn a_wrong_checksum_fails_after_the_last_byte() {
        let right = 0xcbf4_3926; // CRC-32 of the digits, by its definition
        let read = |crc| {
            let input = Input::bytes(b"123456789".to_vec(), Codec::Plain).with_crc(crc);
            let mut data = Vec::new();
            let outcome = input.open().unwrap().read_to_end(&mut data);
            (data, outcome.map_err(|error| error.kind()))
        };
        assert_eq!(read(right), (b"123456789".to_vec(), Ok(9)));
        let wrong = (b"123456789".to_vec(), Err(io::ErrorKind::InvalidData));
        assert_eq!(read(right + 1), wrong);
    }

    #[test]
    fn a_bomb_is_told_from_a_large_file_whether_hashed_or_not() {
        // As much as no window of deflate sees twice.
        let numbers = (0..50_000_u32).map(|i| format!("op {}\n", i.wrapping_mul(0x9e37_79b9)));
        let block: String = numbers.collect();
        let file = packed(block.as_bytes(), (80 << 20) / block.len());
        let bomb = packed(&[0; 1 << 20], 100);
        for in_passing in [false, true] {
            let read = |data: &[u8]| {
                let input = Input::bytes(data.to_vec(), Codec::Gzip);
                if in_passing {
                    input.hash_in_passing();
                }
                io::copy(&mut input.open().unwrap(), &mut io::sink())
            };
            assert!(read(&file).is_ok_and(|bytes| bytes > RATIO_FROM_BYTES));
            assert!(read(&bomb).is_err());
        }
    }
}
