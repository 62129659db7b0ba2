//! What came next the last time: writers put the same members in the same order with the same white
//! space between them, so the bytes from one value to the next are guessed and compared at once.
//!
//! Every guess was read by the grammar before, at a place of the same kind (behind an opening brace,
//! or behind a value), so that bytes that are equal to it need not be read by the grammar again.

use crate::json::Text;

/// Most bytes of a guess.
pub(super) const WIDTH: usize = 32;
const PLACES: usize = 64;
/// The place of what follows the opening brace. All others hold what follows a value.
pub(super) const FIRST: usize = 0;
/// Any other place, where nothing better is known.
pub(super) const UNKNOWN: usize = 1;

/// The bytes between two values, up to the quote of a string or the first byte of another value.
#[derive(Clone, Copy)]
pub(super) struct Link<K> {
    text: [u64; WIDTH / 8],
    mask: [u64; WIDTH / 8],
    /// The text without white space.
    small: [u8; WIDTH],
    small_length: u8,
    length: u8,
    key_at: u8,
    key_length: u8,
    next: u8,
    /// The value is a string, and its opening quote is in the text.
    pub string: bool,
    /// The text has white space.
    pub spaced: bool,
    pub key: K,
}

impl<K: Default> Default for Link<K> {
    fn default() -> Self {
        Link {
            // Fits nothing, for what is masked out cannot be 1.
            text: [1; WIDTH / 8],
            mask: [0; WIDTH / 8],
            small: [0; WIDTH],
            small_length: 0,
            length: 0,
            key_at: 0,
            key_length: 0,
            next: UNKNOWN as u8,
            string: false,
            spaced: false,
            key: K::default(),
        }
    }
}

fn words(bytes: &[u8; WIDTH]) -> [u64; WIDTH / 8] {
    let (chunks, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|i| u64::from_le_bytes(chunks[i]))
}

impl<K> Link<K> {
    /// Whether this is what lies at `at`.
    #[inline(always)]
    pub fn fits(&self, data: &[u8], at: usize) -> bool {
        let Some(chunk) = data.get(at..).and_then(|rest| rest.first_chunk::<WIDTH>()) else {
            return false;
        };
        let masked = self.mask.iter().zip(&self.text);
        let pairs = words(chunk).into_iter().zip(masked);
        let differ = pairs.fold(0, |differ, (there, (mask, text))| differ | ((there & mask) ^ text));
        differ == 0
    }

    /// One past the text, which lies at `at`; a string's opening quote not counted.
    #[inline(always)]
    pub fn end(&self, at: usize) -> usize {
        at + self.length as usize - self.string as usize
    }

    /// The key in the text, which lies at `at`.
    #[inline(always)]
    pub fn text(&self, at: usize) -> Text {
        let start = at + self.key_at as usize;
        Text { start, end: start + self.key_length as usize, odd: 0 }
    }

    /// The text without white space and without a string's opening quote.
    #[inline(always)]
    pub fn small(&self) -> (&[u8; WIDTH], usize) {
        (&self.small, self.small_length as usize)
    }

    /// Where the guess of what follows is kept.
    #[inline(always)]
    pub fn next(&self) -> usize {
        self.next as usize % PLACES
    }
}

/// Guesses of what is between the values of objects of one kind.
pub(super) struct Habit<K> {
    links: Box<[Link<K>; PLACES]>,
}

impl<K: Copy + Default> Default for Habit<K> {
    fn default() -> Self {
        Habit { links: Box::new([Link::default(); PLACES]) }
    }
}

impl<K: Copy + Default> Habit<K> {
    /// The guess at a place.
    #[inline(always)]
    pub fn link(&self, place: usize) -> &Link<K> {
        &self.links[place % PLACES]
    }

    /// Keeps what was found behind `last`, or behind the opening brace when that is none: the bytes
    /// from the value before (or the brace) to the next value, a string's opening quote with them, or
    /// to the end of the object. Gives the place it has now, none when it is too long.
    #[cold]
    pub fn learn(
        &mut self,
        data: &[u8],
        (from, to): (usize, usize),
        key: K,
        text: Text,
        last: Option<usize>,
        behind_brace: bool,
    ) -> Option<usize> {
        let bytes = &data[from..to];
        if bytes.len() > WIDTH {
            return None;
        }
        let (mut padded, mut mask) = ([0; WIDTH], [0; WIDTH]);
        padded[..bytes.len()].copy_from_slice(bytes);
        mask[..bytes.len()].fill(0xff);
        let (text_words, mask) = (words(&padded), words(&mask));
        let place = if behind_brace {
            FIRST
        } else {
            let mixed = text_words.iter().fold(bytes.len() as u64, |mixed, word| {
                (mixed ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
            });
            1 + (mixed >> 32) as usize % (PLACES - 1)
        };
        if let Some(last) = last {
            self.links[last % PLACES].next = place as u8;
        }
        let link = &mut self.links[place];
        if link.text == text_words && link.mask == mask {
            return Some(place);
        }
        let string = bytes.last() == Some(&b'"');
        let mut small = [0; WIDTH];
        let mut small_length = 0;
        for (i, byte) in bytes[..bytes.len() - usize::from(string)].iter().enumerate() {
            // The key itself may hold blanks.
            let in_key = (text.start..text.end).contains(&(from + i));
            if in_key || *byte > b' ' {
                small[small_length] = *byte;
                small_length += 1;
            }
        }
        *link = Link {
            text: text_words,
            mask,
            small,
            small_length: small_length as u8,
            length: bytes.len() as u8,
            key_at: text.start.saturating_sub(from) as u8,
            key_length: (text.end - text.start) as u8,
            next: link.next,
            string,
            spaced: small_length + usize::from(string) < bytes.len(),
            key,
        };
        Some(place)
    }
}

/// A short text that is mostly the same, with its closing quote.
#[derive(Clone, Copy)]
pub(super) struct Known {
    text: u128,
    mask: u128,
    length: usize,
}

impl Default for Known {
    fn default() -> Self {
        // Fits nothing.
        Known { text: 1, mask: 0, length: 0 }
    }
}

impl Known {
    /// Its length when it lies at `at`.
    #[inline(always)]
    pub fn fits(&self, data: &[u8], at: usize) -> Option<usize> {
        let chunk = data.get(at..)?.first_chunk::<16>()?;
        let there = u128::from_le_bytes(*chunk);
        (there & self.mask == self.text).then_some(self.length)
    }

    /// Keeps a text of plain characters that lies at `start..end` before its closing quote.
    pub fn learn(&mut self, data: &[u8], start: usize, end: usize) {
        if let Some(chunk) = data.get(start..).and_then(|rest| rest.first_chunk::<16>())
            && end - start < 16
        {
            self.mask = u128::MAX >> (8 * (15 - (end - start)));
            self.text = u128::from_le_bytes(*chunk) & self.mask;
            self.length = end - start;
        }
    }
}
