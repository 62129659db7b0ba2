//! Records to rows: instants, counters, flows and metadata; ends of slices go to [`Spans`].

use super::codes::Codes;
use super::notes;
use super::piece::{Flaw, Flaws, Id, Interner, Record};
use super::spans::{End, Spans};
use super::tracks::{Tracks, each_member, thread_ids};
use crate::columns::{Cell, MISSING, Table};
use crate::error::Result;
use crate::json::Shape;
use crate::store::Writer;
use rustc_hash::FxHashMap;

/// Where records end up.
#[derive(Default)]
pub struct Rows {
    /// All tracks of the file.
    pub tracks: Tracks,
    /// Open slices.
    pub spans: Spans,
    /// Records that gave nothing.
    pub lost: u64,
    /// Metadata events.
    pub names: u64,
    /// Events that became instants, counters and arrows, with the rows written.
    pub instants: Sum,
    /// See there.
    pub counters: Sum,
    /// See there.
    pub arrows: Sum,
    flows: Interner,
    /// Number of each flow, and whether its start was seen.
    flow_numbers: Vec<(i64, bool)>,
    next_flow: i64,
    /// The sequence that was begun last under an id that holds in all processes.
    begun: FxHashMap<Vec<u8>, u32>,
    key: Vec<u8>,
}

/// Events, and the rows that were written of them.
#[derive(Debug, Default, Clone, Copy)]
pub struct Sum {
    /// The events.
    pub events: u64,
    /// Their rows.
    pub rows: u64,
}

/// An event: its record with its texts.
pub struct Event<'a> {
    /// The record itself.
    pub record: &'a Record,
    /// Its texts, as the worker numbered them.
    pub codes: &'a mut Codes,
    /// Its arguments.
    pub args: &'a [u8],
    /// When, from the origin.
    pub ts_ps: i64,
    /// Where in the file.
    pub offset: u64,
}

/// What takes rows, and what is wrong with events.
pub struct Sinks<'a> {
    /// Where rows go.
    pub writer: &'a mut Writer,
    /// What was wrong.
    pub flaws: &'a mut Flaws,
    /// False when nobody will look at instants, counters and flows.
    pub tables: bool,
}

impl Rows {
    /// Takes a record.
    pub fn take(&mut self, event: &mut Event<'_>, into: &mut Sinks<'_>) -> Result<()> {
        let phase = event.record.phase;
        if phase != b'M' {
            into.writer.facts.cover(event.ts_ps, event.ts_ps);
        }
        match phase {
            b'M' => {
                self.names += 1;
                let name = event.codes.word(event.record.name).unwrap_or(b"");
                self.tracks.metadata(event.codes.track(event.record.track), name, event.args)
            }
            b'B' | b'E' => {
                let track = event.codes.map_track(event.record.track, &mut self.tracks)?;
                self.end(event, track, phase == b'B', false, into);
                Ok(())
            }
            b'b' | b'e' | b'S' | b'F' => {
                let begin = matches!(phase, b'b' | b'S');
                let track = self.sequence(event, begin)?;
                self.end(event, track, begin, true, into);
                Ok(())
            }
            b's' | b't' | b'f' => self.flow(event, into),
            b'C' => self.counter(event, into),
            _ => self.instant(event, into),
        }
    }

    fn end(&mut self, event: &mut Event<'_>, track: u32, begin: bool, by_name: bool, into: &mut Sinks<'_>) {
        let (record, writer) = (event.record, &mut *into.writer);
        self.tracks.reach(track, event.ts_ps);
        let end = End {
            begin,
            ts_ps: event.ts_ps,
            name: event.codes.name(record.name, writer),
            category: event.codes.category(record.category, writer),
            op_name: event.codes.op_name(record.op_name, writer),
            op_type: event.codes.op_type(record.op_type, writer),
            correlation: record.correlation,
            step: record.step,
            args: event.args.to_vec(),
            offset: event.offset,
        };
        self.spans.take(track, by_name, end, into.flaws);
    }

    /// Fills `key` with what makes an id unique beside its process.
    fn id_key(&mut self, event: &Event<'_>, kind: u8) {
        let record = event.record;
        self.key.clear();
        self.key.push(kind);
        let mut push = |text: Option<&[u8]>| {
            let text = text.unwrap_or(b"");
            self.key.extend_from_slice(&(text.len() as u32).to_le_bytes());
            self.key.extend_from_slice(text);
        };
        push(event.codes.word(record.category));
        push(event.codes.word(record.scope));
        match record.id {
            // No text is that long.
            Id::Number(number) => {
                self.key.extend_from_slice(&u32::MAX.to_le_bytes());
                self.key.extend_from_slice(&number.to_le_bytes());
            }
            Id::Word(code) => push(event.codes.word(code)),
            Id::Missing => push(None),
        }
    }

    /// Track of an asynchronous sequence. An id holds in its process; a plain one that is not open
    /// there, and one declared global, is looked for in the others.
    fn sequence(&mut self, event: &mut Event<'_>, begin: bool) -> Result<u32> {
        let record = event.record;
        self.id_key(event, b'a');
        if record.id_scope == b'g'
            && let Some(track) = self.begun.get(&self.key)
        {
            return Ok(*track);
        }
        let mut id = event.codes.id(record.id).unwrap_or_default().into_owned();
        if let Some(scope) = event.codes.text(record.scope) {
            id.push_str(" of ");
            id.push_str(scope);
        }
        let category = event.codes.word(record.category);
        let track = self.tracks.sequence(event.codes.track(record.track), category, id.as_bytes())?;
        if record.id_scope != b'l' {
            if begin {
                self.begun.insert(self.key.clone(), track);
            } else if !self.spans.is_open(track)
                && let Some(other) = self.begun.get(&self.key)
                && self.spans.is_open(*other)
            {
                return Ok(*other);
            }
        }
        Ok(track)
    }

