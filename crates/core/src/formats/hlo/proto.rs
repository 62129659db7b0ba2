//! `HloProto`, a bare `HloModuleProto` and `HloSnapshot` into a [`Module`]. Fields that are not listed are skipped;
//! numbers beyond those of 2026 are counted.
//!
//! `HloSnapshot`: hlo 1. `HloProto`: hlo_module 1, buffer_assignment 3. `HloModuleProto`: name 1, computations 3,
//! id 5, entry_computation_id 6, schedule 7, device_assignment 15, stack_frame_index 17,
//! buffer_donor 18. `HloComputationProto`: name 1, instructions 2,
//! id 5, root_id 6. `HloInstructionProto`: see [`instruction`]. `ShapeProto`: element_type 2, dimensions 3,
//! tuple_shapes 4, layout 5, is_dynamic_dimension 6.
//! Over 400 lines because it mirrors the messages, field by field.

use super::buffers;
use super::frames::{Frame, damaged, each, frames, number, text};
use super::line::is_integer;
use super::model::{Computation, Convolution, Instruction, MISSING, Module, WindowDim, Written, opcode};
use super::shape::{Budget, Element, Layout, Shape};
use super::sharding;
use super::shared::Shared;
use crate::error::{Error, Kind, Result};
use crate::proto::wire::{Field, Value, length, skip, tag, varint};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The body of the first field with this number; what is cut is taken as far as it goes, because it is only looked
/// at.
fn first(bytes: &[u8], wanted: u32) -> Option<&[u8]> {
    let mut at = 0;
    while at < bytes.len() {
        let (number, wire) = tag(bytes, &mut at).ok()?;
        if number == wanted && wire == 2 {
            let start = at;
            return Some(match length(bytes, &mut at) {
                Ok(length) => &bytes[at..at + length],
                Err(_) => {
                    let mut behind = start;
                    varint(bytes, &mut behind)?;
                    bytes.get(behind..)?
                }
            });
        }
        skip(bytes, &mut at, number, wire).ok()?;
    }
    None
}

/// Whether the bytes are a module: a computation with an instruction that has an opcode.
fn is_module(bytes: &[u8]) -> bool {
    let instruction = first(bytes, 3).and_then(|computation| first(computation, 2));
    let opcode = instruction.and_then(|instruction| first(instruction, 2));
    opcode.is_some_and(|name| {
        let plain = |one: &u8| one.is_ascii_lowercase() || one.is_ascii_digit() || *one == b'-';
        !name.is_empty() && name.len() < 64 && name.iter().all(plain)
    })
}

/// What kind of proto the bytes are, if any that holds a module.
pub fn written(bytes: &[u8]) -> Option<Written> {
    if is_module(bytes) {
        return Some(Written::Module);
    }
    let inner = first(bytes, 1)?;
    if is_module(inner) {
        return Some(Written::Proto);
    }
    first(inner, 1).filter(|body| is_module(body)).map(|_| Written::Snapshot)
}

/// Reads a proto.
pub fn read(bytes: &[u8]) -> Result<Module> {
    let Some(written) = written(bytes) else {
        let seen = "neither HloProto nor HloModuleProto nor HloSnapshot: no computation is in it";
        return Err(Error::new(Kind::NotThisFormat, seen));
    };
    let mut found = Module { written, ..Module::default() };
    let mut budget = Budget::of(bytes.len());
    let whole = Field { number: 0, value: Value::Bytes(bytes), offset: 0, body: 0 };
    match written {
        Written::Module => module(&whole, &mut found, &mut budget)?,
        Written::Snapshot => each(&whole, |part| match part.number {
            1 => program(&part, &mut found, &mut budget),
            _ => Ok(()),
        })?,
        _ => program(&whole, &mut found, &mut budget)?,
    }
    Ok(found)
}

fn program(field: &Field<'_>, found: &mut Module, budget: &mut Budget) -> Result<()> {
    each(field, |part| {
        match part.number {
            1 => module(&part, found, budget)?,
            3 => found.buffers = Some(buffers::read(&part)?),
            2 => {}
            _ => found.unknown_fields += 1,
        }
        Ok(())
    })
}

/// What names something by a number that is looked up when all is there.
#[derive(Default)]
struct Pending {
    /// Index of an instruction, and the numbers of the computations that it calls.
    calls: Vec<(usize, Vec<i64>)>,
    /// File and line that older versions write in the instruction itself.
    own: Vec<(usize, Frame)>,
    /// Instructions in the order in which they run, by the number of their computation.
    order: FxHashMap<i64, Vec<i64>>,
    /// What instructions have in common.
    shared: Shared,
}

