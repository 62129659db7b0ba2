//! What one stretch of the file gives: columns of slices, records of everything else, and counts.

use crate::columns::{NONE, SliceColumns};

/// What can be wrong with an event. Slugs and effects: [`super::notes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Flaw {
    EmptyEvent,
    NotAnEvent,
    MissingPhase,
    MissingTime,
    BadTime,
    TimeOutOfRange,
    NegativeDuration,
    MissingDuration,
    LoneSurrogate,
    InvalidUtf8,
    ControlCharacter,
    BadEscape,
    NotANumber,
    TrailingComma,
    DuplicateKey,
    ArgsTooDeep,
    UnknownPhase,
    EndWithoutBegin,
    UnclosedBegin,
    CounterWithoutValue,
    Truncated,
    Damaged,
    EventTooLong,
}

/// Number of [`Flaw`]s.
pub const FLAWS: usize = Flaw::EventTooLong as usize + 1;

/// How often each flaw was met, and where first.
#[derive(Debug, Clone)]
pub struct Flaws(pub [(u64, u64); FLAWS]);

impl Default for Flaws {
    fn default() -> Self {
        Flaws([(0, u64::MAX); FLAWS])
    }
}

impl Flaws {
    /// Counts one at a byte offset.
    pub fn add(&mut self, flaw: Flaw, offset: u64) {
        let (count, first) = &mut self.0[flaw as usize];
        *count += 1;
        *first = (*first).min(offset);
    }
}

/// What ties events together. Arrows have one each, mostly a whole number: interned, those would be
/// most of all texts, each met twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// None was told.
    Missing,
    /// The number whose decimal digits, written the shortest way, are the text.
    Number(u64),
    /// The code of any other text.
    Word(u32),
}

impl Id {
    /// The number that is written as `text`; none when it could be written another way.
    #[inline]
    pub fn number(text: &[u8]) -> Option<Id> {
        // 18 digits always fit.
        let whole = match text {
            [b'0'] => true,
            [b'1'..=b'9', rest @ ..] => rest.len() < 18 && rest.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        let add = |sum: u64, digit: &u8| sum * 10 + u64::from(digit - b'0');
        whole.then(|| Id::Number(text.iter().fold(0, add)))
    }
}

/// An event that is no complete slice. Strings are codes of the piece's interner.
#[derive(Debug, Clone)]
pub struct Record {
    /// The phase, or 0 when it is none of the format's.
    pub phase: u8,
    /// Where the id is valid: `b'l'` in its process, `b'g'` everywhere, `b' '` as the phase has it.
    pub id_scope: u8,
    /// Local track.
    pub track: u32,
    /// Name, or [`NONE`].
    pub name: u32,
    /// Category, or [`NONE`].
    pub category: u32,
    /// Its id.
    pub id: Id,
    /// Scope of the id, or [`NONE`].
    pub scope: u32,
    /// Op name, or [`NONE`].
    pub op_name: u32,
    /// Op type, or [`NONE`].
    pub op_type: u32,
    /// Correlation id, or `MISSING`.
    pub correlation: i64,
    /// Number of the step this marks, or `MISSING`.
    pub step: i64,
    /// Picoseconds from the piece's base; 0 for metadata.
    pub ts_ps: i64,
    /// End of its JSON text in `args`; the text begins where the one before ends.
    pub args_end: usize,
    /// Byte offset of the event from the start of the piece.
    pub offset: usize,
    /// Complete slices of the piece before this.
    pub slices_before: u32,
}

/// What one stretch of the file gives.
#[derive(Debug, Default)]
pub struct Piece {
    /// Complete slices, strings and tracks as local codes, times from `base_us`.
    pub slices: SliceColumns,
    /// Slices with a step number: index and number.
    pub steps: Vec<(u32, i64)>,
    /// Everything else, in the order of the file.
    pub records: Vec<Record>,
    /// The arguments of the records.
    pub args: Vec<u8>,
    /// Microseconds that times count from; None while the piece has no timed event.
    pub base_us: Option<i64>,
    /// The first times in whole microseconds, for choosing an origin.
    pub first_us: Vec<i64>,
    /// Earliest start and latest end of slices and records, from `base_us`.
    pub reach: Option<(i64, i64)>,
    /// A time did not fit from a base that was a guess: read the piece again from the true origin.
    pub stretched: bool,
    /// Elements of the array.
    pub seen: u64,
    /// Elements that gave nothing.
    pub lost: u64,
    /// Elements that were repaired.
    pub repaired: u64,
    /// Commas between elements.
    pub commas: u64,
    /// What was wrong; offsets count from the start of the piece.
    pub flaws: Flaws,
}

/// A hash for short texts: two words at a time, each pair folded into one product, so that the
/// products do not wait for one another. Longer texts are hashed in stripes.
#[inline]
fn hash(text: &[u8], seed: u64) -> u64 {
    if text.len() > 128 {
        return xxhash_rust::xxh3::xxh3_64_with_seed(text, seed);
    }
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let pair = |chunk: &[u8; 16], round: u64| {
        let word = u128::from_le_bytes(*chunk);
        fold(
            word as u64 ^ seed.wrapping_add(round),
            (word >> 64) as u64 ^ seed.rotate_left(29).wrapping_sub(round),
        )
    };
    let (mut state, mut round) = (seed ^ text.len() as u64, 0_u64);
    let mut rest = text;
    while let Some((chunk, more)) = rest.split_first_chunk::<16>() {
        round = round.wrapping_add(0x9e37_79b9_7f4a_7c15);
        state ^= pair(chunk, round);
        rest = more;
    }
    // The last words again, or all of a text that is shorter.
    let last = match (text.last_chunk::<16>(), text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(chunk), ..) => pair(chunk, 0),
        (None, Some(first), Some(last)) => {
            fold(u64::from_le_bytes(*first) ^ seed, u64::from_le_bytes(*last) ^ seed.rotate_left(29))
        }
        _ => text.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    fold(state ^ last, 0x9e37_79b9_7f4a_7c15)
}

/// Equality of texts that are mostly short: eight bytes at a time, without a call.
#[inline]
fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let (Some(a_last), Some(b_last)) = (a.last_chunk::<8>(), b.last_chunk::<8>()) else {
        return a.iter().zip(b).all(|(a, b)| a == b);
    };
    let (a_chunks, _) = a.as_chunks::<8>();
    let (b_chunks, _) = b.as_chunks::<8>();
    a_last == b_last && a_chunks.iter().zip(b_chunks).all(|(a, b)| a == b)
}

