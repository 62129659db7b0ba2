//! Events to where they belong: complete slices into columns, everything else into records.
//! Over 400 lines because it is one decision after the other about the same event.

use super::class::Class;
use super::event::{Event, Rules, Scanner};
use super::field::Field;
use super::piece::{Flaw, Id, Piece, Record};
use super::recent;
use super::repair;
use super::time::Time;
use super::tracks::{CLASSED, THREAD_HEAD, thread_head};
use crate::columns::{MISSING, NONE};
use crate::formats::node_names::op_of;
use crate::json::{DEEP, ESCAPED, REPAIR, Shape};
use std::borrow::Cow;

impl Scanner {
    /// Local track of an event.
    #[inline]
    fn track(&mut self, event: &Event, class: Class, found: &Found<'_>) -> u32 {
        let place = self.threads.place(event, class, found.data);
        if let Some((key, slot)) = place
            && self.threads.0[slot].0 == key
        {
            return self.threads.0[slot].1;
        }
        let track = self.track_slow(event, class, found);
        if let Some((key, slot)) = place {
            self.threads.0[slot] = (key, track);
        }
        track
    }

    fn track_slow(&mut self, event: &Event, class: Class, found: &Found<'_>) -> u32 {
        self.scratch.clear();
        self.scratch.extend_from_slice(&[0; THREAD_HEAD]);
        found.push(event.pid, &mut self.scratch);
        let pid = event.pid.present().then_some(self.scratch.len() - THREAD_HEAD);
        found.push(event.tid, &mut self.scratch);
        let mut head = thread_head(pid, event.tid.present());
        if class != Class::Any {
            head[1] |= CLASSED;
            self.scratch.extend_from_slice(&class.to_bytes());
        }
        self.scratch[..THREAD_HEAD].copy_from_slice(&head);
        self.tracks.intern(&self.scratch)
    }

    /// What an event's category says of the row that it lies on.
    #[inline]
    fn class(&mut self, category: u32, event: &Event) -> Class {
        if category == NONE {
            return Class::Any;
        }
        let at = category as usize;
        let known = match self.classes.get(at) {
            Some(Some(known)) => *known,
            _ => self.class_slow(at),
        };
        known.on((event.args.device != MISSING).then_some(event.args.device))
    }

    #[cold]
    fn class_slow(&mut self, at: usize) -> Class {
        if self.classes.len() <= at {
            self.classes.resize(self.words.len(), None);
        }
        *self.classes[at].insert(Class::of(self.words.get(at as u32)))
    }

    /// Code of a field, or [`NONE`].
    #[inline]
    fn word(&mut self, field: Field, found: &Found<'_>) -> u32 {
        if !field.present() {
            return NONE;
        }
        if field.odd == 0 && found.clean {
            let text = field.of(found.data);
            let place = recent::place(found.data, field.start as usize, field.end as usize);
            let Some(place) = place else {
                return self.words.intern(text);
            };
            return self.recent.find(&place).unwrap_or_else(|| {
                let code = self.words.intern(text);
                self.recent.keep(place, code);
                code
            });
        }
        self.rare_word(field, found)
    }

    /// The same for a field that is another in most events.
    fn rare_word(&mut self, field: Field, found: &Found<'_>) -> u32 {
        if !field.present() {
            return NONE;
        }
        self.scratch.clear();
        found.push(field, &mut self.scratch);
        self.words.intern(&self.scratch)
    }

    /// The id that a field tells.
    #[inline]
    fn id(&mut self, field: Field, found: &Found<'_>) -> Id {
        if !field.present() {
            return Id::Missing;
        }
        if let Some(number) = Id::number(found.text(field)) {
            return number;
        }
        self.scratch.clear();
        found.push(field, &mut self.scratch);
        // Digits may be written as escapes.
        Id::number(&self.scratch).unwrap_or_else(|| Id::Word(self.words.intern(&self.scratch)))
    }

