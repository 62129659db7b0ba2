//! Cells of random windows against slices counted one by one.

use arrow_buffer::Buffer;
use proptest::prelude::*;
use stepscope_core::error::Kind;
use stepscope_core::lod::cells::{Cell, Window};
use stepscope_core::lod::sums::Sums;
use stepscope_core::lod::{Builder, Lod, Packed, Part, Slice, frame};
use stepscope_core::store::nesting::Nester;
use stepscope_core::wanted::Wanted;

type Row = (i64, u32, i64, i64);

fn build(rows: &[Row]) -> Lod {
    alone(packed(rows, Builder::default()))
}

fn alone(packed: Packed) -> Lod {
    Lod::new(vec![Part { packed, first_id: 0, shift_ps: 0 }])
}

fn packed(rows: &[Row], mut builder: Builder) -> Packed {
    for (id, (track, depth, ts_ps, dur_ps)) in (0..).zip(rows) {
        let name = builder.name(&format!("op {}", id % 5)).unwrap();
        let slice = Slice { id, ts_ps: *ts_ps, dur_ps: *dur_ps, name };
        builder.add(*track, *depth, slice);
    }
    builder.finish(&Wanted::always()).unwrap()
}

fn bytes_of(packed: &Packed) -> Buffer {
    let mut bytes = Vec::new();
    packed.write(&mut bytes).unwrap();
    Buffer::from(bytes)
}

/// Rows that meet the window, found without any structure.
fn meeting(rows: &[Row], track: i64, from: i64, to: i64) -> Vec<(usize, Row)> {
    let meets =
        |(_, (of, _, ts, dur)): &(usize, Row)| *of == track && *ts < to && (*ts >= from || ts + dur > from);
    rows.iter().copied().enumerate().filter(meets).collect()
}

/// Lanes whose slices follow each other, as the decoders make them.
fn in_turn() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((0..3i64, 0..3u32, 0..40i64, 0..60i64), 0..900).prop_map(|steps| {
        let mut ends = std::collections::HashMap::new();
        let mut rows = Vec::new();
        for (track, depth, gap, dur) in steps {
            let end = ends.entry((track, depth)).or_insert(-500);
            let ts = *end + gap;
            *end = ts + dur;
            rows.push((track, depth, ts, dur));
        }
        rows
    })
}

/// Slices that lie across each other in any way.
fn at_random() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((0..2i64, 0..2u32, -300..300i64, 0..400i64), 0..400)
}

fn check(rows: &[Row], from: i64, span: i64, px: u32) -> Result<(), TestCaseError> {
    let to = from + span;
    let lod = build(rows);
    let tracks = [1, 0, 77];
    let cells = lod.cells(&tracks, Window::new(from, to, px).unwrap());
    for (index, track) in (0u32..).zip(tracks) {
        let of_track: Vec<&Cell> = cells.iter().filter(|cell| cell.track == index).collect();
        let truth = meeting(rows, track, from, to);
        let count: u64 = of_track.iter().map(|cell| cell.count).sum();
        prop_assert_eq!(count, truth.len() as u64);
        let busy: i64 = of_track.iter().map(|cell| cell.busy_ps).sum();
        prop_assert_eq!(busy, truth.iter().map(|(_, row)| row.3).sum::<i64>());
        for cell in of_track {
            let (id, row) = truth.iter().find(|(id, _)| *id as i64 == cell.longest.id).unwrap();
            prop_assert_eq!(row.1, cell.depth);
            prop_assert_eq!(&lod.names()[cell.longest.name as usize], &format!("op {}", id % 5));
            if cell.count == 1 {
                prop_assert_eq!((cell.ts_ps, cell.end_ps), (row.2, row.2 + row.3));
            }
        }
    }
    Ok(())
}

/// Slices of two tracks as a store nests them, several of them called alike.
fn nested(mut spans: Vec<(i64, i64, i64)>) -> Vec<Row> {
    spans.sort_by_key(|(track, ts, dur)| (*track, *ts, -dur));
    let mut nester = Nester::default();
    let mut last = None;
    spans
        .into_iter()
        .map(|(track, ts, dur)| {
            if last.replace(track) != Some(track) {
                nester.finish(|_, _| ());
            }
            let place = nester.begin(0, ts, dur, |_, _| ());
            (track, place.depth as u32, ts, dur)
        })
        .collect()
}

