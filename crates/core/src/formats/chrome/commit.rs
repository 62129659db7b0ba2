//! Pieces in the order of the file to the writer: codes of workers become codes of the writer, times
//! count from the origin, and everything is counted.

use super::codes::Codes;
use super::event::{Rules, Scanner};
use super::merge::merge;
use super::notes;
use super::origin;
use super::piece::{Delta, Flaw, Flaws, Piece};
use super::rows::{Event, Rows, Sinks, step_number};
use crate::classes::{Task, task};
use crate::columns::{Cell, MISSING, NONE, SliceColumns, Table};
use crate::error::Result;
use crate::facts::Effect;
use crate::formats::markers::marks_step;
use crate::options::Needs;
use crate::store::Writer;
use rustc_hash::FxHashMap;

/// Node that every run of a graph begins with.
const RUN_BEGINS: &str = "_SOURCE";

struct Held {
    piece: Piece,
    owner: (usize, u32),
    bytes: Vec<u8>,
    at: u64,
}

/// Takes pieces in the order of the file.
pub struct Committer<'w> {
    /// Where everything goes.
    pub writer: &'w mut Writer,
    /// Counts of what was wrong, with offsets in the file.
    pub flaws: Flaws,
    /// Elements of the event arrays.
    pub seen: u64,
    /// Elements that gave nothing.
    pub lost: u64,
    /// Complete slices.
    slices: u64,
    /// Commas between elements.
    pub commas: u64,
    /// The origin of times in microseconds, once known.
    pub origin_us: Option<i64>,
    rules: Rules,
    needs: Needs,
    rows: Rows,
    /// By scanner, and how often it started afresh.
    workers: FxHashMap<(usize, u32), Codes>,
    held: Vec<Held>,
    repaired: u64,
    /// Whether a name may mark a step, and what it says of its row as a task, by the writer's code.
    names: Vec<(bool, Task)>,
    /// Whether an op begins a run of a graph, by the writer's code: a timeline of several runs was merged.
    begins: Vec<bool>,
    /// Whether a category says that marks repeat those of the host, by the writer's code.
    repeats: Vec<bool>,
    /// Reads pieces again whose times need the true origin.
    again: Scanner,
}

impl<'w> Committer<'w> {
    /// A committer of nothing yet.
    pub fn new(writer: &'w mut Writer, needs: Needs, rules: Rules) -> Self {
        Committer {
            writer,
            flaws: Flaws::default(),
            seen: 0,
            lost: 0,
            slices: 0,
            commas: 0,
            origin_us: None,
            rules,
            needs,
            rows: Rows::default(),
            workers: FxHashMap::default(),
            held: Vec::new(),
            repaired: 0,
            names: Vec::new(),
            repeats: Vec::new(),
            begins: Vec::new(),
            again: Scanner::new(usize::MAX),
        }
    }

    /// Takes the piece that was read from `bytes`, which lie at `at` in the file.
    pub fn take(&mut self, piece: &mut Piece, delta: Delta, bytes: &[u8], at: u64) -> Result<()> {
        // At once, for the next piece of the same worker builds on it.
        self.learn(&delta);
        let owner = delta.owner;
        if self.origin_us.is_some() || (self.held.is_empty() && piece.base_us.is_none()) {
            return self.commit(piece, owner, bytes, at);
        }
        self.held.push(Held { piece: std::mem::take(piece), owner, bytes: bytes.to_vec(), at });
        let times: usize = self.held.iter().map(|held| held.piece.first_us.len()).sum();
        if times >= origin::SAMPLE {
            self.release()?;
        }
        Ok(())
    }

    /// Takes in what a worker learnt while reading a piece that is not taken.
    pub fn learn(&mut self, delta: &Delta) {
        let (worker, epoch) = delta.owner;
        self.workers.entry(delta.owner).or_default().learn(delta);
        if epoch > 0 && self.held.is_empty() {
            self.workers.remove(&(worker, epoch - 1));
        }
    }

    /// Chooses the origin, if it is not chosen, and commits the pieces that waited for it.
    pub fn release(&mut self) -> Result<()> {
        if self.origin_us.is_some() {
            return Ok(());
        }
        let held = std::mem::take(&mut self.held);
        let first: Vec<i64> = held.iter().flat_map(|held| &held.piece.first_us).copied().collect();
        let stored = self.writer.facts.meta.get(origin::TOLD);
        let stored = stored.and_then(|text| text.parse().ok());
        self.origin_us = Some(origin::choose(&first, stored));
        for mut held in held {
            self.commit(&mut held.piece, held.owner, &held.bytes, held.at)?;
        }
        Ok(())
    }

