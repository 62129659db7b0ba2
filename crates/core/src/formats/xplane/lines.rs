//! First pass over a line: its header, whether its events are in order, and where it can be cut.
//!
//! Slices of a line in order go out while the next are decoded; whether a line is in order is known
//! only at its end. So each line is walked twice: here by the lengths and offsets of its events
//! alone, then piece by piece, in parallel, by [`super::events`].

use super::metadata::read_name;
use super::resync;
use super::window::{Extent, Head, Trouble, Window};
use crate::proto::wire;

/// Pieces are cut at about this many bytes: they stay in the processor's cache.
const PIECE_BYTES: u64 = 512 << 10;

/// A piece does not grow beyond this to keep slices of equal start together; the line then counts
/// as unordered. An event longer than this is a piece of its own and read without its long values.
pub const PIECE_LIMIT_BYTES: u64 = 16 << 20;

/// A piece does not hold more than this of what is no event.
const GAP_BYTES: u64 = 64 << 10;

/// A stretch of whole fields of a line, and the events in it.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    pub extent: Extent,
    pub events: u64,
}

/// A line before its events are decoded.
#[derive(Debug, Default)]
pub struct Line {
    pub id: i64,
    pub display_id: i64,
    pub name: String,
    pub timestamp_ns: i64,
    pub cuts: Vec<Cut>,
    /// True when the events lie in the order of their starts.
    pub ordered: bool,
    /// Events that cannot be reached, at least, and where the first of them is.
    pub lost: u64,
    pub lost_offset: Option<u64>,
    /// Names repaired or cut.
    pub repaired_names: u64,
}

/// Cuts a line into pieces while its events go by.
struct Cutter {
    piece: Cut,
    last_offset_ps: i64,
    /// Start of the run of events that begin together, and the events of the piece before it.
    run: u64,
    before_run: u64,
    after_gap: bool,
}

impl Cutter {
    /// Takes in the event in `extent`. Damaged events have no offset: they will not become slices.
    #[inline(always)]
    fn event(&mut self, line: &mut Line, extent: Extent, offset_ps: Option<i64>) {
        if self.piece.events > 0 && extent.start > self.piece.extent.end + GAP_BYTES {
            self.end(line);
        }
        if self.piece.events == 0 {
            self.piece.extent = extent;
            self.run = extent.start;
            self.before_run = 0;
        }
        if let Some(offset_ps) = offset_ps {
            if offset_ps != self.last_offset_ps {
                line.ordered &= offset_ps > self.last_offset_ps;
                self.last_offset_ps = offset_ps;
                self.run = extent.start;
                self.before_run = self.piece.events;
            } else if self.after_gap {
                line.ordered = false;
            }
            self.after_gap = false;
        }
        if extent.end - self.piece.extent.start > PIECE_BYTES && self.piece.events > 0 {
            self.divide(line, extent);
        }
        self.piece.extent.end = extent.end;
        self.piece.events += 1;
    }

    #[cold]
    fn divide(&mut self, line: &mut Line, extent: Extent) {
        let start = self.piece.extent.start;
        if self.before_run > 0 {
            // Slices that begin together stay together, so that they can be put in nesting order.
            line.cuts.push(Cut { extent: Extent { start, end: self.run }, events: self.before_run });
            self.piece.extent.start = self.run;
            self.piece.events -= self.before_run;
        } else if extent.end - start > PIECE_LIMIT_BYTES {
            line.ordered = false;
            line.cuts.push(self.piece);
            self.piece = Cut { extent, events: 0 };
            self.run = extent.start;
        }
        self.before_run = 0;
    }

    /// Ends the piece: what follows does not join it.
    fn end(&mut self, line: &mut Line) {
        if self.piece.events > 0 {
            line.cuts.push(self.piece);
        }
        self.piece.events = 0;
        self.after_gap = true;
    }
}

/// Walks over a line. `cut` says that what holds the line ends before it does.
pub fn scan(window: &mut Window<'_>, extent: Extent, cut: bool) -> Result<Line, Trouble> {
    let mut line = Line { ordered: true, ..Line::default() };
    let (mut name, mut display_name) = (String::new(), String::new());
    let mut cutter = Cutter {
        piece: Cut { extent, events: 0 },
        last_offset_ps: i64::MIN,
        run: 0,
        before_run: 0,
        after_gap: false,
    };
    let mut at = extent.start;
    while at < extent.end {
        if let Some((next, offset_ps)) = quick_event(window, at, extent.end)? {
            cutter.event(&mut line, Extent { start: at, end: next }, offset_ps);
            at = next;
            continue;
        }
        let head = match window.field(at, extent.end) {
            Ok(Some(head)) if !head.cut => head,
            Ok(None) => break,
            Err(Trouble::Failure(error)) => return Err(error.into()),
            Ok(Some(_)) | Err(Trouble::Damage(_)) => {
                line.lost += 1;
                line.lost_offset.get_or_insert(at);
                cutter.end(&mut line);
                let rest = Extent { start: at + 1, end: extent.end };
                match if cut { None } else { resync::find(window, rest, resync::EVENT)? } {
                    Some(next) => at = next,
                    None => break,
                }
                continue;
            }
        };
        match head.number {
            4 if head.wire == 2 => {
                let offset_ps = long_offset(window, head.body)?;
                // The field may begin behind a group that was passed over.
                cutter.event(&mut line, Extent { start: at, end: head.body.end }, offset_ps);
            }
            2 if head.wire == 2 => name = read_name(window, head.body, &mut line.repaired_names)?,
            11 if head.wire == 2 => display_name = read_name(window, head.body, &mut line.repaired_names)?,
            _ => header(&mut line, &head),
        }
        at = head.body.end;
    }
    cutter.end(&mut line);
    line.name = if display_name.is_empty() { name } else { display_name };
    Ok(line)
}

