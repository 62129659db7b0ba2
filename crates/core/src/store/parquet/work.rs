//! The threads that write files: chunks are encoded side by side and written in order; finished files
//! are forced to the disk while others are encoded.

use super::file::{Parquet, Written};
use super::page::{Chunk, Packer};
use super::{Job, Limits, Source, encode};
use crate::error::{Error, Kind, Result};
use crate::input::lock;
use crate::store::raw::Columns;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Row groups that may be under way: more would hold more memory.
const GROUPS: usize = 4;
/// Files that are forced to the disk at once: it can do several as fast as one.
const SYNCING: usize = 4;
/// How often the caller is asked whether to go on.
const PERIOD: Duration = Duration::from_millis(50);

/// A chunk to be made. Tasks are numbered in the order in which chunks are written.
struct Task {
    job: usize,
    group: usize,
    column: usize,
    /// Number of the row group among those of all files.
    serial: usize,
}

/// What the threads share.
struct Shared {
    /// How many tasks were taken.
    next: usize,
    /// The next task to be written.
    turn: usize,
    /// Whether somebody writes.
    writing: bool,
    /// Finished chunks by the number of their task.
    done: BTreeMap<usize, Chunk>,
    files: Vec<Option<Parquet>>,
    written: Vec<Option<Written>>,
    failed: Option<Error>,
    /// Threads that still run.
    alive: usize,
}

struct Work<'a> {
    jobs: &'a [Job],
    tables: Vec<Columns>,
    tasks: Vec<Task>,
    /// The tasks in the order in which they are begun: within a row group the longest first, so that
    /// no thread waits for the other at the end.
    order: Vec<usize>,
    groups: usize,
    limits: Limits,
    shared: Mutex<Shared>,
    changed: Condvar,
}

/// Writes files, each forced to the disk. `check` is asked now and then whether to go on. The first
/// failure ends the work; files that were begun stay as they are.
pub fn write(
    jobs: &[Job],
    threads: usize,
    limits: Limits,
    check: impl Fn() -> Result<()>,
) -> Result<Vec<Written>> {
    let mut work = Work {
        tables: jobs
            .iter()
            .map(|job| job.table.raw())
            .collect::<Result<_>>()?,
        jobs,
        tasks: Vec::new(),
        order: Vec::new(),
        groups: threads.clamp(1, GROUPS),
        limits,
        shared: Mutex::new(Shared {
            next: 0,
            turn: 0,
            writing: false,
            done: BTreeMap::new(),
            files: jobs.iter().map(|_| None).collect(),
            written: jobs.iter().map(|_| None).collect(),
            failed: None,
            alive: 0,
        }),
        changed: Condvar::new(),
    };
    // Small files first: the disk then works on them while the large ones are encoded.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|job| jobs[*job].table.rows());
    let mut serial = 0;
    for job in order {
        for group in 0..work.tables[job].groups() {
            work.tasks
                .extend((0..jobs[job].columns.len()).map(|column| Task {
                    job,
                    group,
                    column,
                    serial,
                }));
            serial += 1;
        }
    }
    work.order = (0..work.tasks.len()).collect();
    work.order.sort_by_key(|number| {
        let task = &work.tasks[*number];
        let column = &jobs[task.job].columns[task.column];
        (
            task.serial,
            column.is_constant(),
            column.kind != super::Kind::Text,
            -(task.column as i64),
        )
    });
    work.empty()?;
    let (finished, to_sync) = channel::<File>();
    let to_sync = Mutex::new(to_sync);
    let encoders = threads.clamp(1, work.tasks.len().max(1));
    let syncers = SYNCING.min(jobs.len());
    lock(&work.shared).alive = encoders + syncers;
    std::thread::scope(|scope| {
        let finished = finished;
        let (work, to_sync) = (&work, &to_sync);
        let named = |name: String| std::thread::Builder::new().name(name);
        for number in 0..syncers {
            let run = move || work.guard(|| sync(to_sync));
            if let Err(error) = named(format!("sync {number}")).spawn_scoped(scope, run) {
                work.guard(|| Err(error.into()));
            }
        }
        for number in 0..encoders {
            let finished = finished.clone();
            let run = move || work.guard(|| work.encode(finished));
            if let Err(error) = named(format!("parquet {number}")).spawn_scoped(scope, run) {
                work.guard(|| Err(error.into()));
            }
        }
        drop(finished);
        work.wait(&check);
    });
    let shared = lock(&work.shared);
    if let Some(error) = &shared.failed {
        return Err(error.clone());
    }
    let gone = || Error::new(Kind::Io, "a thread that writes files is gone");
    shared
        .written
        .iter()
        .map(|written| written.clone().ok_or_else(gone))
        .collect()
}

