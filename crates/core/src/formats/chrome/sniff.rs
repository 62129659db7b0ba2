//! Recognises traces in Chrome's format.

use memchr::memmem;

const TOP_KEYS: [&str; 6] =
    ["displayTimeUnit", "schemaVersion", "otherData", "stackFrames", "metadata", "traceName"];
/// A head as long as this may hold only what comes before the events.
const LONG_HEAD_BYTES: usize = 32768;

/// True for an object with `traceEvents`, or an array whose first elements have a phase.
pub fn sniff(head: &[u8], name: &str) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let head = head.trim_ascii_start();
    match head.first() {
        // Kineto and Chromium can write more than a head's worth of facts before the events.
        Some(b'{') => {
            has_key(head, b"\"traceEvents\"", b'[', true)
                || (head.len() > LONG_HEAD_BYTES && begins_with_top_key(&head[1..]))
        }
        Some(b'[') => has_key(head, b"\"ph\"", b'"', false) || (is_empty(&head[1..]) && is_trace(name)),
        _ => false,
    }
}

/// True when the key is there, and its value begins with `first` or, if that may be, behind the head.
fn has_key(head: &[u8], key: &[u8], first: u8, may_be_cut: bool) -> bool {
    memmem::find_iter(head, key).any(|at| {
        let rest = head[at + key.len()..].trim_ascii_start();
        let value = rest.strip_prefix(b":").map(<[u8]>::trim_ascii_start);
        value.is_some_and(|value| match value.first() {
            Some(byte) => *byte == first,
            None => may_be_cut,
        })
    })
}

fn begins_with_top_key(inside: &[u8]) -> bool {
    let key = inside.trim_ascii_start().strip_prefix(b"\"");
    key.is_some_and(|key| {
        TOP_KEYS
            .iter()
            .any(|one| key.strip_prefix(one.as_bytes()).is_some_and(|rest| rest.starts_with(b"\"")))
    })
}

/// True for an array without any element.
fn is_empty(inside: &[u8]) -> bool {
    inside.iter().all(|byte| b" \t\r\n],{}".contains(byte))
}

fn is_trace(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("trace") || name.contains("timeline")
}
