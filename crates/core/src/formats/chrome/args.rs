//! The arguments of an event: checked, copied, and looked through for what has a column of its own,
//! all in one pass.

use super::event::Rules;
use super::field::{ABSENT, Field, field};
use super::habit::{FIRST, Habit, UNKNOWN};
use super::piece::Flaw;
use super::time::whole;
use crate::columns::MISSING;
use crate::json::{
    BAD_ESCAPE, CONTROL, Cursor, DEEP, Fault, Minified, NOT_FINITE, Shape, TRAILING_COMMA, Text,
};

/// The arguments of an event.
#[derive(Clone)]
pub(super) struct Args {
    pub start: usize,
    pub end: usize,
    pub shape: Shape,
    pub odd: u16,
    /// Two keys look alike; whether they are, `repair.rs` finds out.
    pub suspect: bool,
    pub name: Field,
    pub op: Field,
    pub hlo_op: Field,
    /// What a slice is called where its name is cut to the type of its op.
    pub long_name: Field,
    /// TensorFlow's profiler counts it to a step.
    pub grouped: bool,
    pub correlation: i64,
    pub step: i64,
    /// Number of a device.
    pub device: i64,
    /// It tells a mean in milliseconds, as clang's sums do.
    pub mean: bool,
}

impl Args {
    /// Reads the arguments, checking, copying and picking out what has a column of its own.
    #[inline]
    pub fn read(
        &mut self,
        cursor: &mut Cursor<'_>,
        first: u8,
        out: &mut Vec<u8>,
        rules: &Rules,
        habit: &mut Habit<Arg>,
    ) -> Result<(), Fault> {
        let start = cursor.pos;
        let before = std::mem::take(&mut cursor.odd);
        let mut minified = Minified::new(out, start, rules.keep_args);
        self.start = start;
        if first == b'{' {
            self.members(cursor, &mut minified, rules, habit)?;
            self.shape = Shape::Object;
        } else {
            self.shape = cursor.value(&mut minified)?;
        }
        minified.finish(cursor.data, cursor.pos);
        self.end = cursor.pos;
        self.odd = cursor.odd;
        cursor.odd |= before;
        Ok(())
    }

    #[inline(always)]
    fn members(
        &mut self,
        cursor: &mut Cursor<'_>,
        minified: &mut Minified<'_>,
        rules: &Rules,
        habit: &mut Habit<Arg>,
    ) -> Result<(), Fault> {
        let data = cursor.data;
        let (mut keys, mut suspect) = (Keys::default(), false);
        cursor.pos += 1;
        let (mut place, mut last) = (FIRST, None);
        loop {
            let (arg, first);
            let link = habit.link(place);
            if link.fits(data, cursor.pos) {
                let at = cursor.pos;
                cursor.pos = link.end(at);
                if link.spaced {
                    minified.known(data, at, link.small(), cursor.pos);
                }
                arg = link.key;
                if arg.slot == Slot::End {
                    break;
                }
                let string = link.string;
                (last, place) = (Some(place), link.next());
                first = if string { b'"' } else { cursor.space_out(minified)? };
            } else {
                let from = cursor.pos;
                let begins = from == self.start + 1;
                let mut byte = cursor.space_out(minified)?;
                if byte == b'}' {
                    cursor.pos += 1;
                    if !begins {
                        let range = (from, cursor.pos);
                        habit.learn(data, range, Arg::END, Text::default(), last, false);
                    }
                    break;
                }
                if !begins {
                    if byte != b',' {
                        return Err(Fault::Bad);
                    }
                    cursor.pos += 1;
                    byte = cursor.space_out(minified)?;
                    if byte == b'}' {
                        cursor.odd |= TRAILING_COMMA;
                        cursor.pos += 1;
                        break;
                    }
                }
                if byte != b'"' {
                    return Err(Fault::Bad);
                }
                let text = cursor.key(minified)?;
                arg = Arg::of(&text.plain(data));
                first = cursor.peek()?;
                if text.odd == 0 {
                    let range = (from, cursor.pos + usize::from(first == b'"'));
                    last = habit.learn(data, range, arg, text, last, begins);
                    place = last.map_or(UNKNOWN, |last| habit.link(last).next());
                } else {
                    // Escapes can spell a key that another has plainly.
                    suspect = true;
                    (last, place) = (None, UNKNOWN);
                }
            }
            suspect |= keys.add(&arg);
            self.mean |= arg.slot == Slot::Mean;
            self.grouped |= arg.slot == Slot::Group;
            let slot = match arg.slot {
                Slot::Name => &mut self.name,
                Slot::Op => &mut self.op,
                Slot::HloOp => &mut self.hlo_op,
                Slot::LongName => &mut self.long_name,
                Slot::Correlation | Slot::Step | Slot::Device if first != b'{' && first != b'[' => {
                    let mut value = ABSENT;
                    field(cursor, first, &mut value)?;
                    let number = whole(&value.plain(data)).unwrap_or(MISSING);
                    if arg.slot == Slot::Step {
                        self.step = number;
                    } else if arg.slot == Slot::Device {
                        self.device = number;
                    } else if rules.ops {
                        self.correlation = number;
                    }
                    continue;
                }
                _ if first == b'"' => {
                    cursor.pos += 1;
                    cursor.string()?;
                    continue;
                }
                _ => {
                    cursor.value(minified)?;
                    continue;
                }
            };
            if first == b'"' {
                field(cursor, first, slot)?;
            } else {
                *slot = ABSENT;
                cursor.value(minified)?;
            }
        }
        self.suspect = suspect;
        Ok(())
    }
}

