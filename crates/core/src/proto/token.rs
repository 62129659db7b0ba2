//! The tokens of protobuf's text format: names, numbers, strings with their escapes; and scalars on
//! their way to the wire. Used by [`crate::proto::text`] only.

use crate::proto::messages::Kind;

/// Why a piece could not be read: too few bytes, or not the format.
pub(crate) enum Stop {
    More,
    Fail(&'static str, usize),
}

pub(crate) type Piece<T> = std::result::Result<T, Stop>;

/// A value in wire format; `Bytes` are in the scratch buffer.
pub(crate) enum Wire {
    Varint(u64),
    Fixed32(u32),
    Fixed64(u64),
    Bytes,
    Nothing,
}

pub(crate) enum Scalar<'a> {
    /// In the scratch buffer.
    Quoted,
    /// A name or a number, without the minus.
    Bare { minus: bool, text: &'a str },
}

pub(crate) fn encode(
    kind: &Kind,
    scalar: &Scalar<'_>,
    quoted: &[u8],
    unknown: &mut u64,
) -> std::result::Result<Wire, &'static str> {
    let (minus, text) = match (kind, scalar) {
        (Kind::Text | Kind::Bytes, Scalar::Quoted) => return Ok(Wire::Bytes),
        (Kind::Text | Kind::Bytes, _) => return Err("a string without quotes"),
        (Kind::Message(_) | Kind::Unread, _) => return Err("a value where a message belongs"),
        // protobuf reads quoted enum names and numbers in no release, but JSON habits are strong.
        (Kind::Enum(_), Scalar::Quoted) => (false, std::str::from_utf8(quoted).unwrap_or_default()),
        (_, Scalar::Quoted) => return Err("a string where a number belongs"),
        (_, Scalar::Bare { minus, text }) => (*minus, *text),
    };
    Ok(match kind {
        Kind::Bool => match text {
            "true" | "True" | "t" | "1" => Wire::Varint(1),
            "false" | "False" | "f" | "0" => Wire::Varint(0),
            _ => return Err("neither true nor false"),
        },
        Kind::Int => Wire::Varint(integer(minus, text).ok_or("not an integer, or out of range")?),
        Kind::Enum(names) => match names.iter().find(|entry| entry.0 == text) {
            Some(entry) => Wire::Varint(entry.1 as u64),
            None => match integer(minus, text) {
                Some(number) => Wire::Varint(number),
                None => {
                    // An empty table belongs to an enumeration that nobody reads.
                    *unknown += u64::from(!names.is_empty());
                    Wire::Nothing
                }
            },
        },
        Kind::Float => Wire::Fixed32((float(minus, text).ok_or("not a number")? as f32).to_bits()),
        Kind::Double => Wire::Fixed64(float(minus, text).ok_or("not a number")?.to_bits()),
        _ => Wire::Nothing,
    })
}

/// Decimal, hexadecimal or octal, from -2^63 to 2^64-1.
pub(crate) fn integer(minus: bool, text: &str) -> Option<u64> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let value = u64::from_str_radix(digits, radix).ok()?;
    match minus {
        true if value > 1 << 63 => None,
        true => Some(value.wrapping_neg()),
        false => Some(value),
    }
}

pub(crate) fn float(minus: bool, text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    let value = match lower.as_str() {
        "inf" | "infinity" | "inff" | "infinityf" => f64::INFINITY,
        "nan" | "nanf" => f64::NAN,
        number if !number.starts_with(|c: char| c.is_ascii_digit() || c == '.') => return None,
        number => number.strip_suffix('f').unwrap_or(number).parse().ok()?,
    };
    Some(if minus { -value } else { value })
}

pub(crate) fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline(always)]
pub(crate) fn is_space(byte: u8) -> bool {
    byte == b' ' || byte.wrapping_sub(b'\t') < 5
}

#[inline(always)]
pub(crate) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A place in the bytes ahead.
pub(crate) struct Cursor<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
    pub(crate) ended: bool,
}

impl<'a> Cursor<'a> {
    /// The next byte.
    #[inline]
    pub(crate) fn look(&self) -> Piece<u8> {
        match self.bytes.get(self.at) {
            Some(byte) => Ok(*byte),
            None if self.ended => Err(Stop::Fail("the file ends inside a field", self.at)),
            None => Err(Stop::More),
        }
    }

    pub(crate) fn take_if(&mut self, wanted: u8) -> Piece<bool> {
        let found = self.look()? == wanted;
        self.at += usize::from(found);
        Ok(found)
    }

    /// Skips white space and comments inside a field.
    #[inline]
    pub(crate) fn blank(&mut self) -> Piece<()> {
        loop {
            match self.look()? {
                byte if is_space(byte) => self.at += 1,
                b'#' => match memchr::memchr(b'\n', &self.bytes[self.at..]) {
                    Some(length) => self.at += length + 1,
                    None if self.ended => self.at = self.bytes.len(),
                    None => return Err(Stop::More),
                },
                _ => return Ok(()),
            }
        }
    }

