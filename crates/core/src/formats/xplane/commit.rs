//! Hands decoded pieces to the writer, in the order of the file.

use super::clock::Clock;

use super::lines::Line;
use super::links::{self, Links};
use super::metadata::{StatNames, hlo_base, unnumbered};
use super::pieces::{OpText, Piece};
use super::tally::Tally;
use super::tracks::{PlaneKind, line_kind};
use crate::columns::{Cell, NONE, Table};
use crate::error::Result;
use crate::formats::node_names::op_of;
use crate::store::{Effect, Options, Writer};

/// What is gathered over all planes.
pub struct Commit {
    pub clock: Clock,
    pub tally: Tally,
    tables: bool,
    links: Links,
    tracks: u32,
}

/// What is gathered over one plane.
pub struct PlaneCommit<'p> {
    pub names: &'p StatNames,
    device: Option<i64>,
    pub id: i64,
    pub kind: PlaneKind,
    name: &'p str,
    /// Codes of op name and op type by slot of a stat name, once they are known.
    hlo: Vec<Option<(u32, u32)>>,
    tf: Vec<Option<(u32, u32)>>,
    /// The track that last put slices aside, and the one they went to.
    aside: Option<(u32, u32)>,
}

impl<'p> PlaneCommit<'p> {
    pub fn new(names: &'p StatNames, device: Option<i64>, id: i64, kind: PlaneKind, name: &'p str) -> Self {
        PlaneCommit { names, device, id, kind, name, hlo: Vec::new(), tf: Vec::new(), aside: None }
    }
}

impl Commit {
    pub fn new(options: &Options, clock: Clock, tally: Tally) -> Self {
        Commit { clock, tally, tables: options.needs.tables, links: Links::default(), tracks: 0 }
    }

    /// Number of the next track.
    pub fn tracks(&self) -> u32 {
        self.tracks
    }

    /// Row of a device.
    pub fn device(&self, writer: &mut Writer, name: &str, kind: &str, args_json: &str) -> Result<i64> {
        let args = if args_json.is_empty() { Cell::Null } else { Cell::Text(args_json) };
        writer.row(Table::Device, &[Cell::Text(name), Cell::Text(kind), args])
    }

    /// Row of a line.
    pub fn track(&mut self, writer: &mut Writer, plane: &PlaneCommit<'_>, line: &Line) -> Result<u32> {
        let (kind, records) = line_kind(plane.kind, &line.name);
        let origin = format!("plane {} line {}", plane.id, line.id);
        let sort = if line.display_id == 0 { Cell::Null } else { Cell::I64(line.display_id) };
        if self.clock.is_foreign(line.timestamp_ns) {
            writer.note(
                "clock-unaligned",
                Effect::Missing,
                line.cuts.iter().map(|cut| cut.events).sum(),
                None,
                "Some lines count from the Unix epoch and others do not; the file does not say how they relate",
            );
        }
        self.row_of_track(writer, plane, kind, records, &line.name, &origin, sort)
    }

    #[allow(clippy::too_many_arguments)]
    pub fn row_of_track(
        &mut self,
        writer: &mut Writer,
        plane: &PlaneCommit<'_>,
        kind: &str,
        records: &str,
        name: &str,
        origin: &str,
        sort: Cell<'_>,
    ) -> Result<u32> {
        let cells = [
            plane.device.map_or(Cell::Null, Cell::I64),
            Cell::Text(kind),
            Cell::Text(records),
            Cell::Text(plane.name),
            Cell::Text(name),
            Cell::Text(origin),
            sort,
        ];
        writer.row(Table::Track, &cells)?;
        self.tracks += 1;
        Ok(self.tracks - 1)
    }

    /// Slices of a piece, and their marks and arrows.
    pub fn piece(
        &mut self,
        writer: &mut Writer,
        plane: &mut PlaneCommit<'_>,
        piece: Piece,
        line: &Line,
    ) -> Result<()> {
        writer.check()?;
        let mut piece = piece;
        let aside = std::mem::take(&mut piece.aside);
        self.slices(writer, plane, piece, line.ordered)?;
        let Some(&home) = aside.first().and_then(|one| one.columns.track.first()) else {
            return Ok(());
        };
        // Slices of an ordered track go out in order, so these get a track of their own.
        let track = match plane.aside {
            Some((of, track)) if of == home => track,
            _ => self.track(writer, plane, line)?,
        };
        plane.aside = Some((home, track));
        for mut piece in aside {
            piece.columns.track.fill(track);
            self.slices(writer, plane, piece, false)?;
        }
        Ok(())
    }

    fn slices(
        &mut self,
        writer: &mut Writer,
        plane: &mut PlaneCommit<'_>,
        mut piece: Piece,
        ordered: bool,
    ) -> Result<()> {
        self.tally.merge(&piece.tally);
        for &(row, id) in &piece.unnamed {
            piece.columns.name[row as usize] = writer.names.intern(&format!("unnamed event {}", id as i64));
        }
        for op in std::mem::take(&mut piece.ops) {
            self.op(writer, plane, &mut piece, op);
        }
        let columns = std::mem::take(&mut piece.columns);
        self.marks(writer, &piece, &columns)?;
        writer.facts.events_seen += columns.len() as u64;
        writer.facts.events_stored += columns.len() as u64;
        // Arrows need the times of the slices and the number of the first row.
        let times: Vec<(u32, i64, i64)> = piece
            .links
            .iter()
            .map(|link| link.row as usize)
            .map(|row| (columns.track[row], columns.ts_ps[row], columns.dur_ps[row]))
            .collect();
        let first = if ordered {
            Some(writer.push_ordered(columns)?)
        } else {
            writer.push_unordered(columns)?;
            None
        };
        self.arrows(writer, &piece, &times, first)
    }

