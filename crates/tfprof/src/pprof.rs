//! `-output pprof`: the code view as a profile of the pprof tool, gzipped.

use super::code::{Code, CodeView, GRADIENT};
use super::metrics::Metric;
use super::model::Model;
use super::options::Options;
use flate2::{Compression, write::GzEncoder};
use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;
use stepscope_core::proto::wire_writer::MessageWriter;

/// The figure, its unit and what is said of it, when a profile can have it.
fn sample(column: &str) -> Option<(Metric, &'static str, &'static str)> {
    Some(match column {
        "micros" => (
            Metric::Micros,
            "microseconds",
            "Sum of accelerator execution time and cpu execution time.",
        ),
        "accelerator_micros" => (
            Metric::AcceleratorMicros,
            "microseconds",
            "Accelerator execution time.",
        ),
        "cpu_micros" => (Metric::CpuMicros, "microseconds", "CPU execution time."),
        "bytes" => (
            Metric::Requested,
            "bytes",
            "Sum of operation total memory requests, excluding deallocations.",
        ),
        "peak_bytes" => (Metric::Peak, "bytes", "Sum of operation peak memory usage."),
        "residual_bytes" => (
            Metric::Residual,
            "bytes",
            "Sum of operation allocated memory after finish.",
        ),
        "output_bytes" => (Metric::Output, "bytes", "Sum of operation output size."),
        "params" => (Metric::Params, "count", "Model parameters."),
        "float_ops" => (
            Metric::Flops,
            "count",
            "Model float operations (Only available if defined).",
        ),
        _ => return None,
    })
}

/// Why a profile of these options cannot be had.
pub fn check(options: &Options) -> Result<(), String> {
    let mut columns = options.select.iter();
    match (columns.next(), columns.next()) {
        (Some(column), None) if sample(column).is_some() => Ok(()),
        (Some(column), None) => Err(format!("pprof doesn't support -select={column}")),
        _ => Err("Can only select 1 attribute for pprof output.".into()),
    }
}

#[derive(Default)]
struct Texts {
    ids: HashMap<String, u64>,
    all: Vec<String>,
}

impl Texts {
    fn id(&mut self, text: &str) -> u64 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = self.all.len() as u64;
        self.all.push(text.to_owned());
        self.ids.insert(text.to_owned(), id);
        id
    }
}

/// Functions by file, name and first line; locations by the caller's file, the function and the line.
#[derive(Default)]
struct Tables {
    texts: Texts,
    functions: BTreeMap<(String, String, i64), (u64, u64, u64)>,
    locations: BTreeMap<(String, String, i64), (u64, u64)>,
}

impl Tables {
    fn function(&mut self, file: &str, name: &str, first_line: i64) -> u64 {
        let key = (file.to_owned(), name.to_owned(), first_line);
        if let Some(known) = self.functions.get(&key) {
            return known.0;
        }
        let id = self.functions.len() as u64 + 1;
        let base = file.rsplit('/').next().unwrap_or_default();
        let base = base.rfind('.').map_or(base, |dot| &base[..dot]);
        let label = self.texts.id(&format!("{base}:{name}"));
        let file = self.texts.id(file);
        self.functions.insert(key, (id, label, file));
        id
    }

    fn location(&mut self, caller: (&str, i64), callee: (&str, &str, i64)) -> u64 {
        let key = (caller.0.to_owned(), callee.1.to_owned(), caller.1);
        if let Some(known) = self.locations.get(&key) {
            return known.0;
        }
        let id = self.locations.len() as u64 + 1;
        let function = self.function(callee.0, callee.1, callee.2);
        self.locations.insert(key, (id, function));
        id
    }
}

