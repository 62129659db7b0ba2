//! Files into a [`Model`]: graphs, RunMetadata, op logs, and profiles that hold all of it; and what a trace tells
//! of nodes that ran.

mod graph;
mod op_log;
mod profile;
mod ran;
mod steps;

pub use graph::graph;
pub use op_log::op_log;
pub use profile::profile;
pub use ran::{InStep, Ran, ran};
pub use steps::run_metadata;

use super::model::Model;
use std::io::Read;
use stepscope_core::error::{Error, Kind, Result};
use stepscope_core::input::Input;
use stepscope_core::proto::messages::Message;
use stepscope_core::proto::probe::{self, Form};
use stepscope_core::proto::text::walk_text;
use stepscope_core::proto::walk::{Place, Visitor, Walked, walk};
use stepscope_core::proto::wire::Field;

/// Largest op log or profile.
const WHOLE_LIMIT: u64 = 4 << 30;

fn damaged(damage: &stepscope_core::proto::wire::Damage) -> Error {
    Error::at(Kind::Damaged, damage.offset, damage.seen)
}

/// Reads a message of one of the types, as text or binary.
fn read(input: &Input, roots: &[&'static Message], visitor: &mut dyn Visitor) -> Result<Walked> {
    let mut head = probe::Head::new(input.open()?)?;
    let (root, form) = probe::choose(&head, roots)?;
    let walked = match form {
        Form::Binary => walk(&mut head, root, 0, visitor)?,
        Form::Text => walk_text(&mut head, root, 0, visitor)?,
    };
    match &walked.damage {
        Some(damage) => Err(Error::at(Kind::Damaged, damage.offset, damage.seen.clone())),
        None => Ok(walked),
    }
}

/// Counts of what a walk had to leave out.
#[derive(Default)]
struct Losses {
    broken: u64,
    first: Option<u64>,
}

impl Losses {
    fn add(&mut self, at: Place) -> Result<()> {
        self.broken += 1;
        self.first.get_or_insert(at.offset);
        Ok(())
    }

    fn report(&self, what: &str, model: &mut Model) {
        if let Some(first) = self.first {
            let count = self.broken;
            let text = format!("{count} parts of the {what} could not be read, the first at byte {first}");
            model.warnings.push(text);
        }
    }
}

fn text(field: &Field<'_>) -> String {
    field.text().unwrap_or_default().into_owned()
}

/// All bytes of a file that is not read piece by piece.
fn whole(input: &Input) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.open()?.take(WHOLE_LIMIT + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > WHOLE_LIMIT {
        true => Err(Error::new(Kind::Limit, "the file is larger than 4 GiB")),
        false => Ok(bytes),
    }
}
