//! The file from front to back: what stands around the events, pieces of them in order, and what to
//! do where the bytes are damaged.
//!
//! Workers read pieces ahead, each guessing that its piece begins between two events. Here every
//! guess is held against where the piece before really ended; what does not fit is read again. So
//! the result never depends on the guesses, nor on how the file is cut.

use super::commit::Committer;
use super::event::{Rules, Scanner, Stop};
use super::piece::{Delta, Flaw, Piece};
use crate::error::{Error, Kind, Result};
use crate::facts::Effect;
use crate::json::{Cursor, Fault, Minified, Shape, unescape, write_valid};

/// A piece as a worker read it ahead.
pub struct Ahead {
    /// What it holds.
    pub piece: Piece,
    /// What the worker learnt.
    pub delta: Delta,
    /// Where reading stopped.
    pub stop: Stop,
}

/// Text of one top-level value that is kept at most.
const META_BYTES: usize = 64 << 10;
/// Top-level values that are kept at most.
const META: usize = 1000;
/// Values up to this size are held in memory, longer ones are skipped as they come.
const VALUE_BYTES: usize = 1 << 20;
/// An event after damage is recognised when it is no longer than this.
const PLAUSIBLE_BYTES: usize = 1 << 20;

enum State {
    /// Before anything.
    Start,
    /// Between the members of the outermost object.
    Members,
    /// In a value that is too long to hold: depth, and whether within a string and behind a backslash.
    Skip {
        depth: usize,
        string: bool,
        escaped: bool,
    },
    /// The head is damaged: looking for the key that leads to the events.
    Seek,
    /// Between two elements of the event array.
    Events,
    /// After damage: looking for the next event.
    Resync {
        flaw: Option<Flaw>,
        start: u64,
        effort: u64,
    },
    /// Behind the outermost value.
    After,
}

/// Reads a whole file.
pub struct Outer<'w> {
    /// Takes the pieces.
    pub committer: Committer<'w>,
    state: State,
    /// Bytes that wait for those that follow, and where they lie.
    carry: Vec<u8>,
    carry_at: u64,
    /// Length of `carry` from which on another attempt is worth while.
    patience: usize,
    rules: Rules,
    scanner: Scanner,
    /// The file is a bare array.
    bare: bool,
    /// Event arrays met, and damage met.
    arrays: u64,
    closed: bool,
    skipped: u64,
    trailing: Option<u64>,
}

impl<'w> Outer<'w> {
    /// A reader at the start of a file.
    pub fn new(committer: Committer<'w>, rules: Rules) -> Self {
        Outer {
            committer,
            state: State::Start,
            carry: Vec::new(),
            carry_at: 0,
            patience: 0,
            rules,
            scanner: Scanner::new(0),
            bare: false,
            arrays: 0,
            closed: false,
            skipped: 0,
            trailing: None,
        }
    }

    /// Takes the next bytes of the file, which lie at `at`, and what a worker made of them.
    pub fn take(&mut self, bytes: &[u8], at: u64, ahead: Option<Ahead>) -> Result<()> {
        let mut from = 0;
        if let Some(mut ahead) = ahead {
            if matches!(self.state, State::Events) && self.carry.is_empty() {
                from = match ahead.stop {
                    Stop::Boundary => bytes.len(),
                    Stop::More(p) | Stop::Damage(p) | Stop::TooLong(p) | Stop::End(p) => p,
                };
                self.committer
                    .take(&mut ahead.piece, ahead.delta, &bytes[..from], at)?;
                self.stopped(ahead.stop, at, false);
            } else {
                self.committer.learn(&ahead.delta);
            }
        }
        if self.carry.is_empty() {
            let used = from + self.work(&bytes[from..], at + from as u64, false)?;
            self.carry.extend_from_slice(&bytes[used..]);
            self.carry_at = at + used as u64;
            self.patience = self.carry.len() * 2;
            return Ok(());
        }
        self.carry.extend_from_slice(&bytes[from..]);
        if self.carry.len() < self.patience {
            return Ok(());
        }
        self.work_carry(false)
    }

