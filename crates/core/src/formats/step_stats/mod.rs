//! RunMetadata and StepStats: every execution of every node, with its outputs and allocations.
//!
//! * [`collect`] walks the file once, keeps where each execution is, and writes graphs as it meets them.
//! * [`layout`] chooses the origin of time, merges devices, packs lanes.
//! * [`emit`] writes slices, executions, tensors and allocations; [`arrows`] ties consumers to producers.
//!
//! StepStats has no threads and no nesting: rows of a device are lanes, packed here. Event files with
//! tagged run metadata ([`crate::formats::event_file`]) feed the same collector, one run of it per record.

pub mod arrows;
pub mod collect;
mod cost;
mod emit;
mod label;
mod layout;
mod node;
mod sniff;
mod spool;

use crate::error::Result;
use crate::formats::Format;
use crate::formats::graph::{nothing, report_walk};
use crate::input::Input;
use crate::proto::messages::{RUN_METADATA, STEP_STATS};
use crate::proto::probe::{self, Form};
use crate::proto::text::walk_text;
use crate::proto::walk::walk;
use crate::store::{Options, Writer};
use collect::Collector;
pub use node::{Allocation, allocation, number};

/// The entry of RunMetadata and StepStats in the list of formats.
pub const FORMAT: Format =
    Format { name: "run_metadata", sniff: sniff::sniff, decode: Some(decode), lazy: None };

/// Decodes a RunMetadata or a bare StepStats, binary or text.
pub fn decode(input: &Input, options: &Options, writer: &mut Writer) -> Result<()> {
    let mut read = probe::Head::new(input.open()?)?;
    let (root, form) = probe::choose(&read, &[&RUN_METADATA, &STEP_STATS])?;
    let mut collector = Collector::new(writer);
    let walked = match form {
        Form::Binary => walk(&mut read, root, 0, &mut collector)?,
        Form::Text => walk_text(&mut read, root, 0, &mut collector)?,
    };
    if collector.parts == 0
        || (!(collector.any_runs() || collector.any_graphs()) && walked.unknown_fields > 0)
    {
        return Err(nothing(&walked, "RunMetadata"));
    }
    collector.finish(options)?;
    report_walk(writer, &walked);
    Ok(())
}
