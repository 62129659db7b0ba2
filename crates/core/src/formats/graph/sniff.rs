//! Recognises graphs.

use crate::proto::score;

/// True for the beginning of a GraphDef, MetaGraphDef or SavedModel: its fields, or their names as text.
pub fn sniff(head: &[u8], _name: &str) -> bool {
    score::root(head).is_some_and(|root| !score::is_steps(root))
}
