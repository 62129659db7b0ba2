//! How fast an XSpace is decoded to columns, and how fast its bytes are merely read.
//!
//!     cargo run --release --example xplane_speed FILE [THREADS] [REPEATS]

use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;
use stepscope_core::input::{Codec, Input};
use stepscope_core::options::Options;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("which file?")?);
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let (threads, repeats) = (number(2)?, number(5)?);
    let options = Options { threads, keep: false, ..Options::default() };
    for _ in 0..repeats {
        let start = Instant::now();
        let mut buffer = vec![0; 1 << 20];
        let mut file = std::fs::File::open(&path)?;
        let mut bytes = 0;
        while let n @ 1.. = file.read(&mut buffer)? {
            bytes += n;
        }
        let read = start.elapsed().as_secs_f64();
        let input = Input::file(path.clone(), 0, None, Codec::Plain);
        let start = Instant::now();
        let slices = stepscope_core::decode("xplane", &input, &options)?.facts.events_seen;
        let decode = start.elapsed().as_secs_f64();
        println!(
            "{slices} events, {bytes} bytes, {threads} threads: read {read:.3} s, decode {decode:.3} s, \
             {:.1} M events/s, {:.0} MB/s",
            slices as f64 / decode / 1e6,
            bytes as f64 / decode / 1e6,
        );
    }
    Ok(())
}
