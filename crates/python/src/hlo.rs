//! Instructions of compiled programs, for Python. Signature and its meaning: `_core.pyi`.

use crate::free;
use pyo3::prelude::*;
use stepscope_core::formats::hlo;

type Instruction = (String, String, String, u32);
type Frame = (String, i32, String, u32);

#[pyfunction]
pub fn hlo_instructions(
    py: Python<'_>,
    data: &[u8],
) -> PyResult<(String, Vec<Instruction>, Vec<Frame>)> {
    let found = free(py, || hlo::program(data))?;
    let instructions = found.instructions.into_iter();
    let frames = found.frames.into_iter();
    Ok((
        found.module,
        instructions
            .map(|one| (one.name, one.opcode, one.op_name, one.frame))
            .collect(),
        frames
            .map(|one| (one.file, one.line, one.function, one.parent))
            .collect(),
    ))
}
