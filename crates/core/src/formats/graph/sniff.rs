//! Recognises graphs.

use crate::formats::{checkpoint, xplane};
use crate::proto::score;

/// True for the beginning of a GraphDef, MetaGraphDef or SavedModel: its fields, or their names as text.
pub fn sniff(head: &[u8], name: &str) -> bool {
    // An op without a node's name reads as a plane's name. A node always has one, and it comes first.
    // A table of a checkpoint may hold messages; how it begins and ends is no accident.
    score::root(head).is_some_and(score::is_graph)
        && !xplane::sniff(head, name)
        && !checkpoint::sniff(head, name)
}
