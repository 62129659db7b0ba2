//! What the metadata of events say: HLO modules, categories, flops. It is the same for all events
//! of a kind, so it is kept once.

use super::args::{Args, read_stat};
use super::commit::{Commit, PlaneCommit};
use super::metadata::{Kinds, NAME_LIMIT_BYTES, StatNames, each_field, read_name};
use super::window::{Extent, Trouble, Window};
use crate::columns::{Cell, Table};
use crate::error::Result;
use crate::store::Writer;

impl Commit {
    /// What the metadata of events say: one instant each, on a track of its own.
    pub fn descriptions(
        &mut self,
        window: &mut Window<'_>,
        writer: &mut Writer,
        plane: &mut PlaneCommit<'_>,
        kinds: &Kinds,
        ts_ps: i64,
        repaired: &mut u64,
    ) -> Result<()> {
        let mut track = None;
        for &described in &kinds.described {
            writer.check()?;
            let (mut name, mut display) = (String::new(), String::new());
            let mut args = Args::default();
            args.begin();
            each_field(window, described, |window, head| {
                match (head.number, head.wire) {
                    (2, 2) => name = read_name(window, head.body, &mut 0)?,
                    (4, 2) => display = read_name(window, head.body, &mut 0)?,
                    (3, 2) => args.add_size("$metadata", head.body.len()),
                    (5, 2) => {
                        if head.body.len() > NAME_LIMIT_BYTES as u64 {
                            long_stat(window, head.body, plane.names, &mut args)?;
                        } else {
                            let (bytes, _) = window.copy(head.body, NAME_LIMIT_BYTES)?;
                            let stat = read_stat(&bytes);
                            if stat.is_err() {
                                window.damaged.get_or_insert(head.body.start);
                            }
                            if let Ok((id, found)) = stat {
                                args.add_any(plane.names, id, found);
                            }
                        }
                    }
                    _ => {}
                }
                Ok(true)
            })?;
            *repaired += u64::from(args.not_utf8);
            if !display.is_empty() && display != name {
                args.add_text("$display_name", &display);
            }
            args.end();
            let row = match track {
                Some(track) => track,
                None => {
                    let origin = format!("plane {} event_metadata", plane.id);
                    let new = self.row_of_track(
                        writer,
                        plane,
                        "derived",
                        "annotation",
                        "event metadata",
                        &origin,
                        Cell::Null,
                    )?;
                    *track.insert(new)
                }
            };
            let text = String::from_utf8_lossy(args.last());
            let cells = [
                Cell::I64(i64::from(row)),
                Cell::Text(&name),
                Cell::Text("event_metadata"),
                Cell::Text("context"),
                Cell::Null,
                Cell::I64(ts_ps),
                if text.is_empty() { Cell::Null } else { Cell::Text(&text) },
            ];
            writer.row(Table::Instant, &cells)?;
        }
        Ok(())
    }
}

/// A stat too long to be read at once: its name, and the size of its value.
fn long_stat(
    window: &mut Window<'_>,
    stat: Extent,
    names: &StatNames,
    args: &mut Args,
) -> std::result::Result<(), Trouble> {
    let (mut id, mut bytes) = (0, 0);
    each_field(window, stat, |_, head| {
        id = head.varint(1).unwrap_or(id);
        bytes = if head.wire == 2 { head.body.len() } else { bytes };
        Ok(true)
    })?;
    match names.ids.get(id) {
        Some(slot) => args.add_size(names.name(slot), bytes),
        None => args.add_size(&format!("unnamed stat {id}"), bytes),
    }
    Ok(())
}
