//! The steps of the matching, each on what the steps before have left.

use super::Basis;
use super::groups::{equal_groups, in_order, is_part, settled, unique};
use super::labels::{Labels, STEPS};
use super::side::{Side, mix};
use super::spread::{Both, Found, Spread};
use crate::formats::hlo::model::MISSING;

/// Scores that a neighbour needs: while there may be better ones to come, afterwards, and where only its kind is
/// known.
const SURE: i64 = 1500;
const GOOD: i64 = 1350;
const FAIR: i64 = 1200;
const LOW: i64 = 300;

/// The sides, and what they tell of their instructions: with the framework's names of ops, where they say any and
/// they count, and without.
pub struct Steps<'a> {
    a: &'a Side<'a>,
    b: &'a Side<'a>,
    plain: [Labels; 2],
    named: Option<[Labels; 2]>,
}

impl<'a> Steps<'a> {
    /// Two sides of one strictness.
    pub fn new(a: &'a Side<'a>, b: &'a Side<'a>, named: bool) -> Self {
        let is_named = named && a.op.iter().chain(&b.op).any(|&op| op != 0);
        Steps {
            a,
            b,
            plain: [Labels::of(a, false), Labels::of(b, false)],
            named: is_named.then(|| [Labels::of(a, true), Labels::of(b, true)]),
        }
    }

    fn best(&self) -> &[Labels; 2] {
        self.named.as_ref().unwrap_or(&self.plain)
    }

    /// The labels, those with names first.
    fn all(&self) -> impl Iterator<Item = &[Labels; 2]> {
        self.named.iter().chain([&self.plain])
    }

    fn both(&self, labels: &'a [Labels; 2]) -> Both<'a> {
        Both { a: self.a, b: self.b, of_a: &labels[0], of_b: &labels[1], named: self.named.is_some() }
    }

    /// Matches what is in no pair yet.
    pub fn run(&'a self, found: &mut Found) {
        let best = self.best();
        unique(found, &best[0].full, &best[1].full, Basis::Identical);
        for at in 0..2 {
            unique(found, &best[0].near[at], &best[1].near[at], Basis::Surroundings);
        }
        let both = self.both(best);
        let mut spread = Spread::new(&both, false);
        spread.run(found, SURE);
        for [one, other] in self.all() {
            unique(found, &one.deep, &other.deep, Basis::Surroundings);
            spread.run(found, SURE);
            unique(found, &one.high, &other.high, Basis::Surroundings);
            spread.run(found, SURE);
            for at in 0..STEPS.len() {
                unique(found, &one.near[at], &other.near[at], Basis::Surroundings);
                spread.run(found, SURE);
            }
        }
        spread.run(found, GOOD);
        spread.run(found, FAIR);
        for _ in 0..3 {
            spread.bridge(found);
            spread.run(found, FAIR);
            settled(found, self.a, self.b);
            spread.run(found, FAIR);
        }
        spread.run(found, LOW);
        settled(found, self.a, self.b);
        spread.run(found, LOW);
        for [one, other] in self.all() {
            equal_groups(found, &one.full, &other.full, Basis::Twins);
            spread.run(found, LOW);
            for at in 0..STEPS.len() - 1 {
                equal_groups(found, &one.near[at], &other.near[at], Basis::Twins);
                spread.run(found, LOW);
            }
        }
        self.rest(found);
    }

    /// What only parts of the surroundings, or nothing but the kind, tell.
    fn rest(&'a self, found: &mut Found) {
        let both = self.both(&self.plain);
        let mut spread = Spread::new(&both, true);
        spread.run(found, 0);
        for [one, other] in self.all() {
            unique(found, &one.deep, &other.deep, Basis::Surroundings);
            spread.run(found, 0);
            equal_groups(found, &one.deep, &other.deep, Basis::Twins);
            spread.run(found, 0);
        }
        if self.named.is_some() {
            let labels = [self.a, self.b].map(|side| {
                let said = side.kind.iter().zip(&side.op);
                said.map(|(&kind, &op)| if op == 0 { 0 } else { mix(kind, op) }).collect::<Vec<_>>()
            });
            unique(found, &labels[0], &labels[1], Basis::Op);
            spread.run(found, 0);
        }
        let best = self.best();
        equal_groups(found, &best[0].own, &best[1].own, Basis::Order);
        spread.run(found, 0);
        equal_groups(found, &self.a.key, &self.b.key, Basis::Order);
        spread.run(found, 0);
        // Where one side has nothing new, all that is left of it is somewhere in the other.
        if is_part(found, &self.a.kind, &self.b.kind) {
            for [one, other] in
                [[&best[0].own, &best[1].own], [&self.a.key, &self.b.key], [&self.a.kind, &self.b.kind]]
            {
                in_order(found, one, other, Basis::Order);
                spread.run(found, 0);
            }
        }
    }
}

/// Whether a side has anything left.
pub fn is_open(partner: &[u32]) -> bool {
    partner.contains(&MISSING)
}
