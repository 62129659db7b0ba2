//! Slices added up: one pass over a finished store, so that summaries read hundreds of rows and not millions.
//!
//! * `rollup_op`: slices of a track that are called alike, what they are, how many and how long.
//! * `slice.rollup_id`: the row of `rollup_op` that a slice is added up in.
//! * `slice.op_self_ps`: self time of ops with that of slices within them that are neither ops nor waits.
//! * `rollup_device`: how long a track, or any track of a device, was at work within a stretch of time that is
//!   judged.
//! * `rollup_step`: how long a host waited in each step, and for what.
//!
//! [`crate::classes`] says what a slice is. Where a track lies follows the base view `track_place` of the SQL library;
//! tests compare these tables with the same questions asked of slices.

mod cover;
mod own;
mod pass;
mod places;

use crate::columns::Cell;
use crate::error::Result;
use crate::store::part::{Field, Shape};
use crate::store::{Store, Value};
use cover::Piece;
use pass::Pass;
use std::collections::BTreeMap;

/// Fills the tables of rollups. Slices, tracks, devices and steps must be final. `producer`: as in the table
/// source. A store without slices gets none.
pub fn roll_up(store: &mut Store, producer: &str) -> Result<()> {
    let slices = match store.table("slice") {
        Ok(slices) if slices.rows() > 0 => slices.clone(),
        _ => return Ok(()),
    };
    let tracks = places::read(store, producer)?;
    let steps = store.rows("step_stored")?;
    let mut pass = Pass::new(&slices, &tracks, pieces(&steps), spans(&steps))?;
    let mut columns = store.slice_columns("labels", own::fields())?;
    pass.run(&slices, &mut columns)?;
    let done = pass.finish();
    store.lay_slice_columns(columns)?;
    write(store, &done)
}

fn write(store: &mut Store, done: &pass::Done) -> Result<()> {
    let text = |name: &str| Field::new(name, Shape::Text);
    let number = |name: &str| Field::new(name, Shape::I64);
    let fields = vec![
        number("track_id"),
        text("name"),
        text("category"),
        text("op_name"),
        text("op_type"),
        text("class"),
        text("wait"),
        text("layer"),
        Field::new("is_op", Shape::Bool),
        number("slices"),
        number("total_ps"),
        number("self_ps"),
        number("op_self_ps"),
        number("min_ps"),
        number("max_ps"),
    ];
    let cell = |text: Option<&'static str>| text.map_or(Cell::Null, Cell::Text);
    if !done.labels.is_empty() {
        // Row by row: there may be as many as slices.
        let mut rows = store.growing("rollup_op", fields)?;
        for one in &done.labels {
            let texts = done.texts.of(&one.key);
            rows.push(&[
                Cell::I64(i64::from(one.key.track)),
                texts.name.map_or(Cell::Null, Cell::Text),
                texts.category.map_or(Cell::Null, Cell::Text),
                texts.op_name.map_or(Cell::Null, Cell::Text),
                texts.op_type.map_or(Cell::Null, Cell::Text),
                Cell::Text(one.class.class),
                cell(one.class.wait),
                cell(one.class.layer),
                Cell::I64(i64::from(one.class.is_op)),
                Cell::I64(one.slices),
                Cell::I64(cover::fit(one.total_ps)),
                Cell::I64(cover::fit(one.self_ps)),
                one.op_self_ps().map_or(Cell::Null, |sum| Cell::I64(cover::fit(sum))),
                Cell::I64(one.min_ps),
                Cell::I64(one.max_ps),
            ])?;
        }
        store.keep("rollup_op", rows)?;
    }

    let names = [
        "device_track_id", "track_id", "piece_id", "busy_ps", "work_ps", "slices", "gaps", "most_gap_ps",
        "short_gaps", "short_gaps_ps", "first_ps", "last_ps",
    ];
    let rows: Vec<Vec<Cell<'_>>> = done.loads.iter().map(load_row).collect();
    put(store, "rollup_device", names.map(number).to_vec(), &rows)?;

    let fields = vec![number("step_id"), text("wait"), number("waits"), number("waited_ps")];
    let rows: Vec<Vec<Cell<'_>>> = done
        .waits
        .iter()
        .map(|one| {
            vec![
                Cell::I64(one.step_id),
                Cell::Text(one.wait),
                Cell::I64(one.load.slices),
                Cell::I64(cover::fit(one.load.busy_ps)),
            ]
        })
        .collect();
    put(store, "rollup_step", fields, &rows)
}

fn load_row<'a>(one: &pass::Loaded) -> Vec<Cell<'a>> {
    let load = &one.load;
    let mut row = vec![Cell::I64(one.device), one.track.map_or(Cell::Null, Cell::I64)];
    let figures = [
        one.piece,
        cover::fit(load.busy_ps),
        cover::fit(load.work_ps),
        load.slices,
        load.gaps,
        load.most_gap_ps,
        load.short_gaps,
        cover::fit(load.short_gaps_ps),
        load.first_ps,
        load.last_ps,
    ];
    row.extend(figures.map(Cell::I64));
    row
}

fn put(store: &mut Store, table: &str, fields: Vec<Field>, rows: &[Vec<Cell<'_>>]) -> Result<()> {
    match rows {
        [] => Ok(()),
        rows => store.replace(table, fields, rows),
    }
}

type Row = BTreeMap<String, Value>;

fn whole(row: &Row, column: &str) -> Option<i64> {
    match row.get(column) {
        Some(Value::I64(value)) => Some(*value),
        Some(Value::Bool(value)) => Some(i64::from(*value)),
        _ => None,
    }
}

fn text<'a>(row: &'a Row, column: &str) -> Option<&'a str> {
    match row.get(column) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}

/// Begin and end of a step, and its row.
fn span(row: &Row) -> Option<(i64, i64, i64)> {
    let begin = whole(row, "ts_ps")?;
    let end = begin.saturating_add(whole(row, "dur_ps")?);
    Some((begin, end, whole(row, "id")?))
}

/// The stretches that are judged, as the view `observed` has them. Each step that is a recording of its own is
/// one, whether averages include it or not: which of them count is known only beside other sources.
fn pieces(steps: &[Row]) -> Vec<Piece> {
    let mut found = Vec::new();
    let apart = |row: &&Row| text(row, "recovered_from") == Some("file");
    for row in steps.iter().filter(apart) {
        found.extend(span(row).map(|(open, close, id)| Piece { id, open, close }));
    }
    let others: Vec<&Row> = steps.iter().filter(|row| !apart(row)).collect();
    let any = others.iter().any(|row| whole(row, "averaged") == Some(1));
    let chosen = others
        .iter()
        .filter(|row| !any || whole(row, "averaged") == Some(1) || text(row, "kind") == Some("cut_off"))
        .filter_map(|row| span(row));
    let joined = chosen.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1), one.2.min(other.2)));
    found.extend(joined.map(|(open, close, id)| Piece { id, open, close }));
    found
}

/// All steps.
fn spans(steps: &[Row]) -> Vec<Piece> {
    steps.iter().filter_map(span).map(|(open, close, id)| Piece { id, open, close }).collect()
}
