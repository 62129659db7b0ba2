//! Products of matrices and convolutions, their gradients, and what is fused behind them.

use super::{Op, elements, factors};
use stepscope_core::proto::wire::Fields;

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
    /// The largest of the window is looked for again, and its place gets the gradient.
    DilationGradient,
    /// Dimensions that a `DotDimensionNumbers` lists.
    Numbered,
    /// The field of a convolution's dimension numbers that tells the kernel's outputs, and what stands for it
    /// when nothing is said.
    NumberedConvolution(u32, usize),
    Attention,
}

fn product(name: &str) -> Option<Product> {
    use Product::*;
    Some(match name {
        "MatMul"
        | "SparseMatMul"
        | "_FusedMatMul"
        | "_QuantizedMatMul"
        | "UniformQuantizedDot"
        | "UniformQuantizedDotHybrid" => Matrix,
        _ if name.starts_with("QuantizedMatMul") => Matrix,
        "BatchMatMul" | "BatchMatMulV2" | "BatchMatMulV3" | "_FusedBatchMatMulV2" => Batch,
        "SparseTensorDenseMatMul" => Sparse,
        "Conv"
        | "Conv2D"
        | "Conv3D"
        | "_FusedConv2D"
        | "_FusedConv3D"
        | "Conv2DWithBias"
        | "PadWithConv2D"
        | "_PadWithFusedConv2D"
        | "PadWithFusedConv2D"
        | "FusedPadConv2D"
        | "FusedResizeAndPadConv2D"
        | "_FusedQuantizedConv2D" => Convolution,
        _ if name.starts_with("QuantizedConv2D") => Convolution,
        "DepthwiseConv2dNative" | "_FusedDepthwiseConv2dNative" | "_FusedQuantizedDepthwiseConv2D" => {
            Depthwise
        }
        _ if name.starts_with("QuantizedDepthwiseConv2D") => Depthwise,
        "Conv2DBackpropInput" | "Conv2DBackpropInputV2" => GradientInput,
        "Conv2DBackpropFilter" | "Conv2DBackpropFilterV2" | "Conv2DBackpropFilterWithBias" => GradientFilter,
        "DepthwiseConv2dNativeBackpropInput" | "DepthwiseConv2dNativeBackpropFilter" => DepthwiseGradient,
        "Conv3DBackpropInput" | "Conv3DBackpropInputV2" => GradientInput3D,
        "Conv3DBackpropFilter" | "Conv3DBackpropFilterV2" => GradientFilter3D,
        "Dilation2D" => Dilation,
        "Dilation2DBackpropInput" | "Dilation2DBackpropFilter" => DilationGradient,
        "XlaDot" | "XlaDotV2" => Numbered,
        "XlaConv" | "XlaConvV2" => NumberedConvolution(4, 0),
        "UniformQuantizedConvolution" | "UniformQuantizedConvolutionHybrid" => NumberedConvolution(5, 0),
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

/// Product of the strides over the dimensions of the image, wherever the channels are.
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
            let inner = dim(op.shape(0)?, if op.attributes.truth("adj_x") { 2 } else { 1 })?;
            2 * inner * op.out()?
        }
        Product::Sparse => {
            let columns = dim(op.output?, 1)?;
            2 * op.input(1)? * columns
        }
        Product::Convolution => {
            let filter = op.shape(match op.name {
                "FusedPadConv2D" => 2,
                "FusedResizeAndPadConv2D" => 3,
                _ => 1,
            })?;
            2 * op.out()? * window(filter)? * dim(filter, 2)?
        }
        Product::Depthwise => 2 * op.out()? * window(op.shape(1)?)?,
        Product::Dilation => {
            let filter = op.shape(1)?;
            2 * op.out()? * elements(filter.get(..2)?)
        }
        Product::DilationGradient => op.input(2)? * (2 * elements(op.shape(1)?.get(..2)?) + 1),
        Product::Numbered => {
            let (left, mut inner) = (op.shape(0)?, 1i128);
            for dim in numbers(op.attributes.bytes("dimension_numbers")?, 1) {
                inner = inner.checked_mul(i128::from(*left.get(dim)?))?;
            }
            inner.checked_mul(2 * op.out()?)?
        }
        Product::NumberedConvolution(output, default) => {
            let kernel = op.shape(1)?;
            let dim = numbers(op.attributes.bytes("dimension_numbers")?, output);
            let filters = *kernel.get(dim.last().copied().unwrap_or(default))?;
            (2 * op.out()? * elements(kernel)).checked_div(i128::from(filters))?
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
            let values = op.shape(2).and_then(|values| dim(values, 1)).or_else(|| dim(keys, 1))?;
            scores * (2 * dim(queries, 1)? + 5 + 2 * values)
        }
    };
    Some(main + behind(op)?)
}

/// Numbers of dimensions in a message: one, or a list.
fn numbers(message: &[u8], field: u32) -> Vec<usize> {
    let fields = Fields::new(message, 0).flatten();
    fields
        .filter(|part| part.number == field)
        .flat_map(|part| part.varints().flatten().collect::<Vec<_>>())
        .map(|number| usize::try_from(number).unwrap_or(usize::MAX))
        .collect()
}

/// What is fused behind the product, by element of the output.
fn behind(op: &Op<'_>) -> Option<i128> {
    // Quantised ops say it by their names. Conversions from and to few bits do not count.
    let mut each: i128 = 0;
    for word in ["WithBias", "AndRelu", "Sum"] {
        each += i128::from(op.name.contains(word) && !op.name.contains("Backprop"));
    }
    for fused in op.fused() {
        each += match fused.as_str() {
            "FusedBatchNorm" => 4,
            "GeluApproximate" | "GeluExact" => 8,
            "Mish" | "_FusedMish" => 3,
            "_MklSwish" | "_FusedSwish" | "_FusedHardSwish" => 2,
            "Quantize" | "Dequantize" | "Requantize" => 0,
            _ => 1,
        };
    }
    let mut behind = 0;
    if each > 0 {
        behind = each * op.out()?;
    }
    if op.name == "Conv2DBackpropFilterWithBias" {
        // The bias has one gradient for each of the filter's outputs, the sum of those of the image.
        behind += op.input(2)? - dim(op.output?, 1)?;
    }
    Some(behind)
}
