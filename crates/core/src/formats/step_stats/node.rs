//! One `NodeExecStats`, read from its bytes. Times in nanoseconds, with the micros fields where the
//! recorder filled in no nanos.

use crate::formats::graph::attr::fields;
use crate::proto::wire::Field;

/// The times and places of an execution.
#[derive(Debug, Default, Clone, Copy)]
pub struct Times {
    /// Unix time at which the executor took it up; None when not recorded or out of range.
    pub start_ns: Option<i64>,
    /// Unix time at which it was scheduled; may lie beyond 64 bits.
    pub scheduled_ns: Option<i128>,
    /// Start of the kernel, from `start_ns`.
    pub op_start_ns: i64,
    /// End of the kernel, from `start_ns`; 0 when not recorded.
    pub op_end_ns: i64,
    /// End, from `start_ns`.
    pub end_ns: i64,
    /// Thread, or 0.
    pub thread: u32,
}

/// The top-level fields of an execution.
#[derive(Debug, Default)]
pub struct Node<'a> {
    /// Times and thread.
    pub times: Times,
    /// Node name, as bytes.
    pub name: &'a [u8],
    /// `timeline_label`, as bytes.
    pub label: &'a [u8],
    /// `MemoryStats`, when there is one.
    pub memory_stats: Option<&'a [u8]>,
}

/// Reads the fields that occur once.
pub fn read(bytes: &[u8]) -> Node<'_> {
    let mut node = Node::default();
    // By field number: all_start, op_start_rel, op_end_rel, all_end_rel, scheduled, in both units.
    let (mut micros, mut nanos) = ([0_i64; 5], [0_i64; 5]);
    for field in fields(bytes) {
        match (field.number, field.i64()) {
            (number @ 2..=5, Some(value)) => micros[number as usize - 2] = value,
            (9, Some(value)) => micros[4] = value,
            (number @ 13..=17, Some(value)) => nanos[number as usize - 13] = value,
            (10, Some(value)) => node.times.thread = value as u32,
            (1, None) => node.name = field.bytes().unwrap_or(node.name),
            (8, None) => node.label = field.bytes().unwrap_or(node.label),
            (12, None) => node.memory_stats = field.bytes().or(node.memory_stats),
            _ => {}
        }
    }
    let time = |index: usize| match nanos[index] {
        0 => i128::from(micros[index]) * 1000,
        nanos => i128::from(nanos),
    };
    let relative = |index| time(index).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    node.times.start_ns = i64::try_from(time(0)).ok().filter(|start| *start != 0);
    node.times.op_start_ns = relative(1);
    node.times.op_end_ns = relative(2);
    node.times.end_ns = relative(3);
    node.times.scheduled_ns = Some(time(4)).filter(|scheduled| *scheduled != 0);
    node
}

/// `AllocatorMemoryUsed`.
#[derive(Debug, Default)]
pub struct Memory<'a> {
    /// Name of the allocator, as bytes.
    pub allocator: &'a [u8],
    /// All that was asked for.
    pub total_bytes: i64,
    /// Most held at once.
    pub peak_bytes: i64,
    /// Still held at the end.
    pub live_bytes: i64,
    /// Held by the allocator for everybody, at the end.
    pub in_use_bytes: i64,
    /// Movements: Unix microseconds, bytes.
    pub records: Vec<(i64, i64)>,
}

/// Reads an `AllocatorMemoryUsed`.
pub fn memory(bytes: &[u8]) -> Memory<'_> {
    let mut memory = Memory::default();
    for field in fields(bytes) {
        match field.number {
            1 => memory.allocator = field.bytes().unwrap_or(memory.allocator),
            2 => memory.total_bytes = field.i64().unwrap_or(memory.total_bytes),
            3 => memory.peak_bytes = field.i64().unwrap_or(memory.peak_bytes),
            4 => memory.live_bytes = field.i64().unwrap_or(memory.live_bytes),
            5 => memory.in_use_bytes = field.i64().unwrap_or(memory.in_use_bytes),
            6 => {
                let body = field.bytes().unwrap_or_default();
                memory.records.push((number(body, 1).unwrap_or(0), number(body, 2).unwrap_or(0)));
            }
            _ => {}
        }
    }
    memory
}

/// `NodeOutput` with what it holds.
#[derive(Debug, Default)]
pub struct Output<'a> {
    /// Which output.
    pub slot: i64,
    /// Number of the element type.
    pub dtype: i64,
    /// `TensorShapeProto`; None when there is none.
    pub shape: Option<&'a [u8]>,
    /// How it was allocated.
    pub allocation: Allocation<'a>,
}

/// `AllocationDescription`.
#[derive(Debug, Default)]
pub struct Allocation<'a> {
    /// Bytes asked for.
    pub requested_bytes: Option<i64>,
    /// Bytes given.
    pub allocated_bytes: Option<i64>,
    /// Name of the allocator, as bytes.
    pub allocator: &'a [u8],
    /// Number of the allocation.
    pub id: Option<i64>,
    /// Whether nobody else holds it.
    pub single_reference: Option<bool>,
    /// Address.
    pub address: Option<u64>,
}

/// Reads a `NodeOutput`.
pub fn output(bytes: &[u8]) -> Output<'_> {
    let mut output = Output::default();
    for field in fields(bytes) {
        match field.number {
            1 => output.slot = field.i64().map_or(output.slot, |slot| i64::from(slot as i32)),
            3 => {
                for inner in fields(field.bytes().unwrap_or_default()) {
                    match inner.number {
                        1 => output.dtype = inner.i64().map_or(output.dtype, |dtype| i64::from(dtype as i32)),
                        2 => output.shape = inner.bytes().or(output.shape),
                        4 => output.allocation = inner.bytes().map_or(output.allocation, allocation),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    output
}

/// Reads an `AllocationDescription`.
pub fn allocation(bytes: &[u8]) -> Allocation<'_> {
    let mut allocation = Allocation::default();
    for field in fields(bytes) {
        match field.number {
            1 => allocation.requested_bytes = field.i64().or(allocation.requested_bytes),
            2 => allocation.allocated_bytes = field.i64().or(allocation.allocated_bytes),
            3 => allocation.allocator = field.bytes().unwrap_or(allocation.allocator),
            4 => allocation.id = field.i64().or(allocation.id),
            5 => allocation.single_reference = field.bool().or(allocation.single_reference),
            6 => allocation.address = field.u64().or(allocation.address),
            _ => {}
        }
    }
    allocation
}

/// The last value of a number field of a message.
pub fn number(bytes: &[u8], number: u32) -> Option<i64> {
    fields(bytes).filter(|field| field.number == number).filter_map(|field: Field<'_>| field.i64()).last()
}
