//! The line of a node.

use super::metrics::{Metric, Metrics, clock, memory, number, shape};
use super::options::Options;

/// What a line tells.
pub struct Line<'a> {
    /// The options.
    pub options: &'a Options,
    /// Figures of the node.
    pub own: &'a Metrics,
    /// Figures with what is below it.
    pub total: &'a Metrics,
    /// Whether the node itself counts.
    pub account: bool,
}

impl Line<'_> {
    fn pair(&self, metric: Metric, write: impl Fn(i64) -> String) -> String {
        let total = write(self.total.get(metric));
        if self.account {
            format!("{}/{total}", write(self.own.get(metric)))
        } else {
            format!("--/{total}")
        }
    }

    /// Bytes: asked for, peak, residual, output.
    pub fn bytes(&self, out: &mut Vec<String>) {
        for (column, metric) in [
            ("bytes", Metric::Requested),
            ("peak_bytes", Metric::Peak),
            ("residual_bytes", Metric::Residual),
            ("output_bytes", Metric::Output),
        ] {
            if self.options.selects(column) {
                out.push(self.pair(metric, memory));
            }
        }
    }

    /// Times: all, on accelerators, on other devices.
    pub fn times(&self, out: &mut Vec<String>) {
        let all = self.options.selects("micros");
        for (asked, metric) in [
            (all, Metric::Micros),
            (
                all || self.options.selects("accelerator_micros"),
                Metric::AcceleratorMicros,
            ),
            (all || self.options.selects("cpu_micros"), Metric::CpuMicros),
        ] {
            if asked {
                out.push(self.pair(metric, |value| clock(value, self.options.ticks)));
            }
        }
    }

    /// Parameters, behind the node's shape where it has one, and operations.
    pub fn counts(&self, dims: &[i64], out: &mut Vec<String>) {
        if self.options.selects("params") {
            if !dims.is_empty() {
                out.push(shape(dims));
            }
            out.push(format!("{} params", self.pair(Metric::Params, number)));
        }
        if self.options.selects("float_ops") {
            out.push(format!("{} flops", self.pair(Metric::Flops, number)));
        }
    }

    /// Executions and nodes.
    pub fn occurrence(&self, out: &mut Vec<String>) {
        if self.options.selects("occurrence") {
            let runs = self.pair(Metric::Runs, number);
            let defined = number(self.total.get(Metric::Definitions));
            let own = if self.account { "1" } else { "--" };
            out.push(format!("{runs}|{own}/{defined}"));
        }
    }
}

/// Shapes of inputs by place: `0:16x32|1:unknown`.
pub fn input_shapes(shapes: &[(i32, &[i64])], between: &str) -> String {
    let parts: Vec<String> = shapes
        .iter()
        .map(|(place, dims)| match dims {
            [] => format!("{place}:unknown"),
            dims => format!("{place}:{}", shape(dims)),
        })
        .collect();
    parts.join(between)
}
