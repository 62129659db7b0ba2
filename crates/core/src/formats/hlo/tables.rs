//! Programs as rows of tables: `hlo_computation`, `hlo_instruction`, `hlo_buffer` and `hlo_allocation`.

use super::buffers::{Buffers, Class, Replay};
use super::cost::{Cost, Costs, Ran};
use super::frames::Frame;
use super::model::{Instruction, Module, More};
use crate::columns::Cell;
use crate::error::Result;
use crate::json::write::push_text;
use crate::store::Store;
use crate::store::part::{Field, Shape};
use crate::store::rows::Rows;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Calls of one stack; recursion of programs knows no end.
const MOST_CALLS: usize = 200;

/// Where a module belongs.
#[derive(Debug, Default)]
pub struct Place {
    /// Row of the module.
    pub module_id: i64,
    /// Row of the stage or pass that it is after; none for a program that a recording keeps.
    pub pass_id: Option<i64>,
    /// Its number, as text; empty where nothing says it.
    pub program_id: String,
    /// Its name.
    pub module: String,
    /// The stage; none for a pass.
    pub stage: Option<String>,
}

/// The tables while they grow.
pub struct Tables {
    computations: Rows,
    instructions: Rows,
    buffers: Rows,
    allocations: Rows,
}

type Columns = &'static [(&'static str, Shape)];

const PLACE: Columns = &[
    ("id", Shape::I64),
    ("module_id", Shape::I64),
    ("pass_id", Shape::I64),
    ("program_id", Shape::Text),
    ("module", Shape::Text),
    ("stage", Shape::Text),
];
const COSTS: Columns = &[
    ("flops", Shape::F64),
    ("transcendentals", Shape::F64),
    ("bytes", Shape::F64),
    ("run_flops", Shape::F64),
    ("run_transcendentals", Shape::F64),
    ("run_bytes", Shape::F64),
    ("run_custom_calls", Shape::F64),
    ("run_open_loops", Shape::F64),
];
const COMPUTATION: Columns = &[
    ("name", Shape::Text),
    ("is_entry", Shape::Bool),
    ("instructions", Shape::I64),
    ("root", Shape::Text),
    ("times", Shape::F64),
];
const INSTRUCTION: Columns = &[
    ("computation", Shape::Text),
    ("name", Shape::Text),
    ("opcode", Shape::Text),
    ("is_root", Shape::Bool),
    ("shape", Shape::Text),
    ("shape_bytes", Shape::F64),
    ("operands_json", Shape::Text),
    ("calls_json", Shape::Text),
    ("op_name", Shape::Text),
    ("op_type", Shape::Text),
    ("file", Shape::Text),
    ("line", Shape::I64),
    ("function", Shape::Text),
    ("stack_json", Shape::Text),
    ("fusion_kind", Shape::Text),
    ("target", Shape::Text),
    ("sharding", Shape::Text),
    ("trip_count", Shape::F64),
    ("times", Shape::F64),
];
const BUFFER: Columns = &[
    ("buffer", Shape::I64),
    ("bytes", Shape::I64),
    ("instruction", Shape::Text),
    ("shape_index", Shape::Text),
    ("allocation", Shape::I64),
    ("class", Shape::Text),
    ("offset_bytes", Shape::I64),
    ("at_peak", Shape::Bool),
];
const ALLOCATION: Columns = &[
    ("allocation", Shape::I64),
    ("bytes", Shape::I64),
    ("class", Shape::Text),
    ("is_aliased", Shape::Bool),
    ("parameter", Shape::I64),
    ("space", Shape::I64),
    ("buffers", Shape::I64),
    ("needed_bytes", Shape::I64),
    ("peak_instruction", Shape::Text),
];

fn growing(store: &Store, name: &str, columns: &[Columns]) -> Result<Rows> {
    let every = columns.iter().flat_map(|some| some.iter());
    let fields = every.map(|&(name, shape)| Field::new(name, shape));
    store.growing(name, fields.collect())
}

impl Tables {
    /// Tables without rows.
    pub fn new(store: &Store) -> Result<Tables> {
        Ok(Tables {
            computations: growing(store, "hlo_computation", &[PLACE, COMPUTATION, COSTS])?,
            instructions: growing(store, "hlo_instruction", &[PLACE, INSTRUCTION, COSTS])?,
            buffers: growing(store, "hlo_buffer", &[PLACE, BUFFER])?,
            allocations: growing(store, "hlo_allocation", &[PLACE, ALLOCATION])?,
        })
    }

