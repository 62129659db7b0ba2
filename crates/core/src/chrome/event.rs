//! Reads the elements of the event array, one after the other, into a [`Piece`].
//!
//! This is the loop that the speed of the decoder hangs on: keys are recognised by their first
//! eight bytes, a complete slice goes straight into columns, and its arguments are checked and
//! copied in one pass. Everything odd is left to `repair.rs`.

use super::piece::{Delta, Flaw, Interner, Piece, Record, Texts};
use super::repair::{self, Args};
use super::time::{Time, whole};
use super::tracks::{THREAD_HEAD, thread_head};
use crate::columns::{MISSING, NONE};
use crate::json::{
    BAD_ESCAPE, CONTROL, Cursor, DEEP, ESCAPED, Fault, Minified, NOT_FINITE, REPAIR, Shape,
};
use crate::json::{TRAILING_COMMA, Text};

/// How events are read.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Whether the arguments of slices are wanted.
    pub keep_args: bool,
    /// Longest event that is kept.
    pub max_event: usize,
    /// The true origin of times, once it is known.
    pub origin_us: Option<i64>,
}

/// Why reading stopped, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// At the end of the bytes, between two elements.
    Boundary,
    /// At the start of an element that the bytes do not hold whole.
    More(usize),
    /// At the start of what is no element.
    Damage(usize),
    /// At the start of an element that is too long.
    TooLong(usize),
    /// Behind the closing bracket of the array.
    End(usize),
}

/// A value of an event beside its arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    /// Pieces are shorter than 4 GiB.
    pub start: u32,
    pub end: u32,
    pub odd: u16,
    pub shape: Shape,
}

const ABSENT: Field = Field {
    start: 0,
    end: 0,
    odd: 0,
    shape: Shape::Null,
};

impl Default for Field {
    fn default() -> Self {
        ABSENT
    }
}

impl Field {
    #[inline]
    pub fn of(self, data: &[u8]) -> &[u8] {
        &data[self.start as usize..self.end as usize]
    }

    #[inline]
    pub fn present(self) -> bool {
        self.shape != Shape::Null
    }
}

/// One event as found.
#[derive(Clone)]
pub(super) struct Event {
    pub start: usize,
    pub phase: u8,
    pub phase_text: Field,
    pub name: Field,
    pub category: Field,
    pub pid: Field,
    pub tid: Field,
    pub ts: Time,
    pub dur: Time,
    pub id: Field,
    pub id_scope: u8,
    pub scope: Field,
    pub args: Args,
    /// A known key came twice.
    pub twice: bool,
    /// There is nothing between the braces.
    pub empty: bool,
}

/// Reads events; lives as long as its worker.
#[derive(Default)]
pub struct Scanner {
    /// Names, categories, ids and other short texts.
    words: Interner,
    /// Tracks by process and thread, see [`super::tracks::thread_key`].
    tracks: Interner,
    owner: (usize, u32),
    told: (usize, usize),
    pub(super) extras: Vec<(Text, Field)>,
    /// Op name and type as fields of the event itself: our own exports have them.
    own_op: (Field, Field),
    pub(super) scratch: Vec<u8>,
    threads: Threads,
}

/// Tracks of the threads met last, by process and thread id where both are short.
struct Threads(Vec<(ThreadKey, u32)>);

/// Both ids as words, and their lengths and shapes.
type ThreadKey = (u64, u64, u32);

const THREADS: usize = 256;

impl Default for Threads {
    fn default() -> Self {
        Threads(vec![((0, 0, 0), NONE); THREADS])
    }
}

