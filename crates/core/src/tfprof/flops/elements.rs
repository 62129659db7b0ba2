//! Ops that do so much for each element.

use super::{Op, factors};

/// What is counted.
enum Rule {
    /// So many for each element of an input.
    Input(usize, i128),
    /// So many for each element of the output.
    Output(i128),
    /// One for each element that disappears.
    Reduce,
    /// So many for each element that a window covers, for each element of an input or of the output.
    Window(Option<usize>, i128),
}

fn rule(name: &str) -> Option<Rule> {
    use Rule::*;
    Some(match name {
        // As TensorFlow has them.
        "Reciprocal" | "Square" | "Log" | "Neg" | "AssignSub" | "AssignAdd" | "BiasAdd" => {
            Input(0, 1)
        }
        "Rsqrt" => Input(0, 2),
        "Softmax" => Input(0, 5),
        "Add" | "AddV2" | "Sub" | "Mul" | "RealDiv" | "Maximum" | "Minimum" | "Pow"
        | "GreaterEqual" | "Greater" | "LessEqual" | "Less" | "Equal" | "NotEqual" => Output(1),
        "RsqrtGrad" => Output(4),
        "SquaredDifference" => Output(2),
        "Mean" => Input(0, 1),
        "Sum" | "ArgMax" | "ArgMin" | "BiasAddGrad" => Reduce,
        "AvgPool" | "MaxPool" => Window(None, 1),
        "AvgPoolGrad" => Window(Some(1), 2),
        // Ours, in the same manner: a function of one number counts 1, as Log does.
        "Abs" | "Sign" | "Exp" | "Expm1" | "Log1p" | "Sqrt" | "Sin" | "Cos" | "Tan" | "Tanh"
        | "Sigmoid" | "Erf" | "Erfc" | "Relu" | "Relu6" | "LeakyRelu" | "Elu" | "Selu"
        | "Softplus" | "Softsign" | "Floor" | "Ceil" | "Round" | "Rint" | "Inv" => Input(0, 1),
        "_MklSwish" | "Swish" => Input(0, 2),
        "Gelu" => Input(0, 8),
        "Div" | "FloorDiv" | "FloorMod" | "Mod" | "TruncateDiv" | "DivNoNan" | "MulNoNan"
        | "Atan2" | "Xdivy" => Output(1),
        "Xlogy" | "Xlog1py" => Output(2),
        "ReluGrad" | "Relu6Grad" | "LeakyReluGrad" | "EluGrad" | "SeluGrad" => Output(1),
        "TanhGrad" | "SigmoidGrad" | "SoftplusGrad" | "SoftsignGrad" => Output(3),
        "SqrtGrad" | "ReciprocalGrad" | "InvGrad" => Output(2),
        "AssignAddVariableOp" | "AssignSubVariableOp" => Input(1, 1),
        "Prod" | "Max" | "Min" => Reduce,
        "LogSoftmax" => Input(0, 5),
        // A softmax, a logarithm, the product with the labels and the gradient.
        "SoftmaxCrossEntropyWithLogits" | "SparseSoftmaxCrossEntropyWithLogits" => Input(0, 8),
        "AvgPool3D" | "MaxPool3D" => Window(None, 1),
        "AvgPool3DGrad" => Window(Some(1), 2),
        "LRN" => Input(0, 6),
        // Sum and variance of the batch (4), then subtract, scale, multiply, shift (4); without training
        // only the last four. Gradients do 11.
        "LayerNorm" | "_FusedInstanceNorm" => Input(0, 8),
        "FusedBatchNormGrad"
        | "FusedBatchNormGradV2"
        | "FusedBatchNormGradV3"
        | "_FusedBatchNormGradEx" => Input(0, 11),
        // Optimisers, by element of the gradient.
        "ApplyGradientDescent" | "ResourceApplyGradientDescent" => Input(2, 2),
        "ApplyMomentum" => Input(3, 4),
        "ResourceApplyMomentum" | "ResourceApplyKerasMomentum" => Input(3, 4),
        "ApplyAdagrad" | "ResourceApplyAdagrad" | "ApplyAdagradV2" | "ResourceApplyAdagradV2" => {
            Input(if name.ends_with("V2") { 4 } else { 3 }, 5)
        }
        "ApplyRMSProp" | "ResourceApplyRMSProp" => Input(7, 9),
        "ApplyAdam" | "ResourceApplyAdam" => Input(9, 11),
        _ => return None,
    })
}

/// Whether [`count`] knows the op.
pub fn has_formula(name: &str) -> bool {
    rule(name).is_some()
        || matches!(
            name,
            "L2Loss"
                | "AddN"
                | "MaxPoolGrad"
                | "MaxPool3DGrad"
                | "FusedBatchNorm"
                | "FusedBatchNormV2"
                | "FusedBatchNormV3"
                | "_FusedBatchNormEx"
        )
}

/// The operations of one run.
pub fn count(op: &Op<'_>) -> Option<i128> {
    let window = || factors(op.attributes.ints("ksize"));
    match op.name {
        "L2Loss" => return Some(op.input(0)? * 3 - 1),
        "AddN" => return Some(op.input(0)? * (op.inputs.len() as i128 - 1)),
        "MaxPoolGrad" | "MaxPool3DGrad" => return Some((window() + 1) * op.input(1)?),
        "FusedBatchNorm" | "FusedBatchNormV2" | "FusedBatchNormV3" | "_FusedBatchNormEx" => {
            // The attribute is true unless it says otherwise.
            let trains = !op.attributes.has("is_training") || op.attributes.truth("is_training");
            return Some(op.input(0)? * if trains { 8 } else { 4 });
        }
        _ => {}
    }
    match rule(op.name)? {
        Rule::Input(input, each) => Some(op.input(input)? * each),
        Rule::Output(each) => Some(op.out()? * each),
        Rule::Reduce => Some(op.input(0)? - op.out()?),
        Rule::Window(input, each) => {
            let places = match input {
                Some(input) => op.input(input)?,
                None => op.out()?,
            };
            Some(window() * places * each)
        }
    }
}
