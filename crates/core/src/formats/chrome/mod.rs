//! The trace-event format of Chrome: JSON, as written by TensorFlow's Timeline and profiler, JAX,
//! PyTorch's Kineto, Horovod, VizTracer and many more.
//!
//! ```text
//! split     bytes to pieces, pieces to threads      event     one piece, event by event
//! outer     the file around the pieces              field     a value of an event, args its arguments
//! members   what stands beside the events           keys      their names
//! resync    what cannot be read                     place     events to columns and records
//! commit    pieces to the writer, in order          repair    odd events
//! codes     texts of workers to the writer's        time      exact times
//! merge     slices in the order of the file         threads   those met last
//! habit     what came next the last time            recent    texts met last
//! class     what categories say of rows
//! rows      records to rows                         tracks    threads, counters, sequences
//! spans     begin and end to slices                 origin    where the clock begins
//! ```
//!
//! Format: "Trace Event Format", Google, <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>.

mod args;
mod class;
mod codes;
mod commit;
mod event;
mod field;
mod habit;
mod keys;
mod members;
mod merge;
mod notes;
mod origin;
mod outer;
mod piece;
mod place;
mod producer;
mod recent;
mod repair;
mod resync;
mod rows;
mod sniff;
mod spans;
mod split;
mod threads;
mod time;
mod tracks;

use crate::error::Result;
use crate::formats::Format;
use crate::input::Input;
use crate::options::Options;
use crate::store::Writer;

/// Chrome's traces, as the list of formats has them.
pub const FORMAT: Format =
    Format { name: "chrome_trace", sniff: sniff::sniff, decode: Some(decode), lazy: None };

/// Size of a piece: it stays in the processor's second cache from being read to being parsed.
const PIECE_BYTES: usize = 1 << 20;
/// Longest event that is kept.
const EVENT_BYTES: usize = 64 << 20;

/// Decodes a trace. Options: `piece_bytes` and `event_bytes` set the sizes above.
///
/// # Errors
/// `NotThisFormat` when the bytes are no JSON object with `traceEvents` and no array; `Damaged` when
/// they end or break before the first event. Later damage is noted, and everything else is kept.
pub fn decode(input: &Input, options: &Options, writer: &mut Writer) -> Result<()> {
    let rules = event::Rules {
        keep_args: options.needs.args,
        ops: options.needs.ops,
        tables: options.needs.tables,
        max_event: split::number(&options.extra, "event_bytes", EVENT_BYTES)?,
        origin_us: None,
    };
    let piece_bytes = split::number(&options.extra, "piece_bytes", PIECE_BYTES)?;
    let committer = commit::Committer::new(writer, options.needs, rules);
    let outer = outer::Outer::new(committer, rules);
    split::run(input.open()?, outer, rules, options.threads.max(1), piece_bytes)
}

#[cfg(test)]
mod tests;
