//! Takes what decoders give, nests the slices, and keeps or hands out the tables.

pub use crate::facts::{Effect, Facts, Note};
pub use crate::options::{Needs, Options, Progress};
pub use crate::pool::Pool;

use crate::columns::{Cell, MISSING, NONE, SliceColumns, Table, Type};
use crate::error::{Error, Kind, Result};
use crate::nesting::Nester;
use arrow_array::builder::{
    ArrayBuilder, Float64Builder, Int64Builder, StringBuilder, StringDictionaryBuilder,
    UInt64Builder,
};
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Takes what one decoder gives.
pub struct Writer {
    /// Names of slices.
    pub names: Pool,
    /// Categories of slices.
    pub categories: Pool,
    /// Op names of slices.
    pub op_names: Pool,
    /// Op types of slices.
    pub op_types: Pool,
    /// What is known of the source; decoders fill it as they go.
    pub facts: Facts,
    options: Options,
    tables: BTreeMap<&'static str, Rows>,
    ordered: Vec<SliceColumns>,
    ordered_rows: i64,
    unordered: Vec<SliceColumns>,
}

struct Rows {
    columns: &'static [(&'static str, Type)],
    builders: Vec<Builder>,
    rows: i64,
}

enum Builder {
    I64(Int64Builder),
    U64(UInt64Builder),
    F64(Float64Builder),
    Text(StringBuilder),
}

impl Builder {
    fn push(&mut self, cell: &Cell<'_>) -> Result<()> {
        match (self, cell) {
            (Builder::I64(b), Cell::I64(v)) => b.append_value(*v),
            (Builder::U64(b), Cell::U64(v)) => b.append_value(*v),
            (Builder::F64(b), Cell::F64(v)) => b.append_value(*v),
            (Builder::Text(b), Cell::Text(v)) => b.append_value(v),
            (Builder::I64(b), Cell::Null) => b.append_null(),
            (Builder::U64(b), Cell::Null) => b.append_null(),
            (Builder::F64(b), Cell::Null) => b.append_null(),
            (Builder::Text(b), Cell::Null) => b.append_null(),
            (_, cell) => {
                return Err(Error::new(
                    Kind::Io,
                    format!("a cell of the wrong type: {cell:?}"),
                ));
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::I64(b) => ArrayBuilder::finish(b),
            Builder::U64(b) => ArrayBuilder::finish(b),
            Builder::F64(b) => ArrayBuilder::finish(b),
            Builder::Text(b) => ArrayBuilder::finish(b),
        }
    }
}

impl Writer {
    /// A writer of nothing yet; makes the folder if there is none.
    pub fn new(options: &Options) -> Result<Writer> {
        if let Some(folder) = &options.folder {
            std::fs::create_dir_all(folder)?;
        }
        Ok(Writer {
            names: Pool::new(),
            categories: Pool::new(),
            op_names: Pool::new(),
            op_types: Pool::new(),
            facts: Facts::default(),
            options: options.clone(),
            tables: BTreeMap::new(),
            ordered: Vec::new(),
            ordered_rows: 0,
            unordered: Vec::new(),
        })
    }

