//! Floating point operations of a node from its op, its attributes and the shapes around it.
//!
//! For the ops that TensorFlow registers statistics for, the numbers are TensorFlow's (a multiplication and
//! an addition are two; comparisons count); docs/how-to/tfprof.md says where they are not. For the others the
//! formulas are written beside their ops here: products of matrices and convolutions exactly, the rest by element.

mod einsum;
mod elements;
mod inference;
mod names;
mod normalisation;
mod optimisers;
mod products;
mod queues;
mod recurrent;
pub mod shapes;
mod silent;
mod values;
mod windows;

use super::attributes::Attributes;
use super::model::Model;
use shapes::Shapes;
use std::collections::BTreeMap;

/// A node as the formulas see it.
pub struct Op<'a> {
    /// Its op, without what oneDNN puts before the name.
    pub name: &'a str,
    /// Its attributes.
    pub attributes: &'a Attributes,
    /// Shapes of its data inputs; None where not all of it is known.
    pub inputs: Vec<Option<&'a [i64]>>,
    /// Numbers in its data inputs where they are known; what is missing is not.
    pub constants: Vec<Option<&'a [i64]>>,
    /// Shape of its first output.
    pub output: Option<&'a [i64]>,
}

impl Op<'_> {
    /// The shape of an input.
    pub fn shape(&self, input: usize) -> Option<&[i64]> {
        *self.inputs.get(input)?
    }

    /// The numbers in an input.
    pub fn constant(&self, input: usize) -> Option<&[i64]> {
        *self.constants.get(input)?
    }

    /// Elements of an input.
    pub fn input(&self, input: usize) -> Option<i128> {
        Some(elements(self.shape(input)?))
    }

    /// Elements of the output.
    pub fn out(&self) -> Option<i128> {
        Some(elements(self.output?))
    }

    /// The names of what a fused op does behind its main work.
    pub fn fused(&self) -> Vec<String> {
        self.attributes.texts("fused_ops")
    }
}

/// Elements of a shape.
pub fn elements(shape: &[i64]) -> i128 {
    shape.iter().map(|dim| i128::from(*dim)).product()
}

/// Product of sizes in an attribute; what no window has is cut to what none reaches.
fn factors(sizes: Vec<i64>) -> i128 {
    let sizes = sizes.into_iter().map(|size| i128::from(size.clamp(1, 1 << 20)));
    sizes.fold(1i128, |product, size| (product * size).min(1 << 40))
}

/// What became of the nodes that had no count.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counted {
    /// Nodes that got a count.
    pub counted: u64,
    /// Nodes of ops with a formula whose shapes are not known.
    pub unknown: u64,
    /// Nodes of ops without a formula that are not known to do no arithmetic, by op.
    pub without_formula: BTreeMap<String, u64>,
    /// Nodes that occur only in steps, not in a graph.
    pub not_in_graph: u64,
}

/// What is known of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// It has a formula.
    Counted,
    /// It only moves, compares or makes data.
    None,
    /// It does arithmetic that has no formula here, or is not known.
    Unknown,
}

/// What is known of an op by its name.
pub fn arithmetic(op: &str) -> Arithmetic {
    let name = names::plain_name(op);
    if family(&name).is_some() {
        Arithmetic::Counted
    } else if silent::is_silent(&name) {
        Arithmetic::None
    } else {
        Arithmetic::Unknown
    }
}

/// Gives every node without a count one of our own, where its shapes are known. What an op log says stays.
pub fn fill(model: &mut Model) -> Counted {
    let shapes = Shapes::new(model);
    let mut counts = Vec::new();
    let mut counted = Counted::default();
    for node in 0..model.nodes.len() as u32 {
        let own = &model.nodes[node as usize];
        if own.flops != 0 {
            continue;
        }
        let name = names::plain_name(&own.op);
        match arithmetic(&own.op) {
            Arithmetic::Counted => {}
            Arithmetic::None => continue,
            Arithmetic::Unknown if own.op == model.name(node) && own.inputs.is_empty() => {
                counted.not_in_graph += 1;
                continue;
            }
            Arithmetic::Unknown => {
                *counted.without_formula.entry(own.op.clone()).or_default() += 1;
                continue;
            }
        }
        let op = Op {
            name: &name,
            attributes: &own.attributes,
            inputs: shapes.inputs(model, node),
            constants: shapes.constants(model, node),
            output: shapes.of(node, 0),
        };
        match count(&op).and_then(|count| i64::try_from(count).ok()) {
            Some(count) => counts.push((node, count.max(0))),
            None => counted.unknown += 1,
        }
    }
    counted.counted = counts.len() as u64;
    for (node, count) in counts {
        model.nodes[node as usize].flops = count;
    }
    counted
}

/// What counts the operations of one run of an op; None when a shape is missing.
type Count = fn(&Op<'_>) -> Option<i128>;

/// Whether a family has a formula for an op of this name.
type HasFormula = fn(&str) -> bool;

/// Families of ops: which ones are theirs, and how they count.
const FAMILIES: [(HasFormula, Count); 7] = [
    (elements::has_formula, elements::count),
    (products::has_formula, products::count),
    (einsum::has_formula, einsum::count),
    (normalisation::has_formula, normalisation::count),
    (windows::has_formula, windows::count),
    (optimisers::has_formula, optimisers::count),
    (recurrent::has_formula, recurrent::count),
];

fn family(name: &str) -> Option<Count> {
    let found = FAMILIES.iter().find(|(has_formula, _)| has_formula(name));
    found.map(|(_, count)| *count)
}

/// The operations of one run; None when a shape is missing.
pub fn count(op: &Op<'_>) -> Option<i128> {
    family(op.name)?(op)
}