    /// Puts an event where it belongs.
    #[inline]
    pub(super) fn store(&mut self, event: &Event, found: &Found<'_>, rules: &Rules, piece: &mut Piece) {
        piece.seen += 1;
        if event.empty {
            // It says nothing, so nothing of it is lost.
            let offset = (event.start - found.start) as u64;
            piece.flaws.add(Flaw::EmptyEvent, offset);
            return;
        }
        let mut repaired = false;
        if found.odd & (REPAIR | DEEP) != 0
            || !found.clean
            || event.twice
            || event.args.suspect
            || event.args.shape != Shape::Object
            || !self.extras.is_empty()
            || repair::has_more(event)
            || (!rules.keep_args && needs_args(event.phase, rules))
        {
            repaired = repair::event(self, event, found, rules, piece);
        } else if piece.slices.args_json.len() == found.args_from + 2 {
            // An object without members says nothing.
            piece.slices.args_json.truncate(found.args_from);
        }
        let offset = (event.start - found.start) as u64;
        let stored = if event.phase == b'X' && event.args.mean && self.sum(event, found, piece) {
            let event = Event { phase: b'C', ..event.clone() };
            self.record(&event, found, rules, piece)
        } else if event.phase == b'X' {
            self.slice(event, found, rules, piece, &mut repaired)
        } else {
            self.record(event, found, rules, piece)
        };
        match stored {
            Ok(()) => piece.repaired += u64::from(repaired),
            Err(flaw) => {
                piece.lost += 1;
                piece.flaws.add(flaw, offset);
                piece.slices.args_json.truncate(found.args_from);
            }
        }
    }

    /// True for a sum that clang's `-ftime-trace` writes like a slice: `Total Frontend`, with how often and the
    /// mean in its arguments. Its duration goes to them, for it is a number and no stretch of time.
    #[cold]
    fn sum(&mut self, event: &Event, found: &Found<'_>, piece: &mut Piece) -> bool {
        let Some(ps) = event.dur.since(0) else {
            return false;
        };
        if ps < 0 || !found.plain(event.name).starts_with(b"Total ") {
            return false;
        }
        let us = format!("{{\"total us\":{}.{:06}", ps / 1_000_000, ps % 1_000_000);
        let args = &mut piece.slices.args_json;
        // Where arguments are not kept, there are none to go before.
        let brace = args.get(found.args_from) == Some(&b'{');
        let end = if brace { b',' } else { b'}' };
        let from = found.args_from..found.args_from + usize::from(brace);
        args.splice(from, us.into_bytes().into_iter().chain([end]));
        true
    }

    /// Picoseconds from the base.
    #[inline]
    fn when(time: Time, rules: &Rules, piece: &mut Piece) -> Result<i64, Flaw> {
        let us = match time {
            Time::At { us, .. } => us,
            Time::Missing => return Err(Flaw::MissingTime),
            Time::Bad => return Err(Flaw::BadTime),
            Time::Out => return Err(Flaw::TimeOutOfRange),
        };
        if rules.origin_us.is_none() && piece.first_us.len() < super::origin::SAMPLE {
            piece.first_us.push(us);
        }
        let base = *piece.base_us.get_or_insert(us);
        time.since(base).ok_or_else(|| {
            piece.stretched |= rules.origin_us.is_none();
            Flaw::TimeOutOfRange
        })
    }

    #[inline]
    fn slice(
        &mut self,
        event: &Event,
        found: &Found<'_>,
        rules: &Rules,
        piece: &mut Piece,
        repaired: &mut bool,
    ) -> Result<(), Flaw> {
        let ts = Self::when(event.ts, rules, piece)?;
        let mut dur = match event.dur {
            Time::Out => return Err(Flaw::TimeOutOfRange),
            Time::At { .. } => event.dur.since(0).ok_or(Flaw::TimeOutOfRange)?,
            Time::Missing | Time::Bad => {
                piece.flaws.add(Flaw::MissingDuration, (event.start - found.start) as u64);
                *repaired = true;
                0
            }
        };
        if dur < 0 {
            piece.flaws.add(Flaw::NegativeDuration, (event.start - found.start) as u64);
            *repaired = true;
            dur = 0;
        }
        let Some(end) = ts.checked_add(dur) else {
            piece.stretched |= rules.origin_us.is_none();
            return Err(Flaw::TimeOutOfRange);
        };
        let reach = piece.reach.get_or_insert((ts, end));
        *reach = (reach.0.min(ts), reach.1.max(end));
        let nameless = nameless(event, found);
        let name = self.word(if nameless { event.args.name } else { event.name }, found);
        let category = self.word(event.category, found);
        let class = self.class(category, event);
        let track = self.track(event, class, found);
        let (op_name, mut op_type) = self.op(event, found, rules, name);
        if nameless {
            op_type = NONE;
        }
        if event.args.step != MISSING {
            piece.steps.push((piece.slices.track.len() as u32, event.args.step));
        }
        if !self.extras.is_empty() {
            self.bind(event, found, piece, track, name, category, ts, end);
        }
        let slices = &mut piece.slices;
        slices.track.push(track);
        slices.name.push(if name == NONE { self.words.intern(b"") } else { name });
        slices.category.push(category);
        slices.ts_ps.push(ts);
        slices.dur_ps.push(dur);
        slices.op_name.push(op_name);
        slices.op_type.push(op_type);
        slices.correlation.push(event.args.correlation);
        slices.args_end.push(slices.args_json.len() as u32);
        Ok(())
    }

