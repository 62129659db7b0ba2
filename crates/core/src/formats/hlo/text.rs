//! HLO text into a [`Module`]: what `as_text()` and dumps write, in all dialects that we have met. Names come with
//! `%` or without, operands with shapes or without, calls of Python in tables at the head or in each instruction.
//!
//! A line that cannot be understood is counted and left out; a text that ends too early is read as far as it goes.
//! Over 400 lines because it is one grammar.

use super::frames::Frame;
use super::head::Head;
use super::model::{
    Computation, Convolution, Instruction, MISSING, Module, WindowDim, Written, opcode,
};
use super::scan::{Cursor, integer, integers, last_name, odd, unquoted};
use super::shape::{Budget, Shape};
use super::shared::Shared;
use crate::error::{Error, Kind, Result};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Whether bytes are HLO text.
pub fn looks_like(head: &[u8]) -> bool {
    let mut cursor = Cursor { bytes: head, at: 0 };
    cursor.take(b"\xef\xbb\xbf");
    cursor.blanks(true);
    cursor.take(b"HloModule ")
}

/// A computation that is called, by name, and where it goes among those that an instruction calls.
type Call<'a> = (usize, u8, &'a [u8]);

/// The first line.
pub struct Start {
    /// Name of the module.
    pub name: String,
    /// Whether instructions are in the order in which they run.
    pub scheduled: bool,
    /// Its devices, and what it may write over.
    pub head: Head,
    /// Where its attributes begin.
    pub end: usize,
    /// Whether its brackets match.
    pub whole: bool,
}

impl Start {
    /// Reads it.
    pub fn read(cursor: &mut Cursor<'_>) -> Result<Start> {
        cursor.take(b"\xef\xbb\xbf");
        cursor.blanks(true);
        if !cursor.take(b"HloModule ") {
            let seen = "no HloModule at the beginning";
            return Err(Error::at(Kind::NotThisFormat, cursor.at as u64, seen));
        }
        let name = cursor.until(|one| matches!(one, b',' | b'\n' | b' '));
        let mut start = Start {
            name: String::from_utf8_lossy(name.trim_ascii()).into_owned(),
            scheduled: false,
            head: Head::default(),
            end: cursor.at,
            whole: true,
        };
        match cursor.value(b"\n") {
            Ok(said) => {
                start.scheduled = memchr::memmem::find(said, b"is_scheduled=true").is_some();
                start.head = Head::of_text(said);
            }
            Err(_) => {
                start.whole = false;
                cursor.at = start.end;
                cursor.line();
            }
        }
        Ok(start)
    }
}

