//! Protocol Buffers as bytes: varints, tags, fields. Knows no message.
//!
//! Reads what the encoding guide defines and refuses what protobuf's own decoder (upb) refuses:
//! field number 0, wire types 6 and 7, tags and lengths of more than five bytes, varints of more
//! than ten, groups left open or nested deeper than a hundred. Nothing is allocated by a length, and
//! a length is believed only when the bytes are there. A little over 400 lines, one for each rule of the guide.

use crate::error::{Error, Kind};
use std::borrow::Cow;

/// Groups may nest this deep, as in protobuf itself.
const GROUP_LIMIT: usize = 100;

/// Bytes that are not protobuf, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the field that could not be read, on the scale of [`Fields::new`]'s `base`.
    pub offset: u64,
    /// What is wrong, as half a sentence.
    pub seen: &'static str,
}

impl From<Damage> for Error {
    fn from(damage: Damage) -> Self {
        Error::at(Kind::Damaged, damage.offset, damage.seen)
    }
}

/// Reads the varint at `*at` and moves `*at` behind it. None when the bytes end inside it or it is
/// longer than ten bytes; bits past the 64th are dropped, as protobuf does.
#[inline(always)]
pub fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    if first < 0x80 {
        *at += 1;
        return Some(u64::from(first));
    }
    long_varint(bytes, at)
}

/// Like [`varint`], for numbers of any length alike: no branch to guess wrong where short and long
/// ones take turns.
#[inline(always)]
pub fn mixed_varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let eight = bytes.get(*at..).and_then(|rest| rest.first_chunk::<8>());
    let word = u64::from_le_bytes(eight.copied().unwrap_or([0x80; 8]));
    let ends = !word & 0x8080_8080_8080_8080;
    if ends == 0 {
        return varint(bytes, at);
    }
    let last = ends.trailing_zeros();
    *at += (last / 8 + 1) as usize;
    Some(close_gaps(word & (u64::MAX >> (63 - last))))
}

/// The varint that fills all of the first `length` bytes of `bytes` (the lowest first), of which there
/// are at most ten. The result holds only the bits of the lowest eight.
#[inline(always)]
pub fn short_varint(bytes: u128, length: usize) -> Option<u64> {
    const ENDS: u128 = 0x8080_8080_8080_8080_8080;
    // A length is whatever the file says.
    if length > 10 {
        return None;
    }
    let ends = !bytes & ENDS;
    // Only the last byte may lack the sign that another follows.
    if ends.trailing_zeros() as usize != (8 * length).wrapping_sub(1) {
        return None;
    }
    let used = u64::MAX >> (64 - 8 * length.min(8));
    Some(close_gaps(bytes as u64 & used))
}

#[inline]
fn long_varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    // Eight bytes at once: find the last byte of the number, then close the gaps of its groups of seven.
    let rest = bytes.get(*at..)?;
    if let Some(ten) = rest.first_chunk::<10>() {
        let word = u64::from_le_bytes(*ten.first_chunk()?);
        let ends = !word & 0x8080_8080_8080_8080;
        if ends != 0 {
            let length = (ends.trailing_zeros() / 8 + 1) as usize;
            *at += length;
            return Some(close_gaps(word & (u64::MAX >> (64 - 8 * length))));
        }
        let (ninth, tenth) = (u64::from(ten[8]), u64::from(ten[9]));
        let value = close_gaps(word) | ninth << 56;
        if ninth < 0x80 {
            *at += 9;
            return Some(value);
        }
        *at += 10;
        return (tenth < 0x80).then_some(value & (u64::MAX >> 1) | tenth << 63);
    }
    let mut value = 0u64;
    for (index, byte) in rest.iter().enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            *at += index + 1;
            return Some(value);
        }
    }
    None
}

/// Eight groups of seven bits, each in its byte, become one number of 56 bits.
#[inline(always)]
fn close_gaps(word: u64) -> u64 {
    let word = word & 0x7f7f_7f7f_7f7f_7f7f;
    let word = (word & 0x007f_007f_007f_007f) | ((word & 0x7f00_7f00_7f00_7f00) >> 1);
    let word = (word & 0x0000_3fff_0000_3fff) | ((word & 0x3fff_0000_3fff_0000) >> 2);
    (word & 0x0fff_ffff) | ((word & 0x0fff_ffff_0000_0000) >> 4)
}

