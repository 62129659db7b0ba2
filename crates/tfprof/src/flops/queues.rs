//! Shapes of what comes out of queues and iterators: they are told where the queue or the iterator is made, and
//! not by what goes into the op that takes an element.

use crate::model::{Model, Node};
use stepscope_core::formats::graph::attr;

/// So many nodes hand the handle of a queue on at most.
const HANDS: usize = 16;

/// Ops that take elements from an iterator, and say with `output_shapes` what these look like.
pub fn is_iterator(op: &str) -> bool {
    matches!(
        op,
        "IteratorGetNext"
            | "IteratorGetNextSync"
            | "DatasetToSingleElement"
            | "MultiDeviceIteratorGetNextFromShard"
    )
}

/// The shapes of elements taken from a queue; None for other ops. `count`: how many are taken, where it is known.
/// A dimension that nobody tells is -1.
pub fn dequeued(model: &Model, node: &Node, count: Option<&[i64]>) -> Option<Vec<Option<Vec<i64>>>> {
    let rows = match node.op.as_str() {
        "QueueDequeue" | "QueueDequeueV2" => None,
        "QueueDequeueMany" | "QueueDequeueManyV2" => {
            Some(count.and_then(|count| count.first()).map_or(-1, |rows| *rows))
        }
        // Fewer come out of a queue that was closed.
        "QueueDequeueUpTo" | "QueueDequeueUpToV2" => Some(-1),
        _ => return None,
    };
    let shapes = elements(queue(model, node)?);
    let batch = |shape: Option<Vec<i64>>| {
        let shape = shape?;
        Some(rows.into_iter().chain(shape).collect())
    };
    Some(shapes.into_iter().map(batch).collect())
}

/// The node that makes the queue of an op.
fn queue<'a>(model: &'a Model, node: &Node) -> Option<&'a Node> {
    let mut from = node;
    for _ in 0..HANDS {
        let source = from.inputs.iter().find(|source| source.place == 0)?;
        let producer = &model.nodes[*model.by_name.get(&source.name)? as usize];
        match producer.op.as_str() {
            "Identity" | "RefIdentity" | "Enter" | "RefEnter" | "Switch" | "RefSwitch" => {
                from = producer;
            }
            _ => return Some(producer),
        }
    }
    None
}

/// The shapes of the components of an element; none where the queue takes elements of any shape.
fn elements(queue: &Node) -> Vec<Option<Vec<i64>>> {
    let told = queue.attributes.shapes("shapes");
    let mut shapes: Vec<_> = told.into_iter().map(|shape| shape.and_then(attr::shape)).collect();
    // Its elements begin with their priority, a number, of which the attribute does not tell.
    if matches!(queue.op.as_str(), "PriorityQueue" | "PriorityQueueV2") && !shapes.is_empty() {
        shapes.insert(0, Some(Vec::new()));
    }
    shapes
}
