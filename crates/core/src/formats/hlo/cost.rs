//! What a program costs: as XLA counts it, and what really runs.
//!
//! XLA's figures (`HloCostAnalysis`, `cost_analysis()` in JAX) count the body of a loop once and a custom call as −1.
//! The rules here are ours and give the same figures. Beside them is what runs: bodies of loops times their known
//! trip count (conditions once more), custom calls counted as unknown.
//! Over 400 lines because the rules are a table: one for each opcode, and none makes sense by itself.

use super::inner::{Inner, Inside, Open, called};
use super::model::{Instruction, Module};
use super::shape::Shape;
use super::window;
use rustc_hash::FxHashMap;
use std::ops::{Add, AddAssign, Mul};
use std::sync::LazyLock;

/// What something costs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Floating-point operations.
    pub flops: f64,
    /// Transcendental functions.
    pub transcendentals: f64,
    /// Bytes read and written.
    pub bytes: f64,
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            flops: self.flops + other.flops,
            transcendentals: self.transcendentals + other.transcendentals,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        *self = *self + other;
    }
}

impl Mul<f64> for Cost {
    type Output = Cost;

    fn mul(self, times: f64) -> Cost {
        Cost {
            flops: self.flops * times,
            transcendentals: self.transcendentals * times,
            bytes: self.bytes * times,
        }
    }
}

impl Cost {
    fn max(self, other: Cost) -> Cost {
        Cost {
            flops: self.flops.max(other.flops),
            transcendentals: self.transcendentals.max(other.transcendentals),
            bytes: self.bytes.max(other.bytes),
        }
    }
}

/// What really runs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ran {
    /// The cost that is known.
    pub cost: Cost,
    /// Custom calls, whose cost nobody knows.
    pub custom_calls: f64,
    /// Loops that go round an unknown number of times; they are counted once.
    pub open_loops: f64,
}

impl Ran {
    pub(super) fn plus(self, other: Ran) -> Ran {
        Ran {
            cost: self.cost + other.cost,
            custom_calls: self.custom_calls + other.custom_calls,
            open_loops: self.open_loops + other.open_loops,
        }
    }

    fn times(self, times: f64) -> Ran {
        Ran {
            cost: self.cost * times,
            custom_calls: self.custom_calls * times,
            open_loops: self.open_loops * times,
        }
    }

    fn max(self, other: Ran) -> Ran {
        Ran {
            cost: self.cost.max(other.cost),
            custom_calls: self.custom_calls.max(other.custom_calls),
            open_loops: self.open_loops.max(other.open_loops),
        }
    }
}

/// Costs of a module.
#[derive(Debug, Default)]
pub struct Costs {
    /// Each instruction, as XLA counts it.
    pub instructions: Vec<Cost>,
    /// Each instruction, as it runs when it runs once.
    pub ran: Vec<Ran>,
    /// Sums of each computation.
    pub computations: Vec<(Cost, Ran)>,
    /// The whole module, as XLA counts it.
    pub module: Cost,
    /// The whole module, as it runs.
    pub module_ran: Ran,
    /// How often loops go round of which that is known.
    pub trips: FxHashMap<u32, u64>,
    /// Whether computations call each other in a circle; such calls count nothing.
    pub cyclic: bool,
    /// How often each computation runs in a run of the module as statements of its own. Branches count once each,
    /// whichever is taken; loops with an unknown trip count once. Nothing does in a module with a circle.
    pub times: Vec<f64>,
}

/// How often each computation runs, whose callees come before it in `order`.
fn times(inners: &[Inner], entry: Option<usize>, order: &[usize]) -> Vec<f64> {
    let mut times = vec![0.0; inners.len()];
    let Some(entry) = entry else {
        return times;
    };
    times[entry] = 1.0;
    for &computation in order.iter().rev() {
        let around = times[computation];
        for &(called, often) in inners[computation].runs.iter().filter(|_| around > 0.0) {
            if let Some(times) = times.get_mut(called as usize) {
                *times += around * often;
            }
        }
    }
    times
}