/// Name, op type, slices, durations and time on top, and the time in which any track is at work: picosecond by
/// picosecond.
type Sum = (String, Option<String>, u64, i64, i64);

fn counted(rows: &[Row], of: &[i64], from: i64, to: i64) -> (Vec<Sum>, i64, i64) {
    let mut sums = std::collections::BTreeMap::<(String, Option<String>), (u64, i64, i64)>::new();
    for (id, (track, _, ts, dur)) in rows.iter().enumerate() {
        if of.contains(track) && *ts < to && (*ts >= from || ts + dur > from) {
            let sum = sums.entry(label(id)).or_default();
            sum.0 += 1;
            sum.1 += (ts + dur).min(to) - (*ts).max(from);
        }
    }
    let (mut busy, mut work) = (0, 0);
    for at in from..to {
        let mut any = false;
        for track in of {
            let covers = |(_, row): &(usize, &Row)| row.0 == *track && row.2 <= at && at < row.2 + row.3;
            if let Some((id, _)) = rows.iter().enumerate().rfind(covers) {
                sums.entry(label(id)).or_default().2 += 1;
                work += 1;
                any = true;
            }
        }
        busy += i64::from(any);
    }
    let rows =
        sums.into_iter().map(|((name, op_type), (slices, total, own))| (name, op_type, slices, total, own));
    (rows.collect(), busy, work)
}

fn label(id: usize) -> (String, Option<String>) {
    (format!("op {}", id % 5), (!id.is_multiple_of(3)).then(|| format!("type {}", id % 3)))
}

fn labelled(rows: &[Row]) -> Packed {
    let mut builder = Builder::default();
    for (id, (track, depth, ts_ps, dur_ps)) in rows.iter().enumerate() {
        let (name, op_type) = label(id);
        let text = builder.labels.text(&name).unwrap();
        let op_type = op_type.map(|text| builder.labels.text(&text).unwrap());
        let name = builder.labels.pair(text, op_type).unwrap();
        let slice = Slice { id: id as i64, ts_ps: *ts_ps, dur_ps: *dur_ps, name };
        builder.add(*track, *depth, slice);
    }
    builder.finish(&Wanted::always()).unwrap()
}

