//! Arrows from the execution that made a tensor to the execution that took it.
//!
//! Labels name inputs by node. Of a node that ran several times (a loop) the last run that ended before
//! the consumer began is taken; a `Merge` of a loop takes one input, the latest. A tensor that came from
//! another device is named after the `_Recv` node (`name_S9`, `name/_9`), which the recorder leaves out:
//! the arrow then comes from the node itself and passes the received tensor's row, when there is one. Which
//! row that is, partition graphs tell to the edge; without them it is known by the name of the tensor, which
//! several outputs of a node share. Between a processor and its accelerator the copy on a stream takes the
//! place of that row (`edge_7_name:MEMCPYHtoD`).

use super::collect::Collected;
use super::label::{copied, op_label, received, tensor_of, transfer};
use super::layout::{Class, Placed, Plan, is_numbered};
use crate::columns::{Cell, Table};
use crate::error::Result;
use crate::formats::graph::graph_producer;
use crate::store::Writer;
use std::collections::{HashMap, HashSet};

/// Executions of one node that are looked at, backwards in time, for one that suits.
const LOOK_BACK: usize = 64;

/// Finds producers and writes arrows.
pub struct Arrows<'a> {
    found: &'a Collected,
    plan: &'a Plan,
    /// Slices by node name, then in time order; where each name begins.
    by_name: Vec<u32>,
    begins: Vec<usize>,
    /// Slices of received tensors by run and tensor, and by run and edge.
    transfers: HashMap<(u32, String), Vec<u32>>,
    edges: HashMap<(u32, String), Vec<u32>>,
    /// Copies of tensors between a processor and an accelerator, alike.
    copies: HashMap<(u32, String), Vec<u32>>,
    /// Device that sends, by slice of a received tensor.
    senders: HashMap<u32, Option<u32>>,
    passed: HashMap<u32, bool>,
    arrows: i64,
}

/// An arrow that was found.
#[derive(Clone, Copy)]
struct Arrow {
    producer: Option<u32>,
    transfer: Option<u32>,
}

impl<'a> Arrows<'a> {
    /// Indexes the executions.
    pub fn new(found: &'a Collected, plan: &'a Plan) -> Result<Self> {
        let mut begins = vec![0_usize; found.nodes.len() + 1];
        let (mut transfers, mut edges): (HashMap<_, Vec<u32>>, HashMap<_, Vec<u32>>) = Default::default();
        let mut senders = HashMap::new();
        let name = |one: &Placed| found.execs[one.exec as usize].name as usize;
        let executed = |one: &&Placed| matches!(one.class, Class::Op | Class::Thread);
        for one in plan.placed.iter().filter(executed) {
            begins[name(one) + 1] += 1;
        }
        for code in 1..begins.len() {
            begins[code] += begins[code - 1];
        }
        let mut by_name: Vec<u32> =
            (0..plan.placed.len() as u32).filter(|id| executed(&&plan.placed[*id as usize])).collect();
        by_name.sort_by_key(|id| {
            let one = &plan.placed[*id as usize];
            (name(one), one.run, one.ts_ps, one.dur_ps, one.exec)
        });
        for (id, one) in plan.placed.iter().enumerate().filter(|(_, one)| one.class == Class::Transfer) {
            let exec = &found.execs[one.exec as usize];
            let bytes = found.spool.get(exec.place, exec.length as usize)?;
            let text = String::from_utf8_lossy(super::node::read(&bytes).label).into_owned();
            if let Some(label) = transfer(&text) {
                transfers.entry((one.run, label.tensor().to_owned())).or_default().push(id as u32);
                edges.entry((one.run, label.edge.to_owned())).or_default().push(id as u32);
                senders.insert(id as u32, plan.devices.get(label.from).copied());
            }
        }
        let copies = copies(found, plan)?;
        Ok(Arrows {
            found,
            plan,
            by_name,
            begins,
            transfers,
            edges,
            copies,
            senders,
            passed: HashMap::new(),
            arrows: 0,
        })
    }

