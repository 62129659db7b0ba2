//! Numbers without repetition: each gets a code in the order in which it is first seen.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

const FREE: u32 = u32::MAX;

/// Distinct numbers and their codes.
pub struct Distinct {
    /// By code.
    pub values: Vec<u64>,
    slots: Vec<u32>,
}

/// Seeded per process, so that no file can be made of numbers that all collide.
fn hash(value: u64) -> usize {
    static SEEDS: OnceLock<(u64, u64)> = OnceLock::new();
    let (first, second) = *SEEDS.get_or_init(|| {
        let state = RandomState::new();
        (state.hash_one(0), state.hash_one(1) | 1)
    });
    let product = u128::from(value ^ first) * u128::from(second);
    (product as u64 ^ (product >> 64) as u64) as usize
}

impl Distinct {
    /// Room for the first few.
    pub fn new() -> Distinct {
        Distinct {
            values: Vec::new(),
            slots: vec![FREE; 256],
        }
    }

    /// The code of a number.
    pub fn code(&mut self, value: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let mut slot = hash(value) & mask;
        loop {
            match self.slots[slot] {
                FREE => break,
                code if self.values[code as usize] == value => return code,
                _ => slot = (slot + 1) & mask,
            }
        }
        let code = self.values.len() as u32;
        self.values.push(value);
        self.slots[slot] = code;
        if self.values.len() * 2 > self.slots.len() {
            self.grow();
        }
        code
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 4;
        self.slots.clear();
        self.slots.resize(size, FREE);
        for (code, value) in self.values.iter().enumerate() {
            let mut slot = hash(*value) & (size - 1);
            while self.slots[slot] != FREE {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = code as u32;
        }
    }
}

/// The code of each value, unless there are more than `most` distinct ones.
pub fn codes(values: &[u64], most: usize) -> Option<(Vec<u32>, Vec<u64>)> {
    let mut distinct = Distinct::new();
    let mut codes = Vec::with_capacity(values.len());
    let mut last = None;
    for value in values {
        // Neighbours are often equal.
        let code = match last {
            Some((before, code)) if before == *value => code,
            _ => distinct.code(*value),
        };
        last = Some((*value, code));
        codes.push(code);
        if distinct.values.len() > most {
            return None;
        }
    }
    Some((codes, distinct.values))
}
