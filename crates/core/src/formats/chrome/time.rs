//! Microseconds as the format writes them (integers, decimals, exponents, strings) to picoseconds,
//! exactly: no value passes through a double.

use crate::json::{Cursor, Fault, Shape};

/// A `ts` or `dur`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// Not there, or null.
    Missing,
    /// There, but no number.
    Bad,
    /// A number beyond ±2^62 microseconds.
    Out,
    /// Whole microseconds and the rest in picoseconds, both of the same sign.
    At {
        /// Whole microseconds.
        us: i64,
        /// The rest, in -999,999..=999,999 picoseconds.
        ps: i64,
    },
}

/// Picoseconds in a microsecond.
pub const PS: i64 = 1_000_000;
const LARGEST_US: i128 = 1 << 62;
/// More digits than these cannot change a picosecond of any time in range.
const DIGITS: i64 = 36;

impl Time {
    /// Picoseconds since `base_us`, if they fit.
    #[inline]
    pub fn since(self, base_us: i64) -> Option<i64> {
        match self {
            Time::At { us, ps } => us.checked_sub(base_us)?.checked_mul(PS)?.checked_add(ps),
            _ => None,
        }
    }

    /// Reads a value into `slot`.
    #[inline]
    pub fn read(cursor: &mut Cursor<'_>, slot: &mut Time) -> Result<(), Fault> {
        if let Some((us, ps, end)) = fast(cursor.data, cursor.pos) {
            cursor.pos = end;
            *slot = Time::At { us, ps };
            return Ok(());
        }
        *slot = Time::read_slow(cursor)?;
        Ok(())
    }

    #[cold]
    fn read_slow(cursor: &mut Cursor<'_>) -> Result<Time, Fault> {
        let start = cursor.pos;
        let odd = cursor.odd;
        let first = cursor.peek()?;
        if first == b'"' {
            cursor.pos += 1;
            let text = cursor.string()?;
            let inside = text.plain(cursor.data);
            return Ok(Time::parse(inside.trim_ascii()));
        }
        let mut none = Vec::new();
        if first.is_ascii_digit() || first == b'-' {
            let shape = cursor.number()?;
            cursor.odd = odd;
            let number = &cursor.data[start..cursor.pos];
            return Ok(if shape == Shape::Number { Time::parse(number) } else { Time::Bad });
        }
        let shape = cursor.value(&mut crate::json::Minified::new(&mut none, start, false))?;
        Ok(match shape {
            Shape::Null => Time::Missing,
            _ => {
                // NaN makes the time bad; it need not be counted as repaired as well.
                cursor.odd = odd;
                Time::Bad
            }
        })
    }

    /// Parses the text of a number; beyond the sixth decimal it rounds to nearest, ties away from 0.
    pub fn parse(text: &[u8]) -> Time {
        let (negative, text) = match text.first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (mut mantissa, mut taken, mut scale, mut point) = (0_i128, 0_i64, 0_i64, false);
        let (mut digits, mut exponent) = (0_usize, 0_i64);
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            match byte {
                b'0'..=b'9' => {
                    digits += 1;
                    if taken < DIGITS {
                        mantissa = mantissa * 10 + i128::from(byte - b'0');
                        taken += i64::from(mantissa != 0);
                        scale -= i64::from(point);
                    } else {
                        scale += i64::from(!point);
                    }
                }
                b'.' if !point => point = true,
                b'e' | b'E' if digits > 0 => {
                    match exponent_of(&text[at + 1..]) {
                        Some(value) => exponent = value,
                        None => return Time::Bad,
                    }
                    break;
                }
                _ => return Time::Bad,
            }
            at += 1;
        }
        if digits == 0 {
            return Time::Bad;
        }
        let Some(ps) = scaled(mantissa, scale.saturating_add(exponent).saturating_add(6)) else {
            return Time::Out;
        };
        let ps = if negative { -ps } else { ps };
        let (us, rest) = (ps / i128::from(PS), ps % i128::from(PS));
        if us.abs() > LARGEST_US {
            return Time::Out;
        }
        Time::At { us: us as i64, ps: rest as i64 }
    }
}

/// `mantissa * 10^power`, rounded; None when it is far out of range.
fn scaled(mantissa: i128, power: i64) -> Option<i128> {
    if mantissa == 0 {
        return Some(0);
    }
    if power >= 0 {
        let factor = 10_i128.checked_pow(u32::try_from(power).ok()?)?;
        return mantissa.checked_mul(factor);
    }
    let Some(divisor) = u32::try_from(-power).ok().and_then(|p| 10_i128.checked_pow(p)) else {
        return Some(0);
    };
    let (quotient, rest) = (mantissa / divisor, mantissa % divisor);
    Some(quotient + i128::from(rest >= divisor - rest))
}

fn exponent_of(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text.first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // Beyond a million every mantissa is 0 or out of range.
    let value = digits.iter().fold(0_i64, |v, d| (v * 10 + i64::from(d - b'0')).min(1_000_000));
    Some(sign * value)
}

