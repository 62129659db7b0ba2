//! `-output pprof`: the code view as a profile of the pprof tool, gzipped.

use super::code::{Code, CodeView, GRADIENT};
use super::metrics::Metric;
use super::model::Model;
use super::options::Options;
use flate2::{Compression, write::GzEncoder};
use std::collections::BTreeMap;
use std::io::Write as _;
use stepscope_core::proto::pprof::{About, Function, Profile};

/// The figure, its unit and its description, if a profile can have it.
fn sample(column: &str) -> Option<(Metric, &'static str, &'static str)> {
    Some(match column {
        "micros" => {
            (Metric::Micros, "microseconds", "Sum of accelerator execution time and cpu execution time.")
        }
        "accelerator_micros" => (Metric::AcceleratorMicros, "microseconds", "Accelerator execution time."),
        "cpu_micros" => (Metric::CpuMicros, "microseconds", "CPU execution time."),
        "bytes" => {
            (Metric::Requested, "bytes", "Sum of operation total memory requests, excluding deallocations.")
        }
        "peak_bytes" => (Metric::Peak, "bytes", "Sum of operation peak memory usage."),
        "residual_bytes" => (Metric::Residual, "bytes", "Sum of operation allocated memory after finish."),
        "output_bytes" => (Metric::Output, "bytes", "Sum of operation output size."),
        "params" => (Metric::Params, "count", "Model parameters."),
        "float_ops" => (Metric::Flops, "count", "Model float operations (Only available if defined)."),
        _ => return None,
    })
}

/// Fails with the reason why these options cannot give a profile.
pub fn check(options: &Options) -> Result<(), String> {
    let mut columns = options.select.iter();
    match (columns.next(), columns.next()) {
        (Some(column), None) if sample(column).is_some() => Ok(()),
        (Some(column), None) => Err(format!("pprof doesn't support -select={column}")),
        _ => Err("Can only select 1 attribute for pprof output.".into()),
    }
}

/// Functions by file, name and first line; locations by the caller's file, the function and the line.
#[derive(Default)]
struct Tables {
    profile: Profile,
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
        let label = self.profile.text(&format!("{base}:{name}"));
        let file = self.profile.text(file);
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
    let text = |id: &i64| model.texts.get(id).map_or("", String::as_str);
    let function = |place: u32| {
        let suffix = if code.gradient[place as usize] { GRADIENT } else { "" };
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
                    tables.profile.text("graph node:");
                    let label = tables.profile.text(name);
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
    let key = tables.profile.text("graph node:");
    encode(tables, &samples, key, (column, unit, comment))
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
    tables: Tables,
    samples: &BTreeMap<String, (Vec<u64>, u64, i64)>,
    label: u64,
    (column, unit, comment): (&str, &str, &str),
) -> Vec<u8> {
    let mut profile = tables.profile;
    profile.kind("count", "count");
    profile.kind(column, unit);
    let comment = profile.text(comment);
    for (stack, name, value) in samples.values() {
        profile.sample(stack.iter().copied(), [1, *value], [(label, *name)]);
    }
    for ((_, _, line), (id, function)) in tables.locations {
        profile.location(id, function, line);
    }
    for ((_, _, first_line), (id, name, file)) in tables.functions {
        profile.function(Function { id, name, file, first_line, ..Function::default() });
    }
    let profile = profile.finish(About { comment, ..About::default() });
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    // Writing into memory cannot fail.
    gzip.write_all(&profile).and_then(|()| gzip.finish()).unwrap_or_default()
}
