//! Memory for the buffers of one batch: a single stretch for all of them, in large pages where the system
//! has some. Fresh memory costs more than filling it: less of it, got in fewer pieces, is what is saved.

use crate::error::Result;
use arrow_buffer::{Buffer, MutableBuffer};
use memmap2::MmapMut;
use std::ops::Range;

/// Buffers begin where engines may read them in place.
const ALIGN: usize = 64;
/// From this size on memory comes from the system itself; less is not worth a call.
const LARGE_BYTES: usize = 1 << 20;

/// Memory being filled.
pub enum Arena {
    /// From the allocator.
    Small(MutableBuffer),
    /// From the system; how much of it is filled.
    Large(MmapMut, usize),
}

impl Arena {
    /// Room for so many bytes in so many buffers. What is not filled costs nothing.
    pub fn new(bytes: usize, buffers: usize) -> Result<Arena> {
        let room = bytes + buffers * ALIGN;
        if room < LARGE_BYTES {
            return Ok(Arena::Small(MutableBuffer::with_capacity(room)));
        }
        let map = MmapMut::map_anon(room)?;
        // Without large pages it is as good, only slower.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Arena::Large(map, 0))
    }

    /// Adds a buffer that lies in several stretches; returns where it is.
    pub fn put<'a>(&mut self, stretches: impl IntoIterator<Item = &'a [u8]>) -> Range<usize> {
        let start = match self {
            Arena::Small(buffer) => {
                buffer.resize(buffer.len().next_multiple_of(ALIGN), 0);
                buffer.len()
            }
            Arena::Large(_, filled) => {
                *filled = filled.next_multiple_of(ALIGN);
                *filled
            }
        };
        let mut end = start;
        for stretch in stretches {
            match self {
                Arena::Small(buffer) => buffer.extend_from_slice(stretch),
                Arena::Large(map, filled) => {
                    map[end..end + stretch.len()].copy_from_slice(stretch);
                    *filled = end + stretch.len();
                }
            }
            end += stretch.len();
        }
        start..end
    }

    /// Ends it; its buffers are slices of what is returned.
    pub fn finish(self) -> Buffer {
        match self {
            Arena::Small(buffer) => buffer.into(),
            Arena::Large(map, _) => Buffer::from(bytes::Bytes::from_owner(map)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_from_small_and_large_memory() {
        for size in [0, 1, 100, 3 << 20] {
            let long: Vec<u8> = (0..size).map(|i| (i % 251) as u8).collect();
            let mut arena = Arena::new(2 * size + 3, 3).unwrap();
            let places = [
                arena.put([long.as_slice()]),
                arena.put([&b"ab"[..], &b"c"[..]]),
                arena.put([&long[..size / 2], &long[size / 2..]]),
            ];
            let memory = arena.finish();
            let found = places.map(|place| {
                assert_eq!((memory.as_ptr() as usize + place.start) % ALIGN, 0);
                memory.slice_with_length(place.start, place.len())
            });
            assert_eq!(
                found.each_ref().map(|buffer| buffer.as_slice()),
                [long.as_slice(), b"abc", long.as_slice()]
            );
        }
    }
}