/// Reads a tag: field number and wire type (0, 1, 2, 3, 4 or 5).
#[inline(always)]
pub fn tag(bytes: &[u8], at: &mut usize) -> Result<(u32, u8), &'static str> {
    let start = *at;
    let raw = varint(bytes, at).ok_or("a tag that is cut short or too long")?;
    if *at - start > 5 || raw > u64::from(u32::MAX) {
        return Err("a tag that is too long");
    }
    let (number, wire) = ((raw >> 3) as u32, (raw & 7) as u8);
    if number == 0 {
        return Err("field number 0");
    }
    if wire > 5 {
        return Err("an unknown wire type");
    }
    Ok((number, wire))
}

/// Reads the length of a field and returns it when that many bytes follow.
#[inline(always)]
pub fn length(bytes: &[u8], at: &mut usize) -> Result<usize, &'static str> {
    let start = *at;
    let length = varint(bytes, at).ok_or("a length that is cut short or too long")?;
    if !plausible_length(length, *at - start) {
        return Err("a length that is too long");
    }
    if length > (bytes.len() - *at) as u64 {
        return Err("a field that reaches past the end of what holds it");
    }
    Ok(length as usize)
}

/// True for a length that a writer may have written in so many bytes: protobuf allows five.
#[inline(always)]
pub fn plausible_length(length: u64, encoded_bytes: usize) -> bool {
    encoded_bytes <= 5 || length > u64::from(u32::MAX)
}

/// Value of a field by wire type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// int32, int64, uint32, uint64, bool, enum (and zigzag numbers, still folded).
    Varint(u64),
    /// fixed64, sfixed64, double.
    Fixed64(u64),
    /// string, bytes, a message, or packed numbers.
    Bytes(&'a [u8]),
    /// fixed32, sfixed32, float.
    Fixed32(u32),
}

/// One field of a message. Asking for another wire type than the field has gives None: protobuf
/// treats such a field as unknown, and so should the caller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field<'a> {
    /// Field number.
    pub number: u32,
    /// Its value.
    pub value: Value<'a>,
    /// Offset of its tag.
    pub offset: u64,
    /// Offset of its value: of the first payload byte for [`Value::Bytes`].
    pub body: u64,
}

impl<'a> Field<'a> {
    /// Value of an unsigned integer field.
    pub fn u64(&self) -> Option<u64> {
        match self.value {
            Value::Varint(value) => Some(value),
            _ => None,
        }
    }

    /// Value of a signed integer field (int32 and int64: two's complement in 64 bits).
    pub fn i64(&self) -> Option<i64> {
        self.u64().map(|value| value as i64)
    }

    /// Value of a bool field.
    pub fn bool(&self) -> Option<bool> {
        self.u64().map(|value| value != 0)
    }

    /// Value of a double field.
    pub fn f64(&self) -> Option<f64> {
        match self.value {
            Value::Fixed64(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Value of a float field.
    pub fn f32(&self) -> Option<f32> {
        match self.value {
            Value::Fixed32(bits) => Some(f32::from_bits(bits)),
            _ => None,
        }
    }

    /// Value of a bytes field.
    pub fn bytes(&self) -> Option<&'a [u8]> {
        match self.value {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Value of a string field. Owned when it was not UTF-8 and had to be repaired: protobuf
    /// refuses the whole message then, we keep it and the caller counts it.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        self.bytes().map(String::from_utf8_lossy)
    }

    /// Fields of a message field.
    pub fn message(&self) -> Option<Fields<'a>> {
        self.bytes().map(|bytes| Fields::new(bytes, self.body))
    }

    /// Key and value of an entry of a map by number; a key that is not written, or is no number, is 0.
    pub fn entry(&self) -> (i64, Option<Field<'a>>) {
        let (mut key, mut value) = (0, None);
        for part in self.message().into_iter().flatten().flatten() {
            match part.number {
                1 => key = part.i64().unwrap_or_default(),
                2 => value = Some(part),
                _ => {}
            }
        }
        (key, value)
    }

    /// Numbers of a repeated varint field, packed or not.
    pub fn varints(&self) -> Varints<'a> {
        match self.value {
            Value::Varint(value) => Varints { single: Some(value), bytes: &[], base: self.body, at: 0 },
            Value::Bytes(bytes) => Varints { single: None, bytes, base: self.body, at: 0 },
            _ => Varints { single: None, bytes: &[], base: self.body, at: 0 },
        }
    }
}

/// Fields of one message in the order of its bytes. Groups, obsolete and used by none of our
/// formats, are skipped. After an error it ends.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    base: u64,
    at: usize,
}

