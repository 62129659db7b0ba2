//! `advise`: what TensorFlow's three checkers say, in their words.
//!
//! TensorFlow prints them in an order that changes from process to process; here it is always the same.

use super::code::{Code, CodeView};
use super::metrics::{Metric, Metrics, time};
use super::model::Model;
use super::nodes::Layout;
use super::ops::Ops;
use super::options::{Options, least};
use super::tree::Filters;
use super::{Answer, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use stepscope_core::error::Result;

/// The checkers in the order in which they answer.
pub const CHECKERS: [&str; 3] =
    ["AcceleratorUtilizationChecker", "OperationChecker", "ExpensiveOperationChecker"];
/// What each of them looks for.
const LOOK_FOR: [&str; 3] = [
    "kernels of accelerators in steps",
    "BatchNorm without FusedBatchNorm, and NHWC on a GPU",
    "types, scopes and calls that take time in steps",
];
/// Lines of a call that took less are left out.
const CALL_MICROS: i64 = 1000;

/// Asks all three.
pub fn advise(session: &mut Session) -> Result<Answer> {
    let mut answer = Answer::default();
    let (model, scopes, ops, code) = session.built()?;
    let reports =
        [utilization(model), operations(model), expensive(model, scopes, ops, code, &mut answer.warnings)];
    for ((checker, looks_for), reports) in CHECKERS.iter().zip(LOOK_FOR).zip(reports) {
        let _ = writeln!(answer.text, "\n{checker}:");
        if reports.is_empty() {
            answer
                .warnings
                .push(format!("{checker} lists nothing, as in TensorFlow: it looks only for {looks_for}"));
        }
        for report in reports {
            let _ = writeln!(answer.text, "{report}");
        }
    }
    Ok(answer)
}

/// How much of the time between first start and last end each accelerator's kernels took, in each node's
/// last step.
fn utilization(model: &Model) -> Vec<String> {
    let mut devices: BTreeMap<&str, (i64, i64, i64)> = BTreeMap::new();
    for node in &model.nodes {
        let Some(last) = node.executions.last() else {
            continue;
        };
        let Some(device) = node.device.map(|device| model.devices[device as usize].name.as_str()) else {
            continue;
        };
        if !device.contains("gpu") {
            continue;
        }
        let (start, end, busy) = devices.entry(device).or_default();
        *start = match (*start, last.start) {
            (0, first) => first,
            (earlier, 0) => earlier,
            (earlier, other) => earlier.min(other),
        };
        *end = last.end.max(*end);
        for (device, _, micros) in &last.times {
            if model.devices[*device as usize].is_stream {
                *busy = busy.wrapping_add(*micros);
            }
        }
    }
    let mut reports = Vec::new();
    for (device, (start, end, busy)) in devices {
        let all = end.wrapping_sub(start);
        if all > 0 {
            let share = busy as f64 / all as f64;
            let low = if share < 0.5 { "low " } else { "" };
            reports.push(format!("device: {device} {low}utilization: {share:.2}"));
        }
    }
    reports
}

/// Ops for which there are faster ones.
fn operations(model: &Model) -> Vec<String> {
    let (mut normalises, mut fused, mut channels_last) = (false, false, false);
    let fused_type = model.types.find("FusedBatchNorm");
    for node in &model.nodes {
        normalises |= model.names.get(node.name).contains("BatchNorm");
        fused |= fused_type.is_some_and(|id| node.types.contains(&id));
        let device = node.device.map(|device| model.devices[device as usize].name.as_str());
        channels_last |= device.is_some_and(|device| device.contains("gpu"))
            && node.attributes.text("data_format").as_deref() == Some("NHWC");
    }
    let mut reports = Vec::new();
    if normalises && !fused {
        reports.push("Maybe use faster FusedBatchNorm instead of BatchNorm".to_owned());
    }
    if channels_last {
        let text = "Found operation using NHWC data_format on GPU. Maybe NCHW is faster.";
        reports.push(text.to_owned());
    }
    reports
}

/// What the expensive parts of a view are looked for with.
fn question(max_depth: i32, min_micros: i64) -> Options {
    let mut options = Options {
        max_depth,
        order_by: "micros".into(),
        select: BTreeSet::from(["micros".to_owned(), "occurrence".to_owned()]),
        ..Options::default()
    };
    options.min[least::MICROS] = min_micros;
    options
}

fn expensive(
    model: &Model,
    scopes: &Layout,
    ops: &Ops,
    code: Option<&Code>,
    warnings: &mut Vec<String>,
) -> Vec<String> {
    let mut reports = Vec::new();
    let metrics = model.all_metrics(Options::default().step);
    if model.steps.is_empty() {
        warnings.push("without RunMetadata the checkers have no times to look at".into());
    } else {
        reports.extend(types(model, &metrics, ops, warnings));
    }
    reports.extend(top_scopes(model, &metrics, scopes, warnings));
    match code.filter(|_| model.has_code) {
        Some(code) => reports.extend(calls(model, &metrics, code)),
        None => warnings.push("without an op log with code, lines of Python cannot be looked at".into()),
    }
    reports
}

fn times(figures: &Metrics) -> String {
    let [cpu, accelerator, total] = [Metric::CpuMicros, Metric::AcceleratorMicros, Metric::Micros]
        .map(|metric| time(figures.get(metric)));
    format!("cpu: {cpu}, accelerator: {accelerator}, total: {total}")
}

/// The three most expensive types of ops.
fn types(model: &Model, metrics: &[Metrics], ops: &Ops, warnings: &mut Vec<String>) -> Option<String> {
    let options = question(3, 1);
    let view = ops.view(model, metrics, &options, &Filters::new(&options, &mut Vec::new()))?;
    if let Some(sentence) = view.hidden.sentence(&options) {
        let what = if view.rows.is_empty() { "is empty" } else { "is not complete" };
        warnings.push(format!("The list of types {what}, as in TensorFlow: {sentence} in the view op"));
    }
    let lines = view.rows.iter().take(3).enumerate().map(|(place, row)| {
        let micros = row.sum.own.get(Metric::Micros) as f64;
        let share = 100.0 * micros / (view.all.get(Metric::Micros) as f64 + 1e-10);
        let (number, name, times) = (place + 1, row.name, times(&row.sum.own));
        format!("top {number} operation type: {name}, {times} ({share:.2}%)")
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The three outermost scopes that take most; of each its own time, which for a scope is none.
fn top_scopes(
    model: &Model,
    metrics: &[Metrics],
    scopes: &Layout,
    warnings: &mut Vec<String>,
) -> Option<String> {
    let options = question(100, 100);
    let view = scopes.view(model, metrics, &options, &Filters::new(&options, &mut Vec::new()));
    let root = view.figures.total.len() as u32 - 1;
    let shown = view.shown.children.get(root);
    if shown.iter().take(3).any(|scope| scopes.node(*scope).is_none()) {
        let text = "The times of the top graph nodes are TensorFlow's: a scope's own, which is none. The view \
                    scope has what is below them";
        warnings.push(text.into());
    }
    let lines = shown.iter().take(3).enumerate().map(|(place, scope)| {
        let times = times(&view.figures.own[*scope as usize]);
        format!("top {} graph node: {}, {times}", place + 1, scopes.name(model, *scope))
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The calls that take most: where the stacks part, and four levels from there on.
fn calls(model: &Model, metrics: &[Metrics], code: &Code) -> Option<String> {
    let options = question(100, 1);
    let view = code.view(model, metrics, &options, &Filters::new(&options, &mut Vec::new()))?;
    let mut place = code.names.len() as u32;
    while let [only] = view.shown.children.get(place) {
        place = *only;
    }
    if view.shown.children.get(place).is_empty() {
        return None;
    }
    let mut lines = Vec::new();
    descend(code, &view, place, 0, &mut lines);
    Some(lines.join("\n"))
}

fn descend(code: &Code, view: &CodeView<'_>, place: u32, depth: usize, lines: &mut Vec<String>) {
    let children = view.shown.children.get(place);
    if children.len() <= 1 || depth > 3 {
        return;
    }
    for child in children.iter().take(3) {
        let total = &view.figures.total[*child as usize];
        if total.get(Metric::Micros) >= CALL_MICROS {
            let indent = "  ".repeat(depth);
            lines.push(format!("{indent}{}, {}", code.name(*child), times(total)));
            descend(code, view, *child, depth + 1, lines);
        }
    }
}
