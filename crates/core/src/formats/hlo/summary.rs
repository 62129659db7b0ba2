//! A module in one row: how large it is, what it costs, what memory it takes.

use super::buffers::Totals;
use super::cost::{Cost, Costs, Ran, costs};
use super::head::{Donor, Head};
use super::model::{Module, Written};
use super::shape::{Element, Shape};
use crate::error::Result;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_64;

/// A module in one row.
#[derive(Debug, Default)]
pub struct Summary {
    /// Its name.
    pub name: String,
    /// Its number, where the file says one.
    pub id: Option<i64>,
    /// What it was read from.
    pub written: Written,
    /// Bytes of the file.
    pub size: u64,
    /// Hash of the file.
    pub hash: u64,
    /// Number of computations and of instructions.
    pub computations: u64,
    /// Number of instructions in all computations.
    pub instructions: u64,
    /// How many instructions of each opcode.
    pub opcodes: BTreeMap<String, u64>,
    /// Cost as XLA counts it.
    pub cost: Cost,
    /// Cost of what really runs.
    pub ran: Ran,
    /// Whether an entry computation is there, without which nothing costs anything.
    pub entry: bool,
    /// How many times it runs side by side on other data, and over how many devices its values are spread.
    pub devices: (i64, i64),
    /// Parameters that it was given and that no output has taken, with their bytes where the shape says them.
    pub donors: Vec<(Donor, Option<f64>)>,
    /// Shapes of the program's parameters.
    pub parameters: String,
    /// Sums of its memory, where the file says it.
    pub memory: Option<Totals>,
    /// Most bytes of the heap that are needed at once, for each heap.
    pub needed: Vec<i64>,
    /// Instructions that make 64-bit floats.
    pub doubles: u64,
    /// Operands and computations that are named and not there.
    pub dangling: u64,
    /// Fields that this version does not know.
    pub unknown_fields: u64,
    /// Lines of text that could not be understood.
    pub lost: u64,
    /// Whether a text ends too early.
    pub cut: bool,
    /// Whether computations call each other in a circle.
    pub cyclic: bool,
}

/// Reads a file and sums it up. The bytes are let go of as soon as they are read: a text may be large.
pub fn summary(bytes: Vec<u8>) -> Result<Summary> {
    let module = super::module(&bytes)?;
    let (size, hash) = (bytes.len() as u64, xxh3_64(&bytes));
    drop(bytes);
    Ok(Summary { size, hash, ..of(&module) })
}

/// Sums up a module.
pub fn of(module: &Module) -> Summary {
    with(module, &costs(module))
}

/// The same where its costs are known.
pub fn with(module: &Module, costs: &Costs) -> Summary {
    let mut opcodes: BTreeMap<&str, u64> = BTreeMap::new();
    let double = Element::of_name(b"f64");
    let mut doubles = 0;
    for one in &module.instructions {
        *opcodes.entry(&one.opcode).or_default() += 1;
        doubles += u64::from(one.shape.element == double && one.opcode != "parameter");
    }
    let entry = module.entry.map(|at| &module.computations[at]);
    let inside = entry.map_or(&[][..], |one| &module.instructions[one.instructions.clone()]);
    let mut parameters: Vec<_> = inside.iter().filter(|one| one.opcode == "parameter").collect();
    parameters.sort_by_key(|one| one.number);
    let shapes: Vec<String> = parameters.iter().map(|one| one.shape.to_string()).collect();
    let shape_of = |number| {
        let found = parameters.iter().find(|one| one.number == Some(number));
        found.map(|one| &*one.shape)
    };
    let buffers = module.buffers.as_ref();
    Summary {
        name: module.name.clone(),
        id: module.id,
        written: module.written,
        computations: module.computations.len() as u64,
        instructions: module.instructions.len() as u64,
        opcodes: opcodes.into_iter().map(|(name, count)| (name.to_owned(), count)).collect(),
        cost: costs.module,
        ran: costs.module_ran,
        entry: entry.is_some(),
        devices: (module.head.replicas, module.head.partitions),
        donors: donors(&module.head, shape_of),
        parameters: shapes.join(", "),
        memory: buffers.map(|buffers| buffers.totals()),
        needed: buffers
            .map_or_else(Vec::new, |buffers| buffers.replays().iter().map(|replay| replay.needed).collect()),
        doubles,
        dangling: module.dangling,
        unknown_fields: module.unknown_fields,
        lost: module.lost,
        cut: module.cut,
        cyclic: costs.cyclic,
        ..Summary::default()
    }
}

/// The donors of a module with their bytes.
pub fn donors<'a>(head: &Head, shape_of: impl Fn(i64) -> Option<&'a Shape>) -> Vec<(Donor, Option<f64>)> {
    let bytes = |one: &Donor| shape_of(one.parameter).and_then(|shape| one.bytes(shape));
    let donors = head.donors.iter();
    donors.map(|one| (one.clone(), bytes(one))).collect()
}