impl<'a> Fields<'a> {
    /// The message in `bytes`, whose first byte is at offset `base` of the input.
    pub fn new(bytes: &'a [u8], base: u64) -> Self {
        Fields { bytes, base, at: 0 }
    }

    /// Offset of the next field.
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    fn read(&mut self) -> Result<Option<Field<'a>>, &'static str> {
        let bytes = self.bytes;
        while self.at < bytes.len() {
            let offset = self.offset();
            let mut at = self.at;
            let (number, wire) = tag(bytes, &mut at)?;
            if wire == 3 {
                skip_group(bytes, &mut at, number)?;
                self.at = at;
                continue;
            }
            let mut body = at;
            let value = match wire {
                0 => Value::Varint(varint(bytes, &mut at).ok_or("a number that is cut short or too long")?),
                1 => Value::Fixed64(u64::from_le_bytes(fixed(bytes, &mut at)?)),
                2 => {
                    let length = length(bytes, &mut at)?;
                    body = at;
                    at += length;
                    Value::Bytes(&bytes[body..at])
                }
                5 => Value::Fixed32(u32::from_le_bytes(fixed(bytes, &mut at)?)),
                _ => return Err("the end of a group that never began"),
            };
            self.at = at;
            return Ok(Some(Field { number, value, offset, body: self.base + body as u64 }));
        }
        Ok(None)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read() {
            Ok(field) => field.map(Ok),
            Err(seen) => {
                let damage = Damage { offset: self.offset(), seen };
                self.at = self.bytes.len();
                Some(Err(damage))
            }
        }
    }
}

/// Numbers of a repeated field; after an error it ends.
#[derive(Debug, Clone)]
pub struct Varints<'a> {
    single: Option<u64>,
    bytes: &'a [u8],
    base: u64,
    at: usize,
}

impl Iterator for Varints<'_> {
    type Item = Result<u64, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(value) = self.single.take() {
            return Some(Ok(value));
        }
        if self.at >= self.bytes.len() {
            return None;
        }
        let offset = self.base + self.at as u64;
        let value = varint(self.bytes, &mut self.at);
        if value.is_none() {
            self.at = self.bytes.len();
        }
        Some(value.ok_or(Damage { offset, seen: "a number that is cut short or too long" }))
    }
}

fn fixed<const N: usize>(bytes: &[u8], at: &mut usize) -> Result<[u8; N], &'static str> {
    let found = bytes.get(*at..).and_then(|rest| rest.first_chunk::<N>());
    *at += N;
    found.copied().ok_or("a fixed number that is cut short")
}

/// Moves `*at` behind the value of a field of any wire type whose tag was just read.
pub fn skip(bytes: &[u8], at: &mut usize, number: u32, wire: u8) -> Result<(), &'static str> {
    match wire {
        0 => varint(bytes, at).map(|_| ()).ok_or("a number that is cut short or too long"),
        1 => fixed::<8>(bytes, at).map(|_| ()),
        2 => length(bytes, at).map(|length| *at += length),
        3 => skip_group(bytes, at, number),
        5 => fixed::<4>(bytes, at).map(|_| ()),
        _ => Err("the end of a group that never began"),
    }
}

/// Skips to the end of a group; a stack of our own, so that no input overflows the machine's.
fn skip_group(bytes: &[u8], at: &mut usize, number: u32) -> Result<(), &'static str> {
    let mut open = vec![number];
    while let Some(&innermost) = open.last() {
        if *at >= bytes.len() {
            return Err("a group without its end");
        }
        let (number, wire) = tag(bytes, at)?;
        match wire {
            3 if open.len() >= GROUP_LIMIT => return Err("groups nested too deep"),
            3 => open.push(number),
            4 if number == innermost => {
                open.pop();
            }
            4 => return Err("the end of another group"),
            _ => skip(bytes, at, number, wire)?,
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
