//! From a pair to its neighbours: what is at the same place of two that belong together belongs together, if it is
//! of the same kind. Each pair votes for its neighbours, and the best candidates are taken first.

use super::Basis;
use super::labels::Labels;
use super::side::{Side, mix};
use crate::formats::hlo::model::MISSING;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The pairs so far.
pub struct Found {
    /// For each instruction of A its partner in B, or [`MISSING`].
    pub to_b: Vec<u32>,
    /// The other way round.
    pub to_a: Vec<u32>,
    /// How each pair was found, in the order in which they were.
    pub pairs: Vec<(u32, u32, Basis)>,
}

/// Two sides with their labels.
pub struct Both<'a> {
    /// A.
    pub a: &'a Side<'a>,
    /// B.
    pub b: &'a Side<'a>,
    /// Labels of A.
    pub of_a: &'a Labels,
    /// Labels of B.
    pub of_b: &'a Labels,
    /// Whether the framework's names of ops count.
    pub named: bool,
}

/// Candidates by score, then by the votes that it counted, then in program order.
type Candidate = (i64, u32, Reverse<u32>, Reverse<u32>, Basis);

/// Spreads from pairs.
pub struct Spread<'a> {
    both: &'a Both<'a>,
    votes: FxHashMap<(u32, u32), u32>,
    heap: BinaryHeap<Candidate>,
    /// What is equal with all that it is made of, in program order.
    equal: [FxHashMap<u64, Vec<u32>>; 2],
    /// Pairs whose neighbours have been asked.
    done: usize,
    /// Pairs at whose neighbours bridges have been looked for.
    bridged: usize,
    /// Whether fusions and calls are opened.
    open: bool,
}

/// What equal attributes are worth, more than all else together but for votes.
const EQUAL: i64 = 1000;

impl<'a> Spread<'a> {
    /// Starts with nothing.
    pub fn new(both: &'a Both<'a>, open: bool) -> Self {
        let equal = [both.of_a, both.of_b].map(|labels| {
            let mut groups: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
            for (at, &deep) in (0..).zip(&labels.deep) {
                groups.entry(deep).or_default().push(at);
            }
            groups
        });
        Spread {
            both,
            equal,
            votes: FxHashMap::default(),
            heap: BinaryHeap::new(),
            done: 0,
            bridged: 0,
            open,
        }
    }

    /// Goes on from all pairs until nothing moves.
    pub fn run(&mut self, found: &mut Found, least: i64) {
        loop {
            while let Some(&(a, b, _)) = found.pairs.get(self.done) {
                self.done += 1;
                self.ask(found, a, b);
            }
            if self.heap.peek().is_none_or(|best| best.0 < least) {
                return;
            }
            let Some((_, votes, Reverse(a), Reverse(b), basis)) = self.heap.pop() else {
                return;
            };
            // A later vote has put it there again with a better score.
            if self.votes.get(&(a, b)).is_some_and(|&it| it == votes) {
                let (a, b) = self.kept(found, a, b);
                found.join(a, b, basis);
            }
        }
    }

    /// Of several equal ones that may all have become one, the first: that is what merging keeps.
    fn kept(&self, found: &Found, a: u32, b: u32) -> (u32, u32) {
        const MOST: usize = 64;
        let (deep_a, deep_b) = (self.both.of_a.deep[a as usize], self.both.of_b.deep[b as usize]);
        if deep_a != deep_b || found.to_b[a as usize] != MISSING || found.to_a[b as usize] != MISSING {
            return (a, b);
        }
        let empty = Vec::new();
        let (all_a, all_b) =
            (self.equal[0].get(&deep_a).unwrap_or(&empty), self.equal[1].get(&deep_b).unwrap_or(&empty));
        let voted = |pair: &(u32, u32)| self.votes.contains_key(pair);
        let free = |partner: &[u32], at: u32| partner[at as usize] == MISSING;
        let first = if all_a.len() > all_b.len() {
            let before = all_a.iter().take(MOST).filter(|&&at| at < a && free(&found.to_b, at));
            before.map(|&at| (at, b)).find(voted)
        } else if all_b.len() > all_a.len() {
            let before = all_b.iter().take(MOST).filter(|&&at| at < b && free(&found.to_a, at));
            before.map(|&at| (a, at)).find(voted)
        } else {
            None
        };
        first.unwrap_or((a, b))
    }

