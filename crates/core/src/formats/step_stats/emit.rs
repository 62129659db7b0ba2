//! Writes the executions in their order: slices, executions, tensors, allocations, arrows.

use super::arrows::Arrows;
use super::collect::Collected;
use super::label;
use super::layout::{Class, Placed, Plan, op_of};
use super::node::{self, Memory, Node};
use crate::classes::compiles;
use crate::columns::{Cell, MISSING, NONE, SliceColumns, Table};
use crate::error::Result;
use crate::formats::graph::attr::{fields, push_shape};
use crate::json::write::{Object, push_array, push_i64, push_text};
use crate::proto::messages::data_type_name;
use crate::store::{Effect, Options, Writer};

/// Slices that are handed to the writer at once.
const PIECE: usize = 1 << 15;

/// Writes everything that was placed.
pub fn emit(writer: &mut Writer, options: &Options, found: &Collected, plan: &Plan) -> Result<()> {
    let mut arrows = if options.needs.tables { Some(Arrows::new(found, plan)?) } else { None };
    let mut emitter =
        Emitter { writer, options, found, plan, piece: SliceColumns::default(), shape: String::new() };
    for id in 0..plan.placed.len() as u32 {
        emitter.one(id, arrows.as_mut())?;
        if emitter.piece.len() >= PIECE {
            emitter.flush()?;
        }
    }
    emitter.flush()?;
    let placed = plan.placed.len() as u64;
    emitter.writer.claim("slice", placed, placed);
    match arrows {
        Some(arrows) => arrows.finish(writer),
        None => Ok(()),
    }
}

struct Emitter<'a> {
    writer: &'a mut Writer,
    options: &'a Options,
    found: &'a Collected,
    plan: &'a Plan,
    piece: SliceColumns,
    shape: String,
}