impl Threads {
    #[inline]
    fn place(&self, event: &Event, data: &[u8]) -> Option<(ThreadKey, usize)> {
        let word = |field: Field| {
            let length = field.end - field.start;
            let chunk = data.get(field.start as usize..)?.first_chunk::<8>()?;
            let plain = length <= 8 && field.odd == 0;
            let mask = if length >= 8 {
                u64::MAX
            } else {
                !(u64::MAX << (8 * length))
            };
            plain.then_some((
                u64::from_le_bytes(*chunk) & mask,
                length << 1 | field.present() as u32,
            ))
        };
        let (pid, pid_form) = word(event.pid)?;
        let (tid, tid_form) = word(event.tid)?;
        // Never 0, which stands for an entry that is free.
        let form = 1 << 31 | pid_form << 8 | tid_form;
        let hash =
            (pid.rotate_left(32) ^ tid ^ u64::from(form)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Some(((pid, tid, form), (hash >> 56) as usize))
    }
}

const fn key(text: &str) -> (u64, u64) {
    let bytes = text.as_bytes();
    let (mut word, mut mask, mut i) = (b'"' as u64, 0xff, bytes.len());
    while i > 0 {
        i -= 1;
        word = word << 8 | bytes[i] as u64;
        mask = mask << 8 | 0xff;
    }
    (word, mask)
}

const PH: (u64, u64) = key("ph");
const TS: (u64, u64) = key("ts");
const ID: (u64, u64) = key("id");
const PID: (u64, u64) = key("pid");
const TID: (u64, u64) = key("tid");
const CAT: (u64, u64) = key("cat");
const DUR: (u64, u64) = key("dur");
const NAME: (u64, u64) = key("name");
const ARGS: (u64, u64) = key("args");

/// Keys whose value has a place of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Ph = 1,
    Ts = 2,
    Id = 4,
    Pid = 8,
    Tid = 16,
    Cat = 32,
    Dur = 64,
    Name = 128,
    Args = 256,
    Id2 = 512,
    Scope = 1024,
    OpName = 2048,
    OpType = 4096,
    Other = 0,
}

/// The key behind an opening quote when it is one of the frequent ones, and its length.
#[inline]
fn frequent(word: u64) -> Option<(Key, usize)> {
    let is = |(text, mask): (u64, u64)| word & mask == text;
    Some(if is(NAME) {
        (Key::Name, 4)
    } else if is(PH) {
        (Key::Ph, 2)
    } else if is(PID) {
        (Key::Pid, 3)
    } else if is(TID) {
        (Key::Tid, 3)
    } else if is(TS) {
        (Key::Ts, 2)
    } else if is(DUR) {
        (Key::Dur, 3)
    } else if is(CAT) {
        (Key::Cat, 3)
    } else if is(ARGS) {
        (Key::Args, 4)
    } else if is(ID) {
        (Key::Id, 2)
    } else {
        return None;
    })
}

/// Interners larger than this start afresh, so that a worker's memory stays bounded.
const WORDS_BYTES: usize = 4 << 20;
const WORDS: usize = 1 << 17;

/// Stretches that are first asked whether they are ASCII, which is cheaper than whether they are UTF-8.
const ASCII_BYTES: usize = 4 << 10;

impl Scanner {
    /// A scanner with a number of its own.
    pub fn new(number: usize) -> Self {
        Scanner {
            owner: (number, 0),
            ..Scanner::default()
        }
    }

    /// What the interners learnt since the last call. Call it once after every piece.
    pub fn delta(&mut self) -> Delta {
        let delta = Delta {
            owner: self.owner,
            words: Texts::since(&self.words, self.told.0),
            tracks: Texts::since(&self.tracks, self.told.1),
        };
        self.told = (self.words.len(), self.tracks.len());
        if self.words.bytes() + self.tracks.bytes() > WORDS_BYTES
            || self.words.len() + self.tracks.len() > WORDS
        {
            (self.words, self.tracks, self.threads) = Default::default();
            self.told = (0, 0);
            self.owner.1 += 1;
        }
        delta
    }

