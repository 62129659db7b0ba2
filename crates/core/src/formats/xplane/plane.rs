//! One plane: its device, its lines in batches, and notes on what was lost.

use super::commit::{Commit, PlaneCommit};
use super::events::Decoder;
use super::lines::{self, Cut, Line, PIECE_LIMIT_BYTES};
use super::metadata::Kinds;
use super::parts::Parts;
use super::pieces::{Piece, Place};
use super::shorten::shortened;
use super::tally::{Problem, Tally};
use super::tracks::{PlaneKind, delimits_steps, is_background, line_category};
use super::walk::Walk;
use super::window::{Extent, ReadAt, Window};
use super::{PlaneExtent, work};
use crate::columns::{NONE, SliceColumns};
use crate::error::Result;
use crate::input::lock;
use crate::store::heap::Heap;
use crate::store::placed::place_in_order;
use crate::store::{Options, Writer};
use std::sync::Mutex;

/// Lines are looked through and decoded in batches of so many lines or bytes.
const BATCH_LINES: usize = 1 << 16;
const BATCH_BYTES: u64 = 1 << 30;
const SCAN_BYTES: usize = 256 << 10;

/// A line in the file.
#[derive(Debug, Clone, Copy)]
struct LineExtent {
    extent: Extent,
    cut: bool,
}

/// A piece of a line, to be decoded.
struct Job {
    cut: Cut,
    place: Place,
    ordered: bool,
    /// Its line in the batch.
    line: usize,
}

/// What a thread that decodes fills again and again.
#[derive(Default)]
struct Memory {
    bytes: Vec<u8>,
    args: Vec<u8>,
}

/// The work in a batch of lines.
#[derive(Default)]
struct Todo {
    jobs: Vec<Job>,
    lines: Vec<Line>,
}

/// Decodes a plane.
pub fn decode(
    source: &dyn ReadAt,
    plane: PlaneExtent,
    options: &Options,
    writer: &mut Writer,
    commit: &mut Commit,
) -> Result<()> {
    let mut window = Window::new(source, SCAN_BYTES);
    let mut hop = Window::new(source, super::HOP_BYTES);
    let mut parts = Parts::read(&mut hop, plane, &mut commit.tally)?;
    let kind = PlaneKind::of(&parts.name);
    let mut repaired = parts.repaired;
    let names = parts.names(&mut window, &mut repaired)?;
    let kinds = Kinds::read(&mut window, &parts.kinds, &names, writer, parts.lines > 0, &mut repaired)?;
    (parts.kinds, parts.stat_names) = (Vec::new(), Vec::new());
    let args_json = parts.args_json(&mut window, &names, &mut repaired)?;
    parts.facts(&mut window, &names, kind, writer)?;
    let device = match kind.device() {
        Some(kind_of) if parts.lines > 0 || kind.accelerator() => {
            Some(commit.device(writer, &parts.name, kind_of, &args_json)?)
        }
        _ => None,
    };
    if options.needs.args && parts.lines > 0 {
        writer.keep_args(super::LAZY, commit.tracks(), names.all())?;
    }
    let mut lines = Lines {
        source,
        options,
        decoder: Decoder { stats: &names, kinds: &kinds, needs: options.needs },
        plane: PlaneCommit::new(&names, device, parts.id, kind, &parts.name),
        writer,
        commit,
        first_ps: None,
        repaired: 0,
    };
    lines.all(plane, &mut hop)?;
    repaired += lines.repaired;
    lines.descriptions(&mut window, &mut repaired)?;
    if repaired > 0 {
        commit.tally.add(Problem::Text, 0, plane.extent.start);
    }
    if let Some(offset) = window.damaged {
        commit.tally.add(Problem::Metadata, 0, offset);
    }
    Ok(())
}

/// Turns the lines of a plane into tracks and slices, batch by batch.
struct Lines<'a> {
    source: &'a dyn ReadAt,
    options: &'a Options,
    decoder: Decoder<'a>,
    plane: PlaneCommit<'a>,
    writer: &'a mut Writer,
    commit: &'a mut Commit,
    /// The first begin of a line.
    first_ps: Option<i64>,
    /// Names that were not UTF-8.
    repaired: u64,
}

