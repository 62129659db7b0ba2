//! Files into a [`Model`]: graphs, RunMetadata and op logs.

use super::model::{Execution, Frame, Memory, Model, Source};
use crate::error::{Error, Kind, Result};
use crate::input::Input;
use crate::messages::{GRAPH_DEF, META_GRAPH_DEF, Message, RUN_METADATA, SAVED_MODEL};
use crate::probe::{self, Form};
use crate::text_proto::walk_text;
use crate::walk::{Value, Visitor, Walked, walk};
use crate::wire::{Field, Fields};
use std::io::Read;

/// Largest op log or profile.
const WHOLE_LIMIT: u64 = 4 << 30;

fn damaged(damage: &crate::wire::Damage) -> Error {
    Error::at(Kind::Damaged, damage.offset, damage.seen)
}

/// Reads a message of one of the types, as text or binary.
fn read(input: &Input, roots: &[&'static Message], visitor: &mut dyn Visitor) -> Result<Walked> {
    let mut head = probe::Head::new(input.open()?)?;
    let (root, form) = probe::choose(&head, roots)?;
    let walked = match form {
        Form::Binary => walk(&mut head, root, 0, visitor)?,
        Form::Text => walk_text(&mut head, root, 0, visitor)?,
    };
    match &walked.damage {
        Some(damage) => Err(Error::at(Kind::Damaged, damage.offset, damage.seen.clone())),
        None => Ok(walked),
    }
}

/// Counts of what a walk had to leave out.
#[derive(Default)]
struct Losses {
    broken: u64,
    first: Option<u64>,
}

impl Losses {
    fn add(&mut self, offset: u64) {
        self.broken += 1;
        self.first.get_or_insert(offset);
    }

    fn report(&self, what: &str, model: &mut Model) {
        if let Some(first) = self.first {
            let count = self.broken;
            let text =
                format!("{count} parts of the {what} could not be read, the first at byte {first}");
            model.warnings.push(text);
        }
    }
}

/// Adds the nodes of a graph that the model lacks. Returns how many the file has.
pub fn graph(model: &mut Model, input: &Input) -> Result<u64> {
    struct Graph<'a> {
        model: &'a mut Model,
        open: Vec<&'static str>,
        added: Vec<(u32, Vec<String>)>,
        seen: u64,
        losses: Losses,
    }
    impl Visitor for Graph<'_> {
        fn enter(&mut self, container: &'static Message, _: u32, _: u64) -> Result<()> {
            self.open.push(container.name);
            Ok(())
        }
        fn leave(&mut self, _: &'static Message) -> Result<()> {
            self.open.pop();
            Ok(())
        }
        fn field(
            &mut self,
            container: &'static Message,
            number: u32,
            value: Value<'_>,
            offset: u64,
        ) -> Result<()> {
            // Bodies of functions are graphs of their own, which tfprof does not look into.
            if container.name == "GraphDef" && number == 1 {
                self.seen += 1;
                if let Some(added) = node_def(self.model, value.bytes(), offset)? {
                    self.added.push(added);
                }
            }
            Ok(())
        }
        fn flawed(&mut self, _: &'static Message, _: u32, offset: u64) -> Result<()> {
            self.losses.add(offset);
            Ok(())
        }
        fn broken(&mut self, _: &'static Message, _: u32, offset: u64, _: &str) -> Result<()> {
            self.losses.add(offset);
            Ok(())
        }
    }
    let mut visitor = Graph {
        model,
        open: Vec::new(),
        added: Vec::new(),
        seen: 0,
        losses: Losses::default(),
    };
    let roots = [&GRAPH_DEF, &META_GRAPH_DEF, &SAVED_MODEL];
    let walked = read(input, &roots, &mut visitor)?;
    let Graph {
        added,
        seen,
        losses,
        ..
    } = visitor;
    if seen == 0 && walked.unknown_fields > 0 {
        return Err(crate::graph::nothing(&walked, "graph"));
    }
    for (node, inputs) in added {
        let sources = inputs.iter().enumerate().map(|(place, input)| {
            let name = input.split(':').next().unwrap_or_default();
            Source {
                place: place as i32,
                name: model.names.intern(name.strip_prefix('^').unwrap_or(name)),
                // TensorFlow 2.21 reads the output's number only in debug builds: the first one counts.
                output: 0,
            }
        });
        model.nodes[node as usize].inputs = sources.collect();
    }
    losses.report("graph", model);
    Ok(seen)
}

