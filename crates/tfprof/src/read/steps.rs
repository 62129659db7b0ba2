//! RunMetadata, or the StepStats of one: what each node did in a step.

use super::{Losses, damaged, read};
use crate::model::{Execution, Held, Memory, Model, push_sparing};
use std::borrow::Cow;
use stepscope_core::error::Result;
use stepscope_core::input::Input;
use stepscope_core::proto::messages::{Message, RUN_METADATA, STEP_STATS};
use stepscope_core::proto::walk::{Place, Value, Visitor};
use stepscope_core::proto::wire::{Field, Fields};

/// Adds what a step did. Returns false when the file has no step statistics.
pub fn run_metadata(model: &mut Model, step: i64, input: &Input) -> Result<bool> {
    struct Step<'a> {
        model: &'a mut Model,
        step: i64,
        device: Option<String>,
        /// Rows that come before the name of their device.
        waiting: Vec<Vec<u8>>,
        found: bool,
        schedules: bool,
        streams: bool,
        losses: Losses,
    }
    impl Step<'_> {
        fn flush(&mut self) -> Result<()> {
            let device = self.device.clone().unwrap_or_default();
            for row in std::mem::take(&mut self.waiting) {
                execution(self.model, self.step, &device, &row, 0)?;
            }
            Ok(())
        }
    }
    impl Visitor for Step<'_> {
        fn enter(&mut self, container: &'static Message, _: u32, _: u64) -> Result<()> {
            match container.name {
                "StepStats" => self.found = true,
                "DeviceStepStats" => self.device = None,
                _ => {}
            }
            Ok(())
        }
        fn leave(&mut self, container: &'static Message) -> Result<()> {
            if container.name == "DeviceStepStats" {
                self.flush()?;
                let device = self.device.take().unwrap_or_default();
                self.schedules |= device.contains("gpu");
                self.streams |= device.contains("gpu") && device.contains("stream:all");
            }
            Ok(())
        }
        fn field(&mut self, at: Place, value: Value<'_>) -> Result<()> {
            match (at.container.name, at.number) {
                ("DeviceStepStats", 1) => {
                    let name = String::from_utf8_lossy(value.bytes());
                    self.device = Some(name.to_ascii_lowercase());
                }
                ("DeviceStepStats", 2) => match &self.device {
                    Some(device) => {
                        execution(self.model, self.step, device, value.bytes(), at.offset)?;
                    }
                    None => self.waiting.push(value.bytes().to_vec()),
                },
                _ => {}
            }
            Ok(())
        }
        fn flawed(&mut self, at: Place) -> Result<()> {
            self.losses.add(at)
        }
        fn broken(&mut self, at: Place, _: &str) -> Result<()> {
            self.losses.add(at)
        }
    }
    let mut visitor = Step {
        model,
        step,
        device: None,
        waiting: Vec::new(),
        found: false,
        schedules: false,
        streams: false,
        losses: Losses::default(),
    };
    read(input, &[&RUN_METADATA, &STEP_STATS], &mut visitor)?;
    let Step { found, schedules, streams, losses, .. } = visitor;
    losses.report("RunMetadata", model);
    if !found {
        return Ok(false);
    }
    model.steps.insert(step);
    model.lacks_streams |= schedules && !streams;
    Ok(true)
}

/// One row of a device.
fn execution(model: &mut Model, step: i64, device: &str, bytes: &[u8], offset: u64) -> Result<()> {
    let mut name = Cow::Borrowed("");
    let (mut start, mut micros) = (0, 0);
    let mut memory = Memory::default();
    let mut stats = None;
    let mut accelerators = 0;
    let mut allocations = Vec::new();
    let mut shapes = Vec::new();
    for field in Fields::new(bytes, offset) {
        let field = field.map_err(|damage| damaged(&damage))?;
        match field.number {
            1 => name = field.text().unwrap_or_default(),
            2 => start = field.i64().unwrap_or(start),
            4 => micros = field.i64().unwrap_or(micros),
            6 => accelerators += i64::from(allocator(&field, &mut memory, &mut allocations)),
            7 => output(&field, &mut memory, model.keeps_shapes.then_some(&mut shapes)),
            12 => stats = Some(memory_stats(&field, stats.unwrap_or_default())),
            _ => {}
        }
    }
    let short = name.split(':').next().unwrap_or_default();
    let node = match model.find(short) {
        Some(node) => {
            model.nodes[node as usize].covered = true;
            node
        }
        None if short == "RecvTensor" || short == "_SOURCE" || short.contains("MEMCPY") => {
            return Ok(());
        }
        None => model.add_node(short, short).expect("the name is new"),
    };
    // A node of its own row is not one of the graph's.
    let id = model.device(device);
    let place = model.nodes[node as usize].device;
    if model.devices[id as usize].is_canonical {
        match place {
            Some(other) if other != id => return Ok(()),
            Some(_) => {}
            None => {
                model.nodes[node as usize].device = Some(id);
                model.add_type(node, device);
            }
        }
    }
    let known = &model.devices[id as usize];
    let (is_stream, is_canonical, is_host) = (known.is_stream, known.is_canonical, known.is_host);
    let own = &mut model.nodes[node as usize];
    let on_own_device = own.device == Some(id) || (own.device.is_none() && device.is_empty());
    for (slot, shape) in shapes {
        if !own.run_shapes.iter().any(|(known, _)| *known == slot) {
            own.run_shapes.push((slot, shape));
        }
    }
    let execution = own.executions.in_step(step);
    if !execution.devices.contains(&id) {
        push_sparing(&mut execution.devices, id);
    }
    if start > 0 {
        add_time(execution, id, is_stream, is_canonical, start, micros);
    }
    if !on_own_device {
        return Ok(());
    }
    if start <= 0 {
        model.warnings.push(format!("{name} has no start time, skipping"));
        return Ok(());
    }
    if accelerators > 1 {
        model.warnings.push(format!("found {accelerators} gpu allocator for 1 node"));
    }
    let (temp, persistent) = stats.unwrap_or_default();
    memory.micros = start.wrapping_add(micros);
    memory.residual = memory.residual.wrapping_add(persistent);
    for bytes in [&mut memory.requested, &mut memory.peak] {
        *bytes = bytes.wrapping_add(persistent).wrapping_add(temp);
    }
    (memory.temp, memory.persistent, memory.is_host) = (temp, persistent, is_host);
    push_sparing(&mut execution.memory, memory);
    if execution.allocations.is_empty() {
        allocations.shrink_to_fit();
        execution.allocations = allocations;
    } else {
        execution.allocations.extend(allocations);
    }
    Ok(())
}

