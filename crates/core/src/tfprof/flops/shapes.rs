//! Shapes of outputs: as the graph says, as a step had them, or as they follow from constants and variables.

use crate::graph_attr;
use crate::tfprof::model::{Model, Node};
use crate::wire::Fields;
use std::collections::HashMap;

/// Complete shapes by node and output. A scalar has no dimension.
pub struct Shapes(HashMap<(u32, i32), Vec<i64>>);

/// More elements no tensor has; with fewer, no formula's numbers grow too large to be counted.
const MOST_ELEMENTS: i64 = 1 << 40;

/// Whether all of it is known, and possible.
fn is_known(shape: &[i64]) -> bool {
    let product = shape
        .iter()
        .try_fold(1i64, |product, dim| product.checked_mul((*dim).max(1)));
    shape.iter().all(|dim| *dim >= 0) && product.is_some_and(|product| product <= MOST_ELEMENTS)
}

/// An `AttrValue` that is a shape.
fn attr_shape(node: &Node, name: &str) -> Option<Vec<i64>> {
    let shape = graph_attr::shape(node.attributes.shape(name)?)?;
    is_known(&shape).then_some(shape)
}

impl Shapes {
    /// Finds what can be known. What a step had counts more than what the graph says: it is never unknown.
    pub fn new(model: &Model) -> Shapes {
        let mut found: HashMap<(u32, i32), Vec<i64>> = HashMap::new();
        for (number, node) in (0..).zip(&model.nodes) {
            for (output, shape) in (0..).zip(node.attributes.shapes("_output_shapes")) {
                if let Some(shape) = shape
                    .and_then(graph_attr::shape)
                    .filter(|shape| is_known(shape))
                {
                    found.insert((number, output), shape);
                }
            }
            for (output, shape) in node.run_shapes.iter().filter(|(_, shape)| is_known(shape)) {
                found
                    .entry((number, *output))
                    .or_insert_with(|| shape.clone());
            }
            let own = match node.op.as_str() {
                "Const" | "HostConst" => node.attributes.tensor("value").and_then(tensor_shape),
                "Variable" | "VariableV2" | "Placeholder" | "TemporaryVariable" => {
                    attr_shape(node, "shape")
                }
                _ => None,
            };
            if let Some(shape) = own {
                found.entry((number, 0)).or_insert(shape);
            }
        }
        let mut shapes = Shapes(found);
        shapes.read_variables(model);
        shapes
    }

    /// What reads a variable has its shape, through any number of nodes that hand it on.
    fn read_variables(&mut self, model: &Model) {
        for number in 0..model.nodes.len() as u32 {
            let mut path = vec![number];
            let mut shape = None;
            // As long as nodes only hand on, and no further than graphs do.
            while path.len() <= HANDS {
                let at = path[path.len() - 1];
                let node = &model.nodes[at as usize];
                if let Some(known) = self.0.get(&(at, 0)) {
                    shape = Some(known.clone());
                    break;
                }
                let is_handle = node.op == "VarHandleOp";
                if is_handle && path.len() > 1 {
                    shape = attr_shape(node, "shape");
                    break;
                }
                let next = node
                    .inputs
                    .iter()
                    .find(|source| source.place == 0 && source.slot == 0);
                let producer = next.and_then(|source| model.by_name.get(&source.name));
                match producer {
                    Some(producer) if hands_on(&node.op) && !path.contains(producer) => {
                        path.push(*producer)
                    }
                    _ => break,
                }
            }
            let Some(shape) = shape else { continue };
            for node in path {
                if model.nodes[node as usize].op != "VarHandleOp" {
                    self.0.entry((node, 0)).or_insert_with(|| shape.clone());
                }
            }
        }
    }

    /// The shape of an output.
    pub fn of(&self, node: u32, output: i32) -> Option<&[i64]> {
        self.0.get(&(node, output)).map(Vec::as_slice)
    }

    /// Shapes of the data inputs of a node, in their order.
    pub fn inputs(&self, model: &Model, node: u32) -> Vec<Option<&[i64]>> {
        let inputs = model.nodes[node as usize].inputs.iter();
        inputs
            .filter(|source| source.slot >= 0)
            .map(|source| self.of(*model.by_name.get(&source.name)?, source.slot))
            .collect()
    }
}

/// So many nodes hand a shape on at most.
const HANDS: usize = 64;

/// Ops whose output has the shape of their first input.
fn hands_on(op: &str) -> bool {
    matches!(
        op,
        "Identity"
            | "ReadVariableOp"
            | "StopGradient"
            | "Cast"
            | "Relu"
            | "Relu6"
            | "BiasAdd"
            | "Snapshot"
    )
}

/// The shape in a `TensorProto`.
fn tensor_shape(bytes: &[u8]) -> Option<Vec<i64>> {
    let mut shape = Some(Vec::new());
    for field in Fields::new(bytes, 0).flatten() {
        if field.number == 2 {
            shape = graph_attr::shape(field.bytes()?);
        }
    }
    shape.filter(|shape| is_known(shape))
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn impossible_shapes_are_unknown() {
        assert!(is_known(&[]) && is_known(&[0, 3]) && is_known(&[1 << 20, 1 << 20]));
        assert!(!is_known(&[-1]) && !is_known(&[1 << 40, 2]) && !is_known(&[i64::MAX, i64::MAX]));
        assert!(!is_known(&[0, i64::MAX, 2]));
    }
}