/// A plain number of up to 18 digits with up to 6 decimals, followed by something else.
#[inline]
fn fast(data: &[u8], start: usize) -> Option<(i64, i64, usize)> {
    let chunk = |at: usize| data.get(at..).and_then(|rest| rest.first_chunk::<8>());
    let (mut us, mut count) = digits(chunk(start)?);
    let mut at = start + count;
    while count == 8 && at - start <= 16 {
        let more;
        (more, count) = digits(chunk(at)?);
        us = us.wrapping_mul(TENS[count]).wrapping_add(more);
        at += count;
    }
    let length = at - start;
    if length == 0 || length > 18 || (length > 1 && data[start] == b'0') {
        return None;
    }
    let mut ps = 0;
    if *data.get(at)? == b'.' {
        let (value, count) = digits(chunk(at + 1)?);
        if count == 0 || count > 6 {
            return None;
        }
        ps = (value * TENS[6 - count]) as i64;
        at += 1 + count;
    }
    if *data.get(at)? | 0x20 == b'e' {
        return None;
    }
    Some((us as i64, ps, at))
}

/// Powers of ten.
const TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The digits at the start of a chunk, as a number, and how many there are; the same work for any
/// number of them, for the processor guesses lengths wrong.
#[inline(always)]
fn digits(chunk: &[u8; 8]) -> (u64, usize) {
    let word = u64::from_le_bytes(*chunk) ^ 0x3030_3030_3030_3030;
    // The upper bit of each byte that is above 9.
    let others = ((word & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | word;
    let count = ((others & 0x8080_8080_8080_8080).trailing_zeros() >> 3) as usize;
    if count == 0 {
        return (0, 0);
    }
    let word = word << (64 - 8 * count);
    let pairs = word.wrapping_mul(2561) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(6_553_601) >> 16;
    let eight = (fours & 0x0000_ffff_0000_ffff).wrapping_mul(42_949_672_960_001) >> 32;
    (eight, count)
}

/// A whole number, given as a number or a string of digits.
pub fn whole(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Time {
        // The fast way wants bytes behind the number, the slow way does not.
        let [short, long] = ["", "9999999999"].map(|more| {
            let data = format!("{text},{more}");
            let mut cursor = Cursor::new(data.as_bytes(), 0);
            let mut time = Time::Missing;
            Time::read(&mut cursor, &mut time).unwrap();
            assert_eq!(cursor.pos, text.len());
            time
        });
        assert_eq!(short, long);
        long
    }

    #[test]
    fn exact() {
        for (text, us, ps) in [
            ("0", 0, 0),
            ("-0.0", 0, 0),
            ("8.4429999999999996", 8, 443_000),
            ("4308369275850.47", 4_308_369_275_850, 470_000),
            ("1e-06", 0, 1),
            ("4.9e-7", 0, 0),
            ("5e-7", 0, 1),
            ("-5e-7", 0, -1),
            ("1.5E+3", 1500, 0),
            ("-1.25", -1, -250_000),
            ("0.9999999", 1, 0),
            ("1795163227337279", 1_795_163_227_337_279, 0),
            ("\" 12.5 \"", 12, 500_000),
            ("123456789012345678", 123_456_789_012_345_678, 0),
            ("1000000000000000000e-3", 1_000_000_000_000_000, 0),
            ("0.00000000000000000000000000000000000000000000001e47", 1, 0),
            ("0e99999999999999999999", 0, 0),
            ("1e-99999999999999999999", 0, 0),
        ] {
            assert_eq!(read(text), Time::At { us, ps }, "{text}");
        }
    }

    #[test]
    fn no_times() {
        for text in ["\"\"", "\"x\"", "true", "NaN", "[1]", "{\"a\":NaN}", "\"1e\"", "\"1.2.3\"", "\"0x10\""]
        {
            assert_eq!(read(text), Time::Bad, "{text}");
        }
        assert_eq!(read("null"), Time::Missing);
        for text in ["1e30", "-1e30", "99999999999999999999", "1e999999999999"] {
            assert_eq!(read(text), Time::Out, "{text}");
        }
        for text in ["1.,", ".5,", "-,", "+1,", "1e,"] {
            assert_eq!(
                Time::read(&mut Cursor::new(text.as_bytes(), 0), &mut Time::Missing),
                Err(Fault::Bad),
                "{text}"
            );
        }
        for text in ["", "1", "1.5", "-", "1e", "12345678", "\"1"] {
            assert_eq!(
                Time::read(&mut Cursor::new(text.as_bytes(), 0), &mut Time::Missing),
                Err(Fault::More),
                "{text}"
            );
        }
    }

    #[test]
    fn fits_or_not() {
        let time = Time::At { us: i64::MAX / PS, ps: 775_807 };
        assert_eq!(time.since(0), Some(i64::MAX));
        assert_eq!(Time::At { us: i64::MAX / PS, ps: 775_808 }.since(0), None);
        assert_eq!(
            Time::At { us: 1_700_000_000_000_001, ps: 5 }.since(1_700_000_000_000_000),
            Some(1_000_005)
        );
    }

    proptest! {
        #[test]
        fn fast_and_slow_agree(us in 0_u64..1_000_000_000_000_000_000, ps in 0_u64..1_000_000, decimals in 0_usize..9) {
            let text = if decimals == 0 { us.to_string() } else { format!("{us}.{}", &format!("{ps:06}000")[..decimals]) };
            prop_assert_eq!(read(&text), Time::parse(text.as_bytes()));
        }
    }
}
