//! What is known of a model: its nodes, what ran in which step, and what an op log adds.
//!
//! Nodes keep the order in which they came; every view goes through them by name. Over 400 lines with its tests.

use super::attributes::Attributes;
use super::metrics::{Metric, Metrics};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, HashMap};
use std::ops::Index;
use stepscope_core::store::Pool;

/// A line of Python that made a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// Id of the file's name in [`Model::texts`].
    pub file: i64,
    /// Id of the function's name.
    pub function: i64,
    /// The line.
    pub line: i64,
    /// The line in which the function begins.
    pub function_line: i64,
    /// Id of the line's text.
    pub text: i64,
}

/// A device as RunMetadata names it, in lower case.
#[derive(Debug, Clone)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Whether its times are those of kernels: a view of all streams of an accelerator.
    pub is_stream: bool,
    /// Whether ops are placed on it.
    pub is_canonical: bool,
    /// Whether its memory is the host's.
    pub is_host: bool,
}

/// Memory of one execution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    /// When it was seen.
    pub micros: i64,
    /// Bytes asked for.
    pub requested: i64,
    /// Bytes held at most.
    pub peak: i64,
    /// Bytes still held.
    pub residual: i64,
    /// Bytes of outputs.
    pub output: i64,
    /// Bytes that an accelerator's allocator had given out.
    pub in_use: i64,
    /// Bytes that were needed for the time of the execution.
    pub temp: i64,
    /// Bytes that stay.
    pub persistent: i64,
    /// Whether the last two are the host's; else they are the accelerator's.
    pub is_host: bool,
    /// Outputs by slot; if a slot occurs twice, the last one counts.
    pub outputs: Vec<(i32, Held)>,
}

impl Memory {
    /// Bytes that stay on the accelerator.
    pub fn accelerator_persistent(&self) -> i64 {
        if self.is_host { 0 } else { self.persistent }
    }
}

/// An output: how large, and where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Bytes.
    pub bytes: i64,
    /// Its address.
    pub address: u64,
}

/// What a node did in one step.
#[derive(Debug, Clone, Default)]
pub struct Execution {
    /// First start; 0 when no row had a start.
    pub start: i64,
    /// Last end.
    pub end: i64,
    /// Times it ran on devices that schedule ops.
    pub runs: i64,
    /// Device, start and duration of each row that counts.
    pub times: Vec<(u32, i64, i64)>,
    /// Memory of each row on the node's own device.
    pub memory: Vec<Memory>,
    /// Allocations and frees on accelerators: when, bytes.
    pub allocations: Vec<(i64, i64)>,
    /// Devices that reported it, in the order of their first reports.
    pub devices: Vec<u32>,
}

/// An input: its place, the producer's name, and which of the producer's outputs counts for shapes.
#[derive(Debug, Clone)]
pub struct Source {
    /// Place among the inputs.
    pub place: i32,
    /// Id of the producer's name.
    pub name: u32,
    /// Output of the producer, as TensorFlow reads it.
    pub output: i32,
    /// Output of the producer, as it is written; -1 for an edge that only orders.
    pub slot: i32,
}

/// A node of the graph, or one that only ran.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// Its name's id.
    pub name: u32,
    /// Its op.
    pub op: String,
    /// Ids of its types: op, device, and what op logs and checkpoints say; sorted by text.
    pub types: Vec<u32>,
    /// Its shape, when it has an attribute of that name; a scalar has one dimension of 1.
    pub shape: Vec<i64>,
    /// Shapes of its outputs.
    pub output_shapes: Vec<(i32, Vec<i64>)>,
    /// Shapes that its outputs had when it ran; only when [`Model::keeps_shapes`].
    pub run_shapes: Vec<(i32, Vec<i64>)>,
    /// Its inputs by place.
    pub inputs: Vec<Source>,
    /// Its attributes.
    pub attributes: Attributes,
    /// Steps in which it ran.
    pub executions: Executions,
    /// The device it is placed on.
    pub device: Option<u32>,
    /// Floating point operations of one run.
    pub flops: i64,
    /// The Python stack that made it, outermost first; None without an op log.
    pub stack: Option<Box<[Frame]>>,
    /// Whether a step ran it and the graph has it.
    pub covered: bool,
}

/// Adds to a list that mostly holds one thing: beside that one, no room is kept for more.
pub fn push_sparing<T>(list: &mut Vec<T>, thing: T) {
    insert_sparing(list, list.len(), thing);
}

fn insert_sparing<T>(list: &mut Vec<T>, at: usize, thing: T) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
    list.insert(at, thing);
}

/// What a node did, by step. Most nodes of a large graph ran in one: a tree would hold room for eleven.
#[derive(Debug, Clone, Default)]
pub struct Executions(Vec<(i64, Execution)>);

