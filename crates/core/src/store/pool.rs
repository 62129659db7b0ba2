//! Interning: equal texts get one number, counted from 0 in the order they are first seen.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Texts without repetition. Codes are dense and depend only on the order of interning.
#[derive(Debug, Default, Clone)]
pub struct Pool {
    text: String,
    ends: Vec<usize>,
    hashes: Vec<u32>,
    slots: Vec<u32>,
}

const FREE: u32 = u32::MAX;

impl Pool {
    /// An empty pool.
    pub fn new() -> Self {
        Pool::default()
    }

    /// The code of `text`, a new one if it was not seen before.
    pub fn intern(&mut self, text: &str) -> u32 {
        if self.ends.len() * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let hash = hash(text);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let code = self.slots[slot];
            if code == FREE {
                break;
            }
            if self.hashes[code as usize] == hash && self.get(code) == text {
                return code;
            }
            slot = (slot + 1) & mask;
        }
        let code = u32::try_from(self.ends.len()).expect("fewer than 2^32 texts fit in memory");
        self.slots[slot] = code;
        self.text.push_str(text);
        self.ends.push(self.text.len());
        self.hashes.push(hash);
        code
    }

    /// The text of a code that [`Pool::intern`] gave.
    pub fn get(&self, code: u32) -> &str {
        let code = code as usize;
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.text[start..self.ends[code]]
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True when nothing was interned.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All texts, one after the other, and where each ends.
    pub fn parts(&self) -> (&str, &[usize]) {
        (&self.text, &self.ends)
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(64);
        let mask = size - 1;
        let mut slots = vec![FREE; size];
        for (code, hash) in self.hashes.iter().enumerate() {
            let mut slot = *hash as usize & mask;
            while slots[slot] != FREE {
                slot = (slot + 1) & mask;
            }
            slots[slot] = code as u32;
        }
        self.slots = slots;
    }
}

/// Seeded per process, so that no file can be made of names that all collide.
fn hash(text: &str) -> u32 {
    static SEED: OnceLock<u64> = OnceLock::new();
    let seed = *SEED.get_or_init(|| RandomState::new().hash_one(0));
    let hash = xxh3_64_with_seed(text.as_bytes(), seed);
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn codes_are_dense_and_equal_texts_share_one() {
        let mut pool = Pool::new();
        let mut twin: HashMap<String, u32> = HashMap::new();
        for i in 0..20_000_u32 {
            let text = format!("name {}", (i * 7919) % 5_000);
            let next = twin.len() as u32;
            let expected = *twin.entry(text.clone()).or_insert(next);
            assert_eq!(pool.intern(&text), expected);
        }
        assert_eq!(pool.len(), 5_000);
        for (text, code) in &twin {
            assert_eq!(pool.get(*code), text);
        }
        assert_eq!(pool.intern(""), 5_000);
        assert_eq!(pool.get(5_000), "");
    }
}
