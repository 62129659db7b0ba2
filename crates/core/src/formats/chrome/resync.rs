//! How reading goes on behind what cannot be read: values too long to hold, a damaged head, damaged
//! events.

use super::outer::{Outer, State};
use super::piece::Flaw;
use crate::facts::Effect;
use crate::json::{Cursor, Fault};

/// An event after damage is recognised when it is no longer than this.
const PLAUSIBLE_BYTES: usize = 1 << 20;
impl Outer<'_> {
    /// Skips a value without holding it.
    pub(super) fn skip(&mut self, data: &[u8], pos: &mut usize) -> bool {
        let State::Skip { mut depth, mut string, mut escaped } = self.state else {
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
        self.state = State::Skip { depth, string, escaped };
        false
    }

    /// Looks for `"traceEvents": [`.
    pub(super) fn seek(&mut self, data: &[u8], pos: &mut usize, last: bool) -> bool {
        const KEY: &[u8] = b"\"traceEvents\"";
        while let Some(found) = memchr::memmem::find(&data[*pos..], KEY) {
            *pos += found;
            let mut cursor = Cursor::new(data, *pos + KEY.len());
            let open = cursor.space().and_then(|byte| {
                cursor.pos += 1;
                if byte == b':' { cursor.space() } else { Err(Fault::Bad) }
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

    /// Looks for the next event after damage.
    pub(super) fn resync(&mut self, data: &[u8], pos: &mut usize, at: u64, last: bool) -> bool {
        let State::Resync { flaw, start, mut effort } = self.state else {
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
                            if flaw == Flaw::Truncated { Flaw::Damaged } else { flaw }
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
                    self.state = State::Resync { flaw, start, effort };
                    return false;
                }
                _ => {
                    // Bytes made of nothing but false starts must not take quadratic time.
                    let tried = (end - candidate).min(PLAUSIBLE_BYTES);
                    effort += tried as u64;
                    let skipped = at + candidate as u64 - start;
                    let jump = if effort > 64 * skipped + (1 << 20) { tried } else { 1 };
                    from = candidate + jump.max(1);
                }
            }
        }
        *pos = data.len();
        self.state = State::Resync { flaw, start, effort };
        if last {
            let end = at + data.len() as u64;
            match flaw {
                Some(flaw) => self.damage(flaw, start, end),
                None => self.trailing = Some(start),
            }
        }
        false
    }

    pub(super) fn damage(&mut self, flaw: Flaw, start: u64, end: u64) {
        self.committer.seen += 1;
        self.committer.lost += 1;
        self.committer.flaws.add(flaw, start);
        self.skipped += end - start;
    }

    pub(super) fn after(&mut self, data: &[u8], pos: &mut usize, at: u64) -> bool {
        let mut cursor = Cursor::new(data, *pos);
        if cursor.space().is_err() {
            *pos = data.len();
            return false;
        }
        *pos = cursor.pos;
        // One before, so that an event right here is found.
        let start = (at + *pos as u64).saturating_sub(1);
        self.state = State::Resync { flaw: None, start, effort: 0 };
        true
    }
}
