//! Ops that do so much for each element.

use super::Op;

/// What is counted.
enum Rule {
    /// So many for each element of the only input, of which the output has the shape.
    Function(i128),
    /// So many for each element of the output, which is what two inputs are when spread out over each other.
    Between(i128),
    /// So many for each element of the output, which has the shape of the first input.
    Gradient(i128),
    /// So many for each element of an input.
    Input(usize, i128),
    /// So many for each element of the output.
    Output(i128),
    /// One for each element that disappears.
    Reduce,
}

fn rule(name: &str) -> Option<Rule> {
    use Rule::*;
    Some(match name {
        // As in TensorFlow.
        "Reciprocal" | "Square" | "Log" | "Neg" | "AssignSub" | "AssignAdd" | "BiasAdd" => Function(1),
        "Rsqrt" => Function(2),
        "Softmax" => Function(5),
        "Add" | "AddV2" | "Sub" | "Mul" | "RealDiv" | "Maximum" | "Minimum" | "Pow" | "GreaterEqual"
        | "Greater" | "LessEqual" | "Less" | "Equal" | "NotEqual" => Between(1),
        "RsqrtGrad" => Gradient(4),
        "SquaredDifference" => Between(2),
        "Mean" => Input(0, 1),
        "Sum" | "ArgMax" | "ArgMin" | "BiasAddGrad" => Reduce,
        // Ours, in the same manner: a function of one number counts 1, as Log does.
        "Abs" | "Sign" | "Exp" | "Expm1" | "Log1p" | "Sqrt" | "Sin" | "Cos" | "Tan" | "Sinh" | "Cosh"
        | "Tanh" | "Asin" | "Acos" | "Atan" | "Asinh" | "Acosh" | "Atanh" | "Sigmoid" | "Erf" | "Erfc"
        | "Erfinv" | "Ndtri" | "Lgamma" | "Digamma" | "Dawsn" | "Expint" | "Spence" | "FresnelCos"
        | "FresnelSin" | "Relu" | "Relu6" | "LeakyRelu" | "Elu" | "Selu" | "Softplus" | "Softsign"
        | "Floor" | "Ceil" | "Round" | "Rint" | "Inv" | "Angle" | "QuantizedRelu" | "QuantizedRelu6"
        | "QuantizedReluX" | "BiasAddV1" | "QuantizedBiasAdd" | "Cumsum" | "Cumprod" | "RiscUnary" => {
            Function(1)
        }
        _ if name.starts_with("Bessel") => Function(1),
        "Swish" => Function(2),
        // A square and a sum, of which the last is a root.
        "EuclideanNorm" => Input(0, 2),
        // Softplus, tanh, a product.
        "_FusedMish" => Function(3),
        "Gelu" => Function(8),
        "Div"
        | "FloorDiv"
        | "FloorMod"
        | "Mod"
        | "TruncateDiv"
        | "TruncateMod"
        | "DivNoNan"
        | "MulNoNan"
        | "Atan2"
        | "Xdivy"
        | "NextAfter"
        | "Igamma"
        | "Igammac"
        | "IgammaGradA"
        | "Polygamma"
        | "Zeta"
        | "Betainc"
        | "QuantizedAdd"
        | "QuantizedMul"
        | "UniformQuantizedAdd"
        | "RiscBinaryArithmetic"
        | "RiscBinaryComparison" => Between(1),
        // A logarithm and a product; two comparisons.
        "Xlogy" | "Xlog1py" => Between(2),
        "ClipByValue" | "UniformQuantizedClipByValue" => Function(2),
        // Difference, its size, comparison; a part of a cross product: two products and a difference.
        "ApproximateEqual" | "Cross" => Between(3),
        // Two squares, a sum, a root.
        "ComplexAbs" => Function(4),
        "ReluGrad" | "Relu6Grad" | "LeakyReluGrad" | "EluGrad" | "SeluGrad" => Gradient(1),
        "TanhGrad" | "SigmoidGrad" | "SoftplusGrad" | "SoftsignGrad" => Gradient(3),
        "SqrtGrad" | "ReciprocalGrad" | "InvGrad" => Gradient(2),
        "AssignAddVariableOp" | "AssignSubVariableOp" => Input(1, 1),
        "Prod" | "Max" | "Min" | "RiscReduce" | "XlaReduce" => Reduce,
        "LogSoftmax" => Function(5),
        // A softmax, a logarithm, the product with the labels and the gradient.
        "SoftmaxCrossEntropyWithLogits" | "SparseSoftmaxCrossEntropyWithLogits" => Input(0, 8),
        // Of the values that are stored.
        "SparseDenseCwiseAdd" | "SparseDenseCwiseMul" | "SparseDenseCwiseDiv" => Input(1, 1),
        // Each value is added, multiplied or compared into its place.
        "ScatterNd" => Input(1, 1),
        "InplaceAdd" | "InplaceSub" => Input(2, 1),
        "ScatterAdd"
        | "ScatterSub"
        | "ScatterMul"
        | "ScatterDiv"
        | "ScatterMin"
        | "ScatterMax"
        | "ScatterNdAdd"
        | "ScatterNdSub"
        | "ScatterNdMin"
        | "ScatterNdMax"
        | "ScatterNdNonAliasingAdd"
        | "TensorScatterAdd"
        | "TensorScatterSub"
        | "TensorScatterMin"
        | "TensorScatterMax"
        | "ResourceScatterAdd"
        | "ResourceScatterSub"
        | "ResourceScatterMul"
        | "ResourceScatterDiv"
        | "ResourceScatterMin"
        | "ResourceScatterMax"
        | "ResourceScatterNdAdd"
        | "ResourceScatterNdSub"
        | "ResourceScatterNdMin"
        | "ResourceScatterNdMax" => Input(2, 1),
        "SegmentSum"
        | "SegmentSumV2"
        | "SegmentProd"
        | "SegmentProdV2"
        | "SegmentMin"
        | "SegmentMinV2"
        | "SegmentMax"
        | "SegmentMaxV2"
        | "UnsortedSegmentSum"
        | "UnsortedSegmentProd"
        | "UnsortedSegmentMin"
        | "UnsortedSegmentMax" => Input(0, 1),
        // Three interpolations between two points, each a difference, a product and a sum.
        "ResizeBilinear" | "CropAndResize" | "QuantizedResizeBilinear" => Output(9),
        // Each gradient goes to four points: two products and a sum.
        "ResizeBilinearGrad" => Input(0, 12),
        // Five interpolations between four points: four products, three sums.
        "ResizeBicubic" => Output(35),
        // Two comparisons, difference, product and a half, floor, product and smallest.
        "FakeQuantWithMinMaxArgs" | "FakeQuantWithMinMaxVars" | "FakeQuantWithMinMaxVarsPerChannel" => {
            Output(8)
        }
        _ => return None,
    })
}

