//! The computation of a long text that is being read, and what is kept of its instructions until its end.

use super::super::frames::Frame;
use super::super::inner::{Around, Open};
use super::super::model::Instruction;
use super::super::names::Names;
use super::super::shape::Shape;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The computation that is being read.
#[derive(Default)]
pub(super) struct Local {
    pub(super) names: Names,
    pub(super) shapes: Vec<Arc<Shape>>,
    pub(super) wholes: FxHashMap<u32, Instruction>,
}

impl Around for Local {
    fn shape(&self, at: u32) -> Option<&Shape> {
        self.shapes.get(at as usize).map(|it| &**it)
    }

    fn whole(&self, at: u32) -> Option<&Instruction> {
        self.wholes.get(&at)
    }

    fn is_own(&self, _: u32) -> bool {
        true
    }
}

/// A computation while it is read.
pub(super) struct Inside<'a> {
    pub(super) number: usize,
    pub(super) name: &'a str,
    pub(super) frames: &'a [Frame],
    pub(super) local: Local,
    pub(super) open: Open,
    pub(super) root: Option<u32>,
    pub(super) root_name: String,
    /// Operands that are not known yet.
    pub(super) later: FxHashSet<Vec<u8>>,
    /// Control predecessors that are not known yet.
    pub(super) after: Vec<Vec<u8>>,
    pub(super) by_line: bool,
}

/// Of an instruction, what others ask it.
pub(super) fn kept(one: &Instruction) -> Instruction {
    Instruction {
        opcode: one.opcode.clone(),
        shape: Arc::clone(&one.shape),
        operands: one.operands.clone(),
        number: one.number,
        more: one.more.clone().filter(|_| one.opcode == "compare"),
        ..Instruction::default()
    }
}

/// Numbers and shapes of the parameters, in their order.
pub(super) fn parameters(local: &Local) -> Vec<(Option<i64>, &Shape)> {
    let mut found: Vec<(Option<i64>, u32)> = (local.wholes.iter())
        .filter(|(_, one)| one.opcode == "parameter")
        .map(|(&at, one)| (one.number, at))
        .collect();
    found.sort_unstable();
    (found.into_iter())
        .map(|(number, at)| (number, &*local.shapes[at as usize]))
        .collect()
}
