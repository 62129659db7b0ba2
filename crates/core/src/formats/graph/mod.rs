//! Graphs: GraphDef, MetaGraphDef and SavedModel, binary or text, as rows of `node` and `edge`.
//!
//! The same rows come from the partition and function graphs of a RunMetadata and from event files.
//! Bodies of library functions are graphs of their own, named `function/<name>`; their arguments and
//! results are nodes of type `_Arg` and `_Retval`, so that every edge has both ends. An input of such
//! a body, `node:output:index`, is stored with `index` as producer's slot.

pub mod attr;
pub mod node_def;
mod sniff;

use crate::columns::{Cell, Table};
use crate::error::{Error, Kind, Result};
use crate::formats::Format;
use crate::formats::graph::attr::{entry, fields, push_attr};
use crate::formats::graph::node_def::NodeDef;
use crate::input::Input;
use crate::json::write::{Object, push_array, push_text};
use crate::proto::messages::{GRAPH_DEF, META_GRAPH_DEF, Message, SAVED_MODEL, data_type_name};
use crate::proto::probe::{self, Form};
use crate::proto::text::walk_text;
use crate::proto::walk::{Damage, Place, Value, Visitor, Walked, walk};
use crate::store::{Effect, Options, Writer};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// The entry of graphs in the list of formats.
pub const FORMAT: Format = Format { name: "graph", sniff: sniff::sniff, decode: Some(decode), lazy: None };

/// Decodes a graph file. Its events are the nodes of its graphs.
pub fn decode(input: &Input, _options: &Options, writer: &mut Writer) -> Result<()> {
    let mut read = probe::Head::new(input.open()?)?;
    let (root, form) = probe::choose(&read, &[&GRAPH_DEF, &META_GRAPH_DEF, &SAVED_MODEL])?;
    // Nobody recorded a graph: it has no time.
    writer.facts.producer = "unknown".into();
    let mut visitor = GraphFile { writer, graphs: Graphs::new(""), parts: 0 };
    let walked = match form {
        Form::Binary => walk(&mut read, root, 0, &mut visitor)?,
        Form::Text => walk_text(&mut read, root, 0, &mut visitor)?,
    };
    let GraphFile { graphs, parts, .. } = visitor;
    if parts == 0 || (graphs.nodes + graphs.broken == 0 && walked.unknown_fields > 0) {
        return Err(nothing(&walked, "graph"));
    }
    writer.facts.events_seen = graphs.nodes + graphs.broken;
    writer.facts.events_stored = graphs.nodes;
    writer.claim("node", graphs.nodes, graphs.nodes);
    writer.facts.events_lost = graphs.broken;
    writer.facts.events_repaired = graphs.repaired;
    report_walk(writer, &walked);
    Ok(())
}

/// The error of a file in which nothing was found.
pub fn nothing(walked: &Walked, what: &str) -> Error {
    match &walked.damage {
        Some(damage) => Error::at(Kind::Damaged, damage.offset, damage.seen.clone()),
        None => Error::new(
            Kind::NotThisFormat,
            format!("{} bytes without a single part of a {what}", walked.bytes),
        ),
    }
}

/// Notes that what follows the damage is missing.
pub fn report_damage(writer: &mut Writer, damage: &Damage) {
    let (effect, detail) = (Effect::Missing, damage.ends());
    writer.note("damaged-tail", effect, 1, Some(damage.offset), detail);
}

/// Notes how a walk ended.
pub fn report_walk(writer: &mut Writer, walked: &Walked) {
    if let Some(damage) = &walked.damage {
        report_damage(writer, damage);
    }
    if walked.unknown_fields > 0 {
        let detail = "fields that this version does not know were skipped";
        writer.note("unknown-fields", Effect::Info, walked.unknown_fields, None, detail);
    }
}

struct GraphFile<'a> {
    writer: &'a mut Writer,
    graphs: Graphs,
    parts: u64,
}

impl Visitor for GraphFile<'_> {
    fn enter(&mut self, container: &'static Message, number: u32, _offset: u64) -> Result<()> {
        self.parts += u64::from(number > 0);
        self.graphs.enter(container, number);
        Ok(())
    }

    fn leave(&mut self, _container: &'static Message) -> Result<()> {
        self.graphs.leave();
        Ok(())
    }

    fn field(&mut self, at: Place, value: Value<'_>) -> Result<()> {
        self.parts += 1;
        self.graphs.field(self.writer, at.container, at.number, value)
    }

    fn flawed(&mut self, at: Place) -> Result<()> {
        self.graphs.flawed(self.writer, at.offset);
        Ok(())
    }

    fn broken(&mut self, at: Place, seen: &str) -> Result<()> {
        self.parts += 1;
        self.graphs.broken(self.writer, at.container, at.offset, seen);
        Ok(())
    }
}

