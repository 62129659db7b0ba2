//! Ids as files have them, to slots as we have them.

use crate::columns::NONE;
use rustc_hash::FxHashMap;

/// Slots by id. Ids are mostly small and dense; whatever they are, memory follows their number.
#[derive(Debug, Default)]
pub struct Ids {
    dense: Vec<u32>,
    sparse: FxHashMap<u64, u32>,
    count: usize,
}

impl Ids {
    /// The last slot given to an id counts, as in protobuf's maps.
    pub fn insert(&mut self, id: u64, slot: u32) {
        self.count += 1;
        if id < (4 * self.count + 1024) as u64 {
            let at = id as usize;
            if self.dense.len() <= at {
                self.dense.resize(at + 1, NONE);
            }
            self.sparse.remove(&id);
            self.dense[at] = slot;
        } else {
            self.sparse.insert(id, slot);
        }
    }

    #[inline(always)]
    pub fn get(&self, id: u64) -> Option<usize> {
        match self.dense.get(id as usize) {
            Some(&slot) if slot != NONE => Some(slot as usize),
            _ => self.sparse.get(&id).map(|&slot| slot as usize),
        }
    }

    /// Slots of the small ids, [`NONE`] where there is none.
    pub fn dense(&self) -> &[u32] {
        &self.dense
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn ids_are_a_map(entries in prop::collection::vec((prop_oneof![0u64..3000, any::<u64>()], any::<u16>()), 0..300)) {
            let mut ids = Ids::default();
            let mut twin = HashMap::new();
            for (id, slot) in entries {
                ids.insert(id, u32::from(slot));
                twin.insert(id, usize::from(slot));
            }
            for (id, slot) in &twin {
                prop_assert_eq!(ids.get(*id), Some(*slot));
            }
            prop_assert_eq!(ids.get(3500).is_some(), twin.contains_key(&3500));
        }
    }
}
