//! The threads met last, so that most events need no search for theirs.

use super::class::Class;
use super::event::Event;
use super::field::Field;
use crate::columns::NONE;

/// Tracks of the threads met last, by process and thread id where both are short.
pub(super) struct Threads(pub Vec<(ThreadKey, u32)>);

/// Both ids as words, and their lengths and shapes with the class of the event.
pub(super) type ThreadKey = (u64, u64, u32);

const THREADS: usize = 256;

impl Default for Threads {
    fn default() -> Self {
        Threads(vec![((0, 0, 0), NONE); THREADS])
    }
}

impl Threads {
    #[inline]
    /// What an event is found by, and where.
    pub fn place(&self, event: &Event, class: Class, data: &[u8]) -> Option<(ThreadKey, usize)> {
        let word = |field: Field| {
            let length = field.end - field.start;
            let chunk = data.get(field.start as usize..)?.first_chunk::<8>()?;
            let plain = length <= 8 && field.odd == 0;
            let mask = if length >= 8 { u64::MAX } else { !(u64::MAX << (8 * length)) };
            plain.then_some((u64::from_le_bytes(*chunk) & mask, length << 1 | field.present() as u32))
        };
        let (pid, pid_form) = word(event.pid)?;
        let (tid, tid_form) = word(event.tid)?;
        // Never 0, which stands for an entry that is free. A form has five bits, a class 17.
        let form = 1 << 31 | class.small()? << 13 | pid_form << 8 | tid_form;
        let hash = (pid.rotate_left(32) ^ tid ^ u64::from(form)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Some(((pid, tid, form), (hash >> 56) as usize))
    }
}
