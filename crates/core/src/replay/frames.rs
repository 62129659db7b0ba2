//! What slices are open together: each way from the outermost to the innermost once, whatever often it comes.

use super::{NOTHING, REGION};
use std::collections::HashMap;

/// Ways of kinds, by numbers. A way is another one and a kind within it.
#[derive(Debug)]
pub(super) struct Frames {
    /// Kind, and the way around it.
    all: Vec<(u32, u32)>,
    numbers: HashMap<(u32, u32), u32>,
    /// Ways that were put within others.
    moved: HashMap<(u32, u32), u32>,
}

impl Default for Frames {
    fn default() -> Self {
        Frames {
            all: vec![(NOTHING, Frames::NOTHING), (REGION, Frames::NOTHING)],
            numbers: HashMap::new(),
            moved: HashMap::new(),
        }
    }
}

impl Frames {
    /// Nothing is open.
    pub const NOTHING: u32 = 0;
    /// Nothing is open, and yet the thread works.
    pub const REGION: u32 = 1;

    /// A kind within a way.
    pub fn of(&mut self, around: u32, kind: u32) -> u32 {
        let all = &mut self.all;
        *self.numbers.entry((around, kind)).or_insert_with(|| {
            all.push((kind, around));
            all.len() as u32 - 1
        })
    }

    /// The innermost kind.
    pub fn kind(&self, frame: u32) -> u32 {
        self.all[frame as usize].0
    }

    /// A way within another one.
    pub fn within(&mut self, around: u32, frame: u32) -> u32 {
        if let Some(known) = self.moved.get(&(around, frame)) {
            return *known;
        }
        let mut kinds = Vec::new();
        let mut inner = frame;
        while inner > Frames::REGION {
            let (kind, outer) = self.all[inner as usize];
            kinds.push(kind);
            inner = outer;
        }
        let found = kinds.into_iter().rev().fold(around, |way, kind| self.of(way, kind));
        self.moved.insert((around, frame), found);
        found
    }

    /// What is left of the time in each: of all that is open together, each kind once.
    pub fn left(&self, kinds: &[f64]) -> Vec<f64> {
        let mut left = vec![1.0; self.all.len()];
        for frame in 2..self.all.len() {
            let (kind, around) = self.all[frame];
            let own = kinds.get(kind as usize).copied().unwrap_or(1.0);
            // What lies in itself takes no smaller part of its part. Few kinds change: few ways are looked through.
            let again = own != 1.0 && self.holds(around, kind);
            left[frame] = left[around as usize] * if again { 1.0 } else { own };
        }
        left
    }

    fn holds(&self, mut frame: u32, kind: u32) -> bool {
        while frame > Frames::REGION {
            let (other, around) = self.all[frame as usize];
            if other == kind {
                return true;
            }
            frame = around;
        }
        false
    }
}
