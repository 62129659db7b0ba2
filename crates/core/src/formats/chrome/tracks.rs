//! The tracks of a file: threads, counters and asynchronous sequences, and what metadata says of them.

mod rows;

use super::class::{self, Class};
use super::piece::Interner;
use crate::classes::Task;
use crate::error::{Error, Kind, Result};
use crate::formats::markers::shows_steps;
use crate::json::{Cursor, Minified, Shape, unescape};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes before the process id in the key of a thread.
pub const THREAD_HEAD: usize = 6;
/// Flag of keys that end with a class.
pub const CLASSED: u8 = 4;
const THREAD: u8 = b't';
const COUNTER: u8 = b'c';
const ASYNC: u8 = b'a';

/// The head of a thread's key: which ids are there, and how long the process id is. The texts of
/// both ids follow; numbers and strings that read alike are the same id.
pub fn thread_head(pid: Option<usize>, tid: bool) -> [u8; THREAD_HEAD] {
    let length = (pid.unwrap_or(0) as u32).to_le_bytes();
    let flags = u8::from(pid.is_some()) | u8::from(tid) << 1;
    [THREAD, flags, length[0], length[1], length[2], length[3]]
}

/// Process and thread id of a thread's key.
pub fn thread_ids(key: &[u8]) -> (Option<&[u8]>, Option<&[u8]>) {
    let length = u32::from_le_bytes([key[2], key[3], key[4], key[5]]) as usize;
    let (pid, tid) = classed(key).0[THREAD_HEAD..].split_at(length);
    ((key[1] & 1 != 0).then_some(pid), (key[1] & 2 != 0).then_some(tid))
}

/// A key without its class, and the class.
fn classed(key: &[u8]) -> (&[u8], Class) {
    match key.split_last_chunk::<{ class::BYTES }>() {
        Some((rest, class)) if key[1] & CLASSED != 0 => (rest, Class::from_bytes(*class)),
        _ => (key, Class::Any),
    }
}

/// What metadata says of a process or a thread.
#[derive(Debug, Default, Clone)]
struct About {
    name: Option<String>,
    labels: Option<String>,
    sort_index: Option<i64>,
    /// What the row really is and what it records, where an export of ours says so.
    kind: Option<&'static str>,
    records: Option<&'static str>,
}

/// Words of `track.kind` that a thread may have, and of `track.records`.
const KINDS: [&str; 5] = ["thread", "device_stream", "lane", "derived", "compiler"];
const RECORDS: [&str; 3] = ["execution", "dispatch", "annotation"];

/// All tracks, numbered in the order they are met.
#[derive(Default)]
pub struct Tracks {
    keys: Interner,
    /// End of the last event of each track.
    last_ps: Vec<i64>,
    /// What the events of each track say of it.
    classes: Vec<Class>,
    /// What the tasks of each track are, a bit for each [`Task`].
    tasks: Vec<u8>,
    /// Tracks with the ids of another, which what lies there may not lie on: by that one.
    apart: BTreeMap<u32, Vec<u32>>,
    /// The other way round.
    beside: BTreeMap<u32, u32>,
    processes: BTreeMap<Vec<u8>, About>,
    threads: BTreeMap<u32, About>,
    /// Metadata of other names: kept as text.
    other: BTreeMap<String, String>,
    /// Rows whose slices are steps of an accelerator, or runs of whole programs, as far as names come first.
    delimiting: BTreeSet<u32>,
    scratch: Vec<u8>,
    /// When the clock of a Horovod file began, in Unix microseconds.
    pub start_unix_us: Option<i64>,
}

/// Tracks of a file at most: each takes about 100 bytes of memory until the end, and no recording has
/// as many.
const MOST_TRACKS: u32 = 3_000_000;
/// Other metadata that is kept at most, in bytes.
const OTHER_BYTES: usize = 64 << 10;