    fn work_carry(&mut self, last: bool) -> Result<()> {
        let mut carry = std::mem::take(&mut self.carry);
        let used = self.work(&carry, self.carry_at, last)?;
        self.carry_at += used as u64;
        carry.drain(..used);
        self.patience = carry.len() * 2;
        self.carry = carry;
        Ok(())
    }

    /// Goes as far as the bytes allow; returns how many are done with.
    fn work(&mut self, data: &[u8], at: u64, last: bool) -> Result<usize> {
        let mut pos = 0;
        loop {
            let before = pos;
            let go_on = match self.state {
                State::Start => self.start(data, &mut pos, at, last)?,
                State::Members => self.member(data, &mut pos, at, last),
                State::Skip { .. } => self.skip(data, &mut pos),
                State::Seek => self.seek(data, &mut pos, last),
                State::Events => self.events(data, &mut pos, at, last)?,
                State::Resync { .. } => self.resync(data, &mut pos, at, last),
                State::After => self.after(data, &mut pos, at),
            };
            if !go_on {
                return Ok(if last { data.len().max(pos) } else { pos });
            }
            debug_assert!(pos >= before);
        }
    }

    fn start(&mut self, data: &[u8], pos: &mut usize, at: u64, last: bool) -> Result<bool> {
        const BOM: &[u8] = b"\xef\xbb\xbf";
        if at == 0 && *pos == 0 && data.len() < BOM.len() && BOM.starts_with(data) && !last {
            return Ok(false);
        }
        if at == 0 && *pos == 0 && data.starts_with(BOM) {
            *pos = BOM.len();
        }
        let mut cursor = Cursor::new(data, *pos);
        let Ok(byte) = cursor.space() else {
            *pos = data.len();
            return Ok(false);
        };
        *pos = cursor.pos + 1;
        self.state = match byte {
            b'[' => {
                self.bare = true;
                self.arrays += 1;
                State::Events
            }
            b'{' => State::Members,
            _ => {
                let offset = at + cursor.pos as u64;
                let seen =
                    format!("a JSON trace begins with {{ or [, this file with byte 0x{byte:02x}");
                return Err(Error::at(Kind::NotThisFormat, offset, seen));
            }
        };
        Ok(true)
    }

