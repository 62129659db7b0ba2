//! Where executions lie: their times, and the lanes that they are packed in.

use super::OpTime;
use super::label;
use super::read::Device;
use rustc_hash::FxHashMap;

/// Gives ops the times of their kernels, as `op_time` asks.
///
/// Kernels are the rows of devices called `/stream:all`; those of an op carry its name.
pub fn shift(devices: &mut [Device], op_time: OpTime) {
    if op_time == OpTime::Schedule {
        return;
    }
    let is_all = |device: &Device| device.name.contains("/stream:all");
    let mut kernels: FxHashMap<String, (i64, i128)> = FxHashMap::default();
    for node in devices.iter().filter(|d| is_all(d)).flat_map(|d| d.nodes.iter()) {
        let name = label::kernel(&node.label, &node.name).name;
        let (start, end) = (node.start, node.end());
        match kernels.get_mut(name) {
            Some(span) => *span = (span.0.min(start), span.1.max(end)),
            None => {
                kernels.insert(name.to_owned(), (start, end));
            }
        }
    }
    for device in devices.iter_mut().filter(|d| !is_all(d) && d.name.contains("/job")) {
        for node in &mut device.nodes {
            if let Some(&(start, end)) = kernels.get(node.name.as_str()) {
                let end = end.max(node.end());
                if op_time == OpTime::Gpu {
                    node.start = start;
                }
                let dur = end - i128::from(node.start);
                node.dur = dur.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            }
        }
    }
}

/// Packs the executions of each device into lanes, first fit, in the order of the file: a lane is free for
/// one that starts later than the last one in it ends. Lane 0 is free from time 0 on.
pub fn pack(devices: &mut [Device]) {
    for device in devices {
        let mut ends: Vec<i128> = vec![0];
        for node in &mut device.nodes {
            let start = i128::from(node.start);
            let free = ends.iter().position(|end| start > *end);
            let lane = free.unwrap_or_else(|| {
                ends.push(0);
                ends.len() - 1
            });
            ends[lane] = node.end();
            node.lane = lane as u32;
        }
    }
}
