//! The trace-event format of Chrome: JSON, as written by TensorFlow's Timeline and profiler, JAX,
//! PyTorch's Kineto, Horovod, VizTracer and many more.
//!
//! ```text
//! split     bytes to pieces, pieces to threads      event     one piece to columns and records
//! outer     the file around the pieces, damage      repair    its odd events
//! commit    pieces to the writer, in order          time      exact times
//! rows      records to rows                         tracks    threads, counters, sequences
//! spans     begin and end to slices                 origin    where the clock begins
//! ```
//!
//! Format: "Trace Event Format", Google, <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>.

mod commit;
mod event;
mod notes;
mod origin;
mod outer;
mod piece;
mod producer;
mod repair;
mod rows;
mod spans;
mod split;
mod time;
mod tracks;

use crate::error::Result;
use crate::input::Input;
use crate::options::Options;
use crate::store::Writer;

/// Size of a piece.
const PIECE_BYTES: usize = 4 << 20;
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
        max_event: split::number(&options.extra, "event_bytes", EVENT_BYTES)?,
        origin_us: None,
    };
    let piece_bytes = split::number(&options.extra, "piece_bytes", PIECE_BYTES)?;
    let committer = commit::Committer::new(writer, options.needs, rules);
    let outer = outer::Outer::new(committer, rules);
    split::run(
        input.open()?,
        outer,
        rules,
        options.threads.max(1),
        piece_bytes,
    )
}

#[cfg(test)]
mod tests;