    /// Adds a module with its costs.
    pub fn add(&mut self, module: &Module, costs: &Costs, place: &Place) -> Result<()> {
        let mut texts = Texts::default();
        let mut stacks = FxHashMap::default();
        for (number, one) in module.computations.iter().enumerate() {
            let root = one.root.map(|at| &*module.instructions[at].name);
            let times = costs.times[number];
            let cells = [
                Cell::Text(&one.name),
                truth(module.entry == Some(number)),
                Cell::I64(one.instructions.len() as i64),
                root.map_or(Cell::Null, Cell::Text),
                Cell::F64(times),
            ];
            let (cost, ran) = &costs.computations[number];
            push(&mut self.computations, place, &cells, &cost_cells(cost, ran))?;
            for at in one.instructions.clone() {
                let instruction = &module.instructions[at];
                texts.of(module, instruction);
                let none = More::default();
                let more = instruction.more.as_deref().unwrap_or(&none);
                let frame = module.place(instruction);
                let trips = costs.trips.get(&(at as u32));
                let cells = [
                    Cell::Text(&one.name),
                    Cell::Text(&instruction.name),
                    Cell::Text(&instruction.opcode),
                    truth(one.root == Some(at)),
                    Cell::Text(&texts.shape),
                    Cell::F64(instruction.shape.bytes()),
                    Cell::Text(&texts.operands),
                    Cell::Text(&texts.called),
                    given(&instruction.op_name),
                    given(&more.op_type),
                    frame.map_or(Cell::Null, |frame| given(&frame.file)),
                    frame.map_or(Cell::Null, |frame| match frame.line {
                        0 => Cell::Null,
                        line => Cell::I64(i64::from(line)),
                    }),
                    frame.map_or(Cell::Null, |frame| given(&frame.function)),
                    given(stack_of(&mut stacks, &module.frames, instruction.frame)),
                    given(&more.fusion_kind),
                    given(&more.target),
                    given(&more.sharding),
                    trips.map_or(Cell::Null, |&trips| Cell::F64(trips as f64)),
                    Cell::F64(times),
                ];
                let costs = cost_cells(&costs.instructions[at], &costs.ran[at]);
                push(&mut self.instructions, place, &cells, &costs)?;
            }
        }
        match &module.buffers {
            Some(found) => self.memory(module, place, found),
            None => Ok(()),
        }
    }

    fn memory(&mut self, module: &Module, place: &Place, found: &Buffers) -> Result<()> {
        let replays = found.replays();
        let live = held(found, &replays);
        let names: FxHashMap<i64, &str> =
            (module.instructions.iter()).map(|one| (one.id, &*one.name)).collect();
        let mut placed: FxHashMap<i64, (i64, Class, i64)> = FxHashMap::default();
        for one in &found.allocations {
            for &(buffer, offset, _) in &one.assigned {
                placed.entry(buffer).or_insert((one.index, one.class, offset));
            }
        }
        let mut index = String::new();
        for one in &found.logical {
            index.clear();
            for (at, part) in one.shape_index.iter().enumerate() {
                let comma = if at > 0 { "," } else { "" };
                let _ = write!(index, "{comma}{part}");
            }
            let maker = match one.instruction.as_str() {
                "" => names.get(&one.instruction_id).copied().unwrap_or_default(),
                name => name,
            };
            let at = placed.get(&one.id);
            let cells = [
                Cell::I64(one.id),
                Cell::I64(one.size),
                given(maker),
                Cell::Text(&index),
                at.map_or(Cell::Null, |at| Cell::I64(at.0)),
                at.map_or(Cell::Null, |at| Cell::Text(at.1.name())),
                at.map_or(Cell::Null, |at| Cell::I64(at.2)),
                truth(live.contains(&one.id)),
            ];
            push(&mut self.buffers, place, &cells, &[])?;
        }
        let heaps: FxHashMap<i64, &Replay> =
            (replays.iter()).filter_map(|replay| replay.allocation.map(|at| (at, replay))).collect();
        for one in &found.allocations {
            let heap = heaps.get(&one.index);
            let cells = [
                Cell::I64(one.index),
                Cell::I64(one.size),
                Cell::Text(one.class.name()),
                truth(one.aliased),
                one.parameter.map_or(Cell::Null, Cell::I64),
                Cell::I64(one.color),
                Cell::I64(one.assigned.len() as i64),
                heap.map_or(Cell::Null, |heap| Cell::I64(heap.needed)),
                heap.map_or(Cell::Null, |heap| given(&heap.at)),
            ];
            push(&mut self.allocations, place, &cells, &[])?;
        }
        Ok(())
    }

