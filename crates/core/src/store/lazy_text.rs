//! Args of slices that become text only when somebody reads them.
//!
//! A decoder may keep args as its file has them ([`Shape::Lazy`]) and let its format write their text later.
//! What the format needs for that, beside the bytes of a row, are names by number: one dictionary for the
//! tracks from a number on, up to those of the next. They are kept beside the slices as the table
//! `slice.args_json`, together with the name of the format, so a store in a folder needs nothing else to be
//! read.

use crate::columns::Cell;
use crate::error::{Error, Kind, Result};
use crate::store::part::{Access, Field, Part, Shape};
use crate::store::rows::Rows;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

/// Name of the table of names in a store.
pub const TABLE: &str = "slice.args_json";
/// Text after which a batch ends, however few its rows.
const BATCH_TEXT_BYTES: usize = 64 << 20;
/// A text grows to about this many times the bytes that it is kept in.
const USUAL_RATIO: usize = 4;

/// A number and its name.
pub type Named = (u64, Box<str>);

/// A format that writes the text of its args late.
#[derive(Debug, Clone, Copy)]
pub struct Lazy {
    /// Its name in stores.
    pub format: &'static str,
    /// Takes in the names, dictionary by dictionary.
    pub prepare: fn(Vec<Vec<Named>>) -> Box<dyn LazyText>,
}

/// The args of one store, ready to become text.
pub trait LazyText: Debug + Send + Sync {
    /// A writer with room for about so many bytes of text.
    fn writer(&self, capacity_bytes: usize) -> Box<dyn TextWriter + '_>;
}

/// Texts of rows, written one behind the other.
pub trait TextWriter {
    /// Writes the text of `kept[start..end]`, which speaks in the names of dictionary number `names`. Writes
    /// nothing for a row without args. Damaged bytes give less text, never a panic.
    fn push(&mut self, names: usize, kept: &[u8], start: usize, end: usize);
    /// Bytes written so far.
    fn written(&self) -> usize;
    /// Takes back all but the first `bytes`.
    fn truncate(&mut self, bytes: usize);
    /// All that was written.
    fn into_bytes(self: Box<Self>) -> Vec<u8>;
}

/// The names being written.
pub struct Names {
    rows: Rows,
    /// The format that they belong to.
    pub lazy: Lazy,
}

impl Names {
    /// No names yet.
    pub fn new(folder: Option<&Path>, lazy: Lazy) -> Result<Names> {
        let fields = vec![
            Field::new("first_track", Shape::I64),
            Field::new("id", Shape::U64),
            Field::new("name", Shape::Text),
        ];
        let rows = Rows::new(folder, TABLE, fields)?;
        Ok(Names { rows, lazy })
    }

    /// The dictionary of the tracks from `first_track` on. First tracks must rise.
    pub fn push(&mut self, first_track: u32, names: &[Named]) -> Result<()> {
        let track = Cell::I64(i64::from(first_track));
        // A row without a number begins a dictionary, even one without names, and says whose it is.
        self.rows.push(&[track, Cell::Null, Cell::Text(self.lazy.format)])?;
        for (id, name) in names {
            self.rows.push(&[track, Cell::U64(*id), Cell::Text(name)])?;
        }
        Ok(())
    }

    /// Ends the table.
    pub fn finish(self) -> Result<Part> {
        self.rows.finish()
    }
}

/// The dictionaries of a store, and the format that writes its texts.
#[derive(Debug)]
pub struct Dictionaries {
    /// The first of the tracks that each dictionary is for.
    first_tracks: Vec<i32>,
    text: Box<dyn LazyText>,
}

impl Dictionaries {
    /// Reads the table of names; `formats` are those that may have written it.
    pub fn read(part: &Part, formats: &[Lazy]) -> Result<Dictionaries> {
        let (mut first_tracks, mut all): (Vec<i32>, Vec<Vec<Named>>) = Default::default();
        let mut lazy = None;
        let [first_track, id, name] = ["first_track", "id", "name"].map(|name| part.column(name));
        let (first_track, id, name) = (first_track?, id?, name?);
        for batch in 0..part.batches.len() {
            let tracks = part.array(batch, first_track, &Access::Mapped)?;
            let ids = part.array(batch, id, &Access::Mapped)?;
            let names = part.array(batch, name, &Access::Mapped)?;
            let rows = tracks
                .as_primitive::<Int64Type>()
                .values()
                .iter()
                .zip(ids.as_primitive::<UInt64Type>())
                .zip(names.as_string::<i32>());
            for ((track, id), name) in rows {
                match (id, name, all.last_mut()) {
                    (Some(id), Some(name), Some(names)) => names.push((id, name.into())),
                    (_, name, _) => {
                        lazy = formats.iter().find(|lazy| Some(lazy.format) == name);
                        first_tracks.push(*track as i32);
                        all.push(Vec::new());
                    }
                }
            }
        }
        let lazy = lazy.ok_or_else(|| Error::new(Kind::Damaged, "args of a format that is not known"))?;
        Ok(Dictionaries { first_tracks, text: (lazy.prepare)(all) })
    }

    fn of(&self, track: i32) -> Result<usize> {
        let after = self.first_tracks.partition_point(|first| *first <= track);
        after.checked_sub(1).ok_or_else(|| Error::new(Kind::Damaged, "args without the names of their track"))
    }

    /// The texts of the rows from `from` on: of all of them, or of as many as fit into a batch, and
    /// of one at least.
    pub fn texts(&self, tracks: &ArrayRef, kept: &ArrayRef, from: usize) -> Result<StringArray> {
        let tracks = tracks.as_primitive::<Int32Type>().values();
        let kept = kept.as_binary::<i32>();
        let (ends, data) = (kept.value_offsets(), kept.value_data());
        let left = (ends[kept.len()] - ends[from]) as usize;
        let mut writer = self.text.writer((USUAL_RATIO * left).min(BATCH_TEXT_BYTES));
        let rows = kept.len() - from;
        let (mut offsets, mut filled) = (Vec::with_capacity(rows + 1), Vec::with_capacity(rows));
        offsets.push(0);
        let mut names: Option<(i32, usize)> = None;
        let mut before = 0;
        for row in from..kept.len() {
            let track = tracks[row];
            let (start, stop) = (ends[row] as usize, ends[row + 1] as usize);
            let mut end = before;
            if start < stop {
                let names = match names {
                    Some((same, names)) if same == track => names,
                    _ => names.insert((track, self.of(track)?)).1,
                };
                writer.push(names, data, start, stop);
                end = writer.written();
            }
            if end > BATCH_TEXT_BYTES && row > from {
                writer.truncate(before);
                break;
            }
            if end > i32::MAX as usize {
                // A single text that no column holds; this was noted when it was decoded.
                writer.truncate(before);
                end = before;
            }
            filled.push(end > before);
            offsets.push(end as i32);
            before = end;
        }
        let nulls = NullBuffer::from(filled);
        let texts = StringArray::try_new(
            OffsetBuffer::new(ScalarBuffer::from(offsets)),
            Buffer::from_vec(writer.into_bytes()),
            Some(nulls).filter(|nulls| nulls.null_count() > 0),
        );
        texts.map_err(|error| Error::new(Kind::Damaged, error.to_string()))
    }
}

/// Rows `from..from + rows` of columns.
pub fn cut(columns: &[ArrayRef], from: usize, rows: usize) -> Vec<ArrayRef> {
    columns
        .iter()
        .map(|column| match column.len() {
            all if all == rows && from == 0 => Arc::clone(column),
            _ => column.slice(from, rows),
        })
        .collect()
}
