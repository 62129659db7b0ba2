//! XPlane: what the profilers of TensorFlow, JAX and XLA write (`.xplane.pb`, an XSpace).
//!
//! A space holds planes (a host, an accelerator, facts), a plane holds lines (threads, streams), a
//! line holds events; the names of events and of their stats follow after the lines, once for the
//! plane. The file may be larger than memory: nothing but these names is kept.
//!
//! * [`window`], [`walk`], [`resync`]: fields of a file that is read in parts and may be damaged
//! * [`plane`]: one plane: names, then lines in batches; [`lines`] cuts a line into pieces,
//!   [`events`] turns a piece into slices (on all threads: [`work`]), [`commit`] hands them on in order
//! * [`metadata`], [`ids`], [`args`], [`text`]: names and stats, and how they become JSON; [`render`]:
//!   the same when somebody asks for them; [`describe`]: facts about kinds of events; [`shorten`]: events too long to be read at once
//! * [`pieces`], [`roles`]: what comes out of a piece, and of an event's stats
//! * [`tracks`], [`links`], [`clock`], [`tally`]: what rows are, arrows, time zero, what went wrong
//!
//! How the parts of an XSpace become rows:
//!
//! * Every XEvent is one slice, whatever its duration; one that the recorder added up
//!   (`num_occurrences`) is put at the start of its line, with `$occurrences` among its args.
//! * `args_json` holds the stats of the event. Stats of the event's *metadata* (HLO modules, flops
//!   of an instruction) are the same for all its events and kept once: as an instant of kind
//!   `context` on the track "event metadata" of the plane.
//! * Where protobuf refuses a file, the events before and, where lengths allow, after the damage are
//!   kept, and notes say what is missing.

mod args;
mod clock;
mod commit;
mod describe;
mod events;
mod ids;
mod lines;
mod links;
mod metadata;
mod parts;
mod pieces;
mod plane;
mod render;
mod resync;
mod roles;
mod shorten;
mod sniff;
mod tally;
mod text;
mod tracks;
mod walk;
mod window;
mod work;

pub use sniff::sniff;

use crate::error::{Error, Kind, Result};
use crate::formats::Format;
use crate::input::{Input, RandomAccess};
use crate::store::{Effect, Options, Writer};
use render::LAZY;
use tally::Tally;
use walk::Walk;
use window::{Extent, ReadAt, Trouble, Window};

/// XPlane, as the list of formats has it.
pub const FORMAT: Format = Format { name: "xplane", sniff, decode: Some(decode), lazy: Some(LAZY) };

/// Fields of planes and spaces are far apart: long reads would be wasted on them.
const HOP_BYTES: usize = 16 << 10;

impl ReadAt for RandomAccess {
    fn len(&self) -> u64 {
        RandomAccess::len(self)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        RandomAccess::read_at(self, offset, buffer)
    }

    fn read_next(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        RandomAccess::read_next(self, offset, buffer)
    }
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Damage(damage) => damage.into(),
            Trouble::Failure(error) => error,
        }
    }
}

/// Decodes an XSpace.
pub fn decode(input: &Input, options: &Options, writer: &mut Writer) -> Result<()> {
    let source = input.random()?;
    let commit = decode_from(&source, options, writer)?;
    let damage = commit.tally.damage();
    commit.finish(writer);
    if let Some(why) = &source.cut {
        let detail = format!("the compressed file is cut off or damaged at its end: {why}");
        writer.note("truncated-input", Effect::Missing, 0, Some(source.len()), detail);
    }
    let stored = writer.facts.events_stored;
    writer.claim("slice", stored, stored);
    match damage {
        Some(offset) if writer.facts.events_stored == 0 => Err(nothing_whole(&source, offset)?),
        _ => Ok(()),
    }
}

/// A plane of the space.
#[derive(Debug, Clone, Copy)]
struct PlaneExtent {
    extent: Extent,
    cut: bool,
}

