//! Memory of a compiled program: what is allocated, for what, and how much of the heap is needed at once.
//! A little over 400 lines with its tests.

use super::frames::{damaged, each, number, text};
use crate::error::Result;
use crate::proto::wire::Field;
use rustc_hash::FxHashMap;

/// `BufferAssignmentProto`.
#[derive(Debug, Default)]
pub struct Buffers {
    /// Values that live in memory.
    pub logical: Vec<Logical>,
    /// Memory that is taken.
    pub allocations: Vec<Allocation>,
    /// What the simulated heap did.
    pub traces: Vec<Trace>,
}

/// A value in memory.
#[derive(Debug, Default)]
pub struct Logical {
    /// Its number.
    pub id: i64,
    /// Bytes.
    pub size: i64,
    /// Name of the instruction that makes it; newer files say the number instead.
    pub instruction: String,
    /// Number of that instruction.
    pub instruction_id: i64,
    /// Which part of the instruction's tuple.
    pub shape_index: Vec<i64>,
}

/// What memory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Class {
    /// A parameter of the program: the caller's memory.
    Parameter,
    /// A constant.
    Constant,
    /// Of one thread, inside a called computation.
    ThreadLocal,
    /// What the program returns.
    Output,
    /// Everything else: the heap of one execution.
    #[default]
    Temporary,
}

impl Class {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Class::Parameter => "parameter",
            Class::Constant => "constant",
            Class::ThreadLocal => "thread_local",
            Class::Output => "output",
            Class::Temporary => "temp",
        }
    }
}

/// Memory that is taken.
#[derive(Debug, Default)]
pub struct Allocation {
    /// Its number.
    pub index: i64,
    /// Bytes.
    pub size: i64,
    /// What it is for.
    pub class: Class,
    /// A parameter whose memory the output takes over.
    pub aliased: bool,
    /// Memory space.
    pub color: i64,
    /// Number of the parameter.
    pub parameter: Option<i64>,
    /// Buffer, offset and size of what is put there.
    pub assigned: Vec<(i64, i64, i64)>,
}

/// What the simulated heap did: 0 takes, 1 gives back, 2 shares with another buffer.
#[derive(Debug, Default)]
pub struct Trace {
    /// Kind, buffer, the buffer it shares with, and the instruction's name.
    pub events: Vec<(u8, i64, i64, String)>,
    /// What the file says is the allocation. Wrong in dumps of the CPU: [`Buffers::replays`] finds the real one.
    pub said: i64,
}

/// Sums by class, in bytes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Parameters.
    pub parameter: i64,
    /// Constants.
    pub constant: i64,
    /// Memory of threads.
    pub thread_local: i64,
    /// Outputs that are not parameters.
    pub output: i64,
    /// Temporaries.
    pub temp: i64,
    /// Parameters whose memory the output takes over.
    pub alias: i64,
}

impl Totals {
    /// All that a run takes.
    pub fn all(&self) -> i64 {
        [self.constant, self.thread_local, self.output, self.temp]
            .iter()
            .fold(self.parameter, |sum, &one| sum.saturating_add(one))
    }
}

impl Buffers {
    /// Sums by class.
    pub fn totals(&self) -> Totals {
        let mut sums = Totals::default();
        for one in &self.allocations {
            let sum = match one.class {
                Class::Parameter => &mut sums.parameter,
                Class::Constant => &mut sums.constant,
                Class::ThreadLocal => &mut sums.thread_local,
                Class::Output => &mut sums.output,
                Class::Temporary => &mut sums.temp,
            };
            *sum = sum.saturating_add(one.size);
            if one.aliased && one.class == Class::Parameter {
                sums.alias = sums.alias.saturating_add(one.size);
            }
        }
        sums
    }

