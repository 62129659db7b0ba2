//! TensorFlow's own Timeline of a step: the same events, in the same order, as its
//! `Timeline(step_stats).generate_chrome_trace_format(...)` writes them.
//!
//! * [`read`] takes the device entries out of a RunMetadata or StepStats, binary or text.
//! * [`arrange`] shifts times as `op_time` asks and packs executions into lanes.
//! * [`label`] reads labels as Timeline does, which differs from what they say in places.
//! * [`tensors`] follows tensors by name, as inexactly as Timeline does.
//! * [`text`] writes JSON as Python's `json` does, and descriptions as protobuf's text format.
//!
//! What is odd about it (lanes that are not threads, ids that begin at 0 in each file, tensors that
//! overwrite each other) is kept: who asks for this style wants those very events. The exporter of Chrome
//! traces is the one that gets them right.

mod arrange;
mod label;
mod read;
mod tensors;
mod text;

use read::Device;
use stepscope_core::error::Result;
use stepscope_core::input::Input;
use tensors::Tensors;
use text::Events;

/// Which times count as those of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpTime {
    /// From being scheduled to the end of scheduling.
    Schedule,
    /// From its first kernel on a GPU.
    Gpu,
    /// From being scheduled to the end of its last kernel.
    All,
}

impl OpTime {
    /// The one with this name, which is TensorFlow's.
    pub fn named(name: &str) -> Option<OpTime> {
        match name {
            "schedule" => Some(OpTime::Schedule),
            "gpu" => Some(OpTime::Gpu),
            "all" => Some(OpTime::All),
            _ => None,
        }
    }
}

/// What to show.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Arrows from producers to consumers.
    pub dataflow: bool,
    /// Tensors as objects, and a counter for each allocator.
    pub memory: bool,
    /// Which times count as those of an op.
    pub op_time: OpTime,
}

/// A timeline.
#[derive(Debug)]
pub struct Timeline {
    /// The file, pretty-printed as TensorFlow does.
    pub json: String,
    /// Events in it.
    pub events: u64,
    /// Executions that could not be read.
    pub lost: u64,
    /// Where the first of them is, or where the file is damaged, and what is wrong.
    pub damage: Option<(u64, String)>,
}

/// Makes the timeline of a RunMetadata or a bare StepStats, binary or text.
///
/// Fails when the file cannot be read or is another kind of file. What comes before damage is shown.
pub fn make(input: &Input, style: Style) -> Result<Timeline> {
    let mut found = read::read(input)?;
    arrange::shift(&mut found.devices, style.op_time);
    arrange::pack(&mut found.devices);
    let mut events = Events::default();
    let pids = Pids::give(&found.devices, &mut events);
    let mut tensors = Tensors::default();
    for (device, pid) in found.devices.iter().zip(&pids) {
        tensors.produced(device, *pid, style.memory, &mut events);
    }
    for (device, pid) in found.devices.iter().zip(&pids) {
        ops(device, *pid, style.dataflow, &mut tensors, &mut events);
    }
    if style.memory {
        tensors.counters(&mut events);
    }
    Ok(Timeline { events: events.count, json: events.finish(), lost: found.lost, damage: found.damage })
}

/// The process ids of a device: its ops, its tensors.
#[derive(Debug, Clone, Copy)]
struct Pids {
    compute: i64,
    tensors: i64,
}

impl Pids {
    /// Numbers entries in the order of the file. A device that is there twice has what it has under its
    /// last pair of numbers.
    fn give(devices: &[Device], events: &mut Events) -> Vec<Pids> {
        events.process("Allocators", 0);
        let mut last = rustc_hash::FxHashMap::default();
        for (index, device) in devices.iter().enumerate() {
            let compute = 1 + 2 * index as i64;
            let pids = Pids { compute, tensors: compute + 1 };
            events.process(&format!("{} Compute", device.name), pids.compute);
            events.process(&format!("{} Tensors", device.name), pids.tensors);
            last.insert(device.name.as_str(), pids);
        }
        devices.iter().map(|device| last[device.name.as_str()]).collect()
    }
}

/// The ops of a device, and arrows to them.
fn ops(device: &Device, pids: Pids, dataflow: bool, tensors: &mut Tensors, events: &mut Events) {
    let pid = pids.compute;
    let is_stream = device.name.contains("/stream:") || device.name.contains("/memcpy");
    for node in &device.nodes {
        let label = if is_stream {
            label::kernel(&node.label, &node.name)
        } else if node.name == "RecvTensor" {
            label::Label::of(&node.name, "RecvTensor")
        } else {
            // The row is called as the node is; what the label calls it does not count.
            label::Label { name: &node.name, ..label::op(&node.label) }
        };
        events.op(&label, pid, node);
        for input in &label.inputs {
            let Some((name, start)) = tensors.consumed(input, node) else {
                continue;
            };
            if dataflow && (start.pid, start.lane) != (pid, node.lane) {
                let id = events.next_flow();
                events.flow("s", &name, start.pid, start.lane, start.ts, id);
                events.flow("t", &name, pid, node.lane, i128::from(node.start), id);
            }
        }
    }
}
