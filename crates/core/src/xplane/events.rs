//! Second pass over a line: the events of one piece become slices. The hot path of this format.
//!
//! Over 400 lines because it is one path: what an event goes through stands in its order.

use super::args::{Args, Found, read_stat};
use super::metadata::{Kinds, Role, StatNames};
use super::pieces::{Link, Mark, OpTold, Piece, Place, in_nesting_order, reorder};
use super::render::render;
use super::tally::{Problem, Tally};
use super::told::{LINKS, MARKS, OPS, Told};
use crate::columns::{MISSING, NONE, SliceColumns};
use crate::error::{Error, Kind as ErrorKind, Result};
use crate::store::Needs;
use crate::wire;

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
#[derive(Default)]
struct Event {
    kind: u64,
    offset_ps: i64,
    dur_ps: i64,
    occurrences: Option<i64>,
    args_damaged: bool,
    not_utf8: bool,
    nameless: bool,
    /// An offset was told before; another one follows.
    offset_told: bool,
    late: bool,
    /// Where its stats lie, when they lie together at its end.
    stats_start: usize,
    scattered: bool,
    stats: u32,
}

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
        let mut piece = Piece {
            columns,
            ..Piece::default()
        };
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
        let mut told = Told::new();
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
            told.bits = 0;
            let mut event = Event::default();
            if self.event(bytes, from, end, &mut event, &mut told).is_err() {
                piece.tally.add(Problem::Event, 1, base + start as u64);
                continue;
            }
            if event.late && ordered {
                self.aside(&mut piece, place, base + start as u64, &bytes[from..end]);
                continue;
            }
            stats += event.stats as usize;
            self.slice(
                &mut piece,
                place,
                base + start as u64,
                &bytes[..end],
                from,
                event,
                &told,
            );
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

    /// Reads the event in `bytes[at..end]`. Numbers are read from `bytes`, of which more follows
    /// mostly, and checked against `end` afterwards: that spares a slow path at each end.
    #[inline(always)]
    fn event<'a>(
        &self,
        bytes: &'a [u8],
        mut at: usize,
        end: usize,
        event: &mut Event,
        told: &mut Told<'a>,
    ) -> std::result::Result<(), &'static str> {
        event.stats_start = end;
        while at < end {
            let tag = bytes[at];
            at += 1;
            match tag {
                0x22 => {
                    event.stats_start = event.stats_start.min(at - 1);
                    let length = wire::length(&bytes[..end], &mut at)?;
                    self.stat(bytes, at, at + length, event, told);
                    at += length;
                    continue;
                }
                0x08 => event.kind = wire::varint(bytes, &mut at).ok_or(SHORT)?,
                0x10 => {
                    event.offset_ps = wire::varint(bytes, &mut at).ok_or(SHORT)? as i64;
                    event.occurrences = None;
                    event.late |= event.offset_told;
                    event.offset_told = true;
                }
                0x18 => event.dur_ps = wire::varint(bytes, &mut at).ok_or(SHORT)? as i64,
                _ => {
                    at -= 1;
                    self.rare_field(&bytes[..end], &mut at, event, told)?;
                }
            }
            event.scattered |= event.stats_start < end;
        }
        if at > end {
            return Err(SHORT);
        }
        Ok(())
    }

    /// Other fields of an event, and tags written longer than needed.
    #[cold]
    fn rare_field<'a>(
        &self,
        body: &'a [u8],
        at: &mut usize,
        event: &mut Event,
        told: &mut Told<'a>,
    ) -> std::result::Result<(), &'static str> {
        let (number, wire) = wire::tag(body, at)?;
        event.scattered = true;
        match (number, wire) {
            (1, 0) => event.kind = wire::varint(body, at).ok_or(SHORT)?,
            (2, 0) => {
                event.offset_ps = wire::varint(body, at).ok_or(SHORT)? as i64;
                event.occurrences = None;
                event.late |= event.offset_told;
                event.offset_told = true;
            }
            (3, 0) => event.dur_ps = wire::varint(body, at).ok_or(SHORT)? as i64,
            (4, 2) => {
                let length = wire::length(body, at)?;
                self.stat(body, *at, *at + length, event, told);
                *at += length;
            }
            (5, 0) => {
                event.occurrences = Some(wire::varint(body, at).ok_or(SHORT)? as i64);
                event.offset_ps = 0;
                event.late |= event.offset_told;
                event.offset_told = true;
            }
            _ => wire::skip(body, at, number, wire)?,
        }
        Ok(())
    }

    /// Looks at a stat: what it means to us, and whether it can be read and has names.
    #[inline(always)]
    fn stat<'a>(
        &self,
        bytes: &'a [u8],
        start: usize,
        end: usize,
        event: &mut Event,
        told: &mut Told<'a>,
    ) {
        event.stats += 1;
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
                && let Some(role) = self.stats.role(id)
            {
                if role != Role::None {
                    told.take_number(role, number, tag == 0x38);
                }
                event.nameless |= tag == 0x38 && self.stats.role(number).is_none();
                return;
            }
        }
        self.any_stat(&bytes[start..end], event, told);
    }

    #[inline(never)]
    fn any_stat<'a>(&self, bytes: &'a [u8], event: &mut Event, told: &mut Told<'a>) {
        let Ok((id, found)) = read_stat(bytes) else {
            event.args_damaged = true;
            return;
        };
        match self.stats.role(id) {
            Some(Role::None) => {}
            Some(role) => told.take(role, found),
            None => event.nameless = true,
        }
        match found {
            Found::Ref(id) => event.nameless |= self.stats.role(id).is_none(),
            Found::Str(bytes) => event.not_utf8 |= std::str::from_utf8(bytes).is_err(),
            _ => {}
        }
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
        told: &Told<'a>,
    ) {
        if event.dur_ps < 0 {
            event.dur_ps = 0;
            piece.tally.add(Problem::NegativeDuration, 1, offset);
        }
        let ts_ps = place
            .base_ps
            .and_then(|base| base.checked_add(event.offset_ps));
        // The end has to fit as well, and MISSING is no time.
        let Some(ts_ps) =
            ts_ps.filter(|ts| *ts != MISSING && ts.checked_add(event.dur_ps).is_some())
        else {
            piece.tally.add(Problem::Time, 1, offset);
            return;
        };
        let row = piece.columns.ts_ps.len() as u32;
        let mut marker = told.bits & MARKS != 0;
        match self.kinds.ids.get(event.kind) {
            Some(slot) => {
                let kind = self.kinds.entries[slot];
                piece.columns.name.push(kind.name);
                piece.columns.op_name.push(kind.op_name);
                piece.columns.op_type.push(kind.op_type);
                marker |= kind.marker && !place.background;
                if kind.category != NONE {
                    piece.columns.category.resize(row as usize, place.category);
                    piece.columns.category.push(kind.category);
                }
                if told.bits & OPS != 0 && kind.op_name == NONE {
                    self.op(piece, row, place, told);
                }
            }
            None => {
                piece.columns.name.push(0);
                piece.columns.op_name.push(NONE);
                piece.columns.op_type.push(NONE);
                piece.unnamed.push((row, event.kind));
                event.nameless = true;
                if told.bits & OPS != 0 {
                    self.op(piece, row, place, told);
                }
            }
        }
        piece.columns.ts_ps.push(ts_ps);
        piece.columns.dur_ps.push(event.dur_ps);
        if let Some(id) = told.number(Role::Correlation)
            && let Ok(id) = i64::try_from(id)
        {
            piece.columns.correlation.resize(row as usize, MISSING);
            piece.columns.correlation.push(id);
        }
        if told.bits & LINKS != 0 && self.needs.tables {
            self.links(piece, row, told);
        }
        if marker {
            self.mark(piece, row, bytes, from, &event, told);
        }
        if event.args_damaged || event.not_utf8 || event.nameless || event.occurrences.is_some() {
            tell(&mut piece.tally, &event, offset);
        }
        if self.needs.args {
            keep(&mut piece.columns.args_json, bytes, from, &event);
        }
        piece
            .columns
            .args_end
            .push(piece.columns.args_json.len() as u32);
    }

    fn links(&self, piece: &mut Piece, row: u32, told: &Told<'_>) {
        let ends = [
            (true, Role::ProducerType, Role::ProducerId),
            (false, Role::ConsumerType, Role::ConsumerId),
        ];
        for (produces, kind, id) in ends {
            if let (Some(kind), Some(id)) = (told.number(kind), told.number(id)) {
                piece.links.push(Link {
                    row,
                    produces,
                    kind,
                    id,
                });
            }
        }
    }

    /// Args of marks are told even when nobody needs args: the steps are worked out from them.
    #[cold]
    fn mark(
        &self,
        piece: &mut Piece,
        row: u32,
        bytes: &[u8],
        from: usize,
        event: &Event,
        told: &Told<'_>,
    ) {
        let (mut kept, mut args) = (Vec::new(), Args::default());
        keep(&mut kept, bytes, from, event);
        render(&mut args, self.stats, &kept, 0, kept.len());
        let step = told.number(Role::StepNumber).map(|step| step as i64);
        piece.marks.push(Mark {
            row,
            step,
            args_json: args.text.into_bytes(),
        });
    }

    fn op(&self, piece: &mut Piece, row: u32, place: &Place, told: &Told<'_>) {
        let tf = !told.has_text(Role::HloOp);
        let role = if tf { Role::TfOp } else { Role::HloOp };
        let text = if tf && !place.device {
            NONE
        } else {
            self.text(piece, role, told)
        };
        let category = self.text(piece, Role::HloCategory, told);
        if text != NONE || category != NONE {
            piece.ops.push(OpTold {
                row,
                text,
                category,
                tf,
            });
        }
    }

    fn text(&self, piece: &mut Piece, role: Role, told: &Told<'_>) -> u32 {
        if !told.has_text(role) {
            return NONE;
        }
        match told.texts[role as usize] {
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
    if event.scattered {
        return gather(out, &bytes[from..], event);
    }
    out.extend_from_slice(&bytes[event.stats_start..]);
}

/// [`keep`] where fields lie in an order that no writer uses.
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
    if let Some(occurrences) = event.occurrences {
        out.push(0x28);
        super::window::push_varint(out, occurrences as u64);
    }
}

#[cold]
fn tell(tally: &mut Tally, event: &Event, offset: u64) {
    for (odd, problem) in [
        (event.occurrences.is_some(), Problem::Aggregated),
        (event.args_damaged, Problem::Args),
        (event.not_utf8, Problem::Text),
        (event.nameless, Problem::Unnamed),
    ] {
        if odd {
            tally.add(problem, 1, offset);
        }
    }
}

/// Where the next event in a line lies; None for any other field.
#[inline(always)]
fn line_field(
    bytes: &[u8],
    at: &mut usize,
) -> std::result::Result<Option<(usize, usize)>, &'static str> {
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
