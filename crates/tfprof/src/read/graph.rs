//! Graphs: nodes, their inputs, shapes and attributes.

use super::{Losses, read};
use crate::attributes::Attributes;
use crate::model::{Model, Source};
use stepscope_core::error::{Error, Kind, Result};
use stepscope_core::formats::graph::node_def::NodeDef;
use stepscope_core::input::Input;
use stepscope_core::proto::messages::{GRAPH_DEF, META_GRAPH_DEF, SAVED_MODEL};
use stepscope_core::proto::walk::{Place, Value, Visitor};
use stepscope_core::proto::wire::Fields;

/// A larger tensor of a constant is not kept, unless the whole graph is to be written out again.
const TENSOR_LIMIT: usize = 256;

/// Adds the nodes of a graph that the model lacks. Returns how many the file has.
pub fn graph(model: &mut Model, input: &Input) -> Result<u64> {
    let mut visitor = Graph { model, added: Vec::new(), seen: 0, losses: Losses::default() };
    let roots = [&GRAPH_DEF, &META_GRAPH_DEF, &SAVED_MODEL];
    let walked = read(input, &roots, &mut visitor)?;
    let Graph { added, seen, losses, .. } = visitor;
    if seen == 0 && walked.unknown_fields > 0 {
        return Err(stepscope_core::formats::graph::nothing(&walked, "graph"));
    }
    for (node, inputs) in added {
        let sources = inputs.iter().enumerate().map(|(place, input)| {
            let name = input.split(':').next().unwrap_or_default();
            Source {
                place: place as i32,
                name: model.names.intern(name.strip_prefix('^').unwrap_or(name)),
                // TensorFlow 2.21 reads the output's number only in debug builds: the first one counts.
                output: 0,
                slot: match input.strip_prefix('^') {
                    Some(_) => -1,
                    None => stepscope_core::formats::graph::graph_producer(input).1 as i32,
                },
            }
        });
        model.nodes[node as usize].inputs = sources.collect();
    }
    losses.report("graph", model);
    Ok(seen)
}

struct Graph<'a> {
    model: &'a mut Model,
    added: Vec<(u32, Vec<String>)>,
    seen: u64,
    losses: Losses,
}

impl Visitor for Graph<'_> {
    fn field(&mut self, at: Place, value: Value<'_>) -> Result<()> {
        // Bodies of functions are graphs of their own, which tfprof does not look into.
        if at.is("GraphDef", 1) {
            self.seen += 1;
            let node = NodeDef::read(value.bytes());
            // Other messages of TensorFlow have the same wire format, RunMetadata for example.
            if node.op.is_empty() && node.name.chars().any(char::is_control) {
                let seen = "a node without an op, whose name is no text: another message than a graph";
                return Err(Error::at(Kind::NotThisFormat, at.offset, seen));
            }
            self.added.extend(add(self.model, node));
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

fn add(model: &mut Model, def: NodeDef<'_>) -> Option<(u32, Vec<String>)> {
    let node = model.add_node(&def.name, &def.op)?;
    let keeps_tensors = model.keeps_tensors;
    let own = &mut model.nodes[node as usize];
    let attr = |name: &str| def.attrs.get(name);
    own.shape = attr("shape").and_then(|attr| attr_shape(attr)).unwrap_or_default();
    let shapes = attr("_output_shapes").and_then(|attr| attr_shapes(attr));
    own.output_shapes = (0..).zip(shapes.unwrap_or_default()).collect();
    let kept = |name: &str, value: &[u8]| keeps_tensors || value.len() <= TENSOR_LIMIT || name != "value";
    let attrs = def.attrs.iter().map(|(name, value)| (name.as_ref(), *value));
    own.attributes = Attributes::new(attrs.filter(|(name, value)| kept(name, value)));
    let inputs = def.inputs.into_iter().map(|input| input.into_owned());
    Some((node, inputs.collect()))
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
                list.extend(parts.filter(|part| part.number == 7).filter_map(|part| part.bytes().map(dims)));
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
                let size = parts.filter(|part| part.number == 1).filter_map(|part| part.i64());
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
