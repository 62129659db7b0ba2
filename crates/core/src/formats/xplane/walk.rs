//! The fields of a space or a plane one after the other, over damaged places too.

use super::resync::{self, Looks};
use super::tally::{Problem, Tally};
use super::window::{Extent, Head, Trouble, Window};

/// Walks over the fields of one message that holds long ones.
pub struct Walk {
    at: u64,
    end: u64,
    looks: Looks,
    /// Number of the field whose payload is worth reading although it is cut.
    long: u32,
    /// True when what holds this message is cut itself, so that its end is not a real one.
    cut: bool,
}

/// A field, and whether its payload ends early.
pub struct Part {
    pub head: Head,
    pub cut: bool,
}

impl Walk {
    pub fn space(extent: Extent) -> Self {
        Walk { at: extent.start, end: extent.end, looks: resync::SPACE, long: 1, cut: false }
    }

    pub fn plane(extent: Extent, cut: bool) -> Self {
        Walk { at: extent.start, end: extent.end, looks: resync::PLANE, long: 3, cut }
    }

    /// The next field, None at the end. Damage is counted; after it the walk goes on where fields
    /// are whole again. A long field that reaches too far ends there.
    pub fn next(&mut self, window: &mut Window<'_>, tally: &mut Tally) -> Result<Option<Part>, Trouble> {
        while self.at < self.end {
            let at = self.at;
            match window.field(at, self.end) {
                Ok(None) => break,
                Ok(Some(head)) if !head.cut => {
                    self.at = head.body.end;
                    return Ok(Some(Part { head, cut: false }));
                }
                Ok(Some(mut head)) if head.is(self.long) => {
                    let next = self.resync(window, head.body.start, tally)?;
                    head.body.end = next.unwrap_or(self.end);
                    self.at = head.body.end;
                    return Ok(Some(Part { head, cut: next.is_none() }));
                }
                Ok(Some(_)) | Err(Trouble::Damage(_)) => {
                    self.at = self.resync(window, at + 1, tally)?.unwrap_or(self.end);
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(None)
    }

    fn resync(
        &mut self,
        window: &mut Window<'_>,
        from: u64,
        tally: &mut Tally,
    ) -> Result<Option<u64>, Trouble> {
        let rest = Extent { start: from.min(self.end), end: self.end };
        let next = resync::find(window, rest, self.looks)?;
        // How many events that cost is not known; a line that is cut counts its own.
        let problem = if next.is_none() { Problem::Truncated } else { Problem::Structure };
        if next.is_some() || !self.cut {
            tally.add(problem, 0, self.at);
        }
        Ok(next)
    }
}
