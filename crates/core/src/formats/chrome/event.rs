//! Reads the elements of the event array, one after the other, into a [`Piece`].
//!
//! This is the loop that the speed of the decoder hangs on: keys are recognised by their first
//! eight bytes, a complete slice goes straight into columns, and its arguments are checked and
//! copied in one pass. Everything odd is left to `repair.rs`.
//!
//! Over 400 lines because it is one loop: what an element goes through stands in its order.

use super::args::{Arg, Args, NO_ARGS};
use super::class::Class;
use super::field::{ABSENT, Field, field, known};
use super::habit::{FIRST, Habit, Known, UNKNOWN};
use super::keys::{self, Key};
use super::piece::{Delta, Flaw, Interner, Piece, Texts};
use super::place::Found;
use super::recent::Recent;
use super::threads::Threads;
use super::time::Time;
use crate::json::{Cursor, Fault, Minified, Shape, TRAILING_COMMA, Text};

/// How events are read.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Whether the arguments of slices are wanted.
    pub keep_args: bool,
    /// Whether the ops of slices and what correlates them are wanted.
    pub ops: bool,
    /// Whether tables beside the slices are wanted.
    pub tables: bool,
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
    pub(super) words: Interner,
    /// Tracks by process and thread, see [`super::tracks::thread_key`].
    pub(super) tracks: Interner,
    owner: (usize, u32),
    sent: (usize, usize),
    pub(super) extras: Vec<(Text, Field)>,
    /// Op name and type as fields of the event itself: our own exports have them.
    pub(super) own_op: (Field, Field),
    pub(super) scratch: Vec<u8>,
    pub(super) threads: Threads,
    /// What each word says as a category, as far as they were asked for.
    pub(super) classes: Vec<Option<Class>>,
    pub(super) recent: Recent,
    habit: Habit<Key>,
    args_habit: Habit<Arg>,
    /// What most events have.
    phase: Known,
    category: Known,
}

/// Interners larger than this start afresh, so that a worker's memory stays bounded.
const WORDS_BYTES: usize = 4 << 20;
const WORDS: usize = 1 << 17;

/// Stretches that are first asked whether they are ASCII, which is cheaper than whether they are UTF-8.
const ASCII_BYTES: usize = 4 << 10;

/// True when bytes are UTF-8 but for a character that their end may cut. Whole pieces are checked at once; only
/// where that fails each string is.
fn whole_text(bytes: &[u8]) -> bool {
    let ascii = bytes.chunks(ASCII_BYTES).take_while(|chunk| chunk.is_ascii());
    let ascii = (ascii.count() * ASCII_BYTES).min(bytes.len());
    match std::str::from_utf8(&bytes[ascii..]) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    }
}

/// Why reading stops at an element that cannot be read.
fn stop(fault: Fault, at: usize) -> Stop {
    match fault {
        Fault::More => Stop::More(at),
        Fault::Bad => Stop::Damage(at),
    }
}

impl Scanner {
    /// A scanner with a number of its own.
    pub fn new(number: usize) -> Self {
        Scanner { owner: (number, 0), ..Scanner::default() }
    }

