//! How fast slices are nested and written, apart from any decoding:
//! `cargo run --release --example write_slices -- [ordered|unordered] [MILLIONS] [FOLDER]`.

use std::time::Instant;
use stepscope_core::columns::{MISSING, NONE, SliceColumns};
use stepscope_core::store::{Options, Writer};

const PIECE_ROWS: usize = 40_000;
const TRACKS: usize = 20;

/// Steps of 16 slices: one around three, each around four more.
fn fill(piece: &mut SliceColumns, track: u32, first: i64, rows: usize) {
    for i in 0..rows as i64 {
        let (step, place) = ((first + i) / 16, (first + i) % 16);
        let (at, dur) = match place {
            0 => (0, 1_500_000),
            1 | 6 | 11 => (place * 90_000, 440_000),
            _ => (place * 90_000, 80_000),
        };
        piece.track.push(track);
        piece.name.push((place * 31 + step) as u32 % 4000);
        piece.category.push(NONE);
        piece.ts_ps.push(step * 1_600_000 + at);
        piece.dur_ps.push(dur);
        piece.op_name.push(if place > 1 { (place + step) as u32 % 500 } else { NONE });
        piece.op_type.push(if place > 1 { place as u32 } else { NONE });
        piece.correlation.push(MISSING);
        piece.args_json.extend_from_slice(
            br#"{"hlo_op":"fusion.1234","flops":123456789,"bytes_accessed":987654,"occupancy":0.75}"#,
        );
        piece.args_end.push(piece.args_json.len() as u32);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let ordered = args.next().is_none_or(|how| how == "ordered");
    let millions: f64 = args.next().map_or(Ok(10.0), |text| text.parse())?;
    let options = Options { folder: args.next().map(Into::into), ..Options::default() };
    let per_track = (millions * 1e6) as i64 / TRACKS as i64;
    let start = Instant::now();
    let mut writer = Writer::new(&options)?;
    for i in 0..4000 {
        writer.names.intern(&format!("%fusion.{i} = f32[128,1024]{{1,0}} fusion(f32[128,1024] %p)"));
        writer.op_names.intern(&format!("fusion.{i}"));
        writer.op_types.intern(&format!("Type{i}"));
    }
    let mut making = std::time::Duration::ZERO;
    if ordered {
        for track in 0..TRACKS as u32 {
            let mut first = 0;
            while first < per_track {
                let made = Instant::now();
                let mut piece = writer.spare();
                let rows = PIECE_ROWS.min((per_track - first) as usize);
                fill(&mut piece, track, first, rows);
                making += made.elapsed();
                writer.push_ordered(piece)?;
                first += rows as i64;
            }
        }
    } else {
        let mut first = 0;
        while first < per_track {
            let made = Instant::now();
            let mut piece = writer.spare();
            let rows = (PIECE_ROWS / TRACKS).min((per_track - first) as usize);
            for track in (0..TRACKS as u32).rev() {
                fill(&mut piece, track, first, rows);
            }
            making += made.elapsed();
            writer.push_unordered(piece)?;
            first += rows as i64;
        }
    }
    let pushed = start.elapsed();
    let store = writer.finish()?;
    println!(
        "{} slices: {:.3} s, of which {:.3} s made them, {:.3} s finished",
        store.tables()["slice"],
        start.elapsed().as_secs_f64(),
        making.as_secs_f64(),
        (start.elapsed() - pushed).as_secs_f64(),
    );
    Ok(())
}
