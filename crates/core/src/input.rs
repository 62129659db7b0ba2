//! Bytes to decode, plain or deflated, with the guard against bombs.