    /// Asks the neighbours of what has been replaced: two of different kinds at the same place of a pair are no
    /// pair, but what surrounds them may belong together.
    pub fn bridge(&mut self, found: &Found) {
        let (left, right) = (self.both.a, self.both.b);
        let mut bridges = Vec::new();
        let free = |a: u32, b: u32| {
            a != MISSING
                && b != MISSING
                && found.to_b[a as usize] == MISSING
                && found.to_a[b as usize] == MISSING
                && left.kind[a as usize] != right.kind[b as usize]
        };
        for &(a, b, _) in &found.pairs[self.bridged..] {
            let (one, other) = (left.inputs.of(a), right.inputs.of(b));
            if one.len() == other.len() {
                let pairs = one.iter().zip(other).map(|(&one, &other)| (one, other));
                bridges.extend(pairs.filter(|&(one, other)| free(one, other)));
            }
            if let (&[(one, at)], &[(other, to)]) = (left.users.of(a), right.users.of(b))
                && at == to
                && free(one, other)
            {
                bridges.push((one, other));
            }
        }
        self.bridged = found.pairs.len();
        bridges.sort_unstable();
        // One bridge for each: something that thousands use could have thousands, and all its users are asked.
        let (mut seen_a, mut seen_b) = (FxHashSet::default(), FxHashSet::default());
        for (a, b) in bridges {
            if !seen_a.contains(&a) && !seen_b.contains(&b) {
                seen_a.insert(a);
                seen_b.insert(b);
                self.ask(found, a, b);
            }
        }
    }

    fn ask(&mut self, found: &Found, a: u32, b: u32) {
        let (mut left, mut right) = (self.both.a.inputs.of(a), self.both.b.inputs.of(b));
        let (one, other) = (self.both.a.instruction(a), self.both.b.instruction(b));
        let alike = one.opcode == other.opcode;
        if !alike {
            left = &left[..one.operands.len()];
            right = &right[..other.operands.len()];
        }
        let shorter = left.len().min(right.len());
        for at in 0..shorter {
            self.vote(found, left[at], right[at], Basis::Neighbour);
        }
        if left.len() != right.len() {
            for at in 1..=shorter {
                self.vote(found, left[left.len() - at], right[right.len() - at], Basis::Neighbour);
            }
        } else if left.len() == 2 {
            // The operands of an addition may have changed places.
            self.vote_if_odd(found, left[0], right[1], right[0]);
            self.vote_if_odd(found, left[1], right[0], right[1]);
        }
        if alike {
            self.called(found, a, b);
        }
        for (user_a, user_b) in self.users(found, a, b) {
            self.vote(found, user_a, user_b, Basis::Neighbour);
        }
        if self.open {
            self.ask_opened(found, a, b);
        }
    }

    /// The value's other place, if it is not like what is at its own.
    fn vote_if_odd(&mut self, found: &Found, left: u32, right: u32, own: u32) {
        let (a, b) = (self.both.a, self.both.b);
        if left != MISSING && own != MISSING && a.kind[left as usize] != b.kind[own as usize] {
            self.vote(found, left, right, Basis::Neighbour);
        }
    }

    /// Parameters of called computations, by their number.
    fn called(&mut self, found: &Found, a: u32, b: u32) {
        let (left, right) = (self.both.a.module, self.both.b.module);
        let pairs = left.instructions[a as usize].called.iter();
        for (&one, &other) in pairs.zip(&right.instructions[b as usize].called) {
            let (Some(one), Some(other)) =
                (left.computations.get(one as usize), right.computations.get(other as usize))
            else {
                continue;
            };
            // The key of a parameter has its number, and small computations have theirs first.
            for at in one.instructions.clone().take(16) {
                if left.instructions[at].opcode != "parameter" {
                    continue;
                }
                for to in other.instructions.clone().take(16) {
                    if self.both.a.key[at] == self.both.b.key[to] {
                        self.vote(found, at as u32, to as u32, Basis::Neighbour);
                    }
                }
            }
        }
    }

    fn ask_opened(&mut self, found: &Found, a: u32, b: u32) {
        let (left, right) = (self.both.a, self.both.b);
        let pairs = left.inputs.of(a).iter().zip(right.inputs.of(b));
        for (&one, &other) in pairs {
            if one == MISSING || other == MISSING {
                continue;
            }
            let (inner, outer) = (left.opened(one), right.opened(other));
            if (inner, outer) != (one, other) {
                self.vote(found, inner, outer, Basis::Opened);
            }
        }
    }

