//! Cuts the file into pieces, reads them on all threads, and hands them on in order.
//!
//! Whoever is free takes the next bytes: reading and inflating happen under a lock, so a packed file
//! is inflated by one thread while the others parse. Cuts are put where an event seems to begin;
//! [`super::outer`] finds out when one was not.

use super::event::{Rules, Scanner};
use super::outer::{Ahead, Outer};
use super::piece::Piece;
use crate::columns::SliceColumns;
use crate::error::{Error, Kind, Result};
use crate::input::ends_early;
use crate::json::Fault;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock};

/// The first piece is small: it holds the head and is read by one thread.
const FIRST_BYTES: usize = 512 << 10;
/// How far back a cut is looked for, and how many bytes that may read.
const CUT_WINDOW: usize = 1 << 20;
const CUT_EFFORT: usize = 4 << 20;

/// A stretch of the file.
struct Raw {
    index: u64,
    at: u64,
    bytes: Vec<u8>,
}

/// The unread rest of the file.
struct Feed<'a> {
    read: Box<dyn Read + Send + 'a>,
    piece_bytes: usize,
    rest: Vec<u8>,
    index: u64,
    at: u64,
    ended: bool,
    /// Why packed bytes end before they should.
    cut: Option<String>,
    scanner: Scanner,
    rules: Rules,
}

impl Feed<'_> {
    /// The next piece, in a used buffer or in an empty one.
    fn next(&mut self, mut bytes: Vec<u8>) -> Result<Option<Raw>> {
        let wanted = if self.index == 0 { FIRST_BYTES.min(self.piece_bytes) } else { self.piece_bytes };
        // A used buffer has its length still, so that nothing is cleared only to be read over.
        bytes.resize(wanted.max(self.rest.len()), 0);
        let mut length = self.rest.len();
        bytes[..length].copy_from_slice(&self.rest);
        self.rest.clear();
        while length < bytes.len() && !self.ended {
            match self.read.read(&mut bytes[length..]) {
                Ok(0) => self.ended = true,
                Ok(more) => length += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if ends_early(&error) => {
                    (self.ended, self.cut) = (true, Some(error.to_string()));
                }
                Err(error) => {
                    self.ended = true;
                    return Err(error.into());
                }
            }
        }
        bytes.truncate(length);
        if bytes.is_empty() {
            return Ok(None);
        }
        if !self.ended {
            let cut = self.cut_place(&bytes);
            self.rest.extend_from_slice(&bytes[cut..]);
            bytes.truncate(cut);
        }
        let raw = Raw { index: self.index, at: self.at, bytes };
        self.index += 1;
        self.at += raw.bytes.len() as u64;
        Ok(Some(raw))
    }

    /// The last place where an event seems to begin, or the end.
    fn cut_place(&mut self, bytes: &[u8]) -> usize {
        let low = bytes.len().saturating_sub(CUT_WINDOW).max(1);
        let (mut high, mut effort) = (bytes.len(), 0);
        while let Some(found) = memchr::memrchr(b'{', &bytes[low..high]) {
            let place = low + found;
            high = place;
            let before = bytes[..place].trim_ascii_end();
            let Some(before) = before.strip_suffix(b",") else {
                continue;
            };
            if !before.trim_ascii_end().ends_with(b"}") {
                continue;
            }
            let (plausible, end) = self.scanner.plausible(bytes, place, &self.rules);
            if plausible == Ok(true) {
                return place;
            }
            effort += if plausible == Err(Fault::More) { bytes.len() - place } else { end - place };
            if effort > CUT_EFFORT {
                break;
            }
        }
        bytes.len()
    }
}

/// A piece that was read ahead.
struct Done {
    raw: Raw,
    ahead: Option<Ahead>,
}

#[derive(Default)]
struct Shared {
    done: BTreeMap<u64, Done>,
    /// Pieces asked for, and pieces handed on.
    asked: u64,
    handed: u64,
    /// Nothing more will be asked for: the file ended or something failed.
    over: bool,
    error: Option<Error>,
}

struct Crew<'a> {
    feed: Mutex<Feed<'a>>,
    shared: Mutex<Shared>,
    changed: Condvar,
    /// Columns that were used and emptied: their memory is warm.
    spares: Mutex<Vec<SliceColumns>>,
    /// Bytes of pieces that were handed on, likewise. Not under the lock of the feed, which is held for
    /// as long as a piece takes to be inflated.
    buffers: Mutex<Vec<Vec<u8>>>,
    origin: OnceLock<i64>,
    rules: Rules,
    piece_bytes: usize,
    window: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Reads everything from `read` into `outer`.
