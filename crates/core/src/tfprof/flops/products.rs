//! Products of matrices and convolutions, their gradients, and what is fused behind them.

use super::{Op, elements, factors};

/// What kind of product an op is.
enum Product {
    Matrix,
    Batch,
    /// Sparse times dense: each stored value meets each column.
    Sparse,
    Convolution,
    Depthwise,
    /// By TensorFlow's formula, which takes strides out of the larger side.
    GradientInput,
    GradientFilter,
    /// Each element of the gradient meets the window: depthwise, and in three dimensions.
    DepthwiseGradient,
    GradientInput3D,
    GradientFilter3D,
    Dilation,
    Attention,
}

fn product(name: &str) -> Option<Product> {
    use Product::*;
    Some(match name {
        "MatMul" | "SparseMatMul" | "_FusedMatMul" | "QuantizedMatMul" => Matrix,
        "BatchMatMul" | "BatchMatMulV2" | "BatchMatMulV3" | "_FusedBatchMatMulV2" => Batch,
        "SparseTensorDenseMatMul" => Sparse,
        "Conv2D"
        | "Conv3D"
        | "_FusedConv2D"
        | "_FusedConv3D"
        | "Conv2DWithBias"
        | "PadWithConv2D"
        | "_PadWithFusedConv2D"
        | "PadWithFusedConv2D"
        | "QuantizedConv2D"
        | "FusedPadConv2D"
        | "FusedResizeAndPadConv2D" => Convolution,
        "DepthwiseConv2dNative" | "_FusedDepthwiseConv2dNative" => Depthwise,
        "Conv2DBackpropInput" | "Conv2DBackpropInputV2" => GradientInput,
        "Conv2DBackpropFilter" | "Conv2DBackpropFilterV2" | "Conv2DBackpropFilterWithBias" => {
            GradientFilter
        }
        "DepthwiseConv2dNativeBackpropInput" | "DepthwiseConv2dNativeBackpropFilter" => {
            DepthwiseGradient
        }
        "Conv3DBackpropInput" | "Conv3DBackpropInputV2" => GradientInput3D,
        "Conv3DBackpropFilter" | "Conv3DBackpropFilterV2" => GradientFilter3D,
        "Dilation2D" => Dilation,
        "ScaledDotProductAttention" | "_FusedMHA" | "FusedMHA" => Attention,
        _ => return None,
    })
}

/// Whether [`count`] knows the op.
pub fn has_formula(name: &str) -> bool {
    product(name).is_some()
}

fn dim(shape: &[i64], from_end: usize) -> Option<i128> {
    let place = shape.len().checked_sub(from_end)?;
    shape.get(place).map(|dim| i128::from(*dim))
}

/// Product of the sizes of a filter without its two last dimensions.
fn window(filter: &[i64]) -> Option<i128> {
    Some(elements(filter.get(..filter.len().checked_sub(2)?)?))
}

/// Product of the strides over the dimensions of the image, wherever the channels stand.
fn strides(op: &Op<'_>) -> i128 {
    factors(op.attributes.ints("strides"))
}

/// Channels of an image.
fn channels(op: &Op<'_>, image: &[i64]) -> Option<i128> {
    match op.attributes.text("data_format") {
        Some(format) if format.starts_with("NC") => image.get(1).map(|dim| i128::from(*dim)),
        _ => dim(image, 1),
    }
}

/// The operations of one run.
pub fn count(op: &Op<'_>) -> Option<i128> {
    let main = match product(op.name)? {
        Product::Matrix => {
            let a = op.shape(0)?;
            // SparseMatMul and the quantised one have the same attribute.
            let inner = match op.attributes.truth("transpose_a") {
                true => *a.first()?,
                false => *a.get(1)?,
            };
            2 * i128::from(inner) * op.out()?
        }
        Product::Batch => {
            let inner = dim(
                op.shape(0)?,
                if op.attributes.truth("adj_x") { 2 } else { 1 },
            )?;
            2 * inner * op.out()?
        }
        Product::Sparse => {
            let columns = dim(op.output?, 1)?;
            2 * op.input(1)? * columns
        }
        Product::Convolution => {
            let filter = op.shape(1)?;
            2 * op.out()? * window(filter)? * dim(filter, 2)?
        }
        Product::Depthwise => 2 * op.out()? * window(op.shape(1)?)?,
        Product::Dilation => {
            let filter = op.shape(1)?;
            2 * op.out()? * elements(filter.get(..2)?)
        }
        Product::GradientInput => {
            let image = op.output?;
            let per = channels(op, image)?.checked_mul(strides(op))?;
            (2 * elements(image) * op.input(1)?).checked_div(per)?
        }
        Product::GradientFilter => {
            let image = op.shape(0)?;
            let per = channels(op, image)?.checked_mul(strides(op))?;
            (2 * elements(image) * op.out()?).checked_div(per)?
        }
        Product::DepthwiseGradient => {
            let is_input = op.name.ends_with("Input");
            let filter = if is_input { op.shape(1)? } else { op.output? };
            2 * op.input(2)? * window(filter)?
        }
        Product::GradientInput3D | Product::GradientFilter3D => {
            let is_input = op.name.contains("Input");
            let filter = if is_input { op.shape(1)? } else { op.output? };
            2 * op.input(2)? * window(filter)? * dim(filter, 2)?
        }
        Product::Attention => {
            // Scores, their softmax, and the sum of the values: queries […, T, d], keys […, S, d].
            let (queries, keys) = (op.shape(0)?, op.shape(1)?);
            let scores = elements(queries).checked_div(dim(queries, 1)?)? * dim(keys, 2)?;
            let values = op
                .shape(2)
                .and_then(|values| dim(values, 1))
                .or_else(|| dim(keys, 1))?;
            scores * (2 * dim(queries, 1)? + 5 + 2 * values)
        }
    };
    Some(main + behind(op)?)
}

/// What is fused behind the product, by element of the output.
fn behind(op: &Op<'_>) -> Option<i128> {
    let mut each = i128::from(op.name == "Conv2DWithBias");
    for fused in op.fused() {
        each += match fused.as_str() {
            "FusedBatchNorm" => 4,
            "GeluApproximate" | "GeluExact" => 8,
            "_MklSwish" | "_FusedHardSwish" => 2,
            _ => 1,
        };
    }
    match each {
        0 => Some(0),
        each => Some(each * op.out()?),
    }
}