impl Emitter<'_> {
    fn flush(&mut self) -> Result<()> {
        self.writer.check()?;
        if !self.piece.is_empty() {
            self.writer.push_ordered(std::mem::take(&mut self.piece))?;
        }
        Ok(())
    }

    fn one(&mut self, id: u32, arrows: Option<&mut Arrows<'_>>) -> Result<()> {
        let placed = self.plan.placed[id as usize];
        let exec = &self.found.execs[placed.exec as usize];
        let bytes = self.found.spool.get(exec.place, exec.length as usize)?;
        let node = node::read(&bytes);
        let (name, text) = (String::from_utf8_lossy(node.name), String::from_utf8_lossy(node.label));
        if exec.flawed {
            self.writer.facts.events_repaired += 1;
            let detail = "text that is not UTF-8 was repaired";
            self.writer.note("invalid-utf8", Effect::Repaired, 1, Some(exec.offset), detail);
        }
        let (op_name, op_type) = op_of(placed.class, &name, &text);

        let piece = &mut self.piece;
        piece.track.push(placed.track);
        piece.name.push(self.writer.names.intern(&name));
        piece.category.push(NONE);
        piece.ts_ps.push(placed.ts_ps);
        piece.dur_ps.push(placed.dur_ps);
        piece.op_name.push(self.writer.op_names.intern(op_name));
        piece.op_type.push(op_type.map_or(NONE, |op_type| self.writer.op_types.intern(op_type)));
        piece.correlation.push(MISSING);

        let memories: Vec<Memory<'_>> = fields(&bytes)
            .filter(|field| field.number == 6)
            .filter_map(|field| field.bytes())
            .map(node::memory)
            .collect();
        if self.options.needs.args {
            let mut args = String::new();
            push_args(&mut args, &placed, &text, &node, &memories, &bytes);
            piece.args_json.extend_from_slice(args.as_bytes());
        }
        piece.args_end.push(piece.args_json.len() as u32);

        // Marks separate the steps, so they are needed whatever is asked.
        if let Some(name) = [op_type, Some(op_name)].into_iter().flatten().find(|name| compiles(name)) {
            self.compile_mark(&placed, name)?;
        }

        if let Some(arrows) = arrows {
            self.op_run(id, &placed, &node, &memories, &bytes, (op_name, op_type, &text))?;
            self.allocations(id, &memories)?;
            self.tensors(id, op_name, &bytes)?;
            arrows.into(self.writer, id, &text)?;
        }
        Ok(())
    }

    /// A mark where a compiler ran: the step around it is not a normal one.
    fn compile_mark(&mut self, placed: &Placed, name: &str) -> Result<()> {
        let cells = [
            Cell::I64(i64::from(placed.track)),
            Cell::Text(name),
            Cell::I64(placed.ts_ps),
            Cell::I64(placed.dur_ps),
            Cell::Null,
            Cell::Null,
        ];
        self.writer.row(Table::Marker, &cells).map(drop)
    }

    fn op_run(
        &mut self,
        id: u32,
        placed: &Placed,
        node: &Node<'_>,
        memories: &[Memory<'_>],
        bytes: &[u8],
        (op_name, op_type, label): (&str, Option<&str>, &str),
    ) -> Result<()> {
        let times = &node.times;
        let mut unplaced = 0;
        let mut cell = |ps: Option<i64>| {
            unplaced += u64::from(ps.is_none());
            ps.map_or(Cell::Null, Cell::I64)
        };
        let after = |ns: i64| ns.checked_mul(1000).and_then(|ps| placed.ts_ps.checked_add(ps));
        let before = |ns: i128| i64::try_from((ns - i128::from(self.plan.origin_ns)) * 1000).ok();
        // TensorFlow 1.15 leaves what was in memory there: nothing is scheduled after it began.
        let began = times.start_ns.map(i128::from);
        let sound = |ns: &i128| began.is_none_or(|began| *ns <= began);
        let known = times.scheduled_ns.filter(sound);
        let scheduled = known.map_or(Cell::Null, |ns| cell(before(ns)));
        let op_start = cell(after(times.op_start_ns));
        let op_end = if times.op_end_ns == 0 { Cell::Null } else { cell(after(times.op_end_ns)) };
        if unplaced > 0 {
            let detail = "moments of executions lie too far in time to be stored and are left out";
            let offset = self.found.execs[placed.exec as usize].offset;
            self.writer.note("moment-out-of-range", Effect::Missing, 1, Some(offset), detail);
        }
        if known.is_none() && times.scheduled_ns.is_some() {
            let detail = "executions say that they were scheduled after they began, which is left out";
            let offset = self.found.execs[placed.exec as usize].offset;
            self.writer.note("moment-out-of-range", Effect::Info, 1, Some(offset), detail);
        }
        let sum = |of: fn(&Memory<'_>) -> i64| match memories {
            [] => Cell::Null,
            _ => Cell::I64(memories.iter().map(of).fold(0, i64::saturating_add)),
        };
        let stat = |number| match node.memory_stats {
            None => Cell::Null,
            Some(stats) => Cell::I64(node::number(stats, number).unwrap_or(0)),
        };
        let mut output_bytes = Cell::Null;
        for output in fields(bytes)
            .filter(|field| field.number == 7)
            .filter_map(|field| field.bytes())
            .map(node::output)
        {
            let so_far = if let Cell::I64(sum) = output_bytes { sum } else { 0 };
            output_bytes = Cell::I64(so_far.saturating_add(output.allocation.requested_bytes.unwrap_or(0)));
        }
        let cells = [
            Cell::I64(i64::from(id)),
            Cell::I64(i64::from(placed.device)),
            Cell::Text(op_name),
            op_type.map_or(Cell::Null, Cell::Text),
            scheduled,
            Cell::I64(placed.ts_ps),
            op_start,
            op_end,
            Cell::I64(placed.ts_ps + placed.dur_ps),
            if label.is_empty() { Cell::Null } else { Cell::Text(label) },
            if placed.class == Class::Thread { Cell::I64(i64::from(times.thread)) } else { Cell::Null },
            stat(1),
            stat(3),
            sum(|memory| memory.total_bytes),
            sum(|memory| memory.peak_bytes),
            sum(|memory| memory.live_bytes),
            output_bytes,
        ];
        self.writer.row(Table::OpRun, &cells).map(drop)
    }

    fn allocations(&mut self, id: u32, memories: &[Memory<'_>]) -> Result<()> {
        for memory in memories {
            let allocator = String::from_utf8_lossy(memory.allocator);
            for (micros, delta_bytes) in &memory.records {
                let ns = micros.checked_mul(1000).and_then(|ns| ns.checked_sub(self.plan.origin_ns));
                let Some(ts_ps) = ns.and_then(|ns| ns.checked_mul(1000)) else {
                    let detail = "movements of allocators lie too far in time to be stored";
                    self.writer.note("allocation-out-of-range", Effect::Missing, 1, None, detail);
                    continue;
                };
                let cells = [
                    Cell::I64(i64::from(id)),
                    Cell::I64(i64::from(id)),
                    Cell::Text(&allocator),
                    Cell::I64(ts_ps),
                    Cell::I64(*delta_bytes),
                    Cell::Null,
                ];
                self.writer.row(Table::Allocation, &cells)?;
            }
        }
        Ok(())
    }

    fn tensors(&mut self, id: u32, op_name: &str, bytes: &[u8]) -> Result<()> {
        for output in fields(bytes)
            .filter(|field| field.number == 7)
            .filter_map(|field| field.bytes())
            .map(node::output)
        {
            self.shape.clear();
            if let Some(shape) = output.shape {
                push_shape(&mut self.shape, shape);
            }
            let allocation = &output.allocation;
            let allocator = String::from_utf8_lossy(allocation.allocator);
            let known = |value: Option<i64>| value.map_or(Cell::Null, Cell::I64);
            let cells = [
                Cell::I64(i64::from(id)),
                Cell::Text(op_name),
                Cell::I64(output.slot),
                Cell::Text(&data_type_name(output.dtype)),
                if self.shape.is_empty() || self.shape == "null" {
                    Cell::Null
                } else {
                    Cell::Text(&self.shape)
                },
                known(allocation.requested_bytes),
                known(allocation.allocated_bytes),
                if allocator.is_empty() { Cell::Null } else { Cell::Text(&allocator) },
                // The same 64 bits: no engine but DuckDB has unsigned numbers.
                allocation.address.map_or(Cell::Null, |address| Cell::I64(address as i64)),
            ];
            self.writer.row(Table::Tensor, &cells)?;
        }
        Ok(())
    }
}

/// Numbers of `MemoryStats` that have no column of their own.
const DEVICE_MEMORY: [(u32, &str); 2] = [(2, "device_temp_bytes"), (4, "device_persistent_bytes")];

/// Everything of an execution that no column holds, as a JSON object.
fn push_args(
    out: &mut String,
    placed: &Placed,
    text: &str,
    node: &Node<'_>,
    memories: &[Memory<'_>],
    bytes: &[u8],
) {
    let mut object = Object::begin(out);
    if let Some(label) = label::op_label(text).filter(|_| placed.class != Class::Stream) {
        push_array(object.key("inputs"), label.inputs(), push_text);
        if let Some(bracket) = label.bracket {
            push_text(object.key("memory_note"), bracket);
        }
    } else if let Some(transfer) = label::transfer(text).filter(|_| placed.class == Class::Transfer) {
        for (key, value) in [("size", transfer.size), ("rate", transfer.rate)] {
            if let Some(value) = value {
                push_text(object.key(key), value);
            }
        }
        if let Some(sent) = transfer.bytes() {
            push_i64(object.key("bytes"), sent);
        }
        let ends = [("edge", transfer.edge), ("from", transfer.from), ("to", transfer.to)];
        for (key, value) in [("tensor", transfer.tensor())].into_iter().chain(ends) {
            push_text(object.key(key), value);
        }
    } else if !text.is_empty() {
        push_text(object.key("label"), text);
    }
    if !memories.is_empty() {
        push_array(object.key("memory"), memories, |out, memory| {
            let mut object = Object::begin(out);
            push_text(object.key("allocator"), &String::from_utf8_lossy(memory.allocator));
            push_i64(object.key("total_bytes"), memory.total_bytes);
            push_i64(object.key("peak_bytes"), memory.peak_bytes);
            push_i64(object.key("live_bytes"), memory.live_bytes);
            push_i64(object.key("allocator_in_use_bytes"), memory.in_use_bytes);
            object.end();
        });
    }
    for (number, key) in DEVICE_MEMORY {
        if let Some(value) =
            node::number(node.memory_stats.unwrap_or_default(), number).filter(|value| *value != 0)
        {
            push_i64(object.key(key), value);
        }
    }
    let referenced: Vec<&[u8]> =
        fields(bytes).filter(|field| field.number == 11).filter_map(|field| field.bytes()).collect();
    if !referenced.is_empty() {
        push_array(object.key("referenced_tensors"), referenced, |out, bytes| {
            let allocation = node::allocation(bytes);
            let mut object = Object::begin(out);
            push_i64(object.key("requested_bytes"), allocation.requested_bytes.unwrap_or(0));
            push_i64(object.key("allocated_bytes"), allocation.allocated_bytes.unwrap_or(0));
            push_text(object.key("allocator"), &String::from_utf8_lossy(allocation.allocator));
            push_i64(object.key("allocation_id"), allocation.id.unwrap_or(0));
            object.key("address").push_str(&allocation.address.unwrap_or(0).to_string());
            object.end();
        });
    }
    object.end_unless_empty();
}
