//! A computation while its instructions come by, one after the other, and what is left of it for those that call it:
//! how much it costs, what it reads of each parameter, whether it counts like the body or the end of a loop. So that
//! the cost of a program is known without all of its instructions.

use super::cost::{Cost, Ran, cost};
use super::model::{Instruction, Module};
use super::shape::Shape;
use rustc_hash::FxHashMap;

/// A module as one of its computations sees it.
pub struct Inside<'a> {
    /// The module.
    pub module: &'a Module,
    /// The first instruction of the computation.
    pub start: usize,
}

impl<'a> Inside<'a> {
    /// What an instruction makes.
    pub fn shape(&self, at: u32) -> Option<&'a Shape> {
        Some(&self.instruction(at)?.shape)
    }

    /// The instruction itself.
    pub fn instruction(&self, at: u32) -> Option<&'a Instruction> {
        self.module.instructions.get(at as usize)
    }
}

fn is_scalar(one: &Instruction) -> bool {
    one.shape.dims.is_empty() && !one.shape.is_tuple()
}

/// Opcodes whose called computations run as statements of their own, not as a function of the instruction.
const CONTROL: [&str; 4] = ["while", "call", "conditional", "async-start"];

/// Constants of so many elements are part of the code.
const IMMEDIATE: f64 = 8.0;

/// What callers need to know of a computation.
#[derive(Debug, Clone, Default)]
pub struct Inner {
    /// As XLA counts it.
    pub cost: Cost,
    /// As it runs.
    pub ran: Ran,
    /// Computations that run as statements of their own, and how often in one run of this.
    pub runs: Vec<(u32, f64)>,
    /// Bytes that a fusion of it writes; none without a root.
    pub written: Option<f64>,
    /// Bytes that it reads of each parameter.
    pub read: Vec<f64>,
    /// Bytes of its large constants.
    pub constants: f64,
    /// As a condition: the element that counts, and its end.
    test: Option<(i64, i64)>,
    /// As a body: elements that count, and by how much.
    steps: FxHashMap<i64, i64>,
}

/// The computation that an instruction calls.
pub fn called<'a>(by: &Instruction, at: usize, inners: &'a [Inner]) -> Option<&'a Inner> {
    inners.get(*by.called.get(at)? as usize)
}

/// An operand that others look into.
fn operand<'a>(around: &Inside<'a>, of: &Instruction, at: usize) -> Option<&'a Instruction> {
    around.instruction(*of.operands.get(at)?)
}

/// A computation of which not all instructions have come by.
#[derive(Debug, Default)]
pub struct Open {
    cost: Cost,
    ran: Ran,
    runs: Vec<(u32, f64)>,
    parameters: Vec<(i64, u32)>,
    /// Bytes that are read of each parameter, and whether somebody reads all of it.
    read: FxHashMap<u32, (f64, bool)>,
    constants: f64,
}

impl Open {
    /// Adds the next instruction. Returns its cost as XLA counts it and as it runs, and how often it goes round if it
    /// is a loop of which that is known.
    pub fn add(
        &mut self,
        around: &Inside<'_>,
        at: u32,
        one: &Instruction,
        inners: &[Inner],
    ) -> (Cost, Ran, Option<u64>) {
        self.read(around, one, inners);
        let trips = trips(around, one, inners);
        let (cost, ran) = cost(around, one, inners, trips);
        self.cost += cost;
        self.ran = self.ran.plus(ran);
        match &*one.opcode {
            "parameter" => self.parameters.push((one.number.unwrap_or_default(), at)),
            "constant" if one.shape.elements() > IMMEDIATE => self.constants += one.shape.bytes(),
            opcode if CONTROL.contains(&opcode) => {
                // The condition of a loop, which comes second, is asked once more than its body runs.
                let often = |at: usize| trips.map_or(1.0, |trips| trips as f64 + at as f64);
                let called = one.called.iter().enumerate();
                self.runs.extend(called.map(|(at, &called)| (called, often(at))));
            }
            _ => {}
        }
        (cost, ran, trips)
    }

    /// Adds what an instruction reads of the parameters of its computation.
    fn read(&mut self, around: &Inside<'_>, user: &Instruction, inners: &[Inner]) {
        for (place, &at) in user.operands.iter().enumerate() {
            let Some(read) = around.instruction(at) else {
                continue;
            };
            if read.opcode != "parameter" || (at as usize) < around.start {
                continue;
            }
            let (bytes, whole) = self.read.entry(at).or_default();
            match &*user.opcode {
                "fusion" => {
                    let inner = called(user, 0, inners).and_then(|inner| inner.read.get(place));
                    *bytes += inner.copied().unwrap_or_default();
                }
                "slice" => *bytes += user.shape.bytes(),
                "dynamic-slice" if place == 0 => *bytes += user.shape.bytes(),
                "dynamic-update-slice" if place == 0 => {}
                "broadcast" | "reshape" if place == 0 => *bytes += read.shape.bytes(),
                _ if *whole => {}
                _ => {
                    *whole = true;
                    *bytes += read.shape.bytes();
                }
            }
        }
    }

