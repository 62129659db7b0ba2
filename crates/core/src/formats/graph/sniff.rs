//! Recognises graphs.

use crate::formats::message;
use crate::proto::score;

/// True for the beginning of a GraphDef, MetaGraphDef or SavedModel.
pub fn sniff(head: &[u8], name: &str) -> bool {
    message(head, name).is_some_and(score::is_graph)
}
