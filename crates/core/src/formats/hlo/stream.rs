//! HLO text of any length in little memory: read in pieces, each instruction seen once and let go of.
//!
//! Kept are, of the computation that is being read, the names and shapes of its instructions, and of those before it
//! what callers need to know ([`Inner`]). That is enough as long as everything stands before what uses it, which is
//! how XLA writes it. Where a text is in another order, [`walk`] says so, and it has to be read as a whole.

mod local;
mod window;

use super::cost::{Cost, Ran, times};
use super::frames::Frame;
use super::head::Head;
use super::inner::{Inner, Open, is_looked_into};
use super::model::{Instruction, MISSING, Written};
use super::scan::odd;
use super::shape::{Budget, Element, Shape};
use super::summary::{Summary, donors};
use super::text::{Frames, Line, Start, instruction};
use crate::error::{Kind, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

use local::{Inside, Local, kept, parameters};
use window::Window;

/// Bytes that are read at once.
pub const PIECE: usize = 4 << 20;
/// Where an instruction cannot be read and less than this part of a piece follows, more may explain it.
const NEAR: usize = 64;
/// Names that nothing is known of yet; more are looked up in the whole text.
const MOST_LATER: usize = 1 << 20;

/// What comes by.
pub enum Seen<'a> {
    /// An instruction.
    Instruction(Box<Told<'a>>),
    /// A computation, behind its instructions.
    Computation {
        /// Its number.
        number: usize,
        /// Its name.
        name: &'a str,
        /// How many instructions it has.
        instructions: u32,
        /// Name of its root.
        root: Option<&'a str>,
        /// Its costs.
        inner: &'a Inner,
    },
}

/// An instruction that comes by.
pub struct Told<'a> {
    /// Number and name of its computation.
    pub computation: (usize, &'a str),
    /// Its number in that.
    pub at: u32,
    /// Itself; operands are numbers in the computation.
    pub one: &'a Instruction,
    /// Names of its operands; none for one that is not there.
    pub operands: Vec<Option<Cow<'a, str>>>,
    /// Names of the computations that it calls.
    pub called: Vec<&'a str>,
    /// The call of Python that made it, where the instruction itself says it.
    pub place: Option<&'a Frame>,
    /// All others, by number from 1.
    pub frames: &'a [Frame],
    /// Its cost as XLA counts it.
    pub cost: Cost,
    /// As it runs.
    pub ran: Ran,
    /// How often it goes round.
    pub trips: Option<u64>,
}

/// What is known of a text at its end.
#[derive(Debug, Default)]
pub struct Walked {
    /// The text in one row.
    pub summary: Summary,
    /// The computation that is called first.
    pub entry: Option<usize>,
    /// The root of each computation.
    pub roots: Vec<Option<u32>>,
    /// How often each computation runs in a run of the module.
    pub times: Vec<f64>,
}

/// Walks through a text of so many bytes, `piece` bytes at a time. None where something stands behind what uses it.
///
/// # Errors
/// As for a text that is read as a whole, and what `each` says.
pub fn walk(
    read: impl Read,
    size: u64,
    piece: usize,
    each: &mut dyn FnMut(Seen<'_>) -> Result<()>,
) -> Result<Option<Walked>> {
    let mut window = Window {
        read,
        piece,
        bytes: Vec::new(),
        at: 0,
        ended: false,
        passed: 0,
        hash: Xxh3::new(),
    };
    let start = loop {
        window.more()?;
        let mut cursor = window.cursor();
        let start = Start::read(&mut cursor)?;
        if (cursor.at < window.bytes.len() && start.whole) || !window.grows() {
            window.at = cursor.at;
            break start;
        }
    };
    let mut walk = Walk {
        window,
        budget: Budget::of(usize::try_from(size).unwrap_or(usize::MAX)),
        summary: Summary {
            devices: (start.head.replicas, start.head.partitions),
            ..Summary::default()
        },
        head: start.head.clone(),
        opcodes: BTreeMap::new(),
        names: Vec::new(),
        numbers: FxHashMap::default(),
        missing: FxHashSet::default(),
        inners: Vec::new(),
        roots: Vec::new(),
        entry: None,
        shapes: FxHashSet::default(),
    };
    let mut frames = Frames::default();
    let mut made: Option<Vec<Frame>> = None;
    while walk.window.line()? {
        let lengths = frames.lengths();
        let mut cursor = walk.window.cursor();
        if frames.table(&mut cursor) {
            if made.is_some() {
                return Ok(None);
            }
            if cursor.done() && walk.window.grows() {
                frames.cut(lengths);
                walk.window.more()?;
            } else {
                walk.window.at = cursor.at;
            }
            continue;
        }
        let header = cursor.line().trim_ascii_end();
        let opened = super::text::header(header);
        let (end, empty) = (cursor.at, header.is_empty());
        walk.window.at = end.min(walk.window.bytes.len());
        match opened {
            Some((entry, name)) => {
                let frames = made.get_or_insert_with(|| std::mem::take(&mut frames).made());
                if !walk.computation(entry, name, frames, each)? {
                    return Ok(None);
                }
            }
            None => walk.summary.lost += u64::from(!empty),
        }
    }
    if walk.summary.instructions == 0 {
        return Err(odd(start.end, "text of HLO without an instruction"));
    }
    Ok(Some(walk.finish(start)))
}

struct Walk<R> {
    window: Window<R>,
    budget: Budget,
    head: Head,
    summary: Summary,
    opcodes: BTreeMap<Cow<'static, str>, u64>,
    names: Vec<String>,
    numbers: FxHashMap<Vec<u8>, u32>,
    /// Computations that were called before they stood there.
    missing: FxHashSet<Vec<u8>>,
    inners: Vec<Inner>,
    roots: Vec<Option<u32>>,
    entry: Option<usize>,
    shapes: FxHashSet<Arc<Shape>>,
}

impl<R: Read> Walk<R> {
    /// Reads a computation up to its closing brace. False where something stands behind what uses it.
    fn computation(
        &mut self,
        is_entry: bool,
        name: String,
        frames: &[Frame],
        each: &mut dyn FnMut(Seen<'_>) -> Result<()>,
    ) -> Result<bool> {
        let number = self.names.len();
        let key = name.clone().into_bytes();
        if self.missing.contains(&key) || self.numbers.contains_key(&key) {
            return Ok(false);
        }
        if is_entry {
            self.entry = Some(number);
        }
        let mut inside = Inside {
            number,
            name: &name,
            frames,
            local: Local::default(),
            open: Open::default(),
            root: None,
            root_name: String::new(),
            later: FxHashSet::default(),
            after: Vec::new(),
            by_line: false,
        };
        loop {
            if !self.window.line()? {
                self.summary.cut = true;
                break;
            }
            let mut cursor = self.window.cursor();
            if cursor.take(b"}") {
                cursor.line();
                self.window.at = cursor.at.min(self.window.bytes.len());
                break;
            }
            let Some(next) = self.instruction(&mut inside, each)? else {
                return Ok(false);
            };
            match next {
                Reached::Behind(at) => self.window.at = at.min(self.window.bytes.len()),
                Reached::End => self.window.more()?,
            }
        }
        let Inside {
            local,
            open,
            root,
            root_name,
            later,
            after,
            ..
        } = inside;
        if later.iter().any(|name| local.names.get(name).is_some()) {
            return Ok(false);
        }
        self.summary.dangling += after
            .iter()
            .filter(|name| local.names.get(name).is_none())
            .count() as u64;
        let count = local.names.len();
        let root = root.or_else(|| count.checked_sub(1));
        let inner = open.close(&local, root);
        if is_entry {
            let parameters = parameters(&local);
            let shapes: Vec<String> = (parameters.iter())
                .map(|(_, shape)| shape.to_string())
                .collect();
            self.summary.parameters = shapes.join(", ");
            self.summary.donors = donors(&self.head, |number| {
                let found = parameters.iter().find(|one| one.0 == Some(number));
                found.map(|one| one.1)
            });
        }
        each(Seen::Computation {
            number,
            name: &name,
            instructions: count,
            root: root.map(|_| root_name.as_str()),
            inner: &inner,
        })?;
        self.inners.push(inner);
        self.roots.push(root);
        self.numbers.insert(key, number as u32);
        self.names.push(name);
        Ok(true)
    }

    /// Reads what stands where the window is: an instruction, or a line that is none. None where it names something
    /// that may stand behind it.
    fn instruction(
        &mut self,
        inside: &mut Inside<'_>,
        each: &mut dyn FnMut(Seen<'_>) -> Result<()>,
    ) -> Result<Option<Reached>> {
        let window = &self.window;
        let (start, length) = (window.at, window.bytes.len());
        let mut cursor = window.cursor();
        if inside.by_line {
            let line = memchr::memchr(b'\n', &window.bytes[start..]);
            cursor.bytes = &window.bytes[..line.map_or(length, |line| start + line)];
        }
        let mut budget = self.budget.clone();
        budget.take(4, window.passed + start as u64)?;
        let mut line = Line::default();
        let outcome = instruction(&mut cursor, &mut line, &mut budget);
        let reached = cursor.at;
        let open = !inside.by_line && window.grows();
        match outcome {
            Ok(()) if open && reached >= length => return Ok(Some(Reached::End)),
            Ok(()) => {}
            Err(error) if error.kind == Kind::Limit => return Err(error),
            Err(_) if open && reached + window.piece / NEAR >= length => {
                return Ok(Some(Reached::End));
            }
            Err(_) => {
                self.summary.lost += 1;
                self.summary.cut |= !inside.by_line && reached >= length;
                let mut cursor = window.cursor();
                cursor.line();
                inside.by_line |= reached > cursor.at;
                return Ok(Some(Reached::Behind(cursor.at)));
            }
        }
        self.budget = budget;
        let at = inside.local.names.len();
        let mut operands = Vec::with_capacity(line.operands.len());
        line.read.operands = (line.operands.iter())
            .map(|&name| {
                let found = inside.local.names.get(name);
                operands.push(found.map(|_| String::from_utf8_lossy(name)));
                if found.is_none() {
                    self.summary.dangling += 1;
                    inside.later.insert(name.to_vec());
                }
                found.unwrap_or(MISSING)
            })
            .collect();
        let unknown = line
            .after
            .iter()
            .filter(|name| inside.local.names.get(name).is_none());
        inside.after.extend(unknown.map(|name| name.to_vec()));
        let mut calls = std::mem::take(&mut line.calls);
        calls.sort_by_key(|&(place, _)| place);
        for (_, name) in calls {
            match self.numbers.get(name) {
                Some(&called) => line.read.called.push(called),
                None if name == inside.name.as_bytes() => return Ok(None),
                None => {
                    self.summary.dangling += 1;
                    self.missing.insert(name.to_vec());
                }
            }
        }
        if inside.later.len() + inside.after.len() + self.missing.len() > MOST_LATER {
            return Ok(None);
        }
        if line.root {
            inside.root = Some(at);
        }
        if line.root || inside.root.is_none() {
            inside.root_name.clear();
            inside.root_name.push_str(&line.read.name);
        }
        let one = &mut line.read;
        match self.shapes.get(&one.shape) {
            Some(known) => one.shape = Arc::clone(known),
            None => drop(self.shapes.insert(Arc::clone(&one.shape))),
        }
        inside.local.names.push(line.name)?;
        inside.local.shapes.push(Arc::clone(&one.shape));
        let (cost, ran, trips) = inside.open.add(&inside.local, at, one, &self.inners);
        if is_looked_into(one) {
            inside.local.wholes.insert(at, kept(one));
        }
        self.summary.instructions += 1;
        let double = Element::of_name(b"f64");
        self.summary.doubles += u64::from(one.shape.element == double && one.opcode != "parameter");
        match self.opcodes.get_mut(&one.opcode) {
            Some(count) => *count += 1,
            None => drop(self.opcodes.insert(one.opcode.clone(), 1)),
        }
        each(Seen::Instruction(Box::new(Told {
            computation: (inside.number, inside.name),
            at,
            one: &line.read,
            operands,
            called: (line.read.called.iter())
                .map(|&at| self.names[at as usize].as_str())
                .collect(),
            place: (line.read.frame == 0 && line.place.is_told()).then_some(&line.place),
            frames: inside.frames,
            cost,
            ran,
            trips,
        })))?;
        Ok(Some(Reached::Behind(reached)))
    }

    fn finish(self, start: Start) -> Walked {
        let order: Vec<usize> = (0..self.inners.len()).collect();
        let called = self.entry.map(|at| &self.inners[at]);
        Walked {
            times: times(&self.inners, self.entry, &order),
            summary: Summary {
                name: start.name,
                written: Written::Text,
                size: self.window.passed + self.window.bytes.len() as u64,
                hash: self.window.hash.digest(),
                computations: self.inners.len() as u64,
                opcodes: (self.opcodes.into_iter())
                    .map(|(name, count)| (name.into_owned(), count))
                    .collect(),
                cost: called.map(|one| one.cost).unwrap_or_default(),
                ran: called.map(|one| one.ran).unwrap_or_default(),
                entry: called.is_some(),
                ..self.summary
            },
            entry: self.entry,
            roots: self.roots,
        }
    }
}

/// How far was read.
enum Reached {
    /// The next thing stands here.
    Behind(usize),
    /// To the end of the window, which must be longer.
    End,
}

#[cfg(test)]
mod tests;
