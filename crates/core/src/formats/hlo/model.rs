//! A compiled program in memory: the same whether it was read from a proto or from text.
//! A little over 400 lines with its tests.

use super::buffers::Buffers;
use super::frames::Frame;
use super::head::Head;
use super::shape::Shape;
use super::shared::{Ids, Name};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// No instruction: an operand that the file names and does not have.
pub const MISSING: u32 = u32::MAX;

/// What a file was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Written {
    /// `HloProto`: a module, and after compilation its buffers.
    #[default]
    Proto,
    /// A bare `HloModuleProto`.
    Module,
    /// `HloSnapshot`: a module with the values it was called with.
    Snapshot,
    /// Text.
    Text,
}

impl Written {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Written::Proto => "proto",
            Written::Module => "bare module",
            Written::Snapshot => "snapshot",
            Written::Text => "text",
        }
    }
}

/// A module.
#[derive(Debug, Default)]
pub struct Module {
    /// Its name: `jit_train_step`.
    pub name: String,
    /// Its number; text says none.
    pub id: Option<i64>,
    /// What it was read from.
    pub written: Written,
    /// Whether its instructions are in the order in which they run.
    pub scheduled: bool,
    /// Its devices, and what it may write over.
    pub head: Head,
    /// The computation that is called first.
    pub entry: Option<usize>,
    /// All computations.
    pub computations: Vec<Computation>,
    /// The instructions of all computations, one computation after the other.
    pub instructions: Vec<Instruction>,
    /// Calls of Python; parents come by their number from 1.
    pub frames: Vec<Frame>,
    /// Memory, where the file says something of it.
    pub buffers: Option<Buffers>,
    /// Operands and computations that are named and not there.
    pub dangling: u64,
    /// Fields that this version does not know.
    pub unknown_fields: u64,
    /// Lines of text that could not be understood.
    pub lost: u64,
    /// Whether a text ends inside a computation.
    pub cut: bool,
}

/// A computation.
#[derive(Debug, Default)]
pub struct Computation {
    /// Its name.
    pub name: String,
    /// Its number in a proto.
    pub id: i64,
    /// Its instructions, in [`Module::instructions`].
    pub instructions: Range<usize>,
    /// The instruction whose value it returns.
    pub root: Option<usize>,
}

/// An instruction.
#[derive(Debug, Default)]
pub struct Instruction {
    /// Its name, unique in its module.
    pub name: Name,
    /// What it does: `add`, `fusion`, `custom-call`.
    pub opcode: Cow<'static, str>,
    /// What it makes.
    pub shape: Arc<Shape>,
    /// Its operands, in [`Module::instructions`], or [`MISSING`].
    pub operands: Ids,
    /// The computations that it calls, in [`Module::computations`]; a loop's body comes before its condition.
    pub called: Vec<u32>,
    /// Number of a parameter, or of the element that is taken from a tuple; value of a constant that is one integer.
    pub number: Option<i64>,
    /// Its number in a proto, by which buffers name it.
    pub id: i64,
    /// Dimensions that it works along.
    pub dimensions: Vec<i64>,
    /// The framework's name of the op; may be empty.
    pub op_name: Arc<str>,
    /// Number of its innermost call in [`Module::frames`], from 1; 0 for none.
    pub frame: u32,
    /// Hash of the attributes that are not kept, such as the values of a constant or the bounds of a slice; it can
    /// be compared between protos and between texts.
    pub digest: u64,
    /// What only some instructions say.
    pub more: Option<Arc<More>>,
}

/// What only some instructions say.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub struct More {
    /// The framework's type of the op.
    pub op_type: String,
    /// Window of a convolution or reduction.
    pub window: Vec<WindowDim>,
    /// Which dimensions of a convolution mean what.
    pub convolution: Option<Convolution>,
    /// Dimensions that a dot adds up, of its left operand.
    pub contracted: Vec<i64>,
    /// Groups of features and of the batch; 0 for one.
    pub groups: (i64, i64),
    /// Lengths of a Fourier transform.
    pub fft: Vec<i64>,
    /// `kLoop`, `kInput`, `kOutput` or `kCustom`.
    pub fusion_kind: String,
    /// What a custom call calls.
    pub target: String,
    /// How a comparison compares.
    pub direction: String,
    /// What the backend was told, as JSON; empty if it is no text.
    pub config: String,
    /// Over which devices the value is spread.
    pub sharding: String,
    /// Number of the channel of a collective.
    pub channel: Option<i64>,
    /// Instructions that must be done before, without being operands.
    pub after: Vec<u32>,
}

