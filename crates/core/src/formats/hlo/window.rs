//! How many products a convolution really has: positions of kernel and output that meet an element of the input,
//! and neither padding nor the holes of a dilation.

use super::model::{Instruction, More, WindowDim};
use super::shape::Shape;

/// Steps that are taken to count the positions of one dimension.
const MOST: i64 = 1 << 22;

/// Floating-point operations of a convolution: two for each product. None where a hostile shape makes counting
/// take too long.
pub fn flops(one: &Instruction, more: &More, input: &Shape, kernel: &Shape) -> Option<f64> {
    let dims = more.convolution.as_ref()?;
    let [input_dims, kernel_dims, output_dims] = &dims.spatial;
    let out = one.shape.first();
    let mut products = 1.0;
    for (at, &output_dim) in output_dims.iter().enumerate() {
        let size = |shape: &Shape, which: &[i64]| which.get(at).map_or(1.0, |&dim| shape.dim(dim)) as i64;
        let window = more.window.get(at).copied().unwrap_or_default();
        products *= positions(
            size(kernel, kernel_dims),
            out.dim(output_dim) as i64,
            size(input, input_dims),
            window,
        )?;
    }
    let (features, batches) = (more.groups.0.max(1), more.groups.1.max(1));
    let share = |size: f64, groups: i64| (size / groups as f64).floor();
    let inputs = share(input.dim(dims.input.1), features);
    let batch = share(input.dim(dims.input.0), batches);
    Some(2.0 * inputs * out.dim(dims.output_feature) * batch * products)
}

/// Pairs (k, o) with k below `kernel` and o below `output` for which `o·stride + k·dilation − padding` is a place in
/// the input of `input` elements, each `base_dilation` apart.
fn positions(kernel: i64, output: i64, input: i64, window: WindowDim) -> Option<f64> {
    let base = i128::from(window.base_dilation.max(1));
    let (low, stride) = (i128::from(window.padding.0), i128::from(window.stride));
    let dilation = i128::from(window.dilation);
    // Go through the shorter of the two, and count the longer by arithmetic.
    let (short, short_step, long, long_step) = if kernel <= output {
        (kernel, dilation, output, stride)
    } else {
        (output, stride, kernel, dilation)
    };
    if short > MOST {
        return None;
    }
    let highest = base * (i128::from(input) - 1);
    let mut count = 0_i128;
    for at in 0..i128::from(short) {
        count += hits(at * short_step - low, long_step, i128::from(long), base, highest);
    }
    Some(count as f64)
}

/// How many x in 0..n make `start + x·step` a multiple of `base` between 0 and `highest`.
fn hits(start: i128, step: i128, n: i128, base: i128, highest: i128) -> i128 {
    if n <= 0 || highest < 0 {
        return 0;
    }
    if step <= 0 {
        let inside = start.rem_euclid(base) == 0 && (0..=highest).contains(&start);
        return if inside && step == 0 { n } else { i128::from(inside) };
    }
    let (divisor, inverse) = extended(step.rem_euclid(base), base);
    let wanted = (-start).rem_euclid(base);
    if wanted % divisor != 0 {
        return 0;
    }
    let period = base / divisor;
    let first = (wanted / divisor * inverse).rem_euclid(period);
    let ceil = |a: i128, b: i128| a.div_euclid(b) + i128::from(a.rem_euclid(b) != 0);
    let low = ceil(-start, step).max(0);
    let high = (highest - start).div_euclid(step).min(n - 1);
    if high < low {
        return 0;
    }
    // Numbers congruent to `first` in low..=high.
    (high - first).div_euclid(period) - (low - 1 - first).div_euclid(period)
}

/// The greatest common divisor of `a` and `base`, and a number that times `a / divisor` leaves 1 modulo
/// `base / divisor`.
fn extended(a: i128, base: i128) -> (i128, i128) {
    let (mut old, mut now) = ((a, 1_i128), (base, 0_i128));
    while now.0 != 0 {
        let times = old.0 / now.0;
        (old, now) = (now, (old.0 - times * now.0, old.1 - times * now.1));
    }
    (old.0.max(1), old.1.rem_euclid((base / old.0.max(1)).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one_by_one(kernel: i64, output: i64, input: i64, window: WindowDim) -> i64 {
        let mut count = 0;
        for k in 0..kernel {
            for o in 0..output {
                let at = o * window.stride + k * window.dilation - window.padding.0;
                let inside = at >= 0 && at % window.base_dilation == 0;
                count += i64::from(inside && at / window.base_dilation < input);
            }
        }
        count
    }

    proptest! {
        #[test]
        fn counting_by_arithmetic_is_counting(
            kernel in 0_i64..9, output in 0_i64..20, input in 0_i64..20, stride in 1_i64..5,
            low in -3_i64..9, dilation in 1_i64..5, base_dilation in 1_i64..7,
        ) {
            let window = WindowDim { stride, padding: (low, 0), dilation, base_dilation, ..WindowDim::default() };
            let counted = positions(kernel, output, input, window);
            prop_assert_eq!(counted, Some(one_by_one(kernel, output, input, window) as f64));
        }
    }

    #[test]
    fn no_size_takes_long() {
        let window = WindowDim { stride: 3, base_dilation: 2, ..WindowDim::default() };
        assert!(positions(7, i64::MAX, i64::MAX, window).is_some());
        assert!(positions(i64::MAX, i64::MAX, 5, window).is_none());
    }
}
