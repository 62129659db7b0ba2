//! Takes what one decoder gives and makes a store of it.

use crate::columns::{Cell, MISSING, SliceColumns, Table};
use crate::error::Result;
use crate::facts::{Effect, Facts};
use crate::options::Options;
use crate::store::Store;
use crate::store::account::{self, Claim};
use crate::store::flows::Flows;
use crate::store::heap::Heap;
use crate::store::lazy_text::{self, Lazy, Named};
use crate::store::part::{Field, Part, Shape};
use crate::store::pool::Pool;
use crate::store::rows::{self, Rows};
use crate::store::slices::{self, Slices};
use crate::store::sorted_runs::Runs;
use crate::store::table::write_texts;
use crate::store::worker::Stage;
use std::sync::Arc;

/// Place of `slice_id` among the cells of a flow; `phase`, `track_id` and `ts_ps` are beside it.
const FLOW_SLICE: usize = 3;

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
    tables: Vec<(Table, Rows)>,
    skipped: Vec<(Table, i64)>,
    heap: Option<Arc<Heap>>,
    slices: Option<Stage<Slices>>,
    ordered_rows: i64,
    runs: Option<Stage<Runs>>,
    flows: Flows,
    claims: Vec<Claim>,
    arg_names: Option<lazy_text::Names>,
}

impl Writer {
    /// A writer of nothing yet; makes the folder if there is none.
    pub fn new(options: &Options) -> Result<Writer> {
        if let Some(folder) = &options.folder {
            std::fs::create_dir_all(folder)?;
        }
        let mut options = options.clone();
        options.needs.nesting &= options.keep;
        Ok(Writer {
            names: Pool::new(),
            categories: Pool::new(),
            op_names: Pool::new(),
            op_types: Pool::new(),
            facts: Facts::default(),
            options,
            tables: Vec::new(),
            skipped: Vec::new(),
            heap: None,
            slices: None,
            ordered_rows: 0,
            runs: None,
            flows: Flows::default(),
            claims: Vec::new(),
            arg_names: None,
        })
    }

    /// From here on args of slices come as bytes whose text `lazy` writes, with these names for the tracks
    /// from `first_track` up to that of the next call. The first call comes before any slice.
    pub fn keep_args(&mut self, lazy: Lazy, first_track: u32, names: &[Named]) -> Result<()> {
        let all = match &mut self.arg_names {
            Some(all) => all,
            None => {
                let folder = self.options.folder.as_deref();
                self.arg_names.insert(lazy_text::Names::new(folder, lazy)?)
            }
        };
        all.push(first_track, names)
    }

    /// How the args of slices come.
    fn args_shape(&self) -> Shape {
        match self.arg_names {
            Some(_) => Shape::Lazy,
            None => Shape::Text,
        }
    }

    fn start(&mut self) -> Result<Stage<Slices>> {
        let args = self.args_shape();
        if !self.options.keep {
            return slices::discard(args);
        }
        slices::start(self.heap()?, self.options.needs, args)
    }

