//! Writes what is known of tracks: a row each, and the rest into `meta`.

use super::super::class::Class;
use super::{About, COUNTER, THREAD, THREAD_HEAD, Tracks, origin, thread_ids};
use crate::columns::{Cell, Table};
use crate::error::Result;
use crate::facts::quote;
use crate::store::Writer;
use std::collections::BTreeSet;

/// Member of `meta` with what categories say of rows: `host`, `runtime`, `device`, or the device's number; and
/// `exchanges` for what their tasks say. Who names the rows takes it away.
const ROWS: &str = "classes of rows";
/// Processes that are described in `meta` at most.
const PROCESSES: usize = 1000;

/// What a row says of its track itself, without its process.
struct Row {
    kind: &'static str,
    records: &'static str,
    name: String,
    origin: String,
}

impl Tracks {
    /// Writes the rows, and what of the metadata has no row into `meta`.
    pub fn finish(&mut self, writer: &mut Writer) -> Result<()> {
        self.rows(writer)?;
        let meta = &mut writer.facts.meta;
        if let Some(classes) = object((0..self.classes.len()).filter_map(|at| self.class(at))) {
            meta.insert(ROWS.to_owned(), classes);
        }
        if let Some(processes) = object(self.processes.iter().take(PROCESSES).map(process)) {
            meta.insert("processes".to_owned(), processes);
        }
        for (key, args) in std::mem::take(&mut self.other) {
            let args = if args.is_empty() { "{}".to_owned() } else { args };
            meta.insert(format!("metadata {key}"), args);
        }
        Ok(())
    }

    /// What categories and tasks say of a row, as a member.
    fn class(&self, track: usize) -> Option<String> {
        let word = match self.classes[track] {
            Class::Any if self.exchanges(track) => "\"exchanges\"".to_owned(),
            Class::Any => return None,
            Class::Host => "\"host\"".to_owned(),
            Class::Runtime => "\"runtime\"".to_owned(),
            Class::Device(None) => "\"device\"".to_owned(),
            Class::Device(Some(device)) => device.to_string(),
        };
        Some(format!("\"{track}\":{word}"))
    }

    /// A row for each track, then one for each process that is named and has none.
    fn rows(&self, writer: &mut Writer) -> Result<()> {
        let mut used: BTreeSet<&[u8]> = BTreeSet::new();
        let none = About::default();
        // Tracks of one process mostly come together.
        let mut last: Option<(Option<&[u8]>, &About, String)> = None;
        for number in 0..self.keys.len() as u32 {
            let key = self.keys.get(number);
            let (pid, _) = thread_ids(key);
            let (_, process, process_name) = match &mut last {
                Some(last) if last.0 == pid => last,
                last => {
                    let known = self.processes.get_key_value(pid.unwrap_or(b""));
                    if let Some((pid, _)) = known {
                        used.insert(pid);
                    }
                    let process = known.map_or(&none, |(_, process)| process);
                    let name = process.name.clone().unwrap_or_else(|| origin(pid, None));
                    last.insert((pid, process, name))
                }
            };
            let about = self.beside.get(&number).unwrap_or(&number);
            let thread = self.threads.get(about).unwrap_or(&none);
            let row = match key[0] {
                THREAD => Row::of_thread(key, thread, process_name),
                kind => Row::of_texts(key, kind == COUNTER),
            };
            row.write(writer, process_name, thread.sort_index.or(process.sort_index))?;
        }
        for (pid, about) in &self.processes {
            if let (Some(name), false) = (&about.name, used.contains(pid.as_slice())) {
                let row = Row {
                    kind: "unknown",
                    records: "unknown",
                    name: String::new(),
                    origin: origin(Some(pid), None),
                };
                row.write(writer, name, about.sort_index)?;
            }
        }
        Ok(())
    }
}

impl Row {
    fn of_thread(key: &[u8], about: &About, process_name: &str) -> Row {
        let (pid, tid) = thread_ids(key);
        let name = about.name.clone().unwrap_or_else(|| match tid {
            Some(_) => origin(None, tid),
            None => process_name.to_owned(),
        });
        Row {
            kind: about.kind.unwrap_or("unknown"),
            records: about.records.unwrap_or("unknown"),
            name,
            origin: origin(pid, tid),
        }
    }

    /// A counter, or else an asynchronous sequence: texts lie behind the process id of its key.
    fn of_texts(key: &[u8], counter: bool) -> Row {
        let (pid, _) = thread_ids(key);
        let mut texts = texts(&key[THREAD_HEAD + pid.map_or(0, <[u8]>::len)..]);
        let first = texts.next().unwrap_or_default();
        let second = texts.next();
        let id = second.as_ref().map_or(String::new(), |id| format!(" id {id}"));
        let (kind, records, word) =
            if counter { ("counter", "unknown", "counter") } else { ("async", "annotation", "async") };
        let origin = format!("{} {word} {first}{id}", origin(pid, None));
        let name = if first.is_empty() && !counter { second.unwrap_or_default() } else { first };
        Row { kind, records, name, origin }
    }

    fn write(&self, writer: &mut Writer, process: &str, sort_index: Option<i64>) -> Result<()> {
        let cells = [
            Cell::Null,
            Cell::Text(self.kind),
            Cell::Text(self.records),
            Cell::Text(process),
            Cell::Text(&self.name),
            Cell::Text(self.origin.trim_start()),
            sort_index.map_or(Cell::Null, Cell::I64),
        ];
        writer.row(Table::Track, &cells).map(drop)
    }
}

/// A JSON object of its members; None without any.
fn object(members: impl Iterator<Item = String>) -> Option<String> {
    let members: Vec<String> = members.collect();
    (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
}

/// What metadata says of a process, as a member.
fn process((pid, about): (&Vec<u8>, &About)) -> String {
    let text = |value: &Option<String>| value.as_ref().map_or("null".to_owned(), |v| quote(v));
    let index = about.sort_index.map_or("null".to_owned(), |v| v.to_string());
    format!(
        "{}:{{\"name\":{},\"labels\":{},\"sort_index\":{index}}}",
        quote(&String::from_utf8_lossy(pid)),
        text(&about.name),
        text(&about.labels)
    )
}

/// Texts that are led by their lengths.
fn texts(mut bytes: &[u8]) -> impl Iterator<Item = String> {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        bytes = rest;
        Some(String::from_utf8_lossy(text).into_owned())
    })
}