    fn op(&self, writer: &mut Writer, plane: &mut PlaneCommit<'_>, piece: &mut Piece, op: OpText) {
        let names = plane.names;
        let known = names.entries.len();
        let text = |slot: u32| match slot as usize {
            slot if slot < known => names.name(slot),
            slot => piece.texts[slot - known].as_str(),
        };
        let row = op.row as usize;
        if op.text != NONE {
            let cache = if op.tf { &mut plane.tf } else { &mut plane.hlo };
            if cache.is_empty() {
                cache.resize(known, None);
            }
            let codes = cache.get(op.text as usize).copied().flatten().unwrap_or_else(|| {
                let text = text(op.text);
                let (name, kind) = if op.tf {
                    op_of(text).map_or((text, None), |(node, kind)| (node, Some(kind)))
                } else {
                    (text, Some(hlo_base(text)))
                };
                (writer.op_names.intern(name), kind.map_or(NONE, |kind| writer.op_types.intern(kind)))
            });
            if let Some(place) = cache.get_mut(op.text as usize) {
                *place = Some(codes);
            }
            (piece.columns.op_name[row], piece.columns.op_type[row]) = codes;
            // A CUDA graph holds many kernels, and only its launch is an instruction: each goes by its
            // own name, which is that of what it was made of.
            if !op.tf && plane.device.is_some() && is_graph(text(op.text)) {
                let kernel = writer.names.get(piece.columns.name[row]);
                let base = unnumbered(kernel, '_');
                piece.columns.op_type[row] = writer.op_types.intern(base);
                piece.columns.op_name[row] = writer.op_names.intern(kernel);
            }
        }
        if op.category != NONE {
            let category = text(op.category);
            if op.text != NONE && !op.tf {
                piece.columns.op_type[row] = writer.op_types.intern(category);
            }
            piece.columns.category[row] = writer.categories.intern(category);
        }
    }

    fn marks(
        &self,
        writer: &mut Writer,
        piece: &Piece,
        columns: &crate::columns::SliceColumns,
    ) -> Result<()> {
        for mark in &piece.marks {
            let row = mark.row as usize;
            let name = writer.names.get(columns.name[row]).to_owned();
            let args = String::from_utf8_lossy(&mark.args_json);
            let cells = [
                Cell::I64(i64::from(columns.track[row])),
                Cell::Text(&name),
                Cell::I64(columns.ts_ps[row]),
                Cell::I64(columns.dur_ps[row]),
                mark.step.map_or(Cell::Null, Cell::I64),
                if args.is_empty() { Cell::Null } else { Cell::Text(&args) },
            ];
            writer.row(Table::Marker, &cells)?;
        }
        Ok(())
    }

    fn arrows(
        &mut self,
        writer: &mut Writer,
        piece: &Piece,
        times: &[(u32, i64, i64)],
        first: Option<i64>,
    ) -> Result<()> {
        for (link, &(track, ts_ps, dur_ps)) in piece.links.iter().zip(times) {
            let flow = self.links.flow(link);
            let cells = [
                Cell::I64(flow),
                Cell::Text(if link.produces { "start" } else { "end" }),
                Cell::I64(i64::from(track)),
                first.map_or(Cell::Null, |first| Cell::I64(first + i64::from(link.row))),
                Cell::Text(links::name(link.kind)),
                Cell::Null,
                Cell::I64(ts_ps),
                Cell::Null,
            ];
            match first {
                Some(_) => writer.row(Table::Flow, &cells)?,
                None => writer.flow_of(&cells, (ts_ps, dur_ps))?,
            };
        }
        Ok(())
    }

    /// Writes notes on what is known only at the end.
    pub fn finish(self, writer: &mut Writer) {
        self.tally.write_notes(writer);
        let one_sided = self.links.one_sided();
        if self.tables && one_sided > 0 {
            writer.note(
                "one-sided-links",
                Effect::Info,
                one_sided,
                None,
                "Arrows between threads of which only one end was recorded",
            );
        }
    }
}

/// Whether an instruction of XLA launches a CUDA graph: `command_buffer`, `command_buffer_1`, `command_buffer.1`.
fn is_graph(op: &str) -> bool {
    op.starts_with("command_buffer") && unnumbered(hlo_base(op), '_') == "command_buffer"
}

#[cfg(test)]
mod tests {
    use super::is_graph;

    #[test]
    fn instructions_that_launch_graphs() {
        for op in ["command_buffer", "command_buffer_1", "command_buffer.12"] {
            assert!(is_graph(op), "{op}");
        }
        for op in ["command_buffer::execute", "command_buffers", "fusion.1", ""] {
            assert!(!is_graph(op), "{op}");
        }
    }
}
