//! Column chunks of texts. Codes that the store has become the codes of the file, no text is hashed
//! again; texts without codes get some where a sample shows that they repeat. Others are written as
//! lengths and text, which is how Arrow has them.

use super::page::{Chunk, Encoding, Packer, Pages, levels};
use super::statistics::{self, Statistics};
use super::{Limits, distinct, packing};
use crate::error::{Error, Kind, Result};
use crate::store::pool::Pool;
use crate::store::raw::LazyTexts;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int32Array, LargeStringArray, StringArray, StringViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use std::collections::HashSet;
use std::sync::Arc;

/// Rows that are looked at to tell whether texts repeat.
const SAMPLE: usize = 1024;
/// Most text of a dictionary: readers hold it in memory for each chunk.
const DICTIONARY_BYTES: usize = 8 << 20;
/// Store dictionaries up to this size are translated by a table as long as they are.
const DIRECT: usize = 1 << 20;
/// Texts that are longer on average get no bounds: that would cost time, and nobody looks for ranges.
const LONG: usize = 64;

/// A column of texts of any Arrow type.
#[derive(Clone, Copy)]
enum Texts<'a> {
    Small(&'a StringArray),
    Large(&'a LargeStringArray),
    View(&'a StringViewArray),
}

impl<'a> Texts<'a> {
    fn of(array: &'a ArrayRef) -> Result<Texts<'a>> {
        match array.data_type() {
            DataType::Utf8 => Ok(Texts::Small(array.as_string())),
            DataType::LargeUtf8 => Ok(Texts::Large(array.as_string())),
            DataType::Utf8View => Ok(Texts::View(array.as_string_view())),
            other => Err(Error::new(
                Kind::Limit,
                format!("a value of type {other} in a column of texts"),
            )),
        }
    }

    fn len(self) -> usize {
        match self {
            Texts::Small(texts) => texts.len(),
            Texts::Large(texts) => texts.len(),
            Texts::View(texts) => texts.len(),
        }
    }

    fn get(self, row: usize) -> &'a str {
        match self {
            Texts::Small(texts) => texts.value(row),
            Texts::Large(texts) => texts.value(row),
            Texts::View(texts) => texts.value(row),
        }
    }
}

/// A chunk of codes into the texts of the store.
pub fn coded(
    codes: &Int32Array,
    texts: &ArrayRef,
    limits: Limits,
    packer: &mut Packer,
) -> Result<Chunk> {
    let texts = Texts::of(texts)?;
    let nulls = codes.nulls().filter(|nulls| nulls.null_count() > 0);
    let (local, used) = translate(codes, nulls, texts.len())?;
    let values: Vec<&[u8]> = used
        .iter()
        .map(|code| texts.get(*code as usize).as_bytes())
        .collect();
    let bytes: usize = values.iter().map(|text| text.len()).sum();
    let total: usize = local.iter().map(|code| values[*code as usize].len()).sum();
    if pays(&values, bytes, local.len(), total) {
        return dictionary(&local, &values, nulls, codes.len(), limits, packer);
    }
    let texts: Vec<&[u8]> = local.iter().map(|code| values[*code as usize]).collect();
    let mut lengths = Lengths::new(packer);
    lengths.push(&texts, nulls, codes.len(), limits)?;
    Ok(lengths.finish())
}

/// Codes of the store as codes of this chunk, in the order in which they are first seen.
fn translate(
    codes: &Int32Array,
    nulls: Option<&NullBuffer>,
    texts: usize,
) -> Result<(Vec<u32>, Vec<u64>)> {
    let mut local = Vec::with_capacity(codes.len());
    let mut used = Vec::new();
    let mut known = vec![u32::MAX; if texts > DIRECT { 0 } else { texts }];
    let mut distinct = distinct::Distinct::new();
    for (row, code) in codes.values().iter().enumerate() {
        if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            continue;
        }
        // A negative code becomes one that is too large.
        let code = *code as u32 as usize;
        if code >= texts {
            return Err(Error::new(Kind::Damaged, "a code without its text"));
        }
        local.push(match known.get_mut(code) {
            None => distinct.code(code as u64),
            Some(place) => {
                if *place == u32::MAX {
                    *place = used.len() as u32;
                    used.push(code as u64);
                }
                *place
            }
        });
    }
    let used = if texts > DIRECT {
        distinct.values
    } else {
        used
    };
    Ok((local, used))
}

/// Whether a dictionary is smaller than the texts themselves.
fn pays(values: &[&[u8]], bytes: usize, rows: usize, total: usize) -> bool {
    let width = packing::width(values.len() as u64) as usize;
    let coded = bytes + 4 * values.len() + rows * width / 8;
    bytes <= DICTIONARY_BYTES && (values.len() == 1 || coded < (total + rows * 2) / 4 * 3)
}

/// A chunk of texts.
pub fn plain(array: &ArrayRef, limits: Limits, packer: &mut Packer) -> Result<Chunk> {
    let column = Texts::of(array)?;
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    let there = (0..array.len()).filter(|row| nulls.is_none_or(|nulls| nulls.is_valid(*row)));
    let texts: Vec<&str> = there.map(|row| column.get(row)).collect();
    let step = texts.len().div_ceil(SAMPLE).max(1);
    let sample: HashSet<&str> = texts.iter().step_by(step).copied().collect();
    if sample.len() <= texts.len().div_ceil(step) / 2 {
        let mut pool = Pool::new();
        let mut local = Vec::with_capacity(texts.len());
        for text in &texts {
            local.push(pool.intern(text));
            if pool.parts().0.len() > DICTIONARY_BYTES {
                break;
            }
        }
        let (all, ends) = pool.parts();
        let mut start = 0;
        let values: Vec<&[u8]> = ends
            .iter()
            .map(|end| &all.as_bytes()[std::mem::replace(&mut start, *end)..*end])
            .collect();
        let total = texts.iter().map(|text| text.len()).sum();
        if local.len() == texts.len() && pays(&values, all.len(), local.len(), total) {
            return dictionary(&local, &values, nulls, array.len(), limits, packer);
        }
    }
    let texts: Vec<&[u8]> = texts.into_iter().map(str::as_bytes).collect();
    let mut lengths = Lengths::new(packer);
    lengths.push(&texts, nulls, array.len(), limits)?;
    Ok(lengths.finish())
}

/// A chunk of lazy args, of which only so much is text at a time.
pub fn rendered(
    args: &LazyTexts,
    rows: usize,
    limits: Limits,
    packer: &mut Packer,
) -> Result<Chunk> {
    let mut array: ArrayRef = Arc::new(args.texts(0)?);
    if array.len() == rows {
        return plain(&array, limits, packer);
    }
    let mut lengths = Lengths::new(packer);
    let mut row = 0;
    loop {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        let texts = array.as_string::<i32>().iter().flatten();
        let texts: Vec<&[u8]> = texts.map(str::as_bytes).collect();
        lengths.push(&texts, nulls, array.len(), limits)?;
        row += array.len();
        if row == rows {
            return Ok(lengths.finish());
        }
        array = Arc::new(args.texts(row)?);
    }
}

fn dictionary(
    local: &[u32],
    values: &[&[u8]],
    nulls: Option<&NullBuffer>,
    rows: usize,
    limits: Limits,
    packer: &mut Packer,
) -> Result<Chunk> {
    let mut pages = Pages::new(packer);
    let width = packing::width(values.len().saturating_sub(1) as u64).max(1);
    pages.dictionary(values.len(), |body| {
        for text in values {
            body.extend_from_slice(&(text.len() as u32).to_le_bytes());
            body.extend_from_slice(text);
        }
    })?;
    let mut at = 0;
    for row in (0..rows).step_by(limits.page_rows) {
        let range = row..rows.min(row + limits.page_rows);
        let missing = nulls.map_or(0, |nulls| nulls.slice(row, range.len()).null_count());
        let there = at..at + range.len() - missing;
        at = there.end;
        pages.data(Encoding::Dictionary, range.len(), |body| {
            levels(body, nulls, range);
            body.push(width as u8);
            packing::hybrid(body, &local[there], width);
        })?;
    }
    let statistics = statistics::texts(values.iter().copied(), rows - local.len());
    Ok(pages.finish(Encoding::Dictionary, statistics))
}

/// A chunk of lengths and texts, made piece by piece.
struct Lengths<'a> {
    pages: Pages<'a>,
    lengths: Vec<i64>,
    missing: usize,
    /// Statistics of the only piece.
    statistics: Option<Statistics>,
}

