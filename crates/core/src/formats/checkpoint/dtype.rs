//! Element types of tensors, and their elements as numbers.

use crate::proto::messages::data_type_name;

/// Bytes of one element as a checkpoint keeps it; None for those of no fixed size.
pub fn element_bytes(dtype: i64) -> Option<u64> {
    Some(match dtype {
        4 | 6 | 10 | 11 | 12 | 24..=34 => 1,
        5 | 14 | 15 | 16 | 17 | 19 => 2,
        1 | 3 | 13 | 22 => 4,
        2 | 8 | 9 | 23 => 8,
        18 => 16,
        _ => return None,
    })
}

/// A type as Python spells it: `float32`, `bfloat16`.
pub fn name(dtype: i64) -> String {
    match dtype {
        1 => "float32".into(),
        2 => "float64".into(),
        19 => "float16".into(),
        _ => data_type_name(dtype).trim_start_matches("DT_").to_ascii_lowercase(),
    }
}

/// An element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Of a type with a fraction.
    Real(f64),
    /// Of a type of whole numbers, truths included.
    Whole(i64),
    /// Larger than any signed number.
    Unsigned(u64),
    /// Real and imaginary part.
    Complex(f64, f64),
}

/// An element of a type of fixed size.
pub fn number(dtype: i64, bytes: &[u8]) -> Option<Number> {
    use Number::*;
    let fixed = |at: usize, length: usize| -> Option<u64> {
        let found = bytes.get(at..at + length)?;
        Some(found.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    let float = |at| fixed(at, 4).map(|bits| f64::from(f32::from_bits(bits as u32)));
    let double = |at| fixed(at, 8).map(f64::from_bits);
    Some(match dtype {
        1 => Real(float(0)?),
        2 => Real(double(0)?),
        14 => Real(f64::from(f32::from_bits((fixed(0, 2)? as u32) << 16))),
        19 => Real(small_float(fixed(0, 2)?, 5, 10, 15, Special::Ieee)),
        24 => Real(small_float(fixed(0, 1)?, 5, 2, 15, Special::Ieee)),
        25 => Real(small_float(fixed(0, 1)?, 4, 3, 7, Special::LastIsNan)),
        26 => Real(small_float(fixed(0, 1)?, 4, 3, 8, Special::MinusZeroIsNan)),
        27 => Real(small_float(fixed(0, 1)?, 4, 3, 11, Special::MinusZeroIsNan)),
        28 => Real(small_float(fixed(0, 1)?, 5, 2, 16, Special::MinusZeroIsNan)),
        3 | 13 => Whole(i64::from(fixed(0, 4)? as i32)),
        5 | 15 => Whole(i64::from(fixed(0, 2)? as i16)),
        6 | 11 => Whole(i64::from(fixed(0, 1)? as i8)),
        4 | 10 | 12 => Whole(fixed(0, 1)? as i64),
        16 | 17 => Whole(fixed(0, 2)? as i64),
        22 => Whole(fixed(0, 4)? as i64),
        9 => Whole(fixed(0, 8)? as i64),
        23 => match i64::try_from(fixed(0, 8)?) {
            Ok(value) => Whole(value),
            Err(_) => Unsigned(fixed(0, 8)?),
        },
        // Elements of a few bits take a byte each; signed ones are in its low bits.
        29 => Whole(i64::from((fixed(0, 1)? as u8 as i8) << 4 >> 4)),
        30 => Whole((fixed(0, 1)? & 15) as i64),
        31 => Whole(i64::from((fixed(0, 1)? as u8 as i8) << 6 >> 6)),
        32 => Whole((fixed(0, 1)? & 3) as i64),
        8 => Complex(float(0)?, float(4)?),
        18 => Complex(double(0)?, double(8)?),
        _ => return None,
    })
}

/// What small floats use for NaN and infinity.
enum Special {
    /// The largest exponent is infinity, or no number.
    Ieee,
    /// NaN has all bits set; there is no infinity.
    LastIsNan,
    /// Minus zero is NaN; there is no infinity.
    MinusZeroIsNan,
}

fn small_float(bits: u64, exponent_bits: u32, fraction_bits: u32, bias: i32, special: Special) -> f64 {
    let fraction = bits & ((1 << fraction_bits) - 1);
    let largest = (1u64 << exponent_bits) - 1;
    let exponent = bits >> fraction_bits & largest;
    let is_negative = bits >> (exponent_bits + fraction_bits) & 1 == 1;
    let sign = if is_negative { -1.0 } else { 1.0 };
    match special {
        Special::Ieee if exponent == largest && fraction == 0 => return sign * f64::INFINITY,
        Special::Ieee if exponent == largest => return f64::NAN,
        Special::LastIsNan if exponent == largest && fraction + 1 == 1 << fraction_bits => {
            return f64::NAN;
        }
        Special::MinusZeroIsNan if is_negative && exponent == 0 && fraction == 0 => {
            return f64::NAN;
        }
        _ => {}
    }
    let (whole, power) = match exponent {
        0 => (0.0, 1 - bias),
        _ => (1.0, exponent as i32 - bias),
    };
    sign * (whole + fraction as f64 / (1u64 << fraction_bits) as f64) * 2f64.powi(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_floats() {
        let cases = [
            (19, vec![0x00, 0x3c], 1.0),
            (19, vec![0xff, 0x7b], 65504.0),
            (19, vec![0x01, 0x00], 2f64.powi(-24)),
            (14, vec![0x80, 0xbf], -1.0),
            (24, vec![0x7b], 57344.0),
            (25, vec![0x7e], 448.0),
            (26, vec![0x7f], 240.0),
            (27, vec![0x7f], 30.0),
            (28, vec![0x7f], 57344.0),
        ];
        for (dtype, bytes, value) in cases {
            assert_eq!(number(dtype, &bytes), Some(Number::Real(value)), "{dtype}");
        }
        for (dtype, byte) in [(25, 0x7f), (26, 0x80), (24, 0x7e)] {
            let found = number(dtype, &[byte]);
            assert!(matches!(found, Some(Number::Real(value)) if value.is_nan()), "{dtype}");
        }
    }

    #[test]
    fn whole_numbers() {
        assert_eq!(number(6, &[0xff]), Some(Number::Whole(-1)));
        assert_eq!(number(12, &[0xff]), Some(Number::Whole(255)));
        assert_eq!(number(23, &[0xff; 8]), Some(Number::Unsigned(u64::MAX)));
        assert_eq!(number(29, &[0x0f]), Some(Number::Whole(-1)));
        assert_eq!(number(3, &[1, 2]), None);
    }
}
