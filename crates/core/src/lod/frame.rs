//! Cells as bytes for a page: the length of a JSON header as u32, the header, then one column after the other.
//!
//! Everything is little-endian and every part begins at a multiple of 8 bytes, so that JavaScript lays typed arrays
//! over the answer and decodes nothing.

use super::cells::{Cell, Window};
use std::fmt::Write as _;

/// Version of the form; raised when a column changes its meaning or goes away.
pub const FORMAT: u32 = 1;
/// Bytes of a cell.
const CELL_BYTES: usize = 52;

/// The cells of a window, as one message.
#[must_use]
pub fn write(cells: &[Cell], window: Window) -> Vec<u8> {
    let from = window.from_ps();
    let columns = [
        ("track", "u32"),
        ("depth", "u32"),
        ("start", "f64"),
        ("width", "f64"),
        ("count", "f64"),
        ("name", "u32"),
        ("busy", "f64"),
        ("id", "i64"),
    ];
    let mut header = format!(
        "{{\"format\":{FORMAT},\"from_ps\":\"{from}\",\"to_ps\":\"{}\",\"px\":{},\"events\":{},\"columns\":[",
        window.to_ps(),
        window.px(),
        cells.iter().map(|cell| cell.count).sum::<u64>(),
    );
    for (i, (name, kind)) in columns.iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        // Writing into a String cannot fail.
        let _ =
            write!(header, "{comma}{{\"name\":\"{name}\",\"type\":\"{kind}\",\"length\":{}}}", cells.len());
    }
    header.push_str("]}");
    let mut out = Vec::with_capacity(header.len() + 128 + CELL_BYTES * cells.len());
    out.extend_from_slice(&(header.len() as u32).to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    pad(&mut out);
    add(&mut out, cells, |cell| cell.track.to_le_bytes());
    add(&mut out, cells, |cell| cell.depth.to_le_bytes());
    add(&mut out, cells, |cell| after(from, cell.ts_ps));
    add(&mut out, cells, |cell| after(cell.ts_ps, cell.end_ps));
    add(&mut out, cells, |cell| (cell.count as f64).to_le_bytes());
    add(&mut out, cells, |cell| cell.longest.name.to_le_bytes());
    add(&mut out, cells, |cell| (cell.busy_ps as f64).to_le_bytes());
    add(&mut out, cells, |cell| cell.longest.id.to_le_bytes());
    out
}

/// Picoseconds from one moment to another, in as many digits as a page can draw.
fn after(from: i64, to: i64) -> [u8; 8] {
    ((i128::from(to) - i128::from(from)) as f64).to_le_bytes()
}

/// Adds a column.
fn add<const N: usize>(out: &mut Vec<u8>, cells: &[Cell], value: impl Fn(&Cell) -> [u8; N]) {
    for cell in cells {
        out.extend_from_slice(&value(cell));
    }
    pad(out);
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(8), 0);
}
