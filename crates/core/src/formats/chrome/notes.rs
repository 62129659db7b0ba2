//! The flaws of a file in words.

use super::piece::{Flaw, Flaws};
use crate::columns::Cell;
use crate::facts::Effect;
use crate::store::Writer;

const ALL: [(Flaw, &str, Effect, &str); super::piece::FLAWS] = {
    use Effect::{Info, Lost, Repaired};
    [
        (
            Flaw::EmptyEvent,
            "empty-event",
            Info,
            "events are empty objects, which hold nothing",
        ),
        (
            Flaw::NotAnEvent,
            "not-an-event",
            Lost,
            "elements of the event array are no objects",
        ),
        (
            Flaw::MissingPhase,
            "missing-phase",
            Lost,
            "events have no phase (ph)",
        ),
        (
            Flaw::MissingTime,
            "missing-time",
            Lost,
            "events have no time (ts)",
        ),
        (
            Flaw::BadTime,
            "bad-time",
            Lost,
            "events have a time (ts) that is no number",
        ),
        (
            Flaw::TimeOutOfRange,
            "time-out-of-range",
            Lost,
            "events lie more than 106 days from the origin",
        ),
        (
            Flaw::NegativeDuration,
            "negative-duration",
            Repaired,
            "slices have a negative duration, taken as 0",
        ),
        (
            Flaw::MissingDuration,
            "missing-duration",
            Repaired,
            "slices have no duration (dur), taken as 0",
        ),
        (
            Flaw::LoneSurrogate,
            "lone-surrogate",
            Repaired,
            "events hold half characters, replaced by U+FFFD",
        ),
        (
            Flaw::InvalidUtf8,
            "invalid-utf8",
            Repaired,
            "events hold bytes that are no UTF-8, replaced by U+FFFD",
        ),
        (
            Flaw::ControlCharacter,
            "control-character",
            Repaired,
            "events hold raw control characters in strings",
        ),
        (
            Flaw::BadEscape,
            "bad-escape",
            Repaired,
            "events hold backslashes that escape nothing, taken literally",
        ),
        (
            Flaw::NotANumber,
            "not-a-number",
            Repaired,
            "events hold NaN or Infinity, kept as text",
        ),
        (
            Flaw::TrailingComma,
            "trailing-comma",
            Repaired,
            "events hold a comma before a closing bracket",
        ),
        (
            Flaw::DuplicateKey,
            "duplicate-key",
            Repaired,
            "events hold a key twice; the last one counts",
        ),
        (
            Flaw::ArgsTooDeep,
            "args-too-deep",
            Repaired,
            "events have arguments nested deeper than 256 levels, left out",
        ),
        (
            Flaw::UnknownPhase,
            "unknown-phase",
            Info,
            "events have a phase the format does not define, kept as instants",
        ),
        (
            Flaw::EndWithoutBegin,
            "end-without-begin",
            Lost,
            "ends of slices have no beginning",
        ),
        (
            Flaw::UnclosedBegin,
            "unclosed-begin",
            Repaired,
            "slices have no end; they end with their track",
        ),
        (
            Flaw::CounterWithoutValue,
            "counter-without-value",
            Lost,
            "counter events have no value",
        ),
        (
            Flaw::Truncated,
            "truncated",
            Lost,
            "events are cut off at the end of the file",
        ),
        (
            Flaw::Damaged,
            "damaged-bytes",
            Lost,
            "stretches of the file are no JSON and were skipped",
        ),
        (
            Flaw::EventTooLong,
            "event-too-long",
            Lost,
            "events are longer than 64 MiB",
        ),
    ]
};

/// Writes a note for each flaw that was met.
pub fn write(flaws: &Flaws, writer: &mut Writer) {
    for (flaw, slug, effect, detail) in ALL {
        let (count, first) = flaws.0[flaw as usize];
        if count > 0 {
            writer.note(
                slug,
                effect,
                count,
                Some(first),
                format!("{count} {detail}"),
            );
        }
    }
}

/// Arguments as a cell.
pub fn args_cell(args: &[u8]) -> Cell<'_> {
    match std::str::from_utf8(args) {
        Ok(text) if !text.is_empty() => Cell::Text(text),
        _ => Cell::Null,
    }
}
