//! The records of an event file, and the messages of TensorFlow in them.

use crate::error::Result;
use crate::formats::graph::attr::fields;
use crate::input::crc::masked_crc32c;
use crate::proto::messages::{GRAPH_DEF, META_GRAPH_DEF, Message};
use crate::proto::stream::Source;
use crate::proto::walk::{Damage, UNIT_LIMIT};
use crate::proto::wire::{Field, Fields};
use std::collections::BTreeMap;

/// Plugins of TensorBoard whose summaries hold a RunMetadata.
const RUN_METADATA_PLUGINS: [&str; 2] = ["graph_run_metadata", "graph_run_metadata_graph"];
/// Plugin whose summaries hold a Keras model's configuration.
const KERAS_PLUGIN: &str = "graph_keras_model";

/// What is made of the messages in an event file.
pub trait Taker {
    /// A GraphDef or MetaGraphDef.
    fn graph(&mut self, root: &'static Message, bytes: &[u8], offset: u64) -> Result<()>;

    /// A RunMetadata. `tag` is as in the file, numbered (`#2`) where another one before had it.
    fn run_metadata(&mut self, tag: String, step: Option<i64>, bytes: &[u8], offset: u64) -> Result<()>;

    /// The configuration of a Keras model.
    fn keras_model(&mut self, tag: &str, config: &[u8]);

    /// A record that could not be read; what it held nobody knows.
    fn lost(&mut self, slug: &'static str, offset: u64, detail: &str);

    /// After each record; an error ends the reading.
    fn go_on(&mut self) -> Result<()>;
}

/// The records of an event file, counted.
pub struct Events<'a> {
    taker: &'a mut dyn Taker,
    /// Records by what they hold.
    pub kinds: BTreeMap<String, u64>,
    tags: BTreeMap<String, u32>,
    /// Records that could be read.
    pub records: u64,
    /// Those that could not.
    pub broken: u64,
}

impl<'a> Events<'a> {
    pub fn new(taker: &'a mut dyn Taker) -> Self {
        Events { taker, kinds: BTreeMap::new(), tags: BTreeMap::new(), records: 0, broken: 0 }
    }

    /// Reads the records; gives the damage that ended them early.
    pub fn read(&mut self, source: &mut Source<'_>) -> Result<Option<Damage>> {
        loop {
            let offset = source.offset();
            let damage = |seen: &str| Ok(Some(Damage { offset, seen: seen.into() }));
            let ahead = source.peek(12)?;
            if ahead.is_empty() {
                return Ok(None);
            }
            let Some((frame, rest)) = ahead.split_first_chunk::<8>() else {
                return damage("the file ends inside the length of a record");
            };
            let Some(check) = rest.first_chunk::<4>() else {
                return damage("the file ends inside the length of a record");
            };
            if masked_crc32c(frame) != u32::from_le_bytes(*check) {
                return damage("the length of a record has a wrong checksum");
            }
            let length = u64::from_le_bytes(*frame);
            source.consume(12);
            if length > UNIT_LIMIT {
                self.lose("record-too-large", offset, "records too large to be read whole");
                if !source.skip(length.saturating_add(4))? {
                    return damage("the file ends inside a record");
                }
                continue;
            }
            let length = length as usize;
            let ahead = source.peek(length + 4)?;
            if ahead.len() < length + 4 {
                self.lose("record-cut", offset, "the last record is cut short");
                return damage("the file ends inside a record");
            }
            let (data, check) = ahead[..length + 4].split_at(length);
            if masked_crc32c(data) == u32::from_le_bytes([check[0], check[1], check[2], check[3]]) {
                self.records += 1;
                self.event(data, offset + 12)?;
            } else {
                self.lose("record-checksum", offset, "records whose checksum is wrong");
            }
            source.consume(length + 4);
            self.taker.go_on()?;
        }
    }

    fn lose(&mut self, slug: &'static str, offset: u64, detail: &str) {
        self.broken += 1;
        self.taker.lost(slug, offset, detail);
    }

    fn count(&mut self, kind: impl Into<String>) {
        *self.kinds.entry(kind.into()).or_default() += 1;
    }

