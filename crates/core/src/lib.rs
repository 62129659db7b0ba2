//! Bytes in, Arrow columns out.
//!
//! One room for each stage; later rooms import earlier ones, never the other way round:
//!
//! * [`columns`], [`error`], [`facts`], [`options`]: what every room speaks of.
//! * [`input`]: bytes, plain or packed; [`proto`] and [`json`]: the two syntaxes that traces are written in.
//! * [`store`]: nests slices, keeps tables in memory or in a folder, hands them out as Arrow streams and
//!   writes them as Parquet. It knows no format.
//! * [`classes`]: what a slice is, by what it is called.
//! * [`replay`]: what steps would take if something in them took less time.
//! * [`rollup`]: what slices of a finished store add up to.
//! * [`layout`]: where the boxes of a graph lie.
//! * [`lod`]: what a timeline shows of millions of slices in a window of a few thousand pixels.
//! * [`spans`]: unions of spans of time.
//! * [`formats`]: one decoder for each format, from [`input`] to [`columns`].
//!
//! Nothing here knows of Python or of a query engine.

pub mod classes;
pub mod columns;
pub mod error;
pub mod facts;
pub mod formats;
pub mod input;
pub mod json;
pub mod layout;
pub mod lod;
pub mod options;
pub mod proto;
pub mod replay;
pub mod rollup;
pub mod spans;
pub mod steps;
pub mod store;
pub mod wanted;

pub use formats::{decode, open};

/// Raised whenever the same bytes would give other rows than in the release before.
pub const DECODER_VERSION: u32 = 22;
