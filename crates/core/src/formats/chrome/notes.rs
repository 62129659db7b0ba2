//! The flaws of a file in words.

use super::piece::{Flaw, Flaws};
use crate::columns::Cell;
use crate::facts::Effect;
use crate::store::Writer;

/// Each flaw with its slug and effect, and what is said of one and of several.
const ALL: [(Flaw, &str, Effect, [&str; 2]); super::piece::FLAWS] = {
    use Effect::{Info, Lost, Repaired};
    [
        (
            Flaw::EmptyEvent,
            "empty-event",
            Info,
            ["event is an empty object, which holds nothing", "events are empty objects, which hold nothing"],
        ),
        (
            Flaw::NotAnEvent,
            "not-an-event",
            Lost,
            ["element of the event array is not an object", "elements of the event array are not objects"],
        ),
        (Flaw::MissingPhase, "missing-phase", Lost, ["event has no phase (ph)", "events have no phase (ph)"]),
        (Flaw::MissingTime, "missing-time", Lost, ["event has no time (ts)", "events have no time (ts)"]),
        (
            Flaw::BadTime,
            "bad-time",
            Lost,
            ["event has a time (ts) that is not a number", "events have a time (ts) that is not a number"],
        ),
        (
            Flaw::TimeOutOfRange,
            "time-out-of-range",
            Lost,
            [
                "event lies more than 106 days from the origin",
                "events lie more than 106 days from the origin",
            ],
        ),
        (
            Flaw::NegativeDuration,
            "negative-duration",
            Repaired,
            ["slice has a negative duration, taken as 0", "slices have a negative duration, taken as 0"],
        ),
        (
            Flaw::MissingDuration,
            "missing-duration",
            Repaired,
            ["slice has no duration (dur), taken as 0", "slices have no duration (dur), taken as 0"],
        ),
        (
            Flaw::LoneSurrogate,
            "lone-surrogate",
            Repaired,
            [
                "event holds half characters, replaced by U+FFFD",
                "events hold half characters, replaced by U+FFFD",
            ],
        ),
        (
            Flaw::InvalidUtf8,
            "invalid-utf8",
            Repaired,
            [
                "event holds bytes that are not UTF-8, replaced by U+FFFD",
                "events hold bytes that are not UTF-8, replaced by U+FFFD",
            ],
        ),
        (
            Flaw::ControlCharacter,
            "control-character",
            Repaired,
            [
                "event holds raw control characters in strings",
                "events hold raw control characters in strings",
            ],
        ),
        (
            Flaw::BadEscape,
            "bad-escape",
            Repaired,
            [
                "event holds backslashes that escape nothing, taken literally",
                "events hold backslashes that escape nothing, taken literally",
            ],
        ),
        (
            Flaw::NotANumber,
            "not-a-number",
            Repaired,
            ["event holds NaN or Infinity, kept as text", "events hold NaN or Infinity, kept as text"],
        ),
        (
            Flaw::TrailingComma,
            "trailing-comma",
            Repaired,
            ["event holds a comma before a closing bracket", "events hold a comma before a closing bracket"],
        ),
        (
            Flaw::DuplicateKey,
            "duplicate-key",
            Repaired,
            ["event holds a key twice; the last one counts", "events hold a key twice; the last one counts"],
        ),
        (
            Flaw::ArgsTooDeep,
            "args-too-deep",
            Repaired,
            [
                "event has arguments nested deeper than 256 levels, left out",
                "events have arguments nested deeper than 256 levels, left out",
            ],
        ),
        (
            Flaw::UnknownPhase,
            "unknown-phase",
            Info,
            [
                "event has a phase the format does not define, kept as instants",
                "events have a phase the format does not define, kept as instants",
            ],
        ),
        (
            Flaw::EndWithoutBegin,
            "end-without-begin",
            Lost,
            ["end of a slice has no beginning", "ends of slices have no beginning"],
        ),
        (
            Flaw::UnclosedBegin,
            "unclosed-begin",
            Repaired,
            ["slice has no end; it ends with its track", "slices have no end; they end with their track"],
        ),
        (
            Flaw::CounterWithoutValue,
            "counter-without-value",
            Lost,
            ["counter event has no value", "counter events have no value"],
        ),
        (
            Flaw::Truncated,
            "truncated",
            Lost,
            ["event is cut off at the end of the file", "events are cut off at the end of the file"],
        ),
        (
            Flaw::Damaged,
            "damaged-bytes",
            Lost,
            [
                "stretch of the file is not JSON and was skipped",
                "stretches of the file are not JSON and were skipped",
            ],
        ),
        (
            Flaw::EventTooLong,
            "event-too-long",
            Lost,
            ["event is longer than 64 MiB", "events are longer than 64 MiB"],
        ),
    ]
};

/// Writes a note for each flaw that was met.
pub fn write(flaws: &Flaws, writer: &mut Writer) {
    for (flaw, slug, effect, [one, several]) in ALL {
        let (count, first) = flaws.0[flaw as usize];
        if count > 0 {
            let detail = if count == 1 { one } else { several };
            writer.note(slug, effect, count, Some(first), format!("{count} {detail}"));
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
