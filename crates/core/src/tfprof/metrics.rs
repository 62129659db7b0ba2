//! The figures that every view counts, and how they are written.

/// One of the figures of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Executions on a device that schedules ops.
    Runs,
    /// Nodes.
    Definitions,
    /// Microseconds on accelerators and on devices that schedule ops, added up.
    Micros,
    /// Microseconds of kernels on an accelerator.
    AcceleratorMicros,
    /// Microseconds on a device that schedules ops.
    CpuMicros,
    /// Bytes asked for.
    Requested,
    /// Bytes held at most, added up over executions.
    Peak,
    /// Bytes still held at the end.
    Residual,
    /// Bytes of outputs.
    Output,
    /// Elements of the node's own shape.
    Params,
    /// Floating point operations.
    Flops,
}

/// All figures of a node, or their sum over nodes. Sums wrap, as they do in TensorFlow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Metrics([i64; 11]);

impl Metrics {
    /// One figure.
    pub fn get(&self, metric: Metric) -> i64 {
        self.0[metric as usize]
    }

    /// All figures, in the order of [`Metric`].
    pub fn all(&self) -> [i64; 11] {
        self.0
    }

    /// Sets one figure.
    pub fn set(&mut self, metric: Metric, value: i64) {
        self.0[metric as usize] = value;
    }

    /// Adds all figures of another.
    pub fn add(&mut self, other: &Metrics) {
        for (sum, value) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_add(value);
        }
    }
}

/// Whole below 1000, then two digits in the largest unit that is reached, or in the last one.
fn scaled(value: i64, units: &[&str]) -> String {
    let (mut unit, mut by) = (0, 1i64);
    while unit + 1 < units.len() && value >= by * 1000 {
        (unit, by) = (unit + 1, by * 1000);
    }
    match unit {
        0 => format!("{value}{}", units[0]),
        _ => format!("{:.2}{}", value as f64 / by as f64, units[unit]),
    }
}

/// A count: `930.58k`.
pub fn number(value: i64) -> String {
    scaled(value, &["", "k", "m", "b"])
}

/// Microseconds: `39.31ms`, `3.61sec`.
pub fn time(micros: i64) -> String {
    scaled(micros, &["us", "ms", "sec"])
}

/// Times of `ticks` a microsecond, as [`time`] writes them; what is below a millisecond and no whole number of
/// microseconds keeps two digits, and what is below a hundredth of one as many as it has.
pub fn clock(value: i64, ticks: i64) -> String {
    let micros = value / ticks.max(1);
    if ticks <= 1 || value % ticks == 0 {
        return time(micros);
    }
    let exact = value as f64 / ticks as f64;
    match micros {
        1_000_000.. => format!("{:.2}sec", exact / 1e6),
        1_000.. => format!("{:.2}ms", exact / 1e3),
        _ if exact.abs() < 0.01 => format!("{exact:.6}us"),
        _ => format!("{exact:.2}us"),
    }
}

/// Bytes in steps of 1000, no further than megabytes: `68.48MB`.
pub fn memory(bytes: i64) -> String {
    scaled(bytes, &["B", "KB", "MB"])
}

/// A shape: `3x3x3x16`; nothing for no shape.
pub fn shape(dims: &[i64]) -> String {
    let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
    dims.join("x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_of_a_thousand() {
        let numbers = [
            (-5, "-5"),
            (999, "999"),
            (1005, "1.00k"),
            (999_995, "1000.00k"),
        ];
        for (value, text) in numbers {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(53_670_000_000), "53.67b");
        assert_eq!(time(999), "999us");
        assert_eq!(time(3_610_000), "3.61sec");
        assert_eq!(time(39_309), "39.31ms");
        for (ps, text) in [
            (5_000_000, "5us"),
            (350_000, "0.35us"),
            (1_999, "0.001999us"),
            (999_004_000, "999.00us"),
            (1_005_999_999, "1.01ms"),
            (2_500_000_000_001, "2.50sec"),
            (0, "0us"),
        ] {
            assert_eq!(clock(ps, 1_000_000), text);
        }
        assert_eq!(clock(39_309, 1), "39.31ms");
        assert_eq!(memory(68_480_348), "68.48MB");
        assert_eq!(memory(5_000_000_000), "5000.00MB");
        assert_eq!(memory(1_500), "1.50KB");
    }
}
