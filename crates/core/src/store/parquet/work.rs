//! The threads that write files: one file at a time is encoded, its columns side by side, while those that
//! are finished are forced to the disk.

use super::file::{Output, Written};
use super::{Job, Kind};
use crate::error::{Error, Result};
use crate::input::lock;
use std::fs::File;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Row groups of a file that may be under way: more would hold more memory.
const GROUPS: usize = 4;
/// Files that are forced to the disk at once: it can do several as fast as one.
const SYNCING: usize = 4;
/// Fewer rows are not worth another thread.
const FEW_ROWS: u64 = 4096;
/// How often the caller is asked whether to go on.
const PERIOD: Duration = Duration::from_millis(50);

/// The first failure, which ends the work of all threads.
#[derive(Default)]
struct Failed(Mutex<Option<Error>>);

impl Failed {
    fn check(&self) -> Result<()> {
        lock(&self.0).clone().map_or(Ok(()), Err)
    }

    fn note<T>(&self, done: Result<T>) -> Result<T> {
        done.map_err(|error| lock(&self.0).get_or_insert(error).clone())
    }
}

/// Writes files, each forced to the disk. `check` is asked now and then whether to go on. The first
/// failure ends the work; files that were begun stay as they are.
pub fn write(jobs: &[Job], threads: usize, check: impl Fn() -> Result<()>) -> Result<Vec<Written>> {
    let failed = Failed::default();
    std::thread::scope(|scope| {
        let (alive, ended) = channel::<()>();
        let failed = &failed;
        let worker =
            std::thread::Builder::new().name("parquet".to_owned()).spawn_scoped(scope, move || {
                let _alive = alive;
                write_all(jobs, threads, failed)
            })?;
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PERIOD) {
            if failed.check().is_ok() {
                // The worker hands the failure on.
                let _ = failed.note(check());
            }
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn write_all(jobs: &[Job], threads: usize, failed: &Failed) -> Result<Vec<Written>> {
    // Small files first: the disk then works on them while the large ones are encoded.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|job| jobs[*job].table.rows());
    let encoding = Mutex::new(());
    let written = side_by_side(order.clone(), SYNCING, failed, |job| {
        let turn = lock(&encoding);
        let (file, written) = encode(&jobs[job], threads, failed)?;
        drop(turn);
        file.sync_all()?;
        Ok(written)
    })?;
    let mut written: Vec<_> = order.into_iter().zip(written).collect();
    written.sort_by_key(|(job, _)| *job);
    Ok(written.into_iter().map(|(_, written)| written).collect())
}

fn encode(job: &Job, threads: usize, failed: &Failed) -> Result<(File, Written)> {
    let table = job.table.raw()?;
    let mut file = Output::create(job)?;
    let threads = if job.table.rows() < FEW_ROWS { 1 } else { threads.max(1) };
    let groups: Vec<usize> = (0..table.groups()).collect();
    for some in groups.chunks(threads.min(GROUPS)) {
        let mut tasks = Vec::new();
        for group in some {
            let encoders = file.encoders(*group)?.into_iter().enumerate();
            tasks.extend(encoders.map(|(column, encoder)| ((*group, column), encoder)));
        }
        // The longest first, so that no thread waits for the others at the end.
        tasks.sort_by_key(|((_, column), _)| {
            let column = &job.columns[*column];
            (column.is_constant(), column.kind != Kind::Text)
        });
        let (places, encoders): (Vec<_>, Vec<_>) = tasks.into_iter().unzip();
        let tasks = places.iter().copied().zip(encoders).collect();
        let chunks = side_by_side(tasks, threads, failed, |(place, encoder)| {
            file.encode(job, &table, place, encoder)
        })?;
        let mut chunks: Vec<_> = places.into_iter().zip(chunks).collect();
        chunks.sort_by_key(|(place, _)| *place);
        let mut chunks = chunks.into_iter().map(|(_, chunk)| chunk);
        for _ in some {
            file.write(chunks.by_ref().take(job.columns.len()))?;
        }
    }
    file.finish()
}

/// Does tasks in threads, begun in their order; the results are in that order, too.
fn side_by_side<I: Send, T: Send>(
    tasks: Vec<I>,
    threads: usize,
    failed: &Failed,
    work: impl Fn(I) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let threads = threads.min(tasks.len());
    let tasks = Mutex::new(tasks.into_iter().enumerate());
    let run = || -> Result<Vec<(usize, T)>> {
        let mut done = Vec::new();
        loop {
            failed.check()?;
            let Some((number, task)) = lock(&tasks).next() else {
                return Ok(done);
            };
            done.push((number, failed.note(work(task))?));
        }
    };
    let mut done = std::thread::scope(|scope| {
        // With fewer threads than wanted the work takes longer, no more.
        let others: Vec<_> =
            (1..threads).map_while(|_| std::thread::Builder::new().spawn_scoped(scope, run).ok()).collect();
        let mut all = run();
        for other in others {
            let done = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all = all.and_then(|mut all| {
                all.extend(done?);
                Ok(all)
            });
        }
        all
    })?;
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
