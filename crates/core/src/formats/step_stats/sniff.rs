//! Recognises RunMetadata and StepStats.

use crate::formats::xplane;
use crate::proto::score;

/// True for the beginning of either: its fields, or their names as text.
pub fn sniff(head: &[u8], name: &str) -> bool {
    // Statistics of a nameless device may read as a plane's name. A device always has one, and it comes first.
    score::root(head).is_some_and(score::is_steps) && !xplane::sniff(head, name)
}
