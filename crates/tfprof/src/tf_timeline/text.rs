//! The file: JSON as Python's `json.dumps(..., indent=4)` writes it, tensors as protobuf's text format.

use super::label::Label;
use super::read::Node;
use std::fmt::Write as _;
use stepscope_core::formats::graph::attr::fields;
use stepscope_core::proto::messages::DATA_TYPES;

/// Events that are being written. Names of processes come first.
#[derive(Debug, Default)]
pub struct Events {
    processes: String,
    rest: String,
    flows: u64,
    /// How many there are.
    pub count: u64,
}

impl Events {
    /// The name of a process.
    pub fn process(&mut self, name: &str, pid: i64) {
        self.count += 1;
        let mut event = Event::begin(&mut self.processes);
        event.text("name", "process_name");
        event.text("ph", "M");
        event.number("pid", pid);
        event.args(|args| args.text("name", name));
        event.end();
    }

    /// An execution.
    pub fn op(&mut self, label: &Label<'_>, pid: i64, node: &Node) {
        self.count += 1;
        let mut event = Event::begin(&mut self.rest);
        event.text("ph", "X");
        event.text("cat", "Op");
        event.text("name", label.op);
        event.place(pid, node.lane, i128::from(node.start));
        event.number("dur", node.dur);
        event.args(|args| {
            args.text("name", label.name);
            args.text("op", label.op);
            for (index, input) in label.inputs.iter().enumerate() {
                args.text(&format!("input{index}"), input);
            }
        });
        event.end();
    }

    /// The number of the next arrow.
    pub fn next_flow(&mut self) -> u64 {
        self.flows += 1;
        self.flows - 1
    }

    /// An end of an arrow.
    pub fn flow(&mut self, phase: &str, name: &str, pid: i64, lane: u32, ts: i128, id: u64) {
        self.count += 1;
        let mut event = Event::begin(&mut self.rest);
        event.text("ph", phase);
        event.text("cat", "DataFlow");
        event.text("name", name);
        event.place(pid, lane, ts);
        event.number("id", id);
        event.end();
    }

    /// A tensor that is made, described or gone.
    #[allow(clippy::too_many_arguments)]
    pub fn object(
        &mut self,
        phase: &str,
        name: &str,
        pid: i64,
        lane: u32,
        ts: i128,
        id: usize,
        description: Option<&str>,
    ) {
        self.count += 1;
        let mut event = Event::begin(&mut self.rest);
        event.text("ph", phase);
        event.text("cat", "Tensor");
        event.text("name", name);
        event.place(pid, lane, ts);
        event.number("id", id);
        if let Some(description) = description {
            event.args(|args| {
                args.object("snapshot", |args| {
                    args.text("tensor_description", description);
                });
            });
        }
        event.end();
    }

    /// Bytes that an allocator holds.
    pub fn counter(&mut self, allocator: &str, ts: i128, total: i128) {
        self.count += 1;
        let mut event = Event::begin(&mut self.rest);
        event.text("ph", "C");
        event.text("cat", "Memory");
        event.text("name", allocator);
        event.place(0, 0, ts);
        event.args(|args| args.number(allocator, total));
        event.end();
    }

    /// The whole file.
    pub fn finish(self) -> String {
        let mut out = String::with_capacity(self.processes.len() + self.rest.len() + 40);
        out.push_str("{\n    \"traceEvents\": [");
        out.push_str(&self.processes);
        out.push_str(&self.rest);
        // There is always an event, so the last byte is its comma, which JSON does not allow here.
        out.pop();
        out.push_str("\n    ]\n}");
        out
    }
}

/// An event, or an object within one, that is being written.
struct Event<'a> {
    out: &'a mut String,
    depth: usize,
    is_first: bool,
}

impl<'a> Event<'a> {
    fn begin(out: &'a mut String) -> Self {
        out.push_str("\n        {");
        Event { out, depth: 3, is_first: true }
    }

