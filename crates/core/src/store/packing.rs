//! Whole numbers in as few bytes as their batch allows: the difference to the smallest, for int64 in units
//! of a thousand or a million where all differences are (times are picoseconds, clocks are not).
//!
//! The bytes of NULLs do not matter, so they do not count.

use crate::error::{Error, Kind, Result};
use crate::store::part::Shape;
use crate::store::pooled::column;
use arrow_buffer::Buffer;

/// Units that are tried, the largest first: clocks count microseconds or nanoseconds.
const MICROSECOND_PS: u64 = 1_000_000;
const NANOSECOND_PS: u64 = 1000;

/// How the values of a column are written: value = base + step * what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    /// Bytes of a value: 0 (all are the base), 1, 2, 4; or 8 for values as they are in memory.
    pub width: u8,
    /// The smallest value.
    pub base: i64,
    /// The unit.
    pub step: i64,
}

impl Packing {
    /// Values as they are in memory, whatever their shape.
    pub const PLAIN: Packing = Packing { width: 8, base: 0, step: 1 };

    /// True when a column of that shape may be written so.
    pub fn suits(self, shape: Shape) -> bool {
        self == Packing::PLAIN
            || (matches!(self.width, 0 | 1 | 2 | 4)
                && match shape {
                    Shape::I64 => true,
                    Shape::I32 | Shape::Code => self.step == 1,
                    _ => false,
                })
    }
}

/// Packs the values of a column into `out`, if it gets shorter; otherwise `out` is of no use.
pub fn pack(shape: Shape, valid: Option<&[u8]>, values: &[u8], out: &mut Vec<u8>) -> Packing {
    out.clear();
    match shape {
        Shape::I32 | Shape::Code => {
            pack_as(values.as_chunks().0, 4, valid, out, |bytes| i64::from(i32::from_le_bytes(bytes)))
        }
        Shape::I64 => pack_as(values.as_chunks().0, 8, valid, out, i64::from_le_bytes),
        _ => Packing::PLAIN,
    }
}

fn pack_as<const N: usize, F: Fn([u8; N]) -> i64 + Copy>(
    values: &[[u8; N]],
    width_in_memory: u8,
    valid: Option<&[u8]>,
    out: &mut Vec<u8>,
    value: F,
) -> Packing {
    let (mut low, mut high) = (i64::MAX, i64::MIN);
    let mut each = |bytes: &[u8; N]| {
        let value = value(*bytes);
        low = low.min(value);
        high = high.max(value);
    };
    match valid {
        None => values.iter().for_each(&mut each),
        Some(bits) => not_null(values, bits).for_each(&mut each),
    }
    if low > high {
        return Packing::PLAIN;
    }
    let range = high.wrapping_sub(low) as u64;
    let mut step = 1;
    // Codes and numbers of tracks count nothing that has a unit.
    let saves = |unit| N == 8 && range > 255 && width(range / unit) < width(range);
    if saves(MICROSECOND_PS) && are_whole::<MICROSECOND_PS, N, F>(values, valid, low, value) {
        step = MICROSECOND_PS;
    } else if saves(NANOSECOND_PS) && are_whole::<NANOSECOND_PS, N, F>(values, valid, low, value) {
        step = NANOSECOND_PS;
    }
    let width = width(range / step);
    if width >= width_in_memory {
        return Packing::PLAIN;
    }
    let differences = values.iter().map(|bytes| value(*bytes).wrapping_sub(low) as u64);
    match step {
        1 => put(width, differences, out),
        NANOSECOND_PS => put(width, differences.map(|all| all / NANOSECOND_PS), out),
        _ => put(width, differences.map(|all| all / MICROSECOND_PS), out),
    }
    Packing { width, base: low, step: step as i64 }
}

/// Whether all differences to the smallest value are multiples of a unit. The first that is none ends the
/// search; the unit is a constant, so that no division is needed.
fn are_whole<const UNIT: u64, const N: usize, F: Fn([u8; N]) -> i64>(
    values: &[[u8; N]],
    valid: Option<&[u8]>,
    low: i64,
    value: F,
) -> bool {
    let mut whole = |bytes: &[u8; N]| (value(*bytes).wrapping_sub(low) as u64).is_multiple_of(UNIT);
    match valid {
        None => values.iter().all(&mut whole),
        Some(bits) => not_null(values, bits).all(&mut whole),
    }
}

