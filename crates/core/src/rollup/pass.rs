//! The pass over slices, which come track by track and in order of their start. Over 400 lines because it is one
//! pass: what it adds up shares the state of the track that it is in.

use super::cover::{Covered, Load, Piece, Pieces};
use super::own::Own;
use super::places::{Place, Tracks};
use crate::classes::{self, Class, Texts};
use crate::error::{Error, Kind as Failure, Result};
use crate::store::part::Access;
use crate::store::part_writer::PartWriter;
use crate::store::table::{Dictionary, Origin, Table};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

/// What slices that are called alike have in common: a track and the codes of texts, -1 for NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub track: i32,
    name: i32,
    category: i32,
    op_name: i32,
    op_type: i32,
}

impl Key {
    /// Its place among those met lately. Codes of name and op name often rise together, so that their
    /// difference tells nothing.
    fn slot(&self) -> usize {
        let mixed = (self.name as u32).wrapping_mul(0x9E37_79B1) ^ self.op_name as u32;
        (mixed.wrapping_mul(0x85EB_CA6B) >> 16) as usize % NEAR
    }
}

/// Slices that are called alike, added up.
pub struct Label {
    pub key: Key,
    pub class: Class,
    place: Place,
    pub slices: i64,
    pub total_ps: i128,
    pub self_ps: i128,
    /// Self time of slices within them that are neither ops nor waits.
    pub lent_ps: i128,
    pub min_ps: i64,
    pub max_ps: i64,
}

impl Label {
    /// Self time of ops with what lies within them; none for what is no op.
    pub fn op_self_ps(&self) -> Option<i128> {
        self.class.is_op.then_some(self.self_ps + self.lent_ps)
    }
}

/// Waits of one kind in a step.
pub struct Waited {
    pub step_id: i64,
    pub wait: &'static str,
    pub load: Load,
}

/// Work of a device, or of one of its tracks, within a stretch.
pub struct Loaded {
    /// Least track of the device.
    pub device: i64,
    /// None for all tracks together.
    pub track: Option<i64>,
    pub piece: i64,
    pub load: Load,
}

/// What the pass found.
pub struct Done {
    pub labels: Vec<Label>,
    pub texts: Dictionaries,
    /// Work of tracks and of devices.
    pub loads: Vec<Loaded>,
    pub waits: Vec<Waited>,
}

/// The texts behind codes.
pub struct Dictionaries([Option<ArrayRef>; 4]);

impl Dictionaries {
    /// What slices are called.
    pub fn of(&self, key: &Key) -> Texts<'_> {
        let text = |number: usize, code: i32| {
            let texts = self.0[number].as_ref()?;
            let at = usize::try_from(code).ok().filter(|at| *at < texts.len())?;
            Some(match texts.data_type() {
                DataType::LargeUtf8 => texts.as_string::<i64>().value(at),
                _ => texts.as_string::<i32>().value(at),
            })
        };
        Texts {
            name: text(0, key.name),
            category: text(1, key.category),
            op_name: text(2, key.op_name),
            op_type: text(3, key.op_type),
            ..Texts::default()
        }
    }
}

/// A device: what its tracks covered in a stretch, and what they added up.
#[derive(Default)]
struct Device {
    covered: Covered,
    work_ps: i128,
    slices: i64,
}

/// What the track that is being read did in a stretch.
#[derive(Default, Clone)]
struct OnTrack {
    load: Load,
    /// What it covered without a gap.
    covered: Vec<(i64, i64)>,
}

/// Labels that are found without hashing.
const NEAR: usize = 1 << 12;

/// The codes of a column, -1 for NULL.
struct Codes<'a> {
    values: &'a [i32],
    nulls: Option<&'a NullBuffer>,
}

