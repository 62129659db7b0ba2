//! What the caller asks of a decoder, and how the caller can watch and stop it.

use crate::error::{Error, Kind, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What will be looked at. What is not needed is not worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// `args_json` of slices.
    pub args: bool,
    /// Order, depth, parent and self time of slices.
    pub nesting: bool,
    /// Tables other than slice, track and device.
    pub tables: bool,
    /// `op_name`, `op_type` and `correlation_id` of slices.
    pub ops: bool,
}

impl Default for Needs {
    fn default() -> Self {
        Needs { args: true, nesting: true, tables: true, ops: true }
    }
}

/// How to decode.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the tables go; `None` keeps them in memory.
    pub folder: Option<PathBuf>,
    /// What the caller will look at.
    pub needs: Needs,
    /// False lets slices go as soon as they are decoded, without nesting them: this measures pure decoding.
    pub keep: bool,
    /// Threads to use, at least 1.
    pub threads: usize,
    /// Options of one format.
    pub extra: BTreeMap<String, String>,
    /// The caller's eye and hand on the work.
    pub progress: Option<Arc<Progress>>,
    /// Bytes that unsorted slices may take in memory before they are spilled to disk.
    pub memory_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            folder: None,
            needs: Needs::default(),
            keep: true,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get()),
            extra: BTreeMap::new(),
            progress: None,
            memory_bytes: 128 << 20,
        }
    }
}

impl Options {
    /// Tells the caller how far the work is, about ten times a second; fails when it is to stop.
    /// Cheap enough for once per chunk, from any thread.
    pub fn check(&self) -> Result<()> {
        self.progress.as_ref().map_or(Ok(()), |progress| progress.check())
    }
}

type Call = Box<dyn FnMut(u64) -> bool + Send>;

/// Watches a decode: counts packed bytes and asks the caller whether to go on.
pub struct Progress {
    read: Arc<AtomicU64>,
    stopped: AtomicBool,
    call: Mutex<(Instant, Call)>,
}

const PERIOD: Duration = Duration::from_millis(100);

impl Progress {
    /// `read` counts packed bytes ([`crate::input::Input::counter`]); `call` gets the count and
    /// answers whether to go on.
    pub fn new(read: Arc<AtomicU64>, call: impl FnMut(u64) -> bool + Send + 'static) -> Arc<Self> {
        let call: Call = Box::new(call);
        Arc::new(Progress { read, stopped: AtomicBool::new(false), call: Mutex::new((Instant::now(), call)) })
    }

    /// See [`Options::check`].
    pub fn check(&self) -> Result<()> {
        // Whoever finds the lock taken need not ask: another thread is asking.
        if let Ok(mut guard) = self.call.try_lock()
            && guard.0.elapsed() >= PERIOD
        {
            let go_on = (guard.1)(self.read.load(Ordering::Relaxed));
            guard.0 = Instant::now();
            if !go_on {
                self.stopped.store(true, Ordering::Relaxed);
            }
        }
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::new(Kind::Interrupted, "the caller asked to stop"));
        }
        Ok(())
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("read", &self.read).finish_non_exhaustive()
    }
}
