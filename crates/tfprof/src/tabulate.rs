//! A view as a table: one row a line, in the order of the lines.

use super::outline::Row;
use std::sync::Arc;
use stepscope_core::columns::Cell;
use stepscope_core::error::Result;
use stepscope_core::store::part::{Field, Shape};
use stepscope_core::store::rows::Rows;
use stepscope_core::store::table::Table;

/// Names of the figures, in the order of [`super::metrics::Metric`]. Times are in the model's own unit.
pub const FIGURES: [&str; 11] = [
    "runs",
    "nodes",
    "time",
    "accelerator_time",
    "cpu_time",
    "requested_bytes",
    "peak_bytes",
    "residual_bytes",
    "output_bytes",
    "params",
    "float_ops",
];

fn fields() -> Vec<Field> {
    let plain = [
        ("position", Shape::I64),
        ("parent", Shape::I64),
        ("depth", Shape::I64),
        ("name", Shape::Text),
        ("counts", Shape::Bool),
        ("is_node", Shape::Bool),
        ("op_types", Shape::Text),
        ("devices", Shape::Text),
        ("shape", Shape::Text),
    ];
    let plain = plain.iter().map(|(name, shape)| Field::new(name, *shape));
    let figures = ["self", "total"].into_iter().flat_map(|kind| {
        FIGURES
            .iter()
            .map(move |figure| Field::new(&format!("{kind}_{figure}"), Shape::I64))
    });
    plain.chain(figures).collect()
}

/// The lines as a table: position from 0, position of the line above (none for the root), levels below the root,
/// name, whether it counts, whether nodes stand behind it, types and devices joined by bars, shape joined by x
/// (none without one), and each figure of its own and in total.
pub fn table(lines: &[Row]) -> Result<Table> {
    let mut rows = Rows::new(None, "view", fields())?;
    // The last line of each level so far.
    let mut above: Vec<i64> = Vec::new();
    for (position, line) in (0i64..).zip(lines) {
        above.truncate(line.level);
        let parent = above.last().map_or(Cell::Null, |parent| Cell::I64(*parent));
        above.resize(line.level, position);
        above.push(position);
        let (types, devices) = (line.types.join("|"), line.devices.join("|"));
        let shape: Vec<String> = line.shape.iter().map(i64::to_string).collect();
        let shape = shape.join("x");
        let mut cells = vec![
            Cell::I64(position),
            parent,
            Cell::I64(line.level as i64),
            Cell::Text(&line.name),
            Cell::I64(line.counts.into()),
            Cell::I64((!line.nodes.is_empty()).into()),
            Cell::Text(&types),
            Cell::Text(&devices),
            match line.shape.is_empty() {
                true => Cell::Null,
                false => Cell::Text(&shape),
            },
        ];
        cells.extend(line.own.all().map(Cell::I64));
        cells.extend(line.total.all().map(Cell::I64));
        rows.push(&cells)?;
    }
    Ok(Table {
        parts: vec![Arc::new(rows.finish()?)],
        dictionaries: Vec::new(),
    })
}
