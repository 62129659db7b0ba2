//! The words of HLO text: names, numbers, strings, brackets and shapes. Nothing here knows what an instruction is.

use super::shape::{Budget, Element, Layout, Shape};
use crate::error::{Error, Kind, Result};

/// A place in a text.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    /// All of the text.
    pub bytes: &'a [u8],
    /// The next byte.
    pub at: usize,
}

/// An error at a place.
pub fn odd(at: usize, seen: impl Into<String>) -> Error {
    Error::at(Kind::Damaged, at as u64, seen)
}

impl<'a> Cursor<'a> {
    /// The next byte; 0 at the end.
    pub fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Whether all is read.
    pub fn done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Moves over blanks and comments, and over the ends of lines if `lines`.
    pub fn blanks(&mut self, lines: bool) {
        loop {
            match self.peek() {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' if lines => self.at += 1,
                b'/' if self.bytes[self.at..].starts_with(b"/*") => {
                    let body = &self.bytes[self.at..];
                    let end = memchr::memmem::find(body, b"*/");
                    self.at += end.map_or(body.len(), |end| end + 2);
                }
                b'/' if lines && self.bytes[self.at..].starts_with(b"//") => {
                    self.line();
                }
                _ => return,
            }
        }
    }

    /// Moves over these bytes if they come next.
    pub fn take(&mut self, word: &[u8]) -> bool {
        let found = self.bytes[self.at.min(self.bytes.len())..].starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// The bytes up to the first for which `ends` holds.
    pub fn until(&mut self, ends: impl Fn(u8) -> bool) -> &'a [u8] {
        let start = self.at.min(self.bytes.len());
        let length = self.bytes[start..].iter().position(|&one| ends(one));
        self.at = length.map_or(self.bytes.len(), |length| start + length);
        &self.bytes[start..self.at]
    }

    /// Moves behind the end of the line.
    pub fn line(&mut self) -> &'a [u8] {
        let found = self.until(|one| one == b'\n');
        self.at += 1;
        found
    }

    /// The bytes up to one of `stops` outside brackets, strings and comments; an error where brackets do not match.
    pub fn value(&mut self, stops: &[u8]) -> Result<&'a [u8]> {
        let start = self.at;
        let mut open: Vec<u8> = Vec::new();
        while let Some(&one) = self.bytes.get(self.at) {
            if open.is_empty() && stops.contains(&one) {
                break;
            }
            match one {
                b'(' => open.push(b')'),
                b'[' => open.push(b']'),
                b'{' => open.push(b'}'),
                b')' | b']' | b'}' if open.pop() != Some(one) => {
                    return Err(odd(self.at, "a bracket that nothing opened"));
                }
                b'"' => {
                    self.string();
                    continue;
                }
                b'/' if self.bytes[self.at..].starts_with(b"/*") => {
                    self.blanks(false);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        if open.is_empty() {
            Ok(&self.bytes[start..self.at])
        } else {
            Err(odd(start, "a bracket that nothing closes"))
        }
    }

    /// Moves behind a string in quotes, and returns what is between them, still escaped.
    fn string(&mut self) -> &'a [u8] {
        let start = self.at + 1;
        self.at = start;
        while let Some(&one) = self.bytes.get(self.at) {
            match one {
                b'\\' => self.at += 1,
                b'"' => break,
                _ => {}
            }
            self.at += 1;
        }
        let end = self.at.min(self.bytes.len());
        self.at = (self.at + 1).min(self.bytes.len());
        &self.bytes[start.min(end)..end]
    }

    /// A shape.
    pub fn shape(&mut self, depth: usize, budget: &mut Budget) -> Result<Shape> {
        budget.take(1, self.at as u64)?;
        if depth > Budget::DEPTH {
            return Err(Error::at(Kind::Limit, self.at as u64, "tuples nested too deep"));
        }
        self.blanks(false);
        let mut one = Shape::default();
        if self.take(b"(") {
            let mut parts = Vec::new();
            loop {
                self.blanks(true);
                if self.take(b")") {
                    break;
                }
                parts.push(self.shape(depth + 1, budget)?);
                self.blanks(true);
                if !self.take(b",") && self.peek() != b')' {
                    return Err(odd(self.at, "a tuple's shape without its end"));
                }
            }
            one.element = Element::TUPLE;
            one.parts = parts.into();
            return Ok(one);
        }
        let start = self.at;
        let name = self.until(|it| !it.is_ascii_alphanumeric());
        if name.is_empty() || !self.take(b"[") {
            return Err(odd(start, "no shape where one is needed"));
        }
        one.element = Element::of_name(name);
        let dims = self.until(|it| it == b']' || it == b'\n');
        if !self.take(b"]") {
            return Err(odd(start, "a shape without its end"));
        }
        let mut sizes = Vec::new();
        for (at, dim) in dims.split(|&it| it == b',').enumerate() {
            let dim = dim.trim_ascii();
            let size = dim.strip_prefix(b"<=");
            if size.is_some() && at < 64 {
                one.dynamic |= 1 << at;
            }
            match size.unwrap_or(dim) {
                b"" => {}
                b"?" => sizes.push(0),
                size => sizes.push(integer(size).ok_or_else(|| odd(start, "a size that is no number"))?),
            }
        }
        one.dims = sizes.into();
        if self.peek() == b'{' {
            let place = self.at;
            let body = self.value(b" ,)\n")?;
            let inner = body.strip_prefix(b"{").and_then(|it| it.strip_suffix(b"}"));
            one.lay(layout(inner.ok_or_else(|| odd(place, "a layout without its end"))?));
        }
        Ok(one)
    }
}

