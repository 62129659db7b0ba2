//! The figures that every view counts, and how they are written.

use std::fmt::Write as _;

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
    #[inline]
    pub fn get(&self, metric: Metric) -> i64 {
        self.0[metric as usize]
    }

    /// All figures, in the order of [`Metric`].
    pub fn all(&self) -> [i64; 11] {
        self.0
    }

    /// Sets one figure.
    #[inline]
    pub fn set(&mut self, metric: Metric, value: i64) {
        self.0[metric as usize] = value;
    }

    /// Adds all figures of another.
    #[inline]
    pub fn add(&mut self, other: &Metrics) {
        for (sum, value) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_add(value);
        }
    }
}

/// Below this the double of a quotient is off by less than what lies between that and a tie: [`put_hundredths`].
const EXACT: i64 = 1 << 46;

/// Writes `value / by` with two digits, as C's `%.2f` does for the quotient of doubles; `by` is even. The double next
/// to a quotient is off by value / by / 2^53 at most, and a quotient that is no tie lies 1 / (100 × by) from one at
/// least: so whole numbers tell the same, but for ties, of which it depends on the double to which side they fall.
fn put_hundredths(out: &mut String, value: i64, by: i64) {
    if !(0..EXACT).contains(&value) || value * 100 % by * 2 == by {
        let _ = write!(out, "{:.2}", value as f64 / by as f64);
        return;
    }
    let rounded = (value * 100 + by / 2) / by;
    put_digits(out, rounded / 100);
    let rest = (rounded % 100) as usize;
    out.push('.');
    out.push_str(PAIRS[rest]);
}

/// Two digits of what is below a hundred.
static PAIRS: [&str; 100] = [
    "00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "15", "16",
    "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31", "32", "33",
    "34", "35", "36", "37", "38", "39", "40", "41", "42", "43", "44", "45", "46", "47", "48", "49", "50",
    "51", "52", "53", "54", "55", "56", "57", "58", "59", "60", "61", "62", "63", "64", "65", "66", "67",
    "68", "69", "70", "71", "72", "73", "74", "75", "76", "77", "78", "79", "80", "81", "82", "83", "84",
    "85", "86", "87", "88", "89", "90", "91", "92", "93", "94", "95", "96", "97", "98", "99",
];

/// Writes a whole number.
fn put_digits(out: &mut String, value: i64) {
    match value {
        0..10 => out.push(char::from(b'0' + value as u8)),
        10..100 => out.push_str(PAIRS[value as usize]),
        _ => {
            let _ = write!(out, "{value}");
        }
    }
}

/// Whole below 1000, then two digits in the largest unit that is reached, or in the last one.
fn put_scaled(out: &mut String, value: i64, units: &[&str]) {
    let (mut unit, mut by) = (0, 1i64);
    while unit + 1 < units.len() && value >= by * 1000 {
        (unit, by) = (unit + 1, by * 1000);
    }
    match unit {
        0 => put_digits(out, value),
        _ => put_hundredths(out, value, by),
    }
    out.push_str(units[unit]);
}

/// Writes a count: `930.58k`.
pub fn put_number(out: &mut String, value: i64) {
    put_scaled(out, value, &["", "k", "m", "b"]);
}

/// Writes bytes in steps of 1000, no further than megabytes: `68.48MB`.
pub fn put_memory(out: &mut String, bytes: i64) {
    put_scaled(out, bytes, &["B", "KB", "MB"]);
}

/// Writes microseconds: `39.31ms`, `3.61sec`.
fn put_time(out: &mut String, micros: i64) {
    put_scaled(out, micros, &["us", "ms", "sec"]);
}

/// Writes times of `ticks` a microsecond, as [`time`] does; what is below a millisecond and no whole number of
/// microseconds keeps two digits, and what is below a hundredth of one as many as it has.
pub fn put_clock(out: &mut String, value: i64, ticks: i64) {
    let micros = value / ticks.max(1);
    if ticks <= 1 || value % ticks == 0 {
        return put_time(out, micros);
    }
    let exact = value as f64 / ticks as f64;
    let _ = match micros {
        1_000_000.. => write!(out, "{:.2}sec", exact / 1e6),
        1_000.. => write!(out, "{:.2}ms", exact / 1e3),
        _ if exact.abs() < 0.01 => write!(out, "{exact:.6}us"),
        _ => write!(out, "{exact:.2}us"),
    };
}

/// Writes a shape: `3x3x3x16`; nothing for no shape.
pub fn put_shape(out: &mut String, dims: &[i64]) {
    for (at, dim) in dims.iter().enumerate() {
        if at > 0 {
            out.push('x');
        }
        put_digits(out, *dim);
    }
}

fn text(put: impl FnOnce(&mut String)) -> String {
    let mut out = String::new();
    put(&mut out);
    out
}

/// A count, as [`put_number`] writes it.
pub fn number(value: i64) -> String {
    text(|out| put_number(out, value))
}

/// Microseconds: `39.31ms`, `3.61sec`.
pub fn time(micros: i64) -> String {
    text(|out| put_time(out, micros))
}

/// A time, as [`put_clock`] writes it.
pub fn clock(value: i64, ticks: i64) -> String {
    text(|out| put_clock(out, value, ticks))
}

/// Bytes, as [`put_memory`] writes them.
pub fn memory(bytes: i64) -> String {
    text(|out| put_memory(out, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_of_a_thousand() {
        let numbers = [(-5, "-5"), (999, "999"), (1005, "1.00k"), (999_995, "1000.00k")];
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

    #[test]
    fn two_digits_are_those_of_the_double() {
        let mut value = 1i64;
        for turn in 0..200_000i64 {
            // Every size, and ties next to it.
            value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(turn);
            let value = (value & i64::MAX) >> (turn % 60);
            for value in [value, value / 1000 * 1000 + 5, value / 10_000 * 10_000 + 5_000] {
                for by in [1_000, 1_000_000, 1_000_000_000] {
                    let written = text(|out| put_hundredths(out, value, by));
                    assert_eq!(written, format!("{:.2}", value as f64 / by as f64), "{value} / {by}");
                }
            }
        }
    }
}
