//! Interning: equal texts get one number, counted from 0 in the order they are first seen.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Texts without repetition. Codes are dense and depend only on the order of interning.
#[derive(Debug, Default, Clone)]
pub struct Pool {
    text: String,
    ends: Vec<usize>,
    /// Hash and code of each text, at the first free place from where its hash says. A million names lie all over
    /// memory: who looks for one goes there once, and not to a list of hashes as well.
    slots: Vec<(u32, u32)>,
}

/// The code of a place without a text.
const FREE: u32 = u32::MAX;

impl Pool {
    /// An empty pool.
    pub fn new() -> Self {
        Pool::default()
    }

    /// The code of `text`, a new one if it was not seen before.
    pub fn intern(&mut self, text: &str) -> u32 {
        // Half of the places stay free: with three quarters taken, a new text passes eight others on its way.
        if self.ends.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = hash(text);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (other, code) = self.slots[slot];
            if code == FREE {
                break;
            }
            if other == hash && self.get(code) == text {
                return code;
            }
            slot = (slot + 1) & mask;
        }
        let code = u32::try_from(self.ends.len()).expect("fewer than 2^32 texts fit in memory");
        self.slots[slot] = (hash, code);
        self.text.push_str(text);
        self.ends.push(self.text.len());
        code
    }

    /// The code of `text`; none if it was never interned.
    pub fn find(&self, text: &str) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let hash = hash(text);
        let mut slot = hash as usize & mask;
        loop {
            match self.slots[slot] {
                (_, FREE) => return None,
                (other, code) if other == hash && self.get(code) == text => return Some(code),
                _ => slot = (slot + 1) & mask,
            }
        }
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
        let mut slots = vec![(0, FREE); size];
        for (hash, code) in self.slots.iter().filter(|(_, code)| *code != FREE) {
            let mut slot = *hash as usize & mask;
            while slots[slot].1 != FREE {
                slot = (slot + 1) & mask;
            }
            slots[slot] = (*hash, *code);
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
            assert_eq!(pool.find(text), Some(*code));
        }
        assert_eq!(pool.find("name 5000"), None);
        assert_eq!(Pool::new().find("name 5000"), None);
        assert_eq!(pool.intern(""), 5_000);
        assert_eq!(pool.get(5_000), "");
    }
}
