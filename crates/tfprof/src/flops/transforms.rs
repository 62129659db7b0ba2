//! Fourier transforms, by the convention of FFTW's benchmarks: 5 N log2 N for a complex transform of N points,
//! half of it where one side is real. The rounding is to the nearest number.

use super::{Op, elements};

/// Whether [`count`] knows the op.
pub fn has_formula(name: &str) -> bool {
    kind(name).is_some()
}

enum Real {
    Neither,
    Input,
    Output,
}

/// Which side is real, and how many of the last dimensions are transformed; None for those that an input lists.
fn kind(name: &str) -> Option<(Real, Option<usize>)> {
    let dims = |rest: &str| match rest {
        "" => Some(Some(1)),
        "2D" => Some(Some(2)),
        "3D" => Some(Some(3)),
        "ND" => Some(None),
        _ => None,
    };
    for (prefix, real) in [
        ("IRFFT", Real::Output),
        ("RFFT", Real::Input),
        ("IFFT", Real::Neither),
        ("FFT", Real::Neither),
    ] {
        if let Some(rest) = name.strip_prefix(prefix) {
            return Some((real, dims(rest)?));
        }
    }
    None
}

/// The operations of one run.
pub fn count(op: &Op<'_>) -> Option<i128> {
    let (real, last) = kind(op.name)?;
    let output = op.output?;
    let rank = output.len();
    let axes: Vec<usize> = match last {
        Some(last) => (rank.checked_sub(last)?..rank).collect(),
        None => {
            let axis = |axis: &i64| usize::try_from(axis + if *axis < 0 { rank as i64 } else { 0 });
            let axes: Result<Vec<usize>, _> = op.constant(2)?.iter().map(axis).collect();
            axes.ok()?
        }
    };
    let mut shape = output.to_vec();
    if let Real::Input = real {
        // A real side of n points has n / 2 + 1 of the complex one, which does not show whether n is odd.
        let halved = *axes.last()?;
        let complex = *output.get(halved)?;
        let length = op
            .constant(1)
            .and_then(|length| length.last().copied())
            .or_else(|| op.shape(0)?.get(halved).copied())
            .filter(|length| length / 2 + 1 == complex);
        shape[halved] = length.unwrap_or(2 * (complex - 1).max(0));
    }
    let mut points = 1i128;
    for axis in axes {
        points = points.checked_mul(i128::from(*shape.get(axis)?))?;
    }
    let each = match real {
        Real::Neither => 5.0,
        Real::Input | Real::Output => 2.5,
    };
    Some((each * elements(&shape) as f64 * (points.max(1) as f64).log2()).round() as i128)
}