    /// Reads elements from `start`, which lies between two elements, until something stops it.
    /// Offsets in the piece count from `start`.
    pub fn read(&mut self, data: &[u8], start: usize, rules: &Rules, piece: &mut Piece) -> Stop {
        if piece.base_us.is_none() {
            piece.base_us = rules.origin_us;
        }
        // Whole pieces are checked at once; only where that fails each string is.
        let ascii = data[start..]
            .chunks(ASCII_BYTES)
            .take_while(|chunk| chunk.is_ascii());
        let ascii = (start + ascii.count() * ASCII_BYTES).min(data.len());
        let clean = match std::str::from_utf8(&data[ascii..]) {
            Ok(_) => true,
            Err(error) => error.error_len().is_none(),
        };
        let mut cursor = Cursor::new(data, start);
        let mut event = NOTHING;
        loop {
            let Ok(byte) = cursor.space() else {
                return Stop::Boundary;
            };
            let at = cursor.pos;
            match byte {
                b',' => {
                    piece.commas += 1;
                    cursor.pos += 1;
                    continue;
                }
                b']' => return Stop::End(at + 1),
                b'{' => {}
                _ => {
                    let mut none = Vec::new();
                    match cursor.value(&mut Minified::new(&mut none, at, false)) {
                        Ok(_) => {
                            piece.seen += 1;
                            piece.lost += 1;
                            piece.flaws.add(Flaw::NotAnEvent, (at - start) as u64);
                            continue;
                        }
                        Err(Fault::More) => return Stop::More(at),
                        Err(Fault::Bad) => return Stop::Damage(at),
                    }
                }
            }
            let args_from = piece.slices.args_json.len();
            let args = &mut piece.slices.args_json;
            match self.event(&mut cursor, rules, args, &mut event) {
                Ok(()) if cursor.pos - at <= rules.max_event => {
                    let found = Found {
                        data,
                        start,
                        clean,
                        args_from,
                        end: cursor.pos,
                        odd: cursor.odd,
                    };
                    self.store(&event, &found, rules, piece);
                }
                result => {
                    piece.slices.args_json.truncate(args_from);
                    return match result {
                        Ok(()) => Stop::TooLong(at),
                        Err(Fault::More) if data.len() - at > rules.max_event => Stop::TooLong(at),
                        Err(Fault::More) => Stop::More(at),
                        Err(Fault::Bad) => Stop::Damage(at),
                    };
                }
            }
        }
    }

    /// True when what lies at `at`, whole within `data`, has a phase and a time like an event.
    /// Also says where reading it ended.
    pub fn plausible(
        &mut self,
        data: &[u8],
        at: usize,
        rules: &Rules,
    ) -> (Result<bool, Fault>, usize) {
        let mut cursor = Cursor::new(data, at);
        let mut sink = Vec::new();
        let rules = Rules {
            keep_args: false,
            ..*rules
        };
        let mut event = NOTHING;
        let result = self.event(&mut cursor, &rules, &mut sink, &mut event);
        let looks = |()| {
            event.phase_text.shape == Shape::String
                && (event.phase == b'M' || matches!(event.ts, Time::At { .. }))
        };
        (result.map(looks), cursor.pos)
    }

