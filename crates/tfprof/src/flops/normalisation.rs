//! Normalisations, forward and backward, by element of what is normalised.

use super::Op;

/// Whether [`count`] knows the op.
pub fn has_formula(name: &str) -> bool {
    matches!(
        name,
        "LayerNorm"
            | "_FusedInstanceNorm"
            | "QuantizedInstanceNorm"
            | "FusedBatchNorm"
            | "FusedBatchNormV2"
            | "FusedBatchNormV3"
            | "_FusedBatchNormEx"
            | "FusedBatchNormGrad"
            | "FusedBatchNormGradV2"
            | "FusedBatchNormGradV3"
            | "_FusedBatchNormGradEx"
            | "BatchNormWithGlobalNormalization"
            | "QuantizedBatchNormWithGlobalNormalization"
            | "BatchNormWithGlobalNormalizationGrad"
            | "LRN"
    )
}

/// Mean (1), subtraction (1), squares and their mean (2).
const STATISTICS: i128 = 4;
/// Subtraction, the product with the reciprocal deviation, scale, shift.
const APPLICATION: i128 = 4;
/// The sums of the gradients of scale (4: the normalised value twice, a product, a sum) and of shift (1), and
/// the product with scale and reciprocal deviation (2).
const GRADIENT: i128 = 7;
/// What the gradient through the statistics adds: two products and two differences.
const GRADIENT_OF_STATISTICS: i128 = 4;

/// The operations of one run.
pub fn count(op: &Op<'_>) -> Option<i128> {
    // The attribute is true unless it says otherwise.
    let trains = !op.attributes.has("is_training") || op.attributes.truth("is_training");
    // An activation is one for each element, and so is each tensor that is added before it.
    let acts = op.attributes.text("activation_mode");
    let acts = i128::from(acts.is_some_and(|name| name != "Identity"));
    let each = match op.name {
        "LayerNorm" | "QuantizedInstanceNorm" => STATISTICS + APPLICATION,
        "_FusedInstanceNorm" => STATISTICS + APPLICATION + op.fused().len() as i128,
        "BatchNormWithGlobalNormalization" | "QuantizedBatchNormWithGlobalNormalization" => APPLICATION,
        "BatchNormWithGlobalNormalizationGrad" => GRADIENT,
        // Squares, the sum over the window (one less than its channels), a factor, a bias, a power, a quotient.
        "LRN" => {
            let radius = op.attributes.int("depth_radius").unwrap_or(5);
            5 + 2 * i128::from(radius.clamp(0, 1 << 20))
        }
        name if name.contains("Grad") => {
            let more = if trains { GRADIENT_OF_STATISTICS } else { 0 };
            GRADIENT + more + acts
        }
        _ => {
            let statistics = if trains { STATISTICS } else { 0 };
            let added = op.attributes.int("num_side_inputs").unwrap_or(0);
            statistics + APPLICATION + i128::from(added.clamp(0, 1)) + acts
        }
    };
    Some(op.input(0)? * each)
}