fn header(line: &mut Line, head: &Head) {
    match (head.number, head.wire) {
        (1, 0) => line.id = head.value as i64,
        (3, 0) => line.timestamp_ns = head.value as i64,
        (10, 0) => line.display_id = head.value as i64,
        _ => {}
    }
}

/// Where the event at `at` ends, and its offset: for an event that lies wholly in the window.
#[inline(always)]
fn quick_event(window: &mut Window<'_>, at: u64, end: u64) -> Result<Option<(u64, Option<i64>)>, Trouble> {
    let bytes = window.at(at, 256)?;
    let left = usize::try_from(end - at).unwrap_or(usize::MAX);
    let bytes = &bytes[..bytes.len().min(left)];
    let mut next = 1;
    if bytes.first() != Some(&0x22) {
        return Ok(None);
    }
    let Ok(length) = wire::length(bytes, &mut next) else {
        return Ok(None);
    };
    let offset_ps = match first_offset(bytes, next, next + length) {
        None => offset_of(bytes, next, next + length),
        some => some,
    };
    Ok(Some((at + (next + length) as u64, offset_ps)))
}

/// Offset of an event that begins as every writer begins it: `08` kind `10` offset. A second offset
/// further on would win; such an event is put aside when it is decoded.
#[inline(always)]
fn first_offset(bytes: &[u8], mut at: usize, end: usize) -> Option<i64> {
    if at < end && bytes[at] == 0x08 {
        at += 1;
        wire::varint(bytes, &mut at)?;
    }
    if at < end && bytes[at] == 0x10 {
        at += 1;
        let offset_ps = wire::varint(bytes, &mut at)? as i64;
        return (at <= end).then_some(offset_ps);
    }
    None
}

/// Offset relative to its line of the event in `bytes[at..end]`: 0 for an aggregated event, whose
/// place is not known; None for a damaged one. Has to agree with [`super::events`].
#[inline(never)]
fn offset_of(bytes: &[u8], mut at: usize, end: usize) -> Option<i64> {
    let mut offset_ps = 0;
    while at < end {
        let tag = bytes[at];
        at += 1;
        match tag {
            0x22 => {
                let length = wire::length(&bytes[..end], &mut at).ok()?;
                at += length;
            }
            0x08 | 0x18 => {
                wire::varint(bytes, &mut at)?;
            }
            0x10 => offset_ps = wire::varint(bytes, &mut at)? as i64,
            _ => {
                at -= 1;
                rare_field(&bytes[..end], &mut at, &mut offset_ps)?;
            }
        }
    }
    (at == end).then_some(offset_ps)
}

#[cold]
fn rare_field(body: &[u8], at: &mut usize, offset_ps: &mut i64) -> Option<()> {
    match wire::tag(body, at).ok()? {
        (2, 0) => *offset_ps = wire::varint(body, at)? as i64,
        (5, 0) => {
            wire::varint(body, at)?;
            *offset_ps = 0;
        }
        (number, wire) => wire::skip(body, at, number, wire).ok()?,
    }
    Some(())
}

/// Like [`offset_of`], for an event of any length.
fn long_offset(window: &mut Window<'_>, body: Extent) -> Result<Option<i64>, Trouble> {
    if body.len() <= 64 << 10 {
        let bytes = window.at(body.start, body.len() as usize)?;
        let length = body.len() as usize;
        return Ok(if bytes.len() < length { None } else { offset_of(bytes, 0, length) });
    }
    let (mut at, mut offset_ps) = (body.start, 0);
    loop {
        match window.field(at, body.end) {
            Ok(Some(head)) if !head.cut => {
                offset_ps = match (head.varint(2), head.varint(5)) {
                    (Some(value), _) => value as i64,
                    (_, Some(_)) => 0,
                    _ => offset_ps,
                };
                at = head.body.end;
            }
            Ok(None) => return Ok(Some(offset_ps)),
            Ok(Some(_)) | Err(Trouble::Damage(_)) => return Ok(None),
            Err(failure) => return Err(failure),
        }
    }
}
