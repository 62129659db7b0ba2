//! Where each execution goes: devices merged by name, an origin of time, tracks and lanes.
//!
//! A little over 400 lines: devices, tracks and lanes are one decision, made in this order.

use super::collect::{Collected, Entry, Run};
use super::label;
use crate::columns::{Cell, Table};
use crate::error::Result;
use crate::spans;
use crate::store::{Effect, Writer};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Times farther than this from the origin do not fit; 53 days.
const FAR_PS: i64 = 1 << 62;
/// Starts farther than this before the middle one do not become the origin.
const NEAR_NS: i64 = 50 * 24 * 3600 * 1_000_000_000;
/// Clocks that show less are not the Unix clock: the year 2001.
const UNIX_NS: i64 = 1_000_000_000_000_000_000;
/// Node name of the rows that parameter servers write for received tensors.
pub const RECV_TENSOR: &str = "RecvTensor";

/// An execution in its place.
#[derive(Debug, Clone, Copy)]
pub struct Placed {
    /// Index in [`Collected::execs`].
    pub exec: u32,
    /// Track number.
    pub track: u32,
    /// Device number.
    pub device: u32,
    /// Index of its run.
    pub run: u32,
    /// What kind of row it is in.
    pub class: Class,
    /// Start.
    pub ts_ps: i64,
    /// Duration.
    pub dur_ps: i64,
}

impl Placed {
    /// End.
    pub fn end_ps(&self) -> i64 {
        self.ts_ps + self.dur_ps
    }
}

/// What kind of row an execution is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Executed by the runtime on a thread that the file names.
    Thread,
    /// Executed by the runtime.
    Op,
    /// A tensor received from another process.
    Transfer,
    /// On a stream of an accelerator.
    Stream,
}

/// The executions in the order of the slices, and the origin.
pub struct Plan {
    /// In the order of tracks, then of nesting: the index is the number of the slice.
    pub placed: Vec<Placed>,
    /// Unix nanoseconds (or the clock of the file) of `ts_ps = 0`.
    pub origin_ns: i64,
    /// Device numbers by name.
    pub devices: HashMap<String, u32>,
}

/// Lays the executions out; writes devices, tracks and the marks of runs.
pub fn plan(writer: &mut Writer, found: &Collected) -> Result<Plan> {
    let mut devices = HashMap::new();
    let entry_devices = write_devices(writer, &found.entries, &mut devices)?;
    let origin_ns = origin(found);
    if !found.execs.is_empty() && origin_ns >= UNIX_NS {
        writer.facts.origin_unix_ns = Some(origin_ns);
    }
    let classes: Vec<bool> = found.entries.iter().map(|entry| is_stream(&entry.device)).collect();
    let numbered: BTreeSet<(u32, &str)> = found
        .entries
        .iter()
        .filter(|entry| is_numbered(&entry.device))
        .map(|entry| (own_rows(found, entry.run), base(&entry.device)))
        .collect();
    let recv = (0..found.nodes.len() as u32).find(|code| found.nodes.get(*code) == RECV_TENSOR);

    let mut rows: BTreeMap<Row<'_>, Vec<Placed>> = BTreeMap::new();
    let mut fake_threads = 0;
    for (index, exec) in found.execs.iter().enumerate() {
        let entry = &found.entries[exec.entry as usize];
        let Some((ts_ps, dur_ps)) = place_in_time(writer, exec.start_ns, exec.dur_ns, origin_ns, exec.offset)
        else {
            continue;
        };
        let class = if classes[exec.entry as usize] {
            Class::Stream
        } else if Some(exec.name) == recv {
            Class::Transfer
        } else if entry.threads.iter().any(|(id, _)| *id == exec.thread) {
            Class::Thread
        } else {
            Class::Op
        };
        fake_threads += u64::from(exec.thread != 0 && entry.threads.is_empty());
        let device = entry_devices[exec.entry as usize];
        let placed = Placed { exec: index as u32, track: 0, device, run: entry.run, class, ts_ps, dur_ps };
        let thread = if class == Class::Thread { exec.thread } else { 0 };
        let stream = if class == Class::Stream { entry.device.as_str() } else { "" };
        rows.entry(Row { run: own_rows(found, entry.run), device, class, thread, stream })
            .or_default()
            .push(placed);
    }
    if fake_threads > 0 {
        let detail =
            "thread ids without thread names are lanes that tf Timeline left behind; they are ignored";
        writer.note("fake-thread-ids", Effect::Info, fake_threads, None, detail);
    }
    let mut tracks = Tracks { writer, found, numbered, sort_index: 0 };
    let mut all = Vec::with_capacity(found.execs.len());
    for (row, mut placed) in rows {
        // The file's order decides between equals: the sort is stable and came from the file's order.
        placed.sort_by_key(|one| (one.ts_ps, Reverse(one.dur_ps)));
        tracks.write(&row, &mut placed)?;
        all.append(&mut placed);
    }
    write_marks(writer, &found.runs, &all)?;
    Ok(Plan { placed: all, origin_ns, devices })
}

