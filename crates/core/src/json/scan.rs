//! Bytes that end a run of plain ones.

/// A one in every byte of a word.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;

/// Index of the first quote, backslash or control character from `at` on, or the length. Sixty-four
/// bytes at a time, for most texts end within them: a loop whose end depends on the length of every
/// text costs more than the bytes looked at too many.
#[inline(always)]
pub fn special(data: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = data.get(at..).and_then(|rest| rest.first_chunk::<64>()) {
        if let Some(hit) = first_special(chunk) {
            return at + hit;
        }
        at += 64;
    }
    while let Some(byte) = data.get(at) {
        if *byte == b'"' || *byte == b'\\' || *byte < 0x20 {
            break;
        }
        at += 1;
    }
    at
}

/// 0, 1, 2 ... 63.
const INDEX: [u8; 64] = {
    let mut index = [0; 64];
    let mut i = 0;
    while i < 64 {
        index[i] = i as u8;
        i += 1;
    }
    index
};

/// The first quote, backslash or control character of a chunk. Written so that the compiler looks at
/// sixteen bytes at a time and never branches: every byte gives its index or the largest number, and
/// the least of all is the answer.
#[inline(always)]
fn first_special(chunk: &[u8; 64]) -> Option<usize> {
    let mut all = [0_u8; 64];
    for i in 0..64 {
        let special = (chunk[i] == b'"') | (chunk[i] == b'\\') | (chunk[i] < 0x20);
        all[i] = u8::from(special).wrapping_sub(1) | INDEX[i];
    }
    let mut half = [0_u8; 32];
    for i in 0..32 {
        half[i] = all[i].min(all[i + 32]);
    }
    let mut quarter = [0_u8; 16];
    for i in 0..16 {
        quarter[i] = half[i].min(half[i + 16]);
    }
    let least = quarter.iter().fold(0xff, |a: u8, b| a.min(*b));
    (least != 0xff).then_some(least as usize)
}

/// The white space of JSON.
#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_the_first(bytes in proptest::collection::vec(any::<u8>(), 64), plain in 0_usize..65) {
            let mut chunk = [b'a'; 64];
            chunk[plain..].copy_from_slice(&bytes[plain..]);
            let expected = chunk.iter().position(|b| *b == b'"' || *b == b'\\' || *b < 0x20);
            prop_assert_eq!(first_special(&chunk), expected);
        }
    }
}
