//! Smallest and largest values of a chunk, by which readers leave out what they do not look for.

use super::Kind;

/// Longer texts get no bounds: nobody looks for a range of them.
const LONGEST: usize = 64;

/// What is known of the values of a chunk.
#[derive(Debug, Default)]
pub struct Statistics {
    /// Number of NULLs.
    pub nulls: usize,
    /// Smallest and largest value as Parquet's PLAIN encoding has them, a text without its length.
    pub bounds: Option<(Vec<u8>, Vec<u8>)>,
}

/// A value as PLAIN has it.
pub fn plain(kind: Kind, bits: u64) -> Vec<u8> {
    match kind {
        Kind::I32 => (bits as u32).to_le_bytes().to_vec(),
        Kind::Bool => vec![bits as u8],
        _ => bits.to_le_bytes().to_vec(),
    }
}

/// Statistics of numbers, given as their 64 bits.
pub fn numbers(kind: Kind, values: &[u64], nulls: usize) -> Statistics {
    let bounds = match kind {
        Kind::F64 => return floats(values, nulls),
        Kind::Bool | Kind::Text => {
            let fold =
                |(least, most): (u64, u64), value: &u64| (least.min(*value), most.max(*value));
            values.iter().fold((u64::MAX, u64::MIN), fold)
        }
        Kind::I64 | Kind::I32 => {
            let fold = |(least, most): (i64, i64), value: &u64| {
                (least.min(*value as i64), most.max(*value as i64))
            };
            let (least, most) = values.iter().fold((i64::MAX, i64::MIN), fold);
            (least as u64, most as u64)
        }
    };
    let (least, most) = bounds;
    Statistics {
        nulls,
        bounds: (!values.is_empty()).then(|| (plain(kind, least), plain(kind, most))),
    }
}

/// A chunk with a NaN has no bounds: engines do not agree on its order. The sign of zero is
/// such that both zeros lie within.
fn floats(values: &[u64], nulls: usize) -> Statistics {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values.iter().map(|bits| f64::from_bits(*bits)) {
        if value.is_nan() {
            return Statistics {
                nulls,
                bounds: None,
            };
        }
        least = least.min(value);
        most = most.max(value);
    }
    let zero = |value: f64, zero: f64| if value == 0.0 { zero } else { value };
    let bounds = (
        zero(least, -0.0).to_le_bytes().to_vec(),
        zero(most, 0.0).to_le_bytes().to_vec(),
    );
    Statistics {
        nulls,
        bounds: (!values.is_empty()).then_some(bounds),
    }
}

/// Statistics of texts.
pub fn texts<'a>(values: impl Iterator<Item = &'a [u8]>, nulls: usize) -> Statistics {
    let mut bounds: Option<(&[u8], &[u8])> = None;
    for value in values {
        let (least, most) = bounds.get_or_insert((value, value));
        if value < *least {
            *least = value;
        } else if value > *most {
            *most = value;
        }
    }
    Statistics {
        nulls,
        bounds: bounds
            .filter(|(least, most)| least.len() <= LONGEST && most.len() <= LONGEST)
            .map(|(least, most)| (least.to_vec(), most.to_vec())),
    }
}