/// Computations in an order in which each comes behind those that it calls, and whether some call in a circle. A
/// stack of our own, so that no depth overflows the machine's.
fn callees_first(module: &Module) -> (Vec<usize>, bool) {
    let (mut order, mut cyclic) = (Vec::with_capacity(module.computations.len()), false);
    let mut state = vec![0_u8; module.computations.len()];
    let called: Vec<Vec<u32>> = (module.computations.iter())
        .map(|one| {
            let inside = &module.instructions[one.instructions.clone()];
            inside.iter().flat_map(|it| it.called.iter().copied()).collect()
        })
        .collect();
    for start in 0..module.computations.len() {
        let mut open = vec![(start, 0)];
        while let Some((at, next)) = open.pop() {
            if next == 0 {
                if state[at] != 0 {
                    cyclic |= state[at] == 1;
                    continue;
                }
                state[at] = 1;
            }
            match called[at].get(next) {
                Some(&callee) => {
                    open.push((at, next + 1));
                    open.push((callee as usize, 0));
                }
                None => {
                    state[at] = 2;
                    order.push(at);
                }
            }
        }
    }
    (order, cyclic)
}

/// Costs of a module and everything in it.
pub fn costs(module: &Module) -> Costs {
    let (order, cyclic) = callees_first(module);
    let mut found = Costs {
        instructions: vec![Cost::default(); module.instructions.len()],
        ran: vec![Ran::default(); module.instructions.len()],
        cyclic,
        ..Costs::default()
    };
    let mut inners = vec![Inner::default(); module.computations.len()];
    for &computation in &order {
        let range = module.computations[computation].instructions.clone();
        let around = Inside { module, start: range.start };
        let mut open = Open::default();
        for at in range {
            let one = &module.instructions[at];
            let (cost, ran, trips) = open.add(&around, at as u32, one, &inners);
            found.instructions[at] = cost;
            found.ran[at] = ran;
            found.trips.extend(trips.map(|trips| (at as u32, trips)));
        }
        let root = module.computations[computation].root;
        inners[computation] = open.close(&around, root.map(|at| at as u32));
    }
    if let Some(entry) = module.entry {
        (found.module, found.module_ran) = (inners[entry].cost, inners[entry].ran);
    }
    found.times = times(&inners, module.entry.filter(|_| !cyclic), &order);
    found.computations = inners.iter().map(|one| (one.cost, one.ran)).collect();
    found
}

fn log2_ceil(number: f64) -> f64 {
    if number > 1.0 { number.log2().ceil() } else { 0.0 }
}

