//! Bytes that end a run of plain ones.

/// A one in every byte of a word.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;

/// Index of the first quote, backslash or control character from `at` on, or the length.
#[inline(always)]
pub fn special(data: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = data.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        let hit = specials(chunk);
        if hit != 0 {
            return at + (hit.trailing_zeros() >> 3) as usize;
        }
        at += 16;
    }
    while let Some(byte) = data.get(at) {
        if *byte == b'"' || *byte == b'\\' || *byte < 0x20 {
            break;
        }
        at += 1;
    }
    at
}

/// All bits of each byte that is a quote, a backslash or a control character. Written so that the
/// compiler compares sixteen bytes at a time.
#[inline(always)]
fn specials(chunk: &[u8; 16]) -> u128 {
    let mut hits = [0_u8; 16];
    for (hit, byte) in hits.iter_mut().zip(chunk) {
        let special = (*byte == b'"') | (*byte == b'\\') | (*byte < 0x20);
        *hit = if special { 0xff } else { 0 };
    }
    u128::from_le_bytes(hits)
}

/// The white space of JSON.
#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}
