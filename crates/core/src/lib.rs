//! Bytes in, Arrow columns out.
//!
//! One file per format turns bytes into [`columns`]; [`store`] nests the slices, keeps the tables
//! and hands them out as Arrow streams. Nothing here knows of Python or of a query engine.

pub mod columns;
pub mod error;
pub mod input;
pub mod markers;
pub mod store;
pub mod wire;