const NEWEST_OF_MODULE: u32 = 26;
const NEWEST_OF_INSTRUCTION: u32 = 98;

fn module(field: &Field<'_>, found: &mut Module, budget: &mut Budget) -> Result<()> {
    let mut pending = Pending::default();
    let (mut entry_id, mut entry_name) = (None, String::new());
    // A zero is not written.
    found.id = Some(0);
    // The order of running is needed while computations are read, and comes behind them.
    each(field, |part| {
        if part.number == 7 {
            found.scheduled = true;
            schedule(&part, &mut pending.order)?;
        }
        Ok(())
    })?;
    each(field, |part| {
        match part.number {
            1 => found.name = text(&part),
            2 => entry_name = text(&part),
            3 if part.bytes().is_some() => computation(&part, found, &mut pending, budget)?,
            5 => found.id = part.i64(),
            6 => entry_id = part.i64(),
            15 => found.head.devices(&part)?,
            17 => found.frames = frames(&part)?,
            18 => found.head.donors(&part)?,
            number if number > NEWEST_OF_MODULE => found.unknown_fields += 1,
            _ => {}
        }
        Ok(())
    })?;
    let by_id: FxHashMap<i64, usize> =
        (found.computations.iter().enumerate()).map(|(at, one)| (one.id, at)).collect();
    found.entry = entry_id.and_then(|id| by_id.get(&id)).copied().or_else(|| {
        let named = |one: &Computation| one.name == entry_name;
        found.computations.iter().position(named)
    });
    for (at, ids) in pending.calls {
        for id in ids {
            match by_id.get(&id) {
                Some(&called) => found.instructions[at].called.push(called as u32),
                None => found.dangling += 1,
            }
        }
    }
    for (at, frame) in pending.own {
        found.frames.push(frame);
        found.instructions[at].frame = found.frames.len() as u32;
    }
    Ok(())
}

