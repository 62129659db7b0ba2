//! Samples of stacks, of which successive ones share calls, as slices written down for Chrome's decoder.

use crate::go_on;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PySequence, PyString};
use std::io::Write;

/// Bytes that are handed over at once.
const AT_ONCE: usize = 1 << 20;
/// Names whose beginnings are kept.
const MOST_TEXTS: usize = 1 << 17;
/// The longest time from the origin to the end of a slice, in picoseconds.
const FITS: i128 = 1 << 62;
/// Stands for times that no number here holds.
const BEYOND: i128 = 1 << 120;

/// How many slices there were, how many of them end before they begin, how many lie too far from the origin;
/// and the origin.
type Counts = (u64, u64, u64, Option<i128>);

#[pyfunction]
pub fn stack_slices(
    samples: &Bound<'_, PyAny>,
    begun: &Bound<'_, PyAny>,
    take: &Bound<'_, PyAny>,
    origin_ps: Option<i128>,
    most_depth: usize,
    most: u64,
) -> PyResult<Counts> {
    let mut slices = Slices {
        begun,
        take,
        texts: PyDict::new(samples.py()),
        out: Vec::with_capacity(AT_ONCE + 4096),
        open: Vec::new(),
        last_ps: 0,
        origin_ps,
        seen: 0,
        lost: 0,
        far: 0,
        most,
    };
    let mut before: Option<Bound<'_, PyAny>> = None;
    for sample in samples.try_iter()? {
        let (stack, start, end): (Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>) =
            sample?.extract()?;
        let same = before.is_some_and(|before| before.is(&stack));
        slices.sample(stack.cast()?, same, ps(&start)?, ps(&end)?, most_depth)?;
        before = Some(stack);
        if slices.seen > most {
            break; // the caller says so
        }
    }
    slices.close(0)?;
    slices.flush()?;
    Ok((slices.seen, slices.lost, slices.far, slices.origin_ps))
}

/// A whole number of picoseconds.
fn ps(value: &Bound<'_, PyAny>) -> PyResult<i128> {
    if let Ok(found) = value.extract::<i64>() {
        return Ok(found.into());
    }
    match value.extract::<i128>() {
        Ok(found) => Ok(found.clamp(-BEYOND, BEYOND)),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            Ok(if value.lt(0)? { -BEYOND } else { BEYOND })
        }
        Err(error) => Err(error),
    }
}

struct Slices<'a, 'py> {
    /// Writes a slice of a name up to its times.
    begun: &'a Bound<'py, PyAny>,
    /// Takes what is written.
    take: &'a Bound<'py, PyAny>,
    /// What `begun` wrote, by name.
    texts: Bound<'py, PyDict>,
    out: Vec<u8>,
    /// Calls that go on, the outermost first, and since when.
    open: Vec<(Bound<'py, PyAny>, i128)>,
    last_ps: i128,
    origin_ps: Option<i128>,
    seen: u64,
    lost: u64,
    far: u64,
    most: u64,
}

impl<'py> Slices<'_, 'py> {
    /// Ends the calls that are not in this stack, and begins those that were not in the last one. same: this
    /// is the last one again.
    fn sample(
        &mut self,
        stack: &Bound<'py, PySequence>,
        same: bool,
        start_ps: i128,
        end_ps: i128,
        most_depth: usize,
    ) -> PyResult<()> {
        let follows = start_ps == self.last_ps;
        if !(same && follows) {
            let depth = stack.len()?.min(most_depth);
            let mut kept = 0;
            while follows && kept < depth.min(self.open.len()) {
                let frame = stack.get_item(kept)?;
                let name = &self.open[kept].0;
                if !(name.is(&frame) || name.eq(&frame)?) {
                    break;
                }
                kept += 1;
            }
            self.close(kept)?;
            for place in kept..depth {
                self.open.push((stack.get_item(place)?, start_ps));
            }
        }
        self.last_ps = end_ps;
        Ok(())
    }

    /// Writes all but the first calls down. Of slices that begin and end together, the first one written is the
    /// outermost.
    fn close(&mut self, first: usize) -> PyResult<()> {
        for place in first..self.open.len() {
            let (name, since_ps) = &self.open[place];
            let (since_ps, text) = (*since_ps, self.text(name)?);
            self.write(text.to_str()?, since_ps);
            if self.seen > self.most {
                break;
            }
        }
        self.open.truncate(first);
        if self.out.len() >= AT_ONCE {
            self.flush()?;
        }
        Ok(())
    }

    fn text(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        if let Some(text) = self.texts.get_item(name)? {
            return Ok(text.cast_into()?);
        }
        let text = self.begun.call1((name,))?;
        if self.texts.len() < MOST_TEXTS {
            self.texts.set_item(name, &text)?;
        }
        Ok(text.cast_into()?)
    }

    fn write(&mut self, text: &str, start_ps: i128) {
        self.seen += 1;
        let length = self.last_ps - start_ps;
        let start = start_ps - *self.origin_ps.get_or_insert(start_ps);
        if length < 0 {
            self.lost += 1;
        } else if start.abs() + length > FITS {
            self.far += 1;
        } else if self.seen <= self.most {
            self.out.extend_from_slice(b",\n");
            self.out.extend_from_slice(text.as_bytes());
            self.out.extend_from_slice(b", \"ts\": ");
            if start < 0 {
                self.out.push(b'-');
            }
            self.microseconds(start.unsigned_abs() as u64);
            self.out.extend_from_slice(b", \"dur\": ");
            self.microseconds(length as u64);
            self.out.push(b'}');
        }
    }

    fn microseconds(&mut self, ps: u64) {
        let (whole, rest) = (ps / 1_000_000, ps % 1_000_000);
        write!(self.out, "{whole}.{rest:06}").expect("memory takes everything");
    }

    fn flush(&mut self) -> PyResult<()> {
        let py = self.texts.py();
        if !self.out.is_empty() {
            self.take.call1((PyBytes::new(py, &self.out),))?;
            self.out.clear();
        }
        go_on(py)
    }
}