    fn commit(&mut self, piece: &mut Piece, owner: (usize, u32), bytes: &[u8], at: u64) -> Result<()> {
        let origin_us = self.origin_us.unwrap_or(0);
        let base_us = piece.base_us.unwrap_or(origin_us);
        let shift = origin::shift_ps(base_us, origin_us).filter(|shift| {
            let (first, last) = piece.reach.unwrap_or((0, 0));
            first.checked_add(*shift).is_some() && last.checked_add(*shift).is_some()
        });
        match shift {
            Some(shift) if !piece.stretched => self.write(piece, owner, shift, at),
            _ => {
                let rules = Rules { origin_us: Some(origin_us), ..self.rules };
                let mut piece = Piece::default();
                // A number is whole only when something follows it.
                let bytes = [bytes, b" "].concat();
                self.again.read(&bytes, 0, &rules, &mut piece);
                let delta = self.again.delta();
                self.learn(&delta);
                self.write(&mut piece, delta.owner, 0, at)
            }
        }
    }

    fn write(&mut self, piece: &mut Piece, owner: (usize, u32), shift: i64, at: u64) -> Result<()> {
        self.writer.check()?;
        let mut codes = self.workers.remove(&owner).unwrap_or_default();
        self.seen += piece.seen;
        self.lost += piece.lost;
        self.repaired += piece.repaired;
        self.commas += piece.commas;
        for (sum, (count, first)) in self.flaws.0.iter_mut().zip(piece.flaws.0) {
            sum.0 += count;
            sum.1 = sum.1.min(first.saturating_add(at));
        }
        let mut slices = std::mem::take(&mut piece.slices);
        self.slices += slices.len() as u64;
        let mut steps = std::mem::take(&mut piece.steps);
        let (mut args_start, mut mapped) = (0, 0);
        // How many slices of the piece come before each slice that two ends told.
        let mut before = Vec::new();
        for record in &piece.records {
            // Tracks are numbered in the order of the file, however it was cut.
            self.map_tracks(&mut slices, mapped, record.slices_before as usize, &mut codes, shift)?;
            mapped = record.slices_before as usize;
            let args = &piece.args[args_start..record.args_end];
            args_start = record.args_end;
            let offset = at + record.offset as u64;
            let mut event =
                Event { record, codes: &mut codes, args, ts_ps: record.ts_ps.saturating_add(shift), offset };
            let mut into = Sinks { writer: self.writer, flaws: &mut self.flaws, tables: self.needs.tables };
            self.rows.take(&mut event, &mut into)?;
            before.resize(self.rows.spans.done.len(), record.slices_before);
        }
        let all = slices.len();
        self.map_tracks(&mut slices, mapped, all, &mut codes, shift)?;
        codes.translate(&mut slices, self.writer);
        self.workers.insert(owner, codes);
        if !before.is_empty() {
            let done = std::mem::take(&mut self.rows.spans.done);
            let done_steps = std::mem::take(&mut self.rows.spans.steps);
            (slices, steps) = merge((&slices, &steps), (&done, &done_steps), &before);
        }
        self.push(slices, &steps)
    }

    /// Numbers the tracks of slices, and makes their times count from the origin.
    fn map_tracks(
        &mut self,
        slices: &mut SliceColumns,
        from: usize,
        to: usize,
        codes: &mut Codes,
        shift: i64,
    ) -> Result<()> {
        for i in from..to {
            let track = codes.map_track(slices.track[i], &mut self.rows.tracks)?;
            slices.track[i] = track;
            slices.ts_ps[i] += shift;
            self.rows.tracks.reach(track, slices.ts_ps[i] + slices.dur_ps[i]);
        }
        Ok(())
    }

