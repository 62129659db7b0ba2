//! The only unsafe code of the core: files as memory, and texts that need no second check.

#![allow(unsafe_code)]

use crate::error::{Error, Kind, Result};
use arrow_array::builder::make_view;
use arrow_array::types::Int32Type;
use arrow_array::{Array, PrimitiveArray, StringArray, StringViewArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

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
    // or cut in place; so the mapped bytes stay as they are. If somebody cuts such a file by hand
    // while it is read, SIGBUS ends the process, as in every program that maps files.
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

/// The texts behind codes, row by row, without copying texts.
pub fn pick(codes: &PrimitiveArray<Int32Type>, texts: &StringArray) -> Result<StringViewArray> {
    let (offsets, data) = (texts.value_offsets(), texts.value_data());
    let mut views = Vec::with_capacity(codes.len());
    for (row, code) in codes.values().iter().enumerate() {
        if codes.is_null(row) {
            views.push(0);
            continue;
        }
        let code = usize::try_from(*code)
            .ok()
            .filter(|code| *code < texts.len());
        let code = code.ok_or_else(|| Error::new(Kind::Damaged, "a code without its text"))?;
        let (start, end) = (offsets[code] as usize, offsets[code + 1] as usize);
        views.push(make_view(&data[start..end], 0, start as u32));
    }
    let (views, nulls) = (ScalarBuffer::from(views), codes.nulls().cloned());
    // SAFETY: each view was made above from one whole text of a column of texts, and points into the
    // only buffer; empty views of NULL rows point nowhere. There are as many views as codes.
    Ok(unsafe { StringViewArray::new_unchecked(views, Arc::new([texts.values().clone()]), nulls) })
}
