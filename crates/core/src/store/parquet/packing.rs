//! Numbers in few bits: Parquet's RLE and bit-packed hybrid, and DELTA_BINARY_PACKED
//! (https://parquet.apache.org/docs/file-format/data-pages/encodings/).

use super::thrift::{varint, zigzag};

/// Values of a block of deltas, which has one smallest delta.
const BLOCK: usize = 128;
/// Values of a miniblock, which has one width.
const MINI: usize = 32;

/// Bits that hold a number.
pub fn width(most: u64) -> u32 {
    u64::BITS - most.leading_zeros()
}

/// Appends numbers of `width` bits each, lowest bit first; the last byte is filled with zeros.
fn pack(out: &mut Vec<u8>, values: impl Iterator<Item = u64>, width: u32) {
    let mut bits: u128 = 0;
    let mut held = 0;
    for value in values {
        bits |= u128::from(value) << held;
        held += width;
        if held >= 64 {
            out.extend_from_slice(&(bits as u64).to_le_bytes());
            bits >>= 64;
            held -= 64;
        }
    }
    let rest = held.div_ceil(8) as usize;
    out.extend_from_slice(&(bits as u64).to_le_bytes()[..rest]);
}

/// A run of equal numbers of the hybrid.
pub fn run(out: &mut Vec<u8>, rows: usize, value: u32, width: u32) {
    if rows > 0 {
        varint(out, (rows as u64) << 1);
        out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
    }
}

/// Numbers as the hybrid: runs of 8 and more equal ones as such, the others packed in groups of 8.
pub fn hybrid(out: &mut Vec<u8>, values: &[u32], width: u32) {
    let mut packed = 0;
    let mut at = 0;
    let flush = |out: &mut Vec<u8>, from: usize, to: usize| {
        if to > from {
            let groups = (to - from).div_ceil(8);
            varint(out, (groups as u64) << 1 | 1);
            let end = out.len() + groups * width as usize;
            pack(out, values[from..to].iter().map(|v| u64::from(*v)), width);
            out.resize(end, 0);
        }
    };
    while at < values.len() {
        let first = values[at];
        let group = &values[at..values.len().min(at + 8)];
        if group.len() == 8 && group.iter().all(|value| *value == first) {
            let equal = values[at..].iter().take_while(|value| **value == first);
            let rows = equal.count();
            flush(out, packed, at);
            run(out, rows, first, width);
            at += rows;
            packed = at;
        } else {
            at += group.len();
        }
    }
    flush(out, packed, at);
}

/// Bits as the hybrid of width 1. `bits` are the bits from the first row on, lowest first.
pub fn bits(out: &mut Vec<u8>, bits: &[u8], rows: usize) {
    let groups = rows.div_ceil(8);
    varint(out, (groups as u64) << 1 | 1);
    out.extend_from_slice(&bits[..groups]);
    // What lies behind the last row is nobody's.
    if let (Some(last), spare @ 1..) = (out.last_mut(), groups * 8 - rows) {
        *last &= 0xff >> spare;
    }
}

/// Numbers as DELTA_BINARY_PACKED; `narrow` when they are of 32 bits.
pub fn deltas(out: &mut Vec<u8>, values: &[i64], narrow: bool) {
    varint(out, BLOCK as u64);
    varint(out, (BLOCK / MINI) as u64);
    varint(out, values.len() as u64);
    varint(out, zigzag(values.first().copied().unwrap_or(0)));
    let mut before = values.first().copied().unwrap_or(0);
    let mut block = [0_i64; BLOCK];
    for values in values.get(1..).unwrap_or_default().chunks(BLOCK) {
        for (delta, value) in block.iter_mut().zip(values) {
            // Differences that overflow wrap, and wrap back when they are added up.
            let wide = value.wrapping_sub(before);
            *delta = if narrow { i64::from(wide as i32) } else { wide };
            before = *value;
        }
        let block = &mut block[..values.len()];
        let least = block.iter().copied().min().unwrap_or(0);
        varint(out, zigzag(least));
        for delta in block.iter_mut() {
            let above = delta.wrapping_sub(least);
            *delta = if narrow {
                i64::from(above as u32)
            } else {
                above
            };
        }
        let mut widths = [0_u8; BLOCK / MINI];
        for (place, mini) in widths.iter_mut().zip(block.chunks(MINI)) {
            *place = width(mini.iter().fold(0, |all, delta| all | *delta as u64)) as u8;
        }
        out.extend_from_slice(&widths);
        for (width, mini) in widths.iter().zip(block.chunks(MINI)) {
            let end = out.len() + MINI / 8 * usize::from(*width);
            let mini = mini.iter().map(|delta| *delta as u64);
            pack(out, mini, u32::from(*width));
            out.resize(end, 0);
        }
    }
}
