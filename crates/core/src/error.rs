//! What can go wrong in a decoder, and where in the bytes.

use std::fmt;

/// The kinds of failure. Each maps to one class of Python error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The bytes are not of the format at all; nothing could be decoded.
    NotThisFormat,
    /// The bytes are damaged so early that nothing was decoded.
    Damaged,
    /// A safety limit was reached: expansion ratio, size, nesting.
    Limit,
    /// Reading or writing failed.
    Io,
    /// The caller asked to stop.
    Interrupted,
}

/// A failure with its place. A decoder that could save some events does not fail: it notes the
/// damage with [`crate::store::Writer::note`] and returns what it has.
#[derive(Debug, Clone)]
pub struct Error {
    /// What kind of failure.
    pub kind: Kind,
    /// Byte offset after decompression, when the failure has a place.
    pub offset: Option<u64>,
    /// What was seen, as one sentence without a full stop.
    pub seen: String,
}

/// Result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A failure at a byte offset.
    pub fn at(kind: Kind, offset: u64, seen: impl Into<String>) -> Self {
        Error { kind, offset: Some(offset), seen: seen.into() }
    }

    /// A failure without a place.
    pub fn new(kind: Kind, seen: impl Into<String>) -> Self {
        Error { kind, offset: None, seen: seen.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "{} (byte {offset})", self.seen),
            None => f.write_str(&self.seen),
        }
    }
}

impl std::error::Error for Error {}

/// True for an error that is about what was read, and not about reading: packed bytes that make no sense.
fn in_the_bytes(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    error.raw_os_error().is_none() && matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        // Readers hand our own errors through `io::Error`; nothing of them is lost.
        match error.downcast::<Error>() {
            Ok(own) => own,
            Err(error) => {
                let kind = if in_the_bytes(&error) { Kind::Damaged } else { Kind::Io };
                Error::new(kind, error.to_string())
            }
        }
    }
}
