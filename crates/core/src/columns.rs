//! The columns that decoders fill: slices in bulk, everything else row by row.
//!
//! Decoders number tracks, names and rows from 0 within one source. Numbers become ids that are
//! unique over several sources only where the tables are read.

/// Code of a missing string, and track of nothing.
pub const NONE: u32 = u32::MAX;

/// Value of a missing integer in a column that may miss some.
pub const MISSING: i64 = i64::MIN;

/// Slices in the order of the file, as parallel vectors of one length.
///
/// `name`, `category`, `op_name` and `op_type` are codes of the pools of the
/// [`crate::store::Writer`] (workers that decode in parallel intern locally and translate on commit).
/// Ids, depth, parent and self time are worked out by the writer.
#[derive(Debug, Default, Clone)]
pub struct SliceColumns {
    /// Track number.
    pub track: Vec<u32>,
    /// Code in the pool of names.
    pub name: Vec<u32>,
    /// Code in the pool of categories, or [`NONE`].
    pub category: Vec<u32>,
    /// Start in picoseconds from the origin.
    pub ts_ps: Vec<i64>,
    /// Duration in picoseconds, not negative.
    pub dur_ps: Vec<i64>,
    /// Code in the pool of op names, or [`NONE`].
    pub op_name: Vec<u32>,
    /// Code in the pool of op types, or [`NONE`].
    pub op_type: Vec<u32>,
    /// Correlation id, or [`MISSING`].
    pub correlation: Vec<i64>,
    /// Ends of the JSON texts in `args_json`; an empty text is NULL.
    pub args_end: Vec<u32>,
    /// The JSON texts, one after the other, valid UTF-8 and valid JSON objects; or stats, of a decoder
    /// that calls [`crate::store::Writer::keep_args`].
    pub args_json: Vec<u8>,
    /// Args that are in the file of the store already and not in `args_json`.
    pub(crate) placed: Vec<Placed>,
}

/// Args of successive slices that were written before the slices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    /// The first slice.
    pub row: usize,
    /// How many there are.
    pub rows: usize,
    /// Bytes of `args_json` that belong to slices before these.
    pub after: usize,
    /// Where the text begins.
    pub offset: u64,
    /// How long it is.
    pub bytes: usize,
    /// Its xxh3-64.
    pub hash: u64,
}

impl SliceColumns {
    /// Number of slices.
    pub fn len(&self) -> usize {
        self.ts_ps.len()
    }

    /// Empties all columns and keeps their memory.
    pub fn clear(&mut self) {
        self.track.clear();
        self.name.clear();
        self.category.clear();
        self.ts_ps.clear();
        self.dur_ps.clear();
        self.op_name.clear();
        self.op_type.clear();
        self.correlation.clear();
        self.args_end.clear();
        self.args_json.clear();
        self.placed.clear();
    }

    /// Where the args of a row begin in `args_json`.
    pub fn args_start(&self, row: usize) -> usize {
        row.checked_sub(1).and_then(|before| self.args_end.get(before)).map_or(0, |end| *end as usize)
    }

    /// Length of the args of a row, wherever they are.
    pub(crate) fn args_bytes(&self, row: usize) -> u32 {
        let end = self.args_end.get(row).copied().unwrap_or(0);
        end.saturating_sub(self.args_start(row) as u32)
    }

    /// The args of a row; empty when there are none.
    pub fn args(&self, row: usize) -> &[u8] {
        self.args_end.get(row).map_or(&[], |end| &self.args_json[self.args_start(row)..*end as usize])
    }

    /// Appends a row of others, whose args are in memory.
    pub fn push_row(&mut self, from: &SliceColumns, row: usize) {
        self.track.push(from.track[row]);
        self.name.push(from.name[row]);
        self.category.push(from.category[row]);
        self.ts_ps.push(from.ts_ps[row]);
        self.dur_ps.push(from.dur_ps[row]);
        self.op_name.push(from.op_name[row]);
        self.op_type.push(from.op_type[row]);
        self.correlation.push(from.correlation[row]);
        self.args_json.extend_from_slice(from.args(row));
        self.args_end.push(self.args_json.len() as u32);
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.ts_ps.is_empty()
    }
}