/// The run whose rows those of a run are: its own where it has a tag, else the first.
fn own_rows(found: &Collected, run: u32) -> u32 {
    match found.runs[run as usize].tag {
        Some(_) => run,
        None => 0,
    }
}

/// Rows of a run and device, in the order of their tracks.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row<'a> {
    run: u32,
    device: u32,
    class: Class,
    thread: u32,
    stream: &'a str,
}

/// The first start, unless it lies so far from the others that they would not fit.
fn origin(found: &Collected) -> i64 {
    let mut starts: Vec<i64> = found.execs.iter().map(|exec| exec.start_ns).collect();
    let (Some(least), Some(most)) = (starts.iter().min().copied(), starts.iter().max().copied()) else {
        return 0;
    };
    if most.checked_sub(least).is_some_and(|span| span <= NEAR_NS) {
        return least;
    }
    let middle = starts.len() / 2;
    let middle = *starts.select_nth_unstable(middle).1;
    let near = middle.saturating_sub(NEAR_NS);
    starts.into_iter().filter(|start| *start >= near).min().unwrap_or(middle)
}

/// Start and duration from the origin; counts what had to be repaired or does not fit.
fn place_in_time(
    writer: &mut Writer,
    start_ns: i64,
    dur_ns: i64,
    origin_ns: i64,
    offset: u64,
) -> Option<(i64, i64)> {
    let fits = |ps: i64| (-FAR_PS < ps && ps < FAR_PS).then_some(ps);
    let span = || {
        let ts_ps = fits(start_ns.checked_sub(origin_ns)?.checked_mul(1000)?)?;
        let dur_ps = fits(dur_ns.max(0).checked_mul(1000)?)?;
        fits(ts_ps.checked_add(dur_ps)?)?;
        Some((ts_ps, dur_ps))
    };
    let Some(span) = span() else {
        writer.facts.events_lost += 1;
        let detail = "executions lie too far in time from the others to be stored";
        writer.note("time-out-of-range", Effect::Lost, 1, Some(offset), detail);
        return None;
    };
    writer.facts.events_stored += 1;
    if dur_ns < 0 {
        writer.facts.events_repaired += 1;
        let detail = "executions that end before they start are kept with no duration";
        writer.note("negative-duration", Effect::Repaired, 1, Some(offset), detail);
    }
    Some(span)
}

/// The device without a stream of it.
fn base(device: &str) -> &str {
    match device.find("/stream:").or_else(|| device.find("/memcpy")) {
        Some(at) if at > 0 => &device[..at],
        _ => device,
    }
}

fn is_stream(device: &str) -> bool {
    base(device).len() < device.len()
}

/// True for a stream of its own; `stream:all` and `memcpy` show the same executions again.
pub fn is_numbered(device: &str) -> bool {
    device.split_once("/stream:").is_some_and(|(_, name)| name.starts_with(|c: char| c.is_ascii_digit()))
}

fn kind(device: &str) -> &'static str {
    let lower = device.to_ascii_lowercase();
    let has = |name: &str| lower.contains(&format!("{name}:"));
    match () {
        () if has("gpu") => "gpu",
        () if has("tpu") || has("tpu_core") || lower.contains("/tpu") => "tpu",
        () if has("cpu") => "cpu",
        () => "unknown",
    }
}

/// Writes each device once; returns the device of each entry.
fn write_devices(
    writer: &mut Writer,
    entries: &[Entry],
    devices: &mut HashMap<String, u32>,
) -> Result<Vec<u32>> {
    let mut seen = BTreeSet::new();
    let mut again = 0;
    let mut numbers = Vec::with_capacity(entries.len());
    for entry in entries {
        again += u64::from(!seen.insert((entry.run, entry.device.as_str())));
        let name = base(&entry.device);
        let number = match devices.get(name) {
            Some(number) => *number,
            None => {
                let cells = [Cell::Text(name), Cell::Text(kind(name)), Cell::Null];
                let number = writer.row(Table::Device, &cells)? as u32;
                devices.insert(name.to_owned(), number);
                number
            }
        };
        numbers.push(number);
    }
    if again > 0 {
        let detail = "a device is listed more than once; its rows are shown together";
        writer.note("merged-devices", Effect::Info, again, None, detail);
    }
    Ok(numbers)
}