    /// Adds a row; `cells` are in the order of [`Table::columns`]. Returns the row number.
    pub fn row(&mut self, table: Table, cells: &[Cell<'_>]) -> Result<i64> {
        let rows = self.tables.entry(table.name()).or_insert_with(|| Rows {
            columns: table.columns(),
            builders: table
                .columns()
                .iter()
                .map(|(_, kind)| match kind {
                    Type::I64 => Builder::I64(Int64Builder::new()),
                    Type::U64 => Builder::U64(UInt64Builder::new()),
                    Type::F64 => Builder::F64(Float64Builder::new()),
                    Type::Text => Builder::Text(StringBuilder::new()),
                })
                .collect(),
            rows: 0,
        });
        if cells.len() != rows.columns.len() {
            return Err(Error::new(
                Kind::Io,
                format!("{} cells for table {}", cells.len(), table.name()),
            ));
        }
        for (builder, cell) in rows.builders.iter_mut().zip(cells) {
            builder.push(cell)?;
        }
        rows.rows += 1;
        Ok(rows.rows - 1)
    }

    /// Adds slices whose tracks come one after the other, each in nesting order (start ascending,
    /// duration descending, order of the file). A track may go on in the next piece. Returns the
    /// number of the first row.
    pub fn push_ordered(&mut self, piece: SliceColumns) -> Result<i64> {
        let first = self.ordered_rows;
        self.ordered_rows += piece.len() as i64;
        self.ordered.push(piece);
        Ok(first)
    }

    /// Adds slices in any order. Their row numbers are known only in the finished store.
    pub fn push_unordered(&mut self, piece: SliceColumns) -> Result<()> {
        self.unordered.push(piece);
        Ok(())
    }

    /// Notes something lost, repaired, capped or missing; the same slug adds up. The `events_*`
    /// counters of [`Facts`] are the decoder's own business.
    pub fn note(
        &mut self,
        slug: &str,
        effect: Effect,
        events: u64,
        first_offset: Option<u64>,
        detail: impl Into<String>,
    ) {
        self.facts
            .note(slug, effect, events, first_offset, detail.into());
    }

    /// Fails with [`Kind::Interrupted`] when the caller wants to stop; call it once per chunk.
    pub fn check(&self) -> Result<()> {
        self.options.check()
    }

    /// Sorts, nests, binds flows, and closes the tables.
    pub fn finish(mut self) -> Result<Store> {
        let mut all: Vec<(u32, i64, i64, usize, usize)> = Vec::new();
        let ordered = self.ordered.len();
        let pieces: Vec<SliceColumns> = self
            .ordered
            .drain(..)
            .chain(self.unordered.drain(..))
            .collect();
        for (p, piece) in pieces.iter().enumerate() {
            for i in 0..piece.len() {
                all.push((piece.track[i], piece.ts_ps[i], piece.dur_ps[i], p, i));
            }
        }
        if self.options.needs.nesting {
            let split = pieces[..ordered]
                .iter()
                .map(SliceColumns::len)
                .sum::<usize>();
            all[split..].sort_by_key(|x| (x.0, x.1, std::cmp::Reverse(x.2), x.3, x.4));
        }
        let n = all.len();
        let (mut depth, mut parent, mut own) = (vec![0_i32; n], vec![-1_i64; n], vec![0_i64; n]);
        if self.options.needs.nesting {
            let mut nester = Nester::default();
            for (row, x) in all.iter().enumerate() {
                if row > 0 && all[row - 1].0 != x.0 {
                    nester.finish(|row, self_ps| own[row as usize] = self_ps);
                }
                let place = nester.begin(row as i64, x.1, x.2, |row, self_ps| {
                    own[row as usize] = self_ps
                });
                depth[row] = place.depth;
                parent[row] = place.parent;
            }
            nester.finish(|row, self_ps| own[row as usize] = self_ps);
        }
        for x in &all {
            self.facts.cover(x.1, x.1 + x.2);
        }
        let dictionary = |pool: &Pool, code: fn(&SliceColumns, usize) -> u32| -> ArrayRef {
            let mut builder = StringDictionaryBuilder::<Int32Type>::new();
            for x in &all {
                match code(&pieces[x.3], x.4) {
                    NONE => builder.append_null(),
                    code => {
                        builder
                            .append(pool.get(code))
                            .expect("fewer than 2^31 texts");
                    }
                }
            }
            Arc::new(builder.finish())
        };
        let missing = |value: i64, none: i64| (value != none).then_some(value);
        let mut args = StringBuilder::new();
        for x in &all {
            let piece = &pieces[x.3];
            let start = if x.4 == 0 {
                0
            } else {
                piece.args_end.get(x.4 - 1).map_or(0, |e| *e as usize)
            };
            let end = piece.args_end.get(x.4).map_or(0, |e| *e as usize);
            match std::str::from_utf8(&piece.args_json[start..end]) {
                Ok("") => args.append_null(),
                Ok(text) => args.append_value(text),
                Err(error) => return Err(Error::new(Kind::Io, error.to_string())),
            }
        }
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("id", Arc::new(Int64Array::from_iter_values(0..n as i64))),
            (
                "track_id",
                Arc::new(Int64Array::from_iter_values(
                    all.iter().map(|x| i64::from(x.0)),
                )),
            ),
            ("name", dictionary(&self.names, |p, i| p.name[i])),
            (
                "category",
                dictionary(&self.categories, |p, i| p.category[i]),
            ),
            (
                "ts_ps",
                Arc::new(Int64Array::from_iter_values(all.iter().map(|x| x.1))),
            ),
            (
                "dur_ps",
                Arc::new(Int64Array::from_iter_values(all.iter().map(|x| x.2))),
            ),
            ("depth", Arc::new(Int32Array::from(depth))),
            (
                "parent_id",
                Arc::new(Int64Array::from_iter(
                    parent.iter().map(|p| missing(*p, -1)),
                )),
            ),
            ("self_ps", Arc::new(Int64Array::from(own))),
            ("step", Arc::new(Int64Array::from(vec![None; n]))),
            ("op_name", dictionary(&self.op_names, |p, i| p.op_name[i])),
            ("op_type", dictionary(&self.op_types, |p, i| p.op_type[i])),
            (
                "correlation_id",
                Arc::new(Int64Array::from_iter(
                    all.iter()
                        .map(|x| missing(pieces[x.3].correlation[x.4], MISSING)),
                )),
            ),
            ("args_json", Arc::new(args.finish())),
        ];
        let mut tables = BTreeMap::new();
        tables.insert("slice".to_owned(), batch(columns)?);
        for (name, mut rows) in std::mem::take(&mut self.tables) {
            let mut columns: Vec<(&str, ArrayRef)> =
                vec![("id", Arc::new(Int64Array::from_iter_values(0..rows.rows)))];
            for ((name, _), builder) in rows.columns.iter().zip(&mut rows.builders) {
                columns.push((name, builder.finish()));
            }
            tables.insert(name.to_owned(), batch(columns)?);
        }
        Ok(Store {
            facts: self.facts,
            tables,
        })
    }
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch> {
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    RecordBatch::try_new(
        Arc::new(Schema::new(fields)),
        columns.into_iter().map(|c| c.1).collect(),
    )
    .map_err(|error| Error::new(Kind::Io, error.to_string()))
}

/// The tables decoded from one source.
pub struct Store {
    /// What is known of the source.
    pub facts: Facts,
    tables: BTreeMap<String, RecordBatch>,
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Value {
    Null,
    Bool(bool),
    I64(i64),
    U64(u64),
    F64(f64),
    Text(String),
}

impl Store {
    /// Name and number of rows of every table that is there.
    pub fn tables(&self) -> BTreeMap<String, u64> {
        self.tables
            .iter()
            .map(|(name, batch)| (name.clone(), batch.num_rows() as u64))
            .collect()
    }

