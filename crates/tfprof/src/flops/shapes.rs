//! Shapes of outputs: as the graph says, as a step had them, or as they follow from constants, variables and
//! the shapes of inputs.

use super::{Op, inference, names, queues, values};
use crate::model::{Model, Node};
use std::collections::HashMap;
use stepscope_core::formats::graph::attr;

/// Something by node and output.
type ByOutput = HashMap<(u32, i32), Vec<i64>>;

/// Complete shapes, and numbers in tensors, by node and output. A scalar has no dimension.
#[derive(Default)]
pub struct Shapes {
    shapes: ByOutput,
    numbers: ByOutput,
}

/// More elements no tensor has; with fewer, no formula's numbers grow too large to be counted.
const MOST_ELEMENTS: i64 = 1 << 40;

/// Whether all of it is known, and possible.
fn is_known(shape: &[i64]) -> bool {
    let product = shape.iter().try_fold(1i64, |product, dim| product.checked_mul((*dim).max(1)));
    shape.iter().all(|dim| *dim >= 0) && product.is_some_and(|product| product <= MOST_ELEMENTS)
}

/// An `AttrValue` that is a shape.
fn attr_shape(node: &Node, name: &str) -> Option<Vec<i64>> {
    let shape = attr::shape(node.attributes.shape(name)?)?;
    is_known(&shape).then_some(shape)
}

/// What a step had, in the order of dimensions that the graph has; None when it contradicts the graph.
fn in_order_of(graph: &[i64], run: &[i64]) -> Option<Vec<i64>> {
    // Layouts that TensorFlow's optimiser may choose behind the graph's back: channels last and first.
    let orders: &[&[usize]] = match run.len() {
        4 => &[&[0, 1, 2, 3], &[0, 2, 3, 1], &[0, 3, 1, 2]],
        5 => &[&[0, 1, 2, 3, 4], &[0, 2, 3, 4, 1], &[0, 4, 1, 2, 3]],
        _ => return fits(graph, run).then(|| run.to_vec()),
    };
    let mut turned = orders.iter().map(|order| order.iter().map(|axis| run[*axis]).collect::<Vec<_>>());
    turned.find(|shape| fits(graph, shape))
}

fn fits(graph: &[i64], run: &[i64]) -> bool {
    let mut dims = graph.iter().zip(run);
    graph.len() == run.len() && dims.all(|(graph, run)| *graph < 0 || graph == run)
}

impl Shapes {
    /// Finds what can be known.
    pub fn new(model: &Model) -> Shapes {
        let mut found = Shapes::default();
        for (number, node) in (0..).zip(&model.nodes) {
            found.read(number, node);
        }
        found.read_variables(model);
        found.infer(model);
        found
    }

    /// What a node says about itself, and what a step recorded.
    fn read(&mut self, number: u32, node: &Node) {
        let mut partial: HashMap<i32, Vec<i64>> = HashMap::new();
        let of_elements = match queues::is_iterator(&node.op) {
            true => "output_shapes",
            false => "",
        };
        for name in ["_output_shapes", of_elements] {
            for (output, shape) in (0..).zip(node.attributes.shapes(name)) {
                if let Some(shape) = shape.and_then(attr::shape) {
                    if is_known(&shape) {
                        self.shapes.entry((number, output)).or_insert(shape);
                    } else {
                        partial.entry(output).or_insert(shape);
                    }
                }
            }
        }
        for (output, shape) in node.run_shapes.iter().filter(|(_, shape)| is_known(shape)) {
            let shape = match partial.get(output) {
                Some(graph) => in_order_of(graph, shape),
                None => Some(shape.clone()),
            };
            if let Some(shape) = shape {
                self.shapes.entry((number, *output)).or_insert(shape);
            }
        }
        let own = match node.op.as_str() {
            "Const" | "HostConst" => {
                let (shape, numbers) =
                    node.attributes.tensor("value").map(values::tensor).unwrap_or_default();
                if let Some(numbers) = numbers {
                    self.numbers.insert((number, 0), numbers);
                }
                shape.filter(|shape| is_known(shape))
            }
            "Variable" | "VariableV2" | "Placeholder" | "TemporaryVariable" => attr_shape(node, "shape"),
            _ => None,
        };
        if let Some(shape) = own {
            self.shapes.entry((number, 0)).or_insert(shape);
        }
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
                if node.op == "VarHandleOp" {
                    shape = attr_shape(node, "shape").filter(|_| path.len() > 1);
                    break;
                }
                if let Some(known) = self.shapes.get(&(at, 0)).filter(|_| path.len() > 1) {
                    shape = Some(known.clone());
                    break;
                }
                let next = node.inputs.iter().find(|source| source.place == 0 && source.slot == 0);
                let producer = next.and_then(|source| model.by_name.get(&source.name));
                match producer {
                    Some(producer) if hands_on(&node.op) && !path.contains(producer) => path.push(*producer),
                    _ => break,
                }
            }
            let Some(shape) = shape else { continue };
            for node in path {
                if model.nodes[node as usize].op != "VarHandleOp" {
                    self.shapes.entry((node, 0)).or_insert_with(|| shape.clone());
                }
            }
        }
    }

    /// Shapes and numbers from those of inputs, until nothing new is found. Graphs are written in almost any
    /// order, mostly producers first; what stays unknown after so many turns is counted as unknown.
    fn infer(&mut self, model: &Model) {
        for _ in 0..TURNS {
            let before = (self.shapes.len(), self.numbers.len());
            for number in 0..model.nodes.len() as u32 {
                self.infer_node(model, number);
            }
            if before == (self.shapes.len(), self.numbers.len()) {
                break;
            }
        }
    }

    fn infer_node(&mut self, model: &Model, number: u32) {
        let node = &model.nodes[number as usize];
        if node.inputs.is_empty() || self.of(number, 0).is_some() && !may_have_numbers(&node.op) {
            return;
        }
        let name = names::plain_name(&node.op);
        let op = Op {
            name: &name,
            attributes: &node.attributes,
            inputs: self.inputs(model, number),
            constants: self.constants(model, number),
            output: None,
        };
        let shapes = match queues::dequeued(model, node, op.constant(1)) {
            Some(shapes) => shapes,
            None => inference::outputs(&op),
        };
        let numbers = match may_have_numbers(&name) {
            true => values::outputs(&op),
            false => Vec::new(),
        };
        for (output, shape) in (0..).zip(shapes) {
            if let Some(shape) = shape.filter(|shape| is_known(shape)) {
                self.shapes.entry((number, output)).or_insert(shape);
            }
        }
        for (output, numbers) in (0..).zip(numbers) {
            let Some(numbers) = numbers else { continue };
            // What shapes are made of are lists; the ops that give scalars have rules.
            if matches!(
                name.as_str(),
                "ShapeN" | "BroadcastGradientArgs" | "DynamicStitch" | "ParallelDynamicStitch"
            ) {
                let length = numbers.len() as i64;
                self.shapes.entry((number, output)).or_insert(vec![length]);
            }
            self.numbers.entry((number, output)).or_insert(numbers);
        }
    }

    /// The shape of an output.
    pub fn of(&self, node: u32, output: i32) -> Option<&[i64]> {
        self.shapes.get(&(node, output)).map(Vec::as_slice)
    }

    /// Shapes of the data inputs of a node, in their order.
    pub fn inputs(&self, model: &Model, node: u32) -> Vec<Option<&[i64]>> {
        by_inputs(&self.shapes, model, node)
    }

    /// Numbers in the data inputs of a node, in their order.
    pub fn constants(&self, model: &Model, node: u32) -> Vec<Option<&[i64]>> {
        by_inputs(&self.numbers, model, node)
    }
}

