//! Elements of tuples that are taken out of one tuple, put into another and taken out again: several instructions with
//! one value. When the detour goes, the last of them takes the place of the first: it is what the program used.

use super::side::Side;
use super::spread::Found;
use crate::formats::hlo::model::MISSING;
use rustc_hash::FxHashMap;

/// The instructions that take an element out again, by the one that took it first; the last of a chain counts.
fn again(side: &Side<'_>) -> FxHashMap<u32, u32> {
    let mut found = FxHashMap::default();
    for at in 0..side.len() {
        let Some(value) = side.taken(at) else {
            continue;
        };
        if side.instruction(value).opcode == "get-tuple-element" {
            found.entry(value).or_insert(at);
        }
    }
    found
}

/// Gives pairs of such instructions to the last of their chain, where one side has the detour and the other has not.
pub fn prefer(found: &mut Found, a: &Side<'_>, b: &Side<'_>) {
    let (of_a, of_b) = (again(a), again(b));
    for at in 0..found.pairs.len() {
        let (one, other, basis) = found.pairs[at];
        let last_a = last(&of_a, &found.to_b, one);
        let last_b = last(&of_b, &found.to_a, other);
        let (new_a, new_b) = match (last_a, last_b) {
            (Some(new), None) if !of_b.contains_key(&other) => (new, other),
            (None, Some(new)) if !of_a.contains_key(&one) => (one, new),
            _ => continue,
        };
        found.to_b[one as usize] = MISSING;
        found.to_a[other as usize] = MISSING;
        found.to_b[new_a as usize] = new_b;
        found.to_a[new_b as usize] = new_a;
        found.pairs[at] = (new_a, new_b, basis);
    }
}

/// The last of a chain that is in no pair.
fn last(again: &FxHashMap<u32, u32>, partner: &[u32], from: u32) -> Option<u32> {
    let (mut at, mut found) = (from, None);
    for _ in 0..8 {
        at = *again.get(&at)?;
        if partner[at as usize] == MISSING {
            found = Some(at);
        }
        if !again.contains_key(&at) {
            break;
        }
    }
    found
}
