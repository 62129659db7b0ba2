//! Recognises an XSpace, which has neither magic nor version: by the beginning of its first plane, which is an
//! id, a name that people can read, then lines, metadata and stats with the insides that those have. Fields that
//! newer versions may have added are passed over.

use crate::proto::wire::varint;

const NAME_LIMIT_BYTES: u64 = 4096;
/// The highest numbers of fields of XSpace and XPlane.
const SPACE_FIELDS: u64 = 4;
const PLANE_FIELDS: u64 = 6;
/// Nothing else is called so: what follows may be damaged.
const KNOWN_PLANES: [&[u8]; 3] = [b"/host:", b"/device:", b"Task Environment"];

/// True for the beginning of an XSpace.
pub fn sniff(head: &[u8], name: &str) -> bool {
    let mut at = 0;
    while at < head.len() {
        let Some(tag) = varint(head, &mut at) else {
            return false;
        };
        if tag >> 3 > SPACE_FIELDS {
            if !pass(head, &mut at, tag & 7) {
                return false;
            }
            continue;
        }
        let Some(length) = varint(head, &mut at) else {
            return false;
        };
        if tag & 7 != 2 || tag >> 3 == 0 {
            return false;
        }
        let body = stretch(head, at, length);
        if tag >> 3 == 1 && length > 0 {
            return is_plane(body);
        }
        if !is_text(body, "\t\r\n") {
            return false;
        }
        at = at.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
    }
    // A recording without any plane, only complaints and a host: nothing else tells it from other messages.
    !head.is_empty() && name.ends_with(".xplane.pb")
}

/// Passes over the value of a field that is not known; it may be cut. False when it is none.
fn pass(bytes: &[u8], at: &mut usize, wire_type: u64) -> bool {
    let length = match wire_type {
        0 => varint(bytes, at).map(|_| 0),
        1 => Some(8),
        2 => varint(bytes, at),
        5 => Some(4),
        _ => return false,
    };
    let length = usize::try_from(length.unwrap_or(0)).unwrap_or(usize::MAX);
    *at = at.saturating_add(length);
    true
}

/// As much of `length` bytes as is there.
fn stretch(bytes: &[u8], at: usize, length: u64) -> &[u8] {
    let rest = bytes.get(at..).unwrap_or_default();
    &rest[..rest.len().min(usize::try_from(length).unwrap_or(usize::MAX))]
}

/// True when the bytes begin an XPlane; they may be cut anywhere.
fn is_plane(plane: &[u8]) -> bool {
    let (mut at, mut named, mut inside) = (0, false, false);
    while at < plane.len() {
        let Some(tag) = varint(plane, &mut at) else {
            break;
        };
        if tag >> 3 > PLANE_FIELDS {
            if !pass(plane, &mut at, tag & 7) {
                return false;
            }
            continue;
        }
        let Some(value) = varint(plane, &mut at) else {
            break;
        };
        let (number, wire_type) = (tag >> 3, tag & 7);
        if (number, wire_type) == (1, 0) {
            continue;
        }
        if wire_type != 2 || number < 2 {
            return false;
        }
        let body = stretch(plane, at, value);
        if number == 2 {
            if value > NAME_LIMIT_BYTES || !is_text(body, "") {
                return false;
            }
            if KNOWN_PLANES.iter().any(|name| plane[at.min(plane.len())..].starts_with(name)) {
                return true;
            }
            named = value > 0;
        } else if let Some(first) = body.first() {
            let allowed: &[u8] = match number {
                3 => &[0x08, 0x12, 0x18, 0x22, 0x48, 0x50, 0x5a],
                _ => &[0x08, 0x12],
            };
            if !allowed.contains(first) {
                return false;
            }
            inside = true;
        }
        at = at.saturating_add(usize::try_from(value).unwrap_or(usize::MAX));
    }
    named || inside
}

/// True for printable text; its last character may be cut, and bytes that are not UTF-8 count as printable.
fn is_text(bytes: &[u8], also: &str) -> bool {
    String::from_utf8_lossy(bytes).chars().all(|char| is_printable(char) || also.contains(char))
}

fn is_printable(char: char) -> bool {
    if char.is_ascii() {
        return !char.is_ascii_control();
    }
    // What is escaped even behind a letter, to which an accent could belong, has no picture.
    let behind_letter = ['a', char].iter().collect::<String>();
    behind_letter.escape_debug().count() == 2
}
