//! Jobs done by several threads, results taken in the order of the jobs.

use crate::error::{Error, Kind, Result};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard};

/// Results that may wait for their turn, for each thread.
const AHEAD: usize = 2;

struct Shared<R> {
    state: Mutex<State<R>>,
    changed: Condvar,
    jobs: usize,
    ahead: usize,
}

struct State<R> {
    next: usize,
    taken: usize,
    done: BTreeMap<usize, Result<R>>,
    stop: bool,
}

impl<R> Shared<R> {
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn claim(&self, state: &mut State<R>) -> Option<usize> {
        if state.stop || state.next >= self.jobs || state.next - state.taken >= self.ahead {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn put(&self, job: usize, result: Result<R>) {
        self.lock().done.insert(job, result);
        self.changed.notify_all();
    }

    fn stop(&self) {
        self.lock().stop = true;
        self.changed.notify_all();
    }
}

/// Tells the others when a thread dies or ends.
struct Stop<'a, R>(&'a Shared<R>, bool);

impl<R> Drop for Stop<'_, R> {
    fn drop(&mut self) {
        if self.1 || std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// Does `jobs` on `threads` threads, of which the caller is one: `work(context, job)`, and
/// `take(job, result)` on the caller's thread in the order of the jobs. Few results wait at any time.
/// The first error, in the order of the jobs, ends it.
pub fn in_order<J: Sync, C, R: Send>(
    threads: usize,
    jobs: &[J],
    context: impl Fn() -> C + Sync,
    work: impl Fn(&mut C, &J) -> Result<R> + Sync,
    mut take: impl FnMut(usize, R) -> Result<()>,
) -> Result<()> {
    let threads = threads.min(jobs.len());
    if threads <= 1 {
        let mut context = context();
        return jobs.iter().enumerate().try_for_each(|(index, job)| take(index, work(&mut context, job)?));
    }
    let shared = Shared {
        state: Mutex::new(State { next: 0, taken: 0, done: BTreeMap::new(), stop: false }),
        changed: Condvar::new(),
        jobs: jobs.len(),
        ahead: AHEAD * threads,
    };
    std::thread::scope(|scope| {
        let _stop = Stop(&shared, true);
        for _ in 1..threads {
            scope.spawn(|| {
                let _stop = Stop(&shared, false);
                let mut context = context();
                loop {
                    let mut state = shared.lock();
                    let job = loop {
                        if let Some(job) = shared.claim(&mut state) {
                            break job;
                        }
                        if state.stop || state.next >= shared.jobs {
                            return;
                        }
                        state = shared.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
                    };
                    drop(state);
                    shared.put(job, work(&mut context, &jobs[job]));
                }
            });
        }
        let mut context = context();
        for turn in 0..jobs.len() {
            let result = loop {
                let mut state = shared.lock();
                if let Some(result) = state.done.remove(&turn) {
                    break result;
                }
                if state.stop {
                    return Err(Error::new(Kind::Io, "a thread of the decoder died"));
                }
                if let Some(job) = shared.claim(&mut state) {
                    drop(state);
                    let result = work(&mut context, &jobs[job]);
                    shared.put(job, result);
                } else {
                    drop(shared.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner()));
                }
            };
            shared.lock().taken = turn + 1;
            shared.changed.notify_all();
            take(turn, result?)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_threads() {
        let jobs: Vec<u64> = (0..200).collect();
        for threads in [1, 2, 3, 8] {
            let mut seen = Vec::new();
            let work = |count: &mut u64, job: &u64| {
                *count += 1;
                std::thread::sleep(std::time::Duration::from_micros((job * 7919) % 50));
                Ok(job * 2)
            };
            in_order(
                threads,
                &jobs,
                || 0,
                work,
                |index, result| {
                    assert_eq!(result, 2 * index as u64);
                    seen.push(result);
                    Ok(())
                },
            )
            .expect("no job fails");
            assert_eq!(seen.len(), jobs.len());
        }
    }

    #[test]
    fn the_first_error_in_the_order_of_jobs_ends_it() {
        for threads in [1, 2, 8] {
            let jobs: Vec<u32> = (0..100).collect();
            let mut taken = 0;
            let work = |(): &mut (), job: &u32| match job {
                60 | 61 => Err(Error::at(Kind::Damaged, u64::from(*job), "no")),
                _ => Ok(()),
            };
            let result = in_order(
                threads,
                &jobs,
                || (),
                work,
                |_, ()| {
                    taken += 1;
                    Ok(())
                },
            );
            assert_eq!(result.expect_err("job 60 fails").offset, Some(60));
            assert_eq!(taken, 60);
        }
    }
}