impl<'a> Lengths<'a> {
    fn new(packer: &'a mut Packer) -> Lengths<'a> {
        Lengths {
            pages: Pages::new(packer),
            lengths: Vec::new(),
            missing: 0,
            statistics: None,
        }
    }

    /// Adds rows; `texts` are those that are not NULL.
    fn push(
        &mut self,
        texts: &[&[u8]],
        nulls: Option<&NullBuffer>,
        rows: usize,
        limits: Limits,
    ) -> Result<()> {
        let mut total = 0;
        let (mut row, mut at) = (0, 0);
        while row < rows {
            let (first, start, mut bytes) = (row, at, 0);
            self.lengths.clear();
            while row < rows && row - first < limits.page_rows {
                if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
                    if bytes > 0 && bytes + texts[at].len() > limits.page_bytes {
                        break;
                    }
                    bytes += texts[at].len();
                    self.lengths.push(texts[at].len() as i64);
                    at += 1;
                }
                row += 1;
            }
            total += bytes;
            let lengths = &self.lengths;
            self.pages.data(Encoding::Lengths, row - first, |body| {
                levels(body, nulls, first..row);
                packing::deltas(body, lengths, true);
                body.reserve(bytes);
                for text in &texts[start..at] {
                    body.extend_from_slice(text);
                }
            })?;
        }
        let missing = rows - texts.len();
        let first = self.pages.rows() == rows;
        self.missing += missing;
        self.statistics = (first && total <= LONG * texts.len())
            .then(|| statistics::texts(texts.iter().copied(), missing));
        Ok(())
    }

    fn finish(self) -> Chunk {
        let none = Statistics {
            nulls: self.missing,
            bounds: None,
        };
        let statistics = self.statistics.unwrap_or(none);
        self.pages.finish(Encoding::Lengths, statistics)
    }
}
