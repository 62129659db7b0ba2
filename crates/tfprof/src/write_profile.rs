//! A model as a ProfileProto: what `Profiler.serialize_to_string` of TensorFlow gives for the same files.

use super::model::{Execution, Frame, Memory, Model, Node};
use std::collections::{BTreeMap, BTreeSet};
use stepscope_core::proto::wire_writer::MessageWriter;

/// The bytes of the profile, and how many inputs had to be left out because the model lacks their node.
pub fn write(model: &Model) -> (Vec<u8>, u64) {
    let mut profile = MessageWriter::default();
    let mut lost = 0;
    for (id, node) in (0..).zip(&model.nodes) {
        let mut entry = MessageWriter::default();
        entry.int(1, id);
        entry.message(2, self::node(model, node, id, &mut lost));
        profile.message(1, entry);
    }
    profile.number(2, u64::from(model.has_code));
    profile.packed(3, model.steps.iter().map(|step| *step as u64));
    let texts: BTreeMap<_, _> = model.texts.iter().collect();
    for (id, text) in texts {
        let mut entry = MessageWriter::default();
        entry.int(1, *id);
        entry.text(2, text);
        profile.message(4, entry);
    }
    profile.number(5, u64::from(model.lacks_streams));
    (profile.into_bytes(), lost)
}

/// The entry of a map from numbers to numbers.
fn pair(key: i64, value: i64) -> MessageWriter {
    let mut entry = MessageWriter::default();
    entry.int(1, key);
    entry.int(2, value);
    entry
}

/// The entry of a map from numbers to lists of numbers.
fn list(key: i64, values: &[i64]) -> MessageWriter {
    let mut entry = MessageWriter::default();
    entry.int(1, key);
    entry.message(2, tuple(values));
    entry
}

fn tuple(values: &[i64]) -> MessageWriter {
    let mut tuple = MessageWriter::default();
    tuple.packed(1, values.iter().map(|value| *value as u64));
    tuple
}

fn node(model: &Model, node: &Node, id: i64, lost: &mut u64) -> MessageWriter {
    let mut out = MessageWriter::default();
    out.text(1, model.names.get(node.name));
    let mut slots = BTreeMap::new();
    for source in &node.inputs {
        let Some(producer) = model.by_name.get(&source.name) else {
            *lost += 1;
            continue;
        };
        out.message(2, pair(i64::from(source.place), i64::from(*producer)));
        slots.insert(*producer, source.output);
    }
    for (producer, output) in slots {
        out.message(14, pair(i64::from(producer), i64::from(output)));
    }
    out.packed(4, node.shape.iter().map(|dim| *dim as u64));
    for id in &node.types {
        out.bytes(5, model.types.get(*id).as_bytes());
    }
    if let Some(device) = node.device {
        let name = &model.devices[device as usize].name;
        out.text(6, name);
        out.text(7, &host(name));
    }
    out.int(8, node.flops);
    out.text(9, &node.op);
    if let Some(stack) = &node.stack {
        out.message(10, code(stack));
    }
    out.raw(node.attributes.fields());
    for (step, execution) in node.executions.iter() {
        let mut entry = MessageWriter::default();
        entry.int(1, step);
        entry.message(2, self::execution(model, execution));
        out.message(12, entry);
    }
    out.int(13, id);
    for (output, shape) in &node.output_shapes {
        out.message(15, list(i64::from(*output), shape));
    }
    out
}

/// The processor beside an accelerator: `…gpu:3` becomes `…cpu:0`.
fn host(device: &str) -> String {
    let mut out = String::new();
    let mut rest = device;
    while let Some(at) = rest.find("gpu:") {
        let behind = &rest[at + 4..];
        let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        out.push_str(&rest[..at]);
        out.push_str(if digits > 0 { "cpu:0" } else { "gpu:" });
        rest = &behind[digits..];
    }
    out + rest
}

fn code(stack: &[Frame]) -> MessageWriter {
    let mut out = MessageWriter::default();
    for frame in stack {
        let mut trace = MessageWriter::default();
        trace.int(2, frame.line);
        trace.int(5, frame.function_line);
        trace.int(6, frame.file);
        trace.int(7, frame.function);
        trace.int(8, frame.text);
        out.message(1, trace);
    }
    out
}

fn execution(model: &Model, own: &Execution) -> MessageWriter {
    let mut out = MessageWriter::default();
    out.int(1, own.runs);
    out.int(2, own.start);
    out.int(3, own.end);
    let mut devices: BTreeMap<u32, Vec<(i64, i64)>> = BTreeMap::new();
    for (device, start, micros) in &own.times {
        devices.entry(*device).or_default().push((*start, *micros));
    }
    for (device, times) in devices {
        let device = &model.devices[device as usize];
        let mut value = MessageWriter::default();
        for (start, micros) in times {
            value.message(1, tuple(&[start, micros]));
        }
        let mut entry = MessageWriter::default();
        entry.bytes(1, device.name.as_bytes());
        entry.message(2, value);
        out.message(if device.is_stream { 4 } else { 5 }, entry);
    }
    let name = |device: &u32| model.devices[*device as usize].name.as_str();
    let names: BTreeSet<&str> = own.devices.iter().map(name).collect();
    for name in names {
        out.bytes(6, name.as_bytes());
    }
    for memory in &own.memory {
        out.message(7, self::memory(memory));
    }
    for (micros, bytes) in &own.allocations {
        out.message(11, pair(*micros, *bytes));
    }
    out
}

fn memory(own: &Memory) -> MessageWriter {
    let mut out = MessageWriter::default();
    out.int(1, own.micros);
    let first = if own.is_host { 2 } else { 4 };
    out.int(first, own.temp);
    out.int(first + 1, own.persistent);
    for (number, value) in
        [(6, own.requested), (7, own.peak), (8, own.residual), (9, own.output), (10, own.in_use)]
    {
        out.int(number, value);
    }
    let outputs: BTreeMap<_, _> = own.outputs.iter().copied().collect();
    for (slot, held) in outputs {
        let mut value = MessageWriter::default();
        value.int(1, held.bytes);
        value.number(2, held.address);
        let mut entry = MessageWriter::default();
        entry.int(1, i64::from(slot));
        entry.message(2, value);
        out.message(11, entry);
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn hosts_of_accelerators() {
        let cases = [
            ("/job:a/device:gpu:12", "/job:a/device:cpu:0"),
            ("/device:cpu:1", "/device:cpu:1"),
            ("gpu:x/gpu:1", "gpu:x/cpu:0"),
        ];
        for (device, host) in cases {
            assert_eq!(super::host(device), host);
        }
    }
}