impl Executions {
    fn place(&self, step: i64) -> std::result::Result<usize, usize> {
        self.0.binary_search_by_key(&step, |(known, _)| *known)
    }

    /// What it did in a step.
    pub fn get(&self, step: i64) -> Option<&Execution> {
        self.place(step).ok().map(|at| &self.0[at].1)
    }

    /// What it did in a step, to be added to.
    pub fn in_step(&mut self, step: i64) -> &mut Execution {
        let at = self.place(step).unwrap_or_else(|at| {
            insert_sparing(&mut self.0, at, (step, Execution::default()));
            at
        });
        &mut self.0[at].1
    }

    /// Steps and what it did in them, in the order of steps.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (i64, &Execution)> {
        self.0.iter().map(|(step, execution)| (*step, execution))
    }

    /// What it did in its last step.
    pub fn last(&self) -> Option<&Execution> {
        self.0.last().map(|(_, execution)| execution)
    }

    /// How many steps it ran in.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when it never ran.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Index<i64> for Executions {
    type Output = Execution;

    fn index(&self, step: i64) -> &Execution {
        self.get(step).expect("it ran in that step")
    }
}

/// A model and its steps.
#[derive(Debug, Default)]
pub struct Model {
    /// Nodes in the order they came.
    pub nodes: Vec<Node>,
    /// Names of nodes and of inputs.
    pub names: Pool,
    /// The node of a name.
    pub by_name: FxHashMap<u32, u32>,
    /// Texts of types.
    pub types: Pool,
    /// Devices.
    pub devices: Vec<Device>,
    device_ids: HashMap<String, u32>,
    /// Steps that were added.
    pub steps: BTreeSet<i64>,
    /// Files and functions of op logs.
    pub texts: HashMap<i64, String>,
    /// Whether any op log has stacks.
    pub has_code: bool,
    /// Whether large tensors of constants are kept: a profile that is written holds them.
    pub keeps_tensors: bool,
    /// Whether shapes of outputs are taken from steps, for the operations of our own.
    pub keeps_shapes: bool,
    /// Whether times are picoseconds, as in the tables of a trace, and not microseconds.
    pub picoseconds: bool,
    /// Whether an accelerator ran ops without telling of its kernels.
    pub lacks_streams: bool,
    /// What a reader should know, one sentence each.
    pub warnings: Vec<String>,
}

impl Model {
    /// The name of a node.
    #[inline]
    pub fn name(&self, node: u32) -> &str {
        self.names.get(self.nodes[node as usize].name)
    }

    /// Units of its times in a microsecond.
    pub fn ticks(&self) -> i64 {
        if self.picoseconds { 1_000_000 } else { 1 }
    }

