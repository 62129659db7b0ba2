//! Whether work that may take long is still wanted: asked every so many of its steps.

use crate::error::{Error, Kind, Result};
use std::cell::Cell;

/// Steps from one question to the next: hundreds of microseconds.
const EACH: usize = 1 << 16;

/// Counts the steps of some work, and asks now and then whether anybody still wants it.
pub struct Wanted<'a> {
    ask: &'a dyn Fn() -> bool,
    left: Cell<usize>,
}

impl<'a> Wanted<'a> {
    /// Work that goes on for as long as `ask` says so.
    #[must_use]
    pub fn while_(ask: &'a dyn Fn() -> bool) -> Self {
        let left = Cell::new(EACH);
        Wanted { ask, left }
    }

    /// Counts a step.
    ///
    /// # Errors
    /// The work is not wanted any more.
    pub fn step(&self) -> Result<()> {
        self.steps(1)
    }

    /// Counts several steps.
    ///
    /// # Errors
    /// The work is not wanted any more.
    pub fn steps(&self, number: usize) -> Result<()> {
        if let Some(left) = self.left.get().checked_sub(number) {
            self.left.set(left);
            return Ok(());
        }
        self.left.set(EACH);
        if (self.ask)() { Ok(()) } else { Err(Error::new(Kind::Interrupted, "stopped by the caller")) }
    }
}

impl Wanted<'static> {
    /// Work that nobody stops.
    #[must_use]
    pub fn always() -> Self {
        const YES: fn() -> bool = || true;
        Wanted::while_(&YES)
    }
}
