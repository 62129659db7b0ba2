//! Recognises checkpoints: tables whose first key is empty and whose first value is a header (V2) or a list of
//! tensors (V1).

use crate::proto::wire::varint;

/// The last bytes of a table.
const MAGIC: [u8; 8] = [0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb];
/// A shorter head is the whole file, and must end as a table does.
const HEAD_BYTES: usize = 65536;

/// The two kinds of checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// One file, with the values in it.
    V1,
    /// An index; the values are in files beside it.
    V2,
}

/// True for the beginning of a checkpoint.
pub fn sniff(head: &[u8], _name: &str) -> bool {
    (head.len() >= HEAD_BYTES || head.ends_with(&MAGIC)) && version(head).is_some()
}

/// Which kind of checkpoint begins so.
pub fn version(head: &[u8]) -> Option<Version> {
    plain_version(head).or_else(|| plain_version(literal(head)))
}

/// By a whole, empty key in front of a value that is a message with field 1.
fn plain_version(head: &[u8]) -> Option<Version> {
    let mut at = 2;
    let length =
        head.starts_with(&[0, 0]).then(|| varint(head, &mut at)).flatten().filter(|length| *length > 0)?;
    let tag = *head.get(at)?;
    let mut behind = at + 1;
    let number = varint(head, &mut behind).filter(|number| *number > 0)?;
    match tag {
        // The number of data files; order of bytes and version follow.
        0x08 if behind <= at.saturating_add(length as usize) && length <= 64 => Some(Version::V2),
        // The list, which begins with a tensor.
        0x0a if number < length && matches!(head.get(behind), Some(0x0a | 0x12)) => Some(Version::V1),
        _ => None,
    }
}

/// The bytes that a packed block begins with: its length, then the first of them as they are.
fn literal(head: &[u8]) -> &[u8] {
    let mut at = 0;
    if varint(head, &mut at).is_none() {
        return &[];
    }
    match head.get(at) {
        Some(tag) if tag & 3 == 0 => {
            let more = usize::from(tag >> 2).saturating_sub(59);
            head.get(at + 1 + more..).unwrap_or_default()
        }
        _ => &[],
    }
}
