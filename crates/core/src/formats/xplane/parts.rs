//! What a plane holds besides its lines: names, metadata of events and stats, and the plane's own stats.

use super::PlaneExtent;
use super::args::{Args, Found, read_stat};
use super::metadata::{NAME_LIMIT_BYTES, StatNames, read_name};
use super::tally::Tally;
use super::tracks::PlaneKind;
use super::walk::Walk;
use super::window::{Extent, Trouble, Window};
use crate::error::Result;
use crate::store::Writer;

/// What a plane holds besides its lines.
#[derive(Debug, Default)]
pub struct Parts {
    pub id: i64,
    pub name: String,
    pub lines: u64,
    pub kinds: Vec<Extent>,
    pub stat_names: Vec<Extent>,
    stats: Vec<Extent>,
    pub repaired: u64,
}

impl Parts {
    /// Walks over the plane once, over its lines by their length.
    pub fn read(
        window: &mut Window<'_>,
        plane: PlaneExtent,
        tally: &mut Tally,
    ) -> std::result::Result<Parts, Trouble> {
        let mut parts = Parts::default();
        let mut walk = Walk::plane(plane.extent, plane.cut);
        while let Some(part) = walk.next(window, tally)? {
            let head = part.head;
            match (head.number, head.wire) {
                (1, 0) => parts.id = head.value as i64,
                (2, 2) => parts.name = read_name(window, head.body, &mut parts.repaired)?,
                (3, 2) => parts.lines += 1,
                (4, 2) => parts.kinds.push(head.body),
                (5, 2) => parts.stat_names.push(head.body),
                (6, 2) => parts.stats.push(head.body),
                _ => {}
            }
        }
        Ok(parts)
    }

    /// Names of the stats of the plane.
    pub fn names(
        &self,
        window: &mut Window<'_>,
        repaired: &mut u64,
    ) -> std::result::Result<StatNames, Trouble> {
        StatNames::read(window, &self.stat_names, repaired)
    }

    /// The plane's own stats as texts.
    pub fn stat_texts(&self, window: &mut Window<'_>, names: &StatNames) -> Result<Vec<(String, String)>> {
        let mut texts = Vec::new();
        for &stat in &self.stats {
            let (bytes, _) = window.copy(stat, NAME_LIMIT_BYTES)?;
            let Ok((id, found)) = read_stat(&bytes) else {
                window.damaged.get_or_insert(stat.start);
                continue;
            };
            let Some(slot) = names.ids.get(id) else {
                continue;
            };
            let text = match found {
                Found::Str(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Found::Ref(id) => {
                    names.ids.get(id).map_or_else(String::new, |slot| names.name(slot).to_owned())
                }
                _ => {
                    let mut args = Args::default();
                    args.value(names, found);
                    String::from_utf8_lossy(args.text.as_bytes()).trim_matches('"').to_owned()
                }
            };
            texts.push((names.name(slot).to_owned(), text));
        }
        Ok(texts)
    }

    /// All stats of the plane as one JSON object; empty without any.
    pub fn args_json(
        &self,
        window: &mut Window<'_>,
        names: &StatNames,
        repaired: &mut u64,
    ) -> Result<String> {
        let mut args = Args::default();
        args.begin();
        for &stat in &self.stats {
            let (bytes, _) = window.copy(stat, NAME_LIMIT_BYTES)?;
            let Ok((id, found)) = read_stat(&bytes) else {
                continue;
            };
            args.add_any(names, id, found);
        }
        args.end();
        *repaired += u64::from(args.not_utf8);
        Ok(String::from_utf8_lossy(args.last()).into_owned())
    }

    /// Keeps what a plane says about the recording as a whole, and about events that its recorder dropped.
    pub fn facts(
        &self,
        window: &mut Window<'_>,
        names: &StatNames,
        kind: PlaneKind,
        writer: &mut Writer,
    ) -> Result<()> {
        if self.stats.is_empty() {
            return Ok(());
        }
        for (name, value) in self.stat_texts(window, names)? {
            if name == "jax_version" {
                writer.facts.producer = "jax".to_owned();
            }
            if name.contains("dropped")
                && let Ok(events @ 1..) = value.parse::<u64>()
            {
                let text = format!("{}: {name} is {events}", self.name);
                super::dropped(events, self.stats[0].start, text, writer);
            }
            if kind == PlaneKind::Metadata {
                writer.facts.meta.insert(name, value);
            }
        }
        Ok(())
    }
}
