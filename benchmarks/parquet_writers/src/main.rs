//! Our Parquet writer against the parquet crate: the same columns of the same slices.
//!
//!     cargo run --release -- decode TRACE.json FOLDER
//!     cargo run --release -- ours|crate|crate-deltas FOLDER OUT.parquet
//!
//! Each write is a process of its own, on one thread, and prints processor seconds, peak MiB and bytes. Both
//! write zstd at level 1, row groups of 122,880 rows, pages of 1 MiB and statistics of chunks, and force the
//! file to the disk. `crate` has the crate's defaults otherwise: a dictionary where it fits, else plain.
//! `crate-deltas` writes whole numbers as differences, without trying a dictionary.

use arrow_array::RecordBatchReader;
use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use stepscope_core::input::{Codec, Input};
use stepscope_core::options::Options;
use stepscope_core::store::parquet::{Column, Job, Kind, Limits, Source, write};
use stepscope_core::store::part::BATCH_ROWS;
use stepscope_core::store::table::Table;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [what, from, to] = words[..] else {
        return Err("decode TRACE FOLDER, or ours|crate|crate-deltas FOLDER OUT".into());
    };
    if what == "decode" {
        let options = Options {
            folder: Some(to.into()),
            ..Options::default()
        };
        let input = Input::file(from.into(), 0, None, Codec::Plain);
        let rows = stepscope_core::decode("chrome_trace", &input, &options)?.tables();
        println!("{rows:?}");
        return Ok(());
    }
    let store = stepscope_core::open(Path::new(from))?;
    let table = store.table("slice")?;
    let before = seconds()?;
    match what {
        "ours" => ours(table, Path::new(to))?,
        "crate" | "crate-deltas" => theirs(table, Path::new(to), what == "crate-deltas")?,
        _ => return Err(format!("no writer is called {what}").into()),
    }
    let used = seconds()? - before;
    let (rows, bytes) = (table.rows(), std::fs::metadata(to)?.len());
    println!(
        "{what} {rows} rows {used:.3} s {} MiB {bytes} bytes",
        peak_mib()?
    );
    Ok(())
}

fn ours(table: &Arc<Table>, out: &Path) -> Result<(), Failure> {
    let schema = table.read(None, false)?.schema();
    let columns = schema.fields().iter().map(|field| Column {
        name: field.name().clone(),
        kind: match field.data_type() {
            DataType::Int64 => Kind::I64,
            DataType::Int32 => Kind::I32,
            DataType::Float64 => Kind::F64,
            DataType::Boolean => Kind::Bool,
            _ => Kind::Text,
        },
        source: Source::Stored(field.name().clone(), 0),
    });
    let job = Job {
        path: out.into(),
        table: Arc::clone(table),
        columns: columns.collect(),
    };
    write(&[job], 1, Limits::default(), || Ok(()))?;
    Ok(())
}

fn theirs(table: &Arc<Table>, out: &Path, deltas: bool) -> Result<(), Failure> {
    let batches = table.read(None, false)?;
    let schema = batches.schema();
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_max_row_group_row_count(Some(BATCH_ROWS))
        .set_data_page_size_limit(1 << 20)
        .set_data_page_row_count_limit(1 << 17)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    let numbers = schema
        .fields()
        .iter()
        .filter(|field| field.data_type().is_integer());
    for field in numbers.filter(|_| deltas) {
        let path = ColumnPath::from(field.name().as_str());
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    let mut writer =
        ArrowWriter::try_new(File::create_new(out)?, schema, Some(properties.build()))?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.into_inner()?.sync_all()?;
    Ok(())
}

/// Processor seconds of this process: fields 14 and 15 of /proc/self/stat, in hundredths.
fn seconds() -> Result<f64, Failure> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse::<f64>);
    Ok(ticks.sum::<Result<f64, _>>()? / 100.0)
}

/// Peak of resident memory.
fn peak_mib() -> Result<u64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line
        .and_then(|line| line.split_whitespace().next())
        .ok_or("no VmHWM")?;
    Ok(kib.parse::<u64>()? / 1024)
}
