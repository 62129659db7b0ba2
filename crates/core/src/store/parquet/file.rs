//! A file being written: how its columns are encoded, and its hash.

use super::{Job, Kind, arrays};
use crate::error::{Error, Kind as Failure, Result};
use crate::store::raw::Columns;
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

const BY: &str = concat!("stepscope version ", env!("CARGO_PKG_VERSION"));
/// The level of zstd: a third faster than 3, files smaller than those of most writers all the same.
const LEVEL: i32 = 1;
/// Rows of a page: as many as a row group has, unless their text is long.
const PAGE_ROWS: usize = crate::store::part::BATCH_ROWS;
/// Most bytes of a dictionary of measures: what has more than a few thousand is better off without.
const DICTIONARY_BYTES: usize = 64 << 10;

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Size of the file.
    pub bytes: u64,
    /// Rows in it.
    pub rows: u64,
    /// Its xxh3-128 in hexadecimal, as [`crate::input::Input::content_hash`] has it.
    pub hash: String,
}

/// A file that is hashed while it is written.
struct Hashed {
    file: File,
    hash: Xxh3,
    bytes: u64,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl From<ParquetError> for Error {
    fn from(error: ParquetError) -> Error {
        match error {
            ParquetError::External(error) => match error.downcast::<std::io::Error>() {
                Ok(error) => Error::from(*error),
                Err(error) => Error::new(Failure::Io, error.to_string()),
            },
            error => Error::new(Failure::Limit, error.to_string()),
        }
    }
}

/// A Parquet file that takes row groups.
pub struct Output {
    writer: SerializedFileWriter<Hashed>,
    schema: Arc<Schema>,
    columns: ArrowRowGroupWriterFactory,
}

impl Output {
    /// Creates the file of a job, which must not be there.
    pub fn create(job: &Job) -> Result<Output> {
        let fields = job.columns.iter().map(|column| {
            let nullable = !column.is_constant();
            Field::new(&column.name, arrays::data_type(column.kind), nullable)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let root = ArrowSchemaConverter::new().convert(&schema)?.root_schema_ptr();
        let file = hashed(&job.path)?;
        let writer = SerializedFileWriter::new(file, root, Arc::new(properties(job)?))?;
        Ok(Output { columns: ArrowRowGroupWriterFactory::new(&writer, Arc::clone(&schema)), schema, writer })
    }

    /// What encodes the columns of a row group, one by one and in any thread.
    pub fn encoders(&self, group: usize) -> Result<Vec<ArrowColumnWriter>> {
        Ok(self.columns.create_column_writers(group)?)
    }

    /// Encodes a column of a row group.
    pub fn encode(
        &self,
        job: &Job,
        table: &Columns,
        (group, column): (usize, usize),
        mut encoder: ArrowColumnWriter,
    ) -> Result<ArrowColumnChunk> {
        let (wanted, field) = (&job.columns[column], self.schema.field(column));
        let raw = match &wanted.source {
            super::Source::Stored(name, _) => table.column(group, name)?,
            _ => None,
        };
        arrays::each(wanted, raw, table.rows(group), |array| {
            for leaf in compute_leaves(field, &array)? {
                encoder.write(&leaf)?;
            }
            Ok(())
        })?;
        let mut chunk = encoder.close()?;
        let known = &mut chunk.close_mut().metadata;
        // The crate leaves NaN out of the bounds, and readers do not agree on whether it is beyond them.
        if let Some(statistics) = known.statistics()
            && statistics.nan_count_opt() > Some(0)
        {
            let unbounded = Statistics::double(None, None, None, statistics.null_count_opt(), false);
            let rebuilt = known.clone().into_builder().set_statistics(unbounded);
            *known = rebuilt.build()?;
        }
        Ok(chunk)
    }

    /// Writes the next row group.
    pub fn write(&mut self, chunks: impl Iterator<Item = ArrowColumnChunk>) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut group)?;
        }
        group.close()?;
        Ok(())
    }

    /// Ends the file. It is not yet forced to the disk.
    pub fn finish(self) -> Result<(File, Written)> {
        let groups = self.writer.flushed_row_groups().iter();
        let rows = groups.map(|group| group.num_rows() as u64).sum();
        let Hashed { file, hash, bytes } = self.writer.into_inner()?;
        let hash = format!("{:032x}", hash.digest128());
        Ok((file, Written { bytes, rows, hash }))
    }
}

fn hashed(path: &Path) -> Result<Hashed> {
    Ok(Hashed { file: File::options().write(true).create_new(true).open(path)?, hash: Xxh3::new(), bytes: 0 })
}

/// Texts and measures by dictionary while that is small, whole numbers as differences. No index of pages: a row group
/// has few, and readers leave out whole row groups by their bounds.
fn properties(job: &Job) -> Result<WriterProperties> {
    let mut properties = WriterProperties::builder()
        .set_created_by(BY.to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_data_page_row_count_limit(PAGE_ROWS);
    for column in &job.columns {
        let path = ColumnPath::from(column.name.as_str());
        let (dictionary, encoding) = match column.kind {
            Kind::I64 | Kind::I32 => (false, Encoding::DELTA_BINARY_PACKED),
            Kind::Text => (true, Encoding::DELTA_LENGTH_BYTE_ARRAY),
            Kind::F64 | Kind::Bool => (column.kind == Kind::F64, Encoding::PLAIN),
        };
        if column.kind == Kind::F64 {
            properties = properties.set_column_dictionary_page_size_limit(path.clone(), DICTIONARY_BYTES);
        }
        properties = properties
            .set_column_dictionary_enabled(path.clone(), dictionary)
            .set_column_encoding(path, encoding);
    }
    Ok(properties.build())
}
