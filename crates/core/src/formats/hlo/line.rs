//! A line of HLO text: an instruction with its operands and attributes.

use super::frames::Frame;
use super::model::{Convolution, Instruction, WindowDim, opcode};
use super::scan::{Cursor, integer, integers, last_name, odd, unquoted};
use super::shape::{Budget, Shape};
use crate::error::Result;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

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
pub fn instruction<'a>(cursor: &mut Cursor<'a>, line: &mut Line<'a>, budget: &mut Budget) -> Result<()> {
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
    let word = cursor.until(|one| !(one.is_ascii_lowercase() || one.is_ascii_digit() || one == b'-'));
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
    value.split(|&one| one == b',').map(last_name).filter(|name| !name.is_empty())
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
                line.read.frame = integer(said).and_then(|it| u32::try_from(it).ok()).unwrap_or(0)
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
                    let mut both = word.split(|&one| one == b'_').map(|it| integer(it).unwrap_or_default());
                    one.padding = (both.next().unwrap_or_default(), both.next().unwrap_or_default());
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
    let parts = value.split(|&one| matches!(one, b'_' | b'-' | b'>')).filter(|part| !part.is_empty());
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
