//! ProfileProto: what `tf.compat.v1.profiler.Profiler` and `tf.contrib.tfprof.ProfileContext` save of a graph and of
//! the steps that were traced.
//!
//! Each execution becomes the `NodeExecStats` that tfprof made it of, and goes to the collector of
//! [`crate::formats::step_stats`]; each node becomes its `NodeDef`. What tfprof leaves out stays out:
//! threads, when an op was scheduled, allocators' names, types and shapes of outputs, ops that the graph lacks. It writes control inputs like others, and
//! durations in whole microseconds, at least one.

mod executions;

use crate::error::Result;
use crate::formats::Format;
use crate::formats::graph::attr::fields;
use crate::formats::graph::{nothing, report_walk};
use crate::formats::message;
use crate::formats::step_stats::collect::{Collector, Run};
use crate::input::Input;
use crate::proto::messages::{DEVICE_STEP_STATS, GRAPH_DEF, PROFILE_PROTO, STEP_STATS};
use crate::proto::score;
use crate::proto::walk::{Place, Value, Visitor, walk};
use crate::proto::wire::Field;
use crate::proto::wire_writer::MessageWriter;
use crate::store::{Effect, Options, Writer};
use executions::Executions;
use std::collections::{BTreeMap, HashMap};

/// The entry of tfprof's profiles in the list of formats.
pub const FORMAT: Format = Format { name: "tfprof_profile", sniff, decode: Some(decode), lazy: None };

/// True for the beginning of a ProfileProto.
fn sniff(head: &[u8], name: &str) -> bool {
    message(head, name).is_some_and(score::is_profile)
}

/// Decodes a profile: its graph, and one run for each of its steps.
pub fn decode(input: &Input, options: &Options, writer: &mut Writer) -> Result<()> {
    let mut profile = Profile { writer, nodes: BTreeMap::new(), parts: 0 };
    let walked = walk(&mut input.open()?, &PROFILE_PROTO, 0, &mut profile)?;
    let Profile { nodes, parts, .. } = profile;
    if parts == 0 {
        return Err(nothing(&walked, "profile"));
    }
    let names = nodes.iter().map(|(id, node)| (*id, node.name.as_str()));
    let names: HashMap<i64, &str> = names.collect();
    let mut collector = Collector::new(writer);
    write_graph(&mut collector, &nodes, &names)?;
    let mut steps: BTreeMap<i64, Executions<'_>> = BTreeMap::new();
    for node in nodes.values() {
        executions::add(&mut steps, node, &node.inputs(&names));
    }
    for (step, executions) in steps {
        collector.begin_run(Run { tag: None, mark: Some(format!("step {step}")), step: Some(step) });
        write_step(&mut collector, executions)?;
    }
    collector.finish(options)?;
    report_walk(writer, &walked);
    Ok(())
}

/// A `ProfileNode`.
struct Node {
    name: String,
    op: String,
    bytes: Vec<u8>,
    /// Offset in the file.
    offset: u64,
}

impl Node {
    fn read(bytes: &[u8], offset: u64) -> Self {
        let text = |number| {
            let found = fields(bytes).filter(|field| field.number == number).last();
            found.and_then(|field| Some(field.text()?.into_owned()))
        };
        let (name, op) = (text(1).unwrap_or_default(), text(9).unwrap_or_default());
        // tfprof gives a node that ran and is not in the graph its name for an op, and no attributes.
        let unknown = op == name && fields(bytes).all(|field| field.number != 11);
        Node { op: if unknown { String::new() } else { op }, name, bytes: bytes.to_vec(), offset }
    }