fn node_def(model: &mut Model, bytes: &[u8], offset: u64) -> Result<Option<(u32, Vec<String>)>> {
    let (mut name, mut op) = (String::new(), String::new());
    let mut inputs = Vec::new();
    let (mut shape, mut output_shapes) = (None, None);
    for field in Fields::new(bytes, offset) {
        let field = field.map_err(|damage| damaged(&damage))?;
        match field.number {
            1 => name = text(&field),
            2 => op = text(&field),
            3 => inputs.push(text(&field)),
            5 => {
                let (mut key, mut value) = (String::new(), None);
                for part in field.message().into_iter().flatten().flatten() {
                    match part.number {
                        1 => key = text(&part),
                        2 => value = part.bytes(),
                        _ => {}
                    }
                }
                match key.as_str() {
                    "shape" => shape = value.and_then(attr_shape),
                    "_output_shapes" => output_shapes = value.and_then(attr_shapes),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    let Some(node) = model.add_node(&name, &op) else {
        return Ok(None);
    };
    let own = &mut model.nodes[node as usize];
    own.shape = shape.unwrap_or_default();
    own.output_shapes = (0..).zip(output_shapes.unwrap_or_default()).collect();
    Ok(Some((node, inputs)))
}

fn text(field: &Field<'_>) -> String {
    field.text().unwrap_or_default().into_owned()
}

/// The shape in an attribute; a known scalar has one dimension of 1.
fn attr_shape(bytes: &[u8]) -> Option<Vec<i64>> {
    let mut shape = None;
    for field in Fields::new(bytes, 0).flatten() {
        match field.number {
            7 => shape = field.bytes().map(dims),
            // The value is one of a kind: the last one counts.
            1..=10 => shape = None,
            _ => {}
        }
    }
    shape
}

fn attr_shapes(bytes: &[u8]) -> Option<Vec<Vec<i64>>> {
    let mut shapes = None;
    for field in Fields::new(bytes, 0).flatten() {
        match field.number {
            1 => {
                let list = shapes.get_or_insert_with(Vec::new);
                let parts = field.message().into_iter().flatten().flatten();
                list.extend(
                    parts
                        .filter(|part| part.number == 7)
                        .filter_map(|part| part.bytes().map(dims)),
                );
            }
            2..=10 => shapes = None,
            _ => {}
        }
    }
    shapes
}

fn dims(bytes: &[u8]) -> Vec<i64> {
    let (mut dims, mut unknown) = (Vec::new(), false);
    for field in Fields::new(bytes, 0).flatten() {
        match field.number {
            2 => {
                let parts = field.message().into_iter().flatten().flatten();
                let size = parts
                    .filter(|part| part.number == 1)
                    .filter_map(|part| part.i64());
                dims.push(size.last().unwrap_or(0));
            }
            3 => unknown = field.bool().unwrap_or(unknown),
            _ => {}
        }
    }
    if dims.is_empty() && !unknown {
        dims.push(1);
    }
    dims
}

/// Adds what a step did. Returns false when the file has no step statistics.
pub fn run_metadata(model: &mut Model, step: i64, input: &Input) -> Result<bool> {
    struct Step<'a> {
        model: &'a mut Model,
        step: i64,
        device: Option<String>,
        /// Rows whose device is told after them.
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
        fn field(
            &mut self,
            container: &'static Message,
            number: u32,
            value: Value<'_>,
            offset: u64,
        ) -> Result<()> {
            match (container.name, number) {
                ("DeviceStepStats", 1) => {
                    let name = String::from_utf8_lossy(value.bytes());
                    self.device = Some(name.to_ascii_lowercase());
                }
                ("DeviceStepStats", 2) => match &self.device {
                    Some(device) => {
                        let device = device.clone();
                        execution(self.model, self.step, &device, value.bytes(), offset)?;
                    }
                    None => self.waiting.push(value.bytes().to_vec()),
                },
                _ => {}
            }
            Ok(())
        }
        fn flawed(&mut self, _: &'static Message, _: u32, offset: u64) -> Result<()> {
            self.losses.add(offset);
            Ok(())
        }
        fn broken(&mut self, _: &'static Message, _: u32, offset: u64, _: &str) -> Result<()> {
            self.losses.add(offset);
            Ok(())
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
    read(input, &[&RUN_METADATA], &mut visitor)?;
    let Step {
        found,
        schedules,
        streams,
        losses,
        ..
    } = visitor;
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
    let mut name = String::new();
    let (mut start, mut micros) = (0, 0);
    let mut memory = Memory::default();
    let mut stats = None;
    let mut accelerators = 0;
    let mut allocations = Vec::new();
    for field in Fields::new(bytes, offset) {
        let field = field.map_err(|damage| damaged(&damage))?;
        match field.number {
            1 => name = text(&field),
            2 => start = field.i64().unwrap_or(start),
            4 => micros = field.i64().unwrap_or(micros),
            6 => accelerators += i64::from(allocator(&field, &mut memory, &mut allocations)),
            7 => memory.output = memory.output.wrapping_add(output_bytes(&field)),
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
    let execution = own.executions.entry(step).or_default();
    if start > 0 {
        add_time(execution, id, is_stream, is_canonical, start, micros);
    }
    if !on_own_device {
        return Ok(());
    }
    if start <= 0 {
        model
            .warnings
            .push(format!("{name} has no start time, skipping"));
        return Ok(());
    }
    if accelerators > 1 {
        model
            .warnings
            .push(format!("found {accelerators} gpu allocator for 1 node"));
    }
    let (temp, persistent) = stats.unwrap_or_default();
    memory.micros = start.wrapping_add(micros);
    memory.residual = memory.residual.wrapping_add(persistent);
    for bytes in [&mut memory.requested, &mut memory.peak] {
        *bytes = bytes.wrapping_add(persistent).wrapping_add(temp);
    }
    if !is_host {
        memory.accelerator_persistent = persistent;
    }
    execution.memory.push(memory);
    execution.allocations.extend(allocations);
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
        execution.times.push((device, start, micros));
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

/// Bytes of an output: what was asked for or given, whichever is more.
fn output_bytes(output: &Field<'_>) -> i64 {
    let mut numbers = (0, 0);
    for tensor in output.message().into_iter().flatten().flatten() {
        if tensor.number != 3 {
            continue;
        }
        for part in tensor.message().into_iter().flatten().flatten() {
            if part.number == 4 {
                numbers = two_numbers(&part, 1, 2);
            }
        }
    }
    numbers.0.max(numbers.1)
}

/// Temporary and persistent bytes.
fn memory_stats(field: &Field<'_>, before: (i64, i64)) -> (i64, i64) {
    let (temp, persistent) = two_numbers(field, 1, 3);
    let pick = |new: i64, old: i64| if new == 0 { old } else { new };
    (pick(temp, before.0), pick(persistent, before.1))
}

/// Adds what an op log says about nodes that are there. Returns the number of its entries.
pub fn op_log(model: &mut Model, input: &Input) -> Result<u64> {
    let mut bytes = Vec::new();
    input.open()?.take(WHOLE_LIMIT).read_to_end(&mut bytes)?;
    let mut entries = 0;
    let mut texts = Vec::new();
    // Texts and entries may stand in any order; nothing of an unreadable log is used.
    for field in Fields::new(&bytes, 0) {
        let field = field.map_err(|damage| damaged(&damage))?;
        if field.number == 2 {
            texts.push(id_and_text(&field));
        }
    }
    for (id, text) in texts {
        model.texts.entry(id).or_insert(text);
    }
    for field in Fields::new(&bytes, 0)
        .flatten()
        .filter(|field| field.number == 1)
    {
        entries += 1;
        op_log_entry(model, &field)?;
    }
    Ok(entries)
}

pub(super) fn id_and_text(field: &Field<'_>) -> (i64, String) {
    let (mut id, mut value) = (0, String::new());
    for part in field.message().into_iter().flatten().flatten() {
        match part.number {
            1 => id = part.i64().unwrap_or_default(),
            2 => value = text(&part),
            _ => {}
        }
    }
    (id, value)
}

fn op_log_entry(model: &mut Model, field: &Field<'_>) -> Result<()> {
    let (mut name, mut types, mut flops) = (String::new(), Vec::new(), 0);
    let mut code: Option<Vec<Frame>> = None;
    for part in field.message().into_iter().flatten() {
        let part = part.map_err(|damage| damaged(&damage))?;
        match part.number {
            1 => name = text(&part),
            2 => flops = part.i64().unwrap_or_default(),
            3 => types.push(text(&part)),
            4 => code.get_or_insert_default().extend(frames(&part)?),
            _ => {}
        }
    }
    let Some(node) = model.find(&name) else {
        return Ok(());
    };
    for text in types {
        model.add_type(node, &text);
    }
    let own = &mut model.nodes[node as usize];
    if flops != 0 {
        own.flops = flops;
    }
    if let Some(code) = code {
        model.has_code = true;
        own.stack.get_or_insert(code.into());
    }
    Ok(())
}

pub(super) fn frames(code: &Field<'_>) -> Result<Vec<Frame>> {
    let mut frames = Vec::new();
    for trace in code.message().into_iter().flatten() {
        let trace = trace.map_err(|damage| damaged(&damage))?;
        if trace.number != 1 {
            continue;
        }
        let mut frame = Frame::default();
        for part in trace.message().into_iter().flatten().flatten() {
            let value = part.i64().unwrap_or_default();
            match part.number {
                2 => frame.line = i64::from(value as i32),
                5 => frame.function_line = i64::from(value as i32),
                6 => frame.file = value,
                7 => frame.function = value,
                _ => {}
            }
        }
        frames.push(frame);
    }
    Ok(frames)
}
