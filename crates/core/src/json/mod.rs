//! A JSON tokenizer over bytes that may end anywhere.
//!
//! It tells a value that is cut off ([`Fault::More`]) from one that is wrong ([`Fault::Bad`]), walks
//! nested values without recursion, and accepts what writers of traces get wrong but readers can
//! understand: NaN and Infinity, trailing commas, raw control characters and unknown escapes in
//! strings. What it accepted beyond the standard is recorded in [`Cursor::odd`];
//! [`write_valid`] turns such a value into standard JSON.
//!
//! A little over 400 lines: the cursor is one state machine, and its scanning and texts are in files of their own.

mod nested;
mod scan;
mod text;
pub mod write;

pub use scan::special;
use scan::{ONES, is_space};
use std::borrow::Cow;
use text::hex4;
pub use text::{push_quoted, push_utf8, unescape, write_valid};

/// Why no value could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The bytes end within the value.
    More,
    /// Not JSON, whatever might follow. The cursor is near the fault.
    Bad,
}

type Result<T> = std::result::Result<T, Fault>;

/// A string has escapes.
pub const ESCAPED: u16 = 1;
/// A string has a raw control character.
pub const CONTROL: u16 = 2;
/// A string has a backslash that escapes nothing.
pub const BAD_ESCAPE: u16 = 4;
/// A string has an escaped surrogate, which is a character only as one of a pair.
pub const SURROGATE: u16 = 8;
/// NaN, Infinity or -Infinity.
pub const NOT_FINITE: u16 = 16;
/// A comma before a closing bracket.
pub const TRAILING_COMMA: u16 = 32;
/// Nested deeper than [`DEPTH_LIMIT`].
pub const DEEP: u16 = 64;
/// What needs [`write_valid`].
pub const REPAIR: u16 = CONTROL | BAD_ESCAPE | SURROGATE | NOT_FINITE | TRAILING_COMMA;

/// Nesting that readers of ours can be asked to follow.
pub const DEPTH_LIMIT: usize = 256;

/// The inside of a string, without its quotes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Text {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// [`ESCAPED`], [`CONTROL`], [`BAD_ESCAPE`], [`SURROGATE`].
    pub odd: u16,
}

impl Text {
    /// What it says, without its escapes.
    #[inline]
    pub fn plain(self, data: &[u8]) -> Cow<'_, [u8]> {
        let raw = &data[self.start..self.end];
        if self.odd & ESCAPED == 0 {
            return Cow::Borrowed(raw);
        }
        let mut out = Vec::new();
        unescape(raw, &mut out);
        Cow::Owned(out)
    }
}

/// What kind of value was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Shape {
    Object,
    Array,
    String,
    Number,
    NotFinite,
    True,
    False,
    Null,
}

/// Collects a value without the white space between its tokens, in runs as long as possible.
pub struct Minified<'o> {
    out: &'o mut Vec<u8>,
    from: usize,
    on: bool,
}

impl<'o> Minified<'o> {
    /// Starts at byte `from`; `on = false` collects nothing.
    pub fn new(out: &'o mut Vec<u8>, from: usize, on: bool) -> Self {
        Minified { out, from, on }
    }

    #[inline]
    fn gap(&mut self, data: &[u8], start: usize, end: usize) {
        if self.on {
            self.out.extend_from_slice(&data[self.from..start]);
            self.from = end;
        }
    }

    /// Takes `data[start..end]` as the `length` first bytes of `small`.
    #[inline(always)]
    pub fn known(&mut self, data: &[u8], start: usize, (small, length): (&[u8; 32], usize), end: usize) {
        if self.on {
            push(self.out, data, self.from, start);
            let to = self.out.len() + length;
            self.out.extend_from_slice(small);
            self.out.truncate(to);
            self.from = end;
        }
    }

    /// Ends at byte `end`.
    #[inline]
    pub fn finish(self, data: &[u8], end: usize) {
        if self.on {
            push(self.out, data, self.from, end);
        }
    }
}

