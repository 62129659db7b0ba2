//! JSON text, written fast: into a buffer that always has room for the next short piece.

use std::io::Write;

/// Bytes that are always writable behind the end, so that short texts are copied at a fixed size.
const SLACK: usize = 64;

/// Longest value of type bytes that is written out (as base64); longer ones give their size.
const BASE64_LIMIT_BYTES: usize = 256;

/// A growing text whose buffer ends later than the text.
#[derive(Debug, Default)]
pub struct Text {
    buffer: Vec<u8>,
    length: usize,
}

impl Text {
    pub fn with_capacity(bytes: usize) -> Self {
        Text { buffer: vec![0; bytes + SLACK], length: 0 }
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length
    }

    #[inline(always)]
    pub fn as_bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// Forgets everything from byte `length` on.
    #[inline(always)]
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    #[inline(always)]
    pub fn set(&mut self, at: usize, byte: u8) {
        self.buffer[at] = byte;
    }

    pub fn into_bytes(mut self) -> Vec<u8> {
        self.buffer.truncate(self.length);
        self.buffer
    }

    #[inline(always)]
    fn room(&mut self, bytes: usize) {
        if self.buffer.len() - self.length < bytes + SLACK {
            self.grow(bytes);
        }
    }

    #[cold]
    fn grow(&mut self, bytes: usize) {
        let size = (self.buffer.len() * 3 / 2).max(self.length + bytes) + 4 * SLACK;
        self.buffer.resize(size, 0);
    }