    /// The execution of `node` that fed something on `device` at `at_ps`.
    fn producer(&self, node: &str, run: u32, device: Option<u32>, at_ps: i64) -> Option<u32> {
        let code = self.found.nodes.find(node)? as usize;
        let range = self.begins[code]..self.begins[code + 1];
        let runs = &self.by_name[range];
        let placed = |id: &u32| &self.plan.placed[*id as usize];
        let until = runs.partition_point(|id| (placed(id).run, placed(id).ts_ps) <= (run, at_ps));
        let before = || runs[..until].iter().rev().take_while(|id| placed(id).run == run).take(LOOK_BACK);
        let ended = |id: &&u32| placed(id).ts_ps + placed(id).dur_ps <= at_ps;
        let here = |id: &&u32| device.is_none_or(|device| placed(id).device == device);
        before()
            .find(|id| ended(id) && here(id))
            .or_else(|| before().find(here))
            .or_else(|| before().find(ended))
            .or_else(|| before().next())
            .copied()
    }

    fn ran(&self, node: &str) -> bool {
        let code = self.found.nodes.find(node);
        code.is_some_and(|code| self.begins[code as usize] < self.begins[code as usize + 1])
    }

    fn arrow(&self, node: &str, consumer: &Placed) -> Option<Arrow> {
        if self.ran(node) {
            let producer = self.producer(node, consumer.run, Some(consumer.device), consumer.ts_ps)?;
            return Some(Arrow { producer: Some(producer), transfer: self.copied(node, producer, consumer) });
        }
        let (plan, found) = (self.plan, self.found);
        let edge = found.received.get(&(consumer.run, node.to_owned()));
        let bare = match edge {
            Some(edge) => tensor_of(edge),
            None => received(node)?,
        };
        let tensor = (consumer.run, bare.to_owned());
        let rows = match edge {
            Some(edge) => self.edges.get(&(consumer.run, edge.clone())),
            None => self.transfers.get(&tensor),
        };
        let passed = rows
            .and_then(|ids| latest(plan, ids, consumer, |one| one.device == consumer.device))
            .or_else(|| {
                let rows = match edge {
                    Some(edge) => self.copies.get(&(consumer.run, edge.clone())),
                    None => self.copies.get(&tensor),
                };
                latest(plan, rows?, consumer, |_| true)
            });
        let end_ps = |id: &u32| plan.placed[*id as usize].end_ps();
        let sender = passed.and_then(|id| self.senders.get(&id).copied().flatten());
        // What was sent was made before it arrived: in a loop the node may have run again since.
        let producer = passed
            .and_then(|id| self.producer(bare, consumer.run, sender, end_ps(&id)))
            .or_else(|| self.producer(bare, consumer.run, sender, consumer.ts_ps));
        (producer.is_some() || passed.is_some()).then_some(Arrow { producer, transfer: passed })
    }

    /// The copy that brought a tensor from its producer on another device, where labels name the producer itself
    /// and not what was received.
    fn copied(&self, node: &str, producer: u32, consumer: &Placed) -> Option<u32> {
        let from = self.plan.placed[producer as usize];
        if from.device == consumer.device {
            return None;
        }
        let rows = self.copies.get(&(consumer.run, node.to_owned()))?;
        latest(self.plan, rows, consumer, |one| one.ts_ps >= from.ts_ps)
    }

    /// Writes the arrows that end in slice `id`, whose label is `text`.
    pub fn into(&mut self, writer: &mut Writer, id: u32, text: &str) -> Result<()> {
        let consumer = self.plan.placed[id as usize];
        let Some(label) = op_label(text) else {
            return Ok(());
        };
        let merges = matches!(label.op_type, "Merge" | "RefMerge" | "_XlaMerge");
        let mut found = Vec::new();
        for input in label.inputs() {
            let (node, slot) = graph_producer(input);
            if let Some(arrow) = self.arrow(node, &consumer).filter(|arrow| arrow.producer != Some(id)) {
                found.push((input, slot, arrow));
            }
        }
        if merges {
            let end = |arrow: &Arrow| {
                arrow.producer.or(arrow.transfer).map(|id| {
                    let one = &self.plan.placed[id as usize];
                    one.ts_ps + one.dur_ps
                })
            };
            found = found.into_iter().max_by_key(|(_, _, arrow)| end(arrow)).into_iter().collect();
        }
        for (input, slot, arrow) in found {
            let name = input.strip_prefix('^').unwrap_or(input);
            let category = if slot < 0 { "Control" } else { "DataFlow" };
            self.write(writer, name, category, arrow, Some(id))?;
        }
        Ok(())
    }