    /// What the interners learnt since the last call. Call it once after every piece.
    pub fn delta(&mut self) -> Delta {
        let delta = Delta {
            owner: self.owner,
            words: Texts::since(&self.words, self.sent.0),
            tracks: Texts::since(&self.tracks, self.sent.1),
        };
        self.sent = (self.words.len(), self.tracks.len());
        if self.words.bytes() + self.tracks.bytes() > WORDS_BYTES
            || self.words.len() + self.tracks.len() > WORDS
        {
            (self.words, self.tracks, self.threads, self.recent) = Default::default();
            self.classes.clear();
            self.sent = (0, 0);
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
        let clean = whole_text(&data[start..]);
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
                    if let Err(fault) = cursor.value(&mut Minified::new(&mut none, at, false)) {
                        return stop(fault, at);
                    }
                    piece.seen += 1;
                    piece.lost += 1;
                    piece.flaws.add(Flaw::NotAnEvent, (at - start) as u64);
                    continue;
                }
            }
            let args_from = piece.slices.args_json.len();
            let args = &mut piece.slices.args_json;
            match self.event(&mut cursor, rules, args, &mut event) {
                Ok(()) if cursor.pos - at <= rules.max_event => {
                    let found = Found { data, start, clean, args_from, end: cursor.pos, odd: cursor.odd };
                    self.store(&event, &found, rules, piece);
                }
                result => {
                    piece.slices.args_json.truncate(args_from);
                    return match result {
                        Ok(()) => Stop::TooLong(at),
                        Err(Fault::More) if data.len() - at > rules.max_event => Stop::TooLong(at),
                        Err(fault) => stop(fault, at),
                    };
                }
            }
        }
    }

    /// True when what lies at `at`, whole within `data`, has a phase and a time like an event.
    /// Also says where reading it ended.
    pub fn plausible(&mut self, data: &[u8], at: usize, rules: &Rules) -> (Result<bool, Fault>, usize) {
        let mut cursor = Cursor::new(data, at);
        let mut sink = Vec::new();
        let rules = Rules { keep_args: false, ..*rules };
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
        let args_from = out.len();
        let (mut met, mut twice) = (0_u16, 0_u16);
        self.extras.clear();
        self.own_op = (ABSENT, ABSENT);
        cursor.odd = 0;
        cursor.pos += 1;
        let mut way = Way { place: FIRST, last: None };
        loop {
            let link = self.habit.link(way.place);
            let (key, text, first) = if link.fits(cursor.data, cursor.pos) {
                let (key, text) = (link.key, link.text(cursor.pos));
                cursor.pos = link.end(cursor.pos);
                if key == Key::End {
                    break;
                }
                let string = link.string;
                (way.last, way.place) = (Some(way.place), link.next());
                (key, text, if string { b'"' } else { cursor.space()? })
            } else {
                match self.unforeseen(cursor, event, &mut way)? {
                    Some(found) => found,
                    None => break,
                }
            };
            twice |= met & key as u16;
            met |= key as u16;
            if key == Key::Args {
                out.truncate(args_from);
                event.args = NO_ARGS;
            }
            self.value(cursor, (key, text, first), rules, out, event)?;
        }
        event.twice = twice != 0;
        Ok(())
    }

    /// The next key and the first byte of its value, or None at the end of the object, where no guess fits. What
    /// was found becomes the guess.
    #[inline(never)]
    fn unforeseen(
        &mut self,
        cursor: &mut Cursor<'_>,
        event: &mut Event,
        way: &mut Way,
    ) -> Result<Option<(Key, Text, u8)>, Fault> {
        let (data, from) = (cursor.data, cursor.pos);
        let begins = from == event.start + 1;
        let (key, text) = match self.member(cursor, begins)? {
            Member::Key(key, text) => (key, text),
            Member::End => {
                if !begins && cursor.odd & TRAILING_COMMA == 0 {
                    let range = (from, cursor.pos);
                    self.habit.learn(data, range, Key::End, Text::default(), way.last, false);
                }
                event.empty = begins;
                return Ok(None);
            }
        };
        let first = cursor.space()?;
        let last = match text.odd {
            0 => {
                let range = (from, cursor.pos + usize::from(first == b'"'));
                self.habit.learn(data, range, key, text, way.last, begins)
            }
            _ => None,
        };
        let place = last.map_or(UNKNOWN, |last| self.habit.link(last).next());
        *way = Way { place, last };
        Ok(Some((key, text, first)))
    }

    /// The value of a key; `first` is its first byte.
    #[inline(always)]
    fn value(
        &mut self,
        cursor: &mut Cursor<'_>,
        (key, text, first): (Key, Text, u8),
        rules: &Rules,
        out: &mut Vec<u8>,
        event: &mut Event,
    ) -> Result<(), Fault> {
        match key {
            Key::Ts => Time::read(cursor, &mut event.ts),
            Key::Dur => Time::read(cursor, &mut event.dur),
            Key::Name => field(cursor, first, &mut event.name),
            Key::Cat => known(cursor, first, &mut event.category, &mut self.category),
            Key::Pid => field(cursor, first, &mut event.pid),
            Key::Tid => field(cursor, first, &mut event.tid),
            Key::Args => event.args.read(cursor, first, out, rules, &mut self.args_habit),
            Key::Ph => {
                known(cursor, first, &mut event.phase_text, &mut self.phase)?;
                let Field { start, end, shape, .. } = event.phase_text;
                event.phase = match (shape, end - start) {
                    (Shape::String, 1) => cursor.data[start as usize],
                    (Shape::String, _) => match *event.phase_text.plain(cursor.data) {
                        [phase] => phase,
                        _ => 0,
                    },
                    _ => 0,
                };
                Ok(())
            }
            Key::Id => {
                event.id_scope = b' ';
                field(cursor, first, &mut event.id)
            }
            Key::Scope => field(cursor, first, &mut event.scope),
            Key::Id2 => self.id2(cursor, first, event),
            Key::OpName if first == b'"' => field(cursor, first, &mut self.own_op.0),
            Key::OpType if first == b'"' => field(cursor, first, &mut self.own_op.1),
            Key::OpName | Key::OpType | Key::Other | Key::End => {
                let mut value = ABSENT;
                field(cursor, first, &mut value)?;
                self.extras.push((text, value));
                Ok(())
            }
        }
    }

    /// A key and its colon, or the end of the object, by the grammar: from the opening brace
    /// (`begins`) or from behind a value.
    #[inline(never)]
    fn member(&mut self, cursor: &mut Cursor<'_>, begins: bool) -> Result<Member, Fault> {
        let data = cursor.data;
        let mut byte = cursor.space()?;
        if byte == b'}' {
            cursor.pos += 1;
            return Ok(Member::End);
        }
        if !begins {
            if byte != b',' {
                return Err(Fault::Bad);
            }
            cursor.pos += 1;
            byte = cursor.space()?;
            if byte == b'}' {
                cursor.odd |= TRAILING_COMMA;
                cursor.pos += 1;
                return Ok(Member::End);
            }
        }
        if byte != b'"' {
            return Err(Fault::Bad);
        }
        cursor.pos += 1;
        let from = cursor.pos;
        let head = data.get(from..).and_then(|d| d.first_chunk::<8>());
        let (key, text) = match head.and_then(|word| keys::frequent(u64::from_le_bytes(*word))) {
            Some((key, length)) => {
                cursor.pos = from + length + 1;
                let (start, end) = (from, from + length);
                (key, Text { start, end, odd: 0 })
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
        Ok(Member::Key(key, text))
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
        keys::by_text(text)
    }

    #[cold]
    fn id2(&mut self, cursor: &mut Cursor<'_>, first: u8, event: &mut Event) -> Result<(), Fault> {
        if first != b'{' {
            return field(cursor, first, &mut event.id);
        }
        let data = cursor.data;
        let mut none = Vec::new();
        let from = cursor.pos;
        cursor.members(&mut Minified::new(&mut none, from, false), |cursor, key, _| {
            let first = cursor.peek()?;
            let mut value = ABSENT;
            field(cursor, first, &mut value)?;
            match &*key.plain(data) {
                b"local" => (event.id, event.id_scope) = (value, b'l'),
                b"global" => (event.id, event.id_scope) = (value, b'g'),
                _ => {}
            }
            Ok(())
        })
    }
}

/// Where reading is among the guesses of a [`Habit`].
struct Way {
    /// The place of the guess of what comes next.
    place: usize,
    /// The place of what came last, when it has one.
    last: Option<usize>,
}

enum Member {
    Key(Key, Text),
    End,
}

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
