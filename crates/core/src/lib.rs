//! Bytes in, Arrow columns out.
//!
//! One file per format turns bytes into [`columns`]; [`store`] nests the slices, keeps the tables
//! and hands them out as Arrow streams. Nothing here knows of Python or of a query engine.

mod arena;
mod bits;
mod blocks;
pub mod checkpoint;
pub mod chrome;
pub mod columns;
pub mod crc;
pub mod error;
pub mod event_file;
pub mod facts;
mod flows;
pub mod graph;
pub mod graph_attr;
mod heap;
pub mod hlo;
mod index;
pub mod input;
mod ipc;
pub mod json;
pub mod json_text;
mod lazy_args;
mod mapping;
pub mod markers;
pub mod messages;
pub mod nesting;
pub mod node_def;
pub mod options;
mod packed;
mod packing;
pub mod parquet;
pub mod part;
mod part_writer;
mod placed;
pub mod pool;
mod pooled;
pub mod probe;
mod random;
pub mod raw;
mod rows;
mod runs;
mod slices;
mod stage;
pub mod step_stats;
pub mod store;
mod stream;
pub mod table;
pub mod text_proto;
mod text_token;
pub mod tfprof;
pub mod timeline;
mod unpack;
pub mod walk;
pub mod wire;
pub mod wire_writer;
mod writer;
pub mod xplane;

use error::{Error, Kind, Result};
use input::Input;
use options::Options;
use store::{Store, Writer};

/// Raised whenever the same bytes would give other rows.
pub const DECODER_VERSION: u32 = 4;

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
