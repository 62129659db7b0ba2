//! A thread that takes pieces of slices in turn and in the end gives one result.

use crate::columns::SliceColumns;
use crate::error::{Error, Kind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Pieces that may wait for the thread, and used ones that may wait to be filled again.
const WAITING: usize = 4;
/// How often a caller that waits for the result is asked whether to go on.
const PERIOD: Duration = Duration::from_millis(50);

/// The thread, seen from outside.
pub struct Stage<R> {
    pieces: Option<SyncSender<SliceColumns>>,
    spares: Receiver<SliceColumns>,
    done: Receiver<()>,
    thread: Option<JoinHandle<Result<R>>>,
    stop: Arc<AtomicBool>,
}

/// The pieces, seen from inside the thread.
pub struct Inbox {
    pieces: Receiver<SliceColumns>,
    spares: SyncSender<SliceColumns>,
    stop: Arc<AtomicBool>,
}

impl Inbox {
    /// The next piece; none when all are there. Fails when the result is not wanted any more.
    pub fn next(&self) -> Result<Option<SliceColumns>> {
        let piece = self.pieces.recv().ok();
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::new(Kind::Interrupted, "the caller asked to stop"));
        }
        Ok(piece)
    }

    /// Hands a used piece back, whose memory is warm. When nobody takes it, it is just freed.
    pub fn give_back(&self, mut piece: SliceColumns) {
        piece.clear();
        let _ = self.spares.try_send(piece);
    }
}

fn gone() -> Error {
    Error::new(Kind::Io, "a thread that keeps slices is gone")
}

impl<R: Send + 'static> Stage<R> {
    /// Starts the thread.
    pub fn new(name: &str, work: impl FnOnce(Inbox) -> Result<R> + Send + 'static) -> Result<Stage<R>> {
        let (pieces, inbox) = sync_channel(WAITING);
        let (outbox, spares) = sync_channel(WAITING);
        let (finished, done) = sync_channel::<()>(0);
        let stop = Arc::new(AtomicBool::new(false));
        let inbox = Inbox { pieces: inbox, spares: outbox, stop: Arc::clone(&stop) };
        let work = move || {
            // Dropped at the end, whatever the end: that is the signal.
            let _finished = finished;
            work(inbox)
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(Stage { pieces: Some(pieces), spares, done, thread: Some(thread), stop })
    }

    /// Hands a piece over; the failure of an earlier piece shows here.
    pub fn push(&mut self, piece: SliceColumns) -> Result<()> {
        if self.pieces.as_ref().is_some_and(|pieces| pieces.send(piece).is_ok()) {
            return Ok(());
        }
        // The thread hangs up only when it failed.
        self.join().and(Err(gone()))
    }

    /// A used piece, emptied: its memory is warm.
    pub fn spare(&self) -> SliceColumns {
        self.spares.try_recv().unwrap_or_default()
    }

    /// Waits for the result; `check` is asked meanwhile whether to go on.
    pub fn finish(mut self, check: impl Fn() -> Result<()>) -> Result<R> {
        self.pieces = None;
        while let Err(RecvTimeoutError::Timeout) = self.done.recv_timeout(PERIOD) {
            check()?;
        }
        self.join()
    }

    fn join(&mut self) -> Result<R> {
        self.pieces = None;
        self.thread.take().ok_or_else(gone)?.join().map_err(|_| gone())?
    }
}

impl<R> Drop for Stage<R> {
    fn drop(&mut self) {
        // Nobody waits for the result any more, but nothing may be written after us.
        self.stop.store(true, Ordering::Relaxed);
        self.pieces = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
