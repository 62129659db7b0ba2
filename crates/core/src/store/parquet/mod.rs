//! Tables of a store as Parquet files, by the crate `parquet`.
//!
//! A group of batches of the store becomes a row group. Its columns are encoded by several threads and
//! written in order, so the bytes depend only on the rows. Every file is hashed while it is written and
//! forced to the disk before it is reported.

mod arrays;
mod file;
mod work;

pub use file::Written;
pub use work::write;

use crate::store::table::Table;
use std::path::PathBuf;
use std::sync::Arc;

/// The type of a column in SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// BIGINT.
    I64,
    /// INTEGER.
    I32,
    /// DOUBLE.
    F64,
    /// BOOLEAN.
    Bool,
    /// VARCHAR.
    Text,
}

/// Where the values of a column come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The same text in every row.
    Text(String),
    /// The same number in every row of a BIGINT.
    Number(i64),
    /// A column of the table of that name, with a number added to each value; NULL in every row when
    /// the table has none.
    Stored(String, i64),
}

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// Its values.
    pub source: Source,
}

impl Column {
    /// Whether every row has the same value.
    fn is_constant(&self) -> bool {
        !matches!(self.source, Source::Stored(..))
    }
}

/// A file to be written.
pub struct Job {
    /// Its name; it must not be there.
    pub path: PathBuf,
    /// Its rows.
    pub table: Arc<Table>,
    /// Its columns.
    pub columns: Vec<Column>,
}
