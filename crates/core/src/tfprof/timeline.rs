//! `-output timeline`: Chrome traces. The graph view shows a step as it ran; the scope and code views
//! have no time to show and draw their totals as a flame chart that begins at 0.

use super::Answer;
use super::code::{Code, CodeView};
use super::metrics::Metric;
use super::model::{Memory, Model};
use super::nodes::{Layout, View};
use super::options::Options;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Allocations that are named in a counter.
const NAMED_ALLOCATIONS: usize = 10;
/// Microseconds between two points of the memory counter.
const COUNTER_GAP_MICROS: i64 = 100;

/// A trace that is being written; flows and counters stand behind everything else.
#[derive(Default)]
pub struct Trace {
    slices: Vec<String>,
    rest: Vec<String>,
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(letter),
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    out
}

impl Trace {
    fn process(&mut self, name: &str, pid: i64) {
        let name = quoted(name);
        let event =
            format!(r#"{{"args":{{"name":{name}}},"name":"process_name","ph":"M","pid":{pid}}}"#);
        self.slices.push(event);
    }

    fn slice(&mut self, args: &str, name: &str, pid: i64, tid: i64, ts: i64, dur: i64) {
        self.slices.push(format!(
            r#"{{"args":{{{args}}},"cat":"Op","dur":{dur},"name":{name},"ph":"X","pid":{pid},"tid":{tid},"ts":{ts}}}"#
        ));
    }

    fn flow(&mut self, phase: &str, name: &str, id: i64, pid: i64, tid: i64, ts: i64) {
        self.rest.push(format!(
            r#"{{"cat":"DataFlow","id":{id},"name":{name},"ph":"{phase}","pid":{pid},"tid":{tid},"ts":{ts}}}"#
        ));
    }

    fn counter(&mut self, args: &str, name: &str, pid: i64, ts: i64) {
        self.rest.push(format!(
            r#"{{"args":{{{args}}},"cat":"Memory","name":"{name}","ph":"C","pid":{pid},"tid":0,"ts":{ts}}}"#
        ));
    }

    fn bytes(self) -> Vec<u8> {
        let events: Vec<String> = self.slices.into_iter().chain(self.rest).collect();
        format!("{{\"traceEvents\":[{}]}}\n", events.join(",")).into_bytes()
    }
}

/// Adds the trace to the files of an answer. The name gets the step behind it.
pub fn deliver(trace: Trace, options: &Options, answer: &mut Answer) {
    let outfile = options
        .output_options
        .get("outfile")
        .map_or("", String::as_str);
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
        |place| figures.total[place as usize].get(Metric::Micros),
        |place| view.shown.children.get(place),
    )
}

/// The code view.
pub fn code(code: &Code, view: &CodeView) -> Trace {
    let figures = &view.figures;
    flames(
        figures.total.len() as u32 - 1,
        |place| code.name(place),
        |place| figures.total[place as usize].get(Metric::Micros),
        |place| view.shown.children.get(place),
    )
}

/// One execution on one device.
struct Run {
    place: u32,
    micros: i64,
    pid: i64,
    lane: usize,
    /// Executions on other devices that need it: device, start.
    next: Vec<(u32, i64)>,
}

/// Memory of an accelerator.
#[derive(Default)]
struct DeviceMemory {
    /// When: bytes that its allocator had given out.
    in_use: BTreeMap<i64, i64>,
    /// Node: when: bytes that it holds from then on.
    held: BTreeMap<String, BTreeMap<i64, i64>>,
}

