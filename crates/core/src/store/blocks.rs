//! The blocks in which sorted slices are spilled to disk and read back.

use crate::columns::{MISSING, NONE, SliceColumns};

/// Which of the columns that may be empty hold something: category, op name, op type, correlation.
#[derive(Clone, Copy)]
pub struct Held([bool; 4]);

impl Held {
    /// Which columns of a piece hold something.
    pub fn of(piece: &SliceColumns) -> Held {
        let codes = |codes: &[u32]| codes.iter().any(|code| *code != NONE);
        Held([
            codes(&piece.category),
            codes(&piece.op_name),
            codes(&piece.op_type),
            piece.correlation.iter().any(|id| *id != MISSING),
        ])
    }

    /// Bytes of so many rows, without args.
    pub fn bytes(self, rows: usize) -> usize {
        let codes = self.0[..3].iter().filter(|held| **held).count();
        rows * (28 + 4 * codes + 8 * usize::from(self.0[3]))
    }
}

/// Appends rows as a block: the columns that hold something one after the other, then the args.
pub fn encode(
    bytes: &mut Vec<u8>,
    piece: &SliceColumns,
    held: Held,
    rows: impl ExactSizeIterator<Item = usize> + Clone,
) {
    fn column<const N: usize>(
        bytes: &mut Vec<u8>,
        rows: impl ExactSizeIterator<Item = usize>,
        value: impl Fn(usize) -> [u8; N],
    ) {
        let start = bytes.len();
        bytes.resize(start + rows.len() * N, 0);
        let (places, _) = bytes[start..].as_chunks_mut::<N>();
        places.iter_mut().zip(rows).for_each(|(place, row)| *place = value(row));
    }
    let codes = [&piece.category, &piece.op_name, &piece.op_type];
    column(bytes, rows.clone(), |row| piece.track[row].to_le_bytes());
    column(bytes, rows.clone(), |row| piece.name[row].to_le_bytes());
    for (codes, _) in codes.iter().zip(held.0).filter(|(_, held)| *held) {
        column(bytes, rows.clone(), |row| codes[row].to_le_bytes());
    }
    column(bytes, rows.clone(), |row| piece.ts_ps[row].to_le_bytes());
    column(bytes, rows.clone(), |row| piece.dur_ps[row].to_le_bytes());
    if held.0[3] {
        column(bytes, rows.clone(), |row| piece.correlation[row].to_le_bytes());
    }
    // The lengths of the args are written in place of their ends: the reader adds them up.
    column(bytes, rows.clone(), |row| piece.args_bytes(row).to_le_bytes());
    // What was written before is not written again.
    if !piece.args_json.is_empty() {
        rows.for_each(|row| bytes.extend_from_slice(piece.args(row)));
    }
}

/// Reads the columns that [`encode`] wrote; the args come apart from them.
pub fn decode(piece: &mut SliceColumns, bytes: &[u8], held: Held, rows: usize) {
    fn narrow<'a>(out: &mut Vec<u32>, bytes: &'a [u8], rows: usize) -> &'a [u8] {
        let (here, rest) = bytes.split_at(rows * 4);
        out.extend(here.as_chunks().0.iter().map(|chunk| u32::from_le_bytes(*chunk)));
        rest
    }
    fn wide<'a>(out: &mut Vec<i64>, bytes: &'a [u8], rows: usize) -> &'a [u8] {
        let (here, rest) = bytes.split_at(rows * 8);
        out.extend(here.as_chunks().0.iter().map(|chunk| i64::from_le_bytes(*chunk)));
        rest
    }
    piece.clear();
    let rest = narrow(&mut piece.track, bytes, rows);
    let mut rest = narrow(&mut piece.name, rest, rows);
    let codes = [&mut piece.category, &mut piece.op_name, &mut piece.op_type];
    for (codes, held) in codes.into_iter().zip(held.0) {
        if held {
            rest = narrow(codes, rest, rows);
        } else {
            codes.resize(rows, NONE);
        }
    }
    let rest = wide(&mut piece.ts_ps, rest, rows);
    let mut rest = wide(&mut piece.dur_ps, rest, rows);
    if held.0[3] {
        rest = wide(&mut piece.correlation, rest, rows);
    } else {
        piece.correlation.resize(rows, MISSING);
    }
    narrow(&mut piece.args_end, rest, rows);
    let mut end = 0;
    for length in &mut piece.args_end {
        end += *length;
        *length = end;
    }
}
