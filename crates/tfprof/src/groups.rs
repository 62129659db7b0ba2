//! Groups of nodes: all nodes of a type, or all that a line of Python made.

use super::lines::put_input_shapes;
use super::metrics::{Metric, Metrics, clock};
use super::model::Model;
use super::regexes::Regexes;
use std::collections::{BTreeMap, BTreeSet};

/// What the counted nodes of a group add up to.
#[derive(Debug, Default, Clone)]
pub struct Sum {
    /// Their figures. A node that two expressions select counts twice, as in TensorFlow.
    pub own: Metrics,
    /// Whether the group counts.
    pub account: bool,
    /// The counted nodes, each once, by name.
    pub nodes: Vec<u32>,
}

/// Which nodes each expression selects by their types.
pub struct Selection {
    all: bool,
    /// For each expression, whether it matches each type.
    matches: Vec<Vec<bool>>,
}

impl Selection {
    /// Tries all types once.
    pub fn new(model: &Model, account: &Regexes) -> Self {
        let types = || (0..model.types.len() as u32).map(|id| model.types.get(id).as_bytes());
        Selection {
            all: account.is_all(),
            matches: account.each().map(|regex| types().map(|text| regex.is_match(text)).collect()).collect(),
        }
    }

    /// Adds up the nodes of a group, which come in the order of their names.
    pub fn sum(&self, model: &Model, figures: &[Metrics], group: &[u32]) -> Sum {
        let mut sum = Sum::default();
        if self.all {
            for node in group {
                sum.own.add(&figures[*node as usize]);
            }
            sum.account = true;
            sum.nodes = group.to_vec();
            return sum;
        }
        let mut picked = vec![false; group.len()];
        for matches in &self.matches {
            for (node, picked) in group.iter().zip(&mut picked) {
                let types = &model.nodes[*node as usize].types;
                if types.iter().any(|id| matches[*id as usize]) {
                    sum.own.add(&figures[*node as usize]);
                    *picked = true;
                }
            }
        }
        let nodes = group.iter().zip(&picked).filter(|(_, picked)| **picked);
        sum.nodes = nodes.map(|(node, _)| *node).collect();
        sum.account = !sum.nodes.is_empty();
        sum
    }
}

/// Devices of the nodes, joined by bars; a node without one has an empty name.
pub fn devices(model: &Model, nodes: &[u32]) -> Option<String> {
    let name = |node: &u32| match model.nodes[*node as usize].device {
        Some(device) => model.devices[device as usize].name.as_str(),
        None => "",
    };
    let names: BTreeSet<&str> = nodes.iter().map(name).collect();
    (!names.is_empty()).then(|| join(&names))
}

/// Types of the nodes, joined by bars.
pub fn types(model: &Model, nodes: &[u32]) -> String {
    let of = |node: &u32| model.nodes[*node as usize].types.iter();
    let names: BTreeSet<&str> = nodes.iter().flat_map(of).map(|id| model.types.get(*id)).collect();
    join(&names)
}

fn join(names: &BTreeSet<&str>) -> String {
    names.iter().copied().collect::<Vec<_>>().join("|")
}

/// The nodes by the shapes of their inputs, the ones that ran most often first.
pub fn shapes(model: &Model, figures: &[Metrics], nodes: &[u32]) -> String {
    let mut kinds: BTreeMap<String, (i64, i64, i64)> = BTreeMap::new();
    for node in nodes {
        let mut text = "input_type: ".to_owned();
        put_input_shapes(&mut text, &model.input_shapes(*node), ",\t");
        let own = &figures[*node as usize];
        let kind = kinds.entry(text).or_default();
        kind.0 += 1;
        kind.1 = kind.1.wrapping_add(own.get(Metric::Runs));
        kind.2 = kind.2.wrapping_add(own.get(Metric::Micros));
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, (_, runs, _))| std::cmp::Reverse(*runs));
    let lines = kinds.iter().map(|(kind, (defined, runs, micros))| {
        format!("{kind}\t(run*{runs}|defined*{defined})\texec_time: {}", clock(*micros, model.ticks()))
    });
    lines.collect::<Vec<_>>().join("\n")
}
