//! What slices are called, and the self time of ops: their own, and that of slices within them that are neither ops
//! nor waits. An op that runs its loop in a slice called `ParallelFor` does not lose its time to it.

use super::pass::Label;
use crate::error::Result;
use crate::store::bits::some;
use crate::store::part::{Field, Shape};
use crate::store::part_writer::{Column, PartWriter};
use arrow_buffer::ToByteSlice;
use std::collections::VecDeque;

/// Stands for NULL: the op has its own time only, or the slice is no op.
const NONE: i64 = i64::MIN;

/// The columns that [`Own`] fills.
pub fn fields() -> Vec<Field> {
    vec![Field::new("op_self_ps", Shape::I64), Field::new("rollup_id", Shape::I32)]
}

/// An op that is open.
#[derive(Clone, Copy)]
struct Op {
    row: u64,
    label: u32,
    own_ps: i64,
}

/// The ops that are open, and the columns that are being filled. Slices come track by track, parents first.
#[derive(Default)]
pub struct Own {
    track: Option<i32>,
    /// For each open slice, by depth: the op that time in it belongs to.
    open: Vec<Option<Op>>,
    /// First row that is not written.
    from: u64,
    values: VecDeque<i64>,
    /// Labels of the same rows.
    labels: VecDeque<i32>,
    /// Rows of the batches that are not written.
    batches: VecDeque<usize>,
}

impl Own {
    /// Takes the next slice: where it lies, its self time and its label. An op holds its time itself, and that of
    /// what lies within it; a wait keeps its own.
    pub fn take(&mut self, track: i32, depth: i32, own_ps: i64, number: u32, labels: &mut [Label]) {
        if self.track != Some(track) {
            self.track = Some(track);
            self.open.clear();
        }
        self.open.truncate(usize::try_from(depth).unwrap_or(0));
        let around = self.open.last().copied().flatten();
        let row = self.from + self.values.len() as u64;
        self.values.push_back(NONE);
        self.labels.push_back(number as i32);
        let class = labels[number as usize].class;
        if class.is_op {
            let label = number;
            self.open.push(Some(Op { row, label, own_ps }));
            return;
        }
        self.open.push(around);
        if let Some(op) = around
            && class.wait.is_none()
            && own_ps > 0
        {
            labels[op.label as usize].lent_ps += i128::from(own_ps);
            let value = &mut self.values[(op.row - self.from) as usize];
            let before = if *value == NONE { op.own_ps } else { *value };
            *value = before.saturating_add(own_ps);
        }
    }

    /// A batch of the table has ended; writes all batches in which no op can change any more.
    pub fn batch(&mut self, rows: usize, columns: &mut PartWriter) -> Result<()> {
        self.batches.push_back(rows);
        let open = self.open.iter().flatten().map(|op| op.row).min();
        let until = open.unwrap_or(self.from + self.values.len() as u64);
        while let Some(rows) = self.batches.front().copied()
            && self.from + rows as u64 <= until
        {
            self.write(rows, columns)?;
        }
        Ok(())
    }

    /// Writes the rest.
    pub fn finish(&mut self, columns: &mut PartWriter) -> Result<()> {
        self.open.clear();
        while let Some(rows) = self.batches.front().copied() {
            self.write(rows, columns)?;
        }
        Ok(())
    }

    fn write(&mut self, rows: usize, columns: &mut PartWriter) -> Result<()> {
        self.batches.pop_front();
        let values: Vec<i64> = self.values.drain(..rows).collect();
        self.from += rows as u64;
        let labels: Vec<i32> = self.labels.drain(..rows).collect();
        let labels = Column::Fixed { valid: None, values: labels.to_byte_slice() };
        columns.write(rows, &[some(&values, NONE, &mut Vec::new()), labels])
    }
}
