//! The only unsafe code of the core: files as memory, and texts that need no second check.

#![allow(unsafe_code)]

use crate::error::{Error, Kind, Result};
use arrow_array::StringArray;
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use std::fs::File;
use std::path::Path;

/// A whole file of a store as memory, without reading it. `bytes` is the size it must have.
pub fn map(path: &Path, bytes: u64) -> Result<Buffer> {
    let file = File::open(path)?;
    let found = file.metadata()?.len();
    if found != bytes {
        return Err(Error::new(
            Kind::Damaged,
            format!("{} holds {found} bytes instead of {bytes}", path.display()),
        ));
    }
    if bytes == 0 {
        return Ok(Buffer::from(Vec::<u8>::new()));
    }
    // SAFETY: the file is a finished file of a store. Stores live in folders of their own, their
    // files get their final names when they are complete and are replaced by renaming, never changed
    // or cut in place; so the mapped bytes stay as they are. Whoever cuts such a file by hand while
    // it is read gets the signal that every program that maps files would get.
    let map = unsafe { memmap2::Mmap::map(&file)? };
    Ok(Buffer::from(bytes::Bytes::from_owner(map)))
}

/// An Arrow column of texts, without looking at the text again.
pub fn texts(
    offsets: OffsetBuffer<i32>,
    data: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<StringArray> {
    let last = offsets.last() as usize;
    let rows = offsets.len() - 1;
    if last > data.len() || nulls.as_ref().is_some_and(|nulls| nulls.len() != rows) {
        return Err(Error::new(Kind::Damaged, "texts are cut short"));
    }
    // SAFETY: OffsetBuffer has checked that the offsets do not fall, the lines above that they lie
    // within the data. The data is UTF-8, each text by itself: the writer has checked it before it
    // was kept (part.rs), and a stored column is compared with the hash of what was written before
    // it gets here.
    Ok(unsafe { StringArray::new_unchecked(offsets, data, nulls) })
}
