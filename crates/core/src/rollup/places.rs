//! What the rows of a timeline stand for, as the base view `track_place` has it.

use super::{Row, text, whole};
use crate::classes::Texts;
use crate::error::Result;
use crate::store::Store;
use std::collections::HashMap;

/// What is on a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Work of an accelerator.
    Device,
    /// Work of a processor.
    Host,
    /// Launches.
    Launch,
    /// Marks, counters, and what is derived from others.
    None,
}

impl Place {
    /// As the view calls it.
    pub fn name(self) -> &'static str {
        match self {
            Place::Device => "device",
            Place::Host => "host",
            Place::Launch => "launch",
            Place::None => "none",
        }
    }
}

/// A track's name, and whether it shows copies.
struct Named {
    name: String,
    copies: bool,
}

/// The tracks of a source, by number.
pub struct Tracks {
    places: Vec<(Place, i64)>,
    named: Vec<Named>,
    producer: String,
}

impl Tracks {
    /// What slices on a track are called, with what the track tells of them.
    pub fn on<'a>(&'a self, track: i32, texts: Texts<'a>) -> Texts<'a> {
        let named = usize::try_from(track).ok().and_then(|at| self.named.get(at));
        let (place, _) = self.get(track);
        Texts {
            place: place.name(),
            producer: &self.producer,
            thread: named.map_or("", |named| &named.name),
            copies: named.is_some_and(|named| named.copies),
            ..texts
        }
    }

    /// The place of a track, and the least track of the same place and device.
    pub fn get(&self, track: i32) -> (Place, i64) {
        let found = usize::try_from(track).ok().and_then(|at| self.places.get(at));
        found.copied().unwrap_or((Place::None, i64::from(track)))
    }
}

/// Reads the tracks of a store.
pub fn read(store: &Store, producer: &str) -> Result<Tracks> {
    let devices: HashMap<i64, String> = store
        .rows("device")?
        .iter()
        .filter_map(|row| Some((whole(row, "id")?, text(row, "name")?.to_owned())))
        .collect();
    let rows = store.rows("track")?;
    let of_all = |text: Option<&str>| text.is_some_and(|text| text.contains("stream:all"));
    let of_copies = |row: &Row| text(row, "process").is_some_and(|text| text.contains("/memcpy"));
    let repeats = |row: &Row| of_all(text(row, "name")) || of_all(text(row, "process")) || of_copies(row);
    let mut streams: HashMap<Option<i64>, usize> = HashMap::new();
    for row in &rows {
        if text(row, "kind") == Some("device_stream") && !repeats(row) {
            *streams.entry(whole(row, "device_id")).or_default() += 1;
        }
    }
    let mut first: HashMap<(Place, String), i64> = HashMap::new();
    let mut places = Vec::with_capacity(rows.len());
    let mut named_rows = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        let device_id = whole(row, "device_id");
        let kind = text(row, "kind").unwrap_or_default();
        let stream = kind == "device_stream";
        let place = match text(row, "records").unwrap_or_default() {
            _ if matches!(kind, "async" | "counter" | "derived" | "compiler") => Place::None,
            "annotation" => Place::None,
            _ if stream && repeats(row) && streams.contains_key(&device_id) => Place::None,
            _ if stream => Place::Device,
            "dispatch" => Place::Launch,
            _ => Place::Host,
        };
        let named = device_id.and_then(|id| devices.get(&id)).cloned();
        let device = named.unwrap_or_else(|| text(row, "process").unwrap_or_default().to_owned());
        let least = *first.entry((place, device)).or_insert(number as i64);
        places.push((place, least));
        let process = text(row, "process").unwrap_or_default();
        named_rows.push(Named {
            name: text(row, "name").unwrap_or_default().to_owned(),
            copies: place == Place::Device && process.contains("/memcpy"),
        });
    }
    Ok(Tracks { places, named: named_rows, producer: producer.to_owned() })
}
