//! A piece of a line: what its slices share, and what comes out of it.

use super::tally::Tally;
use crate::columns::SliceColumns;

/// What the events of one line share.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub track: u32,
    /// Start of the line from the origin; None when it is out of range.
    pub base_ps: Option<i64>,
    pub category: u32,
    /// True on rows of accelerators, where `tf_op` names the op that runs.
    pub device: bool,
    /// True where function calls belong to tf.data, not to the program's loop.
    pub background: bool,
    /// True where each slice is a step of an accelerator, or a run of a whole program.
    pub delimits: bool,
}

/// One end of an arrow between threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub row: u32,
    pub produces: bool,
    pub kind: u64,
    pub id: u64,
}

/// A slice that may mark a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub row: u32,
    pub step: Option<i64>,
    pub args_json: Vec<u8>,
}

/// A slice whose op is known from its stats. Texts are slots of [`StatNames`], and from their number on
/// texts of the piece; [`NONE`] for no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpText {
    pub row: u32,
    /// `hlo_op`, or `tf_op` when `tf` is set.
    pub text: u32,
    pub category: u32,
    pub tf: bool,
}

/// The slices of a piece and what goes with them.
#[derive(Debug, Default)]
pub struct Piece {
    pub columns: SliceColumns,
    pub links: Vec<Link>,
    pub marks: Vec<Mark>,
    pub ops: Vec<OpText>,
    pub texts: Vec<String>,
    /// Rows of a kind that has no name, with its id.
    pub unnamed: Vec<(u32, u64)>,
    pub tally: Tally,
    /// Slices of an ordered line that do not lie where the first pass saw them: their events have
    /// more than one offset, of which the last counts. They go on a track of their own.
    pub aside: Vec<Piece>,
}

/// True when the slices lie by start, the longer first.
pub fn in_nesting_order(columns: &SliceColumns) -> bool {
    let (ts, dur) = (columns.ts_ps.as_slice(), columns.dur_ps.as_slice());
    let (Some(mut last_ts), Some(mut last_dur)) = (ts.first().copied(), dur.first().copied()) else {
        return true;
    };
    for (&ts, &dur) in ts.iter().zip(dur) {
        if ts < last_ts || (ts == last_ts && dur > last_dur) {
            return false;
        }
        (last_ts, last_dur) = (ts, dur);
    }
    true
}

/// Puts slices that begin together in nesting order: the longer first.
#[cold]
pub fn reorder(piece: &mut Piece) {
    let old = &piece.columns;
    let mut order: Vec<u32> = (0..old.len() as u32).collect();
    order.sort_by_key(|&row| (old.ts_ps[row as usize], std::cmp::Reverse(old.dur_ps[row as usize])));
    let mut new = SliceColumns::default();
    let mut place = vec![0; order.len()];
    for (index, &row) in order.iter().enumerate() {
        let row = row as usize;
        place[row] = index as u32;
        new.push_row(old, row);
    }
    piece.columns = new;
    piece.links.iter_mut().for_each(|link| link.row = place[link.row as usize]);
    piece.marks.iter_mut().for_each(|mark| mark.row = place[mark.row as usize]);
    piece.ops.iter_mut().for_each(|op| op.row = place[op.row as usize]);
    piece.unnamed.iter_mut().for_each(|unnamed| unnamed.0 = place[unnamed.0 as usize]);
    piece.links.sort_by_key(|link| link.row);
    piece.marks.sort_by_key(|mark| mark.row);
}
