//! How fast a Chrome trace is decoded to a store in memory, in wall time and in time of all cores.
//!
//!     cargo run --release --example chrome_speed FILE [THREADS] [REPEATS] [all|slices|bare]
//!
//! `all` asks for everything, `slices` leaves out arguments and nesting, `bare` ops and other tables as well.

use std::path::PathBuf;
use std::time::Instant;
use stepscope_core::input::{Codec, Input};
use stepscope_core::options::{Needs, Options};

/// Processor time of this process so far, in seconds.
fn spent() -> std::io::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok());
    Ok((ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("which file?")?);
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let (threads, repeats) = (number(2)?, number(5)?);
    let wanted = arguments.next().unwrap_or_else(|| "all".to_owned());
    let needs = Needs {
        args: wanted == "all",
        nesting: wanted == "all",
        tables: wanted != "bare",
        ops: wanted != "bare",
    };
    let options = Options { threads, needs, ..Options::default() };
    let bytes = std::fs::metadata(&path)?.len() as f64;
    for _ in 0..repeats {
        let input = Input::file(path.clone(), 0, None, Codec::Plain);
        let (start, before) = (Instant::now(), spent()?);
        let store = stepscope_core::decode("chrome_trace", &input, &options)?;
        let (wall, cpu) = (start.elapsed().as_secs_f64(), spent()? - before);
        println!(
            "{} events, {threads} threads, {wanted}: {wall:.3} s, {cpu:.2} s of cores, {:.0} MB/s, {:.0} MB/s a core",
            store.facts.events_stored,
            bytes / wall / 1e6,
            bytes / cpu / 1e6,
        );
    }
    Ok(())
}