    /// One object from its opening brace; its arguments are appended to `out`.
    #[inline]
    fn event(
        &mut self,
        cursor: &mut Cursor<'_>,
        rules: &Rules,
        out: &mut Vec<u8>,
        event: &mut Event,
    ) -> Result<(), Fault> {
        *event = NOTHING;
        event.start = cursor.pos;
        let data = cursor.data;
        let args_from = out.len();
        let mut met = 0_u16;
        self.extras.clear();
        self.own_op = (ABSENT, ABSENT);
        cursor.odd = 0;
        cursor.pos += 1;
        let mut byte = cursor.space()?;
        if byte == b'}' {
            cursor.pos += 1;
            event.empty = true;
            return Ok(());
        }
        loop {
            if byte != b'"' {
                return Err(Fault::Bad);
            }
            cursor.pos += 1;
            let from = cursor.pos;
            let head = data.get(from..).and_then(|d| d.first_chunk::<8>());
            let (key, text) = match head.and_then(|word| frequent(u64::from_le_bytes(*word))) {
                Some((key, length)) => {
                    cursor.pos = from + length + 1;
                    (
                        key,
                        Text {
                            start: from,
                            end: from + length,
                            odd: 0,
                        },
                    )
                }
                None => {
                    let text = cursor.string()?;
                    (self.rare(&data[text.start..text.end], text.odd), text)
                }
            };
            if cursor.space()? != b':' {
                return Err(Fault::Bad);
            }
            cursor.pos += 1;
            let first = cursor.space()?;
            event.twice |= met & key as u16 != 0;
            met |= key as u16;
            match key {
                Key::Ts => Time::read(cursor, &mut event.ts)?,
                Key::Dur => Time::read(cursor, &mut event.dur)?,
                Key::Name => field(cursor, first, &mut event.name)?,
                Key::Cat => field(cursor, first, &mut event.category)?,
                Key::Pid => field(cursor, first, &mut event.pid)?,
                Key::Tid => field(cursor, first, &mut event.tid)?,
                Key::Args => {
                    out.truncate(args_from);
                    event.args = NO_ARGS;
                    event.args.read(cursor, first, out, rules.keep_args)?;
                }
                Key::Ph => {
                    field(cursor, first, &mut event.phase_text)?;
                    let Field {
                        start, end, shape, ..
                    } = event.phase_text;
                    event.phase = if shape == Shape::String && end - start == 1 {
                        data[start as usize]
                    } else {
                        0
                    };
                }
                Key::Id => {
                    field(cursor, first, &mut event.id)?;
                    event.id_scope = b' ';
                }
                Key::Scope => field(cursor, first, &mut event.scope)?,
                Key::Id2 => self.id2(cursor, first, event)?,
                Key::OpName | Key::OpType if first != b'"' => {
                    let mut value = ABSENT;
                    field(cursor, first, &mut value)?;
                    self.extras.push((text, value));
                }
                Key::OpName => field(cursor, first, &mut self.own_op.0)?,
                Key::OpType => field(cursor, first, &mut self.own_op.1)?,
                Key::Other => {
                    let mut value = ABSENT;
                    field(cursor, first, &mut value)?;
                    self.extras.push((text, value));
                }
            }
            match cursor.space()? {
                b',' => {
                    cursor.pos += 1;
                    byte = cursor.space()?;
                    if byte == b'}' {
                        cursor.odd |= TRAILING_COMMA;
                        break;
                    }
                }
                b'}' => break,
                _ => return Err(Fault::Bad),
            }
        }
        cursor.pos += 1;
        Ok(())
    }

    /// Keys that are rare or written with escapes.
    #[cold]
    fn rare(&mut self, raw: &[u8], odd: u16) -> Key {
        let text = if odd == 0 {
            raw
        } else {
            self.scratch.clear();
            crate::json::unescape(raw, &mut self.scratch);
            &self.scratch
        };
        match text {
            b"ph" => Key::Ph,
            b"ts" => Key::Ts,
            b"id" => Key::Id,
            b"pid" => Key::Pid,
            b"tid" => Key::Tid,
            b"cat" => Key::Cat,
            b"dur" => Key::Dur,
            b"name" => Key::Name,
            b"args" => Key::Args,
            b"id2" => Key::Id2,
            b"scope" => Key::Scope,
            b"op_name" => Key::OpName,
            b"op_type" => Key::OpType,
            _ => Key::Other,
        }
    }

    #[cold]
    fn id2(&mut self, cursor: &mut Cursor<'_>, first: u8, event: &mut Event) -> Result<(), Fault> {
        if first != b'{' {
            return field(cursor, first, &mut event.id);
        }
        let data = cursor.data;
        let mut none = Vec::new();
        let from = cursor.pos;
        cursor.members(
            &mut Minified::new(&mut none, from, false),
            |cursor, key, _| {
                let first = cursor.peek()?;
                let mut value = ABSENT;
                field(cursor, first, &mut value)?;
                match &data[key.start..key.end] {
                    b"local" => (event.id, event.id_scope) = (value, b'l'),
                    b"global" => (event.id, event.id_scope) = (value, b'g'),
                    _ => {}
                }
                Ok(())
            },
        )
    }