impl<'a> Codes<'a> {
    fn of(array: &'a ArrayRef) -> Codes<'a> {
        let codes = array.as_primitive::<Int32Type>();
        Codes { values: codes.values(), nulls: codes.nulls() }
    }

    fn get(&self, row: usize) -> i32 {
        match self.nulls {
            Some(nulls) if nulls.is_null(row) => -1,
            _ => self.values[row],
        }
    }
}

pub struct Pass<'a> {
    tracks: &'a Tracks,
    pieces: Pieces,
    steps: Pieces,
    texts: Dictionaries,
    columns: [(usize, usize); 9],
    own: Own,
    labels: Vec<Label>,
    numbers: FxHashMap<Key, u32>,
    /// Labels met lately, by a few bits of their codes: most slices are called like one of these.
    near: Vec<Option<(Key, u32)>>,
    /// The track that is being read, and what it did in each stretch.
    track: Option<i32>,
    loads: Vec<OnTrack>,
    touched: Vec<usize>,
    done: Vec<Loaded>,
    /// By least track of the device and stretch.
    devices: BTreeMap<(i64, usize), Device>,
    waits: Vec<(usize, &'static str, i64, i64)>,
}

const COLUMNS: [&str; 9] =
    ["track_id", "name", "category", "op_name", "op_type", "ts_ps", "dur_ps", "self_ps", "depth"];

/// The columns of each batch, as they are asked for.
fn read(slices: &Table, columns: [(usize, usize); 9]) -> impl Iterator<Item = Result<Vec<ArrayRef>>> + '_ {
    let files: Result<Vec<_>> = slices.parts.iter().map(|part| part.open()).collect();
    let (files, failed) = match files {
        Ok(files) => (files, None),
        Err(error) => (Vec::new(), Some(Err(error))),
    };
    let batches = match failed {
        None => 0..slices.parts[0].batches.len(),
        Some(_) => 0..0,
    };
    let batch = move |number| {
        let column = |(part, column): (usize, usize)| {
            let access = files[part].as_ref().map_or(Access::Mapped, Access::Read);
            slices.parts[part].array(number, column, &access)
        };
        columns.into_iter().map(column).collect()
    };
    failed.into_iter().chain(batches.map(batch))
}

