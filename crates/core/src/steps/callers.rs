//! Executions of ops added up by the innermost call that is open when they begin.

use rustc_hash::FxHashMap;

/// What is added up together: a call, what ops are alike in, and where they ran.
pub type Alike = (i64, i64, i64);

/// Executions of ops within a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpsInCall {
    /// Whose they are.
    pub alike: Alike,
    /// How many.
    pub executions: i64,
    /// How long they took.
    pub took_ps: i64,
}

/// The sums so far. Calls and ops come thread by thread and in order of their begin, outer ones first.
#[derive(Debug, Default)]
pub struct Callers {
    thread: Option<i64>,
    /// Ends of calls, and which they are of.
    open: Vec<(i64, i64)>,
    numbers: FxHashMap<Alike, usize>,
    sums: Vec<OpsInCall>,
}

impl Callers {
    /// Adds a call.
    pub fn call(&mut self, thread: i64, begin: i64, end: i64, call: i64) {
        self.reach(thread, begin);
        self.open.push((end, call));
    }

    /// Adds an execution of an op; one outside of all calls is left out.
    pub fn op(&mut self, thread: i64, begin: i64, kind: i64, device: i64, took_ps: i64) {
        self.reach(thread, begin);
        let Some((_, call)) = self.open.last() else {
            return;
        };
        let alike = (*call, kind, device);
        let number = *self.numbers.entry(alike).or_insert(self.sums.len());
        if number == self.sums.len() {
            let (executions, took_ps) = (0, 0);
            self.sums.push(OpsInCall { alike, executions, took_ps });
        }
        let sum = &mut self.sums[number];
        sum.executions += 1;
        sum.took_ps = sum.took_ps.saturating_add(took_ps);
    }

    /// The sums, in the order in which they were met.
    pub fn sums(self) -> Vec<OpsInCall> {
        self.sums
    }

    fn reach(&mut self, thread: i64, moment: i64) {
        if self.thread != Some(thread) {
            self.thread = Some(thread);
            self.open.clear();
        }
        while self.open.pop_if(|(end, _)| *end <= moment).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_op_belongs_to_the_innermost_call_that_is_open() {
        let mut found = Callers::default();
        found.op(0, 0, 7, 1, 5); // no call is open
        found.call(0, 10, 100, 1);
        found.call(0, 20, 40, 2);
        found.op(0, 30, 7, 1, 5);
        found.op(0, 35, 7, 1, 6);
        found.op(0, 40, 7, 1, 8); // the inner call has ended
        found.op(0, 50, 7, 2, 9);
        found.op(0, 100, 7, 2, 9); // both have
        found.call(1, 0, 50, 1);
        found.op(2, 10, 7, 1, 5); // of another thread
        let sums: Vec<_> =
            found.sums().into_iter().map(|one| (one.alike, one.executions, one.took_ps)).collect();
        assert_eq!(sums, [((2, 7, 1), 2, 11), ((1, 7, 1), 1, 8), ((1, 7, 2), 1, 9)]);
    }
}
