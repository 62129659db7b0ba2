//! Slices through the whole store: nesting against a brute-force twin, and the same table on every way.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use stepscope_core::columns::{Cell, MISSING, NONE, SliceColumns, Table};
use stepscope_core::store::raw::Raw;
use stepscope_core::store::{Needs, Options, Store, Value, Writer};

#[derive(Debug, Clone)]
struct Slice {
    track: u32,
    ts_ps: i64,
    dur_ps: i64,
    category: bool,
    args: Option<String>,
}

fn slice() -> impl Strategy<Value = Slice> {
    let args = prop_oneof![Just(None), "[a-zäö]{0,5}".prop_map(|text| Some(format!("{{\"k\":\"{text}\"}}")))];
    (0..3_u32, 0..30_i64, 0..12_i64, any::<bool>(), args)
        .prop_map(|(track, ts_ps, dur_ps, category, args)| Slice { track, ts_ps, dur_ps, category, args })
}

/// Pieces of slices: the name tells the place in the file.
fn piece(writer: &mut Writer, slices: &[Slice], first: usize) -> SliceColumns {
    let mut piece = SliceColumns::default();
    for (i, slice) in slices.iter().enumerate() {
        piece.track.push(slice.track);
        piece.name.push(writer.names.intern(&format!("slice {}", first + i)));
        piece.category.push(if slice.category { writer.categories.intern("cat") } else { NONE });
        piece.ts_ps.push(slice.ts_ps);
        piece.dur_ps.push(slice.dur_ps);
        piece.op_name.push(NONE);
        piece.op_type.push(NONE);
        piece.correlation.push(if slice.category { slice.ts_ps } else { MISSING });
        piece.args_json.extend_from_slice(slice.args.as_deref().unwrap_or_default().as_bytes());
        piece.args_end.push(piece.args_json.len() as u32);
    }
    piece
}

fn store(options: &Options, slices: &[Slice], pieces: usize, ordered: bool) -> Store {
    let mut writer = Writer::new(options).unwrap();
    for (i, part) in slices.chunks(pieces).enumerate() {
        let piece = piece(&mut writer, part, i * pieces);
        if ordered {
            writer.push_ordered(piece).unwrap();
        } else {
            writer.push_unordered(piece).unwrap();
        }
    }
    writer.finish().unwrap()
}

type Row = BTreeMap<String, Value>;

