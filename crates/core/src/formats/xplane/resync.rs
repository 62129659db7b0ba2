//! Finding the next whole field behind damaged bytes.
//!
//! A wrong length sends a reader into the middle of something else. The bytes after it are often
//! sound, so we look for the next place from which fields follow one another as they do in an XSpace:
//! up to the very end of what holds them, or sixteen in a row. One place that merely looks like a
//! field is common in random bytes; sixteen in a row, each with the inside it should have, are not.

use super::window::{Extent, Head, Trouble, Window};
use crate::proto::wire;

/// Where the search gives up.
const SEARCH_LIMIT_BYTES: u64 = 64 << 20;
const ENOUGH_FIELDS: usize = 16;

/// What fields a message has, to be recognised by their first bytes.
pub type Looks = fn(&Head, &[u8]) -> Likeness;

/// How much a field looks like one of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// Not at all.
    Alien,
    /// It may occur there, but proves little.
    Fits,
    /// It has the inside that such a field has.
    Typical,
}

/// Fields of an XLine.
pub const EVENT: Looks = |head, body| match (head.number, head.wire) {
    (4, 2) => typical(begins(body, &[0x10, 0x18, 0x22, 0x28])),
    (9 | 10, 0) | (11, 2) => Likeness::Fits,
    _ => Likeness::Alien,
};

/// Fields of an XPlane.
pub const PLANE: Looks = |head, body| match (head.number, head.wire) {
    (3, 2) => typical(begins(body, &[0x12, 0x18, 0x22, 0x48, 0x50, 0x5a])),
    (4 | 5, 2) => typical(map_entry(body, head.body.len())),
    (6, 2) => typical(begins(body, &[0x11, 0x18, 0x20, 0x2a, 0x32, 0x38])),
    _ => Likeness::Alien,
};

/// Fields of an XSpace.
pub const SPACE: Looks = |head, body| match (head.number, head.wire) {
    (1, 2) => typical(body.first() == Some(&0x12) || begins(body, &[0x12])),
    (2..=4, 2) => Likeness::Fits,
    _ => Likeness::Alien,
};

fn typical(is: bool) -> Likeness {
    if is { Likeness::Typical } else { Likeness::Alien }
}

/// `08`, a varint, and then one of these tags or the end.
fn begins(body: &[u8], next: &[u8]) -> bool {
    let mut at = 1;
    body.first() == Some(&0x08)
        && wire::varint(body, &mut at).is_some()
        && body.get(at).is_none_or(|tag| next.contains(tag))
}

/// `08`, a varint, `12` and a length that ends where the entry ends.
fn map_entry(body: &[u8], length: u64) -> bool {
    let mut at = 1;
    if body.first() != Some(&0x08) || wire::varint(body, &mut at).is_none() || body.get(at) != Some(&0x12) {
        return false;
    }
    at += 1;
    wire::varint(body, &mut at).is_some_and(|inner| inner.checked_add(at as u64) == Some(length))
}

/// The first place in `extent` where fields that look like these follow.
pub fn find(window: &mut Window<'_>, extent: Extent, looks: Looks) -> Result<Option<u64>, Trouble> {
    let last = extent.end.min(extent.start.saturating_add(SEARCH_LIMIT_BYTES));
    for at in extent.start..last {
        // Every field that is typical of anything has a number below 8 and a length.
        let tag = window.at(at, 1)?.first().copied().unwrap_or(0);
        if tag < 0x40 && tag & 7 == 2 && follows(window, Extent { start: at, end: extent.end }, looks)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

fn follows(window: &mut Window<'_>, extent: Extent, looks: Looks) -> Result<bool, Trouble> {
    let mut at = extent.start;
    for index in 0..ENOUGH_FIELDS {
        let head = match window.field(at, extent.end) {
            Ok(Some(head)) if !head.cut => head,
            Ok(None) => return Ok(index > 0),
            Ok(Some(_)) | Err(Trouble::Damage(_)) => return Ok(false),
            Err(failure) => return Err(failure),
        };
        let body = window.at(head.body.start, 32)?;
        let body = &body[..body.len().min(head.body.len().min(32) as usize)];
        let likeness = looks(&head, body);
        if likeness == Likeness::Alien || (index == 0 && likeness != Likeness::Typical) {
            return Ok(false);
        }
        at = head.body.end;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8], looks: Looks) -> Option<u64> {
        let mut window = Window::new(&bytes, 64);
        find(&mut window, Extent { start: 0, end: bytes.len() as u64 }, looks).expect("bytes in memory")
    }

    #[test]
    fn events_are_found_behind_rubbish() {
        let event = b"\x22\x06\x08\x05\x10\x07\x18\x09";
        for rubbish in [&b""[..], b"\x22", b"\x22\x7f", b"\xff\xff\x22\x02\x08", b"\x12\x10\x22\x06"] {
            let bytes = [rubbish, event, event].concat();
            assert_eq!(found(&bytes, EVENT), Some(rubbish.len() as u64), "{rubbish:?}");
        }
        assert_eq!(found(b"\xff\x22\x06\x08\x05\x10\x07\x18", EVENT), None);
        assert_eq!(found(b"", EVENT), None);
    }

    #[test]
    fn events_are_no_metadata() {
        let event = b"\x22\x06\x08\x05\x10\x07\x18\x09";
        let entry = b"\x22\x08\x08\x05\x12\x04\x08\x05\x12\x00";
        assert_eq!(found(&[&event[..], event, entry, entry].concat(), PLANE), Some(16));
        assert_eq!(found(&[&event[..], event].concat(), PLANE), None);
    }
}
