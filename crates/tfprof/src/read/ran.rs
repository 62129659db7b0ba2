//! What ran, according to a trace: nodes and executions, added up from its tables by the caller.

use crate::model::{Execution, Frame, Memory, Model, Source, push_sparing};
use std::collections::HashMap;
use stepscope_core::error::{Error, Kind, Result};

/// A node that ran.
#[derive(Debug, Default, Clone)]
pub struct Ran {
    /// Its name, with its scopes.
    pub name: String,
    /// Its op.
    pub op: String,
    /// The device that scheduled it; empty when only an accelerator reports it.
    pub device: String,
    /// The accelerator that ran its kernels; empty for none.
    pub accelerator: String,
    /// More of its types: devices besides the first.
    pub types: Vec<String>,
    /// Floating point operations of one run.
    pub flops: i64,
    /// Its Python stack, outermost first: file, line, function.
    pub stack: Vec<(String, i64, String)>,
    /// Names of the nodes whose outputs it takes.
    pub inputs: Vec<String>,
    /// What it did in each step.
    pub steps: Vec<InStep>,
}

/// What a node did in a step.
#[derive(Debug, Default, Clone, Copy)]
pub struct InStep {
    /// Number of the step, from 0.
    pub step: i64,
    /// First start in microseconds.
    pub start: i64,
    /// Executions.
    pub runs: i64,
    /// Picoseconds on the device that scheduled it.
    pub device_ps: i64,
    /// Picoseconds on the accelerator.
    pub accelerator_ps: i64,
    /// Bytes asked for, read or written.
    pub bytes: i64,
}

/// Adds nodes that ran, and steps, to a model that no RunMetadata was added to: its times are picoseconds from
/// then on.
pub fn ran(model: &mut Model, steps: &[i64], rows: &[Ran]) -> Result<()> {
    if !model.steps.is_empty() && !model.picoseconds {
        let seen = "a trace beside RunMetadata: times of both would be added up";
        return Err(Error::new(Kind::NotThisFormat, seen));
    }
    model.picoseconds = true;
    model.steps.extend(steps.iter().filter(|step| **step >= 0));
    let mut texts = Texts::new(model);
    for row in rows {
        add(model, row, &mut texts);
    }
    Ok(())
}

/// Numbers of texts, below those that op logs use.
struct Texts {
    ids: HashMap<String, i64>,
    next: i64,
}

impl Texts {
    fn new(model: &Model) -> Texts {
        let least = model.texts.keys().min().copied().unwrap_or(0);
        Texts { ids: HashMap::new(), next: least.min(0) - 1 }
    }

    fn id(&mut self, model: &mut Model, text: &str) -> i64 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = self.next;
        self.next -= 1;
        self.ids.insert(text.to_owned(), id);
        model.texts.insert(id, text.to_owned());
        id
    }
}

fn add(model: &mut Model, row: &Ran, texts: &mut Texts) {
    let known = model.find(&row.name);
    let node = known.or_else(|| model.add_node(&row.name, &row.op)).expect("the name is there or it is new");
    model.nodes[node as usize].covered |= known.is_some();
    for text in &row.types {
        model.add_type(node, text);
    }
    let mut devices = [None, None];
    for (place, text) in [&row.device, &row.accelerator].into_iter().enumerate() {
        if !text.is_empty() {
            let id = match place {
                0 => model.device(text),
                // This is how a device says that its times are those of kernels.
                _ => model.device(&format!("{text}/stream:all")),
            };
            model.add_type(node, text);
            devices[place] = Some(id);
        }
    }
    let frames: Vec<Frame> = row
        .stack
        .iter()
        .map(|(file, line, function)| Frame {
            file: texts.id(model, file),
            function: texts.id(model, function),
            line: *line,
            function_line: -1,
            ..Frame::default()
        })
        .collect();
    let inputs: Vec<Source> = (0..)
        .zip(&row.inputs)
        .map(|(place, name)| Source { place, name: model.names.intern(name), output: 0, slot: 0 })
        .collect();
    let shown = match (devices[0], row.accelerator.as_str()) {
        (Some(device), _) => Some(device),
        (None, "") => None,
        (None, name) => Some(model.device(name)),
    };
    model.has_code |= !frames.is_empty();
    let own = &mut model.nodes[node as usize];
    if !frames.is_empty() {
        own.stack.get_or_insert(frames.into());
    }
    if own.inputs.is_empty() {
        own.inputs = inputs;
    }
    if own.flops == 0 {
        own.flops = row.flops;
    }
    own.device = own.device.or(shown);
    for one in row.steps.iter().filter(|one| one.step >= 0) {
        let execution = own.executions.in_step(one.step);
        took(execution, one, devices);
    }
}

fn took(execution: &mut Execution, one: &InStep, devices: [Option<u32>; 2]) {
    // Zero would be no start at all.
    let start = one.start.max(1);
    execution.start = match execution.start {
        ..=0 => start,
        earlier => earlier.min(start),
    };
    execution.runs = execution.runs.wrapping_add(one.runs);
    for (device, ps) in devices.into_iter().zip([one.device_ps, one.accelerator_ps]) {
        if let Some(device) = device.filter(|_| ps != 0) {
            push_sparing(&mut execution.times, (device, start, ps));
            execution.end = execution.end.max(start.wrapping_add(ps / 1_000_000));
            if !execution.devices.contains(&device) {
                push_sparing(&mut execution.devices, device);
            }
        }
    }
    if one.bytes != 0 {
        let memory = Memory { micros: start, requested: one.bytes, ..Memory::default() };
        push_sparing(&mut execution.memory, memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metric;

    fn row(name: &str, steps: Vec<InStep>) -> Ran {
        Ran {
            name: name.into(),
            op: "MatMul".into(),
            device: "/device:cpu:0".into(),
            accelerator: "/device:gpu:0".into(),
            flops: 10,
            steps,
            ..Ran::default()
        }
    }

    #[test]
    fn steps_are_averaged_and_nothing_is_rounded() {
        let mut model = Model::default();
        let step = |step, device_ps, accelerator_ps| InStep {
            step,
            runs: 2,
            device_ps,
            accelerator_ps,
            ..InStep::default()
        };
        let rows = [row("a/b", vec![step(3, 100, 1), step(4, 300, 2)])];
        ran(&mut model, &[3, 4, 5], &rows).unwrap();
        let node = model.find("a/b").unwrap();
        let mean = model.metrics(node, -1);
        assert_eq!(mean.get(Metric::CpuMicros), 200);
        assert_eq!(mean.get(Metric::AcceleratorMicros), 1);
        assert_eq!(mean.get(Metric::Runs), 2);
        assert_eq!(mean.get(Metric::Flops), 20);
        assert_eq!(model.metrics(node, 4).get(Metric::Micros), 302);
        assert_eq!(model.metrics(node, 5).get(Metric::Micros), 0);
        assert_eq!(model.steps.len(), 3);
    }

    #[test]
    fn a_trace_and_run_metadata_are_not_added_up() {
        let mut model = Model::default();
        model.steps.insert(0);
        assert!(ran(&mut model, &[0], &[]).is_err());
    }
}
