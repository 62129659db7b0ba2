//! Cells as bytes for a page: the length of a JSON header as u32, the header, then one column after the other.
//!
//! Everything is little-endian and every part begins at a multiple of 8 bytes, so that JavaScript lays typed arrays
//! over the answer and decodes nothing.

use super::cells::{Cell, Window};
use std::fmt::Write as _;

/// Version of the form; raised when a column changes its meaning or goes away.
pub const FORMAT: u32 = 1;

/// The cells of a window, as one message.
#[must_use]
pub fn write(cells: &[Cell], window: Window) -> Vec<u8> {
    let from = window.from_ps();
    let columns = [
        column("track", "u32", cells, |cell| cell.track.to_le_bytes()),
        column("depth", "u32", cells, |cell| cell.depth.to_le_bytes()),
        column("start", "f64", cells, |cell| after(from, cell.ts_ps)),
        column("width", "f64", cells, |cell| after(cell.ts_ps, cell.end_ps)),
        column("count", "f64", cells, |cell| {
            (cell.count as f64).to_le_bytes()
        }),
        column("name", "u32", cells, |cell| cell.longest.name.to_le_bytes()),
        column("busy", "f64", cells, |cell| {
            (cell.busy_ps as f64).to_le_bytes()
        }),
        column("id", "i64", cells, |cell| cell.longest.id.to_le_bytes()),
    ];
    let mut header = format!(
        "{{\"format\":{FORMAT},\"from_ps\":\"{from}\",\"to_ps\":\"{}\",\"px\":{},\"events\":{},\"columns\":[",
        window.to_ps(),
        window.px(),
        cells.iter().map(|cell| cell.count).sum::<u64>(),
    );
    for (i, (name, kind, _)) in columns.iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        // Writing into a String cannot fail.
        let _ = write!(
            header,
            "{comma}{{\"name\":\"{name}\",\"type\":\"{kind}\",\"length\":{}}}",
            cells.len()
        );
    }
    header.push_str("]}");
    let mut out = (header.len() as u32).to_le_bytes().to_vec();
    out.extend_from_slice(header.as_bytes());
    pad(&mut out);
    for (_, _, bytes) in columns {
        out.extend_from_slice(&bytes);
        pad(&mut out);
    }
    out
}

/// Picoseconds from one moment to another, in as many digits as a page can draw.
fn after(from: i64, to: i64) -> [u8; 8] {
    ((i128::from(to) - i128::from(from)) as f64).to_le_bytes()
}

fn column<const N: usize>(
    name: &'static str,
    kind: &'static str,
    cells: &[Cell],
    value: impl Fn(&Cell) -> [u8; N],
) -> (&'static str, &'static str, Vec<u8>) {
    (name, kind, cells.iter().flat_map(value).collect())
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(8), 0);
}
