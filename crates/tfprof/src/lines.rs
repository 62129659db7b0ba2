//! The line of a node.

use super::metrics::{Metric, Metrics, put_clock, put_memory, put_number, put_shape};
use super::options::Options;
use std::fmt::Write as _;

/// The columns that are shown, looked up once for all lines.
#[derive(Debug, Clone, Copy)]
pub struct Columns {
    bytes: [Option<Metric>; 4],
    times: [Option<Metric>; 3],
    /// Parameters, and the shape before them.
    pub params: bool,
    flops: bool,
    occurrence: bool,
    /// Devices of nodes.
    pub device: bool,
    /// Types of nodes.
    pub op_types: bool,
    /// Shapes of inputs.
    pub input_shapes: bool,
    /// Values of variables.
    pub tensor_value: bool,
    ticks: i64,
}

impl Columns {
    /// What the options select.
    pub fn new(options: &Options) -> Self {
        let selects = |column| options.selects(column);
        let all = selects("micros");
        Columns {
            bytes: [
                selects("bytes").then_some(Metric::Requested),
                selects("peak_bytes").then_some(Metric::Peak),
                selects("residual_bytes").then_some(Metric::Residual),
                selects("output_bytes").then_some(Metric::Output),
            ],
            times: [
                all.then_some(Metric::Micros),
                (all || selects("accelerator_micros")).then_some(Metric::AcceleratorMicros),
                (all || selects("cpu_micros")).then_some(Metric::CpuMicros),
            ],
            params: selects("params"),
            flops: selects("float_ops"),
            occurrence: selects("occurrence"),
            device: selects("device"),
            op_types: selects("op_types"),
            input_shapes: selects("input_shapes"),
            tensor_value: selects("tensor_value"),
            ticks: options.ticks,
        }
    }
}

/// The figures between the brackets of a line, separated by commas.
pub struct Parts<'a> {
    out: &'a mut String,
    is_first: bool,
}

impl<'a> Parts<'a> {
    /// Nothing as yet, behind what is in `out`.
    pub fn new(out: &'a mut String) -> Self {
        Parts { out, is_first: true }
    }

    /// Where the next part is to be written.
    pub fn another(&mut self) -> &mut String {
        if !std::mem::take(&mut self.is_first) {
            self.out.push_str(", ");
        }
        self.out
    }
}

/// What a line shows.
pub struct Line<'a> {
    /// The columns.
    pub columns: &'a Columns,
    /// Figures of the node.
    pub own: &'a Metrics,
    /// Figures with what is below it.
    pub total: &'a Metrics,
    /// Whether the node itself counts.
    pub account: bool,
}

impl Line<'_> {
    fn pair(&self, out: &mut String, metric: Metric, put: impl Fn(&mut String, i64)) {
        if self.account {
            put(out, self.own.get(metric));
        } else {
            out.push_str("--");
        }
        out.push('/');
        put(out, self.total.get(metric));
    }

    /// Bytes: asked for, peak, residual, output.
    pub fn bytes(&self, parts: &mut Parts<'_>) {
        for metric in self.columns.bytes.into_iter().flatten() {
            self.pair(parts.another(), metric, put_memory);
        }
    }

    /// Times: all, on accelerators, on other devices.
    pub fn times(&self, parts: &mut Parts<'_>) {
        let ticks = self.columns.ticks;
        for metric in self.columns.times.into_iter().flatten() {
            self.pair(parts.another(), metric, |out, value| put_clock(out, value, ticks));
        }
    }

    /// Parameters, behind the node's shape where it has one, and operations.
    pub fn counts(&self, dims: &[i64], parts: &mut Parts<'_>) {
        if self.columns.params {
            if !dims.is_empty() {
                put_shape(parts.another(), dims);
            }
            let out = parts.another();
            self.pair(out, Metric::Params, put_number);
            out.push_str(" params");
        }
        if self.columns.flops {
            let out = parts.another();
            self.pair(out, Metric::Flops, put_number);
            out.push_str(" flops");
        }
    }

    /// Executions and nodes.
    pub fn occurrence(&self, parts: &mut Parts<'_>) {
        if self.columns.occurrence {
            let out = parts.another();
            self.pair(out, Metric::Runs, put_number);
            out.push_str(if self.account { "|1/" } else { "|--/" });
            put_number(out, self.total.get(Metric::Definitions));
        }
    }
}

/// Writes two spaces a level.
pub fn indent(out: &mut String, levels: usize) {
    const SPACES: &str = "                                                                ";
    let mut rest = levels * 2;
    while rest > 0 {
        let some = rest.min(SPACES.len());
        out.push_str(&SPACES[..some]);
        rest -= some;
    }
}

/// Writes shapes of inputs by place: `0:16x32|1:unknown`.
pub fn put_input_shapes(out: &mut String, shapes: &[(i32, &[i64])], between: &str) {
    for (at, (place, dims)) in shapes.iter().enumerate() {
        out.push_str(if at > 0 { between } else { "" });
        let _ = write!(out, "{place}:");
        match dims {
            [] => out.push_str("unknown"),
            dims => put_shape(out, dims),
        }
    }
}