impl Lines<'_> {
    /// All lines of the plane.
    fn all(&mut self, plane: PlaneExtent, hop: &mut Window<'_>) -> Result<()> {
        let mut walk = Walk::plane(plane.extent, plane.cut);
        loop {
            let batch = next_batch(&mut walk, hop)?;
            if batch.is_empty() {
                return Ok(());
            }
            let todo = self.begin(&batch)?;
            self.decode(&todo)?;
        }
    }

    /// What the metadata of events says of what the lines only name.
    fn descriptions(&mut self, window: &mut Window<'_>, repaired: &mut u64) -> Result<()> {
        if !self.options.needs.tables {
            return Ok(());
        }
        let at = self.first_ps.unwrap_or(0);
        let kinds = self.decoder.kinds;
        self.commit.descriptions(window, self.writer, &mut self.plane, kinds, at, repaired)
    }

    /// Looks through a batch of lines and makes their tracks. Returns what is to be decoded.
    fn begin(&mut self, batch: &[LineExtent]) -> Result<Todo> {
        let (source, options) = (self.source, self.options);
        let scan = |window: &mut Window<'_>, line: &LineExtent| {
            options.check()?;
            Ok(lines::scan(window, line.extent, line.cut)?)
        };
        let mut todo = Todo::default();
        work::in_order(
            options.threads,
            batch,
            || Window::new(source, SCAN_BYTES),
            scan,
            |index, line| {
                self.repaired += line.repaired_names;
                let place = self.begin_line(line, &batch[index], &mut todo)?;
                let base_ps = place.and_then(|place| place.base_ps);
                self.first_ps = self.first_ps.into_iter().chain(base_ps).min();
                Ok(())
            },
        )?;
        Ok(todo)
    }

    /// Makes the track of a line and the jobs for its pieces. A line without events and without a name gets
    /// no track.
    fn begin_line(&mut self, mut line: Line, found: &LineExtent, todo: &mut Todo) -> Result<Option<Place>> {
        if line.lost > 0 {
            let problem = match found.cut {
                true => Problem::Truncated,
                false => Problem::Structure,
            };
            let offset = line.lost_offset.unwrap_or(found.extent.start);
            self.commit.tally.add(problem, line.lost, offset);
        }
        if line.cuts.is_empty() && line.name.is_empty() {
            return Ok(None);
        }
        let category = line_category(&line.name);
        let place = Place {
            track: self.commit.track(self.writer, &self.plane, &line)?,
            base_ps: self.commit.clock.base_ps(line.timestamp_ns),
            category: match category {
                "" => NONE,
                category => self.writer.categories.intern(category),
            },
            device: self.plane.kind.accelerator(),
            background: is_background(&line.name),
            delimits: delimits_steps(self.plane.kind, &line.name),
        };
        let (ordered, number) = (line.ordered, todo.lines.len());
        let jobs =
            std::mem::take(&mut line.cuts).into_iter().map(|cut| Job { cut, place, ordered, line: number });
        todo.jobs.extend(jobs);
        todo.lines.push(line);
        Ok(Some(place))
    }

    /// Decodes pieces on all threads and hands their slices to the writer in the order of the file.
    fn decode(&mut self, todo: &Todo) -> Result<()> {
        let (source, options, decoder) = (self.source, self.options, &self.decoder);
        let heap = match options.keep {
            true => self.writer.heap()?,
            false => None,
        };
        // Columns that the writer is done with are filled again: their memory is warm.
        let spares = Mutex::new(Vec::new());
        let decode = |memory: &mut Memory, job: &Job| {
            options.check()?;
            let columns = lock(&spares).pop().unwrap_or_default();
            match heap.as_deref().filter(|_| job.ordered) {
                Some(heap) => placed_piece(source, memory, decoder, job, columns, heap),
                None => piece(source, &mut memory.bytes, decoder, job, columns),
            }
        };
        work::in_order(options.threads, &todo.jobs, Memory::default, decode, |index, piece| {
            let line = &todo.lines[todo.jobs[index].line];
            self.commit.piece(self.writer, &mut self.plane, piece, line)?;
            lock(&spares).push(self.writer.spare());
            Ok(())
        })
    }
}

fn next_batch(walk: &mut Walk, hop: &mut Window<'_>) -> Result<Vec<LineExtent>> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    // Damage of the plane was counted on the first walk.
    while batch.len() < BATCH_LINES && bytes < BATCH_BYTES {
        let Some(part) = walk.next(hop, &mut Tally::default())? else {
            break;
        };
        if part.head.is(3) {
            bytes += part.head.body.len();
            batch.push(LineExtent { extent: part.head.body, cut: part.cut });
        }
    }
    Ok(batch)
}

/// Reads and decodes a piece whose slices are in order: its args go straight into the heap.
fn placed_piece(
    source: &dyn ReadAt,
    memory: &mut Memory,
    decoder: &Decoder<'_>,
    job: &Job,
    mut columns: SliceColumns,
    heap: &Heap,
) -> Result<Piece> {
    std::mem::swap(&mut columns.args_json, &mut memory.args);
    let mut piece = piece(source, &mut memory.bytes, decoder, job, columns)?;
    place_in_order(heap, &mut piece.columns)?;
    if piece.columns.args_json.is_empty() {
        memory.args = std::mem::take(&mut piece.columns.args_json);
    }
    Ok(piece)
}

/// Reads and decodes a piece.
fn piece(
    source: &dyn ReadAt,
    buffer: &mut Vec<u8>,
    decoder: &Decoder<'_>,
    job: &Job,
    columns: SliceColumns,
) -> Result<Piece> {
    let Extent { start, end } = job.cut.extent;
    if end - start > PIECE_LIMIT_BYTES {
        let mut window = Window::new(source, SCAN_BYTES);
        let bytes = shortened(&mut window, job.cut.extent)?;
        let mut piece = decoder.piece(&bytes, start, &job.place, job.cut.events, job.ordered, columns)?;
        piece.tally.add(Problem::Shortened, job.cut.events, start);
        return Ok(piece);
    }
    // At most PIECE_LIMIT_BYTES.
    buffer.resize((end - start) as usize, 0);
    let filled = source.read_next(start, buffer)?;
    decoder.piece(&buffer[..filled], start, &job.place, job.cut.events, job.ordered, columns)
}
