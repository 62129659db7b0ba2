//! The cost graph of a RunMetadata (`graph_options.build_cost_model`): what the runtime's cost model
//! holds of every node, kept as rows of `node` and `edge` under the graph `cost`.
//!
//! Costs are microseconds as in the file. The op type is not in it and stays empty.

use crate::error::Result;
use crate::formats::graph::attr::{fields, push_shape};
use crate::formats::graph::{edge_row, node_row};
use crate::json::write::{Object, push_i64, push_text};
use crate::proto::messages::data_type_name;
use crate::store::Writer;
use std::collections::HashMap;

fn int32(value: i64) -> i64 {
    i64::from(value as i32)
}

/// Numbers of a cost node by field number.
const NUMBERS: [(u32, &str); 9] = [
    (6, "temporary_memory_bytes"),
    (12, "persistent_memory_bytes"),
    (10, "host_temp_memory_bytes"),
    (11, "device_temp_memory_bytes"),
    (16, "device_persistent_memory_bytes"),
    (9, "compute_cost_us"),
    (14, "compute_time_us"),
    (15, "memory_time_us"),
    (17, "inaccurate"),
];

/// Collects the nodes of one cost graph; edges name nodes by number, so they come at its end.
#[derive(Default)]
pub struct CostGraph {
    names: Vec<String>,
    /// Place in `names` by the node's number; of two with one number the last counts.
    places: HashMap<i64, usize>,
    /// Producer's number, its slot, consumer's place, slot.
    edges: Vec<(i64, i64, usize, i64)>,
}

impl CostGraph {
    /// Takes a node.
    pub fn node(&mut self, writer: &mut Writer, graph: &str, bytes: &[u8]) -> Result<()> {
        let (mut name, mut device, mut id) = (String::new(), String::new(), 0);
        let (mut inputs, mut controls, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        let mut numbers = [None; NUMBERS.len()];
        for field in fields(bytes) {
            match field.number {
                1 => name = field.text().map_or(name, |text| text.into_owned()),
                2 => device = field.text().map_or(device, |text| text.into_owned()),
                // int32: protobuf drops the bits above the 32nd.
                3 => id = field.i64().map_or(id, int32),
                4 => inputs.extend(field.bytes()),
                5 => outputs.extend(field.bytes()),
                8 => controls.extend(field.varints().flatten().map(|value| int32(value as i64))),
                number => {
                    if let Some(place) = NUMBERS.iter().position(|entry| entry.0 == number) {
                        numbers[place] = field.i64();
                    }
                }
            }
        }
        let mut args = String::new();
        let mut object = Object::begin(&mut args);
        for ((_, key), value) in NUMBERS.iter().zip(numbers) {
            if let Some(value) = value {
                push_i64(object.key(key), value);
            }
        }
        if !outputs.is_empty() {
            let out = object.key("outputs");
            crate::json::write::push_array(out, outputs, push_output);
        }
        object.end_unless_empty();
        node_row(writer, graph, &name, "", &device, &args)?;
        for (slot, input) in inputs.iter().enumerate() {
            let number = |wanted| super::node::number(input, wanted).map_or(0, int32);
            self.edges.push((number(1), number(2), self.names.len(), slot as i64));
        }
        let (data, place) = (inputs.len(), self.names.len());
        self.edges
            .extend(controls.iter().enumerate().map(|(slot, from)| (*from, -1, place, (data + slot) as i64)));
        self.places.insert(id, self.names.len());
        self.names.push(name);
        Ok(())
    }

    /// Writes the edges. Those to nodes that are not there are dropped and counted in the result.
    pub fn finish(self, writer: &mut Writer, graph: &str) -> Result<u64> {
        let mut dangling = 0;
        for (from, slot, to, to_slot) in &self.edges {
            match self.places.get(from) {
                Some(from) => {
                    let (from, to) = (&self.names[*from], &self.names[*to]);
                    edge_row(writer, graph, from, *slot, to, *to_slot)?;
                }
                None => dangling += 1,
            }
        }
        Ok(dangling)
    }
}

fn push_output(out: &mut String, bytes: &[u8]) {
    let mut object = Object::begin(out);
    for field in fields(bytes) {
        match field.number {
            1 => push_i64(object.key("bytes"), field.i64().unwrap_or_default()),
            2 => push_i64(object.key("alias_input"), field.i64().unwrap_or_default()),
            3 => push_shape(object.key("shape"), field.bytes().unwrap_or_default()),
            4 => push_text(object.key("dtype"), &data_type_name(field.i64().unwrap_or_default())),
            _ => {}
        }
    }
    object.end();
}
