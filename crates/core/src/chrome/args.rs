//! The arguments of an event: checked, copied, and looked through for what has a column of its own,
//! all in one pass.

use super::field::{ABSENT, Field, field};
use super::piece::Flaw;
use super::time::whole;
use crate::columns::MISSING;
use crate::json::{
    BAD_ESCAPE, CONTROL, Cursor, DEEP, Fault, Minified, NOT_FINITE, Shape, TRAILING_COMMA,
};

/// The arguments of an event.
#[derive(Clone)]
pub(super) struct Args {
    pub start: usize,
    pub end: usize,
    pub shape: Shape,
    pub odd: u16,
    /// Two keys look alike; whether they are, [`event`] finds out.
    pub suspect: bool,
    pub name: Field,
    pub op: Field,
    pub hlo_op: Field,
    pub correlation: i64,
    pub step: i64,
}

impl Args {
    /// Reads the arguments, checking, copying and picking out what has a column of its own.
    #[inline]
    pub fn read(
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

pub(super) const NO_ARGS: Args = Args {
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
