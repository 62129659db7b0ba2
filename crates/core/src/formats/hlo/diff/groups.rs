//! Pairs by labels: what has a label that no other has, or as many have on both sides.

use super::Basis;
use super::side::{Side, mix};
use super::spread::Found;
use crate::formats::hlo::model::MISSING;
use rustc_hash::FxHashMap;

/// What is left of a side.
fn left(partner: &[u32]) -> impl Iterator<Item = u32> + '_ {
    (0..partner.len() as u32).filter(|&at| partner[at as usize] == MISSING)
}

/// Pairs what has a label that no other has. 0 is no label.
pub fn unique(found: &mut Found, of_a: &[u64], of_b: &[u64], basis: Basis) {
    let mut seen: FxHashMap<u64, [(u32, u32); 2]> = FxHashMap::default();
    for at in left(&found.to_b) {
        let one = &mut seen.entry(of_a[at as usize]).or_default()[0];
        *one = (one.0 + 1, at);
    }
    for at in left(&found.to_a) {
        if let Some(both) = seen.get_mut(&of_b[at as usize]) {
            both[1] = (both[1].0 + 1, at);
        }
    }
    seen.remove(&0);
    let alone = seen.into_values().filter(|[one, other]| one.0 == 1 && other.0 == 1);
    let mut pairs: Vec<_> = alone.map(|[one, other]| (one.1, other.1)).collect();
    pairs.sort_unstable();
    for (a, b) in pairs {
        found.join(a, b, basis);
    }
}

/// Pairs, in program order, what has a label that as many have on both sides. 0 is no label.
pub fn equal_groups(found: &mut Found, of_a: &[u64], of_b: &[u64], basis: Basis) {
    let mut seen: FxHashMap<u64, [Vec<u32>; 2]> = FxHashMap::default();
    for at in left(&found.to_b) {
        seen.entry(of_a[at as usize]).or_default()[0].push(at);
    }
    for at in left(&found.to_a) {
        if let Some(both) = seen.get_mut(&of_b[at as usize]) {
            both[1].push(at);
        }
    }
    seen.remove(&0);
    let equal = seen.into_values().filter(|[one, other]| one.len() == other.len());
    let mut pairs: Vec<_> = equal.flat_map(|[one, other]| one.into_iter().zip(other)).collect();
    pairs.sort_unstable();
    for (a, b) in pairs {
        found.join(a, b, basis);
    }
}

/// Pairs, in program order, what has the same label, as far as both sides have it. 0 is no label.
pub fn in_order(found: &mut Found, of_a: &[u64], of_b: &[u64], basis: Basis) {
    let mut seen: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
    for at in left(&found.to_b).filter(|&at| of_a[at as usize] != 0) {
        seen.entry(of_a[at as usize]).or_default().push(at);
    }
    seen.values_mut().for_each(|all| all.reverse());
    let right: Vec<u32> = left(&found.to_a).collect();
    for b in right {
        if let Some(a) = seen.get_mut(&of_b[b as usize]).and_then(Vec::pop) {
            found.join(a, b, basis);
        }
    }
}

/// Whether what is left of one side has only labels that as many or more of the other have.
pub fn is_part(found: &Found, of_a: &[u64], of_b: &[u64]) -> bool {
    let mut seen: FxHashMap<u64, i64> = FxHashMap::default();
    for at in left(&found.to_b) {
        *seen.entry(of_a[at as usize]).or_default() += 1;
    }
    for at in left(&found.to_a) {
        *seen.entry(of_b[at as usize]).or_default() -= 1;
    }
    seen.values().all(|&more| more >= 0) || seen.values().all(|&more| more <= 0)
}

/// Pairs what is made of the same, then what the same is made of, where all of that is in pairs.
pub fn settled(found: &mut Found, a: &Side<'_>, b: &Side<'_>) {
    for below in [true, false] {
        let to_b = |at: u32| found.to_b[at as usize];
        let own = |at: u32| {
            if found.to_a[at as usize] == MISSING { MISSING } else { at }
        };
        let of_a: Vec<u64> =
            (0..a.len()).map(|at| if to_b(at) == MISSING { around(a, below, to_b, at) } else { 0 }).collect();
        let of_b: Vec<u64> =
            (0..b.len()).map(|at| if own(at) == MISSING { around(b, below, own, at) } else { 0 }).collect();
        unique(found, &of_a, &of_b, Basis::Neighbour);
        in_order(found, &of_a, &of_b, Basis::Twins);
    }
}

/// What an instruction is made of, or what is made of it, by the numbers of side B; 0 where not all is in pairs.
fn around(side: &Side<'_>, below: bool, partner: impl Fn(u32) -> u32, at: u32) -> u64 {
    let mut label = 0_u64;
    let mut add = |one: u32, place: u32| {
        let said = if one == MISSING { MISSING } else { partner(one) };
        label = label.wrapping_add(mix(u64::from(said), u64::from(place)));
        said != MISSING
    };
    let (inputs, users) = (side.inputs.of(at), side.users.of(at));
    let whole = if below {
        !inputs.is_empty() && inputs.iter().zip(0..).all(|(&one, place)| add(one, place))
    } else {
        !users.is_empty() && users.iter().all(|&(one, place)| add(one, place))
    };
    if whole { mix(side.key[at as usize], label) } else { 0 }
}