    #[inline(always)]
    pub fn byte(&mut self, byte: u8) {
        self.room(1);
        self.buffer[self.length] = byte;
        self.length += 1;
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.room(bytes.len());
        self.buffer[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Copies `pool[start..start + length]`. Short ones are copied 32 bytes at a time, which the
    /// pool allows when it goes on for 32 bytes after every text in it.
    #[inline(always)]
    pub fn push_from(&mut self, pool: &[u8], start: usize, length: usize) {
        self.room(32);
        if length <= 32
            && let Some(from) = pool.get(start..).and_then(|rest| rest.first_chunk::<32>())
            && let Some(to) = self.chunk()
        {
            *to = *from;
            self.length += length;
            return;
        }
        self.push(&pool[start..start + length]);
    }

    /// The 32 bytes behind the end, once there is room.
    #[inline(always)]
    fn chunk(&mut self) -> Option<&mut [u8; 32]> {
        self.buffer.get_mut(self.length..)?.first_chunk_mut()
    }

    #[inline(always)]
    pub fn unsigned(&mut self, value: u64) {
        if value < 10 {
            return self.byte(b'0' + value as u8);
        }
        let (first, length) = leading(value);
        self.room(32);
        let Some(out) = self.chunk() else {
            return self.push(value.to_string().as_bytes());
        };
        out[..8].copy_from_slice(&first.to_le_bytes());
        let mut end = length;
        if value >= 10_000_000_000_000_000 {
            let middle = eight_digits((value / 100_000_000 % 100_000_000) as u32);
            out[length..length + 8].copy_from_slice(&middle.to_le_bytes());
            end += 8;
        }
        if value >= 100_000_000 {
            let last = eight_digits((value % 100_000_000) as u32);
            out[end..end + 8].copy_from_slice(&last.to_le_bytes());
            end += 8;
        }
        self.length += end;
    }

    #[inline(always)]
    pub fn signed(&mut self, value: i64) {
        if value < 0 {
            self.byte(b'-');
        }
        self.unsigned(value.unsigned_abs());
    }

    /// The shortest number that reads back as the same double; a string for what JSON cannot say.
    pub fn double(&mut self, value: f64) {
        if value.is_finite() {
            // Debug, unlike Display, writes 1e300 as such.
            self.formatted(format_args!("{value:?}"));
        } else if value.is_nan() {
            self.push(b"\"NaN\"");
        } else if value > 0.0 {
            self.push(b"\"Infinity\"");
        } else {
            self.push(b"\"-Infinity\"");
        }
    }

    pub fn formatted(&mut self, text: std::fmt::Arguments<'_>) {
        let mut short = std::io::Cursor::new([0; 64]);
        if short.write_fmt(text).is_ok() {
            self.push(&short.get_ref()[..short.position() as usize]);
        } else {
            self.push(text.to_string().as_bytes());
        }
    }

    /// A string in quotes. False when it was not UTF-8: the wrong bytes became U+FFFD.
    pub fn quoted(&mut self, bytes: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.quoted(String::from_utf8_lossy(bytes).as_bytes());
            return false;
        };
        self.byte(b'"');
        let mut written = 0;
        for (at, byte) in text.bytes().enumerate() {
            if byte >= 0x20 && byte != b'"' && byte != b'\\' {
                continue;
            }
            self.push(&bytes[written..at]);
            written = at + 1;
            match byte {
                b'"' => self.push(b"\\\""),
                b'\\' => self.push(b"\\\\"),
                b'\n' => self.push(b"\\n"),
                b'\r' => self.push(b"\\r"),
                b'\t' => self.push(b"\\t"),
                _ => self.formatted(format_args!("\\u{byte:04x}")),
            }
        }
        self.push(&bytes[written..]);
        self.byte(b'"');
        true
    }

    /// Bytes as base64 in quotes, or `{"bytes":N}` when there are too many.
    pub fn binary(&mut self, bytes: &[u8]) {
        if bytes.len() > BASE64_LIMIT_BYTES {
            return self.size_of(bytes.len() as u64);
        }
        self.byte(b'"');
        for three in bytes.chunks(3) {
            let group =
                three.iter().fold(0u32, |all, &byte| all << 8 | u32::from(byte)) << (8 * (3 - three.len()));
            for place in 0..4 {
                let sign = (group >> (18 - 6 * place)) & 63;
                self.byte(if place <= three.len() { BASE64[sign as usize] } else { b'=' });
            }
        }
        self.byte(b'"');
    }

    /// What replaces a value too long to be kept.
    pub fn size_of(&mut self, bytes: u64) {
        self.push(b"{\"bytes\":");
        self.unsigned(bytes);
        self.byte(b'}');
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The digits before the last eight or sixteen, as text in the low bytes, and how many they are.
#[inline(always)]
fn leading(value: u64) -> (u64, usize) {
    let top = match value {
        0..100_000_000 => value,
        100_000_000..10_000_000_000_000_000 => value / 100_000_000,
        _ => value / 10_000_000_000_000_000,
    };
    let text = eight_digits(top as u32);
    // Leading zeros, but never the last digit.
    let zeros = ((text & 0x0f0f_0f0f_0f0f_0f0f | 1 << 56).trailing_zeros() / 8) as usize;
    (text >> (8 * zeros), 8 - zeros)
}

/// Eight digits of a number below 10^8 as text, the first digit in the lowest byte: the number is
/// split into halves in lanes of one word, three times.
#[inline(always)]
fn eight_digits(value: u32) -> u64 {
    let fours = u64::from(value / 10_000) | u64::from(value % 10_000) << 32;
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    (tens | (twos - 10 * tens) << 8) + 0x3030_3030_3030_3030
}

#[cfg(test)]
mod tests {
    use super::Text;
    use proptest::prelude::*;

    fn written(write: impl FnOnce(&mut Text)) -> String {
        let mut text = Text::default();
        write(&mut text);
        String::from_utf8(text.into_bytes()).expect("UTF-8")
    }

    proptest! {
        #[test]
        fn integers(unsigned: u64, signed: i64, shift in 0u32..64) {
            prop_assert_eq!(written(|text| text.unsigned(unsigned >> shift)), (unsigned >> shift).to_string());
            prop_assert_eq!(written(|text| text.signed(signed >> shift)), (signed >> shift).to_string());
        }

        #[test]
        fn doubles_read_back(bits: u64) {
            let value = f64::from_bits(bits);
            let text = written(|text| text.double(value));
            if value.is_finite() {
                prop_assert_eq!(text.parse::<f64>().expect("a number").to_bits(), bits);
            } else {
                prop_assert!(text.starts_with('"') && text.ends_with('"'));
            }
        }

        #[test]
        fn parts_join(parts in prop::collection::vec("[a-z]{0,100}", 0..50)) {
            let mut pool = parts.concat().into_bytes();
            pool.extend([b'?'; 32]);
            let out = written(|text| {
                let mut start = 0;
                for part in &parts {
                    text.push_from(&pool, start, part.len());
                    start += part.len();
                }
            });
            prop_assert_eq!(out, parts.concat());
        }
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(
            written(|text| assert!(text.quoted("a\"b\\c\n\u{1}ü".as_bytes()))),
            "\"a\\\"b\\\\c\\n\\u0001ü\""
        );
        assert_eq!(written(|text| assert!(!text.quoted(b"a\xffb"))), "\"a\u{fffd}b\"");
    }

    #[test]
    fn bytes_as_base64() {
        for (bytes, expected) in [
            (&b""[..], "\"\""),
            (b"f", "\"Zg==\""),
            (b"fo", "\"Zm8=\""),
            (b"foo", "\"Zm9v\""),
            (b"\xff\xfe\xfd\xfc", "\"//79/A==\""),
        ] {
            assert_eq!(written(|text| text.binary(bytes)), expected);
        }
        assert_eq!(written(|text| text.binary(&[0; 5000])), "{\"bytes\":5000}");
    }
}