    /// Op name and type, by the four ways writers have of telling them: TensorFlow's Timeline puts
    /// the node in `args.name` and its type in `args.op`, XLA the instruction in `args.hlo_op`,
    /// Kineto names the slices of its ops and kernels by their type, and TensorFlow's profiler calls
    /// what executes a node `node:OpType`, in `args.long_name` or by its name.
    #[inline]
    fn op(&mut self, event: &Event, found: &Found<'_>, rules: &Rules, name: u32) -> (u32, u32) {
        if !rules.ops {
            return (NONE, NONE);
        }
        let args = &event.args;
        if self.own_op.0.present() || self.own_op.1.present() {
            let (op_name, op_type) = self.own_op;
            return (self.word(op_name, found), self.word(op_type, found));
        }
        if args.grouped && !event.category.present() && !args.hlo_op.present() {
            return self.node(event, found);
        }
        let category = found.plain(event.category);
        let op_name = if args.hlo_op.present() {
            self.word(args.hlo_op, found)
        } else if args.name.present() && (args.op.present() || *category == *b"Op") {
            self.word(args.name, found)
        } else {
            NONE
        };
        let op_type = if args.op.present() {
            self.word(args.op, found)
        } else if matches!(&*category, b"cpu_op" | b"kernel" | b"Operator" | b"Kernel")
            && !is_mark(&found.plain(event.name))
        {
            name
        } else {
            NONE
        };
        (op_name, op_type)
    }

    /// The node that a slice executes, and its type. What the profiler counts to no step does not get here: it
    /// belongs to the input pipeline.
    fn node(&mut self, event: &Event, found: &Found<'_>) -> (u32, u32) {
        let called = if event.args.long_name.present() { event.args.long_name } else { event.name };
        let called = found.plain(called);
        match std::str::from_utf8(&called).ok().and_then(op_of) {
            Some((node, op_type)) => {
                (self.words.intern(node.as_bytes()), self.words.intern(op_type.as_bytes()))
            }
            None => (NONE, NONE),
        }
    }

    /// The arrows that a slice itself declares (`bind_id`, `flow_in`, `flow_out`).
    #[cold]
    #[allow(clippy::too_many_arguments)]
    fn bind(
        &mut self,
        event: &Event,
        found: &Found<'_>,
        piece: &mut Piece,
        track: u32,
        name: u32,
        category: u32,
        ts: i64,
        end: i64,
    ) {
        let find = |key: &[u8]| {
            let hit = self.extras.iter().rev().find(|(text, _)| *text.plain(found.data) == *key);
            hit.map(|(_, value)| *value)
        };
        let truth =
            |field: Option<Field>| field.is_some_and(|f| !matches!(f.shape, Shape::False | Shape::Null));
        let (into, out) = (truth(find(b"flow_in")), truth(find(b"flow_out")));
        let Some(id) = find(b"bind_id") else { return };
        let (phase, ts_ps) = match (into, out) {
            (true, true) => (b't', ts),
            (true, false) => (b'f', ts),
            (false, true) => (b's', end),
            (false, false) => return,
        };
        let id = self.id(id, found);
        piece.records.push(Record {
            phase,
            id_scope: b'b',
            track,
            name,
            category,
            id,
            scope: NONE,
            op_name: NONE,
            op_type: NONE,
            correlation: MISSING,
            step: MISSING,
            ts_ps,
            args_end: piece.args.len(),
            offset: event.start - found.start,
            slices_before: piece.slices.track.len() as u32,
        });
    }

