//! The memory of accelerators in the timeline of a step.

use super::trace::{Trace, quoted};
use crate::model::{Memory, Model};
use std::collections::BTreeMap;

/// Allocations that are named in a counter.
const NAMED_ALLOCATIONS: usize = 10;
/// Microseconds between two points of the memory counter.
const COUNTER_GAP_MICROS: i64 = 100;

/// Memory of an accelerator.
#[derive(Default)]
pub struct DeviceMemory {
    /// When: bytes that its allocator had given out.
    in_use: BTreeMap<i64, i64>,
    /// Node: when: bytes that it holds from then on.
    held: BTreeMap<String, BTreeMap<i64, i64>>,
}

/// Keeps what a node did to its device's memory.
pub fn remember<'a>(model: &'a Model, node: u32, step: i64, memory: &mut BTreeMap<&'a str, DeviceMemory>) {
    let own = &model.nodes[node as usize];
    let Some(device) = own.device else { return };
    let execution = &own.executions[step];
    let device = memory.entry(&model.devices[device as usize].name).or_default();
    let mut changes: BTreeMap<i64, i64> = BTreeMap::new();
    for (micros, bytes) in &execution.allocations {
        let change = changes.entry(*micros).or_default();
        *change = change.wrapping_add(*bytes);
    }
    let persistent = own.executions.iter().map(|(_, execution)| {
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

/// Draws the memory of a device; returns the most bytes in use.
pub fn draw_memory(device: &DeviceMemory, pid: i64, trace: &mut Trace) -> i64 {
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
        trace.counter(&format!(r#""Allocator Bytes in Use":{bytes}"#), "Allocated Bytes", pid, *ts);
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
        named.insert("Not Displayed".into(), format!("{:.2} MB", rest as f64 / 1e6));
        let args: Vec<String> =
            named.iter().map(|(key, value)| format!("{}:{}", quoted(key), quoted(value))).collect();
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
}
