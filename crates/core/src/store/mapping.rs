//! Files as memory, and texts that need no second check: with `guard`, the only unsafe code of the core.

#![allow(unsafe_code)]

use crate::error::{Error, Kind, Result};
use crate::store::guard::Guarded;
use arrow_array::builder::make_view;
use arrow_array::types::Int32Type;
use arrow_array::{Array, PrimitiveArray, StringArray, StringViewArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file as memory.
#[derive(Debug, Clone)]
pub struct Mapped {
    /// Its bytes.
    pub bytes: Buffer,
    path: PathBuf,
    map: Option<Arc<Guarded>>,
}

impl Mapped {
    /// An error when bytes that were read since it was mapped are gone: the file was cut, or its disk failed.
    ///
    /// # Errors
    /// What was read is not what the file had.
    pub fn check(&self) -> Result<()> {
        if self.map.as_ref().is_none_or(|map| map.is_whole()) {
            return Ok(());
        }
        Err(Error::new(
            Kind::Damaged,
            format!("{} was cut, or its disk failed, while it was read", self.path.display()),
        ))
    }
}

/// Keeps a mapping for the buffers over it.
struct Owner(Arc<Guarded>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

/// A whole file of a store as memory, without reading it. `bytes` is the size it must have.
pub fn map(path: &Path, bytes: u64) -> Result<Mapped> {
    let file = File::open(path)?;
    let found = file.metadata()?.len();
    if found != bytes {
        return Err(Error::new(
            Kind::Damaged,
            format!("{} holds {found} bytes instead of {bytes}", path.display()),
        ));
    }
    let path = path.to_owned();
    if bytes == 0 {
        return Ok(Mapped { bytes: Buffer::from(Vec::<u8>::new()), path, map: None });
    }
    // SAFETY: the file is a finished file of a store or a lake. Such files get their final names when they
    // are complete and are replaced by renaming, never changed in place; so the mapped bytes stay as they
    // are. Where somebody cuts one all the same, its readers find zeros, and `check` tells them.
    let map = Arc::new(Guarded::new(unsafe { memmap2::Mmap::map(&file)? }));
    Ok(Mapped { bytes: Buffer::from(bytes::Bytes::from_owner(Owner(map.clone()))), path, map: Some(map) })
}

/// An Arrow column of texts, without looking at the text again.
pub fn texts(offsets: OffsetBuffer<i32>, data: Buffer, nulls: Option<NullBuffer>) -> Result<StringArray> {
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
        let code = usize::try_from(*code).ok().filter(|code| *code < texts.len());
        let code = code.ok_or_else(|| Error::new(Kind::Damaged, "a code without its text"))?;
        let (start, end) = (offsets[code] as usize, offsets[code + 1] as usize);
        views.push(make_view(&data[start..end], 0, start as u32));
    }
    let (views, nulls) = (ScalarBuffer::from(views), codes.nulls().cloned());
    // SAFETY: each view was made above from one whole text of a column of texts, and points into the
    // only buffer; empty views of NULL rows point nowhere. There are as many views as codes.
    Ok(unsafe { StringViewArray::new_unchecked(views, Arc::new([texts.values().clone()]), nulls) })
}