    /// Local track of an event.
    #[inline]
    fn track(&mut self, event: &Event, found: &Found<'_>) -> u32 {
        let place = self.threads.place(event, found.data);
        if let Some((key, slot)) = place
            && self.threads.0[slot].0 == key
        {
            return self.threads.0[slot].1;
        }
        let track = self.track_slow(event, found);
        if let Some((key, slot)) = place {
            self.threads.0[slot] = (key, track);
        }
        track
    }

    fn track_slow(&mut self, event: &Event, found: &Found<'_>) -> u32 {
        self.scratch.clear();
        self.scratch.extend_from_slice(&[0; THREAD_HEAD]);
        found.push(event.pid, &mut self.scratch);
        let pid = event
            .pid
            .present()
            .then_some(self.scratch.len() - THREAD_HEAD);
        found.push(event.tid, &mut self.scratch);
        self.scratch[..THREAD_HEAD].copy_from_slice(&thread_head(pid, event.tid.present()));
        self.tracks.intern(&self.scratch)
    }

    /// Code of a field, or [`NONE`].
    #[inline]
    fn word(&mut self, field: Field, found: &Found<'_>) -> u32 {
        if !field.present() {
            return NONE;
        }
        if field.odd == 0 && found.clean {
            return self.words.intern(field.of(found.data));
        }
        self.scratch.clear();
        found.push(field, &mut self.scratch);
        self.words.intern(&self.scratch)
    }

