//! The texts met last. Most names fit into one block of 64 bytes, which is hashed and compared whole:
//! the same work for every length, for what depends on lengths is guessed wrong by the processor.

/// Bytes of a text that is kept here at most.
const WIDTH: usize = 64;
const PLACES: usize = 4096;

/// A text, filled up with zeros.
type Block = [u64; WIDTH / 8];

#[derive(Clone, Copy)]
struct Entry {
    block: Block,
    length: u32,
    code: u32,
}

/// Codes of the texts met last. Takes no memory before it is used.
#[derive(Default)]
pub(super) struct Recent(Vec<Entry>);

/// Where a text would be kept.
pub(super) struct Place {
    block: Block,
    length: u32,
    at: usize,
}

/// As many bytes of ones as the text is long, read from the middle.
const ONES: [u8; 2 * WIDTH] = {
    let mut ones = [0; 2 * WIDTH];
    let mut i = 0;
    while i < WIDTH {
        ones[i] = 0xff;
        i += 1;
    }
    ones
};

#[inline(always)]
fn words(bytes: &[u8; WIDTH]) -> Block {
    let (chunks, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|i| u64::from_le_bytes(chunks[i]))
}

/// Where `data[start..end]` would be kept; none when it is too long or too close to the end of the data.
#[inline(always)]
pub(super) fn place(data: &[u8], start: usize, end: usize) -> Option<Place> {
    let length = end - start;
    let chunk = data.get(start..)?.first_chunk::<WIDTH>()?;
    let ones = ONES.get(WIDTH.checked_sub(length)?..)?.first_chunk::<WIDTH>()?;
    let (there, ones) = (words(chunk), words(ones));
    let block: Block = std::array::from_fn(|i| there[i] & ones[i]);
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let mut mixed = 0;
    let mut round = 0x9e37_79b9_7f4a_7c15_u64;
    for i in 0..WIDTH / 16 {
        mixed ^= fold(block[2 * i] ^ round, block[2 * i + 1] ^ !round);
        round = round.rotate_left(13);
    }
    let mixed = (mixed ^ length as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Some(Place { block, length: length as u32, at: (mixed >> 52) as usize % PLACES })
}

impl Recent {
    /// The code of a text that is kept.
    #[inline(always)]
    pub fn find(&self, place: &Place) -> Option<u32> {
        let entry = self.0.get(place.at)?;
        let mut differ = u64::from(entry.length ^ place.length);
        for i in 0..WIDTH / 8 {
            differ |= entry.block[i] ^ place.block[i];
        }
        (differ == 0).then_some(entry.code)
    }

    /// Keeps the code of a text.
    #[cold]
    pub fn keep(&mut self, place: Place, code: u32) {
        let free = Entry { block: [0; WIDTH / 8], length: u32::MAX, code: 0 };
        self.0.resize(PLACES, free);
        self.0[place.at] = Entry { block: place.block, length: place.length, code };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keeps_what_it_was_given(texts in proptest::collection::vec("[ab\0]{0,70}", 1..40)) {
            let mut recent = Recent::default();
            let mut codes: Vec<String> = Vec::new();
            for text in texts {
                let data = format!("{text}\"{}", "x".repeat(80));
                let Some(place) = place(data.as_bytes(), 0, text.len()) else {
                    prop_assert!(text.len() > WIDTH);
                    continue;
                };
                match recent.find(&place) {
                    Some(code) => prop_assert_eq!(&codes[code as usize], &text),
                    None => {
                        recent.keep(place, codes.len() as u32);
                        codes.push(text);
                    }
                }
            }
        }
    }

    #[test]
    fn finds_again_what_was_kept_last() {
        let data = [b'a'; 128];
        let mut recent = Recent::default();
        assert_eq!(recent.find(&place(&data, 3, 30).unwrap()), None);
        recent.keep(place(&data, 3, 30).unwrap(), 7);
        assert_eq!(recent.find(&place(&data, 9, 36).unwrap()), Some(7));
        assert_eq!(recent.find(&place(&data, 9, 37).unwrap()), None);
        assert!(place(&data, 0, 64).is_some());
        assert!(place(&data, 0, 65).is_none());
        assert!(place(&data, 65, 66).is_none());
    }
}
