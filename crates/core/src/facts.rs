//! What is known about a source besides its tables: how complete it is, where its clock starts.

use std::collections::BTreeMap;
use std::fmt::Write;

/// What a note says happened to the events it speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Seen but not stored.
    Lost,
    /// Stored after a repair.
    Repaired,
    /// Dropped or cut by the recorder, which says so.
    Capped,
    /// Expected but not there.
    Missing,
    /// An error or warning of the recorder itself.
    Recorder,
    /// Worth knowing, nothing is wrong.
    Info,
}

impl Effect {
    /// The word in `source_note.effect`.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::Lost => "lost",
            Effect::Repaired => "repaired",
            Effect::Capped => "capped",
            Effect::Missing => "missing",
            Effect::Recorder => "recorder",
            Effect::Info => "info",
        }
    }
}

/// Something lost, repaired, capped or missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Stable name, explained in the reference.
    pub slug: String,
    /// What happened.
    pub effect: Effect,
    /// Events concerned.
    pub events: u64,
    /// Byte offset (after decompression) of the first of them.
    pub first_offset: Option<u64>,
    /// One sentence about this file.
    pub detail: String,
}

/// What is known of a source beside its tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Events in the file, whole or damaged.
    pub events_seen: u64,
    /// Events that became rows.
    pub events_stored: u64,
    /// Events seen but not stored.
    pub events_lost: u64,
    /// Events stored after a repair.
    pub events_repaired: u64,
    /// Events the recorder itself dropped or cut, where it says so.
    pub events_capped: u64,
    /// Bytes after decompression; filled by [`crate::decode`].
    pub bytes_in: u64,
    /// xxh3-128 of the bytes as stored, in hex; filled by [`crate::decode`].
    pub content_hash: String,
    /// What wrote the file.
    pub producer: String,
    /// Unix time of `ts_ps = 0` in nanoseconds, when the file tells.
    pub origin_unix_ns: Option<i64>,
    /// Start of the first slice. The writer widens it with every slice; decoders with other events.
    pub start_ps: Option<i64>,
    /// End of the last slice.
    pub end_ps: Option<i64>,
    /// Start of the first and end of the last slice, whatever else there is.
    pub slices_ps: Option<(i64, i64)>,
    /// What the format tells beside its events.
    pub meta: BTreeMap<String, String>,
    /// What was lost, repaired, capped or missing, in the order of first mention.
    pub notes: Vec<Note>,
}

impl Facts {
    /// Widens `start_ps..end_ps` to take in an event.
    pub fn cover(&mut self, start_ps: i64, end_ps: i64) {
        self.start_ps = Some(self.start_ps.map_or(start_ps, |old| old.min(start_ps)));
        self.end_ps = Some(self.end_ps.map_or(end_ps, |old| old.max(end_ps)));
    }

    /// Adds a note, or adds to the one with the same slug. Does not touch the `events_*` counters.
    pub fn note(
        &mut self,
        slug: &str,
        effect: Effect,
        events: u64,
        first_offset: Option<u64>,
        detail: String,
    ) {
        if let Some(note) = self.notes.iter_mut().find(|note| note.slug == slug) {
            note.events = note.events.saturating_add(events);
            note.first_offset = match (note.first_offset, first_offset) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        } else {
            self.notes.push(Note { slug: slug.to_owned(), effect, events, first_offset, detail });
        }
    }

    /// The facts as one JSON object.
    pub fn to_json(&self) -> String {
        let mut out = String::from("{");
        let mut member = |name: &str, value: String| {
            if out.len() > 1 {
                out.push_str(", ");
            }
            let _ = write!(out, "{}: {value}", quote(name));
        };
        member("events_seen", self.events_seen.to_string());
        member("events_stored", self.events_stored.to_string());
        member("events_lost", self.events_lost.to_string());
        member("events_repaired", self.events_repaired.to_string());
        member("events_capped", self.events_capped.to_string());
        member("bytes_in", self.bytes_in.to_string());
        member("content_hash", quote(&self.content_hash));
        member("producer", quote(&self.producer));
        member("origin_unix_ns", optional(self.origin_unix_ns));
        member("start_ps", optional(self.start_ps));
        member("end_ps", optional(self.end_ps));
        member("slices_start_ps", optional(self.slices_ps.map(|(start, _)| start)));
        member("slices_end_ps", optional(self.slices_ps.map(|(_, end)| end)));
        let meta: Vec<String> =
            self.meta.iter().map(|(key, value)| format!("{}: {}", quote(key), quote(value))).collect();
        member("meta", format!("{{{}}}", meta.join(", ")));
        let notes: Vec<String> = self.notes.iter().map(Note::to_json).collect();
        member("notes", format!("[{}]", notes.join(", ")));
        out.push('}');
        out
    }
}

impl Note {
    fn to_json(&self) -> String {
        format!(
            "{{\"slug\": {}, \"effect\": {}, \"events\": {}, \"first_offset\": {}, \"detail\": {}}}",
            quote(&self.slug),
            quote(self.effect.as_str()),
            self.events,
            optional(self.first_offset),
            quote(&self.detail)
        )
    }
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| value.to_string())
}

/// A JSON string.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_one_slug_add_up() {
        let mut facts = Facts::default();
        facts.note("cut", Effect::Lost, 2, Some(90), "first".into());
        facts.note("cut", Effect::Lost, 3, Some(40), "second".into());
        facts.note("odd", Effect::Info, 1, None, "a \"quote\"\u{1}".into());
        assert_eq!(facts.notes.len(), 2);
        assert_eq!((facts.notes[0].events, facts.notes[0].first_offset), (5, Some(40)));
        assert!(facts.to_json().ends_with(
            r#"{"slug": "odd", "effect": "info", "events": 1, "first_offset": null, "detail": "a \"quote\"\u0001"}]}"#
        ));
    }
}
