//! Second pass over a line: the events of one piece become slices. The hot path of this format.
//!
//! Over 400 lines because it is one path: the steps of an event follow in their order.

use super::args::{Args, Found, read_stat};
use super::metadata::{Kinds, Role, StatNames};
use super::pieces::{Link, Mark, OpText, Piece, Place, in_nesting_order, reorder};
use super::render::render;
use super::roles::{LINKS, MARKS, OPS, Roles};
use super::tally::{Problem, Tally};
use crate::columns::{MISSING, NONE, SliceColumns};
use crate::error::{Error, Kind as ErrorKind, Result};
use crate::proto::wire;
use crate::store::Needs;

/// Args may unfold to this many bytes of text for a byte of the file, and a bit: names that are referred
/// to again and again make honest files ten times longer, a bomb thousands of times.
const TEXT_RATIO_LIMIT: usize = 200;
const TEXT_RATIO_FROM_BYTES: usize = 64 << 20;

/// Decodes pieces of one plane.
pub struct Decoder<'p> {
    pub stats: &'p StatNames,
    pub kinds: &'p Kinds,
    pub needs: Needs,
}

/// An event as it is read.
#[derive(Default, Clone, Copy)]
struct Event {
    kind: u64,
    offset_ps: i64,
    dur_ps: i64,
    occurrences: i64,
    /// Where its stats are, if they are together at its end.
    stats_start: usize,
    stats: u32,
    odd: u8,
}

/// What may be odd about an event, as bits of [`Event::odd`].
const ARGS_DAMAGED: u8 = 1;
const NOT_UTF8: u8 = 2;
const NAMELESS: u8 = 4;
/// It was added up from several; [`Event::occurrences`] counts.
const ADDED_UP: u8 = 8;
/// An offset was found.
const PLACED: u8 = 16;
/// Another offset was found after the first.
const LATE: u8 = 32;
/// Its stats are not together.
const SCATTERED: u8 = 64;

const SHORT: &str = "a number that is cut short or too long";