/// The tables that are filled row by row. Columns and their order: [`Table::columns`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Table {
    Device,
    Track,
    Instant,
    Counter,
    Flow,
    OpRun,
    Allocation,
    Tensor,
    Node,
    Edge,
    /// Slices that may mark steps; read by the step recovery, not kept in a lake.
    Marker,
}

/// How a column is held. Every column may miss values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Type {
    I64,
    F64,
    Text,
}

/// One value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum Cell<'a> {
    Null,
    I64(i64),
    U64(u64),
    F64(f64),
    Text(&'a str),
}

impl Table {
    /// Name of the table in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Table::Device => "device",
            Table::Track => "track",
            Table::Instant => "instant",
            Table::Counter => "counter",
            Table::Flow => "flow",
            Table::OpRun => "op_run",
            Table::Allocation => "allocation",
            Table::Tensor => "tensor",
            Table::Node => "node",
            Table::Edge => "edge",
            Table::Marker => "marker",
        }
    }

    /// Name and type of each column, as stored for one source. Columns named `id` are added by the
    /// writer (the row number). Numbers of other rows (`track_id`, `slice_id`, ...) count from 0.
    pub fn columns(self) -> &'static [(&'static str, Type)] {
        use Type::*;
        match self {
            Table::Device => &[("name", Text), ("kind", Text), ("args_json", Text)],
            // `process_origin` and `thread_origin` are the file's own ids as text.
            Table::Track => &[
                ("device_id", I64),
                ("kind", Text),
                ("records", Text),
                ("process", Text),
                ("name", Text),
                ("origin", Text),
                ("sort_index", I64),
            ],
            Table::Instant => &[
                ("track_id", I64),
                ("name", Text),
                ("category", Text),
                ("kind", Text),
                ("object_id", Text),
                ("ts_ps", I64),
                ("args_json", Text),
            ],
            Table::Counter => {
                &[("track_id", I64), ("name", Text), ("series", Text), ("ts_ps", I64), ("value", F64)]
            }
            Table::Flow => &[
                ("flow_id", I64),
                ("phase", Text),
                ("track_id", I64),
                ("slice_id", I64),
                ("name", Text),
                ("category", Text),
                ("ts_ps", I64),
                ("args_json", Text),
            ],
            Table::OpRun => &[
                ("slice_id", I64),
                ("device_id", I64),
                ("op_name", Text),
                ("op_type", Text),
                ("scheduled_ps", I64),
                ("start_ps", I64),
                ("op_start_ps", I64),
                ("op_end_ps", I64),
                ("end_ps", I64),
                ("label", Text),
                ("thread_id", I64),
                ("temp_bytes", I64),
                ("persistent_bytes", I64),
                ("requested_bytes", I64),
                ("peak_bytes", I64),
                ("live_bytes", I64),
                ("output_bytes", I64),
            ],
            Table::Allocation => &[
                ("op_run_id", I64),
                ("slice_id", I64),
                ("allocator", Text),
                ("ts_ps", I64),
                ("delta_bytes", I64),
                ("address", I64),
            ],
            Table::Tensor => &[
                ("op_run_id", I64),
                ("op_name", Text),
                ("slot", I64),
                ("dtype", Text),
                ("shape", Text),
                ("requested_bytes", I64),
                ("allocated_bytes", I64),
                ("allocator", Text),
                ("address", I64),
            ],
            Table::Node => {
                &[("graph", Text), ("name", Text), ("op_type", Text), ("device", Text), ("args_json", Text)]
            }
            Table::Edge => &[
                ("graph", Text),
                ("producer", Text),
                ("producer_slot", I64),
                ("consumer", Text),
                ("consumer_slot", I64),
            ],
            // `step` is the number the mark carries, if any.
            Table::Marker => &[
                ("track_id", I64),
                ("name", Text),
                ("ts_ps", I64),
                ("dur_ps", I64),
                ("step", I64),
                ("args_json", Text),
            ],
        }
    }
}