    /// One `Event`.
    fn event(&mut self, data: &[u8], offset: u64) -> Result<()> {
        let all: std::result::Result<Vec<Field<'_>>, _> = Fields::new(data, offset).collect();
        let Ok(all) = all else {
            self.records -= 1;
            self.lose("broken-event", offset, "records that are no events");
            return Ok(());
        };
        let step = all.iter().filter(|field| field.number == 2).filter_map(Field::i64).next_back();
        for field in &all {
            let Some(bytes) = field.bytes() else { continue };
            match field.number {
                3 => self.count("file_version"),
                4 => {
                    self.count("graph_def");
                    self.taker.graph(&GRAPH_DEF, bytes, field.body)?;
                }
                5 => self.summary(bytes, field.body, step)?,
                6 => self.count("log_message"),
                7 => self.count("session_log"),
                8 => {
                    self.count("tagged_run_metadata");
                    let (mut tag, mut run_metadata) = (String::new(), None);
                    for inner in Fields::new(bytes, field.body).map_while(std::result::Result::ok) {
                        match inner.number {
                            1 => tag = inner.text().map_or(tag, |text| text.into_owned()),
                            2 => run_metadata = inner.bytes().map(|bytes| (bytes, inner.body)),
                            _ => {}
                        }
                    }
                    if let Some((bytes, at)) = run_metadata {
                        self.run_metadata(&tag, step, bytes, at)?;
                    }
                }
                9 => {
                    self.count("meta_graph_def");
                    self.taker.graph(&META_GRAPH_DEF, bytes, field.body)?;
                }
                10 => self.count("source_metadata"),
                _ => {}
            }
        }
        Ok(())
    }

    fn run_metadata(&mut self, tag: &str, step: Option<i64>, bytes: &[u8], offset: u64) -> Result<()> {
        let again = self.tags.entry(tag.to_owned()).or_default();
        *again += 1;
        let unique = if *again == 1 { tag.to_owned() } else { format!("{tag}#{again}") };
        self.taker.run_metadata(unique, step_of(tag).or(step), bytes, offset)
    }

    fn summary(&mut self, bytes: &[u8], offset: u64, step: Option<i64>) -> Result<()> {
        let values = Fields::new(bytes, offset).map_while(std::result::Result::ok);
        for value in values.filter(|value| value.number == 1) {
            let (mut tag, mut plugin, mut texts, mut kind) =
                (String::new(), String::new(), Vec::new(), "other");
            for inner in
                Fields::new(value.bytes().unwrap_or_default(), value.body).map_while(std::result::Result::ok)
            {
                match inner.number {
                    1 => tag = inner.text().map_or(tag, |text| text.into_owned()),
                    2 => kind = "scalar",
                    3 | 5 => kind = "histogram",
                    4 => kind = "image",
                    6 => kind = "audio",
                    8 => {
                        kind = "tensor";
                        let tensor = Fields::new(inner.bytes().unwrap_or_default(), inner.body);
                        let tensor = tensor.map_while(std::result::Result::ok);
                        texts = tensor
                            .filter(|one| one.number == 8)
                            .filter_map(|one| Some((one.bytes()?, one.body)))
                            .collect();
                    }
                    9 => {
                        for data in fields(inner.bytes().unwrap_or_default()).filter(|data| data.number == 1)
                        {
                            let name = fields(data.bytes().unwrap_or_default())
                                .filter(|name| name.number == 1)
                                .last();
                            plugin = name.and_then(|name| Some(name.text()?.into_owned())).unwrap_or(plugin);
                        }
                    }
                    _ => {}
                }
            }
            self.count(format!("summary {}", if plugin.is_empty() { kind } else { &plugin }));
            let Some((text, at)) = texts.first() else {
                continue;
            };
            if RUN_METADATA_PLUGINS.contains(&plugin.as_str()) {
                self.run_metadata(&tag, step, text, *at)?;
            } else if plugin == KERAS_PLUGIN {
                self.taker.keras_model(&tag, text);
            }
        }
        Ok(())
    }
}

/// The number behind a tag such as `step_5`.
fn step_of(tag: &str) -> Option<i64> {
    let digits = tag.len() - tag.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    tag[tag.len() - digits..].parse().ok()
}
