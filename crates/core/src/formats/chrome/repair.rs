//! The odd events: what was repaired is counted, and arguments become one valid JSON object that
//! also holds the unusual keys of the event, marked with `$`, so that nothing of it is dropped.

use super::args::ODD_FLAWS;
use super::event::{Event, Rules, Scanner};
use super::field::Field;
use super::piece::{Flaw, Piece};
use super::place::Found;
use crate::json::{
    BAD_ESCAPE, CONTROL, Cursor, DEEP, Minified, SURROGATE, Shape, push_quoted, unescape, write_valid,
};
use std::collections::HashMap;

/// Phases whose id has a place of its own.
fn has_id(phase: u8) -> bool {
    b"benSTpFstfNODC".contains(&phase)
}

/// Phases that a kind of instant does not tell.
fn untold(phase: u8) -> bool {
    !b"XBEiIRCbensStfFNODMPvc(".contains(&phase)
}

/// True when something beside `extras` has to be kept in the arguments.
#[inline]
pub(super) fn has_more(event: &Event) -> bool {
    if event.phase == b'X' || event.phase == b'B' {
        return event.id.present() || event.scope.present();
    }
    (event.id.present() && !has_id(event.phase)) || untold(event.phase)
}

/// Repairs the arguments of an event in the piece; true when that was a repair.
#[cold]
pub(super) fn event(
    scanner: &mut Scanner,
    event: &Event,
    found: &Found<'_>,
    rules: &Rules,
    piece: &mut Piece,
) -> bool {
    let offset = (event.start - found.start) as u64;
    let mut flaws = Vec::new();
    let mut text = std::mem::take(&mut scanner.scratch);
    for (bit, flaw) in ODD_FLAWS {
        if found.odd & bit != 0 {
            flaws.push(flaw);
        }
    }
    if event.twice {
        flaws.push(Flaw::DuplicateKey);
    }
    let raw = &found.data[event.start..found.end];
    let unclean = !found.clean && std::str::from_utf8(raw).is_err();
    if unclean {
        flaws.push(Flaw::InvalidUtf8);
    }
    let mut lone = false;
    for field in [event.name, event.category, event.pid, event.tid, event.id] {
        if field.odd & SURROGATE != 0 {
            text.clear();
            lone |= unescape(found.text(field), &mut text);
        }
    }
    text.clear();
    let args = &found.data[event.args.start..event.args.end];
    if event.args.odd & DEEP != 0 {
        text.extend_from_slice(b"{\"$dropped\":\"nested deeper than 256 levels\"}");
    } else if event.args.shape == Shape::Object {
        lone |= write_valid(args, &mut text) && event.args.odd & SURROGATE != 0;
        if event.args.suspect && without_duplicates(&mut text) {
            flaws.push(Flaw::DuplicateKey);
        }
    } else if event.args.shape != Shape::Null {
        text.extend_from_slice(b"{\"$args\":");
        lone |= write_valid(args, &mut text) && event.args.odd & SURROGATE != 0;
        text.push(b'}');
    }
    if text == b"{}" {
        text.clear();
    }
    more(scanner, event, found, &mut text);
    if lone && !unclean {
        flaws.push(Flaw::LoneSurrogate);
    }
    for flaw in &flaws {
        piece.flaws.add(*flaw, offset);
    }
    if rules.keep_args || event.phase != b'X' {
        piece.slices.args_json.truncate(found.args_from);
        piece.slices.args_json.extend_from_slice(&text);
    }
    scanner.scratch = text;
    !flaws.is_empty()
}

/// Adds the keys that have no place of their own.
fn more(scanner: &mut Scanner, event: &Event, found: &Found<'_>, text: &mut Vec<u8>) {
    let mut key = Vec::new();
    let mut add = |name: &[u8], field: Field| {
        match text.pop() {
            None => text.push(b'{'),
            Some(_) => text.push(b','),
        }
        text.extend_from_slice(b"\"$");
        let quoted = text.len();
        push_quoted(&String::from_utf8_lossy(name), text);
        text.remove(quoted);
        text.push(b':');
        let raw = found.text(field);
        if field.shape == Shape::String {
            text.push(b'"');
            if field.odd & (CONTROL | BAD_ESCAPE | SURROGATE) == 0 {
                crate::json::push_utf8(raw, text);
            } else {
                key.clear();
                unescape(raw, &mut key);
                text.pop();
                push_quoted(&String::from_utf8_lossy(&key), text);
                text.pop();
            }
            text.push(b'"');
        } else {
            write_valid(raw, text);
        }
        text.push(b'}');
    };
    for (i, (name, value)) in scanner.extras.iter().enumerate() {
        let mut plain = Vec::new();
        unescape(&found.data[name.start..name.end], &mut plain);
        let again = scanner.extras[i + 1..].iter().any(|(later, _)| {
            let mut other = Vec::new();
            unescape(&found.data[later.start..later.end], &mut other);
            other == plain
        });
        let deep = found.odd & DEEP != 0 && matches!(value.shape, Shape::Object | Shape::Array);
        if !again && !deep {
            add(&plain, *value);
        }
    }
    if event.id.present() && !has_id(event.phase) {
        add(b"id", event.id);
    }
    if event.scope.present() && !has_id(event.phase) {
        add(b"scope", event.scope);
    }
    if untold(event.phase) && event.phase_text.present() {
        add(b"ph", event.phase_text);
    }
}

/// Joins two objects; members of the second win.
pub(super) fn join(first: &[u8], second: &[u8], out: &mut Vec<u8>) {
    out.clear();
    if first.len() <= 2 || second.len() <= 2 {
        out.extend_from_slice(if second.len() <= 2 { first } else { second });
        return;
    }
    out.extend_from_slice(&first[..first.len() - 1]);
    out.push(b',');
    out.extend_from_slice(&second[1..]);
    without_duplicates(out);
}

/// Drops the members of a valid object that a later one of the same name replaces.
pub(super) fn without_duplicates(text: &mut Vec<u8>) -> bool {
    let mut cursor = Cursor::new(text, 0);
    let mut members: Vec<(Vec<u8>, usize, usize)> = Vec::new();
    let mut none = Vec::new();
    let read = cursor.members(&mut Minified::new(&mut none, 0, false), |cursor, key, _| {
        let mut name = Vec::new();
        unescape(&cursor.data[key.start..key.end], &mut name);
        let mut none = Vec::new();
        // A number at the end of an object is always followed by a brace.
        cursor.value(&mut Minified::new(&mut none, 0, false))?;
        members.push((name, key.start - 1, cursor.pos));
        Ok(())
    });
    if read.is_err() {
        return false;
    }
    let mut last: HashMap<&[u8], usize> = HashMap::new();
    for (i, (name, ..)) in members.iter().enumerate() {
        last.insert(name, i);
    }
    if last.len() == members.len() {
        return false;
    }
    let mut out = vec![b'{'];
    for (i, (name, start, end)) in members.iter().enumerate() {
        if last[name.as_slice()] == i {
            if out.len() > 1 {
                out.push(b',');
            }
            out.extend_from_slice(&text[*start..*end]);
        }
    }
    out.push(b'}');
    *text = out;
    true
}