/// The values that are not NULL.
fn not_null<'a, const N: usize>(values: &'a [[u8; N]], bits: &'a [u8]) -> impl Iterator<Item = &'a [u8; N]> {
    let valid = |row: usize| bits[row / 8] >> (row % 8) & 1 == 1;
    let rows = values.iter().enumerate();
    rows.filter(move |(row, _)| valid(*row)).map(|(_, value)| value)
}

fn width(range: u64) -> u8 {
    match range {
        0 => 0,
        1..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

fn put(width: u8, values: impl ExactSizeIterator<Item = u64>, out: &mut Vec<u8>) {
    fn write<const W: usize>(
        values: impl ExactSizeIterator<Item = u64>,
        out: &mut Vec<u8>,
        bytes: impl Fn(u64) -> [u8; W],
    ) {
        out.resize(values.len() * W, 0);
        let places = out.as_chunks_mut::<W>().0;
        for (place, value) in places.iter_mut().zip(values) {
            *place = bytes(value);
        }
    }
    match width {
        0 => {}
        1 => write(values, out, |value| (value as u8).to_le_bytes()),
        2 => write(values, out, |value| (value as u16).to_le_bytes()),
        _ => write(values, out, |value| (value as u32).to_le_bytes()),
    }
}

/// The values of a column as they are in memory.
pub fn unpack(shape: Shape, packing: Packing, rows: usize, bytes: &[u8]) -> Result<Buffer> {
    if bytes.len() < rows * usize::from(packing.width) {
        return Err(Error::new(Kind::Damaged, "a column is too short"));
    }
    let Packing { width, base, step } = packing;
    let one = |value: i64| base.wrapping_add(value);
    let scaled = |value: i64| base.wrapping_add(step.wrapping_mul(value));
    // Columns of int32 have no unit.
    let small = base as i32;
    Ok(match (shape, width, step) {
        (Shape::I64, 0, _) => column(std::iter::repeat_n(base, rows)),
        (Shape::I64, 1, 1) => column(bytes[..rows].iter().map(|v| one(i64::from(*v)))),
        (Shape::I64, 1, _) => column(bytes[..rows].iter().map(|v| scaled(i64::from(*v)))),
        (Shape::I64, 2, 1) => column(words(bytes, rows).map(|v| one(i64::from(v)))),
        (Shape::I64, 2, _) => column(words(bytes, rows).map(|v| scaled(i64::from(v)))),
        (Shape::I64, _, 1) => column(longs(bytes, rows).map(|v| one(i64::from(v)))),
        (Shape::I64, _, _) => column(longs(bytes, rows).map(|v| scaled(i64::from(v)))),
        (_, 0, _) => column(std::iter::repeat_n(small, rows)),
        (_, 1, _) => column(bytes[..rows].iter().map(|v| small.wrapping_add(i32::from(*v)))),
        (_, 2, _) => column(words(bytes, rows).map(|v| small.wrapping_add(i32::from(v)))),
        (_, _, _) => column(longs(bytes, rows).map(|v| small.wrapping_add(v as i32))),
    })
}

/// The values of an int64 column, packed or plain.
pub fn expand(packing: Packing, rows: usize, bytes: &[u8]) -> Result<Vec<i64>> {
    if packing != Packing::PLAIN {
        let values = unpack(Shape::I64, packing, rows, bytes)?;
        return Ok(values.typed_data::<i64>().to_vec());
    }
    let plain = bytes.as_chunks::<8>().0.iter().take(rows);
    Ok(plain.map(|bytes| i64::from_le_bytes(*bytes)).collect())
}

fn words(bytes: &[u8], rows: usize) -> impl ExactSizeIterator<Item = u16> {
    let chunks = bytes.as_chunks::<2>().0.iter().take(rows);
    chunks.map(|bytes| u16::from_le_bytes(*bytes))
}

fn longs(bytes: &[u8], rows: usize) -> impl ExactSizeIterator<Item = u32> {
    let chunks = bytes.as_chunks::<4>().0.iter().take(rows);
    chunks.map(|bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bits(valid: &[bool]) -> Vec<u8> {
        let mut bits = vec![0; valid.len().div_ceil(8)];
        for (row, valid) in valid.iter().enumerate() {
            bits[row / 8] |= u8::from(*valid) << (row % 8);
        }
        bits
    }

    fn there_and_back(values: &[i64], valid: Option<&[bool]>) -> Packing {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let bits = valid.map(bits);
        let mut out = Vec::new();
        let packing = pack(Shape::I64, bits.as_deref(), &bytes, &mut out);
        assert!(packing.suits(Shape::I64));
        if packing != Packing::PLAIN {
            assert_eq!(out.len(), values.len() * usize::from(packing.width));
            let back = unpack(Shape::I64, packing, values.len(), &out).unwrap();
            let back = back.typed_data::<i64>();
            for (row, (value, back)) in values.iter().zip(back).enumerate() {
                assert!(valid.is_some_and(|valid| !valid[row]) || value == back);
            }
        }
        packing
    }

    fn columns() -> impl Strategy<Value = Vec<i64>> {
        let unit = prop_oneof![Just(1_i64), Just(1000), Just(1_000_000)];
        let most = prop_oneof![Just(0_i64), Just(255), Just(256), Just(65_535), Just(1 << 32)];
        let base = prop_oneof![Just(0_i64), Just(-7), Just(i64::MIN), Just(1 << 50)];
        let close = (unit, most, base).prop_flat_map(|(unit, most, base)| {
            prop::collection::vec(0..=most, 1..70)
                .prop_map(move |all| all.iter().map(|v| base + v * unit).collect())
        });
        prop_oneof![close, prop::collection::vec(any::<i64>(), 1..70)]
    }

    proptest! {
        #[test]
        fn int64_comes_back(values in columns(), valid in prop::collection::vec(any::<bool>(), 70)) {
            there_and_back(&values, None);
            there_and_back(&values, Some(&valid[..values.len()]));
        }

        #[test]
        fn int32_comes_back(values in prop::collection::vec(any::<i32>(), 1..70), small in 1..70_000_i32) {
            for values in [values.clone(), values.iter().map(|v| v % small).collect()] {
                let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
                let mut out = Vec::new();
                let packing = pack(Shape::Code, None, &bytes, &mut out);
                if packing != Packing::PLAIN {
                    let back = unpack(Shape::Code, packing, values.len(), &out).unwrap();
                    prop_assert_eq!(back.typed_data::<i32>(), &values[..]);
                }
            }
        }
    }

    #[test]
    fn columns_get_as_narrow_as_they_may() {
        let widths = |values: &[i64]| {
            let packing = there_and_back(values, None);
            (packing.width, packing.step)
        };
        assert_eq!(widths(&[i64::MIN]), (0, 1));
        assert_eq!(widths(&[i64::MAX; 3]), (0, 1));
        assert_eq!(widths(&[i64::MIN, i64::MAX]), (8, 1));
        assert_eq!(widths(&[-3, 252]), (1, 1));
        assert_eq!(widths(&[-3, 253]), (2, 1));
        assert_eq!(widths(&[0, 5_000, 4_000_000_000_000]), (4, 1000));
        assert_eq!(widths(&[7, 7 + 90_000_000_000_000]), (4, 1_000_000));
        assert_eq!(widths(&[0, 1, 1 << 32]), (8, 1));
        // NULLs do not count, whatever their bytes.
        let nulls = there_and_back(&[i64::MIN, 5, 6], Some(&[false, true, true]));
        assert_eq!((nulls.width, nulls.base), (1, 5));
        assert_eq!(there_and_back(&[1, 2], Some(&[false, false])), Packing::PLAIN);
        assert_eq!(there_and_back(&[], None), Packing::PLAIN);
    }

    #[test]
    fn codes_that_are_a_thousand_apart_have_no_unit() {
        let codes = [5_i32, 1005, 2005, 40_005];
        let bytes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
        let mut out = Vec::new();
        let packing = pack(Shape::Code, None, &bytes, &mut out);
        assert_eq!((packing.width, packing.step), (2, 1));
        let back = unpack(Shape::Code, packing, codes.len(), &out).unwrap();
        assert_eq!(back.typed_data::<i32>(), codes);
        let scaled = Packing { step: 1000, ..packing };
        assert!(scaled.suits(Shape::I64) && !scaled.suits(Shape::Code));
    }

    #[test]
    fn too_few_bytes_are_damage() {
        let packing = Packing { width: 2, base: 0, step: 1 };
        assert!(unpack(Shape::I64, packing, 3, &[0; 5]).is_err());
        assert!(!packing.suits(Shape::F64));
        assert!(!Packing { width: 3, ..packing }.suits(Shape::I64));
    }
}
