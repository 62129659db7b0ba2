//! The formats: each module turns bytes into columns, and is the only place that knows its format.

pub mod checkpoint;
pub mod chrome;
pub mod event_file;
pub mod graph;
pub mod hlo;
pub mod markers;
pub mod node_names;
pub mod step_stats;
pub mod tfprof_profile;
pub mod xplane;

use crate::error::{Error, Kind, Result};
use crate::input::Input;
use crate::options::Options;
use crate::proto::messages::Message;
use crate::proto::score;
use crate::store::lazy_text::Lazy;
use crate::store::{Store, Writer};
use std::path::Path;

type Decoder = fn(&Input, &Options, &mut Writer) -> Result<()>;

/// What is special about a format; one constant beside each decoder.
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// Whether a file looks like it, by its unpacked beginning (64 KiB; a shorter one is the whole file) and by
    /// its base name, which is a hint and never a proof. Cheap, and total: any bytes give an answer.
    pub sniff: fn(head: &[u8], name: &str) -> bool,
    /// Decodes it; none where tables are made elsewhere.
    pub decode: Option<Decoder>,
    /// How the args that it keeps become text, where that is left for later.
    pub lazy: Option<Lazy>,
}

/// All formats.
pub static FORMATS: [Format; 7] = [
    checkpoint::FORMAT,
    chrome::FORMAT,
    event_file::FORMAT,
    graph::FORMAT,
    step_stats::FORMAT,
    tfprof_profile::FORMAT,
    xplane::FORMAT,
];

/// The message of TensorFlow's that a file begins with, by its fields or by their names as text.
fn message(head: &[u8], name: &str) -> Option<&'static Message> {
    // What lacks the name that comes first may read as a plane's: an op without one, or statistics of a device. A
    // table of a checkpoint may hold messages; how it begins and ends is no accident.
    score::root(head).filter(|_| !xplane::sniff(head, name) && !checkpoint::sniff(head, name))
}

/// The format with this name.
pub fn by_name(name: &str) -> Result<&'static Format> {
    let found = FORMATS.iter().find(|format| format.name == name);
    found.ok_or_else(|| Error::new(Kind::NotThisFormat, format!("no format is called {name}")))
}

/// Opens a store that some decoder wrote into a folder.
pub fn open(folder: &Path) -> Result<Store> {
    let lazy: Vec<Lazy> = FORMATS.iter().filter_map(|format| format.lazy).collect();
    Store::open(folder, &lazy)
}

/// Decodes `input` as `format`.
pub fn decode(format: &str, input: &Input, options: &Options) -> Result<Store> {
    let Some(decoder) = by_name(format)?.decode else {
        let seen = format!("{format} is listed, not decoded");
        return Err(Error::new(Kind::NotThisFormat, seen));
    };
    let mut writer = Writer::new(options)?;
    // The hash lives in the table of sources: skip it when no table is needed.
    let hashed = options.keep && options.needs.tables;
    if hashed {
        input.hash_in_passing();
    }
    decoder(input, options, &mut writer)?;
    // What was not hashed in passing is read again, while the last rows are being written.
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
