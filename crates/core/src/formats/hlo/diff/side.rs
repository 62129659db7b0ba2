//! One side of a comparison: a module as a graph in which every instruction knows what it is made of and what is
//! made of it, and has a key that no name is part of.

use crate::formats::hlo::model::{Instruction, MISSING, Module, More};
use crate::formats::hlo::shape::Shape;
use std::hash::{Hash, Hasher};
use xxhash_rust::xxh3::Xxh3Default;

/// Positions from here on are the values of called computations.
pub const CALLED: u32 = 1 << 24;

/// Two numbers into one, order kept.
pub fn mix(one: u64, other: u64) -> u64 {
    let product = u128::from(one ^ 0x9e37_79b9_7f4a_7c15) * u128::from(other ^ 0xa076_1d64_78bd_642f | 1);
    let folded = (product >> 64) as u64 ^ product as u64;
    folded.rotate_left(23) ^ one.wrapping_mul(0xe703_7ed1_a0b4_28db)
}

/// Lists of one length each, one after the other.
#[derive(Debug, Default)]
pub struct Lists<T> {
    starts: Vec<u32>,
    all: Vec<T>,
}

impl<T> Lists<T> {
    /// The list of an instruction.
    pub fn of(&self, at: u32) -> &[T] {
        &self.all[self.starts[at as usize] as usize..self.starts[at as usize + 1] as usize]
    }
}

/// One side.
pub struct Side<'a> {
    /// The module.
    pub module: &'a Module,
    /// The computation of each instruction.
    pub home: Vec<u32>,
    /// What each is made of: operands, then the roots of what it calls; [`MISSING`] where the file lacks it.
    pub inputs: Lists<u32>,
    /// What is made of each: the user and the position in it.
    pub users: Lists<(u32, u32)>,
    /// Opcode and shape without layout.
    pub kind: Vec<u64>,
    /// The kind with the attributes.
    pub key: Vec<u64>,
    /// The framework's name of the op; 0 for none.
    pub op: Vec<u64>,
    /// Instructions that call each computation.
    pub callers: Vec<Vec<u32>>,
    /// Each behind what it is made of; what is part of a circle comes last.
    pub order: Vec<u32>,
}

fn hash_shape(shape: &Shape, sizes: bool, into: &mut impl Hasher) {
    shape.element.name().hash(into);
    shape.dims.len().hash(into);
    if sizes {
        (&shape.dims, shape.dynamic).hash(into);
    }
    shape.parts.len().hash(into);
    for part in &shape.parts {
        hash_shape(part, sizes, into);
    }
}

fn hash_of(fill: impl FnOnce(&mut Xxh3Default)) -> u64 {
    let mut hasher = Xxh3Default::new();
    fill(&mut hasher);
    hasher.finish()
}

fn hash_attributes(one: &Instruction, exact: bool, sizes: bool, into: &mut impl Hasher) {
    let none = More::default();
    let more = one.more.as_deref().unwrap_or(&none);
    let constant = one.opcode == "constant" && !sizes;
    (one.number.filter(|_| !constant), &one.dimensions, one.called.len()).hash(into);
    (&more.contracted, more.groups, &more.fft).hash(into);
    (&more.fusion_kind, &more.target, &more.direction).hash(into);
    for dim in more.window.iter().filter(|_| sizes) {
        (dim.size, dim.stride, dim.padding, dim.dilation).hash(into);
        dim.base_dilation.hash(into);
    }
    if let Some(one) = &more.convolution {
        (one.input, one.output_feature, &one.spatial).hash(into);
    }
    if exact && sizes {
        one.digest.hash(into);
    }
}

impl<'a> Side<'a> {
    /// The graph of a module. exact: whether attributes that are only hashed can be compared with the other side's.
    /// sizes: whether sizes of dimensions count, and what depends on them.
    pub fn of(module: &'a Module, exact: bool, sizes: bool) -> Self {
        let all = &module.instructions;
        let mut side = Side {
            module,
            home: vec![0; all.len()],
            inputs: Lists::default(),
            users: Lists::default(),
            kind: Vec::with_capacity(all.len()),
            key: Vec::with_capacity(all.len()),
            op: Vec::with_capacity(all.len()),
            callers: vec![Vec::new(); module.computations.len()],
            order: Vec::with_capacity(all.len()),
        };
        for (number, computation) in module.computations.iter().enumerate() {
            for at in computation.instructions.clone() {
                side.home[at] = number as u32;
            }
        }
        side.inputs.starts.push(0);
        for (at, one) in all.iter().enumerate() {
            let kind = hash_of(|it| {
                one.opcode.hash(it);
                hash_shape(&one.shape, sizes, it);
            });
            side.kind.push(kind);
            let attributes = hash_of(|it| hash_attributes(one, exact, sizes, it));
            side.key.push(mix(kind, attributes));
            let op = hash_of(|it| one.op_name.hash(it)) | 1;
            side.op.push(if one.op_name.is_empty() { 0 } else { op });
            let inside = |&it: &u32| {
                if (it as usize) < all.len() { it } else { MISSING }
            };
            side.inputs.all.extend(one.operands.iter().map(inside));
            for &called in &one.called {
                let root = module.computations.get(called as usize);
                let root = root.and_then(|it| it.root).map_or(MISSING, |it| it as u32);
                side.inputs.all.push(root);
                if let Some(callers) = side.callers.get_mut(called as usize) {
                    callers.push(at as u32);
                }
            }
            side.inputs.starts.push(side.inputs.all.len() as u32);
        }
        side.turn();
        side.sort();
        side
    }

    /// How many instructions there are.
    pub fn len(&self) -> u32 {
        self.kind.len() as u32
    }

    /// The instruction itself.
    pub fn instruction(&self, at: u32) -> &Instruction {
        &self.module.instructions[at as usize]
    }

