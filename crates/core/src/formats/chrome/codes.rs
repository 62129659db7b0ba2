//! The texts and tracks of one worker, and what the writer calls them.

use super::piece::{Delta, Id, Texts};
use super::tracks::Tracks;
use crate::columns::{NONE, SliceColumns};
use crate::error::Result;
use crate::store::Writer;
use crate::store::pool::Pool;
use std::borrow::Cow;

/// Not translated yet.
const FRESH: u32 = NONE - 1;

/// The texts of one worker and what the writer calls them.
#[derive(Default)]
pub struct Codes {
    words: Texts,
    tracks: Texts,
    names: Vec<u32>,
    categories: Vec<u32>,
    op_names: Vec<u32>,
    op_types: Vec<u32>,
    numbers: Vec<u32>,
}

#[inline]
fn translate(map: &mut [u32], code: u32, words: &Texts, pool: &mut Pool) -> u32 {
    if code == NONE {
        return NONE;
    }
    let known = map[code as usize];
    if known != FRESH {
        return known;
    }
    // Scanners intern valid UTF-8 only.
    let text = String::from_utf8_lossy(words.get(code));
    map[code as usize] = pool.intern(&text);
    map[code as usize]
}

impl Codes {
    /// Takes in what the worker learnt.
    pub fn learn(&mut self, delta: &Delta) {
        self.words.append(&delta.words);
        self.tracks.append(&delta.tracks);
        for map in [&mut self.names, &mut self.categories, &mut self.op_names, &mut self.op_types] {
            map.resize(self.words.len(), FRESH);
        }
        self.numbers.resize(self.tracks.len(), FRESH);
    }

    /// Text of a code.
    pub fn word(&self, code: u32) -> Option<&[u8]> {
        (code != NONE).then(|| self.words.get(code))
    }

    /// Text of a code.
    pub fn text(&self, code: u32) -> Option<&str> {
        self.word(code).and_then(|text| std::str::from_utf8(text).ok())
    }

    /// Text of an id.
    pub fn id(&self, id: Id) -> Option<Cow<'_, str>> {
        match id {
            Id::Missing => None,
            Id::Number(number) => Some(number.to_string().into()),
            Id::Word(code) => self.text(code).map(Cow::Borrowed),
        }
    }

    /// Key of a local track.
    pub fn track(&self, local: u32) -> &[u8] {
        self.tracks.get(local)
    }

    /// The writer's code of a name, and so on.
    pub fn name(&mut self, code: u32, writer: &mut Writer) -> u32 {
        translate(&mut self.names, code, &self.words, &mut writer.names)
    }

    /// The writer's code of a category.
    pub fn category(&mut self, code: u32, writer: &mut Writer) -> u32 {
        translate(&mut self.categories, code, &self.words, &mut writer.categories)
    }

    /// The writer's code of an op name.
    pub fn op_name(&mut self, code: u32, writer: &mut Writer) -> u32 {
        translate(&mut self.op_names, code, &self.words, &mut writer.op_names)
    }

    /// The writer's code of an op type.
    pub fn op_type(&mut self, code: u32, writer: &mut Writer) -> u32 {
        translate(&mut self.op_types, code, &self.words, &mut writer.op_types)
    }

    /// Number of a track.
    #[inline]
    pub fn map_track(&mut self, local: u32, tracks: &mut Tracks) -> Result<u32> {
        let known = self.numbers[local as usize];
        if known != FRESH {
            return Ok(known);
        }
        let number = tracks.number(self.tracks.get(local))?;
        self.numbers[local as usize] = number;
        Ok(number)
    }

    /// Codes of a piece become the writer's.
    pub fn translate(&mut self, slices: &mut SliceColumns, writer: &mut Writer) {
        let words = &self.words;
        for (column, map, pool) in [
            (&mut slices.name, &mut self.names, &mut writer.names),
            (&mut slices.category, &mut self.categories, &mut writer.categories),
            (&mut slices.op_name, &mut self.op_names, &mut writer.op_names),
            (&mut slices.op_type, &mut self.op_types, &mut writer.op_types),
        ] {
            for code in column {
                *code = translate(map, *code, words, pool);
            }
        }
    }
}
