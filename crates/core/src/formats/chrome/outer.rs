//! The file from front to back: what surrounds the events, pieces of them in order, and what to
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
use crate::json::Cursor;

/// A piece as a worker read it ahead.
pub struct Ahead {
    /// What it holds.
    pub piece: Piece,
    /// What the worker learnt.
    pub delta: Delta,
    /// Where reading stopped.
    pub stop: Stop,
}

pub(super) enum State {
    /// Before anything.
    Start,
    /// Between the members of the outermost object.
    Members,
    /// In a value that is too long to hold: depth, and whether within a string and behind a backslash.
    Skip { depth: usize, string: bool, escaped: bool },
    /// The head is damaged: looking for the key that leads to the events.
    Seek,
    /// Between two elements of the event array.
    Events,
    /// After damage: looking for the next event.
    Resync { flaw: Option<Flaw>, start: u64, effort: u64 },
    /// Behind the outermost value.
    After,
}

/// Reads a whole file.
pub struct Outer<'w> {
    /// Takes the pieces.
    pub committer: Committer<'w>,
    pub(super) state: State,
    /// Bytes that wait for those that follow, and where they lie.
    carry: Vec<u8>,
    carry_at: u64,
    /// Length of `carry` from which on another attempt is worth while.
    patience: usize,
    pub(super) rules: Rules,
    pub(super) scanner: Scanner,
    /// The file is a bare array.
    bare: bool,
    /// Event arrays met, and damage met.
    pub(super) arrays: u64,
    pub(super) closed: bool,
    pub(super) skipped: u64,
    pub(super) trailing: Option<u64>,
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
                self.committer.take(&mut ahead.piece, ahead.delta, &bytes[..from], at)?;
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
                let seen = format!("a JSON trace begins with {{ or [, this file with byte 0x{byte:02x}");
                return Err(Error::at(Kind::NotThisFormat, offset, seen));
            }
        };
        Ok(true)
    }

    fn events(&mut self, data: &[u8], pos: &mut usize, at: u64, last: bool) -> Result<bool> {
        let rules = Rules { origin_us: self.committer.origin_us, ..self.rules };
        let mut piece = Piece::default();
        let stop = self.scanner.read(data, *pos, &rules, &mut piece);
        let end = match stop {
            Stop::Boundary => data.len(),
            Stop::More(p) | Stop::Damage(p) | Stop::TooLong(p) | Stop::End(p) => p,
        };
        let delta = self.scanner.delta();
        self.committer.take(&mut piece, delta, &data[*pos..end], at + *pos as u64)?;
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
                self.state = if self.bare { State::After } else { State::Members };
                return true;
            }
            Stop::More(p) => (Flaw::Truncated, p),
            Stop::Damage(p) => (Flaw::Damaged, p),
            Stop::TooLong(p) => (Flaw::EventTooLong, p),
        };
        self.state = State::Resync { flaw: Some(flaw), start: at + start as u64, effort: 0 };
        true
    }

    /// The end of the file.
    pub fn finish(mut self, input_cut: Option<String>) -> Result<()> {
        self.work_carry(true)?;
        if matches!(self.state, State::Start) {
            return Err(Error::at(Kind::NotThisFormat, 0, "the file is empty or holds only white space"));
        }
        if self.arrays == 0 {
            let (kind, seen) = match self.state {
                State::After => (Kind::NotThisFormat, "a JSON object without traceEvents"),
                _ => (Kind::Damaged, "the file is damaged or ends before its traceEvents"),
            };
            return Err(Error::at(kind, self.carry_at, seen));
        }
        let end = self.carry_at;
        self.committer.release()?;
        let committer = &mut self.committer;
        let writer = &mut *committer.writer;
        let gaps = committer.seen.saturating_sub(self.arrays).saturating_sub(committer.commas);
        if gaps > 0 && self.skipped == 0 {
            let detail = format!("{gaps} commas between events are missing");
            writer.note("missing-comma", Effect::Info, 0, None, detail);
        }
        if !self.closed {
            // The bare form may lawfully end anywhere.
            let effect = if self.bare { Effect::Info } else { Effect::Missing };
            let detail = "the file ends without its closing bracket; events at the end may be missing";
            writer.note("missing-end", effect, 0, Some(end), detail);
        }
        if let Some(offset) = self.trailing {
            let detail = "bytes behind the trace were ignored";
            writer.note("trailing-bytes", Effect::Info, 0, Some(offset), detail);
        }
        if let Some(why) = input_cut {
            let detail = format!("the compressed file is cut off or damaged at its end: {why}");
            writer.note("truncated-input", Effect::Missing, 0, Some(end), detail);
        }
        if self.skipped > 0 {
            writer.facts.meta.insert("skipped_bytes".to_owned(), self.skipped.to_string());
        }
        self.committer.finish()
    }
}