    /// Its inputs in their order, as a `NodeDef` has them. A node that the file lacks is left out.
    fn inputs(&self, names: &HashMap<i64, &str>) -> Vec<String> {
        let pairs = |number| {
            let entries = fields(&self.bytes).filter(move |field| field.number == number);
            entries.map(|entry| {
                let (key, value) = entry.entry();
                (key, value.map_or(0, |value| int(&value)))
            })
        };
        let outputs: HashMap<i64, i64> = pairs(14).collect();
        let producers: BTreeMap<i64, i64> = pairs(2).collect();
        let known = producers.values().filter_map(|id| {
            let name = names.get(id)?;
            Some(match outputs.get(id) {
                None | Some(0) => (*name).to_owned(),
                Some(output) => format!("{name}:{output}"),
            })
        });
        known.collect()
    }
}

/// Takes the nodes of a profile.
struct Profile<'a> {
    writer: &'a mut Writer,
    /// By their numbers.
    nodes: BTreeMap<i64, Node>,
    parts: u64,
}

impl Profile<'_> {
    fn note(&mut self, slug: &'static str, effect: Effect, offset: u64, detail: &str) {
        self.writer.note(slug, effect, 1, Some(offset), detail);
    }
}

impl Visitor for Profile<'_> {
    fn field(&mut self, at: Place, value: Value<'_>) -> Result<()> {
        self.parts += 1;
        if at.number == 1 {
            let (mut id, mut node) = (0, &[][..]);
            for field in fields(value.bytes()) {
                match field.number {
                    1 => id = int(&field),
                    2 => node = field.bytes().unwrap_or_default(),
                    _ => {}
                }
            }
            self.nodes.insert(id, Node::read(node, at.offset));
            self.writer.check()?;
        }
        Ok(())
    }

    fn flawed(&mut self, at: Place) -> Result<()> {
        let detail = "text that is not UTF-8 was repaired";
        self.note("invalid-utf8", Effect::Repaired, at.offset, detail);
        Ok(())
    }

    fn broken(&mut self, at: Place, seen: &str) -> Result<()> {
        self.parts += 1;
        let detail = format!("nodes of a profile could not be read, nor when they ran: {seen}");
        self.note("broken-profile-node", Effect::Missing, at.offset, &detail);
        Ok(())
    }
}

/// The graph: of each node that has an op its `NodeDef`.
fn write_graph(
    collector: &mut Collector<'_>,
    nodes: &BTreeMap<i64, Node>,
    names: &HashMap<i64, &str>,
) -> Result<()> {
    collector.enter(&GRAPH_DEF, 0, 0)?;
    for node in nodes.values().filter(|node| !node.op.is_empty()) {
        let mut out = MessageWriter::default();
        out.text(1, &node.name);
        out.text(2, &node.op);
        for input in node.inputs(names) {
            out.text(3, &input);
        }
        for field in fields(&node.bytes) {
            match (field.number, field.bytes()) {
                (6, Some(device)) => out.bytes(4, device),
                // An entry of the attributes is written alike in both messages.
                (11, Some(entry)) => out.bytes(5, entry),
                _ => {}
            }
        }
        let bytes = out.into_bytes();
        let at = Place { container: &GRAPH_DEF, number: 1, offset: node.offset };
        collector.field(at, Value::Bytes(&bytes))?;
    }
    collector.leave(&GRAPH_DEF)
}

/// The statistics of a step.
fn write_step(collector: &mut Collector<'_>, executions: Executions<'_>) -> Result<()> {
    collector.enter(&STEP_STATS, 0, 0)?;
    for (device, executions) in executions {
        collector.enter(&DEVICE_STEP_STATS, 1, 0)?;
        let at = |number, offset| Place { container: &DEVICE_STEP_STATS, number, offset };
        collector.field(at(1, 0), Value::Bytes(device))?;
        for (offset, bytes) in executions {
            collector.field(at(2, offset), Value::Bytes(&bytes))?;
        }
        collector.leave(&DEVICE_STEP_STATS)?;
    }
    collector.leave(&STEP_STATS)
}

fn int(field: &Field<'_>) -> i64 {
    field.i64().unwrap_or_default()
}