/// The graph view of a step.
pub fn graph(model: &Model, layout: &Layout, view: &View, step: i64, answer: &mut Answer) -> Trace {
    let mut trace = Trace::default();
    let root = view.figures.total.len() as u32 - 1;
    let mut pids: BTreeMap<u32, i64> = BTreeMap::new();
    let mut runs: BTreeMap<&str, (u32, BTreeMap<i64, Run>)> = BTreeMap::new();
    let mut memory: BTreeMap<&str, DeviceMemory> = BTreeMap::new();
    let mut stack: Vec<u32> = view
        .shown
        .children
        .get(root)
        .iter()
        .rev()
        .copied()
        .collect();
    while let Some(place) = stack.pop() {
        stack.extend(view.shown.children.get(place).iter().rev());
        let Some(node) = layout
            .node(place)
            .filter(|node| model.is_trackable(*node, step))
        else {
            continue;
        };
        remember(model, node, step, &mut memory);
        let mut times = model.nodes[node as usize].executions[&step].times.clone();
        times.sort_by(|a, b| {
            model.devices[a.0 as usize]
                .name
                .cmp(&model.devices[b.0 as usize].name)
        });
        for (device, start, micros) in times {
            let name = model.devices[device as usize].name.as_str();
            let fresh = pids.len() as i64;
            let pid = *pids.entry(device).or_insert_with(|| {
                let kind = if name.contains("stream") {
                    "execution"
                } else {
                    "scheduling"
                };
                trace.process(&format!("Op {kind} threads: {name}"), fresh);
                fresh
            });
            let device_runs = &mut runs
                .entry(name)
                .or_insert_with(|| (device, BTreeMap::new()))
                .1;
            device_runs.entry(start).or_insert_with(|| Run {
                place,
                micros,
                pid,
                lane: 0,
                next: Vec::new(),
            });
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
        let peak = count(&device, next_pid, &mut trace);
        if name.contains("gpu") {
            let _ = writeln!(
                answer.text,
                "{name} peak memory: {:.2} MB",
                peak as f64 / 1e6
            );
        }
        next_pid += 2;
    }
    trace
}

fn remember<'a>(
    model: &'a Model,
    node: u32,
    step: i64,
    memory: &mut BTreeMap<&'a str, DeviceMemory>,
) {
    let own = &model.nodes[node as usize];
    let Some(device) = own.device else { return };
    let execution = &own.executions[&step];
    let device = memory
        .entry(&model.devices[device as usize].name)
        .or_default();
    let mut changes: BTreeMap<i64, i64> = BTreeMap::new();
    for (micros, bytes) in &execution.allocations {
        let change = changes.entry(*micros).or_default();
        *change = change.wrapping_add(*bytes);
    }
    let persistent = own.executions.values().map(|execution| {
        let bytes = execution.memory.iter().map(Memory::accelerator_persistent);
        bytes.fold(0i64, i64::wrapping_add)
    });
    let first = changes.entry(0).or_default();
    *first = first.wrapping_add(persistent.fold(0, i64::max));
    let held = device.held.entry(model.name(node).to_owned()).or_default();
    let mut sum = 0i64;
    for (micros, change) in changes {
        sum = sum.wrapping_add(change);
        held.insert(micros, sum);
    }
    for memory in execution.memory.iter().filter(|memory| memory.micros > 0) {
        device.in_use.insert(memory.micros, memory.in_use);
    }
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
                let Some(node) = layout
                    .node(*input)
                    .filter(|node| model.is_trackable(*node, step))
                else {
                    continue;
                };
                if !view.figures.account[*input as usize] {
                    continue;
                }
                let times = &model.nodes[node as usize].executions[&step].times;
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
        if let Some(run) = runs
            .get_mut(name)
            .and_then(|(_, runs)| runs.get_mut(&began))
        {
            run.next.push((device, start));
        }
    }
}

/// Gives each execution the first lane in which it overlaps nothing that began before it.
fn pack(runs: &mut BTreeMap<i64, Run>) {
    let mut lanes: Vec<Vec<i64>> = Vec::new();
    for (start, run) in runs {
        let is_free = |lane: &&mut Vec<i64>| {
            let mut ends = lane.iter().rev().take_while(|end| **end >= *start);
            !ends.any(|end| end > start)
        };
        let end = start.wrapping_add(run.micros);
        let found = lanes.iter_mut().enumerate().find(|(_, lane)| is_free(lane));
        run.lane = match found {
            Some((number, lane)) => {
                lane.push(end);
                number
            }
            None => {
                lanes.push(vec![end]);
                lanes.len() - 1
            }
        };
    }
}