/// Whether the output has the shape of the first input.
pub fn is_function(name: &str) -> bool {
    matches!(rule(name), Some(Rule::Function(_) | Rule::Gradient(_)))
}

/// Whether two inputs are spread out over each other.
pub fn is_between_two(name: &str) -> bool {
    matches!(rule(name), Some(Rule::Between(_)))
}

/// Whether [`count`] knows the op.
pub fn has_formula(name: &str) -> bool {
    rule(name).is_some()
        || matches!(
            name,
            "L2Loss"
                | "AddN"
                | "AccumulateNV2"
                | "_UnaryOpsComposition"
                | "SegmentMean"
                | "SparseSegmentSum"
                | "SparseSegmentSumWithNumSegments"
                | "SparseSegmentMean"
                | "SparseSegmentMeanWithNumSegments"
                | "SparseSegmentSqrtN"
                | "SparseSegmentSqrtNWithNumSegments"
                | "SparseSegmentSumGrad"
                | "SparseSegmentSumGradV2"
                | "SparseSegmentMeanGrad"
                | "SparseSegmentMeanGradV2"
                | "SparseSegmentSqrtNGrad"
                | "SparseSegmentSqrtNGradV2"
        )
}

/// The operations of one run.
pub fn count(op: &Op<'_>) -> Option<i128> {
    match op.name {
        "L2Loss" => Some(op.input(0)? * 3 - 1),
        "AddN" | "AccumulateNV2" => Some(op.input(0)? * (op.inputs.len() as i128 - 1)),
        // All sums, then one quotient for each result.
        "SegmentMean" => Some(op.input(0)? + op.out()?),
        // Rows of the data, as many as there are indices.
        name if name.starts_with("SparseSegment") => {
            let rows = i128::from(*op.shape(0)?.first()?);
            let row = op.input(0)?.checked_div(rows).unwrap_or(0);
            let summed = op.input(1)? * row;
            let divided = match (name.contains("Sum"), name.contains("Grad")) {
                (true, _) => 0,
                (_, true) => summed,
                _ => op.out()?,
            };
            Some(summed + divided)
        }
        "_UnaryOpsComposition" => {
            let elements = op.input(0)?;
            let each = op.attributes.texts("op_names").iter().try_fold(0, |sum, name| match rule(name) {
                Some(Rule::Function(each)) => Some(sum + each),
                _ => None,
            })?;
            Some(elements * each)
        }
        name => match rule(name)? {
            Rule::Function(each) => Some(op.input(0)? * each),
            Rule::Between(each) | Rule::Gradient(each) => Some(op.out()? * each),
            Rule::Input(input, each) => Some(op.input(input)? * each),
            Rule::Output(each) => Some(op.out()? * each),
            Rule::Reduce => Some(op.input(0)? - op.out()?),
        },
    }
}
