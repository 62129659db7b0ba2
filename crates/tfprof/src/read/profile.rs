//! ProfileProto: nodes, steps, types and stacks in one file, as `tf.compat.v1.profiler.Profiler` writes it.

use super::op_log::{frames, id_and_text};
use super::{damaged, text, whole};
use crate::attributes::Attributes;
use crate::model::{Execution, Executions, Held, Memory, Model, Source};
use std::collections::{BTreeMap, HashMap};
use stepscope_core::error::{Error, Kind, Result};
use stepscope_core::input::Input;
use stepscope_core::proto::wire::{Field, Fields};

/// Fields of the messages within a field that [`check`] has found whole.
fn parts<'a>(field: &Field<'a>) -> impl Iterator<Item = Field<'a>> + use<'a> {
    field.message().into_iter().flatten().flatten()
}

fn int(field: &Field<'_>) -> i64 {
    field.i64().unwrap_or_default()
}

/// Numbers of a `Tuple`.
fn tuple(field: &Field<'_>) -> Vec<i64> {
    let values = parts(field).filter(|part| part.number == 1);
    values.flat_map(|part| part.varints().flatten().collect::<Vec<_>>()).map(|value| value as i64).collect()
}

/// Adds a profile's nodes and steps. Returns the number of its nodes.
pub fn profile(model: &mut Model, input: &Input) -> Result<u64> {
    let bytes = whole(input)?;
    let mut nodes: BTreeMap<i64, Field<'_>> = BTreeMap::new();
    let mut known = 0u64;
    for field in Fields::new(&bytes, 0) {
        let field = field.map_err(|damage| damaged(&damage))?;
        known += u64::from((1..=5).contains(&field.number));
        match field.number {
            1 => {
                check(&field, 0)?;
                if let (id, Some(node)) = field.entry() {
                    nodes.insert(id, node);
                }
            }
            2 => model.has_code |= field.bool().unwrap_or_default(),
            3 => {
                for step in field.varints() {
                    model.steps.insert(step.map_err(|damage| damaged(&damage))? as i64);
                }
            }
            4 => {
                let (id, text) = id_and_text(&field);
                model.texts.insert(id, text);
            }
            _ => {}
        }
    }
    if known == 0 {
        let seen = format!("{} bytes without a single part of a profile", bytes.len());
        return Err(Error::new(Kind::NotThisFormat, seen));
    }
    let mut names: HashMap<i64, u32> = HashMap::new();
    for (id, field) in &nodes {
        let name = parts(field).filter(|part| part.number == 1).last();
        let name = name.map(|name| text(&name)).unwrap_or_default();
        names.insert(*id, model.names.intern(&name));
    }
    for field in nodes.values() {
        node(model, field, &names)?;
    }
    Ok(nodes.len() as u64)
}

/// Refuses a message with a damaged part; deeper parts are read as far as they are needed.
fn check(field: &Field<'_>, depth: usize) -> Result<()> {
    for part in field.message().into_iter().flatten() {
        let part = part.map_err(|damage| damaged(&damage))?;
        // A node, its steps, and what they hold; all of them are messages with fields below 32.
        if depth == 0 && part.number == 2 && part.bytes().is_some() {
            check(&part, 1)?;
        } else if depth == 1 && part.number == 12 {
            check(&part, 2)?;
        }
    }
    Ok(())
}