    /// Replays each trace that has events.
    pub fn replays(&self) -> Vec<Replay> {
        let sizes: FxHashMap<i64, i64> = self.logical.iter().map(|b| (b.id, b.size)).collect();
        let mut held: FxHashMap<i64, usize> = FxHashMap::default();
        for (at, one) in self.allocations.iter().enumerate() {
            held.extend(one.assigned.iter().map(|&(buffer, ..)| (buffer, at)));
        }
        let used = self.traces.iter().filter(|trace| !trace.events.is_empty());
        used.map(|trace| {
            // The allocation is the one that holds most of the buffers: the file's word is wrong on the CPU.
            let mut votes: FxHashMap<usize, usize> = FxHashMap::default();
            for at in trace.events.iter().filter_map(|event| held.get(&event.1)) {
                *votes.entry(*at).or_default() += 1;
            }
            let most = votes.into_iter().max_by_key(|&(at, votes)| (votes, usize::MAX - at));
            let (needed, event) = needed(trace, &sizes);
            let held = if needed > 0 { live_after(trace, event, &sizes) } else { Vec::new() };
            Replay {
                needed,
                at: trace.events[event].3.clone(),
                held,
                allocation: most.map(|(at, _)| self.allocations[at].index),
                said: trace.said,
            }
        })
        .collect()
    }
}

/// What a replay of the heap shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// Most bytes that live at once: the least that the heap could be.
    pub needed: i64,
    /// Name of the instruction at which they do.
    pub at: String,
    /// Buffers that live then, with their sizes, the largest first.
    pub held: Vec<(i64, i64)>,
    /// Number of the allocation that holds the buffers.
    pub allocation: Option<i64>,
    /// Number of the allocation that the file names.
    pub said: i64,
}

/// The buffers that live after an event, each under the first that took its memory; the largest first.
fn live_after(trace: &Trace, event: usize, sizes: &FxHashMap<i64, i64>) -> Vec<(i64, i64)> {
    let mut owner: FxHashMap<i64, i64> = FxHashMap::default();
    let mut holders: FxHashMap<i64, i64> = FxHashMap::default();
    for (kind, buffer, with, _) in &trace.events[..=event] {
        let held = match kind {
            2 => owner.get(with).copied().unwrap_or(*with),
            1 => owner.get(buffer).copied().unwrap_or(*buffer),
            _ => *buffer,
        };
        if *kind != 1 {
            owner.insert(*buffer, held);
        }
        let count = holders.entry(held).or_insert(i64::from(*kind == 1));
        match kind {
            0 => *count = 1,
            1 => *count -= 1,
            _ => *count += 1,
        }
    }
    let live = holders.into_iter().filter(|&(_, count)| count > 0);
    let size = |of: i64| sizes.get(&of).copied().unwrap_or_default();
    let mut found: Vec<(i64, i64)> = live.map(|(buffer, _)| (buffer, size(buffer))).collect();
    found.sort_unstable_by_key(|&(buffer, size)| (std::cmp::Reverse(size), buffer));
    found
}

/// Most bytes that live at once, and the event after which they do.
fn needed(trace: &Trace, sizes: &FxHashMap<i64, i64>) -> (i64, usize) {
    let (mut live, mut most) = (0_i64, (0, 0));
    let mut owner: FxHashMap<i64, i64> = FxHashMap::default();
    let mut holders: FxHashMap<i64, i64> = FxHashMap::default();
    let size = |of: i64| sizes.get(&of).copied().unwrap_or_default();
    for (at, (kind, buffer, with, _)) in trace.events.iter().enumerate() {
        match kind {
            0 => {
                owner.insert(*buffer, *buffer);
                holders.insert(*buffer, 1);
                live = live.saturating_add(size(*buffer));
            }
            1 => {
                let held = owner.get(buffer).copied().unwrap_or(*buffer);
                let left = holders.entry(held).or_insert(1);
                *left -= 1;
                if *left == 0 {
                    live = live.saturating_sub(size(held));
                }
            }
            2 => {
                let held = owner.get(with).copied().unwrap_or(*with);
                owner.insert(*buffer, held);
                let left = holders.entry(held).or_default();
                *left += 1;
                // Sharing with what was given back takes it again.
                if *left == 1 {
                    live = live.saturating_add(size(held));
                }
            }
            _ => {}
        }
        if live > most.0 {
            most = (live, at);
        }
    }
    most
}