    /// A small table as rows of (column, value); slices included, for tests.
    pub fn rows(&self, table: &str) -> Result<Vec<BTreeMap<String, Value>>> {
        let Some(batch) = self.tables.get(table) else {
            return Ok(Vec::new());
        };
        let mut rows = vec![BTreeMap::new(); batch.num_rows()];
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            for (i, row) in rows.iter_mut().enumerate() {
                row.insert(field.name().clone(), value(column, i));
            }
        }
        Ok(rows)
    }
}

fn value(column: &ArrayRef, i: usize) -> Value {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
    if column.is_null(i) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Int64 => Value::I64(column.as_primitive::<Int64Type>().value(i)),
        DataType::Int32 => Value::I64(i64::from(column.as_primitive::<Int32Type>().value(i))),
        DataType::UInt64 => Value::U64(column.as_primitive::<UInt64Type>().value(i)),
        DataType::Float64 => Value::F64(column.as_primitive::<Float64Type>().value(i)),
        DataType::Boolean => Value::Bool(column.as_boolean().value(i)),
        DataType::Utf8 => Value::Text(column.as_string::<i32>().value(i).to_owned()),
        DataType::Dictionary(..) => {
            let column = column.as_dictionary::<Int32Type>();
            let key = column.keys().value(i) as usize;
            Value::Text(column.values().as_string::<i32>().value(key).to_owned())
        }
        _ => Value::Null,
    }
}