/// Turns the graphs of a file into rows, and counts what it does.
pub struct Graphs {
    /// Stands before every graph's name.
    prefix: String,
    /// Names of the containers around the cursor that are graphs or hold graphs.
    open: Vec<(&'static Message, String)>,
    /// How often a name was given.
    given: HashMap<String, u32>,
    args: String,
    /// Nodes stored.
    pub nodes: u64,
    /// Nodes, functions and other fields that could not be read.
    pub broken: u64,
    /// Nodes and other fields with text that was not UTF-8.
    pub repaired: u64,
}

impl Graphs {
    /// For graphs whose names begin with `prefix`.
    pub fn new(prefix: &str) -> Self {
        Graphs {
            prefix: prefix.to_owned(),
            open: Vec::new(),
            given: HashMap::new(),
            args: String::new(),
            nodes: 0,
            broken: 0,
            repaired: 0,
        }
    }

    /// Changes the prefix of the names of the graphs to come.
    pub fn set_prefix(&mut self, prefix: &str) {
        prefix.clone_into(&mut self.prefix);
    }

    /// A container begins.
    pub fn enter(&mut self, container: &'static Message, number: u32) {
        let around = self.open.last();
        let name = match (container.name, around.map(|(around, _)| around.name)) {
            ("GraphDef", Some("RunMetadata")) => self.numbered("partition"),
            ("FunctionGraphs", _) => self.numbered("function"),
            ("GraphDef", Some("FunctionGraphs")) => {
                let outer = around.map_or("", |(_, name)| name.as_str()).to_owned();
                match number {
                    2 => format!("{outer}/pre"),
                    3 => format!("{outer}/post"),
                    _ => self.numbered(&format!("{outer}/partition")),
                }
            }
            ("GraphDef", _) => self.once("graph"),
            ("CostGraphDef", _) => self.once("cost"),
            _ => around.map_or_else(String::new, |(_, name)| name.clone()),
        };
        self.open.push((container, name));
    }

    /// The innermost container ends.
    pub fn leave(&mut self) {
        self.open.pop();
    }

    fn count(&mut self, name: &str) -> u32 {
        let full = format!("{}{name}", self.prefix);
        let given = self.given.entry(full).or_default();
        *given += 1;
        *given - 1
    }

    fn numbered(&mut self, name: &str) -> String {
        let number = self.count(name);
        let prefix = if name.contains('/') { "" } else { self.prefix.as_str() };
        format!("{prefix}{name}/{number}")
    }

    fn once(&mut self, name: &str) -> String {
        match self.count(name) {
            0 => format!("{}{name}", self.prefix),
            again => format!("{}{name}/{again}", self.prefix),
        }
    }

    /// Takes a field of a graph or a function library; others are not its business.
    pub fn field(
        &mut self,
        writer: &mut Writer,
        container: &'static Message,
        number: u32,
        value: Value<'_>,
    ) -> Result<()> {
        let graph = self.current().to_owned();
        match (container.name, number) {
            ("GraphDef", 1) => {
                self.node(writer, &graph, value.bytes(), Body::Graph)?;
                writer.check()?;
            }
            ("GraphDef", 4) => {
                for field in fields(value.bytes()).filter(|field| field.number == 1) {
                    let producer = field.i64().unwrap_or_default().to_string();
                    writer.facts.meta.insert(format!("{graph}.producer_version"), producer);
                }
            }
            ("FunctionDefLibrary", 1) => self.function(writer, &graph, value.bytes())?,
            _ => {}
        }
        Ok(())
    }

    /// Counts a field that could not be read.
    pub fn broken(&mut self, writer: &mut Writer, container: &'static Message, offset: u64, seen: &str) {
        self.broken += 1;
        let detail = format!("part of a {} could not be read: {seen}", container.name);
        writer.note("broken-graph-part", Effect::Missing, 1, Some(offset), detail);
    }

    /// Notes text that is not UTF-8.
    pub fn flawed(&mut self, writer: &mut Writer, offset: u64) {
        self.repaired += 1;
        let detail = "text that is not UTF-8 was repaired";
        writer.note("invalid-utf8", Effect::Repaired, 1, Some(offset), detail);
    }

    /// Whether the graph at the cursor is one that a device ran.
    pub fn in_partition(&self) -> bool {
        matches!(
            &self.open[..],
            [.., (around, _), (graph, _)]
                if around.name == "RunMetadata" && graph.name == "GraphDef"
        )
    }

    /// Name of the graph at the cursor.
    pub fn current(&self) -> &str {
        self.open.last().map_or("", |(_, name)| name.as_str())
    }

