//! Tensors by name: who made them and when the last reader was done with them.

use super::Pids;
use super::read::{Device, Node};
use super::text::{Events, Tensor as Description};
use rustc_hash::FxHashMap;

/// Where an arrow begins.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Process.
    pub pid: i64,
    /// Lane.
    pub lane: u32,
    /// Time.
    pub ts: i128,
}

#[derive(Debug)]
struct Tensor {
    name: String,
    id: usize,
    pid: i64,
    created: i64,
    last_used: i128,
    allocator: String,
    bytes: i64,
    start: Place,
}

/// The tensors of a step. One that is made again takes the place of the one before.
#[derive(Debug, Default)]
pub struct Tensors {
    all: Vec<Tensor>,
    by_name: FxHashMap<String, usize>,
}

impl Tensors {
    /// Takes in what a device made.
    pub fn produced(&mut self, device: &Device, pids: Pids, show: bool, events: &mut Events) {
        for node in &device.nodes {
            for (index, output) in node.outputs.iter().enumerate() {
                let name = match index {
                    0 => node.name.clone(),
                    _ => format!("{}:{index}", node.name),
                };
                let description = Description::read(output);
                let tensor = Tensor {
                    id: self.all.len(),
                    pid: pids.tensors,
                    created: node.start,
                    last_used: node.end(),
                    allocator: description.allocator(),
                    bytes: description.requested_bytes(),
                    start: Place { pid: pids.compute, lane: node.lane, ts: node.end() },
                    name,
                };
                if show {
                    let (ts, id) = (i128::from(node.start), tensor.id);
                    events.object("N", &tensor.name, pids.tensors, node.lane, ts, id, None);
                    let (ts, text) = (node.end() - 1, description.text().replace('"', ""));
                    events.object("O", &tensor.name, pids.tensors, node.lane, ts, id, Some(&text));
                }
                match self.by_name.get(&tensor.name) {
                    Some(&place) => self.all[place] = tensor,
                    None => {
                        self.by_name.insert(tensor.name.clone(), self.all.len());
                        self.all.push(tensor);
                    }
                }
            }
        }
    }

    /// Notes that a node read an input. Its name as it is known, and where its arrow begins; None for one
    /// that nobody made.
    ///
    /// Partitioning puts `/_5` behind the name of what is sent.
    pub fn consumed(&mut self, input: &str, node: &Node) -> Option<(String, Place)> {
        let place = self.by_name.get(input).or_else(|| {
            let cut = input.rfind("/_").filter(|at| *at > 0)?;
            self.by_name.get(&input[..cut])
        })?;
        let tensor = &mut self.all[*place];
        tensor.last_used = tensor.last_used.max(node.end() - 1);
        Some((tensor.name.clone(), tensor.start))
    }

    /// The end of each tensor, and a counter for each allocator.
    pub fn counters(&self, events: &mut Events) {
        let mut order: Vec<&str> = Vec::new();
        let mut moves: FxHashMap<&str, Vec<(i128, i128, &str)>> = FxHashMap::default();
        for tensor in &self.all {
            events.object("D", &tensor.name, tensor.pid, 0, tensor.last_used, tensor.id, None);
            let list = moves.entry(&tensor.allocator).or_insert_with(|| {
                order.push(&tensor.allocator);
                Vec::new()
            });
            let bytes = i128::from(tensor.bytes);
            list.push((i128::from(tensor.created), bytes, &tensor.name));
            list.push((tensor.last_used, -bytes, &tensor.name));
        }
        for allocator in order {
            let mut list = moves.remove(allocator).unwrap_or_default();
            list.sort_unstable();
            let mut total = 0;
            for (ts, bytes, _) in list {
                total += bytes;
                events.counter(allocator, ts, total);
            }
        }
    }
}