    fn key(&mut self, key: &str) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.out.push(',');
        }
        self.new_line(self.depth);
        push_quoted(self.out, key);
        self.out.push_str(": ");
    }

    fn new_line(&mut self, depth: usize) {
        self.out.push('\n');
        for _ in 0..depth {
            self.out.push_str("    ");
        }
    }

    fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        push_quoted(self.out, value);
    }

    fn number(&mut self, key: &str, value: impl std::fmt::Display) {
        self.key(key);
        let _ = write!(self.out, "{value}");
    }

    fn place(&mut self, pid: i64, lane: u32, ts: i128) {
        self.number("pid", pid);
        self.number("tid", lane);
        self.number("ts", ts);
    }

    fn args(&mut self, fill: impl FnOnce(&mut Event<'_>)) {
        self.object("args", fill);
    }

    fn object(&mut self, key: &str, fill: impl FnOnce(&mut Event<'_>)) {
        self.key(key);
        self.out.push('{');
        fill(&mut Event { out: self.out, depth: self.depth + 1, is_first: true });
        self.new_line(self.depth);
        self.out.push('}');
    }

    fn end(mut self) {
        self.new_line(self.depth - 1);
        self.out.push_str("},");
    }
}

fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' | '\u{7f}' => out.push(letter),
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

/// A `TensorDescription`.
#[derive(Debug, Default)]
pub struct Tensor {
    dtype: i32,
    shape: Option<Vec<u8>>,
    allocation: Option<Vec<u8>>,
}

impl Tensor {
    /// Reads it; messages that occur several times are merged.
    pub fn read(bytes: &[u8]) -> Self {
        let mut tensor = Tensor::default();
        for field in fields(bytes) {
            match (field.number, field.i64(), field.bytes()) {
                (1, Some(dtype), _) => tensor.dtype = dtype as i32,
                (2, _, Some(shape)) => tensor.shape.get_or_insert_default().extend(shape),
                (4, _, Some(more)) => tensor.allocation.get_or_insert_default().extend(more),
                _ => {}
            }
        }
        tensor
    }

    fn allocation(&self) -> stepscope_core::formats::step_stats::Allocation<'_> {
        stepscope_core::formats::step_stats::allocation(self.allocation.as_deref().unwrap_or_default())
    }

    /// Bytes asked for.
    pub fn requested_bytes(&self) -> i64 {
        self.allocation().requested_bytes.unwrap_or(0)
    }

    /// Name of the allocator.
    pub fn allocator(&self) -> String {
        String::from_utf8_lossy(self.allocation().allocator).into_owned()
    }

    /// The text format of protobuf: fields in the order of their numbers, those at their default left out.
    pub fn text(&self) -> String {
        let mut out = String::new();
        if self.dtype != 0 {
            let name = DATA_TYPES.iter().find(|entry| entry.1 == self.dtype);
            match name {
                Some((name, _)) => writeln!(out, "dtype: {name}"),
                None => writeln!(out, "dtype: {}", self.dtype),
            }
            .ok();
        }
        if let Some(shape) = &self.shape {
            out.push_str("shape {\n");
            let mut unknown_rank = false;
            for field in fields(shape) {
                match (field.number, field.bool(), field.bytes()) {
                    (2, _, Some(dim)) => push_dim(&mut out, dim),
                    (3, Some(unknown), _) => unknown_rank = unknown,
                    _ => {}
                }
            }
            if unknown_rank {
                out.push_str("  unknown_rank: true\n");
            }
            out.push_str("}\n");
        }
        if self.allocation.is_some() {
            let allocation = self.allocation();
            out.push_str("allocation_description {\n");
            push_number(&mut out, "requested_bytes", allocation.requested_bytes.unwrap_or(0));
            push_number(&mut out, "allocated_bytes", allocation.allocated_bytes.unwrap_or(0));
            push_string(&mut out, "  allocator_name", &String::from_utf8_lossy(allocation.allocator));
            push_number(&mut out, "allocation_id", allocation.id.unwrap_or(0));
            if allocation.single_reference == Some(true) {
                out.push_str("  has_single_reference: true\n");
            }
            if let Some(address) = allocation.address.filter(|address| *address != 0) {
                let _ = writeln!(out, "  ptr: {address}");
            }
            out.push_str("}\n");
        }
        out
    }
}

fn push_number(out: &mut String, name: &str, value: i64) {
    if value != 0 {
        let _ = writeln!(out, "  {name}: {value}");
    }
}

fn push_dim(out: &mut String, bytes: &[u8]) {
    let (mut size, mut name) = (0, String::new());
    for field in fields(bytes) {
        match (field.number, field.i64(), field.bytes()) {
            (1, Some(value), _) => size = value,
            (2, _, Some(text)) => name = String::from_utf8_lossy(text).into_owned(),
            _ => {}
        }
    }
    out.push_str("  dim {\n");
    if size != 0 {
        let _ = writeln!(out, "    size: {size}");
    }
    push_string(out, "    name", &name);
    out.push_str("  }\n");
}

fn push_string(out: &mut String, name: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let _ = write!(out, "{name}: \"");
    for letter in text.chars() {
        match letter {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\0'..='\u{1f}' | '\u{7f}' => {
                let _ = write!(out, "\\{:03o}", letter as u32);
            }
            _ => out.push(letter),
        }
    }
    out.push_str("\"\n");
}
