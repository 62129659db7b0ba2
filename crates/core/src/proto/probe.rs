//! Which of a few messages a file holds, and whether as text or binary: from its beginning, when it is decoded.

use crate::error::{Error, Kind, Result};
use crate::proto::messages::{Kind as Type, Message};
use crate::proto::wire;
use std::io::Read;

/// Bytes that are looked at.
const HEAD_BYTES: usize = 1 << 16;

/// The mark that some editors put before UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// How a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Wire format.
    Binary,
    /// Text format.
    Text,
}

/// A reader whose first bytes can be seen before they are read.
pub struct Head {
    bytes: Vec<u8>,
    at: usize,
    rest: Box<dyn Read + Send>,
    error: Option<std::io::Error>,
}

impl Head {
    /// Reads the beginning. An error after some bytes comes when those are used up.
    pub fn new(mut rest: Box<dyn Read + Send>) -> Result<Self> {
        let mut bytes = vec![0; HEAD_BYTES];
        let (mut filled, mut error) = (0, None);
        while filled < bytes.len() {
            match rest.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(failed) if failed.kind() == std::io::ErrorKind::Interrupted => {}
                Err(failed) => {
                    error = Some(failed);
                    break;
                }
            }
        }
        bytes.truncate(filled);
        if bytes.starts_with(BOM) {
            // Text may begin with it, nothing else can; white space says nothing and keeps the offsets.
            bytes[..BOM.len()].fill(b' ');
        }
        Ok(Head { bytes, at: 0, rest, error })
    }

    /// The first bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Read for Head {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at < self.bytes.len() {
            let n = out.len().min(self.bytes.len() - self.at);
            out[..n].copy_from_slice(&self.bytes[self.at..self.at + n]);
            self.at += n;
            return Ok(n);
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => self.rest.read(out),
        }
    }
}

/// Which of the messages the file is, and in which form.
pub fn choose(head: &Head, roots: &[&'static Message]) -> Result<(&'static Message, Form)> {
    let bytes = head.bytes();
    if bytes.is_empty() {
        return Err(Error::at(Kind::Damaged, 0, "the file is empty"));
    }
    if let Some(name) = first_name(bytes)
        && let Some(root) =
            roots.iter().find(|root| root.fields.iter().any(|field| field.name.as_bytes() == name))
    {
        return Ok((root, Form::Text));
    }
    // The one that is contradicted last: damage further on must not decide. Of equals the first.
    let until = |root: &&&'static Message| contradicted(root, bytes, 0, 0).unwrap_or(usize::MAX);
    let best = roots.iter().rev().max_by_key(until).expect("there are candidates");
    Ok((best, Form::Binary))
}

/// The name of the first field, when the bytes begin like text format.
pub(crate) fn first_name(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes.strip_prefix(BOM).unwrap_or(bytes).trim_ascii_start();
    while rest.first() == Some(&b'#') {
        rest = rest[memchr::memchr(b'\n', rest)?..].trim_ascii_start();
    }
    let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')?;
    matches!(rest[length..].trim_ascii_start().first(), Some(b':' | b'{' | b'<')).then(|| &rest[..length])
}

/// Where bytes, possibly cut short, first contradict being a message; None when they do not.
fn contradicted(message: &Message, bytes: &[u8], base: usize, depth: usize) -> Option<usize> {
    let mut at = 0;
    while at < bytes.len() {
        let start = base + at;
        let Ok((number, wire_type)) = wire::tag(bytes, &mut at) else {
            return Some(start);
        };
        if message.is_newer(number) {
            // Newer versions add fields; a whole one tells nothing.
            if wire::skip(bytes, &mut at, number, wire_type).is_err() {
                return Some(start);
            }
            continue;
        }
        let field = message.by_number(number);
        let kind = field.map(|field| &field.kind);
        if wire_type != 2 {
            let known = match kind {
                Some(Type::Int | Type::Bool | Type::Enum(_)) => wire_type == 0,
                Some(Type::Float) => wire_type == 5,
                Some(Type::Double) => wire_type == 1,
                _ => false,
            };
            if !known {
                return Some(start);
            }
            if wire::skip(bytes, &mut at, number, wire_type).is_err() {
                return None;
            }
            continue;
        }
        let length = wire::varint(bytes, &mut at)?;
        let end = at.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        let body = &bytes[at..end.min(bytes.len())];
        match kind {
            None => return Some(start),
            Some(Type::Text) => match std::str::from_utf8(body) {
                Ok(text) if text.bytes().any(|byte| byte < b' ') => return Some(start),
                Err(error) if error.error_len().is_some() || end <= bytes.len() => {
                    return Some(start);
                }
                _ => {}
            },
            Some(Type::Message(inner)) if depth < 8 => {
                let found = contradicted(inner, body, base + at, depth + 1);
                if found.is_some() {
                    return found;
                }
            }
            Some(Type::Message(_) | Type::Unread | Type::Bytes) => {}
            // Numbers one after the other.
            Some(_) if field.is_some_and(|field| field.repeated) => {}
            Some(_) => return Some(start),
        }
        at = end.min(bytes.len());
    }
    None
}