impl Decoder<'_> {
    /// Decodes the fields of a line in `bytes`, which begin at `base` in the file, into `columns`,
    /// which are empty.
    pub fn piece(
        &self,
        bytes: &[u8],
        base: u64,
        place: &Place,
        events: u64,
        ordered: bool,
        columns: SliceColumns,
    ) -> Result<Piece> {
        let mut piece = Piece { columns, ..Piece::default() };
        let rows = events as usize;
        let columns = &mut piece.columns;
        columns.name.reserve(rows);
        columns.ts_ps.reserve(rows);
        columns.dur_ps.reserve(rows);
        columns.op_name.reserve(rows);
        columns.op_type.reserve(rows);
        columns.args_end.reserve(rows);
        if self.needs.args {
            columns.args_json.reserve(bytes.len());
        }
        let mut roles = Roles::new();
        let (mut at, mut stats) = (0, 0);
        while at < bytes.len() {
            let start = at;
            let (from, end) = match line_field(bytes, &mut at) {
                Ok(Some(body)) => body,
                Ok(None) => continue,
                Err(_) => {
                    piece.tally.add(Problem::Structure, 1, base + start as u64);
                    break;
                }
            };
            roles.bits = 0;
            let event = match self.usual(bytes, from, end, &mut roles) {
                Some(event) => event,
                None => match self.any_event(&bytes[..end], from, &mut roles) {
                    Ok(event) => event,
                    Err(_) => {
                        piece.tally.add(Problem::Event, 1, base + start as u64);
                        continue;
                    }
                },
            };
            if event.odd & LATE != 0 && ordered {
                self.aside(&mut piece, place, base + start as u64, &bytes[from..end]);
                continue;
            }
            stats += event.stats as usize;
            self.slice(&mut piece, place, base + start as u64, &bytes[..end], from, event, &roles);
        }
        if self.needs.args {
            self.limit(bytes.len(), stats, base, &mut piece)?;
        }
        self.complete(&mut piece, place);
        Ok(piece)
    }

    #[cold]
    fn aside(&self, piece: &mut Piece, place: &Place, offset: u64, body: &[u8]) {
        let field = {
            let mut field = vec![0x22];
            super::window::push_varint(&mut field, body.len() as u64);
            field.extend(body);
            field
        };
        // Whole events do not fail, and a single one is no bomb: the text of its args is bounded by
        // what the first reading of the piece allowed.
        if let Ok(one) = self.piece(&field, offset, place, 1, false, SliceColumns::default()) {
            piece.aside.push(one);
        }
    }

    /// Refuses a bomb: args whose text is far longer than what it is made of.
    fn limit(&self, bytes: usize, stats: usize, base: u64, piece: &mut Piece) -> Result<()> {
        let columns = &piece.columns;
        let limit = TEXT_RATIO_FROM_BYTES + TEXT_RATIO_LIMIT * bytes;
        // A stat takes at most two names and a number, and what else it holds six times its bytes.
        let most = stats * (2 * self.stats.longest + 64) + 6 * columns.args_json.len();
        if most <= limit {
            return Ok(());
        }
        let (mut args, mut total) = (Args::default(), 0);
        for row in 0..columns.len() {
            let (start, end) = (columns.args_start(row), columns.args_end[row] as usize);
            args.text.truncate(0);
            render(&mut args, self.stats, &columns.args_json, start, end);
            total += args.text.len();
            if args.text.len() > i32::MAX as usize {
                piece.tally.add(Problem::ArgsTooLong, 1, base);
            }
            if total > limit {
                return Err(Error::at(
                    ErrorKind::Limit,
                    base,
                    format!("{bytes} bytes of events unfold to more than {limit} bytes of args"),
                ));
            }
        }
        Ok(())
    }

    /// Reads the event in `bytes[at..end]` if it is written as every writer writes it: kind, offset,
    /// duration, stats. Numbers are read from `bytes`, of which more follows mostly, and checked
    /// against `end` afterwards: that spares a slow path at each end.
    #[inline(always)]
    fn usual<'a>(&self, bytes: &'a [u8], mut at: usize, end: usize, roles: &mut Roles<'a>) -> Option<Event> {
        let mut event = Event::default();
        if at < end && bytes[at] == 0x08 {
            at += 1;
            event.kind = wire::mixed_varint(bytes, &mut at)?;
        }
        if at < end && bytes[at] == 0x10 {
            at += 1;
            event.offset_ps = wire::mixed_varint(bytes, &mut at)? as i64;
        }
        if at < end && bytes[at] == 0x18 {
            at += 1;
            event.dur_ps = wire::mixed_varint(bytes, &mut at)? as i64;
        }
        event.stats_start = at;
        while at < end {
            event.stats += 1;
            if let Some(length) = self.usual_stat(bytes, at, roles) {
                at += length;
                continue;
            }
            if bytes[at] != 0x22 {
                return None;
            }
            at += 1;
            let length = wire::length(&bytes[..end], &mut at).ok()?;
            event.odd |= self.stat(&bytes[at..at + length], roles);
            at += length;
        }
        (at == end).then_some(event)
    }

    /// Looks at a stat as every writer writes integers and references: `22`, a length, `08`, a small
    /// id, tag and number. Returns how long all that is; None for a stat whose name is missing.
    #[inline(always)]
    fn usual_stat<'a>(&self, bytes: &'a [u8], at: usize, roles: &mut Roles<'a>) -> Option<usize> {
        let sixteen = bytes.get(at..)?.first_chunk::<16>()?;
        let all = u128::from_le_bytes(*sixteen);
        let word = all as u64;
        if word & 0x80ff_80ff != 0x0008_0022 {
            return None;
        }
        let (length, id, tag) = (word >> 8 & 0x7f, word >> 24 & 0x7f, word >> 32 & 0xff);
        let number = wire::short_varint(all >> 40, (length as usize).wrapping_sub(3))?;
        let reference = tag == 0x38;
        if !reference && tag != 0x18 && tag != 0x20 {
            return None;
        }
        let role = self.stats.quick_role(id)?;
        // An id of eight bytes has no name that is known without looking.
        let named = if reference { number } else { id };
        self.stats.quick_role(named)?;
        if role != Role::None || (reference && length > 11) {
            if length > 11 {
                return None;
            }
            roles.take_number(role, number, reference);
        }
        Some(length as usize + 2)
    }

    /// Reads the event in `bytes[at..]`, however it is written.
    #[cold]
    #[inline(never)]
    fn any_event<'a>(
        &self,
        bytes: &'a [u8],
        mut at: usize,
        roles: &mut Roles<'a>,
    ) -> std::result::Result<Event, &'static str> {
        roles.bits = 0;
        let mut event = Event { stats_start: at, odd: SCATTERED, ..Event::default() };
        while at < bytes.len() {
            let (number, wire) = wire::tag(bytes, &mut at)?;
            match (number, wire) {
                (1, 0) => event.kind = wire::varint(bytes, &mut at).ok_or(SHORT)?,
                (2, 0) => {
                    event.offset_ps = wire::varint(bytes, &mut at).ok_or(SHORT)? as i64;
                    event.odd = placed(event.odd) & !ADDED_UP;
                }
                (3, 0) => event.dur_ps = wire::varint(bytes, &mut at).ok_or(SHORT)? as i64,
                (4, 2) => {
                    let length = wire::length(bytes, &mut at)?;
                    event.odd |= self.stat(&bytes[at..at + length], roles);
                    event.stats += 1;
                    at += length;
                }
                (5, 0) => {
                    event.occurrences = wire::varint(bytes, &mut at).ok_or(SHORT)? as i64;
                    event.offset_ps = 0;
                    event.odd = placed(event.odd) | ADDED_UP;
                }
                _ => wire::skip(bytes, &mut at, number, wire)?,
            }
        }
        Ok(event)
    }

    /// Looks at a stat: what it means to us. Tells what is odd about it.
    #[inline(never)]
    fn stat<'a>(&self, bytes: &'a [u8], roles: &mut Roles<'a>) -> u8 {
        let Ok((id, found)) = read_stat(bytes) else {
            return ARGS_DAMAGED;
        };
        let mut odd = 0;
        match self.stats.role(id) {
            Some(Role::None) => {}
            Some(role) => roles.take(role, found),
            None => odd |= NAMELESS,
        }
        match found {
            Found::Ref(id) if self.stats.role(id).is_none() => odd |= NAMELESS,
            Found::Str(bytes) if std::str::from_utf8(bytes).is_err() => odd |= NOT_UTF8,
            _ => {}
        }
        odd
    }

    /// `bytes[from..]` is the event.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn slice<'a>(
        &self,
        piece: &mut Piece,
        place: &Place,
        offset: u64,
        bytes: &'a [u8],
        from: usize,
        mut event: Event,
        roles: &Roles<'a>,
    ) {
        if event.dur_ps < 0 {
            event.dur_ps = 0;
            piece.tally.add(Problem::NegativeDuration, 1, offset);
        }
        let ts_ps = place.base_ps.and_then(|base| base.checked_add(event.offset_ps));
        // The end has to fit as well, and MISSING is not a time.
        let Some(ts_ps) = ts_ps.filter(|ts| *ts != MISSING && ts.checked_add(event.dur_ps).is_some()) else {
            piece.tally.add(Problem::Time, 1, offset);
            return;
        };
        let row = piece.columns.ts_ps.len() as u32;
        let mut marker = place.delimits || roles.bits & MARKS != 0;
        match self.kinds.get(event.kind) {
            Some(kind) => {
                piece.columns.name.push(kind.name);
                piece.columns.op_name.push(kind.op_name);
                piece.columns.op_type.push(kind.op_type);
                marker |= kind.marker && !place.background;
                if kind.category != NONE {
                    piece.columns.category.resize(row as usize, place.category);
                    piece.columns.category.push(kind.category);
                }
                if roles.bits & OPS != 0 && kind.op_name == NONE {
                    self.op(piece, row, place, roles);
                }
            }
            None => {
                piece.columns.name.push(0);
                piece.columns.op_name.push(NONE);
                piece.columns.op_type.push(NONE);
                piece.unnamed.push((row, event.kind));
                event.odd |= NAMELESS;
                if roles.bits & OPS != 0 {
                    self.op(piece, row, place, roles);
                }
            }
        }
        piece.columns.ts_ps.push(ts_ps);
        piece.columns.dur_ps.push(event.dur_ps);
        if let Some(id) = roles.number(Role::Correlation)
            && let Ok(id) = i64::try_from(id)
        {
            piece.columns.correlation.resize(row as usize, MISSING);
            piece.columns.correlation.push(id);
        }
        if roles.bits & LINKS != 0 && self.needs.tables {
            self.links(piece, row, roles);
        }
        if marker {
            self.mark(piece, row, bytes, from, &event, roles);
        }
        if event.odd & (ARGS_DAMAGED | NOT_UTF8 | NAMELESS | ADDED_UP) != 0 {
            count(&mut piece.tally, &event, offset);
        }
        if self.needs.args {
            keep(&mut piece.columns.args_json, bytes, from, &event);
        }
        piece.columns.args_end.push(piece.columns.args_json.len() as u32);
    }

    fn links(&self, piece: &mut Piece, row: u32, roles: &Roles<'_>) {
        let ends =
            [(true, Role::ProducerType, Role::ProducerId), (false, Role::ConsumerType, Role::ConsumerId)];
        for (produces, kind, id) in ends {
            if let (Some(kind), Some(id)) = (roles.number(kind), roles.number(id)) {
                piece.links.push(Link { row, produces, kind, id });
            }
        }
    }

    /// Args of marks are kept even when nobody needs args: the steps are worked out from them.
    #[cold]
    fn mark(&self, piece: &mut Piece, row: u32, bytes: &[u8], from: usize, event: &Event, roles: &Roles<'_>) {
        let (mut kept, mut args) = (Vec::new(), Args::default());
        keep(&mut kept, bytes, from, event);
        render(&mut args, self.stats, &kept, 0, kept.len());
        let step = roles.number(Role::StepNumber).map(|step| step as i64);
        piece.marks.push(Mark { row, step, args_json: args.text.into_bytes() });
    }

    fn op(&self, piece: &mut Piece, row: u32, place: &Place, roles: &Roles<'_>) {
        let tf = !roles.has_text(Role::HloOp);
        let role = if tf { Role::TfOp } else { Role::HloOp };
        let text = if tf && !place.device { NONE } else { self.text(piece, role, roles) };
        let category = self.text(piece, Role::HloCategory, roles);
        if text != NONE || category != NONE {
            piece.ops.push(OpText { row, text, category, tf });
        }
    }

    fn text(&self, piece: &mut Piece, role: Role, roles: &Roles<'_>) -> u32 {
        if !roles.has_text(role) {
            return NONE;
        }
        match roles.texts[role as usize] {
            Found::Ref(id) => self.stats.ids.get(id).map_or(NONE, |slot| slot as u32),
            Found::Str(bytes) => {
                let text = String::from_utf8_lossy(bytes).into_owned();
                piece.texts.push(text);
                (self.stats.entries.len() + piece.texts.len() - 1) as u32
            }
            _ => NONE,
        }
    }

    fn complete(&self, piece: &mut Piece, place: &Place) {
        let columns = &mut piece.columns;
        let rows = columns.ts_ps.len();
        columns.track.resize(rows, place.track);
        columns.category.resize(rows, place.category);
        columns.correlation.resize(rows, MISSING);
        if !in_nesting_order(columns) {
            reorder(piece);
        }
    }
}