/// One dimension of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WindowDim {
    /// Size.
    pub size: i64,
    /// Step.
    pub stride: i64,
    /// Padding before and behind; may be negative.
    pub padding: (i64, i64),
    /// Dilation of the window.
    pub dilation: i64,
    /// Dilation of what it slides over.
    pub base_dilation: i64,
}

impl Default for WindowDim {
    fn default() -> Self {
        WindowDim { size: 1, stride: 1, padding: (0, 0), dilation: 1, base_dilation: 1 }
    }
}

/// Which dimensions of a convolution mean what.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub struct Convolution {
    /// Batch and features of the input.
    pub input: (i64, i64),
    /// Features of the output.
    pub output_feature: i64,
    /// Spatial dimensions of input, kernel and output.
    pub spatial: [Vec<i64>; 3],
}

/// Opcodes that every version has; others are kept as text of their own.
static OPCODES: &[&str] = &[
    "abs", "add", "add-dependency", "after-all", "all-gather", "all-gather-done", "all-gather-start",
    "all-reduce", "all-reduce-done", "all-reduce-start", "all-to-all", "and", "async-done", "async-start",
    "async-update", "atan2", "batch-norm-grad", "batch-norm-inference", "batch-norm-training", "bitcast",
    "bitcast-convert", "broadcast", "call", "cbrt", "ceil", "cholesky", "clamp", "collective-broadcast",
    "collective-permute", "collective-permute-done", "collective-permute-start", "compare", "complex",
    "concatenate", "conditional", "constant", "convert", "convolution", "copy", "copy-done", "copy-start",
    "cosine", "count-leading-zeros", "custom-call", "divide", "domain", "dot", "dynamic-reshape",
    "dynamic-slice", "dynamic-update-slice", "erf", "exponential", "exponential-minus-one", "fft", "floor",
    "fusion", "gather", "get-dimension-size", "get-tuple-element", "imag", "infeed", "iota", "is-finite",
    "log", "log-plus-one", "logistic", "map", "maximum", "minimum", "multiply", "negate", "not",
    "opt-barrier", "or", "outfeed", "pad", "parameter", "partition-id", "popcnt", "power",
    "ragged-all-to-all", "ragged-dot", "real", "recv", "recv-done", "reduce", "reduce-precision",
    "reduce-scatter", "reduce-window", "remainder", "replica-id", "reshape", "reverse", "rng",
    "rng-bit-generator", "rng-get-and-update-state", "round-nearest-afz", "round-nearest-even", "rsqrt",
    "scan", "scatter", "select", "select-and-scatter", "send", "send-done", "set-dimension-size",
    "shift-left", "shift-right-arithmetic", "shift-right-logical", "sign", "sine", "slice", "sort", "sqrt",
    "stochastic-convert", "subtract", "tan", "tanh", "topk", "transpose", "triangular-solve", "tuple",
    "while", "xor",
];

/// An opcode; most take no memory.
pub fn opcode(name: &str) -> Cow<'static, str> {
    match OPCODES.binary_search(&name) {
        Ok(at) => Cow::Borrowed(OPCODES[at]),
        Err(_) => Cow::Owned(name.to_owned()),
    }
}

impl Instruction {
    /// Fills in what only some instructions say.
    pub fn more(&mut self) -> &mut More {
        Arc::make_mut(self.more.get_or_insert_default())
    }

    /// How often a loop goes round, where the compiler has found out and says so.
    pub(super) fn known_trip_count(&self) -> Option<u64> {
        let config = &self.more.as_ref()?.config;
        let (_, behind) = config.split_once("\"known_trip_count\"")?;
        let (_, behind) = behind.split_once("\"n\"")?;
        let digits = behind.trim_start_matches([':', ' ', '"']);
        let end = digits.find(|one: char| !one.is_ascii_digit());
        digits[..end.unwrap_or(digits.len())].parse().ok()
    }
}

impl Module {
    /// File and line of the call that made an instruction, and the function around it.
    pub fn place(&self, of: &Instruction) -> Option<&Frame> {
        self.frames.get((of.frame as usize).checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_are_in_order() {
        assert!(OPCODES.is_sorted());
        assert!(matches!(opcode("fusion"), Cow::Borrowed("fusion")));
        assert!(matches!(opcode("new-thing"), Cow::Owned(_)));
    }

    #[test]
    fn the_trip_count_is_in_the_configuration() {
        let mut one = Instruction::default();
        assert_eq!(one.known_trip_count(), None);
        one.more().config = r#"{"known_trip_count":{"n":"32"},"x":1}"#.into();
        assert_eq!(one.known_trip_count(), Some(32));
        one.more().config = r#"{"known_trip_count": {"n": 7}}"#.into();
        assert_eq!(one.known_trip_count(), Some(7));
    }
}