/// What is known of the data inputs of a node, in their order.
fn by_inputs<'a>(known: &'a ByOutput, model: &Model, node: u32) -> Vec<Option<&'a [i64]>> {
    let inputs = model.nodes[node as usize].inputs.iter();
    inputs
        .filter(|source| source.slot >= 0)
        .map(|source| {
            let producer = *model.by_name.get(&source.name)?;
            known.get(&(producer, source.slot)).map(Vec::as_slice)
        })
        .collect()
}

/// So many nodes hand a shape on at most.
const HANDS: usize = 64;

/// So often all nodes are looked at.
const TURNS: usize = 16;

/// Ops whose output has the shape of their first input, which may be a variable's handle.
fn hands_on(op: &str) -> bool {
    matches!(op, "Identity" | "ReadVariableOp")
}

/// Ops that [`values::outputs`] has rules for.
fn may_have_numbers(op: &str) -> bool {
    matches!(
        op,
        "Shape"
            | "ShapeN"
            | "Rank"
            | "Size"
            | "Identity"
            | "StopGradient"
            | "Cast"
            | "Snapshot"
            | "Reshape"
            | "ExpandDims"
            | "Squeeze"
            | "Pack"
            | "ConcatV2"
            | "Range"
            | "Fill"
            | "Gather"
            | "GatherV2"
            | "Prod"
            | "StridedSlice"
            | "Slice"
            | "DynamicStitch"
            | "ParallelDynamicStitch"
            | "Add"
            | "AddV2"
            | "Sub"
            | "Mul"
            | "FloorDiv"
            | "FloorMod"
            | "Maximum"
            | "Minimum"
            | "BroadcastGradientArgs"
    )
}

#[cfg(test)]
mod tests {
    use super::{in_order_of, is_known};

    #[test]
    fn impossible_shapes_are_unknown() {
        assert!(is_known(&[]) && is_known(&[0, 3]) && is_known(&[1 << 20, 1 << 20]));
        assert!(!is_known(&[-1]) && !is_known(&[1 << 40, 2]) && !is_known(&[i64::MAX, i64::MAX]));
        assert!(!is_known(&[0, i64::MAX, 2]));
    }

    #[test]
    fn steps_may_have_turned_what_the_graph_says() {
        assert_eq!(in_order_of(&[-1, 3], &[2, 3]), Some(vec![2, 3]));
        assert_eq!(in_order_of(&[-1, 3], &[2, 4]), None);
        assert_eq!(in_order_of(&[-1, 8, 9, 3], &[2, 3, 8, 9]), Some(vec![2, 8, 9, 3]));
        assert_eq!(in_order_of(&[-1, 3, 8, 9], &[2, 8, 9, 3]), Some(vec![2, 3, 8, 9]));
        assert_eq!(in_order_of(&[-1, 8, 9, 3], &[2, 8, 9]), None);
    }
}