fn add_time(
    execution: &mut Execution,
    device: u32,
    is_stream: bool,
    is_canonical: bool,
    start: i64,
    micros: i64,
) {
    execution.start = match execution.start {
        ..=0 => start,
        earlier => earlier.min(start),
    };
    // What took less than a microsecond counts as one.
    let micros = if micros == 0 { 1 } else { micros };
    execution.end = execution.end.max(start.wrapping_add(micros));
    if is_stream || is_canonical {
        push_sparing(&mut execution.times, (device, start, micros));
        execution.runs += i64::from(!is_stream);
    }
}

/// Adds the figures of an allocator; true when it is an accelerator's.
fn allocator(field: &Field<'_>, memory: &mut Memory, allocations: &mut Vec<(i64, i64)>) -> bool {
    let (mut is_accelerator, mut in_use) = (false, 0);
    let mut records = Vec::new();
    for part in field.message().into_iter().flatten().flatten() {
        let value = part.i64().unwrap_or_default();
        match part.number {
            1 => is_accelerator = part.text().is_some_and(|name| name.contains("GPU")),
            2 => memory.requested = memory.requested.wrapping_add(value),
            3 => memory.peak = memory.peak.wrapping_add(value),
            4 => memory.residual = memory.residual.wrapping_add(value),
            5 => in_use = value,
            6 => {
                let numbers = two_numbers(&part, 1, 2);
                records.push(numbers);
            }
            _ => {}
        }
    }
    if is_accelerator {
        memory.in_use = memory.in_use.max(in_use);
        allocations.extend(records);
    }
    is_accelerator
}

fn two_numbers(field: &Field<'_>, first: u32, second: u32) -> (i64, i64) {
    let mut numbers = (0, 0);
    for part in field.message().into_iter().flatten().flatten() {
        let value = part.i64().unwrap_or_default();
        match part.number {
            number if number == first => numbers.0 = value,
            number if number == second => numbers.1 = value,
            _ => {}
        }
    }
    numbers
}

/// Adds an output: what was asked for or given, whichever is more.
fn output(output: &Field<'_>, memory: &mut Memory, shapes: Option<&mut Vec<(i32, Vec<i64>)>>) {
    let mut shape = None;
    let (mut slot, mut numbers, mut address) = (0, None, 0);
    for tensor in output.message().into_iter().flatten().flatten() {
        match tensor.number {
            1 => slot = tensor.i64().unwrap_or_default() as i32,
            3 => {
                for part in tensor.message().into_iter().flatten().flatten() {
                    if part.number == 2 {
                        shape = part.bytes().and_then(stepscope_core::formats::graph::attr::shape);
                    } else if part.number == 4 {
                        let (requested, allocated) = two_numbers(&part, 1, 2);
                        numbers = Some(requested.max(allocated));
                        address = two_numbers(&part, 6, 0).0 as u64;
                    }
                }
            }
            _ => {}
        }
    }
    if let (Some(shapes), Some(shape)) = (shapes, shape) {
        shapes.push((slot, shape));
    }
    if let Some(bytes) = numbers {
        memory.output = memory.output.wrapping_add(bytes);
        memory.outputs.push((slot, Held { bytes, address }));
    }
}

/// Temporary and persistent bytes.
fn memory_stats(field: &Field<'_>, before: (i64, i64)) -> (i64, i64) {
    let (temp, persistent) = two_numbers(field, 1, 3);
    let pick = |new: i64, old: i64| if new == 0 { old } else { new };
    (pick(temp, before.0), pick(persistent, before.1))
}
