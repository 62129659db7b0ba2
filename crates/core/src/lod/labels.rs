//! What slices are called, and the types of their ops: one label for each pair that occurs.

use crate::error::{Error, Kind, Result};
use rustc_hash::FxHashMap;

/// Labels by their numbers.
#[derive(Debug, Default)]
pub struct Labels {
    names: Vec<String>,
    op_types: Vec<String>,
    /// For each name, which op type it goes with: its index and one, or 0 for none.
    types: Vec<u32>,
}

impl Labels {
    /// Labels that were written before. `None` when the parts do not belong together.
    pub(super) fn of(names: Vec<String>, op_types: Vec<String>, types: Vec<u32>) -> Option<Labels> {
        let known = |number: &u32| *number as usize <= op_types.len();
        (names.len() == types.len() && types.iter().all(known)).then_some(Labels { names, op_types, types })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Name and op type of each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.names.iter().zip(&self.types).map(|(name, number)| {
            let op_type = (*number as usize).checked_sub(1);
            (name.as_str(), op_type.map(|place| self.op_types[place].as_str()))
        })
    }

    /// Names, op types, and which of these each name goes with.
    pub(super) fn parts(&self) -> (&[String], &[String], &[u32]) {
        (&self.names, &self.op_types, &self.types)
    }
}

/// Labels as they come.
#[derive(Debug, Default)]
pub struct Labeller {
    texts: Numbered,
    op_types: FxHashMap<u32, u32>,
    /// By the numbers of both texts, see [`key`].
    pairs: FxHashMap<u64, u32>,
    labels: Labels,
}

impl Labeller {
    /// The number of a text, to be used in [`Labeller::pair`].
    ///
    /// # Errors
    /// There are more than 2^32 - 2 texts.
    pub fn text(&mut self, text: &str) -> Result<u32> {
        if let Some(number) = self.texts.known(text) {
            return Ok(number);
        }
        fits(self.texts.texts.len())?;
        Ok(self.texts.add(text))
    }

    /// The label of a name and an op type, both as numbers of texts.
    ///
    /// # Errors
    /// There are more than 2^32 - 2 labels.
    #[inline]
    pub fn pair(&mut self, name: u32, op_type: Option<u32>) -> Result<u32> {
        // Most slices are called like one before.
        match self.pairs.get(&key(name, op_type)) {
            Some(number) => Ok(*number),
            None => self.add(name, op_type),
        }
    }

    #[cold]
    fn add(&mut self, name: u32, op_type: Option<u32>) -> Result<u32> {
        let number = fits(self.labels.len())?;
        let (labels, texts) = (&mut self.labels, &self.texts.texts);
        labels.names.push(texts[name as usize].clone());
        labels.types.push(op_type.map_or(0, |text| {
            *self.op_types.entry(text).or_insert_with(|| {
                labels.op_types.push(texts[text as usize].clone());
                labels.op_types.len() as u32
            })
        }));
        self.pairs.insert(key(name, op_type), number);
        Ok(number)
    }

    /// All of them.
    #[must_use]
    pub fn finish(self) -> Labels {
        self.labels
    }
}

/// Texts that have numbers, from 0 on.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    numbers: FxHashMap<String, u32>,
    pub(super) texts: Vec<String>,
}

impl Numbered {
    /// The number of a text, which gets one if it has none.
    pub(super) fn of(&mut self, text: &str) -> u32 {
        match self.known(text) {
            Some(number) => number,
            None => self.add(text),
        }
    }

    fn known(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    fn add(&mut self, text: &str) -> u32 {
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

/// The number of what comes after so many others.
fn fits(others: usize) -> Result<u32> {
    u32::try_from(others)
        .ok()
        .filter(|number| *number < u32::MAX - 1)
        .ok_or_else(|| Error::new(Kind::Limit, "more than 4,294,967,294 names of slices"))
}

/// A name and an op type as one number, hashed at once. Texts have smaller numbers than the largest.
#[inline]
fn key(name: u32, op_type: Option<u32>) -> u64 {
    u64::from(name) << 32 | u64::from(op_type.map_or(0, |text| text + 1))
}
