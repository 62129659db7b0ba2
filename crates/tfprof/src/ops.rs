//! The op view: a list of types, each with its share and with the share of everything from it on.

use super::groups::{Selection, Sum, devices, shapes, types};
use super::hidden::{Compared, Hidden, METRICS};
use super::metrics::{Metric, Metrics, clock, memory, number};
use super::model::Model;
use super::options::{Options, least};
use super::tree::{Filters, ROOT, ordering};
use super::words::heading;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Nodes by their op, both in the order of their names.
pub struct Ops {
    groups: Vec<(String, Vec<u32>)>,
}

/// A type of op, with what its counted nodes add up to.
pub struct Row<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its counted nodes.
    pub sum: Sum,
    /// Its figures with those of all types behind it.
    pub total: Metrics,
}

/// The types that are shown, in their order.
pub struct OpView<'a> {
    /// What is shown.
    pub rows: Vec<Row<'a>>,
    /// What everything adds up to.
    pub all: Metrics,
    /// What defaults hide.
    pub hidden: Hidden,
    figures: &'a [Metrics],
}

impl Ops {
    /// Groups the nodes of a model.
    pub fn new(model: &Model) -> Ops {
        let mut groups: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for node in model.ordered() {
            groups.entry(&model.nodes[node as usize].op).or_default().push(node);
        }
        let groups = groups.into_iter().map(|(op, nodes)| (op.to_owned(), nodes));
        Ops { groups: groups.collect() }
    }

    /// Counts, orders and chooses. None when the model has no nodes. `figures` holds those of each node in the
    /// step of the options.
    pub fn view<'a>(
        &'a self,
        model: &Model,
        figures: &'a [Metrics],
        options: &Options,
        filters: &Filters,
    ) -> Option<OpView<'a>> {
        let selection = Selection::new(model, &filters.account);
        let mut rows: Vec<Row<'_>> = self
            .groups
            .iter()
            .map(|(name, nodes)| {
                let sum = selection.sum(model, figures, nodes);
                let total = sum.own;
                Row { name, sum, total }
            })
            .collect();
        if rows.is_empty() {
            return None;
        }
        sort(&mut rows, &options.order_by);
        rows.retain(|row| row.sum.account);
        let mut all = accumulate(&mut rows);

        let starts = |row: &Row<'_>| filters.start.matches(row.name);
        let first = match options.regexes[super::options::which::START].is_empty() || filters.start.is_all() {
            true => 0,
            false => rows.iter().position(starts).unwrap_or(rows.len()),
        };
        let mut shown: Vec<Row<'_>> = Vec::new();
        let mut hidden = Hidden::default();
        for (depth, row) in (0i64..).zip(rows.into_iter().skip(first)) {
            if filters.trim.matches(row.name) || depth > i64::from(options.max_depth) {
                break;
            }
            let may_show = filters.shows(row.name) && filters.looks_at(model, &row.sum.nodes);
            let mut is_enough = || hidden.judge(row.name, &compared(&row), &row.sum.own, &options.min);
            if row.name == ROOT || (may_show && is_enough()) {
                shown.push(row);
            }
        }
        if options.account_displayed_op_only {
            all = accumulate(&mut shown);
        }
        Some(OpView { rows: shown, all, hidden, figures })
    }
}

impl OpView<'_> {
    /// The text of the view.
    pub fn write(&self, model: &Model, options: &Options) -> String {
        let mut out = heading(options, false);
        for row in &self.rows {
            out.push_str(&line(model, self.figures, row, &self.all, options));
        }
        out
    }
}

/// The text of the view of a model without nodes: the root, without a heading.
pub fn write_nothing(model: &Model, options: &Options) -> String {
    let root = Row { name: ROOT, sum: Sum::default(), total: Metrics::default() };
    line(model, &[], &root, &root.total, options)
}