struct Tracks<'a> {
    writer: &'a mut Writer,
    found: &'a Collected,
    numbered: BTreeSet<(u32, &'a str)>,
    sort_index: i64,
}

impl Tracks<'_> {
    /// Writes the tracks of a row of executions in time order, and brings these into track order.
    fn write(&mut self, row: &Row<'_>, placed: &mut [Placed]) -> Result<()> {
        let entry = &self.found.entries[self.found.execs[placed[0].exec as usize].entry as usize];
        let device = entry.device.clone();
        let process = match &self.found.runs[row.run as usize].tag {
            Some(tag) => format!("{} [{tag}]", base(&device)),
            None => base(&device).to_owned(),
        };
        if row.class == Class::Thread {
            let name =
                entry.threads.iter().find(|(id, _)| *id == row.thread).map_or("", |(_, name)| name.as_str());
            let (name, origin) = (name.to_owned(), format!("{device} thread_id {}", row.thread));
            let track = self.track(row, "thread", "execution", &process, &name, &origin)?;
            placed.iter_mut().for_each(|one| one.track = track);
            return Ok(());
        }
        let packed = spans::lanes(placed.iter().map(|one| (one.ts_ps, one.ts_ps + one.dur_ps)));
        let lanes = packed.iter().max().map_or(0, |lane| lane + 1);
        for (one, lane) in placed.iter_mut().zip(&packed) {
            one.track = *lane;
        }
        placed.sort_by_key(|one| one.track);
        let stream = device[base(&device).len()..].trim_start_matches('/').to_owned();
        let again = row.class == Class::Stream
            && !is_numbered(&device)
            && self.numbered.contains(&(row.run, base(&device)));
        let mut numbers = Vec::new();
        for lane in 0..lanes {
            let (kind, records, name) = match row.class {
                Class::Stream if lanes == 1 => {
                    (if again { "derived" } else { "device_stream" }, "execution", stream.clone())
                }
                Class::Stream => {
                    (if again { "derived" } else { "lane" }, "execution", format!("{stream} lane {lane}"))
                }
                // A received tensor's row spans the wait for it as well.
                Class::Transfer => ("lane", "unknown", format!("{RECV_TENSOR} lane {lane}")),
                _ if kind(&device) == "cpu" => ("lane", "execution", format!("lane {lane}")),
                // What the executor does for an accelerator is to launch.
                _ if kind(&device) == "unknown" => ("lane", "unknown", format!("lane {lane}")),
                _ => ("lane", "dispatch", format!("lane {lane}")),
            };
            numbers.push(self.track(row, kind, records, &process, &name, &device)?);
        }
        placed.iter_mut().for_each(|one| one.track = numbers[one.track as usize]);
        Ok(())
    }

    fn track(
        &mut self,
        row: &Row<'_>,
        kind: &str,
        records: &str,
        process: &str,
        name: &str,
        origin: &str,
    ) -> Result<u32> {
        self.sort_index += 1;
        let cells = [
            Cell::I64(i64::from(row.device)),
            Cell::Text(kind),
            Cell::Text(records),
            Cell::Text(process),
            Cell::Text(name),
            Cell::Text(origin),
            Cell::I64(self.sort_index - 1),
        ];
        Ok(self.writer.row(Table::Track, &cells)? as u32)
    }
}

/// A mark over each run that has one, which separates the steps of a file.
fn write_marks(writer: &mut Writer, runs: &[Run], placed: &[Placed]) -> Result<()> {
    let mut spans: BTreeMap<u32, (i64, i64, u32)> = BTreeMap::new();
    for one in placed {
        let end_ps = one.ts_ps + one.dur_ps;
        let span = spans.entry(one.run).or_insert((one.ts_ps, end_ps, one.track));
        *span = (span.0.min(one.ts_ps), span.1.max(end_ps), span.2);
    }
    for (run, (start_ps, end_ps, track)) in spans {
        let run = &runs[run as usize];
        let Some(mark) = &run.mark else { continue };
        let cells = [
            Cell::I64(i64::from(track)),
            Cell::Text(mark),
            Cell::I64(start_ps),
            Cell::I64(end_ps - start_ps),
            run.step.map_or(Cell::Null, Cell::I64),
            Cell::Null,
        ];
        writer.row(Table::Marker, &cells)?;
    }
    Ok(())
}

/// Op name and op type of an execution.
pub fn op_of<'a>(class: Class, name: &'a str, text: &'a str) -> (&'a str, Option<&'a str>) {
    match class {
        Class::Stream => label::kernel(text, name),
        Class::Transfer => (name, Some(RECV_TENSOR)),
        _ => (name, label::op_label(text).map(|found| found.op_type)),
    }
}