/// `1,0:T(8,128)E(4)S(1)`.
fn layout(body: &[u8]) -> Layout {
    let (order, more) = match body.iter().position(|&it| it == b':') {
        Some(at) => (&body[..at], &body[at + 1..]),
        None => (body, &b""[..]),
    };
    let mut one = Layout { minor_to_major: integers(order), ..Layout::default() };
    let mut key = b' ';
    let mut rest = more;
    while let Some((&next, behind)) = rest.split_first() {
        rest = behind;
        if next != b'(' {
            key = next;
            continue;
        }
        let end = rest.iter().position(|&it| it == b')').unwrap_or(rest.len());
        let numbers = integers(&rest[..end]);
        rest = rest.get(end + 1..).unwrap_or_default();
        let first = numbers.first().copied().unwrap_or_default();
        match key {
            b'T' => one.tiles.push(numbers),
            b'E' => one.bits = first.clamp(0, 1 << 12) as u16,
            b'S' => one.space = first,
            _ => {}
        }
    }
    one
}

/// A number.
pub fn integer(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.trim().parse().ok()
}

/// Numbers with commas between them, in braces or not; others are left out.
pub fn integers(body: &[u8]) -> Vec<i64> {
    let body = body.trim_ascii();
    let body = body.strip_prefix(b"{").unwrap_or(body);
    let body = body.strip_suffix(b"}").unwrap_or(body);
    body.split(|&one| one == b',').filter_map(integer).collect()
}

/// A string in quotes without them and its escapes; other text as it is.
pub fn unquoted(value: &[u8]) -> String {
    let value = value.trim_ascii();
    let inner = (value.strip_prefix(b"\"")).map(|it| it.strip_suffix(b"\"").unwrap_or(it));
    let Some(inner) = inner else {
        return String::from_utf8_lossy(value).into_owned();
    };
    if !inner.contains(&b'\\') {
        return String::from_utf8_lossy(inner).into_owned();
    }
    let mut made = Vec::with_capacity(inner.len());
    let mut at = 0;
    while let Some(&one) = inner.get(at) {
        at += 1;
        if one != b'\\' {
            made.push(one);
            continue;
        }
        let escaped = inner.get(at).copied().unwrap_or(b'\\');
        at += 1;
        match escaped {
            b'n' => made.push(b'\n'),
            b't' => made.push(b'\t'),
            b'r' => made.push(b'\r'),
            b'0'..=b'7' => {
                let digits = inner[at - 1..].iter().take(3);
                let octal: Vec<u8> = digits.take_while(|it| matches!(it, b'0'..=b'7')).copied().collect();
                at += octal.len() - 1;
                made.push(octal.iter().fold(0_u32, |sum, it| sum * 8 + u32::from(it - b'0')) as u8);
            }
            other => made.push(other),
        }
    }
    String::from_utf8_lossy(&made).into_owned()
}

/// The last word of an operand without its `%`: what stands before it is its shape.
pub fn last_name(value: &[u8]) -> &[u8] {
    let value = value.trim_ascii();
    let start = value.iter().rposition(|&one| one == b' ' || one == b'/');
    let word = &value[start.map_or(0, |at| at + 1)..];
    word.strip_prefix(b"%").unwrap_or(word)
}