    /// Adds a row; `cells` are in the order of [`Table::columns`]. Returns the row number. A flow
    /// without a slice is tied to the slice at its time on its track in the end. What the options
    /// do not need is counted but not kept.
    pub fn row(&mut self, table: Table, cells: &[Cell<'_>]) -> Result<i64> {
        self.put(table, cells, None)
    }

    /// Adds a flow of a slice whose row number is not known yet: `slice` is that of its begin and duration on the
    /// flow's track.
    pub fn flow_of(&mut self, cells: &[Cell<'_>], slice: (i64, i64)) -> Result<i64> {
        self.put(Table::Flow, cells, Some(slice))
    }

    fn put(&mut self, table: Table, cells: &[Cell<'_>], tied: Option<(i64, i64)>) -> Result<i64> {
        if !self.options.needs.tables && !matches!(table, Table::Device | Table::Track) {
            let place = match self.skipped.iter().position(|(there, _)| *there == table) {
                Some(place) => place,
                None => {
                    self.skipped.push((table, 0));
                    self.skipped.len() - 1
                }
            };
            self.skipped[place].1 += 1;
            return Ok(self.skipped[place].1 - 1);
        }
        let place = match self.tables.iter().position(|(there, _)| *there == table) {
            Some(place) => place,
            None => {
                let fields =
                    table.columns().iter().map(|(name, kind)| Field::new(name, rows::shape(*kind))).collect();
                let rows = Rows::new(self.options.folder.as_deref(), table.name(), fields)?;
                self.tables.push((table, rows));
                self.tables.len() - 1
            }
        };
        if table == Table::Flow
            && let [_, Cell::Text(phase), Cell::I64(track), slice, _, _, Cell::I64(ts_ps), _] = cells
        {
            let slice_id = if let Cell::I64(slice) = slice { Some(*slice) } else { None };
            match tied {
                Some((ts_ps, dur_ps)) => self.flows.push_tied(*track as u32, ts_ps, dur_ps),
                None => self.flows.push(*track as u32, *ts_ps, *phase == "start", slice_id),
            }
            let mut cells: [Cell<'_>; 8] = std::array::from_fn(|i| cells[i]);
            // Kept in a part of its own, which is written when all slices are known.
            cells[FLOW_SLICE] = Cell::Null;
            return self.tables[place].1.push(&cells);
        }
        self.tables[place].1.push(cells)
    }

    /// Adds slices whose tracks come one after the other, each in nesting order (start ascending,
    /// duration descending, order of the file). A track may go on in the next piece. Returns the
    /// number of the first row.
    pub fn push_ordered(&mut self, piece: SliceColumns) -> Result<i64> {
        let first = self.ordered_rows;
        self.ordered_rows += piece.len() as i64;
        self.thread()?.push(piece)?;
        Ok(first)
    }

    /// Adds slices in any order. Their row numbers are known only in the finished store.
    pub fn push_unordered(&mut self, piece: SliceColumns) -> Result<()> {
        if !self.options.needs.nesting {
            return self.thread()?.push(piece);
        }
        let runs = match self.runs.take() {
            Some(runs) => runs,
            None => {
                let heap = self.heap()?.filter(|_| self.options.needs.args);
                let (options, args) = (&self.options, self.args_shape());
                Runs::start(options.folder.clone(), heap, args, options.memory_bytes)?
            }
        };
        self.runs.insert(runs).push(piece)
    }

    /// An empty piece to fill. Its memory was used before, which makes it cheaper than a new one.
    pub fn spare(&mut self) -> SliceColumns {
        let runs = self.runs.as_ref().map(Stage::spare);
        runs.or_else(|| self.slices.as_ref().map(Stage::spare)).unwrap_or_default()
    }

    fn thread(&mut self) -> Result<&mut Stage<Slices>> {
        let thread = match self.slices.take() {
            Some(thread) => thread,
            None => self.start()?,
        };
        Ok(self.slices.insert(thread))
    }

    /// The file of the slices; none when they stay in memory.
    pub(crate) fn heap(&mut self) -> Result<Option<Arc<Heap>>> {
        if let (None, Some(folder)) = (&self.heap, &self.options.folder) {
            self.heap = Some(Arc::new(Heap::create(folder.join("slice.columns"))?));
        }
        Ok(self.heap.clone())
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
        self.facts.note(slug, effect, events, first_offset, detail.into());
    }

    /// Says in which table so many of `events_stored` are, and how many rows they gave. A decoder that says so of
    /// one table does of all: what is in none is then counted as lost, and noted.
    pub fn claim(&mut self, table: &'static str, events: u64, rows: u64) {
        self.claims.push(Claim { table, events, rows });
    }

    /// Fails with [`Kind::Interrupted`] when the caller wants to stop; call it once per chunk.
    pub fn check(&self) -> Result<()> {
        self.options.check()
    }

    /// Sorts, nests, ties flows to slices, and closes the tables.
    pub fn finish(self) -> Result<Store> {
        self.finish_with(|_| Ok(()))
    }

    /// [`Writer::finish`]; `complete` adds last what is known only when all is decoded.
    pub(crate) fn finish_with(mut self, complete: impl FnOnce(&mut Facts) -> Result<()>) -> Result<Store> {
        let folder = self.options.folder.clone();
        let folder = folder.as_deref();
        let mut thread = match self.slices.take() {
            Some(thread) => thread,
            None => self.start()?,
        };
        let options = &self.options;
        if let Some(runs) = self.runs.take() {
            runs.finish(|| options.check())?.merge(|piece| {
                options.check()?;
                thread.push(piece)?;
                Ok(thread.spare())
            })?;
        }
        let slices = thread.finish(|| options.check())?;
        if let Some((start_ps, end_ps)) = slices.bounds_ps {
            self.facts.cover(start_ps, end_ps);
            self.facts.slices_ps = Some((start_ps, end_ps));
        }
        if slices.args_too_long > 0 {
            let detail = "args of more than 2 GiB of text are left out";
            self.facts.note("args-too-long", Effect::Repaired, slices.args_too_long, None, detail.to_owned());
        }
        let mut tables: Vec<(String, Vec<Arc<Part>>)> = Vec::new();
        for (table, rows) in std::mem::take(&mut self.tables) {
            let mut parts = vec![Arc::new(rows.finish()?)];
            if table == Table::Flow {
                if self.options.needs.nesting {
                    self.flows.bind(&slices.part)?;
                }
                let zipped = zip(folder, "flow.slice_id", "slice_id", &parts[0], &self.flows.slice_id)?;
                parts.push(Arc::new(zipped));
            }
            tables.push((table.name().to_owned(), parts));
        }
        tables.push(("slice".to_owned(), vec![Arc::new(slices.part)]));
        let pools = [
            ("name", &self.names),
            ("category", &self.categories),
            ("op_name", &self.op_names),
            ("op_type", &self.op_types),
        ];
        for (column, pool) in pools {
            let name = format!("slice.{column}");
            let texts = write_texts(folder, &name, column, pool)?;
            tables.push((name, vec![Arc::new(texts)]));
        }
        let mut lazy = Vec::new();
        if let Some(names) = self.arg_names {
            lazy.push(names.lazy);
            let names = Arc::new(names.finish()?);
            tables.push((lazy_text::TABLE.to_owned(), vec![names]));
        }
        if self.options.keep && !self.claims.is_empty() {
            let skipped = std::mem::take(&mut self.skipped);
            account::settle(&mut self.facts, &self.claims, |name| {
                let kept = tables.iter().find(|(table, _)| table == name);
                let kept = kept.map_or(0, |(_, parts)| parts[0].rows());
                let left = skipped.iter().find(|(table, _)| table.name() == name);
                kept + left.map_or(0, |(_, rows)| *rows as u64)
            });
        }
        complete(&mut self.facts)?;
        Store::new(folder, self.facts, tables, &lazy)
    }
}

/// A part with one int64 column beside another part, batch by batch of the same length.
fn zip(
    folder: Option<&std::path::Path>,
    name: &str,
    column: &str,
    beside: &Part,
    values: &[i64],
) -> Result<Part> {
    let mut rows = Rows::new(folder, name, vec![Field::new(column, Shape::I64)])?;
    let mut values = values.iter();
    for batch in &beside.batches {
        for value in values.by_ref().take(batch.rows) {
            rows.push(&[if *value == MISSING { Cell::Null } else { Cell::I64(*value) }])?;
        }
        rows.flush()?;
    }
    rows.finish()
}