    /// Slices with the writer's codes to the writer, and those that may mark steps as markers.
    fn push(&mut self, mut slices: SliceColumns, steps: &[(u32, i64)]) -> Result<()> {
        if slices.is_empty() {
            return Ok(());
        }
        if slices.name.contains(&NONE) {
            let nameless = self.writer.names.intern("");
            slices.name.iter_mut().filter(|name| **name == NONE).for_each(|name| *name = nameless);
        }
        for code in self.names.len()..self.writer.names.len() {
            let name = self.writer.names.get(code as u32);
            self.names.push((marks_step(name), task(name)));
        }
        for code in self.repeats.len()..self.writer.categories.len() {
            let category = self.writer.categories.get(code as u32);
            self.repeats.push(category == "gpu_user_annotation");
        }
        for code in self.begins.len()..self.writer.op_names.len() {
            let op = self.writer.op_names.get(code as u32);
            self.begins.push(op == RUN_BEGINS);
        }
        if self.needs.tables {
            let mut steps = steps.iter().peekable();
            for i in 0..slices.len() {
                let number =
                    steps.next_if(|(index, _)| *index as usize == i).map_or(MISSING, |(_, step)| *step);
                let repeats = self.repeats.get(slices.category[i] as usize) == Some(&true);
                let (by_name, task) = self.names[slices.name[i] as usize];
                self.rows.tracks.holds(slices.track[i], task);
                let marks = number != MISSING || by_name || self.rows.tracks.delimits(slices.track[i]);
                if !repeats && marks {
                    let name = self.writer.names.get(slices.name[i]).to_owned();
                    self.marker(&slices, i, number, &name)?;
                } else if self.begins.get(slices.op_name[i] as usize) == Some(&true) {
                    self.marker(&slices, i, MISSING, RUN_BEGINS)?;
                }
            }
        }
        self.writer.push_unordered(slices)
    }

    fn marker(&mut self, slices: &SliceColumns, i: usize, number: i64, name: &str) -> Result<()> {
        let args_start = if i == 0 { 0 } else { slices.args_end[i - 1] as usize };
        let step = step_number(number, name);
        let cells = [
            Cell::I64(i64::from(slices.track[i])),
            Cell::Text(name),
            Cell::I64(slices.ts_ps[i]),
            Cell::I64(slices.dur_ps[i]),
            if step == MISSING { Cell::Null } else { Cell::I64(step) },
            notes::args_cell(&slices.args_json[args_start..slices.args_end[i] as usize]),
        ];
        self.writer.row(Table::Marker, &cells).map(drop)
    }

    /// Says in which tables the events are; gives the number of those that only name what has no event.
    fn claim(&mut self) -> u64 {
        let (rows, writer) = (&self.rows, &mut *self.writer);
        let (ends, slices) = rows.spans.stored;
        writer.claim("slice", self.slices + ends, self.slices + slices);
        let mut events = self.slices + ends;
        for (table, sum) in [("instant", rows.instants), ("counter", rows.counters), ("flow", rows.arrows)] {
            writer.claim(table, sum.events, sum.rows);
            events += sum.events;
        }
        let names = rows.names + self.flaws.0[Flaw::EmptyEvent as usize].0;
        if events > 0 {
            writer.claim("track", names, 0);
            return 0;
        }
        if names > 0 {
            let one = "event only names rows or says nothing, and no event lies on any row";
            let several = "events only name rows or say nothing, and no event lies on any row";
            let detail = format!("{names} {}", if names == 1 { one } else { several });
            writer.note("names-alone", Effect::Lost, names, None, detail);
        }
        names
    }

    /// Closes what is open, writes tracks, facts and notes.
    pub fn finish(mut self) -> Result<()> {
        self.release()?;
        loop {
            let finished = self.rows.spans.finish(&self.rows.tracks, &mut self.flaws);
            let done = std::mem::take(&mut self.rows.spans.done);
            let steps = std::mem::take(&mut self.rows.spans.steps);
            self.push(done, &steps)?;
            if finished {
                break;
            }
        }
        let mut lost = self.lost + self.rows.lost + self.rows.spans.lost;
        lost += self.claim();
        self.rows.tracks.finish(self.writer)?;
        notes::write(&self.flaws, self.writer);
        let producer = super::producer::guess(self.writer, self.rows.tracks.process_names());
        let facts = &mut self.writer.facts;
        facts.producer = producer.to_owned();
        facts.events_seen = self.seen;
        facts.events_lost = lost;
        facts.events_stored = self.seen.saturating_sub(lost);
        facts.events_repaired = self.repaired + self.rows.spans.repaired;
        let base_ns = facts.meta.get("baseTimeNanoseconds").and_then(|text| text.parse().ok());
        let start_ns = self.rows.tracks.start_unix_us.and_then(|us| us.checked_mul(1000));
        facts.origin_unix_ns = origin::unix_ns(self.origin_us.unwrap_or(0), base_ns.or(start_ns));
        facts.meta.insert("origin_us".to_owned(), self.origin_us.unwrap_or(0).to_string());
        Ok(())
    }
}