/// The table as it should be, by looking at all pairs of slices.
fn twin(slices: &[Slice]) -> Vec<Row> {
    let mut order: Vec<usize> = (0..slices.len()).collect();
    order.sort_by_key(|i| (slices[*i].track, slices[*i].ts_ps, Reverse(slices[*i].dur_ps), *i));
    let sorted: Vec<&Slice> = order.iter().map(|i| &slices[*i]).collect();
    let end = |slice: &Slice| slice.ts_ps + slice.dur_ps;
    let mut rows: Vec<Row> = Vec::new();
    for (i, slice) in sorted.iter().enumerate() {
        let parent = (0..i).rev().find(|j| {
            sorted[*j].track == slice.track && end(sorted[*j]) > slice.ts_ps && end(sorted[*j]) >= end(slice)
        });
        let depth = parent.map_or(0, |parent| match rows[parent]["depth"] {
            Value::I64(depth) => depth + 1,
            _ => unreachable!(),
        });
        let covers = |slice: &Slice, at: i64| slice.ts_ps <= at && at < end(slice);
        let on_top = |at: &i64| {
            covers(slice, *at)
                && !sorted[i + 1..].iter().any(|later| later.track == slice.track && covers(later, *at))
        };
        let self_ps = (slice.ts_ps..end(slice)).filter(on_top).count() as i64;
        let some = |value: Option<i64>| value.map_or(Value::Null, Value::I64);
        let text = |value: Option<&str>| value.map_or(Value::Null, |text| Value::Text(text.to_owned()));
        let row = [
            ("id", Value::I64(i as i64)),
            ("track_id", Value::I64(i64::from(slice.track))),
            ("name", Value::Text(format!("slice {}", order[i]))),
            ("category", text(slice.category.then_some("cat"))),
            ("ts_ps", Value::I64(slice.ts_ps)),
            ("dur_ps", Value::I64(slice.dur_ps)),
            ("depth", Value::I64(depth)),
            ("parent_id", some(parent.map(|parent| parent as i64))),
            ("self_ps", Value::I64(self_ps)),
            ("step", Value::Null),
            ("op_name", Value::Null),
            ("op_type", Value::Null),
            ("correlation_id", some(slice.category.then_some(slice.ts_ps))),
            ("args_json", text(slice.args.as_deref())),
            ("op_self_ps", Value::Null),
            ("rollup_id", Value::Null),
        ];
        rows.push(row.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
    }
    rows
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("stepscope-test-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Folder(path)
    }

    fn options(&self, memory_bytes: usize) -> Options {
        Options { folder: Some(self.0.clone()), memory_bytes, ..Options::default() }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_way_gives_the_table_of_the_twin(
        slices in prop::collection::vec(slice(), 0..60),
        pieces in 1..20_usize,
    ) {
        let expected = twin(&slices);
        let in_memory = store(&Options::default(), &slices, pieces, false);
        prop_assert_eq!(&in_memory.rows("slice").unwrap(), &expected);

        for (name, memory_bytes) in [("kept", 1 << 20), ("half", 1000), ("spilled", 0)] {
            let folder = Folder::new(name);
            let written = store(&folder.options(memory_bytes), &slices, pieces, false);
            prop_assert_eq!(&written.rows("slice").unwrap(), &expected);
            prop_assert_eq!(&stepscope_core::open(&folder.0).unwrap().rows("slice").unwrap(), &expected);
        }

        let mut sorted = slices.clone();
        sorted.sort_by_key(|slice| (slice.track, slice.ts_ps, Reverse(slice.dur_ps)));
        let expected = twin(&sorted);
        let folder = Folder::new("ordered");
        prop_assert_eq!(&store(&folder.options(0), &sorted, pieces, true).rows("slice").unwrap(), &expected);
        prop_assert_eq!(&store(&Options::default(), &sorted, pieces, true).rows("slice").unwrap(), &expected);
    }

    #[test]
    fn flows_find_the_slices_that_a_search_finds(
        slices in prop::collection::vec(slice(), 0..40),
        stations in prop::collection::vec((0..4_u32, 0..45_i64, any::<bool>()), 0..30),
    ) {
        let mut writer = Writer::new(&Options::default()).unwrap();
        let piece = piece(&mut writer, &slices, 0);
        writer.push_unordered(piece).unwrap();
        for (track, ts_ps, start) in &stations {
            let phase = if *start { "start" } else { "end" };
            let cells = [
                Cell::I64(1), Cell::Text(phase), Cell::I64(i64::from(*track)), Cell::Null,
                Cell::Text("arrow"), Cell::Null, Cell::I64(*ts_ps), Cell::Null,
            ];
            writer.row(Table::Flow, &cells).unwrap();
        }
        let store = writer.finish().unwrap();
        let mut sorted = slices.clone();
        sorted.sort_by_key(|slice| (slice.track, slice.ts_ps, Reverse(slice.dur_ps)));
        let found = store.rows("flow").unwrap();
        prop_assert_eq!(found.len(), stations.len());
        for (row, (track, ts_ps, start)) in found.iter().zip(&stations) {
            let last = |rule: &dyn Fn(i64, i64) -> bool| sorted.iter().rposition(
                |slice| slice.track == *track && rule(slice.ts_ps, slice.ts_ps + slice.dur_ps)
            );
            let ts = *ts_ps;
            let expected = if *start {
                last(&|begin, end| begin < ts && ts <= end).or_else(|| last(&|begin, _| begin == ts))
            } else {
                last(&|begin, end| begin <= ts && ts < end).or_else(|| last(&|_, end| end == ts))
            };
            prop_assert_eq!(&row["slice_id"], &expected.map_or(Value::Null, |row| Value::I64(row as i64)));
        }
    }

    #[test]
    fn a_slice_belongs_to_the_step_in_which_it_starts(
        slices in prop::collection::vec(slice(), 0..60),
        cuts in prop::collection::btree_set(0..35_i64, 0..8),
    ) {
        let folder = Folder::new("steps");
        let mut store = store(&folder.options(0), &slices, 7, false);
        let cuts: Vec<i64> = cuts.into_iter().collect();
        let steps: Vec<(i64, i64)> = cuts.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        let begin: Vec<i64> = steps.iter().map(|step| step.0).collect();
        let end: Vec<i64> = steps.iter().map(|step| step.1).collect();
        let number: Vec<i64> = (100..).take(steps.len()).collect();
        // Twice: the second time replaces what the first time wrote.
        store.assign_steps(&begin, &end, &number).unwrap();
        store.assign_steps(&begin, &end, &number).unwrap();
        for row in stepscope_core::open(&folder.0).unwrap().rows("slice").unwrap() {
            let Value::I64(ts_ps) = row["ts_ps"] else { panic!("a slice without a start") };
            let step = steps.iter().position(|(begin, end)| *begin <= ts_ps && ts_ps < *end);
            prop_assert_eq!(&row["step"], &step.map_or(Value::Null, |step| Value::I64(100 + step as i64)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The twin looks at all pairs. Here a launch is a slice with the same begin on another track: what `piece`
    /// numbers alike.
    #[test]
    fn launched_work_is_that_of_all_pairs(
        slices in prop::collection::vec(slice(), 0..60),
        begins in prop::collection::btree_set(0..30_i64, 0..6),
    ) {
        let folder = Folder::new("launched");
        let store = store(&folder.options(0), &slices, 7, false);
        let begins: Vec<i64> = begins.into_iter().collect();
        let found = store.launched_work(&begins, &HashSet::from([2])).unwrap();
        let is_launched = |slice: &Slice| {
            slices.iter().any(|other| other.track != 2 && other.category && other.ts_ps == slice.ts_ps)
        };
        let on_device = || slices.iter().filter(|slice| slice.track == 2 && slice.category);
        let end = |slice: &Slice| slice.ts_ps + slice.dur_ps;
        let first = on_device().filter(|slice| is_launched(slice)).map(|slice| slice.ts_ps).min();
        let queued = on_device().filter(|slice| !is_launched(slice));
        let is_before = first.is_some_and(|first| queued.clone().all(|slice| slice.ts_ps < first));
        let before = queued.map(end).max().filter(|_| is_before);
        let of = |step: usize| {
            let work = on_device().filter(|slice| {
                is_launched(slice) && begins.iter().filter(|begin| **begin <= slice.ts_ps).count() == step
            });
            let end_ps = work.map(end).max();
            let before = before.filter(|_| step == 0);
            Some((end_ps.max(before)?, if end_ps.is_some() { 0 } else { i64::MAX }))
        };
        let tuples: Vec<_> = found
            .iter()
            .map(|work| work.map(|work| (work.end_ps, work.delay_ps)))
            .collect();
        let twin: Vec<_> = (0..=begins.len()).map(of).collect();
        prop_assert_eq!(tuples, twin);
    }
}

proptest! {
    // Each case writes and reads up to 13,000 slices four times.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(200) / 8, ..ProptestConfig::default() })]

    /// Args long enough to be written before their slices: pieces one after the other in time and
    /// pieces that are woven into each other, whole blocks and blocks cut in two, with and without args.
    #[test]
    fn args_that_were_written_before_are_those_of_their_slices(
        pieces in prop::collection::vec((0..3_u32, 1..1600_usize, 0..3_i64, 0..200_usize), 1..9),
        overlap in 0..3_i64,
    ) {
        let mut slices = Vec::new();
        let mut sizes = Vec::new();
        for (p, (tracks, rows, hole, bytes)) in pieces.iter().enumerate() {
            sizes.push(*rows);
            for i in 0..*rows {
                // Pieces follow each other, share half their time, or all of it.
                let piece_ps = [2000, 1000, 1][overlap as usize] * p as i64;
                let text = format!("{{\"i\":{i},\"ä\":\"{}\"}}", "xö".repeat(bytes / 3));
                slices.push(Slice {
                    track: i as u32 % (tracks + 1),
                    ts_ps: piece_ps + (i as i64 * 7) % 1999,
                    dur_ps: 1,
                    category: false,
                    args: (*hole == 0 || i as i64 % 3 != *hole).then_some(text),
                });
            }
        }
        let push = |options: &Options| {
            let mut writer = Writer::new(options).unwrap();
            let mut first = 0;
            for rows in &sizes {
                let piece = piece(&mut writer, &slices[first..first + rows], first);
                writer.push_unordered(piece).unwrap();
                first += rows;
            }
            writer.finish().unwrap()
        };
        let expected = push(&Options::default()).rows("slice").unwrap();
        for memory_bytes in [0, 100_000, 1 << 30] {
            let folder = Folder::new("placed");
            let rows = push(&folder.options(memory_bytes)).rows("slice").unwrap();
            prop_assert!(rows == expected);
            prop_assert!(stepscope_core::open(&folder.0).unwrap().rows("slice").unwrap() == expected);
        }
    }
}

#[test]
fn slices_that_outlive_their_batch_get_their_self_time() {
    // One slice around 300,000 others: it ends long after its batch was written.
    let mut slices = vec![Slice { track: 7, ts_ps: 0, dur_ps: 3_000_000, category: false, args: None }];
    for i in 0..300_000_i64 {
        let args = (i % 3 == 0).then(|| format!("{{\"i\":{i}}}"));
        slices.push(Slice { track: 7, ts_ps: i * 10, dur_ps: 4, category: i % 2 == 0, args });
    }
    let folder = Folder::new("late");
    for store in
        [store(&folder.options(0), &slices, 50_000, true), store(&Options::default(), &slices, 999, false)]
    {
        let rows = store.rows("slice").unwrap();
        assert_eq!(rows.len(), 300_001);
        assert_eq!(rows[0]["self_ps"], Value::I64(3_000_000 - 4 * 300_000));
        for (i, row) in rows.iter().enumerate().skip(1) {
            assert_eq!(row["name"], Value::Text(format!("slice {i}")));
            assert_eq!((&row["parent_id"], &row["depth"]), (&Value::I64(0), &Value::I64(1)));
            let args = slices[i].args.clone().map_or(Value::Null, Value::Text);
            assert_eq!(row["args_json"], args);
        }
    }
}

#[test]
fn what_is_not_needed_is_left_out() {
    let slices: Vec<Slice> = [(5, 10), (0, 20)]
        .map(|(ts_ps, dur_ps)| Slice { track: 0, ts_ps, dur_ps, category: true, args: Some("{}".into()) })
        .to_vec();
    let needs = Needs { args: false, nesting: false, tables: false, ops: false };
    let options = Options { needs, ..Options::default() };
    let mut writer = Writer::new(&options).unwrap();
    let piece = piece(&mut writer, &slices, 0);
    writer.push_unordered(piece).unwrap();
    for table in [Table::Device, Table::Node] {
        let cells: Vec<Cell<'_>> = table.columns().iter().map(|_| Cell::Text("x")).collect();
        assert_eq!(writer.row(table, &cells).unwrap(), 0);
    }
    let store = writer.finish().unwrap();
    let rows = store.rows("slice").unwrap();
    assert_eq!(rows[0]["ts_ps"], Value::I64(5), "in the order of the file");
    assert_eq!((&rows[1]["depth"], &rows[1]["self_ps"]), (&Value::I64(0), &Value::I64(0)));
    assert_eq!((&rows[1]["parent_id"], &rows[1]["args_json"]), (&Value::Null, &Value::Null));
    assert_eq!(store.tables().into_keys().collect::<Vec<_>>(), ["device", "slice"]);
}

#[test]
fn slices_that_last_longer_than_their_batch_keep_their_self_time() {
    // A slice at the begin of each stretch lasts to the end of the table, each a bit shorter than the one
    // around it; all others are one tick long. More stretches than batches may wait.
    const STRETCH: i64 = 30_720;
    for stretches in [3, 70] {
        let (rows, end_ps) = (stretches * STRETCH, 2 * stretches * STRETCH);
        let mut writer = Writer::new(&Options::default()).unwrap();
        let name = writer.names.intern("slice");
        let mut piece = SliceColumns::default();
        for row in 0..rows {
            let long = row % STRETCH == 0;
            piece.track.push(0);
            piece.name.push(name);
            piece.category.push(NONE);
            piece.ts_ps.push(row);
            piece.dur_ps.push(if long { end_ps - row / STRETCH - row } else { 1 });
            piece.op_name.push(NONE);
            piece.op_type.push(NONE);
            piece.correlation.push(MISSING);
            piece.args_end.push(0);
        }
        writer.push_ordered(piece).unwrap();
        let store = writer.finish().unwrap();
        let columns = store.table("slice").unwrap().raw().unwrap();
        let mut row = 0;
        for group in 0..columns.groups() {
            let Raw::Values(all) = columns.column(group, "self_ps").unwrap().unwrap() else {
                panic!("self times are values")
            };
            for self_ps in all.as_primitive::<Int64Type>().values() {
                // Before its first child and after its last; the innermost has what no other lies in.
                let alone = match (row % STRETCH, row / STRETCH) {
                    (0, last) if last + 1 == stretches => 1 + end_ps - last - rows,
                    (0, _) => 2,
                    _ => 1,
                };
                assert_eq!(*self_ps, alone, "row {row} of {rows}");
                row += 1;
            }
        }
        assert_eq!(row, rows);
    }
}
