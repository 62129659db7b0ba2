//! Shapes of outputs from the shapes of inputs, for graphs that were written without them and nodes that no
//! step tells of. The rules are those of TensorFlow's ops; an op without a rule here has no shape.
//! One table of ops, which is read side by side with TensorFlow's own; what takes more than a line is in [`rules`].

mod rules;

use super::{Op, einsum, elements};
pub use rules::spread;
use rules::{
    along_axis, axis_of, batch_product, bias_gradient, concat, convolution, expand, gather, gather_rows,
    one_hot, pack, pad, product, range, reduce, reshape, select, slice, slide, split, squeeze, tile,
    transpose,
};

/// The shapes of the first outputs; None where nothing is known. `op.output` is not looked at.
pub fn outputs(op: &Op<'_>) -> Vec<Option<Vec<i64>>> {
    match op.name {
        "FusedBatchNorm" | "FusedBatchNormV2" | "FusedBatchNormV3" | "_FusedBatchNormEx" => {
            let one = op.shape(1).map(<[i64]>::to_vec);
            vec![first(op), one.clone(), one.clone(), one.clone(), one]
        }
        "FusedBatchNormGrad" | "FusedBatchNormGradV2" | "FusedBatchNormGradV3" => {
            let one = op.shape(2).map(<[i64]>::to_vec);
            vec![first(op), one.clone(), one]
        }
        "SoftmaxCrossEntropyWithLogits" | "SparseSoftmaxCrossEntropyWithLogits" => {
            let rows = op.shape(0).and_then(|logits| logits.first().copied());
            vec![rows.map(|rows| vec![rows]), first(op)]
        }
        "IdentityN" | "ShapeN" => Vec::new(),
        "Split" => split(op, 1, 0),
        "SplitV" => split(op, 0, 2),
        "Unpack" => {
            let num = op.attributes.int("num").unwrap_or(0).clamp(0, MOST_OUTPUTS);
            let row = axis_of(op, op.attributes.int("axis").unwrap_or(0)).map(|(shape, axis)| {
                let mut row = shape.to_vec();
                row.remove(axis);
                row
            });
            vec![row; num as usize]
        }
        "Switch" | "RefSwitch" => vec![first(op), first(op)],
        "BroadcastGradientArgs" | "VarHandleOp" => Vec::new(),
        _ => vec![output(op)],
    }
}

/// More outputs no rule gives.
const MOST_OUTPUTS: i64 = 1 << 10;

fn first(op: &Op<'_>) -> Option<Vec<i64>> {
    op.shape(0).map(<[i64]>::to_vec)
}

fn output(op: &Op<'_>) -> Option<Vec<i64>> {
    match op.name {
        name if keeps(name) => first(op),
        name if spreads(name) => spread(op.shape(0)?, op.shape(1)?),
        "L2Loss" | "Rank" | "Size" => Some(Vec::new()),
        "Shape" => Some(vec![op.shape(0)?.len() as i64]),
        "MatMul" | "SparseMatMul" | "_FusedMatMul" | "QuantizedMatMul" => product(op),
        "BatchMatMul" | "BatchMatMulV2" | "BatchMatMulV3" | "_FusedBatchMatMulV2" => batch_product(op),
        "Einsum" | "XlaEinsum" => einsum::output(&op.attributes.text("equation")?, &op.inputs),
        "Conv2D"
        | "Conv3D"
        | "_FusedConv2D"
        | "_FusedConv3D"
        | "Conv2DWithBias"
        | "Dilation2D"
        | "DepthwiseConv2dNative"
        | "_FusedDepthwiseConv2dNative" => convolution(op),
        "AvgPool" | "MaxPool" | "AvgPool3D" | "MaxPool3D" => {
            let ksize = op.attributes.ints("ksize");
            slide(op, op.shape(0)?, |dim| ksize.get(dim).copied())
        }
        "Conv2DBackpropInput"
        | "DepthwiseConv2dNativeBackpropInput"
        | "Conv3DBackpropInputV2"
        | "AvgPoolGrad"
        | "AvgPool3DGrad" => op.constant(0).map(<[i64]>::to_vec),
        "Conv2DBackpropFilter" | "DepthwiseConv2dNativeBackpropFilter" | "Conv3DBackpropFilterV2" => {
            op.constant(1).map(<[i64]>::to_vec)
        }
        "Conv2DBackpropInputV2" | "Conv3DBackpropInput" | "Dilation2DBackpropInput" => first(op),
        "Conv2DBackpropFilterV2" | "Conv3DBackpropFilter" | "Dilation2DBackpropFilter" => {
            op.shape(1).map(<[i64]>::to_vec)
        }
        "BiasAddGrad" => bias_gradient(op),
        "Sum" | "Mean" | "Prod" | "Max" | "Min" | "All" | "Any" | "EuclideanNorm" => reduce(op),
        "ArgMax" | "ArgMin" => along_axis(op),
        "Reshape" => reshape(super::elements(op.shape(0)?), op.constant(1)?),
        "Fill"
        | "RandomUniform"
        | "RandomStandardNormal"
        | "TruncatedNormal"
        | "StatelessRandomUniform"
        | "StatelessRandomNormal" => op.constant(0).map(<[i64]>::to_vec),
        "BroadcastTo" => op.constant(1).map(<[i64]>::to_vec),
        "Transpose" | "ConjugateTranspose" => transpose(op),
        "Tile" => tile(op),
        "Pad" | "PadV2" | "MirrorPad" => pad(op),
        "ConcatV2" => {
            let parts = op.inputs.len().checked_sub(1)?;
            concat(op, 0..parts, *op.constant(parts)?.first()?)
        }
        "Concat" => concat(op, 1..op.inputs.len(), *op.constant(0)?.first()?),
        "Pack" => pack(op),
        "ExpandDims" => expand(op),
        "Squeeze" => squeeze(op),
        "Slice" => slice(op),
        "GatherV2" => gather(op),
        "Gather" | "ResourceGather" => gather_rows(op),
        "OneHot" => one_hot(op),
        "Select" | "SelectV2" => select(op),
        "Range" => range(op),
        _ => None,
    }
}

/// Ops whose output has the shape of their first input.
fn keeps(name: &str) -> bool {
    matches!(
        name,
        "Identity"
            | "StopGradient"
            | "PreventGradient"
            | "Snapshot"
            | "CheckNumerics"
            | "Cast"
            | "Enter"
            | "Exit"
            | "NextIteration"
            | "RefIdentity"
            | "PlaceholderWithDefault"
            | "BiasAdd"
            | "BiasAddV1"
            | "AddN"
            | "AccumulateNV2"
            | "ZerosLike"
            | "OnesLike"
            | "Assign"
            | "AssignAdd"
            | "AssignSub"
            | "Softmax"
            | "LogSoftmax"
            | "Cumsum"
            | "Cumprod"
            | "LogicalNot"
            | "ReverseV2"
            | "LRN"
            | "IsFinite"
            | "IsNan"
            | "IsInf"
            | "MaxPoolGrad"
            | "MaxPool3DGrad"
            | "ClipByValue"
            | "LayerNorm"
            | "ReadVariableOp"
            | "Cholesky"
            | "MatrixInverse"
            | "FFT"
            | "IFFT"
            | "FFT2D"
            | "IFFT2D"
    ) || elements::is_function(name)
}

/// Ops whose inputs are spread out over each other.
fn spreads(name: &str) -> bool {
    elements::is_between_two(name) || matches!(name, "LogicalAnd" | "LogicalOr")
}