fn node(model: &mut Model, field: &Field<'_>, names: &HashMap<i64, u32>) -> Result<()> {
    let (mut name, mut op) = (String::new(), String::new());
    let (mut types, mut attributes, mut executions) = (Vec::new(), Vec::new(), Vec::new());
    let (mut device, mut flops, mut shape) = (String::new(), 0, Vec::new());
    let (mut inputs, mut slots) = (BTreeMap::new(), HashMap::new());
    let mut output_shapes = BTreeMap::new();
    let mut stack: Option<Vec<_>> = None;
    for part in parts(field) {
        match part.number {
            1 => name = text(&part),
            2 | 14 => {
                let (key, value) = part.entry();
                let value = value.map_or(0, |value| int(&value));
                match part.number {
                    2 => _ = inputs.insert(key as i32, (value, part.offset)),
                    _ => _ = slots.insert(key, value as i32),
                }
            }
            4 => shape.extend(part.varints().flatten().map(|dim| dim as i64)),
            5 => types.push(text(&part)),
            6 => device = text(&part),
            8 => flops = int(&part),
            9 => op = text(&part),
            10 => stack.get_or_insert_with(Vec::new).extend(frames(&part)?),
            11 => attributes.push(part),
            12 => executions.push(part),
            15 => {
                let (key, value) = part.entry();
                output_shapes.insert(key as i32, value.map(|value| tuple(&value)).unwrap_or_default());
            }
            _ => {}
        }
    }
    let Some(node) = model.add_node(&name, &op) else {
        return Ok(());
    };
    let device = (!device.is_empty()).then(|| model.device(&device));
    let mut steps = Executions::default();
    for step in &executions {
        if let (step, Some(value)) = step.entry() {
            *steps.in_step(step) = execution(model, &value)?;
        }
    }
    let mut sources = Vec::new();
    for (place, (id, offset)) in inputs {
        let Some(name) = names.get(&id) else {
            let seen = format!("input {place} of {name} is node {id}, which is not there");
            return Err(Error::at(Kind::Damaged, offset, seen));
        };
        let output = slots.get(&id).copied().unwrap_or_default();
        sources.push(Source { place, name: *name, output, slot: output });
    }
    let own = &mut model.nodes[node as usize];
    // The types are the file's, even when the op is not among them.
    own.types.clear();
    (own.shape, own.flops, own.device, own.inputs) = (shape, flops, device, sources);
    own.executions = steps;
    own.output_shapes = output_shapes.into_iter().collect();
    own.stack = stack.map(Into::into);
    let attrs: Vec<(String, &[u8])> = attributes.iter().map(attribute).collect();
    own.attributes = Attributes::new(attrs.iter().map(|(name, value)| (name.as_str(), *value)));
    for text in types {
        model.add_type(node, &text);
    }
    Ok(())
}

fn attribute<'a>(entry: &Field<'a>) -> (String, &'a [u8]) {
    let (mut key, mut value): (String, &[u8]) = (String::new(), &[]);
    for part in parts(entry) {
        match part.number {
            1 => key = text(&part),
            2 => value = part.bytes().unwrap_or_default(),
            _ => {}
        }
    }
    (key, value)
}

fn execution(model: &mut Model, field: &Field<'_>) -> Result<Execution> {
    let mut own = Execution::default();
    // Both kinds by device, as the file's writer had them.
    let mut times: BTreeMap<(u32, String), Vec<(i64, i64)>> = BTreeMap::new();
    for part in parts(field) {
        match part.number {
            1 => own.runs = int(&part),
            2 => own.start = int(&part),
            3 => own.end = int(&part),
            4 | 5 => {
                let (mut device, mut found) = (String::new(), Vec::new());
                for inner in parts(&part) {
                    match inner.number {
                        1 => device = text(&inner),
                        2 => {
                            for time in parts(&inner).filter(|time| time.number == 1) {
                                let [start, micros] = tuple(&time)[..] else {
                                    let seen = "an execution without start and duration";
                                    return Err(Error::at(Kind::Damaged, time.offset, seen));
                                };
                                found.push((start, micros));
                            }
                        }
                        _ => {}
                    }
                }
                times.insert((part.number, device), found);
            }
            6 => {
                let device = model.device(&text(&part));
                own.devices.push(device);
            }
            7 => own.memory.push(memory(&part)),
            11 => {
                let mut record = (0, 0);
                for inner in parts(&part) {
                    match inner.number {
                        1 => record.0 = int(&inner),
                        2 => record.1 = int(&inner),
                        _ => {}
                    }
                }
                own.allocations.push(record);
            }
            _ => {}
        }
    }
    for ((_, device), found) in times {
        let device = model.device(&device);
        own.times.extend(found.iter().map(|(start, micros)| (device, *start, *micros)));
    }
    Ok(own)
}

fn memory(field: &Field<'_>) -> Memory {
    let mut own = Memory::default();
    let (mut host, mut accelerator) = ((0, 0), (0, 0));
    for part in parts(field) {
        let value = int(&part);
        match part.number {
            1 => own.micros = value,
            2 => host.0 = value,
            3 => host.1 = value,
            4 => accelerator.0 = value,
            5 => accelerator.1 = value,
            6 => own.requested = value,
            7 => own.peak = value,
            8 => own.residual = value,
            9 => own.output = value,
            10 => own.in_use = value,
            11 => {
                let (slot, value) = part.entry();
                let mut held = Held::default();
                for inner in value.iter().flat_map(parts) {
                    match inner.number {
                        1 => held.bytes = int(&inner),
                        2 => held.address = inner.u64().unwrap_or_default(),
                        _ => {}
                    }
                }
                own.outputs.push((slot as i32, held));
            }
            _ => {}
        }
    }
    own.is_host = accelerator == (0, 0);
    (own.temp, own.persistent) = if own.is_host { host } else { accelerator };
    own
}
