//! TensorBoard event files: records with checksums, in them events, in those run metadata and graphs.
//!
//! A record is: length (8 bytes), masked CRC32C of the length, data, masked CRC32C of the data. With a
//! wrong length nothing after it can be found; wrong data is left out and the next record read.

mod places;
mod records;
mod sniff;

pub use places::{Message, Places, places};

use crate::error::{Error, Kind, Result};
use crate::formats::Format;
use crate::formats::graph::{report_damage, report_walk};
use crate::formats::step_stats::collect::{Collector, Run};
use crate::input::Input;
use crate::proto::messages::{self, RUN_METADATA};
use crate::proto::stream::Source;
use crate::proto::walk::{Damage, walk};
use crate::store::{Effect, Options, Writer};
use records::{Events, Taker};

/// Longest configuration of a Keras model that is kept.
const CONFIG_LIMIT: usize = 64 << 10;

/// The entry of event files in the list of formats.
pub const FORMAT: Format =
    Format { name: "event_file", sniff: sniff::sniff, decode: Some(decode), lazy: None };

/// Decodes an event file.
pub fn decode(input: &Input, options: &Options, writer: &mut Writer) -> Result<()> {
    let mut read = input.open()?;
    let mut source = Source::new(&mut read, 0);
    let mut collector = Collector::new(writer);
    let mut events = Events::new(&mut collector);
    let damage = events.read(&mut source)?.or(source.cut.take());
    let Events { kinds, records, broken, .. } = events;
    let bytes = source.offset();
    if records == 0 && broken == 0 {
        return Err(no_records(damage, bytes));
    }
    let (of_runs, of_graphs) = (collector.any_runs(), collector.any_graphs());
    collector.writer.facts.meta.insert("records".into(), records.to_string());
    for (kind, count) in &kinds {
        collector.writer.facts.meta.insert(format!("records.{kind}"), count.to_string());
    }
    let summary = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ");
    if !of_runs {
        let detail = if of_graphs {
            format!("{records} records with a graph and no run metadata: {summary}")
        } else if kinds.contains_key("graph_def") || kinds.contains_key("meta_graph_def") {
            format!("{records} records with a graph that has no nodes, and no run metadata: {summary}")
        } else {
            format!("{records} records and in none of them run metadata or a graph: {summary}")
        };
        collector.writer.note("no-trace-in-events", Effect::Info, records, None, detail);
    }
    collector.finish(options)?;
    if let Some(damage) = damage {
        report_damage(writer, &damage);
    }
    Ok(())
}

/// The error of a file without a single record.
fn no_records(damage: Option<Damage>, bytes: u64) -> Error {
    match damage {
        Some(damage) => Error::at(Kind::NotThisFormat, damage.offset, damage.seen),
        None => Error::new(Kind::Damaged, format!("{bytes} bytes without a single record")),
    }
}

impl Taker for Collector<'_> {
    /// A graph; its name says where it comes from.
    fn graph(&mut self, root: &'static messages::Message, bytes: &[u8], offset: u64) -> Result<()> {
        self.graphs.set_prefix(if root.name == "MetaGraphDef" { "meta/" } else { "" });
        let walked = walk(&mut { bytes }, root, offset, self)?;
        report_walk(self.writer, &walked);
        Ok(())
    }

    fn run_metadata(&mut self, tag: String, step: Option<i64>, bytes: &[u8], offset: u64) -> Result<()> {
        self.begin_run(Run { mark: Some(tag.clone()), tag: Some(tag), step });
        let walked = walk(&mut { bytes }, &RUN_METADATA, offset, self)?;
        report_walk(self.writer, &walked);
        Ok(())
    }

    fn keras_model(&mut self, tag: &str, config: &[u8]) {
        if config.len() <= CONFIG_LIMIT {
            let config = String::from_utf8_lossy(config).into_owned();
            self.writer.facts.meta.insert(format!("keras_model.{tag}"), config);
        }
    }

    /// Counts the record as one event lost.
    fn lost(&mut self, slug: &'static str, offset: u64, detail: &str) {
        self.writer.facts.events_seen += 1;
        self.writer.facts.events_lost += 1;
        self.writer.note(slug, Effect::Lost, 1, Some(offset), detail);
    }

    fn go_on(&mut self) -> Result<()> {
        self.writer.check()
    }
}