    /// Puts the tables into the store.
    pub fn finish(self, store: &mut Store) -> Result<()> {
        store.keep("hlo_computation", self.computations)?;
        store.keep("hlo_instruction", self.instructions)?;
        store.keep("hlo_buffer", self.buffers)?;
        store.keep("hlo_allocation", self.allocations)
    }
}

/// The buffers that hold memory when the heap needs most. What is no heap is held all the time: of values that share
/// such an allocation one after the other, the first that needs all of it counts.
fn held(found: &Buffers, replays: &[Replay]) -> FxHashSet<i64> {
    let temporary = |index: i64| {
        let mut all = found.allocations.iter();
        all.any(|one| one.index == index && one.class == Class::Temporary)
    };
    let heaps: Vec<(i64, &Replay)> = (replays.iter())
        .filter_map(|replay| replay.allocation.map(|index| (index, replay)))
        .filter(|&(index, _)| temporary(index))
        .collect();
    let mut live: FxHashSet<i64> =
        (heaps.iter()).flat_map(|(_, replay)| replay.held.iter().map(|held| held.0)).collect();
    for one in &found.allocations {
        if heaps.iter().any(|heap| heap.0 == one.index) {
            continue;
        }
        let whole = one.assigned.iter().filter(|it| it.2 == one.size);
        let first = whole.map(|it| it.0).min();
        live.extend(first.or_else(|| one.assigned.iter().map(|it| it.0).min()));
    }
    live
}

fn push(rows: &mut Rows, place: &Place, own: &[Cell<'_>], costs: &[Cell<'_>]) -> Result<()> {
    let mut cells = vec![
        Cell::I64(rows.len()),
        Cell::I64(place.module_id),
        place.pass_id.map_or(Cell::Null, Cell::I64),
        Cell::Text(&place.program_id),
        Cell::Text(&place.module),
        place.stage.as_deref().map_or(Cell::Null, Cell::Text),
    ];
    cells.extend_from_slice(own);
    cells.extend_from_slice(costs);
    rows.push(&cells).map(drop)
}

/// A text that is missing where it is empty.
fn given(text: &str) -> Cell<'_> {
    if text.is_empty() { Cell::Null } else { Cell::Text(text) }
}

fn truth(value: bool) -> Cell<'static> {
    Cell::I64(i64::from(value))
}

fn cost_cells(cost: &Cost, ran: &Ran) -> [Cell<'static>; 8] {
    [
        cost.flops, cost.transcendentals, cost.bytes, ran.cost.flops, ran.cost.transcendentals,
        ran.cost.bytes, ran.custom_calls, ran.open_loops,
    ]
    .map(Cell::F64)
}

/// What an instruction says, as text.
#[derive(Default)]
struct Texts {
    shape: String,
    operands: String,
    called: String,
}

impl Texts {
    fn of(&mut self, module: &Module, one: &Instruction) {
        self.shape.clear();
        let _ = write!(self.shape, "{}", one.shape);
        let operands = one.operands.iter();
        list(
            &mut self.operands,
            operands.map(|&at| module.instructions.get(at as usize).map(|it| &*it.name)),
        );
        let called = one.called.iter();
        list(
            &mut self.called,
            called.map(|&at| module.computations.get(at as usize).map(|it| it.name.as_str())),
        );
    }
}

/// The calls around a frame, written once for all instructions that have it.
fn stack_of<'a>(stacks: &'a mut FxHashMap<u32, String>, frames: &[Frame], frame: u32) -> &'a str {
    stacks.entry(frame).or_insert_with(|| stack(frames, frame))
}

/// Names as a JSON array; null for what is not there.
fn list<'a>(out: &mut String, names: impl Iterator<Item = Option<&'a str>>) {
    out.clear();
    out.push('[');
    for (at, name) in names.enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        match name {
            Some(name) => push_text(out, name),
            None => out.push_str("null"),
        }
    }
    out.push(']');
}

/// The calls around a frame as a JSON array of [file, line, function], the outermost first.
fn stack(frames: &[Frame], frame: u32) -> String {
    let mut calls = Vec::new();
    let mut at = frame as usize;
    while let Some(one) = at.checked_sub(1).and_then(|at| frames.get(at)) {
        if calls.len() == MOST_CALLS {
            break;
        }
        calls.push(one);
        at = one.parent as usize;
    }
    if calls.is_empty() {
        return String::new();
    }
    let mut out = String::from("[");
    for (at, one) in calls.iter().rev().enumerate() {
        out.push_str(if at > 0 { ", [" } else { "[" });
        push_text(&mut out, &one.file);
        let _ = write!(out, ", {}, ", one.line);
        push_text(&mut out, &one.function);
        out.push(']');
    }
    out.push(']');
    out
}