    /// Puts an event where it belongs.
    #[inline]
    fn store(&mut self, event: &Event, found: &Found<'_>, rules: &Rules, piece: &mut Piece) {
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
            || (event.phase != b'X' && !rules.keep_args)
        {
            repaired = repair::event(self, event, found, rules, piece);
        } else if piece.slices.args_json.len() == found.args_from + 2 {
            // An object without members says nothing.
            piece.slices.args_json.truncate(found.args_from);
        }
        let offset = (event.start - found.start) as u64;
        let stored = if event.phase == b'X' {
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
                piece
                    .flaws
                    .add(Flaw::MissingDuration, (event.start - found.start) as u64);
                *repaired = true;
                0
            }
        };
        if dur < 0 {
            piece
                .flaws
                .add(Flaw::NegativeDuration, (event.start - found.start) as u64);
            *repaired = true;
            dur = 0;
        }
        let Some(end) = ts.checked_add(dur) else {
            piece.stretched |= rules.origin_us.is_none();
            return Err(Flaw::TimeOutOfRange);
        };
        let reach = piece.reach.get_or_insert((ts, end));
        *reach = (reach.0.min(ts), reach.1.max(end));
        let track = self.track(event, found);
        let name = self.word(event.name, found);
        let category = self.word(event.category, found);
        let (op_name, op_type) = self.op(event, found, name);
        if event.args.step != MISSING {
            piece
                .steps
                .push((piece.slices.track.len() as u32, event.args.step));
        }
        if !self.extras.is_empty() {
            self.bind(event, found, piece, track, name, category, ts, end);
        }
        let slices = &mut piece.slices;
        slices.track.push(track);
        slices.name.push(if name == NONE {
            self.words.intern(b"")
        } else {
            name
        });
        slices.category.push(category);
        slices.ts_ps.push(ts);
        slices.dur_ps.push(dur);
        slices.op_name.push(op_name);
        slices.op_type.push(op_type);
        slices.correlation.push(event.args.correlation);
        slices.args_end.push(slices.args_json.len() as u32);
        Ok(())
    }

    /// Op name and type, by the three ways writers have of telling them: TensorFlow's Timeline puts
    /// the node in `args.name` and its type in `args.op`, XLA the instruction in `args.hlo_op`, and
    /// Kineto names the slices of its ops and kernels by their type.
    #[inline]
    fn op(&mut self, event: &Event, found: &Found<'_>, name: u32) -> (u32, u32) {
        let args = &event.args;
        if self.own_op.0.present() || self.own_op.1.present() {
            let (op_name, op_type) = self.own_op;
            return (self.word(op_name, found), self.word(op_type, found));
        }
        let op_name = if args.hlo_op.present() {
            self.word(args.hlo_op, found)
        } else if args.name.present() && (args.op.present() || found.text(event.category) == b"Op")
        {
            self.word(args.name, found)
        } else {
            NONE
        };
        let op_type = if args.op.present() {
            self.word(args.op, found)
        } else if matches!(
            found.text(event.category),
            b"cpu_op" | b"kernel" | b"Operator" | b"Kernel"
        ) {
            name
        } else {
            NONE
        };
        (op_name, op_type)
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
            let hit = self
                .extras
                .iter()
                .rev()
                .find(|(text, _)| &found.data[text.start..text.end] == key);
            hit.map(|(_, value)| *value)
        };
        let truth = |field: Option<Field>| {
            field.is_some_and(|f| !matches!(f.shape, Shape::False | Shape::Null))
        };
        let (into, out) = (truth(find(b"flow_in")), truth(find(b"flow_out")));
        let Some(id) = find(b"bind_id") else { return };
        let (phase, ts_ps) = match (into, out) {
            (true, true) => (b't', ts),
            (true, false) => (b'f', ts),
            (false, true) => (b's', end),
            (false, false) => return,
        };
        let id = self.word(id, found);
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
        let ts_ps = if event.phase == b'M' {
            0
        } else {
            Self::when(event.ts, rules, piece)?
        };
        if event.phase != b'M' {
            let reach = piece.reach.get_or_insert((ts_ps, ts_ps));
            *reach = (reach.0.min(ts_ps), reach.1.max(ts_ps));
        }
        let track = self.track(event, found);
        let name = self.word(event.name, found);
        let (op_name, op_type) =
            if event.phase == b'B' || self.own_op.0.present() || self.own_op.1.present() {
                self.op(event, found, name)
            } else {
                (NONE, NONE)
            };
        let record = Record {
            phase: event.phase,
            id_scope: event.id_scope,
            track,
            name,
            category: self.word(event.category, found),
            id: self.word(event.id, found),
            scope: self.word(event.scope, found),
            op_name,
            op_type,
            correlation: event.args.correlation,
            step: event.args.step,
            ts_ps,
            args_end: {
                piece
                    .args
                    .extend_from_slice(&piece.slices.args_json[found.args_from..]);
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
    pub fn text(&self, field: Field) -> &'a [u8] {
        field.of(self.data)
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

/// Reads a value; strings without their quotes. It is written in place: a field that is returned
/// would be stored in parts and loaded as a whole, which stalls the processor.
#[inline(always)]
pub(super) fn field(cursor: &mut Cursor<'_>, first: u8, slot: &mut Field) -> Result<(), Fault> {
    if first == b'"' {
        cursor.pos += 1;
        let text = cursor.string()?;
        slot.start = text.start as u32;
        slot.end = text.end as u32;
        slot.odd = text.odd;
        slot.shape = Shape::String;
        return Ok(());
    }
    // Ids are whole numbers, most of them short.
    if (b'1'..=b'9').contains(&first) {
        let mut at = cursor.pos + 1;
        while let Some(b'0'..=b'9') = cursor.data.get(at) {
            at += 1;
        }
        if let Some(b',' | b'}' | b' ') = cursor.data.get(at) {
            slot.start = cursor.pos as u32;
            slot.end = at as u32;
            slot.odd = 0;
            slot.shape = Shape::Number;
            cursor.pos = at;
            return Ok(());
        }
    }
    other_field(cursor, slot)
}

#[inline(never)]
fn other_field(cursor: &mut Cursor<'_>, slot: &mut Field) -> Result<(), Fault> {
    let start = cursor.pos;
    let mut none = Vec::new();
    slot.shape = cursor.value(&mut Minified::new(&mut none, start, false))?;
    slot.start = start as u32;
    slot.end = cursor.pos as u32;
    slot.odd = 0;
    Ok(())
}

impl Args {
    /// Reads the arguments, checking, copying and picking out what has a column of its own.
    #[inline]
    fn read(
        &mut self,
        cursor: &mut Cursor<'_>,
        first: u8,
        out: &mut Vec<u8>,
        keep: bool,
    ) -> Result<(), Fault> {
        let args = self;
        let start = cursor.pos;
        let before = std::mem::take(&mut cursor.odd);
        let mut minified = Minified::new(out, start, keep);
        args.start = start;
        if first == b'{' {
            let data = cursor.data;
            let mut bloom = 0_u64;
            cursor.members(&mut minified, |cursor, key, out| {
                let text = &data[key.start..key.end];
                let ends = text.first().copied().unwrap_or(0) as usize
                    ^ text.last().map_or(0, |b| *b as usize * 8);
                let bit = 1_u64 << ((text.len() * 19 + ends) & 63);
                args.suspect |= bloom & bit != 0;
                bloom |= bit;
                let slot = match text {
                    b"name" => &mut args.name,
                    b"op" => &mut args.op,
                    b"hlo_op" => &mut args.hlo_op,
                    b"correlation" | b"step_num" => {
                        let first = cursor.peek()?;
                        if first == b'{' || first == b'[' {
                            return cursor.value(out).map(drop);
                        }
                        let mut value = ABSENT;
                        field(cursor, first, &mut value)?;
                        let number = whole(value.of(data)).unwrap_or(MISSING);
                        if text.len() == 8 {
                            args.step = number;
                        } else {
                            args.correlation = number;
                        }
                        return Ok(());
                    }
                    _ if cursor.peek()? == b'"' => {
                        cursor.pos += 1;
                        return cursor.string().map(drop);
                    }
                    _ => return cursor.value(out).map(drop),
                };
                if cursor.peek()? == b'"' {
                    field(cursor, b'"', slot)
                } else {
                    *slot = ABSENT;
                    cursor.value(out).map(drop)
                }
            })?;
            args.shape = Shape::Object;
        } else {
            args.shape = cursor.value(&mut minified)?;
        }
        minified.finish(cursor.data, cursor.pos);
        args.end = cursor.pos;
        args.odd = cursor.odd;
        cursor.odd |= before;
        Ok(())
    }
}

/// What of [`Cursor::odd`] counts as which flaw.
pub(super) const ODD_FLAWS: [(u16, Flaw); 5] = [
    (CONTROL, Flaw::ControlCharacter),
    (BAD_ESCAPE, Flaw::BadEscape),
    (NOT_FINITE, Flaw::NotANumber),
    (TRAILING_COMMA, Flaw::TrailingComma),
    (DEEP, Flaw::ArgsTooDeep),
];

const NO_ARGS: Args = Args {
    start: 0,
    end: 0,
    shape: Shape::Object,
    odd: 0,
    suspect: false,
    name: ABSENT,
    op: ABSENT,
    hlo_op: ABSENT,
    correlation: MISSING,
    step: MISSING,
};

const NOTHING: Event = Event {
    start: 0,
    phase: 0,
    phase_text: ABSENT,
    name: ABSENT,
    category: ABSENT,
    pid: ABSENT,
    tid: ABSENT,
    ts: Time::Missing,
    dur: Time::Missing,
    id: ABSENT,
    id_scope: b' ',
    scope: ABSENT,
    args: NO_ARGS,
    twice: false,
    empty: false,
};
