//! A JSON tokenizer over bytes that may end anywhere.
//!
//! It tells a value that is cut off ([`Fault::More`]) from one that is wrong ([`Fault::Bad`]), walks
//! nested values without recursion, and accepts what writers of traces get wrong but readers can
//! understand: NaN and Infinity, trailing commas, raw control characters and unknown escapes in
//! strings. What it accepted beyond the standard is recorded in [`Cursor::odd`];
//! [`write_valid`] turns such a value into standard JSON.

/// Why no value could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The bytes end within the value.
    More,
    /// No JSON, whatever might follow. The cursor stands near the fault.
    Bad,
}

type Result<T> = std::result::Result<T, Fault>;

/// A string has escapes.
pub const ESCAPED: u16 = 1;
/// A string has a raw control character.
pub const CONTROL: u16 = 2;
/// A string has a backslash that escapes nothing.
pub const BAD_ESCAPE: u16 = 4;
/// A string has an escaped surrogate; alone it would be no character.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// [`ESCAPED`], [`CONTROL`], [`BAD_ESCAPE`], [`SURROGATE`].
    pub odd: u16,
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

    /// Ends at byte `end`.
    #[inline]
    pub fn finish(self, data: &[u8], end: usize) {
        if self.on {
            self.out.extend_from_slice(&data[self.from..end]);
        }
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

const ONES: u64 = 0x0101_0101_0101_0101;

/// Index of the first quote, backslash or control character from `at` on, or the length.
#[inline(always)]
pub fn special(data: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = data.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        let hit = specials(chunk);
        if hit != 0 {
            return at + (hit.trailing_zeros() >> 3) as usize;
        }
        at += 16;
    }
    while let Some(byte) = data.get(at) {
        if *byte == b'"' || *byte == b'\\' || *byte < 0x20 {
            break;
        }
        at += 1;
    }
    at
}

/// All bits of each byte that is a quote, a backslash or a control character. Written so that the
/// compiler compares sixteen bytes at a time.
#[inline(always)]
fn specials(chunk: &[u8; 16]) -> u128 {
    let mut hits = [0_u8; 16];
    for (hit, byte) in hits.iter_mut().zip(chunk) {
        let special = (*byte == b'"') | (*byte == b'\\') | (*byte < 0x20);
        *hit = if special { 0xff } else { 0 };
    }
    u128::from_le_bytes(hits)
}

#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