/// Appends `data[from..to]`. Most stretches are short: those are copied as a block of one length, too
/// long, which is faster than a call with their true length.
#[inline(always)]
fn push(out: &mut Vec<u8>, data: &[u8], from: usize, to: usize) {
    if to - from <= 64
        && let Some(block) = data.get(from..).and_then(|rest| rest.first_chunk::<64>())
    {
        let end = out.len() + (to - from);
        out.extend_from_slice(block);
        out.truncate(end);
    } else {
        out.extend_from_slice(&data[from..to]);
    }
}

/// A place in the bytes.
#[derive(Debug)]
pub struct Cursor<'a> {
    /// The bytes.
    pub data: &'a [u8],
    /// The next byte to look at.
    pub pos: usize,
    /// What was accepted beyond the standard since this was last cleared.
    pub odd: u16,
    /// Outer containers, one bit each, 64 to a word: 1 for an object.
    outer: Vec<u64>,
}

impl<'a> Cursor<'a> {
    /// A cursor at `pos`.
    pub fn new(data: &'a [u8], pos: usize) -> Self {
        Cursor { data, pos, odd: 0, outer: Vec::new() }
    }

    /// The next byte.
    #[inline(always)]
    pub fn peek(&self) -> Result<u8> {
        self.data.get(self.pos).copied().ok_or(Fault::More)
    }

    /// Skips white space and returns the byte behind it.
    #[inline(always)]
    pub fn space(&mut self) -> Result<u8> {
        let byte = self.peek()?;
        if byte > b' ' {
            return Ok(byte);
        }
        // Most writers put one blank behind a colon or a comma.
        if byte == b' '
            && let Some(next) = self.data.get(self.pos + 1)
            && *next > b' '
        {
            self.pos += 1;
            return Ok(*next);
        }
        self.space_slow()
    }

    #[inline(never)]
    fn space_slow(&mut self) -> Result<u8> {
        loop {
            // Pretty-printed files hold long runs of blanks.
            while let Some(chunk) = self.data.get(self.pos..).and_then(|r| r.first_chunk::<8>())
                && u64::from_le_bytes(*chunk) == ONES * b' ' as u64
            {
                self.pos += 8;
            }
            let byte = self.peek()?;
            if !is_space(byte) {
                return Ok(byte);
            }
            self.pos += 1;
        }
    }

    /// Skips white space, which is left out of `out`, and returns the byte behind it.
    #[inline(always)]
    pub fn space_out(&mut self, out: &mut Minified<'_>) -> Result<u8> {
        let byte = self.peek()?;
        if byte > b' ' {
            return Ok(byte);
        }
        let start = self.pos;
        let byte = self.space()?;
        out.gap(self.data, start, self.pos);
        Ok(byte)
    }

    /// A string, from the byte behind its opening quote.
    #[inline(always)]
    pub fn string(&mut self) -> Result<Text> {
        let start = self.pos;
        let at = special(self.data, start);
        if self.data.get(at) == Some(&b'"') {
            self.pos = at + 1;
            return Ok(Text { start, end: at, odd: 0 });
        }
        self.string_slow(start, at)
    }

    #[cold]
    fn string_slow(&mut self, start: usize, mut at: usize) -> Result<Text> {
        let mut odd = 0;
        loop {
            match self.data.get(at) {
                None => return Err(Fault::More),
                Some(b'"') => {
                    self.pos = at + 1;
                    self.odd |= odd;
                    return Ok(Text { start, end: at, odd });
                }
                Some(b'\\') => {
                    odd |= ESCAPED;
                    match self.data.get(at + 1) {
                        None => return Err(Fault::More),
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                        Some(b'u') => match hex4(self.data, at + 2) {
                            Ok(unit) => {
                                if (0xd800..0xe000).contains(&unit) {
                                    odd |= SURROGATE;
                                }
                                at += 6;
                            }
                            Err(Fault::More) => return Err(Fault::More),
                            Err(Fault::Bad) => {
                                odd |= BAD_ESCAPE;
                                at += 2;
                            }
                        },
                        Some(_) => {
                            odd |= BAD_ESCAPE;
                            at += 1;
                        }
                    }
                }
                Some(_) => {
                    odd |= CONTROL;
                    at += 1;
                }
            }
            at = special(self.data, at);
        }
    }

