//! Walks RunMetadata once and keeps what is needed to lay its executions out.

use super::cost::CostGraph;
use super::label;
use super::node;
use super::spool::Spool;
use super::{emit, layout};
use crate::error::Result;
use crate::formats::graph::Graphs;
use crate::formats::graph::attr::fields;
use crate::formats::graph::node_def::NodeDef;
use crate::proto::messages::Message;
use crate::proto::walk::{Place, Value, Visitor};
use crate::proto::wire::Fields;
use crate::store::pool::Pool;
use crate::store::{Effect, Options, Writer};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// One RunMetadata: the file's only one, or one of the records of an event file.
#[derive(Debug, Default, Clone)]
pub struct Run {
    /// Tag of the record, which has rows of its own; None for a file that is a RunMetadata itself.
    pub tag: Option<String>,
    /// What the mark over it says, which separates it from others; None where it is alone.
    pub mark: Option<String>,
    /// Step of the record, if it has one.
    pub step: Option<i64>,
}

/// One `DeviceStepStats` as it is in the file.
#[derive(Debug, Default)]
pub struct Entry {
    /// Index of its run.
    pub run: u32,
    /// Name of the device.
    pub device: String,
    /// Names of threads, in the order of the file.
    pub threads: Vec<(u32, String)>,
    /// Hash of the bytes of its executions.
    pub hash: u64,
}

/// One execution: where its bytes are, and what the layout needs of it.
#[derive(Debug, Clone, Copy)]
pub struct Exec {
    /// Index of its entry.
    pub entry: u32,
    /// Thread as found, or 0.
    pub thread: u32,
    /// Node name in [`Collected::nodes`].
    pub name: u32,
    /// Length of its bytes.
    pub length: u32,
    /// Whether it holds text that is not UTF-8.
    pub flawed: bool,
    /// Whether a row on a stream with its label and name copies a tensor.
    pub copies: bool,
    /// Start, Unix nanoseconds.
    pub start_ns: i64,
    /// Duration in nanoseconds; may be negative.
    pub dur_ns: i64,
    /// Place of its bytes in the spool.
    pub place: u64,
    /// Offset in the file.
    pub offset: u64,
}

/// Everything that was found.
#[derive(Default)]
pub struct Collected {
    /// The runs.
    pub runs: Vec<Run>,
    /// The device entries.
    pub entries: Vec<Entry>,
    /// The executions, in the order of the file.
    pub execs: Vec<Exec>,
    /// Names of nodes.
    pub nodes: Pool,
    /// Bytes of the executions.
    pub spool: Spool,
    /// Edges that the `_Recv` nodes of partition graphs take tensors from (`edge_7_layer1/w/read`), by run and
    /// name.
    pub received: HashMap<(u32, String), String>,
}

/// Collects RunMetadata.
pub struct Collector<'a> {
    /// Where notes and graphs go.
    pub writer: &'a mut Writer,
    /// Graphs of the file.
    pub graphs: Graphs,
    /// Fields that were found: 0 means that this is something else.
    pub parts: u64,
    found: Collected,
    /// Whether the next execution holds text that is not UTF-8.
    flawed: bool,
    cost: Option<CostGraph>,
}

impl<'a> Collector<'a> {
    /// A collector of one run without a tag.
    pub fn new(writer: &'a mut Writer) -> Self {
        writer.facts.producer = "step_stats".into();
        let found = Collected { runs: vec![Run::default()], ..Collected::default() };
        Collector { writer, graphs: Graphs::new(""), parts: 0, found, flawed: false, cost: None }
    }

    /// Begins another run; what was found before belongs to earlier ones.
    pub fn begin_run(&mut self, run: Run) {
        let prefix = run.tag.as_ref().map_or(String::new(), |tag| format!("{tag}/"));
        self.graphs.set_prefix(&prefix);
        self.found.runs.push(run);
    }

    /// True when there was an execution.
    pub fn any_runs(&self) -> bool {
        self.writer.facts.events_seen > 0
    }

    /// True when there was a node of a graph.
    pub fn any_graphs(&self) -> bool {
        self.graphs.nodes + self.graphs.broken > 0
    }

    fn execution(&mut self, bytes: &[u8], offset: u64) -> Result<()> {
        self.writer.facts.events_seen += 1;
        let flawed = std::mem::take(&mut self.flawed);
        let node = node::read(bytes);
        let Some(start_ns) = node.times.start_ns else {
            self.writer.facts.events_lost += 1;
            let detail = "executions without a start time cannot be placed";
            self.writer.note("no-start-time", Effect::Lost, 1, Some(offset), detail);
            return Ok(());
        };
        if let Some(entry) = self.found.entries.last_mut() {
            let mut hasher = DefaultHasher::new();
            (entry.hash, bytes).hash(&mut hasher);
            entry.hash = hasher.finish();
        }
        let called = String::from_utf8_lossy(node.name);
        let name = self.found.nodes.intern(&called);
        let copies = label::copied(&String::from_utf8_lossy(node.label), &called).is_some();
        self.found.execs.push(Exec {
            entry: self.found.entries.len() as u32 - 1,
            thread: node.times.thread,
            name,
            length: bytes.len() as u32,
            flawed,
            copies,
            start_ns,
            dur_ns: node.times.end_ns,
            place: self.found.spool.push(bytes)?,
            offset,
        });
        if self.found.execs.len().is_multiple_of(1024) {
            self.writer.check()?;
        }
        Ok(())
    }

