//! The Python calls that made the instructions of a program, and what reading its messages takes.
//!
//! Fields (`hlo.proto`): `StackFrameIndexProto`: `file_names` 1, `function_names` 2, `file_locations` 3 (file 1,
//! function 2, line 3) and `stack_frames` 4 (location 1, parent 2), all numbered from 1.

use crate::error::{Error, Kind, Result};
use crate::proto::wire::{Damage, Field};

/// A Python call.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Frame {
    /// File.
    pub file: String,
    /// Line in it; 0 if unknown.
    pub line: i32,
    /// Function; may be empty.
    pub function: String,
    /// Number of the call around it, from 1; 0 for none.
    pub parent: u32,
}

/// What TensorFlow writes as the place of an op: its own file that makes every op, or no file at all.
const OF_NOBODY: [&str; 3] =
    ["tensorflow/python/framework/ops.py", "tensorflow\\python\\framework\\ops.py", "dummy_file_name"];

impl Frame {
    /// Whether it says where somebody wrote the op.
    pub(super) fn is_told(&self) -> bool {
        !self.file.is_empty() && !OF_NOBODY.iter().any(|end| self.file.ends_with(end))
    }
}

pub(super) fn damaged(damage: Damage) -> Error {
    Error::at(Kind::Damaged, damage.offset, damage.seen)
}

pub(super) fn text(field: &Field<'_>) -> String {
    field.text().unwrap_or_default().into_owned()
}

pub(super) fn number(field: &Field<'_>) -> u32 {
    field.u64().unwrap_or_default() as u32
}

/// Calls `take` with each field of a message. An error where the bytes contradict themselves.
pub(super) fn each<'a>(field: &Field<'a>, mut take: impl FnMut(Field<'a>) -> Result<()>) -> Result<()> {
    for part in field.message().into_iter().flatten() {
        take(part.map_err(damaged)?)?;
    }
    Ok(())
}

pub(super) fn frames(field: &Field<'_>) -> Result<Vec<Frame>> {
    let (mut files, mut functions) = (Vec::new(), Vec::new());
    let (mut locations, mut calls) = (Vec::new(), Vec::new());
    each(field, |part| {
        match part.number {
            1 => files.push(text(&part)),
            2 => functions.push(text(&part)),
            3 | 4 => {
                let mut numbers = [0_u32; 3];
                each(&part, |inner| {
                    if let 1..=3 = inner.number {
                        numbers[inner.number as usize - 1] = number(&inner);
                    }
                    Ok(())
                })?;
                if part.number == 3 {
                    locations.push(numbers);
                } else {
                    calls.push((numbers[0], numbers[1]));
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    let named = |names: &[String], at: u32| at.checked_sub(1).and_then(|at| names.get(at as usize)).cloned();
    let place = |at: u32| at.checked_sub(1).and_then(|at| locations.get(at as usize)).copied();
    Ok(calls
        .into_iter()
        .map(|(location, parent)| {
            let [file, function, line] = place(location).unwrap_or_default();
            Frame {
                file: named(&files, file).unwrap_or_default(),
                line: line as i32,
                function: named(&functions, function).unwrap_or_default(),
                parent,
            }
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::super::module;
    use super::*;

    fn said(number: u8, body: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, body.len() as u8], body].concat()
    }

    fn long(number: u16, body: &[u8]) -> Vec<u8> {
        let tag = number << 3 | 2;
        [&[(tag & 127) as u8 | 128, (tag >> 7) as u8, body.len() as u8], body].concat()
    }

    #[test]
    fn calls_are_joined_with_their_places() {
        let index = [
            said(1, b"a.py"),
            said(2, b"f"),
            said(2, b"g"),
            said(3, &[8, 1, 16, 2, 24, 7]),
            said(4, &[8, 1]),
            said(4, &[8, 9, 16, 1]),
        ]
        .concat();
        let metadata = [said(2, b"jit(f)/add"), vec![15 << 3, 2]].concat();
        let one = [said(1, b"add.1"), said(2, b"add"), said(7, &metadata)].concat();
        let older = [said(1, b"mul.2"), said(7, &[said(3, b"b.py"), vec![32, 5]].concat())].concat();
        let computation = [said(2, &one), said(2, &older)].concat();
        let said_module = [said(1, b"jit_f"), said(3, &computation), long(17, &index)].concat();
        let found = module(&said(1, &said_module)).expect("a program");
        let frame = |file: &str, line, function: &str, parent| Frame {
            file: file.into(),
            line,
            function: function.into(),
            parent,
        };
        assert_eq!(found.frames, [frame("a.py", 7, "g", 0), frame("", 0, "", 1), frame("b.py", 5, "", 0)]);
        assert_eq!(found.name, "jit_f");
        let names: Vec<_> =
            found.instructions.iter().map(|one| (&*one.name, &*one.op_name, one.frame)).collect();
        assert_eq!(names, [("add.1", "jit(f)/add", 2), ("mul.2", "", 3)]);
    }

    #[test]
    fn damage_is_an_error() {
        assert!(module(&[10, 9, 1]).is_err());
        assert!(module(&said(1, &[26, 99])).is_err());
    }

    #[test]
    fn the_frameworks_own_file_is_no_place() {
        let of = |file: &str| Frame { file: file.into(), ..Frame::default() };
        let own = "/lib/site-packages/tensorflow/python/framework/ops.py";
        for file in ["", "dummy_file_name", own, &own.replace('/', "\\")] {
            assert!(!of(file).is_told(), "{file}");
        }
        assert!(of("/home/me/ops.py").is_told());
        assert!(of("/lib/site-packages/keras/layers/dense.py").is_told());
    }
}