impl Tracks {
    /// Number of the track with this key; where it has a class, of one with its ids and no other class.
    pub fn number(&mut self, key: &[u8]) -> Result<u32> {
        let (ids, class) = classed(key);
        if class == Class::Any {
            return self.plain(key);
        }
        let mut plain = std::mem::take(&mut self.scratch);
        plain.clear();
        plain.extend_from_slice(ids);
        plain[1] &= !CLASSED;
        let first = self.plain(&plain);
        self.scratch = plain;
        let first = first?;
        let others = self.apart.get(&first).into_iter().flatten().copied();
        for track in std::iter::once(first).chain(others) {
            if let Some(both) = self.classes[track as usize].with(class) {
                self.classes[track as usize] = both;
                return Ok(track);
            }
        }
        let track = self.plain(key)?;
        self.classes[track as usize] = class;
        self.apart.entry(first).or_default().push(track);
        self.beside.insert(track, first);
        Ok(track)
    }

    fn plain(&mut self, key: &[u8]) -> Result<u32> {
        if self.keys.bytes() + key.len() > u32::MAX as usize {
            return Err(Error::new(Kind::Limit, "the ids of all tracks take more than 4 GiB"));
        }
        let number = self.keys.intern(key);
        if number >= MOST_TRACKS {
            return Err(Error::new(
                Kind::Limit,
                format!("more than {MOST_TRACKS} tracks (processes times threads, counters, sequences)"),
            ));
        }
        if number as usize == self.last_ps.len() {
            self.last_ps.push(i64::MIN);
            self.classes.push(Class::Any);
            self.tasks.push(0);
        }
        Ok(number)
    }

    /// Track of a counter of the process that `thread` belongs to.
    pub fn counter(&mut self, thread: &[u8], name: &[u8], id: Option<&[u8]>) -> Result<u32> {
        self.of_process(COUNTER, thread, &[Some(name), id])
    }

    /// Track of an asynchronous sequence of the process that `thread` belongs to.
    pub fn sequence(&mut self, thread: &[u8], category: Option<&[u8]>, id: &[u8]) -> Result<u32> {
        self.of_process(ASYNC, thread, &[Some(category.unwrap_or(b"")), Some(id)])
    }

    /// Keys of counters and sequences: the head of a thread, its process id, and texts led by their
    /// lengths.
    fn of_process(&mut self, kind: u8, thread: &[u8], texts: &[Option<&[u8]>]) -> Result<u32> {
        let (pid, _) = thread_ids(thread);
        let mut key = std::mem::take(&mut self.scratch);
        key.clear();
        key.extend_from_slice(&thread_head(pid.map(<[u8]>::len), false));
        key[0] = kind;
        key.extend_from_slice(pid.unwrap_or(b""));
        for text in texts.iter().flatten() {
            key.extend_from_slice(&(text.len() as u32).to_le_bytes());
            key.extend_from_slice(text);
        }
        let number = self.number(&key);
        self.scratch = key;
        number
    }

    /// Takes in that a track has an event that ends then.
    #[inline]
    pub fn reach(&mut self, track: u32, end_ps: i64) {
        let last = &mut self.last_ps[track as usize];
        *last = (*last).max(end_ps);
    }

    /// Takes in that a track has such a task.
    #[inline]
    pub fn holds(&mut self, track: u32, task: Task) {
        self.tasks[track as usize] |= 1 << task as u8;
    }

    /// True for a track whose tasks carry out collectives, and nothing else.
    fn exchanges(&self, track: usize) -> bool {
        let tasks = self.tasks[track];
        self.classes[track] == Class::Any
            && tasks & (1 << Task::Notifies as u8) != 0
            && tasks & (1 << Task::Works as u8) == 0
    }

    /// End of the last event of a track.
    pub fn last_ps(&self, track: u32) -> i64 {
        self.last_ps[track as usize]
    }