    /// Ends it.
    pub fn close(mut self, around: &Inside<'_>, root: Option<u32>) -> Inner {
        self.parameters.sort_unstable();
        let of = |&(_, at): &(i64, u32)| self.read.get(&at).map_or(0.0, |one| one.0);
        let body = root.and_then(|at| around.instruction(at));
        Inner {
            cost: self.cost,
            ran: self.ran,
            runs: self.runs,
            written: root.and_then(|at| written(around, at)),
            read: self.parameters.iter().map(of).collect(),
            constants: self.constants,
            test: body.and_then(|one| test(around, one)),
            steps: body.map(|one| steps(around, one)).unwrap_or_default(),
        }
    }
}

/// Bytes that a fusion writes whose root this is.
fn written(around: &Inside<'_>, root: u32) -> Option<f64> {
    let updated = |at: u32| match around.instruction(at) {
        Some(made) if made.opcode == "dynamic-update-slice" => {
            let update = made.operands.get(1).and_then(|&at| around.shape(at));
            Some(update.map_or_else(|| Shape::default().bytes(), Shape::bytes))
        }
        _ => around.shape(at).map(Shape::bytes),
    };
    match around.instruction(root) {
        Some(one) if one.opcode == "tuple" => Some(one.operands.iter().filter_map(|&at| updated(at)).sum()),
        _ => updated(root),
    }
}

/// A constant that is one integer.
fn constant(one: &Instruction) -> Option<i64> {
    one.number.filter(|_| one.opcode == "constant")
}

/// The element of a tuple that an instruction takes.
fn element(one: &Instruction) -> Option<i64> {
    one.number.filter(|_| one.opcode == "get-tuple-element")
}

/// What the condition of a loop compares, where it is `counter < end`.
fn test(around: &Inside<'_>, root: &Instruction) -> Option<(i64, i64)> {
    if root.opcode != "compare" || root.more.as_ref()?.direction != "LT" {
        return None;
    }
    let counter = element(operand(around, root, 0)?)?;
    Some((counter, constant(operand(around, root, 1)?)?))
}

/// The elements that the body of a loop adds a constant to.
fn steps(around: &Inside<'_>, root: &Instruction) -> FxHashMap<i64, i64> {
    let step = |place: i64, next: &Instruction| {
        if next.opcode != "add" || !is_scalar(next) {
            return None;
        }
        let (one, other) = (operand(around, next, 0)?, operand(around, next, 1)?);
        let (counted, step) = match (constant(one), constant(other)) {
            (None, Some(step)) => (one, step),
            (Some(step), None) => (other, step),
            _ => return None,
        };
        let same = element(counted) == Some(place);
        let carried = operand(around, counted, 0)?.opcode == "parameter";
        (same && carried).then_some((place, step))
    };
    let parts = root.operands.iter().enumerate();
    let parts = parts.filter(|_| root.opcode == "tuple");
    parts.filter_map(|(place, &at)| step(i64::try_from(place).ok()?, around.instruction(at)?)).collect()
}

/// How often a loop goes round: as the compiler says, or else as the loop itself says that counts from one constant to
/// another.
fn trips(around: &Inside<'_>, of: &Instruction, inners: &[Inner]) -> Option<u64> {
    if of.opcode != "while" {
        return None;
    }
    of.known_trip_count().or_else(|| counted(around, of, inners))
}

/// Trips of `for i in (start..end).step_by(step)`, which frameworks make.
fn counted(around: &Inside<'_>, of: &Instruction, inners: &[Inner]) -> Option<u64> {
    let (place, end) = called(of, 1, inners)?.test?;
    let step = *called(of, 0, inners)?.steps.get(&place)?;
    let before = operand(around, of, 0).filter(|one| one.opcode == "tuple")?;
    let mut start = operand(around, before, usize::try_from(place).ok()?)?;
    if start.opcode == "copy" {
        start = operand(around, start, 0)?;
    }
    let length = i128::from(end) - i128::from(constant(start)?);
    if step < 1 || length < 0 {
        return None;
    }
    let step = i128::from(step);
    u64::try_from((length + step - 1) / step).ok()
}
