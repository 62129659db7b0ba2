//! HLO text into a [`Module`]: what `as_text()` and dumps write, in all dialects that we have met. Names come with
//! `%` or without, operands with shapes or without, calls of Python in tables at the head or in each instruction.
//!
//! A line that cannot be understood is counted and left out; a text that ends too early is read as far as it goes.
//! [`super::line`] reads its lines.

use super::frames::Frame;
use super::head::Head;
use super::line::{Line, instruction};
use super::model::{Computation, MISSING, Module, Written};
use super::scan::{Cursor, integer, odd, unquoted};
use super::shape::Budget;
use super::shared::Shared;
use crate::error::{Error, Kind, Result};
use rustc_hash::FxHashMap;

/// Whether bytes are HLO text.
pub fn looks_like(head: &[u8]) -> bool {
    let mut cursor = Cursor { bytes: head, at: 0 };
    cursor.take(b"\xef\xbb\xbf");
    cursor.blanks(true);
    cursor.take(b"HloModule ")
}

/// A computation that is called, by name, and where it goes among those that an instruction calls.
type Call<'a> = (usize, u8, &'a [u8]);

/// Whether a line begins a computation: whether that is the entry, and its name.
fn header(line: &[u8]) -> Option<(bool, String)> {
    if !line.ends_with(b"{") {
        return None;
    }
    let mut start = Cursor { bytes: line, at: 0 };
    let entry = start.take(b"ENTRY ");
    start.blanks(false);
    start.take(b"%");
    let name = start.until(|one| matches!(one, b' ' | b'(' | b'{'));
    Some((entry, String::from_utf8_lossy(name).into_owned()))
}

/// Reads a text.
pub fn read(bytes: &[u8]) -> Result<Module> {
    let mut cursor = Cursor { bytes, at: 0 };
    cursor.take(b"\xef\xbb\xbf");
    cursor.blanks(true);
    if !cursor.take(b"HloModule ") {
        let seen = "no HloModule at the beginning";
        return Err(Error::at(Kind::NotThisFormat, cursor.at as u64, seen));
    }
    let name = cursor.until(|one| matches!(one, b',' | b'\n' | b' '));
    let start = cursor.at;
    let mut found = Module {
        written: Written::Text,
        name: String::from_utf8_lossy(name.trim_ascii()).into_owned(),
        ..Module::default()
    };
    match cursor.value(b"\n") {
        Ok(said) => {
            found.scheduled = memchr::memmem::find(said, b"is_scheduled=true").is_some();
            found.head = Head::of_text(said);
        }
        Err(_) => {
            cursor.at = start;
            cursor.line();
        }
    }
    let mut budget = Budget::of(bytes.len());
    let mut frames = Frames::default();
    let mut calls: Vec<Call<'_>> = Vec::new();
    let mut own: Vec<(usize, Frame)> = Vec::new();
    let mut shared = Shared::default();
    loop {
        cursor.blanks(true);
        if cursor.done() {
            break;
        }
        if frames.table(&mut cursor) {
            continue;
        }
        let header = cursor.line().trim_ascii_end();
        if let Some((entry, name)) = self::header(header) {
            if entry {
                found.entry = Some(found.computations.len());
            }
            computation(name, &mut cursor, &mut found, &mut calls, &mut own, (&mut budget, &mut shared))?;
        } else if !header.is_empty() {
            found.lost += 1;
        }
    }
    if found.instructions.is_empty() {
        return Err(odd(start, "text of HLO without an instruction"));
    }
    resolve(&mut found, calls);
    found.frames = frames.made();
    for (at, frame) in own {
        found.frames.push(frame);
        found.instructions[at].frame = found.frames.len() as u32;
    }
    Ok(found)
}

fn resolve(found: &mut Module, mut calls: Vec<Call<'_>>) {
    let names: FxHashMap<Vec<u8>, usize> = (found.computations.iter().enumerate())
        .map(|(at, one)| (one.name.clone().into_bytes(), at))
        .collect();
    calls.sort_by_key(|&(at, place, _)| (at, place));
    for (at, _, name) in calls {
        match names.get(name) {
            Some(&called) => found.instructions[at].called.push(called as u32),
            None => found.dangling += 1,
        }
    }
}

/// The tables of Python's calls at the head.
#[derive(Default)]
struct Frames {
    files: Vec<String>,
    functions: Vec<String>,
    locations: Vec<[i64; 3]>,
    frames: Vec<(i64, i64)>,
}

impl Frames {
    /// Reads a table if one begins here.
    fn table(&mut self, cursor: &mut Cursor<'_>) -> bool {
        const HEADS: [&[u8]; 4] = [b"FileNames", b"FunctionNames", b"FileLocations", b"StackFrames"];
        let Some(kind) = HEADS.iter().position(|head| {
            let mut ahead = *cursor;
            ahead.take(head) && ahead.line().trim_ascii().is_empty()
        }) else {
            return false;
        };
        cursor.line();
        while cursor.peek().is_ascii_digit() {
            let line = cursor.line().trim_ascii();
            let said = line.iter().position(|&one| one == b' ').map_or(&b""[..], |at| &line[at + 1..]);
            let numbers = |keys: &[&[u8]]| -> Vec<i64> {
                let body = said.strip_prefix(b"{").unwrap_or(said);
                let body = body.strip_suffix(b"}").unwrap_or(body);
                let pairs: Vec<(&[u8], &[u8])> = body
                    .split(|&one| one == b' ')
                    .filter_map(|pair| {
                        pair.iter().position(|&one| one == b'=').map(|at| (&pair[..at], &pair[at + 1..]))
                    })
                    .collect();
                let of =
                    |key: &&[u8]| pairs.iter().find(|pair| pair.0 == *key).and_then(|pair| integer(pair.1));
                keys.iter().map(|key| of(key).unwrap_or_default()).collect()
            };
            match kind {
                0 => self.files.push(unquoted(said)),
                1 => self.functions.push(unquoted(said)),
                2 => {
                    let one = numbers(&[b"file_name_id", b"function_name_id", b"line"]);
                    self.locations.push([one[0], one[1], one[2]]);
                }
                _ => {
                    let one = numbers(&[b"file_location_id", b"parent_frame_id"]);
                    self.frames.push((one[0], one[1]));
                }
            }
        }
        true
    }

