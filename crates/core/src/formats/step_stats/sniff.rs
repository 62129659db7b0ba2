//! Recognises RunMetadata and StepStats.

use crate::proto::score;

/// True for the beginning of either: its fields, or their names as text.
pub fn sniff(head: &[u8], _name: &str) -> bool {
    score::root(head).is_some_and(score::is_steps)
}
