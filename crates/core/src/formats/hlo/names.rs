//! Names of many instructions, each with its number, in little more memory than their bytes.

use crate::error::{Error, Kind, Result};
use xxhash_rust::xxh3::xxh3_64;

/// Names by number, from 0.
#[derive(Debug, Default)]
pub struct Names {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// A number from 1 in the place that the hash of its name says, or behind it; 0 where nothing is. A power of two.
    slots: Vec<u32>,
}

impl Names {
    /// How many there are.
    pub fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    fn name(&self, at: u32) -> &[u8] {
        let at = at as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..self.ends[at] as usize]
    }

    /// The slot of a name: where it is, or where it belongs.
    fn slot(&self, name: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = xxh3_64(name) as usize & mask;
        while self.slots[slot] != 0 && self.name(self.slots[slot] - 1) != name {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// The number of a name; where it was given twice, the later one.
    pub fn get(&self, name: &[u8]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.slots[self.slot(name)].checked_sub(1)
    }

    /// Gives the next number to a name.
    pub fn push(&mut self, name: &[u8]) -> Result<()> {
        let end = u32::try_from(self.bytes.len() + name.len());
        let end = end.map_err(|_| Error::new(Kind::Limit, "names of more than 4 GB"))?;
        self.bytes.extend_from_slice(name);
        self.ends.push(end);
        if self.ends.len() * 4 > self.slots.len() * 3 {
            let room = (self.slots.len() * 2).max(64);
            // The old ones go first.
            self.slots = Vec::new();
            self.slots = vec![0; room];
            for number in 0..self.len() {
                self.place(number);
            }
        } else {
            self.place(self.len() - 1);
        }
        Ok(())
    }

    fn place(&mut self, number: u32) {
        let slot = self.slot(self.name(number));
        self.slots[slot] = number + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_number_that_they_were_given_last() {
        let mut names = Names::default();
        assert_eq!(names.get(b""), None);
        let text = |number: u32| format!("add.{}", number % 700);
        for number in 0..1_000 {
            names.push(text(number).as_bytes()).expect("room");
        }
        assert_eq!(names.len(), 1_000);
        for number in 0..700 {
            let last = if number < 300 { number + 700 } else { number };
            assert_eq!(names.get(text(number).as_bytes()), Some(last));
        }
        assert_eq!(names.get(b"add.700"), None);
        names.push(b"").expect("room");
        assert_eq!(names.get(b""), Some(1_000));
    }
}