    /// The calls with their places. Text counts parents from 1 for "none"; the first call has none, which shows
    /// whether this text does.
    fn made(self) -> Vec<Frame> {
        let shift = i64::from(self.frames.first().is_some_and(|one| one.1 > 0));
        let named = |names: &[String], at: i64| {
            let at = usize::try_from(at.saturating_sub(1)).ok();
            at.and_then(|at| names.get(at)).cloned().unwrap_or_default()
        };
        let frame = |&(location, parent): &(i64, i64)| {
            let at = usize::try_from(location.saturating_sub(1)).ok();
            let place = at.and_then(|at| self.locations.get(at)).copied();
            let [file, function, line] = place.unwrap_or_default();
            Frame {
                file: named(&self.files, file),
                line: line as i32,
                function: named(&self.functions, function),
                parent: u32::try_from(parent.saturating_sub(shift)).unwrap_or_default(),
            }
        };
        self.frames.iter().map(frame).collect()
    }
}

/// Reads the instructions of a computation up to its closing brace.
fn computation<'a>(
    name: String,
    cursor: &mut Cursor<'a>,
    found: &mut Module,
    calls: &mut Vec<Call<'a>>,
    own: &mut Vec<(usize, Frame)>,
    (budget, shared): (&mut Budget, &mut Shared),
) -> Result<()> {
    let start = found.instructions.len();
    let mut root = None;
    // Operands that stand before what they name; mostly there are none.
    let mut ahead: Vec<(usize, usize, &'a [u8])> = Vec::new();
    let mut after: Vec<(usize, Vec<&'a [u8]>)> = Vec::new();
    let mut names: FxHashMap<&'a [u8], u32> = FxHashMap::default();
    // Where brackets once did not match, each line is read by itself: looking for the other one to the end of the
    // file, line after line, would take time that grows with its square.
    let mut by_line = false;
    loop {
        cursor.blanks(true);
        if cursor.done() {
            found.cut = true;
            break;
        }
        if cursor.take(b"}") {
            cursor.line();
            break;
        }
        let line = cursor.at;
        let at = found.instructions.len();
        budget.take(4, line as u64)?;
        let mut one = Line::default();
        let whole = cursor.bytes;
        if by_line {
            let length = memchr::memchr(b'\n', &whole[line..]);
            cursor.bytes = &whole[..length.map_or(whole.len(), |length| line + length)];
        }
        let outcome = instruction(cursor, &mut one, budget);
        cursor.bytes = whole;
        match outcome {
            Ok(()) => {
                if one.root {
                    root = Some(at);
                }
                one.read.operands =
                    (one.operands.iter()).map(|&name| names.get(name).copied().unwrap_or(MISSING)).collect();
                let unknown = one.read.operands.iter().zip(one.operands).enumerate();
                let unknown = unknown.filter(|(_, (known, _))| **known == MISSING);
                ahead.extend(unknown.map(|(place, (_, name))| (at, place, name)));
                names.insert(one.name, at as u32);
                if !one.after.is_empty() {
                    after.push((at, one.after));
                }
                calls.extend(one.calls.into_iter().map(|(place, name)| (at, place, name)));
                if one.place.is_told() && one.read.frame == 0 {
                    own.push((at, one.place));
                }
                shared.fold(&mut one.read);
                found.instructions.push(one.read);
            }
            Err(error) if error.kind == Kind::Limit => return Err(error),
            Err(_) => {
                found.lost += 1;
                let reached = cursor.at;
                found.cut |= !by_line && cursor.done();
                cursor.at = line;
                cursor.line();
                by_line |= reached > cursor.at;
            }
        }
    }
    let mut look_up = |wanted: Vec<&[u8]>| -> Vec<u32> {
        let found_at = |name: &&[u8]| names.get(*name).copied().unwrap_or(MISSING);
        let made: Vec<u32> = wanted.iter().map(found_at).collect();
        found.dangling += made.iter().filter(|&&at| at == MISSING).count() as u64;
        made
    };
    for (at, place, name) in ahead {
        let made = look_up(vec![name])[0];
        if let Some(operand) = found.instructions[at].operands.get_mut(place) {
            *operand = made;
        }
    }
    for (at, wanted) in after {
        let made = look_up(wanted);
        found.instructions[at].more().after = made;
    }
    let end = found.instructions.len();
    found.computations.push(Computation {
        name,
        id: 0,
        instructions: start..end,
        // Old text leaves ROOT out where it is the last.
        root: root.or_else(|| end.checked_sub(1).filter(|&at| at >= start)),
    });
    Ok(())
}
