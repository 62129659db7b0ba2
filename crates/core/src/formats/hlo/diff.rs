//! What changed between two modules: which instruction of one belongs to which of the other, by structure only.
//! Passes rename what they touch, so that no name of an instruction or computation is ever compared.
//!
//! The matching is a cascade. What is unique by everything around it comes first, then what is unique by less of
//! it; each pair leads to its neighbours; what cannot be told apart is paired in program order; the rest is guessed.
//! Every step is linear in instructions and operands, but for sorting.

mod aliases;
mod cascade;
mod changes;
mod groups;
mod labels;
mod side;
mod spread;
#[cfg(test)]
mod tests;

use super::model::{Module, Written};
use cascade::Steps;
pub use changes::{CHANGES, Changes, Fate, Lone, Pair};
use side::Side;
use spread::Found;

/// How a pair was found, from the surest to the least sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// Everything that it is made of and everything made of it is equal, and no other is like it.
    Identical,
    /// The surroundings some steps far are equal, and no other is like it.
    Surroundings,
    /// A neighbour of a pair, at the same place.
    Neighbour,
    /// A neighbour of a pair once fusions and calls are opened.
    Opened,
    /// As many with these surroundings on both sides, taken in program order.
    Twins,
    /// The only one of its kind with this name of the framework's op.
    Op,
    /// At the same place, of the same opcode, but of another size or other values.
    Resized,
    /// A guess: of the same kind, in program order.
    Order,
}

impl Basis {
    /// All of them.
    pub const ALL: [Basis; 8] = [
        Basis::Identical,
        Basis::Surroundings,
        Basis::Neighbour,
        Basis::Opened,
        Basis::Twins,
        Basis::Op,
        Basis::Resized,
        Basis::Order,
    ];

    /// Whether nothing but its kind and its place in the program speaks for the pair.
    pub fn is_guess(self) -> bool {
        self == Basis::Order
    }

    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Identical => "identical",
            Basis::Surroundings => "surroundings",
            Basis::Neighbour => "neighbour",
            Basis::Opened => "opened",
            Basis::Twins => "twins",
            Basis::Op => "op_name",
            Basis::Resized => "resized",
            Basis::Order => "order",
        }
    }
}

/// Matched instructions of A and B, and how each pair was found.
pub type Matching = Vec<(u32, u32, Basis)>;

/// Whether attributes that are only hashed can be compared: text and proto write them differently.
fn exact(a: &Module, b: &Module) -> bool {
    (a.written == Written::Text) == (b.written == Written::Text)
}

/// Matches two modules, in the order of A. named: whether the framework's names of ops count.
pub fn matching(a: &Module, b: &Module, named: bool) -> Matching {
    let exact = exact(a, b);
    let (left, right) = (Side::of(a, exact, true), Side::of(b, exact, true));
    if left.equals(&right) {
        return (0..left.len()).map(|at| (at, at, Basis::Identical)).collect();
    }
    let (left, right) = (left.through_tuples(), right.through_tuples());
    // The same pairs, whichever of the two is called A.
    let swapped = right.rank() < left.rank();
    let mut pairs = if swapped { ordered(&right, &left, named) } else { ordered(&left, &right, named) };
    if swapped {
        pairs = pairs.into_iter().map(|(b, a, basis)| (a, b, basis)).collect();
    }
    pairs.sort_unstable();
    pairs
}

fn ordered(a: &Side<'_>, b: &Side<'_>, named: bool) -> Matching {
    let mut found = Found::new(a.len(), b.len());
    Steps::new(a, b, named).run(&mut found);
    aliases::prefer(&mut found, a, b);
    if cascade::is_open(&found.to_b) && cascade::is_open(&found.to_a) {
        let strict = found.pairs.len();
        let (a, b) = (
            Side::of(a.module, false, false).through_tuples(),
            Side::of(b.module, false, false).through_tuples(),
        );
        Steps::new(&a, &b, named).run(&mut found);
        for pair in &mut found.pairs[strict..] {
            pair.2 = pair.2.max(Basis::Resized);
        }
    }
    found.pairs
}

/// What changed between two modules.
pub fn changes(a: &Module, b: &Module, named: bool) -> Changes {
    joined(a, b, &matching(a, b, named))
}

/// What changed between two modules whose pairs are known.
pub fn joined(a: &Module, b: &Module, pairs: &Matching) -> Changes {
    let exact = exact(a, b);
    changes::of(&Side::of(a, exact, true), &Side::of(b, exact, true), pairs, exact)
}

/// Pairs of A and C by those of A and B and of B and C, each as sure as the less sure of the two.
pub fn chained(first: &Matching, second: &Matching) -> Matching {
    let on: rustc_hash::FxHashMap<u32, (u32, Basis)> =
        (second.iter()).map(|&(b, c, basis)| (b, (c, basis))).collect();
    let both = first.iter().filter_map(|&(a, b, basis)| {
        let &(c, other) = on.get(&b)?;
        Some((a, c, basis.max(other)))
    });
    both.collect()
}