impl<'a> Pass<'a> {
    pub fn new(
        slices: &Table,
        tracks: &'a Tracks,
        pieces: Vec<Piece>,
        steps: Vec<Piece>,
    ) -> Result<Pass<'a>> {
        let origins = slices.origins();
        let mut columns = [(0, 0); 9];
        let mut texts: [Option<Arc<Dictionary>>; 4] = Default::default();
        for (at, wanted) in COLUMNS.iter().enumerate() {
            let found = origins.iter().find(|(name, _, _)| name == wanted);
            let Some((_, _, Origin::Stored { part, column, dictionary })) = found else {
                return Err(Error::new(Failure::Damaged, format!("slices without {wanted}")));
            };
            columns[at] = (*part, *column);
            if (1..5).contains(&at) {
                texts[at - 1] = dictionary.clone();
            }
        }
        let mut values: [Option<ArrayRef>; 4] = Default::default();
        for (value, dictionary) in values.iter_mut().zip(&texts) {
            *value = match dictionary {
                Some(dictionary) => Some(dictionary.values()?),
                None => None,
            };
        }
        let pieces = Pieces::new(pieces);
        Ok(Pass {
            tracks,
            loads: vec![OnTrack::default(); pieces.len()],
            near: vec![None; NEAR],
            pieces,
            steps: Pieces::new(steps),
            texts: Dictionaries(values),
            columns,
            own: Own::default(),
            labels: Vec::new(),
            numbers: FxHashMap::default(),
            track: None,
            touched: Vec::new(),
            done: Vec::new(),
            devices: BTreeMap::new(),
            waits: Vec::new(),
        })
    }

    /// Reads all slices, and fills the columns that [`own::fields`](super::own::fields) names.
    pub fn run(&mut self, slices: &Table, columns: &mut PartWriter) -> Result<()> {
        // Each batch is read and freed: mapped, the table would count as memory of the process. While one is
        // added up, another thread reads the next.
        let (give, take) = sync_channel::<Result<Vec<ArrayRef>>>(1);
        let read_columns = self.columns;
        thread::scope(|scope| {
            scope.spawn(move || {
                for arrays in read(slices, read_columns) {
                    if give.send(arrays).is_err() {
                        return; // what came before was damaged
                    }
                }
            });
            take.into_iter().try_for_each(|arrays| {
                let arrays = arrays?;
                self.batch(&arrays);
                self.own.batch(arrays[0].len(), columns)
            })
        })?;
        self.close();
        self.own.finish(columns)
    }

    fn batch(&mut self, arrays: &[ArrayRef]) {
        // Looked up once: for each row it would take longer than adding up.
        let (tracks, names) = (Codes::of(&arrays[0]), Codes::of(&arrays[1]));
        let (categories, op_names) = (Codes::of(&arrays[2]), Codes::of(&arrays[3]));
        let (op_types, depths) = (Codes::of(&arrays[4]), Codes::of(&arrays[8]));
        let times = |at: usize| &arrays[at].as_primitive::<Int64Type>().values()[..];
        let (ts, dur, own) = (times(5), times(6), times(7));
        for row in 0..ts.len() {
            let key = Key {
                track: tracks.get(row),
                name: names.get(row),
                category: categories.get(row),
                op_name: op_names.get(row),
                op_type: op_types.get(row),
            };
            let slot = key.slot();
            let number = match self.near[slot] {
                Some((before, number)) if before == key => number,
                _ => {
                    let number = self.number(key);
                    self.near[slot] = Some((key, number));
                    number
                }
            };
            let depth = depths.get(row);
            self.own.take(key.track, depth, own[row], number, &mut self.labels);
            let label = &mut self.labels[number as usize];
            label.slices += 1;
            label.total_ps += i128::from(dur[row]);
            label.self_ps += i128::from(own[row]);
            label.min_ps = label.min_ps.min(dur[row]);
            label.max_ps = label.max_ps.max(dur[row]);
            let (class, place) = (label.class, label.place);
            let end = ts[row].saturating_add(dur[row]);
            if class.is_op && class.acts() && place != Place::Launch && dur[row] > 0 {
                self.work(key.track, ts[row], end);
            }
            if let Some(wait) = class.wait.filter(|_| place != Place::Device) {
                for step in self.steps.overlapping(ts[row], end) {
                    let span = self.steps.get(step);
                    let cut = (ts[row].max(span.open), end.min(span.close));
                    self.waits.push((step, wait, cut.0, cut.1));
                }
            }
        }
    }

    /// The label of slices that are called so.
    fn number(&mut self, key: Key) -> u32 {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let (place, _) = self.tracks.get(key.track);
        let number = self.labels.len() as u32;
        let class = classes::class(&self.tracks.on(key.track, self.texts.of(&key)));
        self.labels.push(Label {
            key,
            class,
            place,
            slices: 0,
            total_ps: 0,
            self_ps: 0,
            lent_ps: 0,
            min_ps: i64::MAX,
            max_ps: i64::MIN,
        });
        self.numbers.insert(key, number);
        number
    }

    /// Adds a slice of work to the stretches that it lies in.
    fn work(&mut self, track: i32, ts: i64, end: i64) {
        if self.track != Some(track) {
            self.close();
            self.track = Some(track);
        }
        for number in self.pieces.overlapping(ts, end) {
            let piece = self.pieces.get(number);
            let OnTrack { load, covered } = &mut self.loads[number];
            if load.slices == 0 {
                self.touched.push(number);
            }
            covered.extend(load.add(ts.max(piece.open), end.min(piece.close)));
        }
    }

    /// The track has ended.
    fn close(&mut self) {
        let Some(track) = self.track.take() else {
            return;
        };
        let (_, device) = self.tracks.get(track);
        self.touched.sort_unstable();
        for number in self.touched.drain(..) {
            let OnTrack { load, mut covered } = std::mem::take(&mut self.loads[number]);
            covered.push(load.rest());
            let whole = self.devices.entry((device, number)).or_default();
            whole.covered.add(covered);
            whole.work_ps += load.work_ps;
            whole.slices += load.slices;
            let (track, piece) = (Some(i64::from(track)), self.pieces.get(number).id);
            self.done.push(Loaded { device, track, piece, load });
        }
    }

    /// What was found.
    pub fn finish(self) -> Done {
        let mut loads = self.done;
        for ((device, number), found) in self.devices {
            let mut load = Load::default();
            for (from, to) in found.covered.all() {
                load.add(from, to);
            }
            load.work_ps = found.work_ps;
            load.slices = found.slices;
            let piece = self.pieces.get(number).id;
            loads.push(Loaded { device, track: None, piece, load });
        }
        let mut sorted = self.waits;
        sorted.sort_unstable();
        let mut waits: Vec<Waited> = Vec::new();
        for (step, wait, from, to) in sorted {
            let step_id = self.steps.get(step).id;
            let same = |one: &&mut Waited| one.step_id == step_id && one.wait == wait;
            match waits.last_mut().filter(same) {
                Some(one) => {
                    one.load.add(from, to);
                }
                None => {
                    let mut load = Load::default();
                    load.add(from, to);
                    waits.push(Waited { step_id, wait, load });
                }
            }
        }
        Done { labels: self.labels, texts: self.texts, loads, waits }
    }
}