/// Texts to codes, for one worker. Starts afresh now and then, so that it stays small.
#[derive(Debug)]
pub struct Interner {
    slots: Vec<(u32, u32)>,
    ends: Vec<u32>,
    text: Vec<u8>,
    seed: u64,
}

impl Default for Interner {
    fn default() -> Self {
        // Seeded, so that no file can be made of names that all collide.
        use std::hash::BuildHasher;
        let seed = std::hash::RandomState::new().hash_one(0);
        Interner { slots: vec![(0, NONE); 1024], ends: Vec::new(), text: Vec::new(), seed }
    }
}

impl Interner {
    /// The code of `text`, which is valid UTF-8.
    #[inline]
    pub fn intern(&mut self, text: &[u8]) -> u32 {
        let hash = hash(text, self.seed);
        let tag = (hash >> 32) as u32;
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (slot_tag, code) = self.slots[slot];
            if code == NONE {
                return self.insert(text, slot, tag);
            }
            if slot_tag == tag && same(self.get(code), text) {
                return code;
            }
            slot = (slot + 1) & mask;
        }
    }

    #[cold]
    fn insert(&mut self, text: &[u8], slot: usize, tag: u32) -> u32 {
        let code = self.ends.len() as u32;
        self.slots[slot] = (tag, code);
        self.text.extend_from_slice(text);
        self.ends.push(self.text.len() as u32);
        // Small tables are kept half empty, for speed; those of millions of tracks fuller.
        let (part, whole) = if self.slots.len() < 1 << 18 { (1, 2) } else { (3, 4) };
        if self.ends.len() * whole > self.slots.len() * part {
            let mask = self.slots.len() * 2 - 1;
            let mut slots = vec![(0, NONE); mask + 1];
            for code in 0..self.ends.len() as u32 {
                let hash = hash(self.get(code), self.seed);
                let mut slot = hash as usize & mask;
                while slots[slot].1 != NONE {
                    slot = (slot + 1) & mask;
                }
                slots[slot] = ((hash >> 32) as u32, code);
            }
            self.slots = slots;
        }
        code
    }

    /// The text of a code.
    #[inline]
    pub fn get(&self, code: u32) -> &[u8] {
        let code = code as usize;
        let start = if code == 0 { 0 } else { self.ends[code - 1] as usize };
        &self.text[start..self.ends[code] as usize]
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all texts.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }
}

/// What a worker's interners learnt while it read a piece.
#[derive(Debug, Default)]
pub struct Delta {
    /// Whose codes the piece uses: every scanner has its own, and a new one when it starts afresh.
    pub owner: (usize, u32),
    /// New texts.
    pub words: Texts,
    /// New tracks.
    pub tracks: Texts,
}

/// Texts one after the other.
#[derive(Debug, Default)]
pub struct Texts {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    /// The texts of an interner from code `from` on.
    pub fn since(interner: &Interner, from: usize) -> Texts {
        let mut texts = Texts::default();
        for code in from..interner.len() {
            texts.text.extend_from_slice(interner.get(code as u32));
            texts.ends.push(texts.text.len());
        }
        texts
    }

    /// Adds all of `more`.
    pub fn append(&mut self, more: &Texts) {
        let shift = self.text.len();
        self.text.extend_from_slice(&more.text);
        self.ends.extend(more.ends.iter().map(|end| end + shift));
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// A text by its number.
    pub fn get(&self, code: u32) -> &[u8] {
        let code = code as usize;
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.text[start..self.ends[code]]
    }
}
