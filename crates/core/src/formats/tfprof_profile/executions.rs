//! The executions of a profile's node, as the `NodeExecStats` that tfprof read them from.

use super::Node;
use crate::formats::graph::attr::fields;
use crate::formats::step_stats;
use crate::proto::wire_writer::MessageWriter;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// By device, the bytes of each `NodeExecStats` and the offset of its node in the file.
pub type Executions<'a> = BTreeMap<&'a [u8], Vec<(u64, Vec<u8>)>>;

/// Adds the executions of a node to those of their steps. `inputs` are its own, as a `NodeDef` has them.
pub fn add<'a>(steps: &mut BTreeMap<i64, Executions<'a>>, node: &'a Node, inputs: &[String]) {
    let label = match node.op.as_str() {
        "" => String::new(),
        op => format!("{} = {op}({})", node.name, inputs.join(", ")),
    };
    for entry in fields(&node.bytes).filter(|field| field.number == 12) {
        let (step, Some(executions)) = entry.entry() else {
            continue;
        };
        let of_step = steps.entry(step).or_default();
        let bytes = executions.bytes().unwrap_or_default();
        let mut memory = Memory::read(bytes);
        for device in fields(bytes).filter(|field| matches!(field.number, 4 | 5)) {
            let (name, times) = of_device(device.bytes().unwrap_or_default());
            let streams = name.windows(8).any(|part| part == b"/stream:");
            for (start, micros) in times {
                let mut stats = MessageWriter::default();
                match streams && !node.op.is_empty() {
                    // How TensorFlow calls an op's kernels.
                    true => stats.text(1, &format!("{}:{}", node.name, node.op)),
                    false => stats.text(1, &node.name),
                }
                stats.int(2, start);
                stats.int(4, micros);
                stats.int(5, micros);
                if !streams {
                    memory.write(&mut stats, start, micros, name);
                    stats.text(8, &label);
                }
                let found = (node.offset, stats.into_bytes());
                of_step.entry(name).or_default().push(found);
            }
        }
    }
}

/// Name of a device, and start and duration in microseconds of what ran on it.
fn of_device(entry: &[u8]) -> (&[u8], Vec<(i64, i64)>) {
    let (mut name, mut times) = (&[][..], Vec::new());
    for field in fields(entry) {
        match field.number {
            1 => name = field.bytes().unwrap_or_default(),
            2 => {
                for tuple in fields(field.bytes().unwrap_or_default()) {
                    let values = fields(tuple.bytes().unwrap_or_default());
                    let mut values = values.flat_map(|field| {
                        let values = field.varints().flatten().collect::<Vec<_>>();
                        values.into_iter().map(|value| value as i64)
                    });
                    if let (Some(start), Some(micros)) = (values.next(), values.next()) {
                        times.push((start, micros));
                    }
                }
            }
            _ => {}
        }
    }
    (name, times)
}

/// What an execution of a node held.
struct Held<'a> {
    /// End of the execution in microseconds.
    end: i64,
    /// An `ExecMemory`.
    bytes: &'a [u8],
    /// `AllocationRecord`s up to its end, from the end of the one before.
    records: Vec<&'a [u8]>,
}

/// What the executions of a node held, by their end.
struct Memory<'a>(HashMap<i64, VecDeque<Held<'a>>>);

impl<'a> Memory<'a> {
    /// Reads an `ExecProfile`, which lists the movements of all executions together.
    fn read(bytes: &'a [u8]) -> Self {
        let of = |number| fields(bytes).filter(move |field| field.number == number);
        let mut held: Vec<Held<'_>> = of(7)
            .filter_map(|field| field.bytes())
            .map(|bytes| Held { end: number(bytes, 1), bytes, records: Vec::new() })
            .collect();
        held.sort_by_key(|held| held.end);
        for record in of(11).filter_map(|field| field.bytes()) {
            let ended = held.partition_point(|held| held.end < number(record, 1));
            let last = held.len().saturating_sub(1);
            if let Some(held) = held.get_mut(ended.min(last)) {
                held.records.push(record);
            }
        }
        let mut by_end = HashMap::<_, VecDeque<_>>::new();
        for held in held {
            by_end.entry(held.end).or_default().push_back(held);
        }
        Memory(by_end)
    }

    /// Writes what the execution at this time held; each is written once.
    fn write(&mut self, stats: &mut MessageWriter, start: i64, micros: i64, device: &[u8]) {
        // tfprof takes a duration of 0 for 1, and leaves the end where it was.
        let mut ends = vec![start.saturating_add(micros)];
        ends.extend((micros == 1).then_some(start));
        let held = ends.iter().find_map(|end| self.0.get_mut(end)?.pop_front());
        let Some(held) = held else {
            return;
        };
        write_allocator(stats, &held, device);
        for entry in fields(held.bytes).filter(|field| field.number == 11) {
            let (slot, memory) = entry.entry();
            write_output(stats, slot, memory.as_ref().and_then(|memory| memory.bytes()));
        }
        let either = |host, accelerator| match number(held.bytes, host) {
            0 => number(held.bytes, accelerator),
            bytes => bytes,
        };
        let mut memory = MessageWriter::default();
        memory.int(1, either(2, 4));
        memory.int(3, either(3, 5));
        stats.message(12, memory);
    }
}

/// An `AllocatorMemoryUsed` of what tfprof summed over the allocators of an execution, called by their device.
fn write_allocator(stats: &mut MessageWriter, held: &Held<'_>, device: &[u8]) {
    let sums = [(2, 6), (3, 7), (4, 8), (5, 10)];
    let nothing = sums.iter().all(|(_, of)| number(held.bytes, *of) == 0);
    if held.records.is_empty() && nothing {
        return;
    }
    let mut used = MessageWriter::default();
    let begin = device.iter().rposition(|byte| *byte == b'/');
    used.bytes(1, &device[begin.map_or(0, |at| at + 1)..]);
    for (to, of) in sums {
        used.int(to, number(held.bytes, of));
    }
    for record in &held.records {
        used.bytes(6, record);
    }
    stats.message(6, used);
}

/// A `NodeOutput`. tfprof keeps the bytes that were allocated, not those that were asked for.
fn write_output(stats: &mut MessageWriter, slot: i64, memory: Option<&[u8]>) {
    let mut allocation = MessageWriter::default();
    let bytes = memory.map_or(0, |memory| number(memory, 1));
    allocation.int(1, bytes);
    allocation.int(2, bytes);
    allocation.int(6, memory.map_or(0, |memory| number(memory, 2)));
    let mut tensor = MessageWriter::default();
    tensor.message(4, allocation);
    let mut output = MessageWriter::default();
    output.int(1, slot);
    output.message(3, tensor);
    stats.message(7, output);
}

/// The last value of a number field of a message; 0 where it is not written.
fn number(bytes: &[u8], number: u32) -> i64 {
    step_stats::number(bytes, number).unwrap_or_default()
}
