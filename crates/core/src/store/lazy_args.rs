//! Args of slices that become text only when somebody reads them.
//!
//! A decoder that keeps its args as [`crate::store::part::Shape::Stats`] tells the names that they refer to:
//! one dictionary for the tracks from a number on, up to those of the next. They are kept beside the
//! slices as the table `slice.args_json`, so a store in a folder needs nothing else to be read.

use crate::columns::Cell;
use crate::error::{Error, Kind, Result};
use crate::formats::xplane::args::Args;
use crate::formats::xplane::metadata::{Named, StatNames};
use crate::formats::xplane::render::render;
use crate::store::part::{Access, Field, Part, Shape};
use crate::store::rows::Rows;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use std::path::Path;
use std::sync::Arc;

/// Name of the table of names in a store.
pub const TABLE: &str = "slice.args_json";
/// Text after which a batch ends, however few its rows.
const BATCH_TEXT_BYTES: usize = 64 << 20;
/// A text grows to about this many times the bytes that it is kept in.
const USUAL_RATIO: usize = 4;

/// The names being written.
pub struct Names(Rows);

impl Names {
    /// No names yet.
    pub fn new(folder: Option<&Path>) -> Result<Names> {
        let fields = vec![
            Field::new("first_track", Shape::I64),
            Field::new("id", Shape::U64),
            Field::new("name", Shape::Text),
        ];
        Ok(Names(Rows::new(folder, TABLE, fields)?))
    }

    /// The dictionary of the tracks from `first_track` on. First tracks must rise.
    pub fn push(&mut self, first_track: u32, names: &[Named]) -> Result<()> {
        let track = Cell::I64(i64::from(first_track));
        // A dictionary without names is one as well.
        self.0.push(&[track, Cell::Null, Cell::Null])?;
        for (id, name) in names {
            self.0.push(&[track, Cell::U64(*id), Cell::Text(name)])?;
        }
        Ok(())
    }

    /// Ends the table.
    pub fn finish(self) -> Result<Part> {
        self.0.finish()
    }
}

/// The names of a store, by the first of the tracks that they are for.
#[derive(Debug)]
pub struct Dictionaries(Vec<(i32, StatNames)>);

impl Dictionaries {
    /// Reads the table of names.
    pub fn read(part: &Part) -> Result<Dictionaries> {
        let mut all: Vec<(i32, Vec<Named>)> = Vec::new();
        let [first_track, id, name] = ["first_track", "id", "name"].map(|name| column(part, name));
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
                    (Some(id), Some(name), Some((_, names))) => names.push((id, name.into())),
                    _ => all.push((*track as i32, Vec::new())),
                }
            }
        }
        let read = all.into_iter();
        Ok(Dictionaries(
            read.map(|(track, names)| (track, StatNames::new(names)))
                .collect(),
        ))
    }

    fn of(&self, track: i32) -> Result<&StatNames> {
        let after = self.0.partition_point(|(first, _)| *first <= track);
        let found = after.checked_sub(1).and_then(|place| self.0.get(place));
        found
            .map(|(_, names)| names)
            .ok_or_else(|| Error::new(Kind::Damaged, "args without the names of their track"))
    }

    /// The texts of the rows from `from` on: of all of them, or of as many as fit into a batch, and
    /// of one at least.
    pub fn texts(&self, tracks: &ArrayRef, kept: &ArrayRef, from: usize) -> Result<StringArray> {
        let tracks = tracks.as_primitive::<Int32Type>().values();
        let kept = kept.as_binary::<i32>();
        let (ends, data) = (kept.value_offsets(), kept.value_data());
        let left = (ends[kept.len()] - ends[from]) as usize;
        let mut args = Args::with_capacity((USUAL_RATIO * left).min(BATCH_TEXT_BYTES));
        let rows = kept.len() - from;
        let (mut offsets, mut filled) = (Vec::with_capacity(rows + 1), Vec::with_capacity(rows));
        offsets.push(0);
        let mut names: Option<(i32, &StatNames)> = None;
        for row in from..kept.len() {
            let before = args.text.len();
            let track = tracks[row];
            let (start, stop) = (ends[row] as usize, ends[row + 1] as usize);
            if start < stop {
                let names = match names {
                    Some((same, names)) if same == track => names,
                    _ => names.insert((track, self.of(track)?)).1,
                };
                render(&mut args, names, data, start, stop);
            }
            let mut end = args.text.len();
            if end > BATCH_TEXT_BYTES && row > from {
                args.text.truncate(before);
                break;
            }
            if end > i32::MAX as usize {
                // A single text that no column holds; this was noted when it was decoded.
                args.text.truncate(before);
                end = before;
            }
            filled.push(end > before);
            offsets.push(end as i32);
        }
        let nulls = NullBuffer::from(filled);
        let texts = StringArray::try_new(
            OffsetBuffer::new(ScalarBuffer::from(offsets)),
            Buffer::from_vec(args.text.into_bytes()),
            Some(nulls).filter(|nulls| nulls.null_count() > 0),
        );
        texts.map_err(|error| Error::new(Kind::Damaged, error.to_string()))
    }
}

fn column(part: &Part, name: &str) -> Result<usize> {
    let found = part.fields.iter().position(|field| field.name == name);
    found.ok_or_else(|| Error::new(Kind::Damaged, format!("names of args without {name}")))
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