    /// Everything but complete slices.
    fn record(
        &mut self,
        event: &Event,
        found: &Found<'_>,
        rules: &Rules,
        piece: &mut Piece,
    ) -> Result<(), Flaw> {
        if !event.phase_text.present() {
            return Err(Flaw::MissingPhase);
        }
        let ts_ps = if event.phase == b'M' { 0 } else { Self::when(event.ts, rules, piece)? };
        if event.phase != b'M' {
            let reach = piece.reach.get_or_insert((ts_ps, ts_ps));
            *reach = (reach.0.min(ts_ps), reach.1.max(ts_ps));
        }
        let track = self.track(event, Class::Any, found);
        let name = self.word(event.name, found);
        let (op_name, op_type) = if event.phase == b'B' || self.own_op.0.present() || self.own_op.1.present()
        {
            self.op(event, found, rules, name)
        } else {
            (NONE, NONE)
        };
        // Each arrow has an id of its own, which only the table of arrows tells.
        let (id, scope) = if rules.tables || !matches!(event.phase, b's' | b't' | b'f') {
            let id = self.id(event.id, found);
            (id, self.rare_word(event.scope, found))
        } else {
            (Id::Missing, NONE)
        };
        let record = Record {
            phase: event.phase,
            id_scope: event.id_scope,
            track,
            name,
            category: self.word(event.category, found),
            id,
            scope,
            op_name,
            op_type,
            correlation: event.args.correlation,
            step: event.args.step,
            ts_ps,
            args_end: {
                piece.args.extend_from_slice(&piece.slices.args_json[found.args_from..]);
                piece.args.len()
            },
            offset: event.start - found.start,
            slices_before: piece.slices.track.len() as u32,
        };
        piece.slices.args_json.truncate(found.args_from);
        piece.records.push(record);
        Ok(())
    }
}

/// What TensorFlow's Timeline calls the type of a row whose label it cannot take apart.
const UNKNOWN: &[u8] = b"unknown";

/// True for a row of TensorFlow's Timeline that has a name in its arguments only: calls of iterators
/// (`Iterator::Model::Map`) and what annotates threads (`node:Type`).
#[inline]
fn nameless(event: &Event, found: &Found<'_>) -> bool {
    found.text(event.name) == UNKNOWN && event.args.name.present() && found.text(event.args.op) == UNKNOWN
}

/// True for PyTorch's own marks, which had the category of ops before they had one of their own.
fn is_mark(name: &[u8]) -> bool {
    let marks: [&[u8]; 4] =
        [b"ProfilerStep#", b"enumerate(DataLoader)#", b"Optimizer.step#", b"Optimizer.zero_grad#"];
    marks.iter().any(|mark| name.starts_with(mark))
}

/// Whether something is worked out from the arguments of a record.
#[inline]
fn needs_args(phase: u8, rules: &Rules) -> bool {
    phase != b'X' && (rules.tables || !matches!(phase, b'i' | b'I' | b's' | b't' | b'f'))
}

/// Where an event was found.
pub(super) struct Found<'a> {
    pub data: &'a [u8],
    /// Start of the piece.
    pub start: usize,
    /// The bytes are valid UTF-8.
    pub clean: bool,
    /// Start of the arguments in the piece.
    pub args_from: usize,
    /// One past the closing brace.
    pub end: usize,
    pub odd: u16,
}

impl<'a> Found<'a> {
    /// A field as it stands in the file.
    pub fn text(&self, field: Field) -> &'a [u8] {
        field.of(self.data)
    }

    /// What a field says, however it is written.
    #[inline]
    fn plain(&self, field: Field) -> Cow<'a, [u8]> {
        field.plain(self.data)
    }

    /// Appends the text of a field: strings without escapes, other values as they stand.
    pub fn push(&self, field: Field, out: &mut Vec<u8>) -> bool {
        let raw = self.text(field);
        if field.odd & ESCAPED != 0 && field.shape == Shape::String {
            return crate::json::unescape(raw, out);
        }
        if self.clean {
            out.extend_from_slice(raw);
            return false;
        }
        crate::json::push_utf8(raw, out)
    }
}
