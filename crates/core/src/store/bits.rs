//! Validity of columns: one bit a row.

use crate::store::part_writer::{Column, Stretch, Valid};
use arrow_buffer::ToByteSlice;

/// Which rows of a growing column are not NULL.
#[derive(Debug, Default)]
pub struct Bits {
    bytes: Vec<u8>,
    rows: usize,
    nulls: usize,
}

impl Bits {
    /// One more row.
    pub fn push(&mut self, valid: bool) {
        if self.rows.is_multiple_of(8) {
            self.bytes.push(0);
        }
        self.bytes[self.rows / 8] |= u8::from(valid) << (self.rows % 8);
        self.rows += 1;
        self.nulls += usize::from(!valid);
    }

    /// So many more rows.
    pub fn extend(&mut self, valid: bool, rows: usize) {
        let begun = rows.min((8 - self.rows % 8) % 8);
        (0..begun).for_each(|_| self.push(valid));
        let rest = rows - begun;
        let byte = if valid { u8::MAX } else { 0 };
        self.bytes.resize(self.bytes.len() + rest / 8, byte);
        self.rows += rest / 8 * 8;
        self.nulls += if valid { 0 } else { rest / 8 * 8 };
        (0..rest % 8).for_each(|_| self.push(valid));
    }

    /// The bits, eight rows a byte, lowest first.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bits, unless every row is valid.
    pub fn valid(&self) -> Option<Valid<'_>> {
        (self.nulls > 0).then_some(Valid { bits: &self.bytes, nulls: self.nulls })
    }

    /// True when no row is valid.
    pub fn all_null(&self) -> bool {
        self.nulls == self.rows
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.rows, self.nulls) = (0, 0);
    }
}

/// A column in which `none` means NULL; `bits` is room for the validity.
pub fn some<'a, T>(values: &'a [T], none: T, bits: &'a mut Vec<u8>) -> Column<'a>
where
    T: PartialEq + Copy,
    [T]: ToByteSlice,
{
    let nulls = fill_bits(bits, values, |value| *value != none);
    match nulls {
        _ if nulls == values.len() => Column::Nulls,
        0 => Column::Fixed { valid: None, values: values.to_byte_slice() },
        _ => Column::Fixed { valid: Some(Valid { bits, nulls }), values: values.to_byte_slice() },
    }
}

/// A column of texts in which the empty text means NULL.
pub fn texts<'a>(offsets: &'a [i32], data: &'a [Stretch<'a>], bits: &'a mut Vec<u8>) -> Column<'a> {
    let rows = offsets.len() - 1;
    bits.clear();
    let mut nulls = rows;
    if !data.is_empty() {
        let mut filled = 0;
        for chunk in 0..rows.div_ceil(8) {
            let ends = &offsets[chunk * 8..(chunk * 8 + 9).min(rows + 1)];
            let byte = ends
                .windows(2)
                .enumerate()
                .fold(0, |byte, (i, pair)| byte | u8::from(pair[0] != pair[1]) << i);
            filled += byte.count_ones() as usize;
            bits.push(byte);
        }
        nulls = rows - filled;
    }
    match nulls {
        _ if nulls == rows => Column::Nulls,
        0 => Column::Placed { valid: None, offsets, data },
        _ => Column::Placed { valid: Some(Valid { bits, nulls }), offsets, data },
    }
}

/// Packs a truth for each value into bits; returns how many are false.
fn fill_bits<T>(bits: &mut Vec<u8>, values: &[T], valid: impl Fn(&T) -> bool) -> usize {
    bits.clear();
    let mut filled = 0;
    for chunk in values.chunks(8) {
        let byte = chunk.iter().enumerate().fold(0, |byte, (i, value)| byte | u8::from(valid(value)) << i);
        filled += byte.count_ones() as usize;
        bits.push(byte);
    }
    values.len() - filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_are_what_their_rows_are(runs in proptest::collection::vec((any::<bool>(), 0..40_usize), 0..20)) {
            let (mut one, mut all) = (Bits::default(), Bits::default());
            for (valid, rows) in runs {
                (0..rows).for_each(|_| one.push(valid));
                all.extend(valid, rows);
                prop_assert_eq!(one.bytes(), all.bytes());
                prop_assert_eq!((one.rows, one.nulls), (all.rows, all.nulls));
            }
        }
    }
}