    /// Users that are the only ones of their kind on both sides.
    fn users(&self, found: &Found, a: u32, b: u32) -> Vec<(u32, u32)> {
        let free_a = (self.both.a.users.of(a).iter()).filter(|one| found.to_b[one.0 as usize] == MISSING);
        let free_b = (self.both.b.users.of(b).iter()).filter(|one| found.to_a[one.0 as usize] == MISSING);
        let (free_a, free_b): (Vec<_>, Vec<_>) = (free_a.collect(), free_b.collect());
        let mut made = Vec::new();
        if free_a.is_empty() || free_b.is_empty() {
            return made;
        }
        for fine in [false, true] {
            let mut seen: FxHashMap<u64, [(u32, u32); 2]> = FxHashMap::default();
            let sides = [(&free_a, self.both.a, self.both.of_a), (&free_b, self.both.b, self.both.of_b)];
            for (which, (free, side, labels)) in sides.into_iter().enumerate() {
                for &&(user, place) in free {
                    let what = match fine {
                        false => side.key[user as usize],
                        true => labels.below[user as usize],
                    };
                    let one = &mut seen.entry(mix(what, u64::from(place))).or_default()[which];
                    *one = (one.0 + 1, user);
                }
            }
            for [one, other] in seen.into_values() {
                if one.0 == 1 && other.0 == 1 {
                    made.push((one.1, other.1));
                }
            }
        }
        // The order in a map is not an order.
        made.sort_unstable();
        made
    }

    fn vote(&mut self, found: &Found, a: u32, b: u32, basis: Basis) {
        if a == MISSING || b == MISSING || self.both.a.kind[a as usize] != self.both.b.kind[b as usize] {
            return;
        }
        if found.to_b[a as usize] != MISSING || found.to_a[b as usize] != MISSING {
            return;
        }
        let votes = self.votes.entry((a, b)).or_default();
        *votes += 1;
        let votes = *votes;
        let score = self.score(found, a, b, votes);
        self.heap.push((score, votes, Reverse(a), Reverse(b), basis));
    }

    /// Whether both take an element of tuples that have not the same elements: then their numbers tell nothing.
    fn renumbered(&self, a: u32, b: u32) -> bool {
        let (left, right) = (self.both.a, self.both.b);
        if left.module.instructions[a as usize].opcode != "get-tuple-element" {
            return false;
        }
        match (left.inputs.of(a), right.inputs.of(b)) {
            (&[one], &[other]) if one != MISSING && other != MISSING => {
                left.kind[one as usize] != right.kind[other as usize]
            }
            _ => false,
        }
    }

    fn score(&self, found: &Found, a: u32, b: u32, votes: u32) -> i64 {
        let (left, right) = (self.both.a, self.both.b);
        let (i, j) = (a as usize, b as usize);
        let mut score = 0;
        if left.key[i] == right.key[j] || self.renumbered(a, b) {
            score += EQUAL;
        }
        let (op, other) = (left.op[i], right.op[j]);
        if self.both.named && op != 0 && other != 0 {
            score += if op == other { 300 } else { -300 };
        }
        score += 200 * i64::from(self.both.of_a.deep[i] == self.both.of_b.deep[j]);
        score += 100 * i64::from(self.both.of_a.below[i] == self.both.of_b.below[j]);
        score += 200 * i64::from(self.both.of_a.once[i] == self.both.of_b.once[j]);
        let (fan, other) = (left.users.of(a).len(), right.users.of(b).len());
        score += 100 * i64::from(fan == other);
        let most = fan.max(other) + left.inputs.of(a).len().max(right.inputs.of(b).len());
        score += 400 * i64::from(votes) / (most as i64).max(1);
        let before = a > 0 && b > 0 && found.to_b[i - 1] == b - 1;
        let behind = found.to_b.get(i + 1).is_some_and(|&it| it == b + 1);
        score + 50 * (i64::from(before) + i64::from(behind))
    }
}

impl Found {
    /// Nothing yet.
    pub fn new(a: u32, b: u32) -> Self {
        Found { to_b: vec![MISSING; a as usize], to_a: vec![MISSING; b as usize], pairs: Vec::new() }
    }

    /// Makes a pair of two that are in none.
    pub fn join(&mut self, a: u32, b: u32, basis: Basis) {
        if self.to_b[a as usize] == MISSING && self.to_a[b as usize] == MISSING {
            self.to_b[a as usize] = b;
            self.to_a[b as usize] = a;
            self.pairs.push((a, b, basis));
        }
    }
}
