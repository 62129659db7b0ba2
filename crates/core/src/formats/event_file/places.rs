//! Where in an event file the graphs and RunMetadata are, for those who read them as files of their own.

use super::no_records;
use super::records::{Events, Taker};
use crate::error::Result;
use crate::input::Input;
use crate::proto::messages;
use crate::proto::stream::Source;
use crate::proto::wire::Fields;

/// A message in an event file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// `graph` (GraphDef or MetaGraphDef), `function_graph` (of a TensorFlow 2 function, before it is
    /// optimised) or `run_metadata` (with step statistics).
    pub kind: &'static str,
    /// Tag of the RunMetadata that it is or lies in.
    pub tag: String,
    /// Step, if there is one.
    pub step: Option<i64>,
    /// Where it begins in the unpacked file.
    pub offset: u64,
    /// Its bytes.
    pub length: u64,
}

/// What an event file holds.
#[derive(Debug, Default)]
pub struct Places {
    /// In the order of the file.
    pub messages: Vec<Message>,
    /// What could not be read of it.
    pub warnings: Vec<String>,
}

/// Finds the messages of an event file; those in records whose checksum is wrong are left out and reported.
pub fn places(input: &Input) -> Result<Places> {
    let mut read = input.open()?;
    let mut source = Source::new(&mut read, 0);
    let mut found = Places::default();
    let mut events = Events::new(&mut found);
    let damage = events.read(&mut source)?.or(source.cut.take());
    if events.records == 0 && events.broken == 0 {
        return Err(no_records(damage, source.offset()));
    }
    if let Some(damage) = damage {
        found.warnings.push(damage.ends());
    }
    Ok(found)
}

impl Places {
    fn push(&mut self, kind: &'static str, tag: &str, step: Option<i64>, offset: u64, bytes: &[u8]) {
        self.messages.push(Message { kind, tag: tag.to_owned(), step, offset, length: bytes.len() as u64 });
    }
}

impl Taker for Places {
    fn graph(&mut self, _: &'static messages::Message, bytes: &[u8], offset: u64) -> Result<()> {
        self.push("graph", "", None, offset, bytes);
        Ok(())
    }

    fn run_metadata(&mut self, tag: String, step: Option<i64>, bytes: &[u8], offset: u64) -> Result<()> {
        let fields = || Fields::new(bytes, offset).map_while(std::result::Result::ok);
        if fields().any(|field| field.number == 1 && field.bytes().is_some()) {
            self.push("run_metadata", &tag, step, offset, bytes);
        }
        // RunMetadata.function_graphs, and in it pre_optimization_graph.
        for graphs in fields().filter(|field| field.number == 4) {
            let inner = Fields::new(graphs.bytes().unwrap_or_default(), graphs.body);
            for graph in inner.map_while(std::result::Result::ok) {
                if let (2, Some(bytes)) = (graph.number, graph.bytes()) {
                    self.push("function_graph", &tag, step, graph.body, bytes);
                }
            }
        }
        Ok(())
    }

    fn keras_model(&mut self, _: &str, _: &[u8]) {}

    fn lost(&mut self, _: &'static str, offset: u64, detail: &str) {
        self.warnings.push(format!("{detail} (byte {offset})"));
    }

    fn go_on(&mut self) -> Result<()> {
        Ok(())
    }
}
