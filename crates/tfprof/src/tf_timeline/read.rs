//! The device entries of a StepStats, with what a timeline shows of them.

use stepscope_core::error::{Error, Kind, Result};
use stepscope_core::formats::graph::attr::fields;
use stepscope_core::input::Input;
use stepscope_core::proto::messages::{Message, RUN_METADATA, STEP_STATS};
use stepscope_core::proto::probe::{self, Form};
use stepscope_core::proto::text::walk_text;
use stepscope_core::proto::walk::{Place, Value, Visitor, walk};

/// A `DeviceStepStats`.
#[derive(Debug, Default)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its executions, in the order of the file.
    pub nodes: Vec<Node>,
}

/// A `NodeExecStats`. Times are the fields in microseconds, the only ones that Timeline reads.
#[derive(Debug, Default)]
pub struct Node {
    /// Node name.
    pub name: String,
    /// Label.
    pub label: String,
    /// `all_start_micros`.
    pub start: i64,
    /// `all_end_rel_micros`.
    pub dur: i64,
    /// Lane, once it is packed.
    pub lane: u32,
    /// Bytes of the `TensorDescription` of each output; several of one output are merged by standing one
    /// behind the other.
    pub outputs: Vec<Vec<u8>>,
}

impl Node {
    /// End, which may lie beyond 64 bits.
    pub fn end(&self) -> i128 {
        i128::from(self.start) + i128::from(self.dur)
    }
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The device entries.
    pub devices: Vec<Device>,
    /// Executions that could not be read.
    pub lost: u64,
    /// The first damage.
    pub damage: Option<(u64, String)>,
}

/// Reads a RunMetadata or StepStats.
pub fn read(input: &Input) -> Result<Found> {
    let mut head = probe::Head::new(input.open()?)?;
    let (root, form) = probe::choose(&head, &[&RUN_METADATA, &STEP_STATS])?;
    let mut found = Found::default();
    let walked = match form {
        Form::Binary => walk(&mut head, root, 0, &mut found)?,
        Form::Text => walk_text(&mut head, root, 0, &mut found)?,
    };
    if let Some(damage) = walked.damage {
        found.damage.get_or_insert((damage.offset, damage.seen));
    }
    if found.devices.is_empty() {
        let seen = match found.damage {
            Some((_, seen)) => seen,
            None => "no step statistics: the run was not traced, or this is no RunMetadata".into(),
        };
        return Err(Error::at(Kind::NotThisFormat, 0, seen));
    }
    Ok(found)
}

impl Visitor for Found {
    fn enter(&mut self, container: &'static Message, _: u32, _: u64) -> Result<()> {
        if container.name == "DeviceStepStats" {
            self.devices.push(Device::default());
        }
        Ok(())
    }

    fn field(&mut self, at: Place, value: Value<'_>) -> Result<()> {
        if at.container.name == "DeviceStepStats"
            && let Some(device) = self.devices.last_mut()
        {
            match at.number {
                1 => device.name = text(value.bytes()),
                2 => device.nodes.push(node(value.bytes())),
                _ => {}
            }
        }
        Ok(())
    }

    fn flawed(&mut self, at: Place) -> Result<()> {
        self.damage.get_or_insert((at.offset, "text that is not UTF-8".into()));
        Ok(())
    }

    fn broken(&mut self, at: Place, seen: &str) -> Result<()> {
        if at.is("DeviceStepStats", 2) {
            self.lost += 1;
            self.damage.get_or_insert((at.offset, seen.into()));
        }
        Ok(())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn node(bytes: &[u8]) -> Node {
    let mut node = Node::default();
    for field in fields(bytes) {
        match (field.number, field.i64(), field.bytes()) {
            (1, _, Some(name)) => node.name = text(name),
            (8, _, Some(label)) => node.label = text(label),
            (2, Some(micros), _) => node.start = micros,
            (5, Some(micros), _) => node.dur = micros,
            (7, _, Some(output)) => node.outputs.push(
                fields(output)
                    .filter(|field| field.number == 3)
                    .flat_map(|field| field.bytes().unwrap_or_default().to_vec())
                    .collect(),
            ),
            _ => {}
        }
    }
    node
}
