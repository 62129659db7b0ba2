//! Keys of slices: a tensor's name and which part of it, written so that they sort.

use super::extent::Extent;

/// The key of a slice of a tensor.
pub fn slice_key(name: &[u8], extents: &[Extent]) -> Vec<u8> {
    let mut key = vec![0];
    for byte in name {
        match byte {
            0 => key.extend([0, 0xff]),
            0xff => key.extend([0xff, 0]),
            _ => key.push(*byte),
        }
    }
    key.extend([0, 1]);
    unsigned(&mut key, extents.len() as u64);
    for extent in extents {
        let (start, length) = match extent.length {
            Some(length) => (extent.start, length),
            None => (0, -1),
        };
        signed(&mut key, start);
        signed(&mut key, length);
    }
    key
}

fn unsigned(key: &mut Vec<u8>, value: u64) {
    let bytes = value.to_be_bytes();
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    key.push((8 - zeros) as u8);
    key.extend_from_slice(&bytes[zeros..]);
}

/// The first bits give the length in unary; a negative number has all its bits the other way round.
fn signed(key: &mut Vec<u8>, value: i64) {
    let magnitude = if value < 0 { !value } else { value };
    let bits = 64 - magnitude.leading_zeros() as usize;
    let length = bits / 7 + 1;
    let fill = if value < 0 { 0xff } else { 0 };
    let mut bytes = [fill; 10];
    bytes[2..].copy_from_slice(&value.to_be_bytes());
    let ones = 0xffff_u32 << (16 - length) & 0xffff;
    let start = bytes.len() - length;
    bytes[start] ^= (ones >> 8) as u8;
    if length > 1 {
        bytes[start + 1] ^= ones as u8;
    }
    key.extend_from_slice(&bytes[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed_bytes(value: i64) -> Vec<u8> {
        let mut key = Vec::new();
        signed(&mut key, value);
        key
    }

    #[test]
    fn numbers_sort_as_their_bytes() {
        assert_eq!(signed_bytes(0), [0x80]);
        assert_eq!(signed_bytes(-1), [0x7f]);
        assert_eq!(signed_bytes(63), [0xbf]);
        assert_eq!(signed_bytes(64), [0xc0, 0x40]);
        let numbers = [i64::MIN, -1 << 40, -65, -64, -1, 0, 1, 63, 64, 8191, 8192, 1 << 50, i64::MAX];
        assert!(numbers.map(signed_bytes).is_sorted());
    }
}