/// The profile of what is shown. The options passed [`check`].
pub fn write(model: &Model, code: &Code, view: &CodeView<'_>, options: &Options) -> Vec<u8> {
    let column = options.select.first().map_or("micros", String::as_str);
    let (metric, unit, comment) = sample(column).unwrap_or((Metric::Micros, "microseconds", ""));
    // pprof knows no picoseconds.
    let (unit, ticks) = match unit {
        "microseconds" if model.picoseconds => ("nanoseconds", 1000),
        unit => (unit, 1),
    };
    let mut tables = Tables::default();
    tables.texts.id("");
    let text = |id: &i64| model.texts.get(id).map_or("", String::as_str);
    let function = |place: u32| {
        let suffix = if code.gradient[place as usize] {
            GRADIENT
        } else {
            ""
        };
        format!("{}{suffix}", text(&code.frames[place as usize].function))
    };
    let mut samples: BTreeMap<String, (Vec<u64>, u64, i64)> = BTreeMap::new();
    let root = code.names.len() as u32;
    // Places on the way down, each with the next of its children.
    let mut open = vec![(root, 0usize)];
    let mut calls: Vec<u64> = Vec::new();
    while let Some((place, next)) = open.last_mut() {
        let (place, children) = (*place, view.shown.children.get(*place));
        if children.is_empty() && place != root {
            for leaf in leaves(code, place) {
                for node in &view.sums[leaf as usize].nodes {
                    let name = model.name(*node);
                    let mut key = name.to_owned();
                    while samples.contains_key(&key) {
                        key.push('@');
                    }
                    tables.texts.id("graph node:");
                    let label = tables.texts.id(name);
                    let stack = calls.iter().rev().copied().collect();
                    let value = view.metrics[*node as usize].get(metric) / ticks;
                    samples.insert(key, (stack, label, value));
                }
            }
        }
        let Some(&child) = children.get(*next) else {
            open.pop();
            // The outermost call has no location of its own.
            if open.len() > 1 {
                calls.pop();
            }
            continue;
        };
        *next += 1;
        if place != root {
            let (caller, callee) = (&code.frames[place as usize], &code.frames[child as usize]);
            let name = function(child);
            let called = (text(&callee.file), name.as_str(), callee.function_line);
            let id = tables.location((text(&caller.file), caller.line), called);
            calls.push(id);
        }
        open.push((child, 0));
    }
    let key = tables.texts.id("graph node:");
    encode(&mut tables, &samples, key, (column, unit, comment))
}

/// Places without children below a place, itself if it has none.
fn leaves(code: &Code, place: u32) -> Vec<u32> {
    let (mut found, mut stack) = (Vec::new(), vec![place]);
    while let Some(place) = stack.pop() {
        let children = code.children.get(place);
        if children.is_empty() {
            found.push(place);
        }
        stack.extend(children.iter().rev());
    }
    found
}

fn encode(
    tables: &mut Tables,
    samples: &BTreeMap<String, (Vec<u64>, u64, i64)>,
    label: u64,
    (column, unit, comment): (&str, &str, &str),
) -> Vec<u8> {
    let mut profile = MessageWriter::default();
    for (kind, unit) in [("count", "count"), (column, unit)] {
        let mut message = MessageWriter::default();
        message.number(1, tables.texts.id(kind));
        message.number(2, tables.texts.id(unit));
        profile.message(1, message);
    }
    let comment = tables.texts.id(comment);
    for (stack, name, value) in samples.values() {
        let mut named = MessageWriter::default();
        named.number(1, label);
        named.number(2, *name);
        let mut message = MessageWriter::default();
        message.packed(1, stack.iter().copied());
        message.packed(2, [1, *value as u64]);
        message.message(3, named);
        profile.message(2, message);
    }
    for ((_, _, line), (id, function)) in &tables.locations {
        let mut at = MessageWriter::default();
        at.number(1, *function);
        at.number(2, *line as u64);
        let mut message = MessageWriter::default();
        message.number(1, *id);
        message.message(4, at);
        profile.message(4, message);
    }
    for ((_, _, line), (id, name, file)) in &tables.functions {
        let mut message = MessageWriter::default();
        message.number(1, *id);
        message.number(2, *name);
        message.number(4, *file);
        message.number(5, *line as u64);
        profile.message(5, message);
    }
    for text in &tables.texts.all {
        profile.bytes(6, text.as_bytes());
    }
    profile.packed(13, [comment]);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    // Writing into memory cannot fail.
    gzip.write_all(&profile.into_bytes())
        .and_then(|()| gzip.finish())
        .unwrap_or_default()
}
