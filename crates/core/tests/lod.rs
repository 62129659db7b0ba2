//! Cells of random windows against slices counted one by one.

use proptest::prelude::*;
use stepscope_core::lod::cells::{Cell, Window};
use stepscope_core::lod::{Builder, Lod, Slice, frame};

type Row = (i64, u32, i64, i64);

fn build(rows: &[Row]) -> Lod {
    let mut builder = Builder::default();
    for (id, (track, depth, ts_ps, dur_ps)) in (0..).zip(rows) {
        let name = builder.name(&format!("op {}", id % 5)).unwrap();
        let slice = Slice {
            id,
            ts_ps: *ts_ps,
            dur_ps: *dur_ps,
            name,
        };
        builder.add(*track, *depth, slice);
    }
    builder.finish()
}

/// Rows that meet the window, found without any structure.
fn meeting(rows: &[Row], track: i64, from: i64, to: i64) -> Vec<(usize, Row)> {
    let meets = |(_, (of, _, ts, dur)): &(usize, Row)| {
        *of == track && *ts < to && (*ts >= from || ts + dur > from)
    };
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
            let (id, row) = truth
                .iter()
                .find(|(id, _)| *id as i64 == cell.longest.id)
                .unwrap();
            prop_assert_eq!(row.1, cell.depth);
            prop_assert_eq!(
                &lod.names()[cell.longest.name as usize],
                &format!("op {}", id % 5)
            );
            if cell.count == 1 {
                prop_assert_eq!((cell.ts_ps, cell.end_ps), (row.2, row.2 + row.3));
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_slice_of_the_window_is_in_one_cell(rows in in_turn(), from in -600..3000i64, span in 1..4000i64, px in 1..300u32) {
        check(&rows, from, span, px)?;
    }

    #[test]
    fn so_is_every_slice_of_lanes_that_overlap(rows in at_random(), from in -400..400i64, span in 1..900i64, px in 1..64u32) {
        check(&rows, from, span, px)?;
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
    let lod = build(&[
        (0, 0, i64::MIN, 10),
        (0, 0, 0, i64::MAX),
        (0, 0, i64::MAX, 5),
    ]);
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
    assert_eq!(lod.tracks().collect::<Vec<_>>(), [(3, 1, 1), (7, 3, 3)]);
    assert!(Builder::default().finish().tracks().next().is_none());
}

#[test]
fn a_million_slices_in_one_column_are_one_cell() {
    let mut builder = Builder::default();
    let name = builder.name("Add").unwrap();
    for id in 0..1_000_000 {
        let dur_ps = if id == 654_321 { 9 } else { 4 };
        builder.add(
            0,
            0,
            Slice {
                id,
                ts_ps: id * 10,
                dur_ps,
                name,
            },
        );
    }
    let lod = builder.finish();
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
    assert!(
        header.starts_with(r#"{"format":1,"from_ps":"100","to_ps":"200","px":100,"events":3,"#)
    );
    let mut place = (4 + length).next_multiple_of(8);
    // track, depth: 3 × u32 with 4 bytes of padding each; then the starts.
    place += 32;
    let starts: Vec<f64> = (0..3)
        .map(|i| f64::from_le_bytes(bytes[place + 8 * i..place + 8 * i + 8].try_into().unwrap()))
        .collect();
    assert_eq!(starts, [0.0, 60.0, 10.0]);
}