    /// What an input is called: operands by their number, called computations by theirs.
    pub fn position(&self, of: u32, at: usize) -> u32 {
        let operands = self.module.instructions[of as usize].operands.len();
        match at.checked_sub(operands) {
            Some(called) => CALLED + called as u32,
            None => at as u32,
        }
    }

    /// Whether it is the value of its computation.
    pub fn is_root(&self, at: u32) -> bool {
        self.module.computations[self.home[at as usize] as usize].root == Some(at as usize)
    }

    /// Which computations are the inside of a fusion.
    pub fn fused(&self) -> Vec<bool> {
        let fusion = |&at: &u32| self.instruction(at).opcode == "fusion";
        self.callers.iter().map(|all| all.iter().any(fusion)).collect()
    }

    /// Whether the other side is the same, instruction by instruction.
    pub fn equals(&self, other: &Side<'_>) -> bool {
        self.key == other.key
            && self.op == other.op
            && self.home == other.home
            && self.inputs.starts == other.inputs.starts
            && self.inputs.all == other.inputs.all
    }

    /// A number that says which of two sides comes first, whichever is called A.
    pub fn rank(&self) -> (u32, u64, u64) {
        let sum = |all: &[u64]| all.iter().fold(0, |sum, &one| mix(sum, one));
        (self.len(), sum(&self.key), sum(&self.op))
    }

    /// The instruction whose value an element of a tuple is, where the tuple is made on the spot.
    pub fn taken(&self, at: u32) -> Option<u32> {
        let one = self.instruction(at);
        let &of = one.operands.first()?;
        let made = self.module.instructions.get(of as usize)?;
        if one.opcode != "get-tuple-element" || made.opcode != "tuple" {
            return None;
        }
        let number = usize::try_from(one.number?).ok()?;
        let &value = made.operands.get(number)?;
        ((value as usize) < self.kind.len() && value != at).then_some(value)
    }

    /// The same with inputs that look through tuples: what takes an element out of a tuple, only to use it, uses the
    /// value that was put in. Whether a pass has done away with such a detour then makes no difference.
    pub fn through_tuples(mut self) -> Self {
        let taken: Vec<Option<u32>> = (0..self.len()).map(|at| self.taken(at)).collect();
        for input in self.inputs.all.iter_mut().filter(|it| **it != MISSING) {
            for _ in 0..8 {
                match taken[*input as usize] {
                    Some(value) => *input = value,
                    None => break,
                }
            }
        }
        self.turn();
        self.order.clear();
        self.sort();
        self
    }

    /// Fills the users from the inputs.
    fn turn(&mut self) {
        let mut counts = vec![0_u32; self.kind.len() + 1];
        for &input in self.inputs.all.iter().filter(|&&it| it != MISSING) {
            counts[input as usize + 1] += 1;
        }
        for at in 1..counts.len() {
            counts[at] += counts[at - 1];
        }
        let mut next = counts.clone();
        let mut all = vec![(0, 0); counts.last().copied().unwrap_or(0) as usize];
        for user in 0..self.len() {
            for (at, &input) in self.inputs.of(user).iter().enumerate() {
                if input != MISSING {
                    all[next[input as usize] as usize] = (user, self.position(user, at));
                    next[input as usize] += 1;
                }
            }
        }
        self.users = Lists { starts: counts, all };
    }

    /// Fills the order.
    fn sort(&mut self) {
        let mut open: Vec<u32> = (0..self.len())
            .map(|at| {
                let there = self.inputs.of(at).iter().filter(|&&it| it != MISSING);
                there.count() as u32
            })
            .collect();
        let mut order: Vec<u32> = (0..self.len()).filter(|&at| open[at as usize] == 0).collect();
        let mut done = 0;
        while let Some(&at) = order.get(done) {
            done += 1;
            for &(user, _) in self.users.of(at) {
                open[user as usize] -= 1;
                if open[user as usize] == 0 {
                    order.push(user);
                }
            }
        }
        order.extend((0..self.len()).filter(|&at| open[at as usize] > 0));
        self.order = order;
    }

    /// What an instruction's value is once fusions and calls are opened: a parameter of a computation with one
    /// caller is the caller's operand, a fusion or call is the root of what it calls.
    pub fn opened(&self, mut at: u32) -> u32 {
        for _ in 0..8 {
            let one = &self.module.instructions[at as usize];
            let next = match &*one.opcode {
                "parameter" => match self.callers[self.home[at as usize] as usize][..] {
                    [caller] if self.opens(caller) => one
                        .number
                        .and_then(|number| self.inputs.of(caller).get(usize::try_from(number).ok()?))
                        .copied(),
                    _ => None,
                },
                "fusion" | "call" => self.inputs.of(at).get(one.operands.len()).copied(),
                "get-tuple-element" => self.element(at),
                _ => None,
            };
            match next {
                Some(next) if next != MISSING => at = next,
                _ => break,
            }
        }
        at
    }

    fn opens(&self, caller: u32) -> bool {
        matches!(&*self.module.instructions[caller as usize].opcode, "fusion" | "call")
    }

    /// The element that is taken from what a fusion or call returns.
    fn element(&self, at: u32) -> Option<u32> {
        let &of = self.inputs.of(at).first().filter(|&&it| it != MISSING)?;
        if !self.opens(of) {
            return None;
        }
        let operands = self.module.instructions[of as usize].operands.len();
        let &root = self.inputs.of(of).get(operands).filter(|&&it| it != MISSING)?;
        if self.module.instructions[root as usize].opcode != "tuple" {
            return None;
        }
        let number = usize::try_from(self.module.instructions[at as usize].number?).ok()?;
        self.inputs.of(root).get(number).copied()
    }
}