impl<'a> Cursor<'a> {
    /// A cursor at `pos`.
    pub fn new(data: &'a [u8], pos: usize) -> Self {
        Cursor {
            data,
            pos,
            odd: 0,
            outer: Vec::new(),
        }
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

    #[inline(always)]
    fn space_out(&mut self, out: &mut Minified<'_>) -> Result<u8> {
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
            return Ok(Text {
                start,
                end: at,
                odd: 0,
            });
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
                    return Ok(Text {
                        start,
                        end: at,
                        odd,
                    });
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

    /// A value that is no container, from its first byte.
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
    fn key(&mut self, out: &mut Minified<'_>) -> Result<Text> {
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
                Ok(if first == b'{' {
                    Shape::Object
                } else {
                    Shape::Array
                })
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

    /// The rest of a container, from its opening bracket, without recursion.
    fn container(&mut self, object: bool, out: &mut Minified<'_>) -> Result<()> {
        self.outer.clear();
        let mut kinds = object as u64;
        let mut depth = 1_usize;
        let mut object = object;
        self.pos += 1;
        // True right behind an opening bracket, where a closing one may follow.
        let mut fresh = true;
        loop {
            // Before a member or an element, or the end.
            let mut first = self.space_out(out)?;
            let closing = if object { b'}' } else { b']' };
            if first == closing {
                if !fresh {
                    self.odd |= TRAILING_COMMA;
                }
            } else {
                if object {
                    self.key(out)?;
                    first = self.peek()?;
                }
                if first == b'{' || first == b'[' {
                    if depth.is_multiple_of(64) {
                        self.outer.push(kinds);
                    }
                    depth += 1;
                    if depth > DEPTH_LIMIT {
                        self.odd |= DEEP;
                    }
                    object = first == b'{';
                    kinds = kinds << 1 | object as u64;
                    self.pos += 1;
                    fresh = true;
                    continue;
                }
                self.scalar(first)?;
            }
            // Behind a member or an element, or at the end.
            loop {
                let closing = if object { b'}' } else { b']' };
                match self.space_out(out)? {
                    b',' => {
                        self.pos += 1;
                        fresh = false;
                        break;
                    }
                    byte if byte == closing => {
                        self.pos += 1;
                        depth -= 1;
                        if depth == 0 {
                            return Ok(());
                        }
                        kinds >>= 1;
                        if depth.is_multiple_of(64) {
                            kinds = self.outer.pop().unwrap_or(0);
                        }
                        object = kinds & 1 == 1;
                    }
                    _ => return Err(Fault::Bad),
                }
            }
        }
    }
}

fn hex4(data: &[u8], at: usize) -> Result<u32> {
    let mut unit = 0;
    for i in at..at + 4 {
        let byte = data.get(i).ok_or(Fault::More)?;
        unit = unit << 4 | (*byte as char).to_digit(16).ok_or(Fault::Bad)?;
    }
    Ok(unit)
}

/// The text of a string as read by [`Cursor::string`]. True when something had to be replaced: a
/// lone surrogate or bytes that are no UTF-8 became U+FFFD.
pub fn unescape(raw: &[u8], out: &mut Vec<u8>) -> bool {
    let mut replaced = false;
    let mut at = 0;
    while at < raw.len() {
        let next = memchr::memchr(b'\\', &raw[at..]).map_or(raw.len(), |i| at + i);
        replaced |= push_utf8(&raw[at..next], out);
        at = next;
        if at == raw.len() {
            break;
        }
        let plain = match raw.get(at + 1) {
            Some(b @ (b'"' | b'\\' | b'/')) => *b,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let (c, length) = unicode(raw, at);
                let lone = length == 6 && c == char::REPLACEMENT_CHARACTER;
                replaced |= lone && hex4(raw, at + 2) != Ok(0xfffd);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                at += length;
                continue;
            }
            _ => {
                out.push(b'\\');
                at += 1;
                continue;
            }
        };
        out.push(plain);
        at += 2;
    }
    replaced
}

/// The character of the escape at `at`, and its length. A backslash when it is no valid escape.
fn unicode(raw: &[u8], at: usize) -> (char, usize) {
    let Ok(unit) = hex4(raw, at + 2) else {
        return ('\\', 1);
    };
    if let Some(c) = char::from_u32(unit) {
        return (c, 6);
    }
    if unit < 0xdc00
        && raw.get(at + 6..at + 8) == Some(b"\\u")
        && let Ok(low @ 0xdc00..0xe000) = hex4(raw, at + 8)
    {
        let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        return (
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
            12,
        );
    }
    (char::REPLACEMENT_CHARACTER, 6)
}

/// Appends bytes, what is no UTF-8 as U+FFFD; true when there was such.
pub fn push_utf8(raw: &[u8], out: &mut Vec<u8>) -> bool {
    let mut replaced = false;
    for chunk in raw.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
            replaced = true;
        }
    }
    replaced
}

/// Appends `text` as a JSON string with its quotes.
pub fn push_quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    push_escaped(text.as_bytes(), out);
    out.push(b'"');
}

fn push_escaped(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(*byte),
        }
    }
}

/// Appends a value that [`Cursor::value`] accepted as standard JSON in valid UTF-8 without white
/// space. NaN and the infinities become strings. True when a lone surrogate or invalid UTF-8 was
/// replaced.
pub fn write_valid(raw: &[u8], out: &mut Vec<u8>) -> bool {
    let mut cursor = Cursor::new(raw, 0);
    let mut replaced = false;
    let mut comma = false;
    let mut text = Vec::new();
    while let Ok(byte) = cursor.space() {
        if byte == b',' {
            comma = true;
            cursor.pos += 1;
            continue;
        }
        if comma && !matches!(byte, b'}' | b']') {
            out.push(b',');
        }
        comma = false;
        let start = cursor.pos;
        match byte {
            b'{' | b'}' | b'[' | b']' | b':' => {
                out.push(byte);
                cursor.pos += 1;
            }
            b'"' => {
                cursor.pos += 1;
                let Ok(part) = cursor.string() else { break };
                let inside = &raw[part.start..part.end];
                if part.odd & REPAIR == 0 {
                    out.push(b'"');
                    replaced |= push_utf8(inside, out);
                    out.push(b'"');
                } else {
                    text.clear();
                    replaced |= unescape(inside, &mut text);
                    out.push(b'"');
                    push_escaped(&text, out);
                    out.push(b'"');
                }
            }
            _ => {
                // A number may be the last byte of `raw`, where the cursor would wait for more.
                while cursor
                    .peek()
                    .is_ok_and(|b| !is_space(b) && !b",:[]{}\"".contains(&b))
                {
                    cursor.pos += 1;
                }
                let word = &raw[start..cursor.pos];
                if word.ends_with(b"NaN") || word.ends_with(b"Infinity") {
                    out.push(b'"');
                    out.extend_from_slice(word);
                    out.push(b'"');
                } else {
                    out.extend_from_slice(word);
                }
            }
        }
    }
    replaced
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