    /// The node called so.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.by_name.get(&self.names.find(name)?).copied()
    }

    /// Nodes in the order of their names' bytes.
    pub fn ordered(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.nodes.len() as u32).collect();
        order.sort_unstable_by(|a, b| self.name(*a).cmp(self.name(*b)));
        order
    }

    /// Adds a node unless the name is taken.
    pub fn add_node(&mut self, name: &str, op: &str) -> Option<u32> {
        let name = self.names.intern(name);
        let id = self.nodes.len() as u32;
        match self.by_name.entry(name) {
            std::collections::hash_map::Entry::Occupied(_) => return None,
            std::collections::hash_map::Entry::Vacant(slot) => slot.insert(id),
        };
        self.nodes.push(Node { name, op: op.to_owned(), ..Node::default() });
        self.add_type(id, op);
        Some(id)
    }

    /// Gives a node a type.
    pub fn add_type(&mut self, node: u32, text: &str) {
        let id = self.types.intern(text);
        let types = &self.types;
        let own = &mut self.nodes[node as usize].types;
        if let Err(place) = own.binary_search_by(|other| types.get(*other).cmp(text)) {
            own.insert(place, id);
        }
    }

    /// The device of a name in lower case.
    pub fn device(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.device_ids.get(name) {
            return id;
        }
        let is_stream = name.contains("stream:all");
        let id = self.devices.len() as u32;
        self.devices.push(Device {
            name: name.to_owned(),
            is_stream,
            is_canonical: is_canonical(name),
            is_host: name.contains("cpu"),
        });
        self.device_ids.insert(name.to_owned(), id);
        id
    }

    /// Whether a node ran in a step in such a way that a timeline can show it.
    pub fn is_trackable(&self, node: u32, step: i64) -> bool {
        let node = &self.nodes[node as usize];
        node.device.is_some() && node.executions.get(step).is_some_and(|execution| execution.start != 0)
    }

    /// The figures of a node in a step; of the average step when `step` is negative.
    pub fn metrics(&self, node: u32, step: i64) -> Metrics {
        let node = &self.nodes[node as usize];
        let mut sum = Metrics::default();
        if step >= 0 {
            if let Some(execution) = node.executions.get(step) {
                self.add_execution(execution, &mut sum);
            }
        } else if !node.executions.is_empty() {
            for (_, execution) in node.executions.iter() {
                self.add_execution(execution, &mut sum);
            }
            let steps = node.executions.len() as u64;
            if steps > 1 {
                // Each figure is divided for itself, and as an unsigned number.
                for metric in AVERAGED {
                    sum.set(metric, (sum.get(metric) as u64 / steps) as i64);
                }
            }
        }
        let runs = sum.get(Metric::Runs);
        sum.set(
            Metric::Flops,
            if node.executions.is_empty() { node.flops } else { node.flops.wrapping_mul(runs) },
        );
        sum.set(Metric::Params, params(&node.shape));
        sum.set(Metric::Definitions, 1);
        sum
    }

    /// The figures of all nodes in a step.
    pub fn all_metrics(&self, step: i64) -> Vec<Metrics> {
        let nodes = 0..self.nodes.len() as u32;
        nodes.map(|node| self.metrics(node, step)).collect()
    }

    fn add_execution(&self, execution: &Execution, sum: &mut Metrics) {
        let mut own = Metrics::default();
        own.set(Metric::Runs, execution.runs);
        let (mut streams, mut scheduling) = (0i64, 0i64);
        for (device, _, micros) in &execution.times {
            if self.devices[*device as usize].is_stream {
                streams = streams.wrapping_add(*micros);
            } else {
                scheduling = scheduling.wrapping_add(*micros);
            }
        }
        own.set(Metric::AcceleratorMicros, streams);
        own.set(Metric::CpuMicros, scheduling);
        own.set(Metric::Micros, streams.wrapping_add(scheduling));
        let mut total = |metric: Metric, figure: fn(&Memory) -> i64| {
            let sum = execution.memory.iter().map(figure);
            own.set(metric, sum.fold(0i64, i64::wrapping_add));
        };
        total(Metric::Requested, |memory| memory.requested);
        total(Metric::Peak, |memory| memory.peak);
        total(Metric::Residual, |memory| memory.residual);
        total(Metric::Output, |memory| memory.output);
        sum.add(&own);
    }

    /// Shapes of a node's inputs by place; an empty one is unknown.
    pub fn input_shapes(&self, node: u32) -> Vec<(i32, &[i64])> {
        let inputs = &self.nodes[node as usize].inputs;
        let shape = |source: &Source| -> Option<&[i64]> {
            let producer = &self.nodes[*self.by_name.get(&source.name)? as usize];
            let mut shapes = producer.output_shapes.iter();
            let found = shapes.find(|(output, _)| *output == source.output)?;
            Some(&found.1)
        };
        inputs.iter().map(|source| (source.place, shape(source).unwrap_or_default())).collect()
    }

    /// Share of the nodes that some step ran.
    pub fn coverage(&self) -> f64 {
        let covered = self.nodes.iter().filter(|node| node.covered).count();
        covered as f64 / (self.nodes.len() as f64 + 1e-10)
    }
}

const AVERAGED: [Metric; 8] = [
    Metric::Runs,
    Metric::Micros,
    Metric::AcceleratorMicros,
    Metric::CpuMicros,
    Metric::Requested,
    Metric::Peak,
    Metric::Residual,
    Metric::Output,
];

/// Elements of a shape; 0 when there is none or a dimension is unknown.
fn params(shape: &[i64]) -> i64 {
    if shape.is_empty() || shape.iter().any(|dim| *dim < 0) {
        return 0;
    }
    shape.iter().fold(1, |product, dim| product.wrapping_mul(*dim))
}

/// True for names that end in `/gpu:N`, `/cpu:N`, `/device:gpu:N` or `/device:cpu:N`.
fn is_canonical(name: &str) -> bool {
    let kind = name.trim_end_matches(|c: char| c.is_ascii_digit());
    kind.len() < name.len()
        && !name.contains('\n')
        && ["/gpu:", "/cpu:", "/device:gpu:", "/device:cpu:"].iter().any(|end| kind.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_schedule_ops() {
        for name in ["/job:a/task:0/device:cpu:0", "/gpu:12", "x/device:gpu:1"] {
            assert!(is_canonical(name), "{name}");
        }
        for name in ["gpu:0", "/gpu:", "/device:tpu:0", "/gpu:0/stream:all", "a\n/cpu:0"] {
            assert!(!is_canonical(name), "{name}");
        }
    }

    #[test]
    fn unknown_dimensions_have_no_parameters() {
        assert_eq!(params(&[3, 3, 16]), 144);
        assert_eq!(params(&[-1, 16]), 0);
        assert_eq!(params(&[]), 0);
    }
}