/// What is equal stays in the order of names; the root's name comes first, whatever the order.
fn sort(rows: &mut [Row<'_>], order_by: &str) {
    if order_by.is_empty() {
        return;
    }
    let is_node = |row: &Row<'_>| row.name != ROOT;
    match ordering(order_by) {
        Some(metric) => rows.sort_by_key(|row| (is_node(row), Reverse(row.total.get(metric)))),
        None if order_by == "occurrence" => {
            rows.sort_by_key(|row| (is_node(row), Reverse(row.sum.nodes.len())))
        }
        None => rows.sort_by_key(|row| (is_node(row), row.name)),
    }
}

/// Makes each total that of the row and all below it; returns the first one.
fn accumulate(rows: &mut [Row<'_>]) -> Metrics {
    let mut sum = Metrics::default();
    for row in rows.iter_mut().rev() {
        sum.add(&row.sum.own);
        row.total = sum;
    }
    sum
}

/// What is compared with the least figures.
fn compared(row: &Row<'_>) -> Compared {
    let mut figures = [0; 10];
    for (figure, metric) in figures.iter_mut().zip(METRICS) {
        *figure = row.total.get(metric);
    }
    figures[least::OCCURRENCE] = row.sum.nodes.len() as i64;
    figures
}

fn percent(part: i64, whole: i64) -> String {
    let share = 100.0 * part as f64 / whole as f64;
    if share.is_nan() {
        // As C writes what comes of dividing zero by zero.
        return "-nan%".into();
    }
    format!("{share:.2}%")
}

/// A figure with two shares: of everything from this row on, and of this row.
fn share(text: &str, shares: bool, own: i64, total: i64, all: i64) -> String {
    let (from_here, here) = match shares {
        true => (percent(total, all), percent(own, all)),
        false => ("0.00%".to_owned(), "0.00%".to_owned()),
    };
    format!("{:>30}", format!("{text} ({from_here}, {here})"))
}

fn line(model: &Model, figures: &[Metrics], row: &Row<'_>, all: &Metrics, options: &Options) -> String {
    let mut parts = Vec::new();
    let own = &row.sum.own;
    for (column, metric) in [
        ("bytes", Metric::Requested),
        ("peak_bytes", Metric::Peak),
        ("residual_bytes", Metric::Residual),
        ("output_bytes", Metric::Output),
    ] {
        if options.selects(column) {
            let bytes = own.get(metric);
            parts.push(share(&memory(bytes), bytes > 0, bytes, row.total.get(metric), all.get(metric)));
        }
    }
    let times = options.selects("micros");
    let write_time: &dyn Fn(i64) -> String = &|value| clock(value, options.ticks);
    for (asked, metric, write) in [
        (times, Metric::Micros, write_time),
        (times || options.selects("accelerator_micros"), Metric::AcceleratorMicros, write_time),
        (times || options.selects("cpu_micros"), Metric::CpuMicros, write_time),
        (options.selects("params"), Metric::Params, &|n| format!("{} params", number(n))),
        (options.selects("float_ops"), Metric::Flops, &|n| format!("{} float_ops", number(n))),
    ] {
        if asked {
            let total = row.total.get(metric);
            let text = write(own.get(metric));
            parts.push(share(&text, total > 0, own.get(metric), total, all.get(metric)));
        }
    }
    if options.selects("device") {
        parts.push(devices(model, &row.sum.nodes).unwrap_or_default());
    }
    if options.selects("op_types") {
        parts.push(types(model, &row.sum.nodes));
    }
    if options.selects("occurrence") {
        let runs = row.sum.nodes.iter().map(|node| figures[*node as usize].get(Metric::Runs));
        let runs = runs.fold(0i64, i64::wrapping_add);
        parts.push(format!("{:>10}", format!("{runs}|{}", row.sum.nodes.len())));
    }
    let padding = 25usize.saturating_sub(row.name.len());
    let mut out = format!("{}{}{}\n", row.name, " ".repeat(padding), parts.join(", "));
    if options.selects("input_shapes") && !row.sum.nodes.is_empty() {
        out = format!("{out}\n{}\n\n", shapes(model, figures, &row.sum.nodes));
    }
    out
}