    /// Takes in a metadata event: its thread's key, its name and its arguments.
    pub fn metadata(&mut self, thread: &[u8], name: &[u8], args: &[u8]) -> Result<()> {
        let (pid, tid) = thread_ids(thread);
        let value = |key: &[u8]| member(args, key);
        if let Some(start) = value(b"start_time_since_epoch_in_micros") {
            self.start_unix_us = start.parse().ok();
        }
        let is_thread = name.starts_with(b"thread_") && tid.is_some();
        let delimits = name == b"thread_name"
            && value(b"name").is_some_and(|text| shows_steps(&text))
            && self.is_accelerator(pid);
        let about = match name {
            b"process_name" | b"process_labels" | b"process_sort_index" => {
                self.processes.entry(pid.unwrap_or(b"").to_vec()).or_default()
            }
            b"thread_name" | b"thread_sort_index" if is_thread => {
                let track = self.number(thread)?;
                if delimits {
                    self.delimiting.insert(track);
                }
                self.threads.entry(track).or_default()
            }
            _ => {
                let size: usize = self.other.iter().map(|(k, v)| k.len() + v.len()).sum();
                if size + args.len() + name.len() <= OTHER_BYTES {
                    let key = format!("{} {}", String::from_utf8_lossy(name), origin(pid, tid));
                    self.other.insert(key.trim_end().to_owned(), String::from_utf8_lossy(args).into_owned());
                }
                return Ok(());
            }
        };
        let one_of = |words: &[&'static str], key: &[u8]| {
            value(key).and_then(|text| words.iter().copied().find(|word| *word == text))
        };
        if name == b"thread_name" {
            about.kind = one_of(&KINDS, b"kind").or(about.kind);
            about.records = one_of(&RECORDS, b"records").or(about.records);
        }
        match name {
            b"process_name" | b"thread_name" => about.name = value(b"name").or_else(|| about.name.take()),
            b"process_labels" => about.labels = value(b"labels").or_else(|| about.labels.take()),
            _ => {
                let index = value(b"sort_index").and_then(|text| text.parse::<f64>().ok());
                about.sort_index = index.map(|index| index as i64).or(about.sort_index);
            }
        }
        Ok(())
    }

    /// True for a row whose slices are steps of an accelerator, or runs of whole programs.
    pub fn delimits(&self, track: u32) -> bool {
        !self.delimiting.is_empty() && self.delimiting.contains(&track)
    }

    /// True where the process with this id is called as profilers of TensorFlow and JAX call an accelerator.
    fn is_accelerator(&self, pid: Option<&[u8]>) -> bool {
        let about = self.processes.get(pid.unwrap_or(b""));
        let name = about.and_then(|about| about.name.as_deref()).unwrap_or_default();
        (name.starts_with("/device:") && !name.starts_with("/device:CPU")) || name.contains("#Chip")
    }

    /// Names of processes.
    pub fn process_names(&self) -> impl Iterator<Item = &str> {
        self.processes.values().filter_map(|about| about.name.as_deref())
    }
}

/// The ids as the file has them.
fn origin(pid: Option<&[u8]>, tid: Option<&[u8]>) -> String {
    let mut text = String::new();
    for (word, id) in [("pid ", pid), ("tid ", tid)] {
        if let Some(id) = id {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
            text.push_str(&String::from_utf8_lossy(id));
        }
    }
    text
}

/// A member of a valid JSON object as text: a string's own, any other value as it stands.
pub fn member(args: &[u8], wanted: &[u8]) -> Option<String> {
    let mut found = None;
    each_member(args, |key, shape, raw| {
        if key == wanted && shape != Shape::Null {
            found = Some(String::from_utf8_lossy(raw).into_owned());
        }
    });
    found
}

/// Calls `take` with key, shape and text of each member of a valid JSON object.
pub fn each_member(args: &[u8], mut take: impl FnMut(&[u8], Shape, &[u8])) {
    if args.first() != Some(&b'{') {
        return;
    }
    let mut none = Vec::new();
    let (mut name, mut text) = (Vec::new(), Vec::new());
    let mut cursor = Cursor::new(args, 0);
    // The text was checked when it was stored, so that reading cannot fail here.
    let _checked = cursor.members(&mut Minified::new(&mut none, 0, false), |cursor, key, _| {
        let start = cursor.pos;
        let mut none = Vec::new();
        let shape = cursor.value(&mut Minified::new(&mut none, start, false))?;
        name.clear();
        unescape(&args[key.start..key.end], &mut name);
        text.clear();
        if shape == Shape::String {
            unescape(&args[start + 1..cursor.pos - 1], &mut text);
        } else {
            text.extend_from_slice(&args[start..cursor.pos]);
        }
        take(&name, shape, &text);
        Ok(())
    });
}
