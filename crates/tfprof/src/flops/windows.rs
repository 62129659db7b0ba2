//! Pooling: so many for each element under a window.

use super::{Op, factors};

/// Whether [`count`] knows the op.
pub fn has_formula(name: &str) -> bool {
    matches!(
        name,
        "AvgPool"
            | "AvgPool3D"
            | "QuantizedAvgPool"
            | "MaxPool"
            | "MaxPoolV2"
            | "MaxPool3D"
            | "MaxPoolWithArgmax"
            | "QuantizedMaxPool"
            | "_QuantizedMaxPool3D"
            | "RiscPool"
            | "AvgPoolGrad"
            | "AvgPool3DGrad"
            | "MaxPoolGrad"
            | "MaxPoolGradV2"
            | "MaxPool3DGrad"
            | "MaxPoolGradGrad"
            | "MaxPoolGradGradV2"
            | "MaxPool3DGradGrad"
            | "MaxPoolGradWithArgmax"
    )
}

/// The operations of one run; TensorFlow's numbers for AvgPool, MaxPool and their gradients.
pub fn count(op: &Op<'_>) -> Option<i128> {
    // The window is an attribute, or an input that a constant gives.
    let window = |input| match op.name.ends_with("V2") {
        true => Some(factors(op.constant(input)?.to_vec())),
        false => Some(factors(op.attributes.ints("ksize"))),
    };
    match op.name {
        "AvgPoolGrad" | "AvgPool3DGrad" => Some(window(2)? * op.input(1)? * 2),
        "MaxPoolGrad" | "MaxPoolGradV2" | "MaxPool3DGrad" => Some((window(3)? + 1) * op.input(1)?),
        // The largest is looked for again, and picks a gradient.
        "MaxPoolGradGrad" | "MaxPoolGradGradV2" | "MaxPool3DGradGrad" => Some(window(3)? * op.input(1)?),
        // Its place is known: each gradient is added there.
        "MaxPoolGradWithArgmax" => op.input(1),
        _ => Some(window(1)? * op.out()?),
    }
}