    /// A number by the grammar, or NaN or an infinity. The bytes are `data[start..self.pos]`.
    #[inline]
    pub fn number(&mut self) -> Result<Shape> {
        let mut at = self.pos;
        let byte = |at: usize| self.data.get(at).copied().ok_or(Fault::More);
        if byte(at)? == b'-' {
            at += 1;
            if byte(at)? == b'I' {
                self.pos = at;
                self.word(b"Infinity")?;
                self.odd |= NOT_FINITE;
                return Ok(Shape::NotFinite);
            }
        }
        match byte(at)? {
            b'0' => at += 1,
            b'1'..=b'9' => {
                while byte(at)?.is_ascii_digit() {
                    at += 1;
                }
            }
            _ => return Err(Fault::Bad),
        }
        if byte(at)? == b'.' {
            at += 1;
            if !byte(at)?.is_ascii_digit() {
                return Err(Fault::Bad);
            }
            while byte(at)?.is_ascii_digit() {
                at += 1;
            }
        }
        if byte(at)? | 0x20 == b'e' {
            at += 1;
            if matches!(byte(at)?, b'+' | b'-') {
                at += 1;
            }
            if !byte(at)?.is_ascii_digit() {
                return Err(Fault::Bad);
            }
            while byte(at)?.is_ascii_digit() {
                at += 1;
            }
        }
        self.pos = at;
        Ok(Shape::Number)
    }

    fn word(&mut self, word: &[u8]) -> Result<()> {
        for expected in word {
            if self.peek()? != *expected {
                return Err(Fault::Bad);
            }
            self.pos += 1;
        }
        Ok(())
    }

    /// A value that is not a container, from its first byte.
    #[inline]
    pub fn scalar(&mut self, first: u8) -> Result<Shape> {
        match first {
            b'"' => {
                self.pos += 1;
                self.string()?;
                Ok(Shape::String)
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true").map(|()| Shape::True),
            b'f' => self.word(b"false").map(|()| Shape::False),
            b'n' => self.word(b"null").map(|()| Shape::Null),
            b'N' | b'I' => {
                self.word(if first == b'N' { b"NaN" } else { b"Infinity" })?;
                self.odd |= NOT_FINITE;
                Ok(Shape::NotFinite)
            }
            _ => Err(Fault::Bad),
        }
    }

    /// A key and the colon behind it, from the opening quote; ends at the value's first byte.
    #[inline(always)]
    pub fn key(&mut self, out: &mut Minified<'_>) -> Result<Text> {
        if self.peek()? != b'"' {
            return Err(Fault::Bad);
        }
        self.pos += 1;
        let key = self.string()?;
        if self.space_out(out)? != b':' {
            return Err(Fault::Bad);
        }
        self.pos += 1;
        self.space_out(out)?;
        Ok(key)
    }

    /// Any value, from its first byte.
    #[inline]
    pub fn value(&mut self, out: &mut Minified<'_>) -> Result<Shape> {
        match self.peek()? {
            first @ (b'{' | b'[') => {
                self.container(first == b'{', out)?;
                Ok(if first == b'{' { Shape::Object } else { Shape::Array })
            }
            first => self.scalar(first),
        }
    }

    /// An object, member by member, from its opening brace: `member` gets the key with the cursor
    /// at the first byte of the value, and must read the value.
    #[inline(always)]
    pub fn members(
        &mut self,
        out: &mut Minified<'_>,
        mut member: impl FnMut(&mut Self, Text, &mut Minified<'_>) -> Result<()>,
    ) -> Result<()> {
        self.pos += 1;
        if self.space_out(out)? == b'}' {
            self.pos += 1;
            return Ok(());
        }
        loop {
            let key = self.key(out)?;
            member(self, key, out)?;
            match self.space_out(out)? {
                b',' => {
                    self.pos += 1;
                    if self.space_out(out)? == b'}' {
                        self.odd |= TRAILING_COMMA;
                        self.pos += 1;
                        return Ok(());
                    }
                }
                b'}' => {
                    self.pos += 1;
                    return Ok(());
                }
                _ => return Err(Fault::Bad),
            }
        }
    }
}

#[cfg(test)]
mod tests;