/// Decodes the XSpace that `source` holds.
fn decode_from(source: &dyn ReadAt, options: &Options, writer: &mut Writer) -> Result<commit::Commit> {
    let mut window = Window::new(source, HOP_BYTES);
    let mut tally = Tally::default();
    let mut planes = Vec::new();
    let (mut known, mut repaired) = (false, 0);
    let mut hosts = Vec::new();
    let mut walk = Walk::space(Extent { start: 0, end: source.len() });
    while let Some(part) = walk.next(&mut window, &mut tally)? {
        let head = part.head;
        known |= matches!(head.number, 1..=4) && head.wire == 2;
        match (head.number, head.wire) {
            (1, 2) => planes.push(PlaneExtent { extent: head.body, cut: part.cut }),
            (2, 2) => complaint(&mut window, head.body, true, writer, &mut repaired)?,
            (3, 2) => complaint(&mut window, head.body, false, writer, &mut repaired)?,
            (4, 2) => hosts.push(metadata::read_name(&mut window, head.body, &mut repaired)?),
            _ => {}
        }
    }
    if repaired > 0 {
        tally.add(tally::Problem::Text, 0, 0);
    }
    if !known {
        return Err(Error::at(Kind::NotThisFormat, 0, "none of the fields of an XSpace"));
    }
    if let Some(host) = hosts.first() {
        writer.facts.meta.insert("host".to_owned(), host.clone());
        writer.facts.meta.insert("hostname".to_owned(), hosts.join(","));
    }
    writer.facts.producer = "tf_profiler".to_owned();
    let clock = clock::Clock::read(&mut window, &planes, writer)?;
    let mut commit = commit::Commit::new(options, clock, tally);
    for plane in &planes {
        plane::decode(source, *plane, options, writer, &mut commit)?;
    }
    Ok(commit)
}

/// The error for a damaged file of which no event could be read.
fn nothing_whole(source: &dyn ReadAt, offset: u64) -> Result<Error> {
    let mut window = Window::new(source, HOP_BYTES);
    // A program that took the file for text put U+FFFD where it found invalid UTF-8.
    let head = window.at(0, HOP_BYTES)?;
    let replaced = head.windows(3).filter(|three| three == b"\xef\xbf\xbd").count();
    let seen = if replaced >= 4 {
        format!(
            "not one whole event: the file went through a conversion of text ({replaced} replacement signs near its start)"
        )
    } else {
        "not one whole event before or after the damage".to_owned()
    };
    Ok(Error::at(Kind::Damaged, offset, seen))
}

/// Keeps an error or a warning of the recorder.
fn complaint(
    window: &mut Window<'_>,
    body: Extent,
    error: bool,
    writer: &mut Writer,
    repaired: &mut u64,
) -> Result<()> {
    let text = metadata::read_name(window, body, repaired)?;
    let slug = if error { "recorder-error" } else { "recorder-warning" };
    // Notes of one slug keep only the first detail; the facts keep all of them.
    let number = writer.facts.meta.keys().filter(|key| key.starts_with(slug)).count() + 1;
    writer.facts.meta.insert(format!("{slug}-{number}"), text.clone());
    writer.note(slug, Effect::Recorder, 0, Some(body.start), text.clone());
    if text.to_lowercase().contains("dropped") {
        dropped(number_dropped(&text), body.start, text, writer);
    }
    Ok(())
}

/// Notes events that the recorder says it dropped; 0 when it does not say how many.
fn dropped(events: u64, offset: u64, text: String, writer: &mut Writer) {
    writer.note("recorder-dropped-events", Effect::Capped, events, Some(offset), text);
    writer.facts.events_capped = writer.facts.events_capped.saturating_add(events);
}

/// The number in "dropped 12 events", "12 dropped", "12 events dropped", "12 events were dropped".
fn number_dropped(text: &str) -> u64 {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let Some(at) = words.iter().position(|word| word.eq_ignore_ascii_case("dropped")) else {
        return 0;
    };
    let near = words.get(at + 1).into_iter().chain(words[at.saturating_sub(3)..at].iter().rev());
    near.filter_map(|word| word.parse().ok()).next().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::number_dropped;

    #[test]
    fn dropped_events_are_counted_where_the_text_counts_them() {
        for text in [
            "dropped 12 events", "12 dropped", "12 events dropped:", "12 GPU events dropped",
            "12 events were dropped",
        ] {
            assert_eq!(number_dropped(text), 12, "{text}");
        }
        assert_eq!(number_dropped("Events dropped on vm: collected 77 driver events"), 0);
        assert_eq!(number_dropped("nothing"), 0);
    }
}
