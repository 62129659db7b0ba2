//! Pickles of plain values: what `pickle.dumps` makes of dicts, lists, tuples, numbers, text and bytes.
//!
//! Protocols 2 to 5, as Python's `pickletools` describes them. Names of Python objects, and calls of them, have no
//! meaning here: a pickle that holds one is refused, so that a foreign file runs nothing.

use crate::raise;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::collections::HashMap;
use stepscope_core::error::{Error, Kind};

/// Lists, tuples and dicts that one pickle may hold; each takes some hundred bytes.
const MOST_CONTAINERS: usize = 16_000_000;
/// Values that one pickle may hold.
const MOST_VALUES: usize = 100_000_000;
/// Values between two looks at whether the user pressed Ctrl-C.
const BREATH: usize = 1 << 20;

/// The value that a pickle stands for. CoreError when it is damaged, too large, or holds more than plain values.
#[pyfunction]
pub fn unpickle<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let mut machine = Machine {
        py,
        data,
        at: 0,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
        values: 0,
        containers: 0,
    };
    machine.run()
}

struct Machine<'py, 'd> {
    py: Python<'py>,
    data: &'d [u8],
    at: usize,
    stack: Vec<Bound<'py, PyAny>>,
    /// Heights of the stack where lists of values begin.
    marks: Vec<usize>,
    memo: HashMap<u32, Bound<'py, PyAny>>,
    values: usize,
    containers: usize,
}

