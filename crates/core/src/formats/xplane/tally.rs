//! What went wrong while decoding, counted in the workers and noted in the order of the file.

use crate::store::{Effect, Writer};

/// Everything that may be wrong with events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    Truncated,
    Structure,
    Event,
    Args,
    Time,
    NegativeDuration,
    Text,
    Unnamed,
    Metadata,
    Shortened,
    Aggregated,
    ArgsTooLong,
}

const ALL: [(Problem, &str, Effect, &str); 12] = [
    (
        Problem::Truncated,
        "truncated",
        Effect::Lost,
        "The file ends in the middle of a record: what came before is kept, at least these events are lost",
    ),
    (
        Problem::Structure,
        "damaged-structure",
        Effect::Lost,
        "Lengths in the file contradict each other: reading went on at the next sound record, at least these events are lost",
    ),
    (Problem::Event, "damaged-event", Effect::Lost, "Events whose bytes cannot be read"),
    (
        Problem::Args,
        "damaged-args",
        Effect::Repaired,
        "Events of which some named values cannot be read; the others are kept",
    ),
    (
        Problem::Time,
        "time-out-of-range",
        Effect::Lost,
        "Events further than 106 days from the start of the capture, which no clock of picoseconds holds",
    ),
    (
        Problem::NegativeDuration,
        "negative-duration",
        Effect::Repaired,
        "Events that end before they begin; kept with a duration of 0",
    ),
    (
        Problem::Text,
        "invalid-utf8",
        Effect::Repaired,
        "Texts that are not UTF-8 or longer than a megabyte; wrong bytes became U+FFFD, long ends were cut",
    ),
    (
        Problem::Unnamed,
        "unnamed-metadata",
        Effect::Missing,
        "Events of a kind, or with values, that the file gives no name: they are called by their number",
    ),
    (
        Problem::Metadata,
        "damaged-metadata",
        Effect::Missing,
        "Names or facts of a plane that cannot be read; events may be called by their number",
    ),
    (
        Problem::Shortened,
        "value-shortened",
        Effect::Repaired,
        "Events of more than 16 MiB: of their long values only the size is kept",
    ),
    (
        Problem::Aggregated,
        "aggregated-events",
        Effect::Info,
        "Events that the recorder added up: their place in time is not known, they stand at the start of their line with \
         $occurrences in args_json",
    ),
    (Problem::ArgsTooLong, "args-too-long", Effect::Repaired, "args of more than 2 GiB of text are left out"),
];

/// Counts of events by problem, with the offset of the first.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    counts: Vec<(Problem, u64, u64)>,
}

impl Tally {
    #[cold]
    pub fn add(&mut self, problem: Problem, events: u64, offset: u64) {
        match self.counts.iter_mut().find(|count| count.0 == problem) {
            Some(count) => {
                count.1 += events;
                count.2 = count.2.min(offset);
            }
            None => self.counts.push((problem, events, offset)),
        }
    }

    pub fn merge(&mut self, other: &Tally) {
        for &(problem, events, offset) in &other.counts {
            self.add(problem, events, offset);
        }
    }

    /// Where the first damage is, if there is any.
    pub fn damage(&self) -> Option<u64> {
        let damaged = |problem| matches!(problem, Problem::Truncated | Problem::Structure | Problem::Event);
        self.counts.iter().filter(|count| damaged(count.0)).map(|count| count.2).min()
    }

    /// Writes all notes and adds up the counters of the facts.
    pub fn write_notes(&self, writer: &mut Writer) {
        for (problem, slug, effect, detail) in ALL {
            for &(_, events, offset) in self.counts.iter().filter(|count| count.0 == problem) {
                writer.note(slug, effect, events, Some(offset), detail);
                match effect {
                    Effect::Lost => {
                        writer.facts.events_seen += events;
                        writer.facts.events_lost += events;
                    }
                    Effect::Repaired => writer.facts.events_repaired += events,
                    _ => {}
                }
            }
        }
    }
}
