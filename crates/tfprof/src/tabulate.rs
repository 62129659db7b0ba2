//! A view as a table: one row a line, in the order of the lines.

use super::outline::Row;
use std::sync::Arc;
use stepscope_core::columns::Cell;
use stepscope_core::error::Result;
use stepscope_core::store::part::{Field, Shape};
use stepscope_core::store::rows::Rows;
use stepscope_core::store::table::Table;

/// Names of the figures, in the order of [`super::metrics::Metric`].
const FIGURES: [&str; 11] = [
    "runs", "nodes", "ps", "accelerator_ps", "cpu_ps", "requested_bytes", "peak_bytes", "residual_bytes",
    "output_bytes", "params", "float_ops",
];

/// Those of them that are times.
const TIMES: [&str; 3] = ["ps", "accelerator_ps", "cpu_ps"];

fn fields() -> Vec<Field> {
    let plain = [
        ("parent_id", Shape::I64),
        ("depth", Shape::I64),
        ("name", Shape::Text),
        ("is_node", Shape::Bool),
        ("op_types", Shape::Text),
        ("devices", Shape::Text),
        ("shape", Shape::Text),
    ];
    let plain = plain.iter().map(|(name, shape)| Field::new(name, *shape));
    let figures = ["self", "total"].into_iter().flat_map(|kind| {
        FIGURES.iter().map(move |figure| Field::new(&format!("{kind}_{figure}"), Shape::I64))
    });
    plain.chain(figures).collect()
}

/// The figures with their times in picoseconds; one that does not fit is the longest that does.
fn in_ps(mut figures: [i64; 11], ps_per_tick: i64) -> [i64; 11] {
    for (name, figure) in FIGURES.iter().zip(&mut figures) {
        if TIMES.contains(name) {
            *figure = figure.saturating_mul(ps_per_tick);
        }
    }
    figures
}

/// The lines as a table with the columns of `tfprof_node` that tell of a line: ids from 0, the id of the line above
/// (none for the root), levels below the root, name, whether nodes stand behind it, types and devices joined by
/// bars, shape joined by x (none without one), and each figure of its own and in total.
pub fn table(lines: &[Row], ps_per_tick: i64) -> Result<Table> {
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
            parent,
            Cell::I64(line.level as i64),
            Cell::Text(&line.name),
            Cell::I64((!line.nodes.is_empty()).into()),
            Cell::Text(&types),
            Cell::Text(&devices),
            match line.shape.is_empty() {
                true => Cell::Null,
                false => Cell::Text(&shape),
            },
        ];
        for figures in [line.own.all(), line.total.all()] {
            cells.extend(in_ps(figures, ps_per_tick).map(Cell::I64));
        }
        rows.push(&cells)?;
    }
    Ok(Table { parts: vec![Arc::new(rows.finish()?)], dictionaries: Vec::new() })
}