impl Work<'_> {
    /// Runs the work of a thread to its end; a failure stops all.
    fn guard(&self, work: impl FnOnce() -> Result<()>) {
        struct Leave<'a>(&'a Work<'a>);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                let mut shared = lock(&self.0.shared);
                shared.alive -= 1;
                if std::thread::panicking() {
                    // The panic itself comes out where the threads are joined.
                    let gone = Error::new(Kind::Io, "a thread that writes files is gone");
                    shared.failed.get_or_insert(gone);
                }
                self.0.changed.notify_all();
            }
        }
        let _leave = Leave(self);
        if let Err(error) = work() {
            lock(&self.shared).failed.get_or_insert(error);
        }
    }

    /// Waits until all threads are done.
    fn wait(&self, check: impl Fn() -> Result<()>) {
        let mut shared = lock(&self.shared);
        while shared.alive > 0 {
            let waited = self.changed.wait_timeout(shared, PERIOD);
            let (again, timeout) = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
            shared = again;
            if timeout.timed_out() && shared.failed.is_none() {
                drop(shared);
                let asked = check();
                shared = lock(&self.shared);
                if let Err(error) = asked {
                    shared.failed.get_or_insert(error);
                    self.changed.notify_all();
                }
            }
        }
    }

    /// Writes the files without rows.
    fn empty(&self) -> Result<()> {
        for (job, columns) in self.jobs.iter().enumerate() {
            if self.tables[job].groups() == 0 {
                let (file, written) = Parquet::create(&columns.path)?.finish(&columns.columns)?;
                file.sync_all()?;
                lock(&self.shared).written[job] = Some(written);
            }
        }
        Ok(())
    }

    /// A thread that encodes, and writes what it is the turn of.
    fn encode(&self, finished: Sender<File>) -> Result<()> {
        let mut packer = Packer::new()?;
        while let Some(number) = self.take() {
            let chunk = self.chunk(&self.tasks[number], &mut packer)?;
            let mut shared = lock(&self.shared);
            shared.done.insert(number, chunk);
            if shared.writing {
                continue;
            }
            shared.writing = true;
            while let (turn, None) = (shared.turn, &shared.failed)
                && let Some(chunk) = shared.done.remove(&turn)
            {
                let task = &self.tasks[turn];
                let file = shared.files[task.job].take();
                drop(shared);
                let (file, written) = self.put(task, file, chunk, &finished)?;
                shared = lock(&self.shared);
                shared.files[task.job] = file;
                if written.is_some() {
                    shared.written[task.job] = written;
                }
                shared.turn += 1;
                self.changed.notify_all();
            }
            shared.writing = false;
        }
        Ok(())
    }

    /// The next task that may be begun.
    fn take(&self) -> Option<usize> {
        let mut shared = lock(&self.shared);
        loop {
            let number = *self.order.get(shared.next)?;
            if shared.failed.is_some() {
                return None;
            }
            let turn = self.tasks[shared.turn].serial;
            if self.tasks[number].serial < turn + self.groups {
                shared.next += 1;
                return Some(number);
            }
            let waited = self.changed.wait(shared);
            shared = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    fn chunk(&self, task: &Task, packer: &mut Packer) -> Result<Chunk> {
        let (table, column) = (
            &self.tables[task.job],
            &self.jobs[task.job].columns[task.column],
        );
        let raw = match &column.source {
            Source::Stored(name, _) => table.column(task.group, name)?,
            _ => None,
        };
        encode(column, raw, table.rows(task.group), self.limits, packer)
    }

    /// Writes a chunk; the last one of a file ends the file.
    fn put(
        &self,
        task: &Task,
        file: Option<Parquet>,
        chunk: Chunk,
        finished: &Sender<File>,
    ) -> Result<(Option<Parquet>, Option<Written>)> {
        let job = &self.jobs[task.job];
        let mut file = match file {
            Some(file) => file,
            None => Parquet::create(&job.path)?,
        };
        file.chunk(job.columns.len(), chunk)?;
        let last = self.tables[task.job].groups() - 1;
        if (task.group, task.column) != (last, job.columns.len() - 1) {
            return Ok((Some(file), None));
        }
        let (file, written) = file.finish(&job.columns)?;
        // Those who sync leave only when all senders are gone.
        finished
            .send(file)
            .map_err(|_| Error::new(Kind::Io, "a thread that syncs files is gone"))?;
        Ok((None, Some(written)))
    }
}

/// A thread that forces finished files to the disk.
fn sync(files: &Mutex<Receiver<File>>) -> Result<()> {
    loop {
        let file = lock(files).recv();
        match file {
            Ok(file) => file.sync_all()?,
            Err(_) => return Ok(()),
        }
    }
}