/// The cost of one instruction: as XLA counts it, and as it runs.
pub(super) fn cost(
    around: &Inside<'_>,
    one: &Instruction,
    inners: &[Inner],
    trips: Option<u64>,
) -> (Cost, Ran) {
    let sub = |at: usize| called(one, at, inners).map(|inner| (inner.cost, inner.ran)).unwrap_or_default();
    let plain = |cost: Cost| (cost, Ran { cost, ..Ran::default() });
    match &*one.opcode {
        "custom-call" => {
            let unknown = Cost { flops: -1.0, transcendentals: 0.0, bytes: -1.0 };
            (unknown, Ran { custom_calls: 1.0, ..Ran::default() })
        }
        "call" | "async-start" => sub(0),
        "while" => {
            let ((body, body_ran), (condition, condition_ran)) = (sub(0), sub(1));
            let ran = match trips {
                Some(times) => {
                    let times = times as f64;
                    body_ran.times(times).plus(condition_ran.times(times + 1.0))
                }
                None => Ran {
                    open_loops: body_ran.open_loops + condition_ran.open_loops + 1.0,
                    ..body_ran.plus(condition_ran)
                },
            };
            (body + condition, ran)
        }
        "conditional" => {
            let (mut most, mut most_ran) = sub(0);
            for at in 1..one.called.len() {
                let (cost, ran) = sub(at);
                most = most.max(cost);
                most_ran = most_ran.max(ran);
            }
            (most, most_ran)
        }
        "fusion" => {
            let (cost, ran) = sub(0);
            let bytes = fusion_bytes(around, one, inners);
            let ran = Ran { cost: Cost { bytes, ..ran.cost }, ..ran };
            (Cost { bytes, ..cost }, ran)
        }
        // Only the operations of what is applied count; its bytes stay in registers.
        "map" | "reduce" | "reduce-window" | "scatter" | "select-and-scatter" => {
            let applied = |at: usize, times: f64| Cost { bytes: 0.0, ..sub(at).0 * times };
            let bytes = bytes(around, one);
            let source = operand(around, one, 1).elements();
            let operations = match &*one.opcode {
                "map" => applied(0, one.shape.elements()),
                "reduce" => applied(0, operand(around, one, 0).elements() - one.shape.first().elements()),
                "reduce-window" => applied(0, windowed(one)),
                "scatter" => {
                    // Operands, indices, and as many updates as operands.
                    let updates = one.operands.len() / 2 + 1;
                    applied(0, operand(around, one, updates).elements())
                }
                _ => applied(0, source * (window_size(one) - 1.0)) + applied(1, source),
            };
            plain(operations + Cost { bytes, ..Cost::default() })
        }
        _ => plain(Cost { bytes: bytes(around, one), ..operations(around, one) }),
    }
}

/// The shape of an operand; of one that is missing, nothing.
fn operand<'a>(around: &Inside<'a>, one: &Instruction, at: usize) -> &'a Shape {
    static NOWHERE: LazyLock<Shape> = LazyLock::new(Shape::default);
    let shape = one.operands.get(at).and_then(|&at| around.shape(at));
    shape.unwrap_or(&NOWHERE)
}

fn window_size(one: &Instruction) -> f64 {
    let window = one.more.iter().flat_map(|more| &more.window);
    window.map(|dim| dim.size.max(0) as f64).product()
}

/// How often a reduction over windows applies its function.
fn windowed(one: &Instruction) -> f64 {
    let (out, window) = (one.shape.first(), one.more.as_ref().map_or(&[][..], |more| &more.window));
    let elements = out.elements();
    let wide = window.iter().filter(|dim| dim.size != 1).count();
    let padded = window.iter().filter(|dim| dim.padding != (0, 0)).count();
    if wide == 1 && padded == 1 && !one.shape.is_tuple() {
        // A running sum: the window is as long as twice the dimension, and XLA counts what it will be rewritten to.
        let running = window.iter().position(|dim| {
            let (low, high) = dim.padding;
            dim.size != 1 && low != 0 && low == high && i128::from(dim.size) == 2 * i128::from(low) + 1
        });
        if let Some(at) = running {
            let span = out.dim(at as i64);
            if window[at].padding.0 as f64 == span - 1.0 {
                return (elements / span).floor() + span - 1.0;
            }
        }
    }
    elements * (window_size(one) - 1.0)
}

