//! Second pass over a line: the events of one piece become slices. The hot path of this format.
//!
//! Over 400 lines because it is one path: what an event goes through stands in its order.

use super::args::{Args, Found, read_stat};
use super::metadata::{Kinds, Role, StatNames};
use super::pieces::{Link, Mark, OpTold, Piece, Place, in_nesting_order, reorder};
use super::tally::Problem;
use super::told::{LINKS, MARKS, OPS, Told};
use crate::columns::{MISSING, NONE};
use crate::error::{Error, Kind as ErrorKind, Result};
use crate::store::Needs;
use crate::wire;

/// Args may take this many bytes of text for a byte of the file, and a bit: names that are referred
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
    /// An offset was told before; another one follows.
    offset_told: bool,
    late: bool,
}

impl Decoder<'_> {
    /// Decodes the fields of a line in `bytes`, which begin at `base` in the file.
    pub fn piece(
        &self,
        bytes: &[u8],
        base: u64,
        place: &Place,
        events: u64,
        ordered: bool,
    ) -> Result<Piece> {
        let mut piece = Piece::default();
        let rows = events as usize;
        let columns = &mut piece.columns;
        columns.name.reserve_exact(rows);
        columns.ts_ps.reserve_exact(rows);
        columns.dur_ps.reserve_exact(rows);
        columns.op_name.reserve_exact(rows);
        columns.op_type.reserve_exact(rows);
        columns.args_end.reserve_exact(rows);
        let mut args = Args::with_capacity(if self.needs.args { 2 * bytes.len() } else { 0 });
        let mut told = Told::new();
        let text_limit = TEXT_RATIO_FROM_BYTES + TEXT_RATIO_LIMIT * bytes.len();
        let mut at = 0;
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
            args.begin();
            told.bits = 0;
            let mut event = Event::default();
            if self
                .event(bytes, from, end, &mut event, &mut told, &mut args)
                .is_err()
            {
                args.drop_event();
                piece.tally.add(Problem::Event, 1, base + start as u64);
                continue;
            }
            if event.late && ordered {
                args.drop_event();
                self.aside(&mut piece, place, base + start as u64, &bytes[from..end]);
                continue;
            }
            self.slice(
                &mut piece,
                place,
                base + start as u64,
                &bytes[from..end],
                event,
                &told,
                &mut args,
            );
            if args.text.len() > text_limit {
                return Err(Error::at(
                    ErrorKind::Limit,
                    base + start as u64,
                    format!(
                        "{} bytes of events unfold to more than {text_limit} bytes of args",
                        bytes.len()
                    ),
                ));
            }
        }
        self.complete(&mut piece, place, args);
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
        if let Ok(one) = self.piece(&field, offset, place, 1, false) {
            piece.aside.push(one);
        }
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
        args: &mut Args,
    ) -> std::result::Result<(), &'static str> {
        const SHORT: &str = "a number that is cut short or too long";
        while at < end {
            let tag = bytes[at];
            at += 1;
            match tag {
                0x22 => {
                    let length = wire::length(&bytes[..end], &mut at)?;
                    self.stat(bytes, at, at + length, event, told, args);
                    at += length;
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
                    self.rare_field(&bytes[..end], &mut at, event, told, args)?;
                }
            }
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
        args: &mut Args,
    ) -> std::result::Result<(), &'static str> {
        const SHORT: &str = "a number that is cut short or too long";
        let (number, wire) = wire::tag(body, at)?;
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
                self.stat(body, *at, *at + length, event, told, args);
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

    #[inline(always)]
    fn stat<'a>(
        &self,
        bytes: &'a [u8],
        start: usize,
        end: usize,
        event: &mut Event,
        told: &mut Told<'a>,
        args: &mut Args,
    ) {
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
                && let Some(name) = self.stats.get(id)
            {
                if name.role != Role::None {
                    told.take_number(name.role, number, tag == 0x38);
                }
                if self.needs.args {
                    args.key(self.stats, name);
                    match tag {
                        0x18 => args.text.unsigned(number),
                        0x20 => args.text.signed(number as i64),
                        _ => args.reference(self.stats, number),
                    }
                    args.member(name);
                }
                return;
            }
        }
        self.any_stat(&bytes[start..end], event, told, args);
    }

    #[inline(never)]
    fn any_stat<'a>(
        &self,
        bytes: &'a [u8],
        event: &mut Event,
        told: &mut Told<'a>,
        args: &mut Args,
    ) {
        let Ok((id, found)) = read_stat(bytes) else {
            event.args_damaged = true;
            return;
        };
        let Some(name) = self.stats.get(id) else {
            if self.needs.args {
                args.add_nameless(self.stats, id, found);
            }
            return;
        };
        if name.role != Role::None {
            told.take(name.role, found);
        }
        if self.needs.args {
            args.add(self.stats, name, found);
        }
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn slice<'a>(
        &self,
        piece: &mut Piece,
        place: &Place,
        offset: u64,
        body: &'a [u8],
        mut event: Event,
        told: &Told<'a>,
        args: &mut Args,
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
            args.drop_event();
            piece.tally.add(Problem::Time, 1, offset);
            return;
        };
        if let Some(occurrences) = event.occurrences {
            args.add_own("$occurrences", occurrences);
            piece.tally.add(Problem::Aggregated, 1, offset);
        }
        if event.args_damaged {
            piece.tally.add(Problem::Args, 1, offset);
        }
        args.end();
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
                args.odd.nameless = true;
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
            self.mark(piece, row, body, told, args);
        }
        if args.odd != Default::default() {
            if args.odd.not_utf8 {
                piece.tally.add(Problem::Text, 1, offset);
            }
            if args.odd.nameless {
                piece.tally.add(Problem::Unnamed, 1, offset);
            }
        }
        if !self.needs.args {
            args.drop_event();
        }
        piece.columns.args_end.push(args.text.len() as u32);
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
    fn mark(&self, piece: &mut Piece, row: u32, body: &[u8], told: &Told<'_>, args: &Args) {
        let args_json = if self.needs.args {
            args.last().to_vec()
        } else {
            let mut again = Args::default();
            let full = Decoder {
                needs: Needs {
                    args: true,
                    ..self.needs
                },
                ..*self
            };
            let mut told = Told::new();
            again.begin();
            // It was read without an error just now.
            let _ = full.event(
                body,
                0,
                body.len(),
                &mut Event::default(),
                &mut told,
                &mut again,
            );
            again.end();
            again.text.into_bytes()
        };
        let step = told.number(Role::StepNumber).map(|step| step as i64);
        piece.marks.push(Mark {
            row,
            step,
            args_json,
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

    fn complete(&self, piece: &mut Piece, place: &Place, args: Args) {
        let columns = &mut piece.columns;
        let rows = columns.ts_ps.len();
        columns.track.resize(rows, place.track);
        columns.category.resize(rows, place.category);
        columns.correlation.resize(rows, MISSING);
        columns.args_json = args.text.into_bytes();
        if !in_nesting_order(columns) {
            reorder(piece);
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