proptest! {
    #[test]
    fn sums_are_those_of_counting(
        spans in prop::collection::vec((0..2i64, -40..160i64, 0..90i64), 0..60),
        from in -60..200i64,
        span in 1..250i64,
        shift in -30..30i64,
        pieces in 1..9u64,
    ) {
        let rows = nested(spans);
        let to = from + span;
        let part = |first_id, shift_ps| Part {
            packed: Packed::read(&bytes_of(&labelled(&rows))).unwrap(),
            first_id,
            shift_ps,
        };
        let lod = Lod::new(vec![part(0, 0), part(100, shift)]);
        let mut both = rows.clone();
        // Numbers of labels rise with those of slices: 15 is a multiple of both.
        both.resize(rows.len().next_multiple_of(15), (-1, 0, 0, 0));
        both.extend(rows.iter().map(|row| (row.0 + 100, row.1, row.2 + shift, row.3)));
        for tracks in [&[0][..], &[1, 0], &[0, 1, 77, 100, 101]] {
            let mut sums = Sums::new(&lod, tracks, Window::new(from, to, 1).unwrap());
            sums.cut_into(pieces);
            while sums.progress().0 < sums.progress().1 {
                sums.go_on(&lod);
            }
            let (expected, busy, work) = counted(&both, tracks, from, to);
            let (mut found, all) = sums.rows(&lod, 1000);
            prop_assert!(found.is_sorted_by_key(|row| std::cmp::Reverse(row.self_ps)));
            prop_assert_eq!(found.len(), all);
            found.sort_by_key(|row| (row.name, row.op_type));
            let found: Vec<Sum> = found.into_iter().map(|row| {
                (row.name.to_owned(), row.op_type.map(str::to_owned), row.slices, row.total_ps, row.self_ps)
            }).collect();
            prop_assert_eq!(sums.slices(), expected.iter().map(|row| row.2).sum::<u64>());
            prop_assert_eq!(found, expected);
            prop_assert_eq!(sums.busy_and_work_ps(), (busy, work));
        }
    }

    #[test]
    fn every_slice_of_the_window_is_in_one_cell(rows in in_turn(), from in -600..3000i64, span in 1..4000i64, px in 1..300u32) {
        check(&rows, from, span, px)?;
    }

    #[test]
    fn so_is_every_slice_of_lanes_that_overlap(rows in at_random(), from in -400..400i64, span in 1..900i64, px in 1..64u32) {
        check(&rows, from, span, px)?;
    }

    #[test]
    fn a_file_gives_the_same_cells(rows in at_random(), from in -400..400i64, span in 1..900i64, px in 1..64u32) {
        let window = Window::new(from, from + span, px).unwrap();
        let (written, read) = (packed(&rows, Builder::default()), packed(&rows, Builder::default()));
        let read = Packed::read(&bytes_of(&read)).unwrap();
        prop_assert_eq!(written.bounds_ps(), read.bounds_ps());
        prop_assert_eq!(alone(written).cells(&[0, 1], window), alone(read).cells(&[0, 1], window));
    }

    #[test]
    fn tracks_may_take_turns(rows in at_random(), run in 1..40usize, px in 1..64u32) {
        let window = Window::new(-300, 700, px).unwrap();
        let at_once = alone(packed(&rows, Builder::default())).cells(&[0, 1], window);
        let in_turns = alone(packed(&rows, Builder::packing_from(run))).cells(&[0, 1], window);
        prop_assert_eq!(at_once, in_turns);
    }

    #[test]
    fn values_of_any_size_come_back(rows in prop::collection::vec((0..2i64, 0..2u32, any::<i64>(), 0..=i64::MAX), 1..200)) {
        let read = Packed::read(&bytes_of(&packed(&rows, Builder::default()))).unwrap();
        let lod = alone(read);
        for (id, (track, depth, ts, dur)) in (0..).zip(&rows) {
            let Ok(window) = Window::new(*ts, ts.saturating_add(1), 1) else { continue };
            let cells = lod.cells(&[*track], window);
            let same = |cell: &&Cell| cell.depth == *depth && cell.ts_ps == *ts && cell.count == 1;
            let alike = rows.iter().filter(|row| (row.0, row.1, row.2) == (*track, *depth, *ts)).count();
            if alike == 1 {
                let cell = cells.iter().find(same).unwrap();
                prop_assert_eq!((cell.longest.id, cell.longest.dur_ps), (id, *dur));
            }
        }
    }

    #[test]
    fn what_is_damaged_is_refused_or_drawn(
        rows in at_random(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = bytes_of(&packed(&rows, Builder::default())).to_vec();
        prop_assert!(Packed::read(&Buffer::from(&bytes[..cut.index(bytes.len())])).is_err());
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Ok(read) = Packed::read(&Buffer::from(&bytes[..])) {
            let lod = alone(read);
            let _ = lod.tracks();
            let mut sums = Sums::new(&lod, &[0, 1], Window::new(-300, 700, 1).unwrap());
            sums.cut_into(3);
            (0..3).for_each(|_| sums.go_on(&lod));
            prop_assert!(sums.rows(&lod, 5).0.len() <= 5);
            for px in [1, 7, 64] {
                let cells = lod.cells(&[0, 1], Window::new(-300, 700, px).unwrap());
                prop_assert!(cells.iter().all(|cell| lod.names().get(cell.longest.name as usize).is_some()));
            }
        }
    }

    #[test]
    fn sources_lie_beside_each_other(one in at_random(), other in at_random(), shift in -500..500i64, px in 1..64u32) {
        let part = |rows: &[Row], first_id, shift_ps| Part {
            packed: packed(rows, Builder::default()),
            first_id,
            shift_ps,
        };
        let lod = Lod::new(vec![part(&one, 0, 0), part(&other, 1000, shift)]);
        let moved: Vec<Row> = other.iter().map(|row| (row.0, row.1, row.2 + shift, row.3)).collect();
        let (one, other) = (build(&one), build(&moved));
        let window = Window::new(-300, 700, px).unwrap();
        let mut expected = one.cells(&[0, 1, 77, 77], window);
        expected.extend(other.cells(&[77, 77, 0, 1], window).into_iter().map(|mut cell| {
            cell.longest.id += 1000;
            cell
        }));
        let mut found = lod.cells(&[0, 1, 1000, 1001], window);
        for (cells, lod) in [(&mut expected, None), (&mut found, Some(&lod))] {
            for cell in cells {
                if let Some(lod) = lod {
                    prop_assert!(lod.names()[cell.longest.name as usize].starts_with("op "));
                }
                cell.longest.name = 0;
            }
        }
        prop_assert_eq!(expected, found);
    }

    #[test]
    fn a_slice_of_two_pixels_is_drawn_alone_and_a_lane_has_few_cells(rows in in_turn(), from in -600..3000i64, span in 1..4000i64, px in 1..300u32) {
        let lod = build(&rows);
        let cells = lod.cells(&[0, 1, 2], Window::new(from, from + span, px).unwrap());
        let wide = |dur: i64| dur * i64::from(px) >= 2 * span;
        for cell in &cells {
            prop_assert!(cell.count == 1 || !wide(cell.longest.dur_ps));
        }
        // A column holds one cell before and one after each slice that is drawn alone.
        prop_assert!(cells.len() as u64 <= 9 * (u64::from(px) * 2 + 2));
    }
}

#[test]
fn windows_at_the_ends_of_time() {
    let lod = build(&[(0, 0, i64::MIN, 10), (0, 0, 0, i64::MAX), (0, 0, i64::MAX, 5)]);
    let cells = lod.cells(&[0], Window::new(i64::MIN, i64::MAX, 16_384).unwrap());
    assert_eq!(cells.iter().map(|cell| cell.count).sum::<u64>(), 2);
    assert_eq!(cells.last().unwrap().end_ps, i64::MAX);
    assert!(Window::new(5, 5, 100).is_err());
    assert!(Window::new(0, 5, 0).is_err());
    assert!(Window::new(0, 5, 1_000_000).is_err());
}

#[test]
fn tracks_name_their_lanes() {
    let lod = build(&[(7, 2, 0, 1), (3, 0, 5, 1), (7, 0, 0, 9), (7, 0, 20, 9)]);
    assert_eq!(lod.tracks(), [(3, 1, 1), (7, 3, 3)]);
    assert!(alone(Builder::default().finish(&Wanted::always()).unwrap()).tracks().is_empty());
}

#[test]
fn a_million_slices_in_one_column_are_one_cell() {
    let mut builder = Builder::default();
    let name = builder.name("Add").unwrap();
    for id in 0..1_000_000 {
        let dur_ps = if id == 654_321 { 9 } else { 4 };
        builder.add(0, 0, Slice { id, ts_ps: id * 10, dur_ps, name });
    }
    let lod = alone(builder.finish(&Wanted::always()).unwrap());
    let cells = lod.cells(&[0], Window::new(0, 10_000_000, 1).unwrap());
    assert_eq!(cells.len(), 1);
    assert_eq!((cells[0].count, cells[0].longest.id), (1_000_000, 654_321));
    assert_eq!(cells[0].busy_ps, 4_000_005);
}

#[test]
fn a_frame_is_a_header_and_columns_at_multiples_of_eight() {
    let lod = build(&[(4, 0, 100, 50), (4, 0, 160, 5), (4, 1, 110, 7)]);
    let window = Window::new(100, 200, 100).unwrap();
    let bytes = frame::write(&lod.cells(&[4], window), window);
    assert_eq!(bytes.len() % 8, 0);
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let header = std::str::from_utf8(&bytes[4..4 + length]).unwrap();
    assert!(header.starts_with(r#"{"format":1,"from_ps":"100","to_ps":"200","px":100,"events":3,"#));
    let mut place = (4 + length).next_multiple_of(8);
    // track, depth: 3 × u32 with 4 bytes of padding each; then the starts.
    place += 32;
    let starts: Vec<f64> = (0..3)
        .map(|i| f64::from_le_bytes(bytes[place + 8 * i..place + 8 * i + 8].try_into().unwrap()))
        .collect();
    assert_eq!(starts, [0.0, 60.0, 10.0]);
}

#[test]
fn packing_ends_when_nobody_wants_it() {
    let mut builder = Builder::default();
    let name = builder.name("op").unwrap();
    for id in 0..1 << 17 {
        let slice = Slice { id, ts_ps: id * 10, dur_ps: 5, name };
        builder.add(id % 4, 0, slice);
    }
    let stopped = builder.finish(&Wanted::while_(&|| false)).unwrap_err();
    assert_eq!(stopped.kind, Kind::Interrupted);
}