    /// Runs to the first byte that does not belong.
    pub(crate) fn run(&mut self, belongs: impl Fn(u8) -> bool) -> Piece<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| !belongs(*byte));
        let length = match length {
            Some(length) => length,
            None if self.ended => rest.len(),
            None => return Err(Stop::More),
        };
        self.at += length;
        Ok(&rest[..length])
    }

    /// A field name; `[extension.name]` gives an empty one, which no table knows.
    pub(crate) fn name(&mut self) -> Piece<&'a [u8]> {
        let start = self.at;
        if self.take_if(b'[')? {
            self.run(|byte| is_name(byte) || is_space(byte) || b"./-%+:".contains(&byte))?;
            if !self.take_if(b']')? {
                return Err(Stop::Fail("an extension's name without its end", start));
            }
            return Ok(&[]);
        }
        let name = self.run(is_name)?;
        if name.is_empty() {
            return Err(Stop::Fail("no name where a field should begin", start));
        }
        Ok(name)
    }

    /// A string (into `quoted`), a number or a name.
    pub(crate) fn scalar(&mut self, quoted: &mut Vec<u8>) -> Piece<Scalar<'a>> {
        let start = self.at;
        let first = self.look()?;
        if first == b'"' || first == b'\'' {
            self.string(first, quoted)?;
            // Strings side by side are one.
            loop {
                let behind = self.at;
                match self.blank() {
                    Ok(()) => {}
                    Err(Stop::Fail(..)) if self.ended => {
                        self.at = behind;
                        return Ok(Scalar::Quoted);
                    }
                    Err(stop) => return Err(stop),
                }
                match self.look()? {
                    quote @ (b'"' | b'\'') => self.string(quote, quoted)?,
                    _ => return Ok(Scalar::Quoted),
                }
            }
        }
        let minus = self.take_if(b'-')?;
        if minus {
            self.blank()?;
        }
        let from = self.at;
        self.run(|byte| is_name(byte) || byte == b'.')?;
        // 1e+5: the sign belongs to the number.
        let exponent = matches!(self.bytes[from..self.at].last(), Some(b'e' | b'E'))
            && matches!(self.bytes.get(from), Some(b'0'..=b'9' | b'.'));
        if exponent && self.at < self.bytes.len() && matches!(self.look()?, b'+' | b'-') {
            self.at += 1;
            self.run(|byte| byte.is_ascii_alphanumeric())?;
        }
        match std::str::from_utf8(&self.bytes[from..self.at]) {
            Ok(text) if !text.is_empty() => Ok(Scalar::Bare { minus, text }),
            _ => Err(Stop::Fail("no value where one should be", start)),
        }
    }

    /// One quoted string.
    fn string(&mut self, quote: u8, out: &mut Vec<u8>) -> Piece<()> {
        let start = self.at;
        self.at += 1;
        loop {
            let rest = &self.bytes[self.at..];
            let Some(length) = memchr::memchr3(quote, b'\\', b'\n', rest) else {
                return Err(match self.ended {
                    true => Stop::Fail("a string without its end", start),
                    false => Stop::More,
                });
            };
            out.extend_from_slice(&rest[..length]);
            self.at += length;
            match rest[length] {
                b'\n' => return Err(Stop::Fail("a line break in a string", self.at)),
                b'\\' => self.escape(out)?,
                _ => {
                    self.at += 1;
                    return Ok(());
                }
            }
        }
    }

    /// The escape at the cursor.
    fn escape(&mut self, out: &mut Vec<u8>) -> Piece<()> {
        let start = self.at;
        self.at += 1;
        let kind = self.look()?;
        self.at += 1;
        let plain = match kind {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'\\' | b'\'' | b'"' | b'?' => kind,
            b'0'..=b'7' => {
                self.at -= 1;
                self.digits(8, 3)? as u8
            }
            b'x' | b'X' => {
                if !self.look()?.is_ascii_hexdigit() {
                    return Err(Stop::Fail("an escape without its digits", start));
                }
                self.digits(16, 2)? as u8
            }
            b'u' | b'U' => {
                let width = if kind == b'u' { 4 } else { 8 };
                let before = self.at;
                let code = self.digits(16, width)?;
                let Some(c) = char::from_u32(code).filter(|_| self.at - before == width) else {
                    return Err(Stop::Fail("an escape that is no character", start));
                };
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(Stop::Fail("an unknown escape", start)),
        };
        out.push(plain);
        Ok(())
    }

    fn digits(&mut self, radix: u32, most: usize) -> Piece<u32> {
        let mut value = 0_u32;
        for _ in 0..most {
            let Some(digit) = (self.look()? as char).to_digit(radix) else {
                break;
            };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        Ok(value)
    }
}
