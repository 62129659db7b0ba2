//! Blocks packed with snappy, as its format description lays them down.

/// Unpacks a block of at most `limit` bytes; Err says what is wrong.
pub fn unpack(packed: &[u8], limit: usize) -> Result<Vec<u8>, &'static str> {
    let mut at = 0;
    let length =
        crate::proto::wire::varint(packed, &mut at).ok_or("a packed block without its length")?;
    if length > limit as u64 {
        return Err("a packed block that is too long");
    }
    let length = length as usize;
    let mut out = Vec::with_capacity(length.min(packed.len() * 64));
    while at < packed.len() {
        let tag = packed[at];
        at += 1;
        let number = |bytes: usize, at: &mut usize| -> Result<usize, &'static str> {
            let found = packed
                .get(*at..*at + bytes)
                .ok_or("a packed block that is cut short")?;
            *at += bytes;
            Ok(found
                .iter()
                .rev()
                .fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
        };
        if tag & 3 == 0 {
            let length = match usize::from(tag >> 2) {
                short @ ..60 => short,
                long => number(long - 59, &mut at)?,
            } + 1;
            let literal = packed
                .get(at..at + length)
                .ok_or("a packed block that is cut short")?;
            out.extend_from_slice(literal);
            at += length;
        } else {
            let (length, back) = match tag & 3 {
                1 => (
                    usize::from(tag >> 2 & 7) + 4,
                    usize::from(tag >> 5) << 8 | number(1, &mut at)?,
                ),
                2 => (usize::from(tag >> 2) + 1, number(2, &mut at)?),
                _ => (usize::from(tag >> 2) + 1, number(4, &mut at)?),
            };
            if back == 0 || back > out.len() {
                return Err("a packed block that copies what is not there");
            }
            let start = out.len() - back;
            // What is copied may reach into what the copy itself writes.
            for offset in 0..length {
                out.push(out[start + offset]);
            }
        }
        if out.len() > length {
            return Err("a packed block that is longer than it says");
        }
    }
    match out.len() == length {
        true => Ok(out),
        false => Err("a packed block that is shorter than it says"),
    }
}

#[cfg(test)]
mod tests {
    use super::unpack;

    #[test]
    fn literals_and_copies() {
        // "abc", then six bytes from three back.
        assert_eq!(
            unpack(&[9, 2 << 2, b'a', b'b', b'c', 2 << 2 | 1, 3], 100).unwrap(),
            b"abcabcabc"
        );
        assert_eq!(
            unpack(&[7, 0, b'x', 5 << 2 | 2, 1, 0], 100).unwrap(),
            b"xxxxxxx"
        );
        assert_eq!(unpack(&[0], 100).unwrap(), b"");
    }

    #[test]
    fn damage_is_an_error() {
        let whole = [9, 2 << 2, b'a', b'b', b'c', 2 << 2 | 1, 3];
        for cut in 0..whole.len() {
            assert!(unpack(&whole[..cut], 100).is_err(), "{cut}");
        }
        assert!(unpack(&whole, 8).is_err());
        assert!(unpack(&[9, 2 << 2, b'a', b'b', b'c', 2 << 2 | 1, 4], 100).is_err());
    }
}