    /// Stations of one arrow share category, scope and id. A second start under an id that has one
    /// begins another arrow.
    fn flow(&mut self, event: &mut Event<'_>, into: &mut Sinks<'_>) -> Result<()> {
        let record = event.record;
        let track = event.codes.map_track(record.track, &mut self.tracks)?;
        self.tracks.reach(track, event.ts_ps);
        // An arrow that a slice declares is no event of its own.
        self.arrows.events += u64::from(record.id_scope != b'b');
        if !into.tables {
            return Ok(());
        }
        self.arrows.rows += 1;
        self.id_key(event, if record.id_scope == b'b' { b'b' } else { b'f' });
        if record.id_scope == b'l' {
            self.key.extend_from_slice(thread_ids(event.codes.track(record.track)).0.unwrap_or(b""));
        }
        let flow = self.flows.intern(&self.key) as usize;
        let start = record.phase == b's';
        if flow == self.flow_numbers.len() {
            self.flow_numbers.push((self.next_flow, false));
            self.next_flow += 1;
        }
        let (number, started) = &mut self.flow_numbers[flow];
        if start && *started {
            *number = self.next_flow;
            self.next_flow += 1;
        }
        *started |= start;
        let number = *number;
        let cells = [
            Cell::I64(number),
            Cell::Text(match record.phase {
                b's' => "start",
                b't' => "step",
                _ => "end",
            }),
            Cell::I64(i64::from(track)),
            Cell::Null,
            Cell::Text(event.codes.text(record.name).unwrap_or("")),
            event.codes.text(record.category).map_or(Cell::Null, Cell::Text),
            Cell::I64(event.ts_ps),
            notes::args_cell(event.args),
        ];
        into.writer.row(Table::Flow, &cells).map(drop)
    }

    fn counter(&mut self, event: &mut Event<'_>, into: &mut Sinks<'_>) -> Result<()> {
        let record = event.record;
        let (name, id) = (event.codes.word(record.name).unwrap_or(b""), event.codes.id(record.id));
        let id = id.as_deref().map(str::as_bytes);
        let track = self.tracks.counter(event.codes.track(record.track), name, id)?;
        self.tracks.reach(track, event.ts_ps);
        let name = event.codes.text(record.name).unwrap_or("");
        let mut rows = 0;
        let mut result = Ok(());
        each_member(event.args, |series, shape, text| {
            if series.starts_with(b"$") {
                return;
            }
            rows += 1;
            if !into.tables || result.is_err() {
                return;
            }
            let text = std::str::from_utf8(text).unwrap_or("").trim();
            let value = match shape {
                Shape::Number | Shape::String => text.parse::<f64>().ok().filter(|v| v.is_finite()),
                _ => None,
            };
            let cells = [
                Cell::I64(i64::from(track)),
                Cell::Text(name),
                Cell::Text(std::str::from_utf8(series).unwrap_or("")),
                Cell::I64(event.ts_ps),
                value.map_or(Cell::Null, Cell::F64),
            ];
            result = into.writer.row(Table::Counter, &cells).map(drop);
        });
        if rows == 0 {
            self.lost += 1;
            into.flaws.add(Flaw::CounterWithoutValue, event.offset);
        } else {
            self.counters.events += 1;
            self.counters.rows += if into.tables { rows } else { 0 };
        }
        result
    }

    fn instant(&mut self, event: &mut Event<'_>, into: &mut Sinks<'_>) -> Result<()> {
        let record = event.record;
        let kind = match record.phase {
            b'i' | b'I' => "instant",
            b'R' => "mark",
            b'N' => "object_new",
            b'O' => "object_snapshot",
            b'D' => "object_delete",
            b'P' => "sample",
            b'v' | b'V' => "memory_dump",
            b'c' => "clock_sync",
            b'(' | b')' => "context",
            b'n' | b'T' | b'p' => "async",
            _ => {
                into.flaws.add(Flaw::UnknownPhase, event.offset);
                "unknown"
            }
        };
        let track = match record.phase {
            b'n' | b'T' | b'p' => self.sequence(event, false)?,
            _ => event.codes.map_track(record.track, &mut self.tracks)?,
        };
        self.tracks.reach(track, event.ts_ps);
        self.instants.events += 1;
        if !into.tables {
            return Ok(());
        }
        self.instants.rows += 1;
        let has_id = matches!(record.phase, b'N' | b'O' | b'D' | b'n' | b'T' | b'p');
        let id = event.codes.id(record.id).filter(|_| has_id);
        let cells = [
            Cell::I64(i64::from(track)),
            Cell::Text(event.codes.text(record.name).unwrap_or("")),
            event.codes.text(record.category).map_or(Cell::Null, Cell::Text),
            Cell::Text(kind),
            id.as_deref().map_or(Cell::Null, Cell::Text),
            Cell::I64(event.ts_ps),
            notes::args_cell(event.args),
        ];
        into.writer.row(Table::Instant, &cells).map(drop)
    }
}

/// The step number of a slice: told by its arguments or by its name.
pub fn step_number(number: i64, name: &str) -> i64 {
    if number != MISSING {
        return number;
    }
    let number = name.strip_prefix("ProfilerStep#").and_then(|digits| digits.parse().ok());
    number.unwrap_or(MISSING)
}
