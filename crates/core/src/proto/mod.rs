//! Protocol Buffers: the wire format, the text format, and messages described by tables.

pub mod messages;
pub mod pprof;
pub mod probe;
pub mod score;
pub(crate) mod stream;
#[rustfmt::skip] // generated
mod tensorflow;
pub mod text;
mod token;
pub mod walk;
pub mod wire;
pub mod wire_writer;
