//! Column chunks of numbers and truths: a dictionary when few are distinct, deltas otherwise.

use super::page::{Chunk, Encoding, Packer, Pages, levels};
use super::{Kind, Limits, distinct, packing, statistics};
use crate::error::{Error, Kind as Failure, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use std::ops::Range;

/// Rows that are looked at to tell whether a dictionary may pay.
const SAMPLE: usize = 1024;
/// Most entries of a dictionary of numbers.
const ENTRIES: usize = 1 << 15;

/// The numbers of a chunk as their 64 bits, without those that are missing.
pub struct Numbers {
    values: Vec<u64>,
    nulls: Option<NullBuffer>,
    rows: usize,
}

fn wrong(value: impl std::fmt::Display, kind: Kind) -> Error {
    Error::new(
        Failure::Limit,
        format!("{value} in a column of {kind:?}, which cannot hold it"),
    )
}

fn signed(value: i64, kind: Kind, add: i64) -> Result<u64> {
    let value = value.checked_add(add).ok_or_else(|| wrong(value, kind))?;
    match kind {
        Kind::I64 => Ok(value as u64),
        Kind::I32 => i32::try_from(value)
            .map(|value| value as i64 as u64)
            .map_err(|_| wrong(value, kind)),
        Kind::F64 => Ok((value as f64).to_bits()),
        Kind::Bool | Kind::Text => Err(wrong(value, kind)),
    }
}

impl Numbers {
    /// Counted numbers.
    pub fn counted(range: Range<i64>, add: i64) -> Result<Numbers> {
        let last = range.end.checked_add(add);
        last.ok_or_else(|| wrong(range.end, Kind::I64))?;
        Ok(Numbers {
            rows: (range.end - range.start) as usize,
            values: range.map(|row| (row + add) as u64).collect(),
            nulls: None,
        })
    }

    /// The numbers of a column, each with `add` added to it.
    pub fn read(array: &ArrayRef, kind: Kind, add: i64) -> Result<Numbers> {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        let rows = array.len();
        let there = |row: &usize| nulls.is_none_or(|nulls| nulls.is_valid(*row));
        let values: Result<Vec<u64>> = match (array.data_type(), kind) {
            _ if array.null_count() == rows => Ok(Vec::new()),
            // What is nearly always so, in loops that processors run side by side.
            (DataType::Int64, Kind::I64) if nulls.is_none() => {
                let values = array.as_primitive::<Int64Type>().values();
                let bounds = values.iter().min().zip(values.iter().max());
                if let Some((least, most)) = bounds {
                    signed(*least, kind, add)?;
                    signed(*most, kind, add)?;
                }
                Ok(values.iter().map(|value| (value + add) as u64).collect())
            }
            (DataType::Int32, Kind::I64) if nulls.is_none() && add.unsigned_abs() < 1 << 62 => {
                let values = array.as_primitive::<Int32Type>().values();
                let values = values.iter();
                Ok(values
                    .map(|value| (i64::from(*value) + add) as u64)
                    .collect())
            }
            (DataType::Int64, Kind::I64 | Kind::I32 | Kind::F64) => {
                let values = array.as_primitive::<Int64Type>().values();
                let rows = (0..rows).filter(there);
                rows.map(|row| signed(values[row], kind, add)).collect()
            }
            (DataType::Int32, Kind::I64 | Kind::I32 | Kind::F64) => {
                let values = array.as_primitive::<Int32Type>().values();
                let rows = (0..rows).filter(there);
                rows.map(|row| signed(i64::from(values[row]), kind, add))
                    .collect()
            }
            (DataType::UInt64, Kind::I64 | Kind::I32) => {
                let values = array.as_primitive::<UInt64Type>().values();
                let narrow = |value: u64| i64::try_from(value).map_err(|_| wrong(value, kind));
                let rows = (0..rows).filter(there);
                rows.map(|row| signed(narrow(values[row])?, kind, add))
                    .collect()
            }
            (DataType::Float64, Kind::F64) => {
                let values = array.as_primitive::<Float64Type>().values();
                let rows = (0..rows).filter(there);
                Ok(rows.map(|row| values[row].to_bits()).collect())
            }
            (DataType::Boolean, Kind::Bool) => {
                let values = array.as_boolean().values();
                let rows = (0..rows).filter(there);
                Ok(rows.map(|row| u64::from(values.value(row))).collect())
            }
            (found, _) => return Err(wrong(format!("a value of type {found}"), kind)),
        };
        Ok(Numbers {
            values: values?,
            nulls: nulls.cloned(),
            rows,
        })
    }

    /// The chunk.
    pub fn encode(&self, kind: Kind, limits: Limits, packer: &mut Packer) -> Result<Chunk> {
        let statistics = statistics::numbers(kind, &self.values, self.rows - self.values.len());
        let values = &self.values;
        let mut pages = Pages::new(packer);
        let encoding = match kind {
            Kind::Bool => {
                self.pages(&mut pages, limits, Encoding::Plain, |body, range| {
                    for eight in values[range].chunks(8) {
                        let bits = eight.iter().enumerate();
                        body.push(bits.fold(0, |byte, (i, bit)| byte | (*bit as u8) << i));
                    }
                })?;
                Encoding::Plain
            }
            _ => match self.dictionary(kind) {
                Some((codes, distinct)) => {
                    let width = packing::width(distinct.len() as u64 - 1).max(1);
                    pages.dictionary(distinct.len(), |body| plain(body, kind, &distinct))?;
                    self.pages(&mut pages, limits, Encoding::Dictionary, |body, range| {
                        body.push(width as u8);
                        packing::hybrid(body, &codes[range], width);
                    })?;
                    Encoding::Dictionary
                }
                None if kind == Kind::F64 || values.is_empty() => {
                    self.pages(&mut pages, limits, Encoding::Plain, |body, range| {
                        plain(body, kind, &values[range]);
                    })?;
                    Encoding::Plain
                }
                None => {
                    let mut signed = Vec::new();
                    self.pages(&mut pages, limits, Encoding::Deltas, |body, range| {
                        signed.clear();
                        signed.extend(values[range].iter().map(|value| *value as i64));
                        packing::deltas(body, &signed, kind == Kind::I32);
                    })?;
                    Encoding::Deltas
                }
            },
        };
        Ok(pages.finish(encoding, statistics))
    }

    /// Codes and distinct values, when that is smaller than deltas or plain values.
    fn dictionary(&self, kind: Kind) -> Option<(Vec<u32>, Vec<u64>)> {
        let values = &self.values;
        let first = values.first()?;
        if values.iter().all(|value| value == first) {
            return Some((vec![0; values.len()], vec![*first]));
        }
        let step = values.len().div_ceil(SAMPLE);
        let sample: Vec<u64> = values.iter().step_by(step).copied().collect();
        distinct::codes(&sample, sample.len() / 2)?;
        let (codes, distinct) = distinct::codes(values, ENTRIES.min(values.len() / 2))?;
        let width = u64::from(packing::width(distinct.len() as u64 - 1));
        let bits = distinct.len() as u64 * 64 + values.len() as u64 * width;
        let others = if kind == Kind::F64 {
            values.len() as u64 * 64
        } else {
            delta_bits(values)
        };
        (bits < others).then_some((codes, distinct))
    }

    /// Cuts the rows into pages; `fill` writes the values of a range.
    fn pages(
        &self,
        pages: &mut Pages<'_>,
        limits: Limits,
        encoding: Encoding,
        mut fill: impl FnMut(&mut Vec<u8>, Range<usize>),
    ) -> Result<()> {
        let nulls = self.nulls.as_ref();
        let mut at = 0;
        for row in (0..self.rows).step_by(limits.page_rows) {
            let rows = row..self.rows.min(row + limits.page_rows);
            let missing = nulls.map_or(0, |nulls| nulls.slice(row, rows.len()).null_count());
            let there = at..at + rows.len() - missing;
            at = there.end;
            pages.data(encoding, rows.len(), |body| {
                levels(body, nulls, rows);
                // Readers want what an encoding begins with even where all rows are NULL.
                fill(body, there);
            })?;
        }
        Ok(())
    }
}

fn plain(body: &mut Vec<u8>, kind: Kind, values: &[u64]) {
    for value in values {
        match kind {
            Kind::I32 => body.extend_from_slice(&(*value as u32).to_le_bytes()),
            _ => body.extend_from_slice(&value.to_le_bytes()),
        }
    }
}

/// About the size of the deltas in bits: the width of each run of 32.
fn delta_bits(values: &[u64]) -> u64 {
    let mut bits = 0;
    for run in values.chunks(33) {
        let deltas = run
            .windows(2)
            .map(|pair| pair[1].wrapping_sub(pair[0]) as i64);
        let (least, most) = deltas.fold((i64::MAX, i64::MIN), |(least, most), delta| {
            (least.min(delta), most.max(delta))
        });
        if run.len() > 1 {
            let width = packing::width(most.wrapping_sub(least) as u64);
            bits += 32 * u64::from(width) + 24;
        }
    }
    bits
}
