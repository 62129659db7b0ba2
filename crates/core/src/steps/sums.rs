//! Adds pieces of time up, step by step.

use super::sweep::Piece;
use crate::spans::Span;

/// The sums of each step, from pieces in order of time. Steps may overlap: each gets all that lies in it.
#[derive(Debug)]
pub struct Sums {
    steps: Vec<Span>,
    labels: usize,
    /// Steps that have not begun, the next one last.
    begins: Vec<usize>,
    /// Steps that have not ended, the next one last.
    ends: Vec<usize>,
    /// All so far: picoseconds by label, then the same of what is hidden.
    running: Vec<i64>,
    /// What had been there when the step began, then its sums.
    found: Vec<Vec<i64>>,
}

impl Sums {
    /// For steps, and so many labels.
    pub fn new(steps: Vec<Span>, labels: usize) -> Sums {
        let by = |key: fn(&Span) -> i64| {
            let mut order: Vec<usize> = (0..steps.len()).collect();
            order.sort_by_key(|number| std::cmp::Reverse(key(&steps[*number])));
            order
        };
        Sums {
            begins: by(|step| step.0),
            ends: by(|step| step.1),
            running: vec![0; 2 * labels],
            found: vec![Vec::new(); steps.len()],
            labels,
            steps,
        }
    }

    /// Adds pieces, none of which reaches over a begin or an end of a step.
    pub fn add(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            self.reach(piece.from);
            let long = piece.to - piece.from;
            self.running[usize::from(piece.label)] += long;
            let mut hidden = piece.hidden;
            while hidden != 0 {
                self.running[self.labels + hidden.trailing_zeros() as usize] += long;
                hidden &= hidden - 1;
            }
        }
    }

    fn reach(&mut self, moment: i64) {
        while let Some(step) = self.begins.pop_if(|step| self.steps[*step].0 <= moment) {
            self.found[step] = self.running.clone();
        }
        while let Some(step) = self.ends.pop_if(|step| self.steps[*step].1 <= moment) {
            for (sum, now) in self.found[step].iter_mut().zip(&self.running) {
                *sum = now - *sum;
            }
        }
    }

    /// The sums of each step: picoseconds by label, then the same of what is hidden.
    pub fn finish(mut self) -> Vec<Vec<i64>> {
        self.reach(i64::MAX);
        self.found
    }
}