/// Keeps the fields of the event in `bytes[from..]` that hold its args, as [`render`] reads them.
#[inline(always)]
fn keep(out: &mut Vec<u8>, bytes: &[u8], from: usize, event: &Event) {
    if event.odd & SCATTERED != 0 {
        return gather(out, &bytes[from..], event);
    }
    out.extend_from_slice(&bytes[event.stats_start..]);
}

/// [`keep`] where fields are in an order that no writer uses.
#[cold]
fn gather(out: &mut Vec<u8>, body: &[u8], event: &Event) {
    // The event was read without an error just now.
    for field in wire::Fields::new(body, 0).flatten() {
        if let (4, Some(stat)) = (field.number, field.bytes()) {
            out.push(0x22);
            super::window::push_varint(out, stat.len() as u64);
            out.extend_from_slice(stat);
        }
    }
    if event.odd & ADDED_UP != 0 {
        out.push(0x28);
        super::window::push_varint(out, event.occurrences as u64);
    }
}

#[cold]
fn count(tally: &mut Tally, event: &Event, offset: u64) {
    for (bit, problem) in [
        (ADDED_UP, Problem::Aggregated),
        (ARGS_DAMAGED, Problem::Args),
        (NOT_UTF8, Problem::Text),
        (NAMELESS, Problem::Unnamed),
    ] {
        if event.odd & bit != 0 {
            tally.add(problem, 1, offset);
        }
    }
}

/// The bits of an event that has another offset.
fn placed(odd: u8) -> u8 {
    if odd & PLACED != 0 { odd | LATE } else { odd | PLACED }
}

/// Where the next event in a line lies; None for any other field.
#[inline(always)]
fn line_field(bytes: &[u8], at: &mut usize) -> std::result::Result<Option<(usize, usize)>, &'static str> {
    if bytes[*at] == 0x22 {
        *at += 1;
    } else {
        let (number, wire) = wire::tag(bytes, at)?;
        if (number, wire) != (4, 2) {
            wire::skip(bytes, at, number, wire)?;
            return Ok(None);
        }
    }
    let length = wire::length(bytes, at)?;
    let start = *at;
    *at += length;
    Ok(Some((start, *at)))
}