fn draw(model: &Model, layout: &Layout, runs: &Runs<'_>, trace: &mut Trace) {
    let mut order: Vec<(i64, usize, i64, &Run)> = Vec::new();
    let mut by_device: BTreeMap<u32, &BTreeMap<i64, Run>> = BTreeMap::new();
    for (device, device_runs) in runs.values() {
        by_device.insert(*device, device_runs);
        order.extend(
            device_runs
                .iter()
                .map(|(start, run)| (run.pid, run.lane, *start, run)),
        );
    }
    order.sort_by_key(|(pid, lane, start, _)| (*pid, *lane, *start));
    let mut id = 1;
    for (pid, lane, start, run) in order {
        let name = layout.name(model, run.place);
        let text = quoted(name);
        trace.slice(
            &format!(r#""name":{text}"#),
            &text,
            pid,
            lane as i64,
            start,
            run.micros,
        );
        for (device, began) in &run.next {
            let Some(next) = by_device.get(device).and_then(|runs| runs.get(began)) else {
                continue;
            };
            let flow = quoted(&format!("{name}_flow"));
            trace.flow(
                "s",
                &flow,
                id,
                pid,
                lane as i64,
                start.wrapping_add(run.micros),
            );
            trace.flow("t", &flow, id, next.pid, next.lane as i64, *began);
            id += 1;
        }
    }
}

/// Draws the memory of a device; returns the most bytes in use.
fn count(device: &DeviceMemory, pid: i64, trace: &mut Trace) -> i64 {
    let (mut peak, mut last) = (0, 0);
    for (ts, bytes) in &device.in_use {
        peak = peak.max(*bytes);
        if ts - last < COUNTER_GAP_MICROS {
            continue;
        }
        last = *ts;
        let mut holders: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
        for (name, held) in &device.held {
            let before = held.range(..ts).next_back().or_else(|| held.iter().next());
            if let Some((_, bytes)) = before
                && *bytes > 0
            {
                holders.entry(*bytes).or_default().push(name);
            }
        }
        trace.counter(
            &format!(r#""Allocator Bytes in Use":{bytes}"#),
            "Allocated Bytes",
            pid,
            *ts,
        );
        let mut named: BTreeMap<String, String> = (1..NAMED_ALLOCATIONS)
            .map(|number| (format!("Top Allocation {number:02}"), "N/A".to_owned()))
            .collect();
        let (mut rest, mut number) = (*bytes, 0);
        for (bytes, names) in holders.iter().rev() {
            for name in names {
                if rest < *bytes || number >= NAMED_ALLOCATIONS {
                    break;
                }
                let text = format!("{} MB from {name}", short(*bytes as f64 / 1e6));
                named.insert(format!("Top Allocation {number:02}"), text);
                number += 1;
                rest -= bytes;
            }
        }
        named.insert(
            "Not Displayed".into(),
            format!("{:.2} MB", rest as f64 / 1e6),
        );
        let args: Vec<String> = named
            .iter()
            .map(|(key, value)| format!("{}:{}", quoted(key), quoted(value)))
            .collect();
        trace.counter(&args.join(","), "Top Allocations", pid + 1, *ts);
    }
    peak
}

/// Six significant digits, as C writes `%g`.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let text = format!("{value:.5e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or_default();
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if !(-4..6).contains(&power) {
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(digits), power.abs());
    }
    trim(&format!("{value:.*}", (5 - power).max(0) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_c_does() {
        let cases = [
            (0.000256, "0.000256"),
            (1.0, "1"),
            (12.345678, "12.3457"),
            (1e-5, "1e-05"),
            (1234567.0, "1.23457e+06"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn lanes_may_touch() {
        let run = |micros| Run {
            place: 0,
            micros,
            pid: 0,
            lane: 9,
            next: Vec::new(),
        };
        let mut runs = BTreeMap::from([(0, run(10)), (5, run(5)), (10, run(1)), (20, run(1))]);
        pack(&mut runs);
        let lanes: Vec<usize> = runs.values().map(|run| run.lane).collect();
        assert_eq!(lanes, [0, 1, 0, 0]);
    }
}
