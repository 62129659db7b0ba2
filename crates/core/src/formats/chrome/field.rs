//! A value of an event as it lies in the file.

use super::habit::Known;
use crate::json::{Cursor, Fault, Minified, Shape, Text};
use std::borrow::Cow;

/// A value of an event beside its arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    /// Pieces are shorter than 4 GiB.
    pub start: u32,
    pub end: u32,
    pub odd: u16,
    pub shape: Shape,
}

pub(super) const ABSENT: Field = Field { start: 0, end: 0, odd: 0, shape: Shape::Null };

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

    /// What it says: a string without its escapes, any other value as it stands.
    #[inline]
    pub fn plain(self, data: &[u8]) -> Cow<'_, [u8]> {
        let (start, end) = (self.start as usize, self.end as usize);
        let odd = if self.shape == Shape::String { self.odd } else { 0 };
        Text { start, end, odd }.plain(data)
    }

    #[inline]
    pub fn present(self) -> bool {
        self.shape != Shape::Null
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

/// Reads a value that is mostly the same short string. The guess spares the search for its end, and
/// with it the wait for that search.
#[inline(always)]
pub(super) fn known(
    cursor: &mut Cursor<'_>,
    first: u8,
    slot: &mut Field,
    guess: &mut Known,
) -> Result<(), Fault> {
    let start = cursor.pos + 1;
    if first == b'"'
        && let Some(length) = guess.fits(cursor.data, start)
    {
        slot.start = start as u32;
        slot.end = (start + length) as u32;
        slot.odd = 0;
        slot.shape = Shape::String;
        cursor.pos = start + length + 1;
        return Ok(());
    }
    field(cursor, first, slot)?;
    if slot.shape == Shape::String && slot.odd == 0 {
        guess.learn(cursor.data, slot.start as usize, slot.end as usize);
    }
    Ok(())
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