    /// Keeps which edge a node of a partition graph receives from.
    fn receiver(&mut self, bytes: &[u8]) {
        let op = fields(bytes).filter(|field| field.number == 2).last();
        let receives = op.and_then(|op| op.text()).is_some_and(|op| matches!(&*op, "_Recv" | "_HostRecv"));
        if !receives || !self.graphs.in_partition() {
            return;
        }
        let node = NodeDef::read(bytes);
        // AttrValue.s
        let edge = node.attrs.get("tensor_name").and_then(|value| {
            let text = fields(value).filter(|field| field.number == 2).last()?;
            Some(text.text()?.into_owned())
        });
        if let Some(edge) = edge {
            let run = self.found.runs.len() as u32 - 1;
            self.found.received.insert((run, node.name.into_owned()), edge);
        }
    }

    /// Forgets the executions of entries that say again what an earlier one says, as where a file was merged
    /// with itself: the same bytes, times included.
    fn forget_repeated(&mut self) {
        let mut seen = HashSet::new();
        let entries = self.found.entries.iter();
        let again: Vec<bool> =
            entries.map(|entry| entry.hash != 0 && !seen.insert((entry.hash, &entry.device))).collect();
        let before = self.found.execs.len();
        self.found.execs.retain(|exec| !again[exec.entry as usize]);
        let repeated = (before - self.found.execs.len()) as u64;
        if repeated > 0 {
            self.writer.facts.events_seen -= repeated;
            let detail = "executions are in the file a second time; they count once";
            self.writer.note("repeated-executions", Effect::Info, repeated, None, detail);
        }
    }

    /// Lays out and writes what was collected.
    pub fn finish(mut self, options: &Options) -> Result<()> {
        self.forget_repeated();
        if self.graphs.nodes > 0 {
            self.writer.facts.meta.insert("graph_nodes".into(), self.graphs.nodes.to_string());
        }
        let plan = layout::plan(self.writer, &self.found)?;
        emit::emit(self.writer, options, &self.found, &plan)
    }
}

impl Visitor for Collector<'_> {
    fn enter(&mut self, container: &'static Message, number: u32, _offset: u64) -> Result<()> {
        self.parts += u64::from(number > 0);
        self.graphs.enter(container, number);
        match container.name {
            "DeviceStepStats" => {
                let run = self.found.runs.len() as u32 - 1;
                self.found.entries.push(Entry { run, ..Entry::default() });
            }
            "CostGraphDef" => self.cost = Some(CostGraph::default()),
            _ => {}
        }
        Ok(())
    }

    fn leave(&mut self, container: &'static Message) -> Result<()> {
        if container.name == "CostGraphDef"
            && let Some(cost) = self.cost.take()
        {
            let dangling = cost.finish(self.writer, self.graphs.current())?;
            if dangling > 0 {
                let detail = "edges of the cost graph name nodes that are not in it";
                self.writer.note("dangling-cost-edges", Effect::Info, dangling, None, detail);
            }
        }
        self.graphs.leave();
        Ok(())
    }

    fn field(&mut self, at: Place, value: Value<'_>) -> Result<()> {
        self.parts += 1;
        let (bytes, offset) = (value.bytes(), at.offset);
        match (at.container.name, at.number) {
            ("DeviceStepStats", 1) => {
                if let Some(entry) = self.found.entries.last_mut() {
                    entry.device = String::from_utf8_lossy(bytes).into_owned();
                }
            }
            ("DeviceStepStats", 2) => self.execution(bytes, offset)?,
            ("DeviceStepStats", 3) => {
                let (mut key, mut name) = (0, String::new());
                for field in Fields::new(bytes, offset).flatten() {
                    match field.number {
                        1 => key = field.u64().unwrap_or_default() as u32,
                        2 => name = field.text().map_or(name, |text| text.into_owned()),
                        _ => {}
                    }
                }
                if let Some(entry) = self.found.entries.last_mut() {
                    entry.threads.push((key, name));
                }
            }
            ("CostGraphDef", 1) => {
                if let Some(cost) = &mut self.cost {
                    cost.node(self.writer, self.graphs.current(), bytes)?;
                }
            }
            ("RunMetadata", 5) => {
                for field in Fields::new(bytes, offset).flatten() {
                    let (key, text) = match field.number {
                        1 => ("session_name", field.text().unwrap_or_default().into_owned()),
                        2 => ("session_version", field.i64().unwrap_or_default().to_string()),
                        _ => continue,
                    };
                    self.writer.facts.meta.insert(key.into(), text);
                }
            }
            _ => {
                if at.is("GraphDef", 1) {
                    self.receiver(bytes);
                }
                self.graphs.field(self.writer, at.container, at.number, value)?;
            }
        }
        Ok(())
    }

    fn flawed(&mut self, at: Place) -> Result<()> {
        if at.is("DeviceStepStats", 2) {
            self.flawed = true;
        } else {
            self.graphs.flawed(self.writer, at.offset);
        }
        Ok(())
    }

    fn broken(&mut self, at: Place, seen: &str) -> Result<()> {
        if at.is("DeviceStepStats", 2) {
            self.parts += 1;
            self.writer.facts.events_seen += 1;
            self.writer.facts.events_lost += 1;
            let detail = format!("executions could not be read: {seen}");
            self.writer.note("broken-execution", Effect::Lost, 1, Some(at.offset), detail);
        } else {
            self.graphs.broken(self.writer, at.container, at.offset, seen);
        }
        Ok(())
    }
}