/// What a key of the arguments is.
#[derive(Clone, Copy, Default)]
pub(super) struct Arg {
    slot: Slot,
    /// Keys that are equal have the same hash.
    hash: u32,
}

/// Keys of one object that are told apart by their whole hash; those beyond only by six bits of it.
const KEYS: usize = 16;

/// The keys of one object so far.
#[derive(Default)]
struct Keys {
    bloom: u64,
    hashes: [u32; KEYS],
    count: usize,
}

impl Keys {
    /// Adds one; true when it may have been there.
    #[inline(always)]
    fn add(&mut self, arg: &Arg) -> bool {
        let bit = 1 << (arg.hash & 63);
        let again =
            self.bloom & bit != 0 && (self.count > KEYS || self.hashes[..self.count].contains(&arg.hash));
        self.bloom |= bit;
        if let Some(place) = self.hashes.get_mut(self.count) {
            *place = arg.hash;
        }
        self.count += 1;
        again
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Slot {
    #[default]
    Other,
    Name,
    Op,
    HloOp,
    LongName,
    Group,
    Correlation,
    Step,
    Device,
    Mean,
    /// No key: the closing brace.
    End,
}

impl Arg {
    const END: Arg = Arg { slot: Slot::End, hash: 0 };

    fn of(text: &[u8]) -> Arg {
        Arg {
            slot: match text {
                b"name" => Slot::Name,
                b"op" => Slot::Op,
                b"hlo_op" => Slot::HloOp,
                b"long_name" => Slot::LongName,
                b"group_id" => Slot::Group,
                b"correlation" => Slot::Correlation,
                b"step_num" => Slot::Step,
                b"device" => Slot::Device,
                b"avg ms" => Slot::Mean,
                _ => Slot::Other,
            },
            hash: xxhash_rust::xxh3::xxh3_64(text) as u32,
        }
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

pub(super) const NO_ARGS: Args = Args {
    start: 0,
    end: 0,
    shape: Shape::Object,
    odd: 0,
    suspect: false,
    name: ABSENT,
    op: ABSENT,
    hlo_op: ABSENT,
    long_name: ABSENT,
    grouped: false,
    correlation: MISSING,
    step: MISSING,
    device: MISSING,
    mean: false,
};