impl<'py> Machine<'py, '_> {
    fn run(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        loop {
            let start = self.at;
            let [code] = self.take::<1>()?;
            match code {
                b'.' => return self.pop(),
                0x80 => drop(self.take::<1>()?), // the protocol
                0x95 => drop(self.take::<8>()?), // a frame, for those who read ahead
                b'(' => self.marks.push(self.stack.len()),
                b'0' => drop(self.pop()?),
                b'1' => drop(self.marked()?),
                b'N' => self.push(py.None().into_bound(py))?,
                0x88 | 0x89 => self.push(PyBool::new(py, code == 0x88).to_owned().into_any())?,
                b'K' => {
                    let [byte] = self.take()?;
                    self.integer(byte.into())?;
                }
                b'M' => {
                    let bytes = self.take()?;
                    self.integer(u16::from_le_bytes(bytes).into())?;
                }
                b'J' => {
                    let bytes = self.take()?;
                    self.integer(i32::from_le_bytes(bytes).into())?;
                }
                0x8a => self.long()?,
                b'G' => {
                    let bytes = self.take()?;
                    self.push(PyFloat::new(py, f64::from_be_bytes(bytes)).into_any())?;
                }
                0x8c => self.text::<1>()?,
                b'X' => self.text::<4>()?,
                0x8d => self.text::<8>()?,
                b'C' => self.bytes::<1>()?,
                b'B' => self.bytes::<4>()?,
                0x8e => self.bytes::<8>()?,
                b')' => self.tuple(0)?,
                0x85..=0x87 => self.tuple(usize::from(code) - 0x84)?,
                b't' => {
                    let mark = self.mark()?;
                    self.tuple(self.stack.len() - mark)?;
                }
                b']' => self.contain(PyList::empty(py).into_any())?,
                b'l' => {
                    let items = self.marked()?;
                    self.contain(PyList::new(py, items)?.into_any())?;
                }
                b'a' => {
                    let item = self.pop()?;
                    self.top::<PyList>()?.append(item)?;
                }
                b'e' => {
                    let items = self.marked()?;
                    let list = self.top::<PyList>()?;
                    items.into_iter().try_for_each(|item| list.append(item))?;
                }
                b'}' => self.contain(PyDict::new(py).into_any())?,
                b'd' => {
                    let items = self.marked()?;
                    self.contain(PyDict::new(py).into_any())?;
                    self.set(items)?;
                }
                b's' => {
                    let (value, key) = (self.pop()?, self.pop()?);
                    self.set(vec![key, value])?;
                }
                b'u' => {
                    let items = self.marked()?;
                    self.set(items)?;
                }
                b'q' => {
                    let [place] = self.take()?;
                    self.keep(place.into())?;
                }
                b'r' => {
                    let bytes = self.take()?;
                    self.keep(u32::from_le_bytes(bytes))?;
                }
                0x94 => self.keep(u32::try_from(self.memo.len()).unwrap_or(u32::MAX))?,
                b'h' => {
                    let [place] = self.take()?;
                    self.recall(place.into())?;
                }
                b'j' => {
                    let bytes = self.take()?;
                    self.recall(u32::from_le_bytes(bytes))?;
                }
                _ => {
                    let name = char::from(code).escape_default();
                    return Err(self.damaged(start, format!("what is no plain value, opcode '{name}'")));
                }
            }
        }
    }

    fn take<const SIZE: usize>(&mut self) -> PyResult<[u8; SIZE]> {
        let end = self.at.saturating_add(SIZE);
        let found = self.data.get(self.at..end).and_then(|part| part.try_into().ok());
        let found = found.ok_or_else(|| self.damaged(self.at, "the end of the file within a value"))?;
        self.at = end;
        Ok(found)
    }

    /// As many bytes as a length says, which itself has SIZE of them.
    fn part<const SIZE: usize>(&mut self) -> PyResult<&[u8]> {
        let mut whole = [0; 8];
        whole[..SIZE].copy_from_slice(&self.take::<SIZE>()?);
        let size = usize::try_from(u64::from_le_bytes(whole)).unwrap_or(usize::MAX);
        let start = self.at;
        let end = start.saturating_add(size);
        if end > self.data.len() {
            return Err(self.damaged(start, format!("{size} bytes of a value, of which some are missing")));
        }
        self.at = end;
        Ok(&self.data[start..end])
    }

    fn push(&mut self, value: Bound<'py, PyAny>) -> PyResult<()> {
        self.values += 1;
        if self.values.is_multiple_of(BREATH) {
            self.py.check_signals()?;
        }
        if self.values > MOST_VALUES {
            return Err(self.limit(format!("more than {MOST_VALUES} values")));
        }
        self.stack.push(value);
        Ok(())
    }

    fn contain(&mut self, value: Bound<'py, PyAny>) -> PyResult<()> {
        self.containers += 1;
        if self.containers > MOST_CONTAINERS {
            return Err(self.limit(format!("more than {MOST_CONTAINERS} lists and dicts")));
        }
        self.push(value)
    }

    fn integer(&mut self, value: i64) -> PyResult<()> {
        self.push(PyInt::new(self.py, value).into_any())
    }

    /// An integer in two's complement, the least byte first.
    fn long(&mut self) -> PyResult<()> {
        let start = self.at;
        let part = self.part::<1>()?.to_vec();
        if part.len() > 16 {
            return Err(self.damaged(start, format!("an integer of {} bytes", part.len())));
        }
        let negative = part.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut whole = if negative { [0xff; 16] } else { [0; 16] };
        whole[..part.len()].copy_from_slice(&part);
        let value = i128::from_le_bytes(whole).into_pyobject(self.py)?;
        self.push(value.into_any())
    }

    fn text<const SIZE: usize>(&mut self) -> PyResult<()> {
        let py = self.py;
        let text = String::from_utf8_lossy(self.part::<SIZE>()?).into_owned();
        self.push(PyString::new(py, &text).into_any())
    }

    fn bytes<const SIZE: usize>(&mut self) -> PyResult<()> {
        let py = self.py;
        let bytes = PyBytes::new(py, self.part::<SIZE>()?).into_any();
        self.push(bytes)
    }

    fn tuple(&mut self, items: usize) -> PyResult<()> {
        let floor = self.floor();
        let start = self.stack.len().checked_sub(items).filter(|start| *start >= floor);
        let start = start.ok_or_else(|| self.damaged(self.at, "a tuple of more values than there are"))?;
        let items = self.stack.split_off(start);
        let tuple = PyTuple::new(self.py, items)?;
        self.contain(tuple.into_any())
    }

    /// Where the values above the last mark begin; what lies below is not to be taken.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let is_there = self.stack.len() > self.floor();
        let value = if is_there { self.stack.pop() } else { None };
        value.ok_or_else(|| self.damaged(self.at, "a value that is not there"))
    }

    fn mark(&mut self) -> PyResult<usize> {
        let mark = self.marks.pop().filter(|mark| *mark <= self.stack.len());
        mark.ok_or_else(|| self.damaged(self.at, "the end of a list that never began"))
    }

    /// The values since the last mark.
    fn marked(&mut self) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mark = self.mark()?;
        Ok(self.stack.split_off(mark))
    }

    fn top<T: pyo3::type_object::PyTypeCheck>(&self) -> PyResult<&Bound<'py, T>> {
        let top = self.stack.last().and_then(|value| value.cast::<T>().ok());
        top.ok_or_else(|| self.damaged(self.at, "items of what has none"))
    }

    /// Keys and values of the dict on top. Keys are plain, so that none takes long to compare.
    fn set(&mut self, items: Vec<Bound<'py, PyAny>>) -> PyResult<()> {
        let dict = self.top::<PyDict>()?;
        let mut items = items.into_iter();
        while let Some(key) = items.next() {
            let is_plain = key.is_none()
                || key.is_instance_of::<PyString>()
                || key.is_instance_of::<PyInt>()
                || key.is_instance_of::<PyBytes>();
            let Some(value) = items.next().filter(|_| is_plain) else {
                return Err(self.damaged(self.at, "a key that is no text and no number, or has no value"));
            };
            dict.set_item(key, value)?;
        }
        Ok(())
    }

    fn keep(&mut self, place: u32) -> PyResult<()> {
        let top = self.stack.last().cloned();
        let top = top.ok_or_else(|| self.damaged(self.at, "a value that is not there"))?;
        self.memo.insert(place, top);
        Ok(())
    }

    fn recall(&mut self, place: u32) -> PyResult<()> {
        let found = self.memo.get(&place).cloned();
        let found =
            found.ok_or_else(|| self.damaged(self.at, format!("value {place}, which was not kept")))?;
        self.push(found)
    }

    fn damaged(&self, at: usize, seen: impl Into<String>) -> PyErr {
        raise(self.py, Error::at(Kind::Damaged, at as u64, seen))
    }

    fn limit(&self, seen: String) -> PyErr {
        raise(self.py, Error::at(Kind::Limit, self.at as u64, seen))
    }
}
