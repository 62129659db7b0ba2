//! The members of the outermost object: the event array, and what is said beside it.

use super::outer::{Outer, State};
use crate::facts::Effect;
use crate::json::{Cursor, Fault, Minified, Shape, unescape, write_valid};

/// Text of one top-level value that is kept at most.
const META_BYTES: usize = 64 << 10;
/// Top-level values that are kept at most.
const META: usize = 1000;
/// Values up to this size are held in memory, longer ones are skipped as they come.
const VALUE_BYTES: usize = 1 << 20;
/// What Chrome and Perfetto keep beside the events: stacks that were sampled, and what the system traced.
const UNREAD: [&str; 2] = ["samples", "systemTraceEvents"];

impl Outer<'_> {
    /// One member of the outermost object, or its end.
    pub(super) fn member(&mut self, data: &[u8], pos: &mut usize, at: u64, last: bool) -> bool {
        let mut cursor = Cursor::new(data, *pos);
        let start = loop {
            match cursor.space() {
                Ok(b',') => cursor.pos += 1,
                Ok(b'}') => {
                    *pos = cursor.pos + 1;
                    self.closed = true;
                    self.state = State::After;
                    return true;
                }
                Ok(_) => break cursor.pos,
                Err(_) => {
                    *pos = cursor.pos;
                    return false;
                }
            }
        };
        *pos = start;
        let mut text = Vec::new();
        let mut name = Vec::new();
        let mut value_from = start;
        let read = (|| {
            if cursor.peek()? != b'"' {
                return Err(Fault::Bad);
            }
            cursor.pos += 1;
            let key = cursor.string()?;
            unescape(&data[key.start..key.end], &mut name);
            if cursor.space()? != b':' {
                return Err(Fault::Bad);
            }
            cursor.pos += 1;
            let first = cursor.space()?;
            value_from = cursor.pos;
            if name == b"traceEvents" && first == b'[' {
                cursor.pos += 1;
                return Ok(None);
            }
            let from = cursor.pos;
            let mut minified = Minified::new(&mut text, from, true);
            let shape = cursor.value(&mut minified)?;
            // The comma or brace behind a number belongs to what follows.
            minified.finish(data, cursor.pos);
            Ok(Some((shape, &data[from..cursor.pos])))
        })();
        match read {
            Ok(None) => {
                *pos = cursor.pos;
                self.arrays += 1;
                self.state = State::Events;
                true
            }
            Ok(Some((shape, raw))) => {
                *pos = cursor.pos;
                self.keep(&name, shape, raw);
                true
            }
            Err(Fault::More) if value_from > start && data.len() - start > VALUE_BYTES => {
                *pos = value_from;
                self.too_long(&name, at + start as u64);
                self.state = State::Skip { depth: 0, string: false, escaped: false };
                true
            }
            Err(Fault::More) if !last && data.len() - start <= VALUE_BYTES => false,
            Err(_) => {
                self.state = if self.arrays == 0 {
                    State::Seek
                } else {
                    State::Resync { flaw: None, start: (at + *pos as u64).saturating_sub(1), effort: 0 }
                };
                true
            }
        }
    }

    fn keep(&mut self, name: &[u8], shape: Shape, raw: &[u8]) {
        let name = String::from_utf8_lossy(name).into_owned();
        if raw.iter().filter(|byte| !byte.is_ascii_whitespace()).count() > "[]".len() {
            self.unread(&name);
        }
        let mut text = Vec::new();
        if shape == Shape::String {
            unescape(&raw[1..raw.len() - 1], &mut text);
        } else {
            write_valid(raw, &mut text);
        }
        let facts = &self.committer.writer.facts;
        if text.len() + name.len() > META_BYTES || facts.meta.len() >= META {
            self.left_out(&name, 0);
            return;
        }
        self.committer.writer.facts.meta.insert(name, String::from_utf8_lossy(&text).into_owned());
    }

    /// A value that is skipped as it comes.
    fn too_long(&mut self, name: &[u8], offset: u64) {
        let name = String::from_utf8_lossy(&name[..name.len().min(100)]).into_owned();
        self.unread(&name);
        self.left_out(&name, offset);
    }

    fn left_out(&mut self, name: &str, offset: u64) {
        let detail =
            format!("top-level value {name} is longer than 64 KiB or one too many, and was left out");
        self.committer.writer.note("value-too-long", Effect::Info, 0, Some(offset), detail);
    }

    /// Says of what holds events of its own that these are not read.
    fn unread(&mut self, name: &str) {
        if UNREAD.contains(&name) {
            let detail = format!("{name} stand beside the events, and are not read");
            self.committer.writer.note("unread-beside-events", Effect::Missing, 0, None, detail);
        }
    }
}
