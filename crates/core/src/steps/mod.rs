//! What each instant of a step goes to, and what that adds up to.
//!
//! What a label is, and which one an instant gets, is decided in Python (`stepscope.instruments.step_breakdown`); here
//! labels are numbers, and time is swept.

pub mod callers;
pub mod innermost;
pub mod sums;
pub mod sweep;
pub mod thread;

/// The number of a label, from 0 on.
pub type Label = u8;
