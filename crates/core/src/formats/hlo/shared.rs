//! What many instructions of a module have in common, kept once: shapes, names of ops, rare attributes. A program of
//! millions of instructions has some thousands of each.

use super::model::{Instruction, More};
use super::shape::Shape;
use rustc_hash::FxHashSet;
use std::hash::Hash;
use std::ops::Deref;
use std::sync::Arc;

/// What was seen so far.
#[derive(Debug, Default)]
pub struct Shared {
    shapes: FxHashSet<Arc<Shape>>,
    texts: FxHashSet<Arc<str>>,
    rare: FxHashSet<Arc<More>>,
}

impl Shared {
    /// Lets an instruction share what an earlier one has, too.
    pub fn fold(&mut self, one: &mut Instruction) {
        share(&mut self.shapes, &mut one.shape);
        share(&mut self.texts, &mut one.op_name);
        if let Some(more) = &mut one.more {
            share(&mut self.rare, more);
        }
    }
}

fn share<T: Eq + Hash + ?Sized>(seen: &mut FxHashSet<Arc<T>>, one: &mut Arc<T>) {
    match seen.get(&**one) {
        Some(known) => *one = Arc::clone(known),
        None => drop(seen.insert(Arc::clone(one))),
    }
}

/// Numbers of instructions: up to three take no memory of their own.
#[derive(Debug, Clone)]
pub enum Ids {
    /// So many of these.
    Few(u8, [u32; 3]),
    /// More.
    Many(Box<[u32]>),
}

impl Default for Ids {
    fn default() -> Self {
        Ids::Few(0, [0; 3])
    }
}

impl Deref for Ids {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            Ids::Few(count, all) => &all[..usize::from(*count)],
            Ids::Many(all) => all,
        }
    }
}

impl Ids {
    /// The number at a place, to be changed.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut u32> {
        match self {
            Ids::Few(count, all) => all[..usize::from(*count)].get_mut(at),
            Ids::Many(all) => all.get_mut(at),
        }
    }
}

impl FromIterator<u32> for Ids {
    fn from_iter<I: IntoIterator<Item = u32>>(all: I) -> Self {
        let mut few = [0; 3];
        let mut all = all.into_iter();
        for count in 0..=3 {
            let Some(next) = all.next() else {
                return Ids::Few(count, few);
            };
            match few.get_mut(usize::from(count)) {
                Some(place) => *place = next,
                None => return Ids::Many(few.into_iter().chain([next]).chain(all).collect()),
            }
        }
        Ids::Few(3, few)
    }
}

/// The name of an instruction: one of up to 22 bytes takes no memory of its own.
#[derive(Clone)]
pub enum Name {
    /// So many of these bytes.
    Short(u8, [u8; Name::SHORT]),
    /// More.
    Long(Box<str>),
}

impl Name {
    const SHORT: usize = 22;
}

impl Default for Name {
    fn default() -> Self {
        Name::Short(0, [0; Name::SHORT])
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        let mut bytes = [0; Name::SHORT];
        match bytes.get_mut(..text.len()) {
            Some(place) => {
                place.copy_from_slice(text.as_bytes());
                Name::Short(text.len() as u8, bytes)
            }
            None => Name::Long(text.into()),
        }
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            // Whole texts are put in, so that they are texts when they come out.
            Name::Short(count, bytes) => {
                std::str::from_utf8(&bytes[..usize::from(*count)]).unwrap_or_default()
            }
            Name::Long(text) => text,
        }
    }
}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_were_given() {
        for count in 0..9 {
            let made: Ids = (0..count).collect();
            assert_eq!(&made[..], &(0..count).collect::<Vec<_>>()[..]);
            assert_eq!(matches!(made, Ids::Few(..)), count <= 3);
        }
    }

    #[test]
    fn names_come_back_as_they_were_given() {
        for text in ["", "add.1", "é", &"x".repeat(22), &"x".repeat(23), &"é".repeat(12)] {
            assert_eq!(&*Name::from(text), text);
        }
        assert!(size_of::<Name>() <= 24);
    }

    #[test]
    fn equal_parts_are_one() {
        let mut shared = Shared::default();
        let mut both = [Instruction::default(), Instruction::default()];
        for one in &mut both {
            one.op_name = "f/dot".into();
            one.more().fusion_kind = "kLoop".into();
            shared.fold(one);
        }
        assert!(Arc::ptr_eq(&both[0].op_name, &both[1].op_name));
        assert!(Arc::ptr_eq(&both[0].shape, &both[1].shape));
        // A change to one leaves the other as it is.
        both[0].more().fusion_kind = "kInput".into();
        assert_eq!(both[1].more().fusion_kind, "kLoop");
    }
}
