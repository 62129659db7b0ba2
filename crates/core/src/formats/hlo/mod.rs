//! Compiled programs: XLA's HLO as a proto or as text, into one module in memory; what it costs and what memory it
//! takes. [`tables`] writes it as rows.

pub mod buffers;
pub mod cost;
pub mod diff;
mod frames;
pub mod head;
mod inner;
mod line;
pub mod model;
mod proto;
mod scan;
pub mod shape;
mod sharding;
pub mod shared;
pub mod summary;
pub mod tables;
mod text;
mod window;

pub use frames::Frame;
pub use model::Module;

use crate::error::Result;

/// Reads a module from whatever holds one: `HloProto`, a bare `HloModuleProto`, `HloSnapshot`, text.
pub fn module(bytes: &[u8]) -> Result<Module> {
    if text::looks_like(bytes) { text::read(bytes) } else { proto::read(bytes) }
}

#[cfg(test)]
mod tests;
