//! Stats as the store keeps them, and the JSON text that they become when somebody asks for it.
//!
//! Most questions never look at args, and their text is three times as long as the stats. So decoding
//! keeps the fields of an event that hold its args as the file has them: its stats (field 4) and the
//! number of its occurrences (field 5). Stats that occur twice or out of order are put in order
//! before it is kept, so that the same bytes always give the same text.

use super::args::{Args, read_stat};
use super::metadata::StatNames;
use crate::proto::wire;
use crate::store::lazy_text::{Lazy, LazyText, TextWriter};

/// Args of XPlane in a store.
pub const LAZY: Lazy = Lazy {
    format: "xplane",
    prepare: |names| Box::new(Planes(names.into_iter().map(StatNames::new).collect())),
};

/// The names of the stats of each plane.
#[derive(Debug)]
struct Planes(Vec<StatNames>);

impl LazyText for Planes {
    fn writer(&self, capacity_bytes: usize) -> Box<dyn TextWriter + '_> {
        Box::new(Rendered { planes: &self.0, args: Args::with_capacity(capacity_bytes) })
    }
}

/// Args being written.
struct Rendered<'a> {
    planes: &'a [StatNames],
    args: Args,
}

impl TextWriter for Rendered<'_> {
    fn push(&mut self, names: usize, kept: &[u8], start: usize, end: usize) {
        render(&mut self.args, &self.planes[names], kept, start, end);
    }

    fn written(&self) -> usize {
        self.args.text.len()
    }

    fn truncate(&mut self, bytes: usize) {
        self.args.text.truncate(bytes);
    }

    fn into_bytes(self: Box<Self>) -> Vec<u8> {
        self.args.text.into_bytes()
    }
}

/// Writes the args in `bytes[at..end]` behind those of the slice before; nothing when there are none.
/// Stats that cannot be read are left out: they were counted when they were decoded. Numbers are read
/// from `bytes`, of which more follows mostly, and checked against their end afterwards: that spares a
/// slow path at each end.
#[inline]
pub fn render(args: &mut Args, names: &StatNames, bytes: &[u8], mut at: usize, end: usize) {
    args.begin();
    let mut occurrences = None;
    while at < end {
        let tag = bytes[at];
        at += 1;
        if tag == 0x22
            && let Ok(length) = wire::length(&bytes[..end], &mut at)
        {
            stat(args, names, bytes, at, at + length);
            at += length;
        } else if tag == 0x28
            && let Some(number) = wire::varint(&bytes[..end], &mut at)
        {
            occurrences = Some(number as i64);
        } else {
            break;
        }
    }
    if let Some(occurrences) = occurrences {
        args.add_own("$occurrences", occurrences);
    }
    args.end();
}

#[inline(always)]
fn stat(args: &mut Args, names: &StatNames, bytes: &[u8], start: usize, end: usize) {
    // As every writer writes integers and references: 08 id, tag and number up to the end.
    let mut at = start + 1;
    if start < end
        && bytes[start] == 0x08
        && let Some(id) = wire::varint(bytes, &mut at)
        && at < end
        && let tag = bytes[at]
        && matches!(tag, 0x18 | 0x20 | 0x38)
    {
        at += 1;
        if let Some(number) = wire::varint(bytes, &mut at)
            && at == end
            && let Some(name) = names.get(id)
        {
            args.key(names, name);
            match tag {
                0x18 => args.text.unsigned(number),
                0x20 => args.text.signed(number as i64),
                _ => args.reference(names, number),
            }
            args.member(name);
            return;
        }
    }
    any_stat(args, names, &bytes[start..end]);
}

#[inline(never)]
fn any_stat(args: &mut Args, names: &StatNames, bytes: &[u8]) {
    if let Ok((id, found)) = read_stat(bytes) {
        args.add_any(names, id, found);
    }
}