/// Operations of an instruction that calls nothing.
fn operations(around: &Inside<'_>, one: &Instruction) -> Cost {
    let flops = |flops: f64| Cost { flops, ..Cost::default() };
    let functions = |transcendentals: f64| Cost { transcendentals, ..Cost::default() };
    let elements = one.shape.elements();
    match &*one.opcode {
        "add"
        | "subtract"
        | "multiply"
        | "divide"
        | "remainder"
        | "maximum"
        | "minimum"
        | "and"
        | "or"
        | "xor"
        | "not"
        | "negate"
        | "abs"
        | "sign"
        | "floor"
        | "ceil"
        | "round-nearest-afz"
        | "round-nearest-even"
        | "is-finite"
        | "compare"
        | "select"
        | "clamp"
        | "convert"
        | "bitcast-convert"
        | "stochastic-convert"
        | "shift-left"
        | "shift-right-arithmetic"
        | "shift-right-logical"
        | "popcnt"
        | "count-leading-zeros"
        | "complex"
        | "real"
        | "imag"
        | "reduce-precision" => flops(elements),
        "exponential"
        | "exponential-minus-one"
        | "log"
        | "log-plus-one"
        | "logistic"
        | "tanh"
        | "tan"
        | "sine"
        | "cosine"
        | "sqrt"
        | "rsqrt"
        | "cbrt"
        | "power"
        | "atan2"
        | "erf"
        | "acos"
        | "acosh"
        | "asin"
        | "asinh"
        | "atanh"
        | "cosh"
        | "sinh"
        | "rng" => functions(elements),
        "rng-bit-generator" => functions(one.shape.all_elements()),
        "dot" => {
            let left = operand(around, one, 0);
            let contracted = one.more.iter().flat_map(|more| &more.contracted);
            flops(2.0 * elements * contracted.map(|&dim| left.dim(dim)).product::<f64>())
        }
        "convolution" => {
            let (input, kernel) = (operand(around, one, 0), operand(around, one, 1));
            let counted = one.more.as_ref().and_then(|more| window::flops(one, more, input, kernel));
            flops(counted.unwrap_or_default())
        }
        "sort" => {
            let elements = operand(around, one, 0).elements();
            flops(elements * log2_ceil(elements))
        }
        "fft" => {
            let lengths = one.more.iter().flat_map(|more| &more.fft);
            let logs = lengths.map(|&length| f64::from(length.max(1).ilog2()));
            flops(8.0 * logs.product::<f64>() * operand(around, one, 0).elements())
        }
        "cholesky" => {
            let of = operand(around, one, 0);
            flops((of.elements() * of.dim(of.dims.len() as i64 - 1) / 3.0).floor())
        }
        "triangular-solve" => {
            let (a, b) = (operand(around, one, 0), operand(around, one, 1));
            flops(2.0 * a.dim(a.dims.len() as i64 - 1) * b.elements())
        }
        "all-reduce" | "all-reduce-start" => flops(one.shape.all_elements()),
        _ => Cost::default(),
    }
}

/// Bytes that an instruction reads and writes.
fn bytes(around: &Inside<'_>, one: &Instruction) -> f64 {
    let out = one.shape.bytes();
    let of = |at: usize| operand(around, one, at).bytes();
    match &*one.opcode {
        "parameter" | "constant" | "get-tuple-element" | "bitcast" | "after-all" | "domain"
        | "add-dependency" => 0.0,
        "tuple" => 8.0 * one.shape.parts.len() as f64,
        "transpose" if operand(around, one, 0).transposes_freely(&one.shape, &one.dimensions) => 0.0,
        "slice" => 2.0 * out,
        "dynamic-slice" => 2.0 * out + of(1),
        "dynamic-update-slice" => 2.0 * of(1) + of(2),
        "gather" => 2.0 * out + of(1),
        "scatter" => {
            let operands = one.operands.len() / 2;
            let updates: f64 = (operands + 1..one.operands.len()).map(of).sum();
            3.0 * updates + of(operands)
        }
        "cholesky" => of(0),
        "triangular-solve" => out + of(0) / 2.0 + of(1),
        _ => out + (0..one.operands.len()).map(of).sum::<f64>(),
    }
}

/// Bytes of a fusion: what it writes, what it reads of each parameter, and large constants in it.
fn fusion_bytes(around: &Inside<'_>, one: &Instruction, inners: &[Inner]) -> f64 {
    let Some(inner) = called(one, 0, inners) else {
        return bytes(around, one);
    };
    let written = inner.written.unwrap_or_else(|| one.shape.bytes());
    written + inner.read.iter().sum::<f64>() + inner.constants
}
