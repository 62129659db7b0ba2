//! Compiled programs: XLA's HLO as a proto or as text, into one module in memory; what it costs and what memory it
//! takes. [`tables`] writes it as rows.

pub mod buffers;
pub mod cost;
pub mod diff;
mod frames;
pub mod head;
mod inner;
pub mod model;
mod names;
mod proto;
mod scan;
pub mod shape;
mod sharding;
pub mod shared;
pub mod stream;
pub mod summary;
pub mod tables;
mod text;
mod window;

pub use frames::Frame;
pub use model::Module;

use crate::error::Result;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads a module from whatever holds one: `HloProto`, a bare `HloModuleProto`, `HloSnapshot`, text.
pub fn module(bytes: &[u8]) -> Result<Module> {
    if text::looks_like(bytes) {
        text::read(bytes)
    } else {
        proto::read(bytes)
    }
}

/// Whether a file is HLO text of more than so many bytes, which is better read in pieces.
pub fn is_long_text(path: &Path, bytes: u64) -> Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() <= bytes {
        return Ok(false);
    }
    let mut head = Vec::new();
    file.by_ref().take(4096).read_to_end(&mut head)?;
    Ok(text::looks_like(&head))
}

#[cfg(test)]
mod tests;