    /// One member of the outermost object, or its end.
    fn member(&mut self, data: &[u8], pos: &mut usize, at: u64, last: bool) -> bool {
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
                self.state = State::Skip {
                    depth: 0,
                    string: false,
                    escaped: false,
                };
                true
            }
            Err(Fault::More) if !last && data.len() - start <= VALUE_BYTES => false,
            Err(_) => {
                self.state = if self.arrays == 0 {
                    State::Seek
                } else {
                    State::Resync {
                        flaw: None,
                        start: (at + *pos as u64).saturating_sub(1),
                        effort: 0,
                    }
                };
                true
            }
        }
    }

    fn keep(&mut self, name: &[u8], shape: Shape, raw: &[u8]) {
        let name = String::from_utf8_lossy(name).into_owned();
        let mut text = Vec::new();
        if shape == Shape::String {
            unescape(&raw[1..raw.len() - 1], &mut text);
        } else {
            write_valid(raw, &mut text);
        }
        let facts = &self.committer.writer.facts;
        if text.len() + name.len() > META_BYTES || facts.meta.len() >= META {
            self.too_long(name.as_bytes(), 0);
            return;
        }
        self.committer
            .writer
            .facts
            .meta
            .insert(name, String::from_utf8_lossy(&text).into_owned());
    }

    fn too_long(&mut self, name: &[u8], offset: u64) {
        let name = String::from_utf8_lossy(&name[..name.len().min(100)]).into_owned();
        let detail = format!(
            "top-level value {name} is longer than 64 KiB or one too many, and was left out"
        );
        self.committer
            .writer
            .note("value-too-long", Effect::Info, 0, Some(offset), detail);
    }

    /// Skips a value without holding it.
    fn skip(&mut self, data: &[u8], pos: &mut usize) -> bool {
        let State::Skip {
            mut depth,
            mut string,
            mut escaped,
        } = self.state
        else {
            return true;
        };
        while let Some(byte) = data.get(*pos) {
            if escaped {
                escaped = false;
            } else if string {
                match byte {
                    b'\\' => escaped = true,
                    b'"' => string = false,
                    _ => {}
                }
            } else {
                match byte {
                    b'"' => string = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' if depth > 0 => depth -= 1,
                    b',' | b'}' | b']' if depth == 0 => {
                        self.state = State::Members;
                        return true;
                    }
                    _ => {}
                }
            }
            *pos += 1;
        }
        self.state = State::Skip {
            depth,
            string,
            escaped,
        };
        false
    }

    /// Looks for `"traceEvents": [`.
    fn seek(&mut self, data: &[u8], pos: &mut usize, last: bool) -> bool {
        const KEY: &[u8] = b"\"traceEvents\"";
        while let Some(found) = memchr::memmem::find(&data[*pos..], KEY) {
            *pos += found;
            let mut cursor = Cursor::new(data, *pos + KEY.len());
            let open = cursor.space().and_then(|byte| {
                cursor.pos += 1;
                if byte == b':' {
                    cursor.space()
                } else {
                    Err(Fault::Bad)
                }
            });
            match open {
                Ok(b'[') => {
                    *pos = cursor.pos + 1;
                    self.arrays += 1;
                    self.state = State::Events;
                    self.committer.writer.note(
                        "damaged-head",
                        Effect::Missing,
                        0,
                        Some(0),
                        "what stands before the events is damaged",
                    );
                    return true;
                }
                Err(Fault::More) if !last => return false,
                _ => *pos += KEY.len(),
            }
        }
        *pos = (*pos).max(data.len().saturating_sub(KEY.len()));
        false
    }

    fn events(&mut self, data: &[u8], pos: &mut usize, at: u64, last: bool) -> Result<bool> {
        let rules = Rules {
            origin_us: self.committer.origin_us,
            ..self.rules
        };
        let mut piece = Piece::default();
        let stop = self.scanner.read(data, *pos, &rules, &mut piece);
        let end = match stop {
            Stop::Boundary => data.len(),
            Stop::More(p) | Stop::Damage(p) | Stop::TooLong(p) | Stop::End(p) => p,
        };
        let delta = self.scanner.delta();
        self.committer
            .take(&mut piece, delta, &data[*pos..end], at + *pos as u64)?;
        *pos = end;
        Ok(self.stopped(stop, at, last))
    }

    /// Goes on after the reader of events stopped; `at` is where its bytes lie.
    fn stopped(&mut self, stop: Stop, at: u64, last: bool) -> bool {
        let (flaw, start) = match stop {
            Stop::Boundary => return false,
            Stop::More(_) if !last => return false,
            Stop::End(_) => {
                self.closed |= self.bare;
                self.state = if self.bare {
                    State::After
                } else {
                    State::Members
                };
                return true;
            }
            Stop::More(p) => (Flaw::Truncated, p),
            Stop::Damage(p) => (Flaw::Damaged, p),
            Stop::TooLong(p) => (Flaw::EventTooLong, p),
        };
        self.state = State::Resync {
            flaw: Some(flaw),
            start: at + start as u64,
            effort: 0,
        };
        true
    }

    /// Looks for the next event after damage.
    fn resync(&mut self, data: &[u8], pos: &mut usize, at: u64, last: bool) -> bool {
        let State::Resync {
            flaw,
            start,
            mut effort,
        } = self.state
        else {
            return true;
        };
        // The element that is damaged is not tried again.
        let mut from = (*pos).max((start + 1).saturating_sub(at) as usize);
        while let Some(found) = data.get(from..).and_then(|rest| memchr::memchr(b'{', rest)) {
            let candidate = from + found;
            let (plausible, end) = self.scanner.plausible(data, candidate, &self.rules);
            let long = end - candidate > PLAUSIBLE_BYTES;
            match plausible {
                Ok(true) if !long => {
                    *pos = candidate;
                    self.damage(
                        flaw.map_or(Flaw::Damaged, |flaw| {
                            // More events follow, so the file was not cut there.
                            if flaw == Flaw::Truncated {
                                Flaw::Damaged
                            } else {
                                flaw
                            }
                        }),
                        start,
                        at + candidate as u64,
                    );
                    self.state = State::Events;
                    self.closed = false;
                    return true;
                }
                Err(Fault::More) if !last && data.len() - candidate <= PLAUSIBLE_BYTES => {
                    *pos = candidate;
                    self.state = State::Resync {
                        flaw,
                        start,
                        effort,
                    };
                    return false;
                }
                _ => {
                    // Bytes made of nothing but false starts must not take quadratic time.
                    let tried = (end - candidate).min(PLAUSIBLE_BYTES);
                    effort += tried as u64;
                    let skipped = at + candidate as u64 - start;
                    let jump = if effort > 64 * skipped + (1 << 20) {
                        tried
                    } else {
                        1
                    };
                    from = candidate + jump.max(1);
                }
            }
        }
        *pos = data.len();
        self.state = State::Resync {
            flaw,
            start,
            effort,
        };
        if last {
            let end = at + data.len() as u64;
            match flaw {
                Some(flaw) => self.damage(flaw, start, end),
                None => self.trailing = Some(start),
            }
        }
        false
    }

    fn damage(&mut self, flaw: Flaw, start: u64, end: u64) {
        self.committer.seen += 1;
        self.committer.lost += 1;
        self.committer.flaws.add(flaw, start);
        self.skipped += end - start;
    }

    fn after(&mut self, data: &[u8], pos: &mut usize, at: u64) -> bool {
        let mut cursor = Cursor::new(data, *pos);
        if cursor.space().is_err() {
            *pos = data.len();
            return false;
        }
        *pos = cursor.pos;
        // One before, so that an event right here is found.
        let start = (at + *pos as u64).saturating_sub(1);
        self.state = State::Resync {
            flaw: None,
            start,
            effort: 0,
        };
        true
    }

    /// The end of the file.
    pub fn finish(mut self, input_cut: bool) -> Result<()> {
        self.work_carry(true)?;
        if matches!(self.state, State::Start) {
            return Err(Error::at(
                Kind::NotThisFormat,
                0,
                "the file is empty or holds only white space",
            ));
        }
        if self.arrays == 0 {
            let (kind, seen) = match self.state {
                State::After => (Kind::NotThisFormat, "a JSON object without traceEvents"),
                _ => (
                    Kind::Damaged,
                    "the file is damaged or ends before its traceEvents",
                ),
            };
            return Err(Error::at(kind, self.carry_at, seen));
        }
        let end = self.carry_at;
        self.committer.release()?;
        let committer = &mut self.committer;
        let writer = &mut *committer.writer;
        let gaps = committer
            .seen
            .saturating_sub(self.arrays)
            .saturating_sub(committer.commas);
        if gaps > 0 && self.skipped == 0 {
            let detail = format!("{gaps} commas between events are missing");
            writer.note("missing-comma", Effect::Info, 0, None, detail);
        }
        if !self.closed {
            // The bare form may lawfully end anywhere.
            let effect = if self.bare {
                Effect::Info
            } else {
                Effect::Missing
            };
            let detail =
                "the file ends without its closing bracket; events at the end may be missing";
            writer.note("missing-end", effect, 0, Some(end), detail);
        }
        if let Some(offset) = self.trailing {
            let detail = "bytes behind the trace were ignored";
            writer.note("trailing-bytes", Effect::Info, 0, Some(offset), detail);
        }
        if input_cut {
            let detail = "the compressed file is cut off; what lay behind is missing";
            writer.note("truncated-input", Effect::Missing, 0, Some(end), detail);
        }
        if self.skipped > 0 {
            writer
                .facts
                .meta
                .insert("skipped_bytes".to_owned(), self.skipped.to_string());
        }
        self.committer.finish()
    }
}