    /// Writes an arrow: from its producer over a transfer to its consumer, as far as they are known.
    fn write(
        &mut self,
        writer: &mut Writer,
        name: &str,
        category: &str,
        arrow: Arrow,
        consumer: Option<u32>,
    ) -> Result<()> {
        let flow_id = self.arrows;
        let until = consumer.map_or(i64::MAX, |id| self.plan.placed[id as usize].ts_ps);
        let stations: Vec<u32> = [arrow.producer, arrow.transfer, consumer].into_iter().flatten().collect();
        if stations.len() < 2 {
            return Ok(());
        }
        let mut after = i64::MIN;
        for (index, id) in stations.iter().enumerate() {
            let one = &self.plan.placed[*id as usize];
            let (end_ps, last) = (one.ts_ps + one.dur_ps, index + 1 == stations.len());
            let (phase, ts_ps) = match index {
                0 => ("start", end_ps.min(until).max(one.ts_ps)),
                _ if last => {
                    ("end", if consumer.is_some() { one.ts_ps } else { after.clamp(one.ts_ps, end_ps) })
                }
                // Within the slice, so that viewers bind it there.
                _ => ("step", after.clamp(one.ts_ps, (end_ps - 1).max(one.ts_ps))),
            };
            after = ts_ps;
            let cells = [
                Cell::I64(flow_id),
                Cell::Text(phase),
                Cell::I64(i64::from(one.track)),
                Cell::I64(i64::from(*id)),
                Cell::Text(name),
                Cell::Text(category),
                Cell::I64(ts_ps),
                Cell::Null,
            ];
            writer.row(Table::Flow, &cells)?;
        }
        if let Some(transfer) = arrow.transfer {
            self.passed.insert(transfer, true);
        }
        self.arrows += 1;
        Ok(())
    }

    /// Writes the arrows into received tensors that no consumer led through.
    pub fn finish(mut self, writer: &mut Writer) -> Result<()> {
        let mut left: Vec<(u32, String)> = Vec::new();
        for ((_, tensor), ids) in &self.transfers {
            left.extend(
                ids.iter().filter(|id| !self.passed.contains_key(*id)).map(|id| (*id, tensor.clone())),
            );
        }
        left.sort();
        for (id, tensor) in left {
            let one = self.plan.placed[id as usize];
            let sender = self.senders.get(&id).copied().flatten();
            if let Some(producer) = self.producer(&tensor, one.run, sender, one.ts_ps + one.dur_ps) {
                let arrow = Arrow { producer: Some(producer), transfer: Some(id) };
                self.write(writer, &tensor, "DataFlow", arrow, None)?;
            }
        }
        Ok(())
    }
}

/// Of some executions, the last one that had begun before a consumer did, best one that had ended by then.
fn latest(plan: &Plan, ids: &[u32], consumer: &Placed, fits: impl Fn(&Placed) -> bool) -> Option<u32> {
    let placed = |id: &u32| &plan.placed[*id as usize];
    ids.iter()
        .filter(|id| placed(id).ts_ps <= consumer.ts_ps && fits(placed(id)))
        .max_by_key(|id| (placed(id).end_ps() <= consumer.ts_ps, placed(id).ts_ps))
        .copied()
}

/// Copies between a processor and an accelerator by run and edge, and by run and tensor. Rows that show the
/// executions of other streams again are left out.
fn copies(found: &Collected, plan: &Plan) -> Result<HashMap<(u32, String), Vec<u32>>> {
    let device = |one: &Placed| {
        let entry = found.execs[one.exec as usize].entry;
        found.entries[entry as usize].device.as_str()
    };
    let streams = || plan.placed.iter().enumerate().filter(|(_, one)| one.class == Class::Stream);
    let numbered: HashSet<(u32, u32)> =
        streams().filter(|(_, one)| is_numbered(device(one))).map(|(_, one)| (one.run, one.device)).collect();
    let mut copies: HashMap<_, Vec<u32>> = HashMap::new();
    for (id, one) in streams() {
        if !is_numbered(device(one)) && numbered.contains(&(one.run, one.device)) {
            continue;
        }
        let exec = &found.execs[one.exec as usize];
        if !exec.copies {
            continue;
        }
        let bytes = found.spool.get(exec.place, exec.length as usize)?;
        let node = super::node::read(&bytes);
        let (name, label) = (String::from_utf8_lossy(node.name), String::from_utf8_lossy(node.label));
        let Some((edge, tensor)) = copied(&label, &name) else {
            continue;
        };
        for key in [edge, tensor] {
            copies.entry((one.run, key.to_owned())).or_default().push(id as u32);
        }
    }
    Ok(copies)
}
