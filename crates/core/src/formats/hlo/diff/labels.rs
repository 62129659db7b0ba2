//! Labels of instructions by what surrounds them: everything that they are made of and everything made of them, or
//! only some steps of it. Two with the same label have the same surroundings.

use super::side::{CALLED, Side, mix};
use crate::formats::hlo::model::MISSING;

/// Labels of one side.
pub struct Labels {
    /// What an instruction is, without its surroundings.
    pub own: Vec<u64>,
    /// With everything that it is made of.
    pub deep: Vec<u64>,
    /// With everything that is made of it, and what that is made of.
    pub high: Vec<u64>,
    /// With everything around.
    pub full: Vec<u64>,
    /// With what it is made of.
    pub once: Vec<u64>,
    /// With what is two steps down.
    pub below: Vec<u64>,
    /// With some steps in each direction; see [`STEPS`].
    pub near: Vec<Vec<u64>>,
}

/// How far the labels in [`Labels::near`] reach.
pub const STEPS: [usize; 4] = [8, 4, 2, 1];

fn down(side: &Side<'_>, own: &[u64], from: &[u64], at: u32) -> u64 {
    let mut label = own[at as usize];
    for (place, &input) in side.inputs.of(at).iter().enumerate() {
        let said = from.get(input as usize).copied().unwrap_or(u64::from(MISSING));
        label = mix(label, mix(said, u64::from(side.position(at, place))));
    }
    label
}

/// beside: what each user says of itself; above: what is said of what is made of it.
fn up(side: &Side<'_>, beside: &[u64], above: &[u64], at: u32) -> u64 {
    let users = side.users.of(at).iter();
    let sum = users.fold(0_u64, |sum, &(user, place)| {
        let said = mix(beside[user as usize], above[user as usize]);
        sum.wrapping_add(mix(said, u64::from(place)))
    });
    mix(sum, start(side, at))
}

/// What is known of an instruction's users without looking: whether its value is that of the program.
fn start(side: &Side<'_>, at: u32) -> u64 {
    let entry = side.module.entry == Some(side.home[at as usize] as usize);
    u64::from(side.is_root(at)) + 2 * u64::from(entry) + u64::from(CALLED)
}

impl Labels {
    /// The labels of a side. named: whether the framework's names of ops are part of them.
    pub fn of(side: &Side<'_>, named: bool) -> Self {
        let count = side.len();
        let own: Vec<u64> =
            (0..count as usize).map(|at| mix(side.key[at], if named { side.op[at] } else { 0 })).collect();
        let step = |from: &[u64]| -> Vec<u64> { (0..count).map(|at| down(side, &own, from, at)).collect() };
        let once = step(&own);
        let mut below = own.clone();
        let mut above: Vec<u64> = (0..count).map(|at| start(side, at)).collect();
        let (mut two, mut near) = (Vec::new(), Vec::new());
        for reach in 1..=STEPS[0] {
            below = step(&below);
            above = (0..count).map(|at| up(side, &once, &above, at)).collect();
            if reach == 2 {
                two.clone_from(&below);
            }
            if STEPS.contains(&reach) {
                let both = below.iter().zip(&above);
                near.push(both.map(|(&below, &above)| mix(below, above)).collect());
            }
        }
        near.reverse();
        let mut deep = own.clone();
        for &at in &side.order {
            deep[at as usize] = down(side, &own, &deep, at);
        }
        let mut high: Vec<u64> = (0..count).map(|at| start(side, at)).collect();
        for &at in side.order.iter().rev() {
            high[at as usize] = up(side, &deep, &high, at);
        }
        let high: Vec<u64> = high.iter().zip(&own).map(|(&high, &own)| mix(high, own)).collect();
        let full = deep.iter().zip(&high).map(|(&deep, &high)| mix(deep, high)).collect();
        Labels { own, deep, high, full, once, below: two, near }
    }
}
