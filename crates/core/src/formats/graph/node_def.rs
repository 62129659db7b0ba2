//! A `NodeDef` as every reader of graphs needs it: borrowed from bytes that a walk has found whole.

use crate::formats::graph::attr::{entry, fields};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A node of a graph.
#[derive(Debug, Default)]
pub struct NodeDef<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its op.
    pub op: Cow<'a, str>,
    /// The device it was asked to run on.
    pub device: Cow<'a, str>,
    /// Its inputs as they are written: `name`, `name:1`, `^name`.
    pub inputs: Vec<Cow<'a, str>>,
    /// `AttrValue`s by name; if a name occurs twice, the last one counts.
    pub attrs: BTreeMap<Cow<'a, str>, &'a [u8]>,
    /// Nodes that a rewrite made this one of.
    pub nodes_before: Vec<Cow<'a, str>>,
    /// Functions that held those.
    pub functions_before: Vec<Cow<'a, str>>,
}

impl<'a> NodeDef<'a> {
    /// Reads the fields; what has another wire type than it should is left out.
    pub fn read(bytes: &'a [u8]) -> Self {
        let mut node = NodeDef::default();
        for field in fields(bytes) {
            match field.number {
                1 => node.name = field.text().unwrap_or(node.name),
                2 => node.op = field.text().unwrap_or(node.op),
                3 => node.inputs.extend(field.text()),
                4 => node.device = field.text().unwrap_or(node.device),
                5 => {
                    let (key, value) = entry(field.bytes().unwrap_or_default());
                    node.attrs.insert(String::from_utf8_lossy(key), value);
                }
                6 => {
                    for inner in fields(field.bytes().unwrap_or_default()) {
                        match inner.number {
                            1 => node.nodes_before.extend(inner.text()),
                            2 => node.functions_before.extend(inner.text()),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        node
    }
}
