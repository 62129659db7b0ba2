//! What became of each instruction: what differs within a pair, where what is gone went, where what is new came
//! from.

use super::Basis;
use super::side::Side;
use crate::formats::hlo::model::{Instruction, MISSING, More};
use crate::formats::hlo::shape::Shape;
use rustc_hash::FxHashMap;

/// What differs within a pair, and its word.
pub const CHANGES: [&str; 10] = [
    "shape", "layout", "operands", "attributes", "op_name", "fused", "unfused", "moved", "config", "sharding",
];

/// What became of an instruction that has no partner; of what is new, where it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// What used it uses what it was made of.
    Folded,
    /// What used it uses an equal one.
    Merged,
    /// What used it uses something else in its place.
    Replaced,
    /// What used it has no partner either.
    WithUsers,
    /// Nothing used it.
    Unused,
    /// What used it has changed in another way.
    Dropped,
}

impl Fate {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Folded => "folded",
            Fate::Merged => "merged",
            Fate::Replaced => "replaced",
            Fate::WithUsers => "with its users",
            Fate::Unused => "unused",
            Fate::Dropped => "dropped",
        }
    }
}

/// An instruction without partner: which, what became of it, and an instruction that this is about: the user that
/// it was folded into, of its own side; or what is in its place, of the other; [`MISSING`] where there is none.
pub type Lone = (u32, Fate, u32);

/// What a pair is and what differs in it: bits in the order of [`CHANGES`].
pub type Pair = (u32, u32, Basis, u16);

/// What belongs to what, and what changed.
#[derive(Debug, Default)]
pub struct Changes {
    /// Pairs of A and B in the order of A.
    pub pairs: Vec<Pair>,
    /// Instructions of A that have no partner.
    pub removed: Vec<Lone>,
    /// Instructions of B that have no partner.
    pub added: Vec<Lone>,
}

fn same_array(one: &Shape, other: &Shape, layout: bool) -> bool {
    one.element == other.element
        && one.dims == other.dims
        && one.dynamic == other.dynamic
        && (!layout || one.layout == other.layout)
        && one.parts.len() == other.parts.len()
        && one.parts.iter().zip(&other.parts).all(|(one, other)| same_array(one, other, layout))
}

fn same_attributes(one: &Instruction, other: &Instruction, exact: bool) -> bool {
    let none = More::default();
    let (left, right) = (one.more.as_deref().unwrap_or(&none), other.more.as_deref().unwrap_or(&none));
    (one.number, &one.dimensions, one.called.len()) == (other.number, &other.dimensions, other.called.len())
        && (&left.window, &left.convolution, &left.contracted)
            == (&right.window, &right.convolution, &right.contracted)
        && (left.groups, &left.fft, &left.fusion_kind) == (right.groups, &right.fft, &right.fusion_kind)
        && (&left.target, &left.direction) == (&right.target, &right.direction)
        && (!exact || one.digest == other.digest)
}

/// Inputs of one instruction that are looked through for each that it lost: tuples have thousands.
const MOST_INPUTS: usize = 64;

/// Sums up a matching. exact: whether attributes that are only hashed can be compared.
pub fn of(a: &Side<'_>, b: &Side<'_>, matched: &[(u32, u32, Basis)], exact: bool) -> Changes {
    let mut to_b = vec![MISSING; a.len() as usize];
    let mut to_a = vec![MISSING; b.len() as usize];
    let mut homes: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for &(one, other, _) in matched {
        to_b[one as usize] = other;
        to_a[other as usize] = one;
        *homes.entry((a.home[one as usize], b.home[other as usize])).or_default() += 1;
    }
    // A computation belongs to the one that most of it went to.
    let mut best: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
    for (&(home, to), &count) in &homes {
        let one = best.entry(home).or_default();
        *one = (*one).max((count, u32::MAX - to));
    }
    let fusions = [a, b].map(Side::fused);
    let mut found = Changes::default();
    for &(one, other, basis) in matched {
        let (left, right) = (a.instruction(one), b.instruction(other));
        let shape = !same_array(&left.shape, &right.shape, false);
        let operands = left.operands.len() != right.operands.len()
            || left
                .operands
                .iter()
                .zip(right.operands.iter())
                .any(|(&one, &other)| to_b.get(one as usize).copied().unwrap_or(MISSING) != other);
        let (from, to) = (a.home[one as usize], b.home[other as usize]);
        let stays = best.get(&from).is_some_and(|it| u32::MAX - it.1 == to);
        let (fused, was) = (fusions[1][to as usize], fusions[0][from as usize]);
        let (none, other_none) = (More::default(), More::default());
        let (more, others) =
            (left.more.as_deref().unwrap_or(&none), right.more.as_deref().unwrap_or(&other_none));
        let bits = [
            shape,
            !shape && !same_array(&left.shape, &right.shape, true),
            operands,
            !same_attributes(left, right, exact),
            left.op_name != right.op_name,
            fused && !was,
            was && !fused,
            fused == was && !stays,
            more.config != others.config,
            more.sharding != others.sharding,
        ];
        let bits = bits.iter().enumerate().fold(0, |sum, (at, &is)| sum | u16::from(is) << at);
        found.pairs.push((one, other, basis, bits));
    }
    found.pairs.sort_unstable();
    found.removed = lone(a, b, &to_b, &to_a);
    found.added = lone(b, a, &to_a, &to_b);
    found
}

fn lone(a: &Side<'_>, b: &Side<'_>, to_b: &[u32], to_a: &[u32]) -> Vec<Lone> {
    let alone = (0..a.len()).filter(|&at| to_b[at as usize] == MISSING);
    alone
        .map(|at| {
            let (fate, about) = fate(a, b, to_b, to_a, at);
            (at, fate, about)
        })
        .collect()
}

fn fate(a: &Side<'_>, b: &Side<'_>, to_b: &[u32], to_a: &[u32], at: u32) -> (Fate, u32) {
    let users = a.users.of(at);
    if users.is_empty() {
        return (Fate::Unused, MISSING);
    }
    let Some(&(user, place)) = users.iter().find(|one| to_b[one.0 as usize] != MISSING) else {
        return (Fate::WithUsers, users[0].0);
    };
    let partner = to_b[user as usize];
    let inputs = b.inputs.of(partner);
    let operands = a.instruction(user).operands.len();
    let now = match place.checked_sub(super::side::CALLED) {
        Some(called) => inputs.get(b.instruction(partner).operands.len() + called as usize),
        None if operands == b.instruction(partner).operands.len() => inputs.get(place as usize),
        None => None,
    };
    let from = |input: u32| a.inputs.of(at).iter().any(|&one| one != MISSING && to_b[one as usize] == input);
    match now.copied().filter(|&now| now != MISSING) {
        Some(now) if from(now) => (Fate::Folded, user),
        Some(now) if a.key[at as usize] == b.key[now as usize] && to_a[now as usize] != MISSING => {
            (Fate::Merged, now)
        }
        Some(now) => (Fate::Replaced, now),
        // Of a user that takes fewer now, what is left of this may be there at another place.
        None if inputs.iter().take(MOST_INPUTS).any(|&it| it != MISSING && from(it)) => (Fate::Folded, user),
        None => (Fate::Dropped, user),
    }
}
