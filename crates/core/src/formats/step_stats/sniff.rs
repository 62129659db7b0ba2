//! Recognises RunMetadata and StepStats.

use crate::formats::message;
use crate::proto::score;

/// True for the beginning of either.
pub fn sniff(head: &[u8], name: &str) -> bool {
    message(head, name).is_some_and(score::is_steps)
}
