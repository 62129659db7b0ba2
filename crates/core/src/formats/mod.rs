//! The formats: each module turns bytes into columns, and is the only place that knows its format.

pub mod checkpoint;
pub mod chrome;
pub mod event_file;
pub mod graph;
pub mod hlo;
pub mod markers;
pub mod step_stats;
pub mod xplane;

use crate::error::{Error, Kind, Result};
use crate::input::Input;
use crate::options::Options;
use crate::store::{Store, Writer};

type Decoder = fn(&Input, &Options, &mut Writer) -> Result<()>;

/// The decoders by the name of their format.
const DECODERS: &[(&str, Decoder)] = &[
    ("chrome_trace", chrome::decode),
    ("event_file", event_file::decode),
    ("graph", graph::decode),
    ("run_metadata", step_stats::decode),
    ("xplane", xplane::decode),
];

/// Decodes `input` as `format`.
pub fn decode(format: &str, input: &Input, options: &Options) -> Result<Store> {
    let Some((_, decoder)) = DECODERS.iter().find(|(name, _)| *name == format) else {
        return Err(Error::new(
            Kind::NotThisFormat,
            format!("no decoder is called {format}"),
        ));
    };
    let mut writer = Writer::new(options)?;
    // The hash stands in the table of sources, which is not asked for where no table is.
    let hashed = options.keep && options.needs.tables;
    if hashed {
        input.hash_in_passing();
    }
    decoder(input, options, &mut writer)?;
    // What was not hashed in passing is read once more, while the last rows are being written.
    std::thread::scope(|scope| {
        let hash = hashed.then(|| scope.spawn(|| input.content_hash()));
        writer.finish_with(|facts| {
            if let Some(hash) = hash {
                let died = |_| Err(Error::new(Kind::Io, "the thread that hashes died"));
                facts.content_hash = hash.join().unwrap_or_else(died)?;
            }
            facts.bytes_in = input.bytes_in();
            Ok(())
        })
    })
}