pub fn run(
    read: Box<dyn Read + Send + '_>,
    mut outer: Outer<'_>,
    rules: Rules,
    threads: usize,
    piece_bytes: usize,
) -> Result<()> {
    let feed = Feed {
        read,
        piece_bytes,
        rest: Vec::new(),
        index: 0,
        at: 0,
        ended: false,
        cut: None,
        scanner: Scanner::new(usize::MAX - 1),
        rules,
    };
    let crew = Crew {
        feed: Mutex::new(feed),
        shared: Mutex::default(),
        changed: Condvar::new(),
        spares: Mutex::default(),
        buffers: Mutex::default(),
        origin: OnceLock::new(),
        rules,
        piece_bytes,
        window: 2 * threads as u64 + 1,
    };
    // The first piece tells whether more threads are worth starting.
    let first = lock(&crew.feed).next(Vec::new())?;
    if let Some(raw) = first {
        outer.take(&raw.bytes, raw.at, None)?;
        let mut shared = lock(&crew.shared);
        (shared.asked, shared.handed) = (1, 1);
        if let Some(origin) = outer.committer.origin_us {
            crew.origin.get_or_init(|| origin);
        }
    }
    if !(lock(&crew.feed).ended) {
        std::thread::scope(|scope| {
            for number in 1..threads {
                let crew = &crew;
                scope.spawn(move || crew.work(number));
            }
            let result = crew.conduct(&mut outer);
            crew.stop();
            result
        })?;
    }
    let cut = lock(&crew.feed).cut.take();
    outer.finish(cut)
}

impl Crew<'_> {
    fn stop(&self) {
        lock(&self.shared).over = true;
        self.changed.notify_all();
    }

    /// Reads pieces until there are no more.
    fn work(&self, number: usize) {
        let mut scanner = Scanner::new(number);
        loop {
            let mut shared = lock(&self.shared);
            while !shared.over && shared.asked - shared.handed >= self.window {
                shared = self.changed.wait(shared).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
            if shared.over {
                return;
            }
            shared.asked += 1;
            drop(shared);
            self.read_one(&mut scanner);
        }
    }

    /// Reads the next piece ahead. Its place in `asked` was taken before.
    fn read_one(&self, scanner: &mut Scanner) {
        let buffer = lock(&self.buffers).pop().unwrap_or_default();
        let next = lock(&self.feed).next(buffer);
        let mut outcome = None;
        if let Ok(Some(raw)) = next {
            let rules = Rules { origin_us: self.origin.get().copied(), ..self.rules };
            let mut piece =
                Piece { slices: lock(&self.spares).pop().unwrap_or_default(), ..Piece::default() };
            let stop = scanner.read(&raw.bytes, 0, &rules, &mut piece);
            let ahead = Ahead { piece, delta: scanner.delta(), stop };
            outcome = Some(Done { raw, ahead: Some(ahead) });
        } else if let Err(error) = next {
            lock(&self.shared).error.get_or_insert(error);
        }
        let mut shared = lock(&self.shared);
        match outcome {
            Some(done) => {
                shared.done.insert(done.raw.index, done);
            }
            None => {
                shared.asked -= 1;
                shared.over = true;
            }
        }
        drop(shared);
        self.changed.notify_all();
    }

    /// Hands pieces on in order; reads some itself while none is ready.
    fn conduct(&self, outer: &mut Outer<'_>) -> Result<()> {
        let mut scanner = Scanner::new(usize::MAX - 2);
        loop {
            let mut shared = lock(&self.shared);
            let next = shared.handed;
            if let Some(done) = shared.done.remove(&next) {
                drop(shared);
                outer.take(&done.raw.bytes, done.raw.at, done.ahead)?;
                if let Some(origin) = outer.committer.origin_us {
                    self.origin.get_or_init(|| origin);
                }
                lock(&self.spares).push(outer.committer.writer.spare());
                lock(&self.shared).handed += 1;
                self.changed.notify_all();
                // A buffer that grew with a long event is not kept.
                if done.raw.bytes.capacity() <= 2 * self.piece_bytes {
                    lock(&self.buffers).push(done.raw.bytes);
                }
            } else if shared.over {
                if shared.asked == shared.handed {
                    return shared.error.take().map_or(Ok(()), Err);
                }
                let waited = self.changed.wait(shared);
                drop(waited.unwrap_or_else(|poisoned| poisoned.into_inner()));
            } else if shared.asked - shared.handed < self.window {
                shared.asked += 1;
                drop(shared);
                self.read_one(&mut scanner);
            } else {
                let waited = self.changed.wait(shared);
                drop(waited.unwrap_or_else(|poisoned| poisoned.into_inner()));
            }
        }
    }
}

/// A limit or size from the options of the format.
pub fn number(extra: &BTreeMap<String, String>, name: &str, otherwise: usize) -> Result<usize> {
    match extra.get(name) {
        None => Ok(otherwise),
        Some(text) => text.parse().ok().filter(|number| (1..1 << 30).contains(number)).ok_or_else(|| {
            Error::new(Kind::Limit, format!("option {name} is no number from 1 to 2^30: {text}"))
        }),
    }
}
