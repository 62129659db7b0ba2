//! `-output timeline`: Chrome traces. The graph view shows a step as it ran; the scope and code views
//! have no time to show and draw their totals as a flame chart that begins at 0.

mod memory;
mod trace;

use super::Answer;
use super::code::{Code, CodeView};
use super::metrics::Metric;
use super::model::Model;
use super::nodes::{Layout, View};
use super::options::Options;
use memory::{DeviceMemory, draw_memory, remember};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use stepscope_core::spans;
pub use trace::Trace;
use trace::quoted;

/// Adds the trace to the files of an answer. The name gets the step behind it.
pub fn deliver(trace: Trace, options: &Options, answer: &mut Answer) {
    let outfile = options.output_options.get("outfile").map_or("", String::as_str);
    let name = format!("{outfile}_{}", options.step);
    let line = "******************************************************";
    let _ = write!(
        answer.text,
        "\n{line}\nTimeline file is written to {name}.\nOpen a Chrome browser, enter URL chrome://tracing and \
         load the timeline file.\n{line}\n"
    );
    answer.files.push((name, trace.bytes()));
}

/// A tree as a flame chart: as wide as its total time, one process for each depth.
fn flames<'a>(
    root: u32,
    name: impl Fn(u32) -> &'a str,
    micros: impl Fn(u32) -> i64,
    children: impl Fn(u32) -> &'a [u32],
) -> Trace {
    let mut trace = Trace::default();
    let mut depths = BTreeSet::new();
    let mut stack = vec![(root, 0i64, 0i64)];
    while let Some((place, start, depth)) = stack.pop() {
        if depths.insert(depth) {
            trace.process(&format!("Scope:{depth}"), depth);
        }
        let text = quoted(name(place));
        let args = format!(r#""name":{text},"op":{text}"#);
        trace.slice(&args, &text, depth, 0, start, micros(place));
        let mut next = start;
        let mut below = Vec::new();
        for child in children(place) {
            if micros(*child) > 0 {
                below.push((*child, next, depth + 1));
                next = next.wrapping_add(micros(*child));
            }
        }
        stack.extend(below.into_iter().rev());
    }
    trace
}

/// The scope view.
pub fn scopes(model: &Model, layout: &Layout, view: &View) -> Trace {
    let figures = &view.figures;
    flames(
        figures.total.len() as u32 - 1,
        |place| layout.name(model, place),
        |place| figures.total[place as usize].get(Metric::Micros) / model.ticks(),
        |place| view.shown.children.get(place),
    )
}

/// The code view.
pub fn code(model: &Model, code: &Code, view: &CodeView<'_>) -> Trace {
    let figures = &view.figures;
    flames(
        figures.total.len() as u32 - 1,
        |place| code.name(place),
        |place| figures.total[place as usize].get(Metric::Micros) / model.ticks(),
        |place| view.shown.children.get(place),
    )
}

/// One execution on one device.
struct Run {
    place: u32,
    micros: i64,
    pid: i64,
    lane: u32,
    /// Executions on other devices that need it: device, start.
    next: Vec<(u32, i64)>,
}

/// The graph view of a step.
pub fn graph(model: &Model, layout: &Layout, view: &View, step: i64, answer: &mut Answer) -> Trace {
    let mut trace = Trace::default();
    let root = view.figures.total.len() as u32 - 1;
    let mut pids: BTreeMap<u32, i64> = BTreeMap::new();
    let mut runs: BTreeMap<&str, (u32, BTreeMap<i64, Run>)> = BTreeMap::new();
    let mut memory: BTreeMap<&str, DeviceMemory> = BTreeMap::new();
    let mut stack: Vec<u32> = view.shown.children.get(root).iter().rev().copied().collect();
    while let Some(place) = stack.pop() {
        stack.extend(view.shown.children.get(place).iter().rev());
        let Some(node) = layout.node(place).filter(|node| model.is_trackable(*node, step)) else {
            continue;
        };
        remember(model, node, step, &mut memory);
        let mut times = model.nodes[node as usize].executions[step].times.clone();
        times.sort_by(|a, b| model.devices[a.0 as usize].name.cmp(&model.devices[b.0 as usize].name));
        for (device, start, ticks) in times {
            let micros = ticks / model.ticks();
            let name = model.devices[device as usize].name.as_str();
            let fresh = pids.len() as i64;
            let pid = *pids.entry(device).or_insert_with(|| {
                let kind = if name.contains("stream") { "execution" } else { "scheduling" };
                trace.process(&format!("Op {kind} threads: {name}"), fresh);
                fresh
            });
            let device_runs = &mut runs.entry(name).or_insert_with(|| (device, BTreeMap::new())).1;
            device_runs.entry(start).or_insert_with(|| Run { place, micros, pid, lane: 0, next: Vec::new() });
        }
    }
    connect(model, layout, view, step, &mut runs);
    for (_, device_runs) in runs.values_mut() {
        pack(device_runs);
    }
    answer.text.push_str("generating trace file.\n");
    draw(model, layout, &runs, &mut trace);
    let mut next_pid = pids.len() as i64;
    for (name, device) in memory {
        if name.contains("cpu") {
            continue;
        }
        trace.process(&format!("mem usage on:{name}"), next_pid);
        trace.process(&format!("mem usage on:{name} allocations"), next_pid + 1);
        let peak = draw_memory(&device, next_pid, &mut trace);
        if name.contains("gpu") {
            let _ = writeln!(answer.text, "{name} peak memory: {:.2} MB", peak as f64 / 1e6);
        }
        next_pid += 2;
    }
    trace
}

type Runs<'a> = BTreeMap<&'a str, (u32, BTreeMap<i64, Run>)>;

/// Finds inputs that came from another device.
fn connect(model: &Model, layout: &Layout, view: &View, step: i64, runs: &mut Runs<'_>) {
    let mut found = Vec::new();
    for (device, device_runs) in runs.values() {
        if !model.devices[*device as usize].is_canonical {
            continue;
        }
        for (start, run) in device_runs {
            for input in layout.inputs(run.place) {
                let Some(node) = layout.node(*input).filter(|node| model.is_trackable(*node, step)) else {
                    continue;
                };
                if !view.figures.account[*input as usize] {
                    continue;
                }
                let times = &model.nodes[node as usize].executions[step].times;
                for (other, began, _) in times {
                    let known = &model.devices[*other as usize];
                    if other != device && known.is_canonical && !known.is_stream {
                        found.push((known.name.as_str(), *began, *device, *start));
                    }
                }
            }
        }
    }
    for (name, began, device, start) in found {
        if let Some(run) = runs.get_mut(name).and_then(|(_, runs)| runs.get_mut(&began)) {
            run.next.push((device, start));
        }
    }
}

/// Gives each execution its lane.
fn pack(runs: &mut BTreeMap<i64, Run>) {
    let packed = spans::lanes(runs.iter().map(|(start, run)| (*start, start.wrapping_add(run.micros))));
    for (run, lane) in runs.values_mut().zip(packed) {
        run.lane = lane;
    }
}

fn draw(model: &Model, layout: &Layout, runs: &Runs<'_>, trace: &mut Trace) {
    let mut order: Vec<(i64, u32, i64, &Run)> = Vec::new();
    let mut by_device: BTreeMap<u32, &BTreeMap<i64, Run>> = BTreeMap::new();
    for (device, device_runs) in runs.values() {
        by_device.insert(*device, device_runs);
        order.extend(device_runs.iter().map(|(start, run)| (run.pid, run.lane, *start, run)));
    }
    order.sort_by_key(|(pid, lane, start, _)| (*pid, *lane, *start));
    let mut id = 1;
    for (pid, lane, start, run) in order {
        let name = layout.name(model, run.place);
        let text = quoted(name);
        trace.slice(&format!(r#""name":{text}"#), &text, pid, i64::from(lane), start, run.micros);
        for (device, began) in &run.next {
            let Some(next) = by_device.get(device).and_then(|runs| runs.get(began)) else {
                continue;
            };
            let flow = quoted(&format!("{name}_flow"));
            trace.flow("s", &flow, id, pid, i64::from(lane), start.wrapping_add(run.micros));
            trace.flow("t", &flow, id, next.pid, i64::from(next.lane), *began);
            id += 1;
        }
    }
}