/// Whether a line begins a computation: whether that is the entry, and its name.
pub fn header(line: &[u8]) -> Option<(bool, String)> {
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
    let start = Start::read(&mut cursor)?;
    let mut found = Module {
        written: Written::Text,
        name: start.name,
        scheduled: start.scheduled,
        head: start.head,
        ..Module::default()
    };
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
            computation(
                name,
                &mut cursor,
                &mut found,
                &mut calls,
                &mut own,
                (&mut budget, &mut shared),
            )?;
        } else if !header.is_empty() {
            found.lost += 1;
        }
    }
    if found.instructions.is_empty() {
        return Err(odd(start.end, "text of HLO without an instruction"));
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
pub struct Frames {
    files: Vec<String>,
    functions: Vec<String>,
    locations: Vec<[i64; 3]>,
    frames: Vec<(i64, i64)>,
}

impl Frames {
    /// How long its tables are.
    pub fn lengths(&self) -> [usize; 4] {
        [
            self.files.len(),
            self.functions.len(),
            self.locations.len(),
            self.frames.len(),
        ]
    }

    /// Makes its tables as long as they were.
    pub fn cut(&mut self, [files, functions, locations, frames]: [usize; 4]) {
        self.files.truncate(files);
        self.functions.truncate(functions);
        self.locations.truncate(locations);
        self.frames.truncate(frames);
    }

    /// Reads a table if one begins here.
    pub fn table(&mut self, cursor: &mut Cursor<'_>) -> bool {
        const HEADS: [&[u8]; 4] = [
            b"FileNames",
            b"FunctionNames",
            b"FileLocations",
            b"StackFrames",
        ];
        let Some(kind) = HEADS.iter().position(|head| {
            let mut ahead = *cursor;
            ahead.take(head) && ahead.line().trim_ascii().is_empty()
        }) else {
            return false;
        };
        cursor.line();
        while cursor.peek().is_ascii_digit() {
            let line = cursor.line().trim_ascii();
            let said = line
                .iter()
                .position(|&one| one == b' ')
                .map_or(&b""[..], |at| &line[at + 1..]);
            let numbers = |keys: &[&[u8]]| -> Vec<i64> {
                let body = said.strip_prefix(b"{").unwrap_or(said);
                let body = body.strip_suffix(b"}").unwrap_or(body);
                let pairs: Vec<(&[u8], &[u8])> = body
                    .split(|&one| one == b' ')
                    .filter_map(|pair| {
                        pair.iter()
                            .position(|&one| one == b'=')
                            .map(|at| (&pair[..at], &pair[at + 1..]))
                    })
                    .collect();
                let of = |key: &&[u8]| {
                    pairs
                        .iter()
                        .find(|pair| pair.0 == *key)
                        .and_then(|pair| integer(pair.1))
                };
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
    pub fn made(self) -> Vec<Frame> {
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
                one.read.operands = (one.operands.iter())
                    .map(|&name| names.get(name).copied().unwrap_or(MISSING))
                    .collect();
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

/// A line as it is read.
#[derive(Default)]
pub struct Line<'a> {
    /// The instruction, without what only names say.
    pub read: Instruction,
    /// Whether its computation returns it.
    pub root: bool,
    /// Its name.
    pub name: &'a [u8],
    /// Names of its operands.
    pub operands: Vec<&'a [u8]>,
    /// Names of those that must be done before.
    pub after: Vec<&'a [u8]>,
    /// Names of the computations that it calls, each with its place among them.
    pub calls: Vec<(u8, &'a [u8])>,
    /// The call of Python that made it, where it says that itself.
    pub place: Frame,
}

/// `[ROOT] [%]name = SHAPE opcode(operands), key=value, …`
pub fn instruction<'a>(
    cursor: &mut Cursor<'a>,
    line: &mut Line<'a>,
    budget: &mut Budget,
) -> Result<()> {
    line.root = cursor.take(b"ROOT ");
    cursor.blanks(false);
    cursor.take(b"%");
    line.name = cursor.until(|one| matches!(one, b' ' | b'=' | b'\n'));
    cursor.blanks(false);
    if line.name.is_empty() || !cursor.take(b"=") {
        return Err(odd(cursor.at, "a line that is no instruction"));
    }
    let read = &mut line.read;
    read.name = (*String::from_utf8_lossy(line.name)).into();
    read.shape = cursor.shape(0, budget)?.into();
    cursor.blanks(false);
    let word =
        cursor.until(|one| !(one.is_ascii_lowercase() || one.is_ascii_digit() || one == b'-'));
    if word.is_empty() || !cursor.take(b"(") {
        return Err(odd(cursor.at, "an instruction without an opcode"));
    }
    read.opcode = opcode(&String::from_utf8_lossy(word));
    let literal = word == b"constant";
    loop {
        let value = cursor.value(b",)")?.trim_ascii();
        if word == b"parameter" || literal && is_integer(&read.shape) {
            read.number = integer(value);
        } else if !value.is_empty() && !literal {
            line.operands.push(last_name(value));
        } else if literal {
            read.digest = digest(read.digest, b"literal", value);
        }
        if !cursor.take(b",") {
            break;
        }
    }
    if !cursor.take(b")") {
        return Err(odd(cursor.at, "operands without their end"));
    }
    loop {
        cursor.blanks(false);
        if cursor.done() || cursor.peek() == b'\n' {
            return Ok(());
        }
        if !cursor.take(b",") {
            return Err(odd(cursor.at, "no comma before an attribute"));
        }
        cursor.blanks(false);
        let key = cursor.until(|one| matches!(one, b'=' | b',' | b'\n' | b' '));
        if cursor.take(b"=") {
            let value = cursor.value(b",\n")?.trim_ascii();
            attribute(line, key, value);
        }
    }
}

/// Whether a constant of this shape is one integer.
pub(super) fn is_integer(shape: &Shape) -> bool {
    let name = shape.element.name();
    shape.dims.is_empty() && matches!(name, "s32" | "s64" | "u32" | "u64")
}

/// Names in braces, or one without.
fn names(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let value = value.strip_prefix(b"{").unwrap_or(value);
    let value = value.strip_suffix(b"}").unwrap_or(value);
    value
        .split(|&one| one == b',')
        .map(last_name)
        .filter(|name| !name.is_empty())
}

fn attribute<'a>(line: &mut Line<'a>, key: &[u8], value: &'a [u8]) {
    let read = &mut line.read;
    let lossy = || String::from_utf8_lossy(value).into_owned();
    match key {
        b"to_apply"
        | b"calls"
        | b"body"
        | b"select"
        | b"true_computation"
        | b"branch_computations"
        | b"called_computations"
        | b"comparator" => line.calls.extend(names(value).map(|name| (0, name))),
        b"condition" | b"scatter" | b"false_computation" => {
            line.calls.extend(names(value).map(|name| (1, name)))
        }
        b"control-predecessors" => line.after.extend(names(value)),
        b"dimensions" => read.dimensions = integers(value),
        b"iota_dimension" => read.dimensions = integer(value).into_iter().collect(),
        b"index" => read.number = integer(value),
        b"kind" => read.more().fusion_kind = lossy(),
        b"custom_call_target" => read.more().target = unquoted(value),
        b"direction" => read.more().direction = lossy(),
        b"channel_id" => read.more().channel = integer(value).filter(|&it| it > 0),
        b"lhs_contracting_dims" => read.more().contracted = integers(value),
        b"fft_length" => read.more().fft = integers(value),
        b"feature_group_count" => read.more().groups.0 = integer(value).unwrap_or_default(),
        b"batch_group_count" => read.more().groups.1 = integer(value).unwrap_or_default(),
        b"window" => read.more().window = window(value),
        b"dim_labels" => read.more().convolution = Some(labels(value)),
        b"sharding" => read.more().sharding = lossy(),
        b"backend_config" => {
            let said = unquoted(value);
            if !said.is_empty() {
                read.more().config = said;
            }
        }
        b"metadata" => metadata(line, value),
        b"frontend_attributes" | b"origin" | b"statistics" => {}
        _ => read.digest = digest(read.digest, key, value),
    }
}

/// Adds an attribute that is not kept; their order does not matter.
fn digest(to: u64, key: &[u8], value: &[u8]) -> u64 {
    to.wrapping_add(xxh3_64_with_seed(value, xxh3_64(key)))
}

/// `{op_type="Mul" op_name="mul" source_file="a.py" source_line=3 stack_frame_id=7}`
fn metadata(line: &mut Line<'_>, value: &[u8]) {
    let body = value.strip_prefix(b"{").unwrap_or(value);
    let body = body.strip_suffix(b"}").unwrap_or(body);
    let mut cursor = Cursor { bytes: body, at: 0 };
    loop {
        cursor.blanks(true);
        let key = cursor.until(|one| matches!(one, b'=' | b' '));
        if cursor.done() {
            return;
        }
        if !cursor.take(b"=") {
            continue;
        }
        let Ok(said) = cursor.value(b" ") else { return };
        match key {
            b"op_name" => line.read.op_name = unquoted(said).into(),
            b"op_type" => {
                let said = unquoted(said);
                if !said.is_empty() {
                    line.read.more().op_type = said;
                }
            }
            b"source_file" => line.place.file = unquoted(said),
            b"source_line" => line.place.line = integer(said).unwrap_or_default() as i32,
            b"stack_frame_id" => {
                line.read.frame = integer(said)
                    .and_then(|it| u32::try_from(it).ok())
                    .unwrap_or(0)
            }
            _ => {}
        }
    }
}

/// `{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x1 rhs_dilate=1x1}`
fn window(value: &[u8]) -> Vec<WindowDim> {
    let body = value.strip_prefix(b"{").unwrap_or(value);
    let body = body.strip_suffix(b"}").unwrap_or(body);
    let mut made: Vec<WindowDim> = Vec::new();
    for item in body.split(|&one| one == b' ') {
        let Some(at) = item.iter().position(|&one| one == b'=') else {
            continue;
        };
        for (place, word) in item[at + 1..].split(|&one| one == b'x').enumerate() {
            if place >= made.len() {
                made.push(WindowDim::default());
            }
            let one = &mut made[place];
            let said = integer(word).unwrap_or(1);
            match &item[..at] {
                b"size" => one.size = said,
                b"stride" => one.stride = said,
                b"lhs_dilate" => one.base_dilation = said,
                b"rhs_dilate" => one.dilation = said,
                b"pad" => {
                    let mut both = word
                        .split(|&one| one == b'_')
                        .map(|it| integer(it).unwrap_or_default());
                    one.padding = (
                        both.next().unwrap_or_default(),
                        both.next().unwrap_or_default(),
                    );
                }
                _ => {}
            }
        }
    }
    made
}

/// `b01f_01io->b01f`: batch, features and spatial dimensions of input, kernel and output.
fn labels(value: &[u8]) -> Convolution {
    let mut made = Convolution::default();
    let parts = value
        .split(|&one| matches!(one, b'_' | b'-' | b'>'))
        .filter(|part| !part.is_empty());
    for (which, part) in parts.take(3).enumerate() {
        for (at, &label) in part.iter().enumerate() {
            let at = at as i64;
            match (which, label) {
                (0, b'b') => made.input.0 = at,
                (0, b'f') => made.input.1 = at,
                (2, b'f') => made.output_feature = at,
                (_, b'0'..=b'9') => {
                    let place = usize::from(label - b'0');
                    let spatial = &mut made.spatial[which];
                    if spatial.len() <= place {
                        spatial.resize(place + 1, 0);
                    }
                    spatial[place] = at;
                }
                _ => {}
            }
        }
    }
    made
}