/// `HloScheduleProto`: a map from computations to the numbers of their instructions.
fn schedule(field: &Field<'_>, order: &mut FxHashMap<i64, Vec<i64>>) -> Result<()> {
    each(field, |entry| {
        if entry.number != 1 {
            return Ok(());
        }
        let (mut key, mut ids) = (0, Vec::new());
        each(&entry, |part| {
            match part.number {
                1 => key = part.i64().unwrap_or_default(),
                2 => each(&part, |inner| {
                    if inner.number == 1 {
                        numbers(&inner, &mut ids)?;
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })?;
        order.insert(key, ids);
        Ok(())
    })
}

fn numbers(field: &Field<'_>, into: &mut Vec<i64>) -> Result<()> {
    for one in field.varints() {
        into.push(one.map_err(damaged)? as i64);
    }
    Ok(())
}

/// An instruction with the numbers that are not looked up yet.
#[derive(Default)]
struct Raw {
    read: Instruction,
    id: i64,
    operands: Vec<i64>,
    after: Vec<i64>,
    calls: Vec<i64>,
    place: Frame,
}

fn computation(
    field: &Field<'_>,
    found: &mut Module,
    pending: &mut Pending,
    budget: &mut Budget,
) -> Result<()> {
    let mut made = Computation::default();
    let (mut raws, mut root) = (Vec::new(), None);
    each(field, |part| {
        match part.number {
            1 => made.name = text(&part),
            // A field of another wire type is none that the message knows.
            2 if part.bytes().is_some() => {
                budget.take(4, part.offset)?;
                let mut raw = instruction(&part, &mut found.unknown_fields, budget)?;
                pending.shared.fold(&mut raw.read);
                raws.push(raw);
            }
            5 => made.id = part.i64().unwrap_or_default(),
            6 => root = part.i64(),
            _ => {}
        }
        Ok(())
    })?;
    if let Some(order) = pending.order.get(&made.id) {
        let place: FxHashMap<i64, usize> = (order.iter().enumerate()).map(|(at, &id)| (id, at)).collect();
        raws.sort_by_key(|raw: &Raw| place.get(&raw.id).copied().unwrap_or(usize::MAX));
    }
    let start = found.instructions.len();
    let by_id: FxHashMap<i64, usize> =
        (raws.iter().enumerate()).map(|(at, raw)| (raw.id, start + at)).collect();
    let look_up = |ids: Vec<i64>, dangling: &mut u64| -> Vec<u32> {
        ids.iter()
            .map(|id| match by_id.get(id) {
                Some(&at) => at as u32,
                None => {
                    *dangling += 1;
                    MISSING
                }
            })
            .collect()
    };
    for (at, mut raw) in raws.into_iter().enumerate() {
        let operands = look_up(raw.operands, &mut found.dangling);
        raw.read.operands = operands.into_iter().collect();
        if !raw.after.is_empty() {
            raw.read.more().after = look_up(raw.after, &mut found.dangling);
        }
        if !raw.calls.is_empty() {
            pending.calls.push((start + at, raw.calls));
        }
        if raw.read.frame == 0 && raw.place.is_told() {
            pending.own.push((start + at, raw.place));
        }
        found.instructions.push(raw.read);
    }
    made.instructions = start..found.instructions.len();
    made.root = root.and_then(|id| by_id.get(&id)).copied();
    found.computations.push(made);
    Ok(())
}

fn instruction(field: &Field<'_>, unknown: &mut u64, budget: &mut Budget) -> Result<Raw> {
    let mut raw = Raw::default();
    let read = &mut raw.read;
    let mut literal = None;
    each(field, |part| {
        read.digest = read.digest.wrapping_add(digest(&part)?);
        match part.number {
            1 => read.name = (*text(&part)).into(),
            2 => read.opcode = opcode(&part.text().unwrap_or_default()),
            3 => read.shape = shape(&part, 0, budget)?.into(),
            7 => each(&part, |inner| {
                match inner.number {
                    1 => {
                        let said = text(&inner);
                        if !said.is_empty() {
                            read.more().op_type = said;
                        }
                    }
                    2 => read.op_name = text(&inner).into(),
                    3 => raw.place.file = text(&inner),
                    4 => raw.place.line = number(&inner) as i32,
                    15 => read.frame = number(&inner),
                    _ => {}
                }
                Ok(())
            })?,
            8 => literal = Some(part),
            9 | 13 if part.u64().is_some_and(|it| it > 0) => read.number = part.i64(),
            11 => read.more().fusion_kind = text(&part),
            14 => numbers(&part, &mut read.dimensions)?,
            15 => {
                let window = &mut read.more().window;
                each(&part, |inner| {
                    if inner.number == 1 && inner.bytes().is_some() {
                        window.push(window_dim(&inner)?);
                    }
                    Ok(())
                })?;
            }
            16 => read.more().convolution = Some(convolution(&part)?),
            26 if part.u64().is_some_and(|it| it > 0) => read.more().channel = part.i64(),
            28 => read.more().target = text(&part),
            30 => {
                let contracted = &mut read.more().contracted;
                each(&part, |inner| match inner.number {
                    1 => numbers(&inner, contracted),
                    _ => Ok(()),
                })?;
            }
            32 => numbers(&part, &mut read.more().fft)?,
            35 => raw.id = part.i64().unwrap_or_default(),
            36 => numbers(&part, &mut raw.operands)?,
            37 => numbers(&part, &mut raw.after)?,
            38 => numbers(&part, &mut raw.calls)?,
            40 => read.more().sharding = sharding::text(&part, 0)?,
            43 => {
                let said = std::str::from_utf8(part.bytes().unwrap_or_default());
                if let Some(said) = said.ok().filter(|said| !said.is_empty()) {
                    read.more().config = said.to_owned();
                }
            }
            50 if part.u64().is_some_and(|it| it > 1) => {
                read.more().groups.0 = part.i64().unwrap_or_default();
            }
            58 if part.u64().is_some_and(|it| it > 1) => {
                read.more().groups.1 = part.i64().unwrap_or_default();
            }
            63 => {
                let said = text(&part);
                if !said.is_empty() {
                    read.more().direction = said;
                }
            }
            number if number > NEWEST_OF_INSTRUCTION => *unknown += 1,
            _ => {}
        }
        Ok(())
    })?;
    // A zero is not written.
    if matches!(&*raw.read.opcode, "parameter" | "get-tuple-element") {
        raw.read.number.get_or_insert(0);
    } else {
        raw.read.number = None;
    }
    raw.read.id = raw.id;
    if let Some(literal) = literal.filter(|_| is_integer(&raw.read.shape) && raw.read.opcode == "constant") {
        raw.read.number = integer(&literal)?;
    }
    Ok(raw)
}

/// Fields that say what an instruction is, but for those that other parts of [`Instruction`] hold: names, shape,
/// metadata, numbers of others, sharding, configuration of the backend, and what only marks it for tools.
fn digest(field: &Field<'_>) -> Result<u64> {
    const ELSEWHERE: [u32; 19] = [1, 2, 3, 7, 9, 11, 13, 14, 26, 28, 35, 36, 37, 38, 40, 43, 68, 82, 88];
    if ELSEWHERE.contains(&field.number) {
        return Ok(0);
    }
    let hashed = |field: &Field<'_>, seed| match field.bytes() {
        Some(bytes) => xxh3_64_with_seed(bytes, seed),
        None => xxh3_64_with_seed(&field.u64().unwrap_or_default().to_le_bytes(), seed),
    };
    if field.number != 8 {
        return Ok(hashed(field, u64::from(field.number)));
    }
    // The shape of a literal repeats the instruction's, with a layout.
    let mut sum = 0_u64;
    each(field, |part| {
        if part.number != 1 {
            sum = sum.wrapping_add(hashed(&part, 1 << 32 | u64::from(part.number)));
        }
        Ok(())
    })?;
    Ok(sum)
}

/// The one integer of a `LiteralProto`: s32s 4, s64s 5, u32s 6, u64s 7.
fn integer(field: &Field<'_>) -> Result<Option<i64>> {
    let mut found = None;
    each(field, |part| {
        if let 4..=7 = part.number {
            let first = part.varints().next().transpose().map_err(damaged)?;
            found = first.and_then(|it| match part.number {
                7 => i64::try_from(it).ok(),
                _ => Some(it as i64),
            });
        }
        Ok(())
    })?;
    Ok(found)
}

fn window_dim(field: &Field<'_>) -> Result<WindowDim> {
    let mut one = WindowDim { size: 0, stride: 0, dilation: 0, base_dilation: 0, ..WindowDim::default() };
    each(field, |part| {
        let said = part.i64().unwrap_or_default();
        match part.number {
            1 => one.size = said,
            2 => one.stride = said,
            3 => one.padding.0 = said,
            4 => one.padding.1 = said,
            5 => one.dilation = said,
            6 => one.base_dilation = said,
            _ => {}
        }
        Ok(())
    })?;
    Ok(one)
}

fn convolution(field: &Field<'_>) -> Result<Convolution> {
    let mut one = Convolution::default();
    each(field, |part| {
        let said = part.i64().unwrap_or_default();
        match part.number {
            7 => one.input.0 = said,
            8 => one.input.1 = said,
            10 => one.output_feature = said,
            11 => numbers(&part, &mut one.spatial[0])?,
            6 => numbers(&part, &mut one.spatial[1])?,
            12 => numbers(&part, &mut one.spatial[2])?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(one)
}

fn shape(field: &Field<'_>, depth: usize, budget: &mut Budget) -> Result<Shape> {
    budget.take(1, field.offset)?;
    if depth > Budget::DEPTH {
        let seen = "tuples nested too deep";
        return Err(Error::at(Kind::Limit, field.offset, seen));
    }
    let mut one = Shape::default();
    let (mut dims, mut parts, mut laid) = (Vec::new(), Vec::new(), None);
    let mut dynamic = 0_u32;
    each(field, |part| {
        match part.number {
            2 => one.element = Element::of_number(part.u64().unwrap_or_default()),
            3 => numbers(&part, &mut dims)?,
            4 if part.bytes().is_some() => parts.push(shape(&part, depth + 1, budget)?),
            5 => laid = Some(layout(&part)?),
            6 => {
                for flag in part.varints() {
                    let flag = flag.map_err(damaged)?;
                    if flag != 0 && dynamic < 64 {
                        one.dynamic |= 1 << dynamic;
                    }
                    dynamic += 1;
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    one.dims = dims.into();
    one.parts = parts.into();
    if let Some(laid) = laid {
        one.lay(laid);
    }
    Ok(one)
}

fn layout(field: &Field<'_>) -> Result<Layout> {
    let mut one = Layout::default();
    each(field, |part| {
        match part.number {
            1 => numbers(&part, &mut one.minor_to_major)?,
            6 => {
                let mut tile = Vec::new();
                each(&part, |inner| match inner.number {
                    1 => numbers(&inner, &mut tile),
                    _ => Ok(()),
                })?;
                one.tiles.push(tile);
            }
            7 => one.bits = part.u64().unwrap_or_default().min(1 << 12) as u16,
            8 => one.space = part.i64().unwrap_or_default(),
            _ => {}
        }
        Ok(())
    })?;
    Ok(one)
}