fn signed(field: &Field<'_>) -> i64 {
    field.i64().unwrap_or_default()
}

pub(super) fn read(field: &Field<'_>) -> Result<Buffers> {
    let mut found = Buffers::default();
    each(field, |part| {
        match part.number {
            1 if part.bytes().is_some() => found.logical.push(logical(&part)?),
            3 if part.bytes().is_some() => found.allocations.push(allocation(&part)?),
            4 if part.bytes().is_some() => found.traces.push(trace(&part)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

fn logical(field: &Field<'_>) -> Result<Logical> {
    let mut one = Logical::default();
    each(field, |part| {
        match part.number {
            1 => one.id = signed(&part),
            2 => one.size = signed(&part),
            3 => each(&part, |inner| {
                match inner.number {
                    2 => one.instruction = text(&inner),
                    3 => {
                        for at in inner.varints() {
                            one.shape_index.push(at.map_err(damaged)? as i64);
                        }
                    }
                    4 => one.instruction_id = signed(&inner),
                    _ => {}
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(one)
}

fn allocation(field: &Field<'_>) -> Result<Allocation> {
    let mut one = Allocation::default();
    let (mut local, mut entry, mut out, mut constant) = (false, false, false, false);
    each(field, |part| {
        let yes = part.bool().unwrap_or_default();
        match part.number {
            1 => one.index = signed(&part),
            2 => one.size = signed(&part),
            3 => local = yes,
            5 => entry = yes,
            6 => one.parameter = part.i64(),
            7 => out = yes,
            8 => one.color = signed(&part),
            9 => {
                let mut place = [0_i64; 3];
                each(&part, |inner| {
                    if let 1..=3 = inner.number {
                        place[inner.number as usize - 1] = signed(&inner);
                    }
                    Ok(())
                })?;
                one.assigned.push((place[0], place[1], place[2]));
            }
            12 => constant = yes,
            13 => one.aliased = yes,
            _ => {}
        }
        Ok(())
    })?;
    one.class = match (entry, constant, local, out) {
        (true, ..) => Class::Parameter,
        (_, true, ..) => Class::Constant,
        (_, _, true, _) => Class::ThreadLocal,
        (.., true) => Class::Output,
        _ => Class::Temporary,
    };
    Ok(one)
}

fn trace(field: &Field<'_>) -> Result<Trace> {
    let mut found = Trace::default();
    each(field, |part| {
        match part.number {
            1 => {
                let mut event = (0, 0, 0, String::new());
                each(&part, |inner| {
                    match inner.number {
                        1 => event.0 = number(&inner).min(255) as u8,
                        2 => event.1 = signed(&inner),
                        4 => event.3 = text(&inner),
                        5 => event.2 = signed(&inner),
                        _ => {}
                    }
                    Ok(())
                })?;
                found.events.push(event);
            }
            3 => found.said = signed(&part),
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_buffers_count_once() {
        let logical = |id, size| Logical { id, size, ..Logical::default() };
        let found =
            Buffers { logical: vec![logical(1, 100), logical(2, 30), logical(3, 100)], ..Buffers::default() };
        let event =
            |kind, buffer, with| (kind, buffer, with, String::from(if buffer == 2 { "d" } else { "" }));
        let trace = Trace {
            events: vec![
                event(0, 1, 0),
                event(2, 3, 1),
                event(1, 1, 0),
                event(0, 2, 0),
                event(1, 3, 0),
                event(1, 2, 0),
            ],
            said: 0,
        };
        let found = Buffers {
            traces: vec![trace],
            allocations: vec![Allocation {
                index: 9,
                assigned: vec![(1, 0, 100), (2, 100, 30)],
                ..Allocation::default()
            }],
            ..found
        };
        let replay = Replay {
            needed: 130,
            at: "d".into(),
            held: vec![(1, 100), (2, 30)],
            allocation: Some(9),
            said: 0,
        };
        assert_eq!(found.replays(), [replay]);
    }
}