    fn node(&mut self, writer: &mut Writer, graph: &str, bytes: &[u8], body: Body) -> Result<()> {
        let node = NodeDef::read(bytes);
        self.args.clear();
        let mut object = Object::begin(&mut self.args);
        for (key, value) in &node.attrs {
            push_attr(object.key(key), value);
        }
        for (key, names) in
            [("original_node_names", node.nodes_before), ("original_func_names", node.functions_before)]
        {
            if !names.is_empty() {
                push_array(object.key(key), names, |out, name| push_text(out, &name));
            }
        }
        object.end_unless_empty();
        self.nodes += 1;
        node_row(writer, graph, &node.name, &node.op, &node.device, &self.args)?;
        for (slot, input) in node.inputs.iter().enumerate() {
            let (producer, producer_slot) = producer(input, body);
            edge_row(writer, graph, producer, producer_slot, &node.name, slot as i64)?;
        }
        Ok(())
    }

    fn function(&mut self, writer: &mut Writer, graph: &str, bytes: &[u8]) -> Result<()> {
        let mut name = String::new();
        let (mut arguments, mut bodies, mut results) = (Vec::new(), Vec::new(), BTreeMap::new());
        for field in fields(bytes) {
            let body = field.bytes().unwrap_or_default();
            match field.number {
                1 => {
                    for inner in fields(body) {
                        match inner.number {
                            1 => name = inner.text().map_or(name, Cow::into_owned),
                            2 => arguments.extend(inner.bytes()),
                            _ => {}
                        }
                    }
                }
                3 => bodies.push(body),
                4 => _ = results.insert((false, entry(body).0), entry(body).1),
                6 => _ = results.insert((true, entry(body).0), entry(body).1),
                _ => {}
            }
        }
        let graph = match graph.strip_suffix("graph") {
            Some(prefix) => format!("{prefix}function/{name}"),
            None => format!("{graph}/function/{name}"),
        };
        for argument in arguments {
            let (mut name, mut args) = (Cow::Borrowed(""), String::new());
            let mut object = Object::begin(&mut args);
            for field in fields(argument) {
                match field.number {
                    1 => name = field.text().unwrap_or(name),
                    3 => push_text(object.key("type"), &data_type_name(field.i64().unwrap_or_default())),
                    4 => push_text(object.key("type_attr"), &field.text().unwrap_or_default()),
                    _ => {}
                }
            }
            object.end_unless_empty();
            node_row(writer, &graph, &name, "_Arg", "", &args)?;
        }
        for body in bodies {
            self.node(writer, &graph, body, Body::Function)?;
            writer.check()?;
        }
        for ((control, name), value) in results {
            let (name, value) = (String::from_utf8_lossy(name), String::from_utf8_lossy(value));
            node_row(writer, &graph, &name, "_Retval", "", "")?;
            let (from, slot) = producer(&value, Body::Function);
            edge_row(writer, &graph, from, if control { -1 } else { slot }, &name, 0)?;
        }
        Ok(())
    }
}

/// What a node belongs to: inputs are written differently in the body of a function.
#[derive(Clone, Copy, PartialEq)]
enum Body {
    Graph,
    Function,
}

/// Name and slot of the producer in an input such as `name`, `name:1`, `^name` or `name:output:0`.
fn producer(input: &str, body: Body) -> (&str, i64) {
    if let Some(name) = input.strip_prefix('^') {
        return (name, -1);
    }
    let Some((front, slot)) = input.rsplit_once(':') else {
        return (input, 0);
    };
    let Ok(slot) = slot.parse::<u32>() else {
        return (input, 0);
    };
    match body {
        Body::Function => (front.split_once(':').map_or(front, |(name, _)| name), i64::from(slot)),
        Body::Graph => (front, i64::from(slot)),
    }
}

/// Name and slot of the producer in an input of a graph node.
pub fn graph_producer(input: &str) -> (&str, i64) {
    producer(input, Body::Graph)
}

/// Adds a row of `node`; empty `args` become NULL.
pub fn node_row(
    writer: &mut Writer,
    graph: &str,
    name: &str,
    op: &str,
    device: &str,
    args: &str,
) -> Result<()> {
    let args = if args.is_empty() { Cell::Null } else { Cell::Text(args) };
    let cells = [Cell::Text(graph), Cell::Text(name), Cell::Text(op), Cell::Text(device), args];
    writer.row(Table::Node, &cells).map(drop)
}

/// Adds a row of `edge`.
pub fn edge_row(
    writer: &mut Writer,
    graph: &str,
    from: &str,
    slot: i64,
    to: &str,
    to_slot: i64,
) -> Result<()> {
    let cells = [Cell::Text(graph), Cell::Text(from), Cell::I64(slot), Cell::Text(to), Cell::I64(to_slot)];
    writer.row(Table::Edge, &cells).map(drop)
}
