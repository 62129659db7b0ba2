//! Floating point operations of a node from its op, its attributes and the shapes around it.
//!
//! For the ops that TensorFlow registers statistics for, the numbers are TensorFlow's (a multiplication and
//! an addition are two; comparisons count). [`exact`] says where they are not. For the others the formulas
//! stand beside their ops here: products of matrices and convolutions exactly, the rest by element.

mod einsum;
mod elements;
mod products;
mod recurrent;
pub mod shapes;

use super::attributes::Attributes;
use super::model::Model;
use shapes::Shapes;

/// A node as the formulas see it.
pub struct Op<'a> {
    /// Its op, without what oneDNN puts before the name.
    pub name: &'a str,
    /// Its attributes.
    pub attributes: &'a Attributes,
    /// Shapes of its data inputs; None where not all of it is known.
    pub inputs: Vec<Option<&'a [i64]>>,
    /// Shape of its first output.
    pub output: Option<&'a [i64]>,
}

impl Op<'_> {
    /// The shape of an input.
    pub fn shape(&self, input: usize) -> Option<&[i64]> {
        *self.inputs.get(input)?
    }

    /// Elements of an input.
    pub fn input(&self, input: usize) -> Option<i128> {
        Some(elements(self.shape(input)?))
    }

    /// Elements of the output.
    pub fn out(&self) -> Option<i128> {
        Some(elements(self.output?))
    }

    /// The names of what a fused op does behind its main work.
    pub fn fused(&self) -> Vec<String> {
        self.attributes.texts("fused_ops")
    }
}

/// Elements of a shape.
pub fn elements(shape: &[i64]) -> i128 {
    shape.iter().map(|dim| i128::from(*dim)).product()
}

/// Product of sizes in an attribute; what no window has is cut to what none reaches.
fn factors(sizes: Vec<i64>) -> i128 {
    let sizes = sizes
        .into_iter()
        .map(|size| i128::from(size.clamp(1, 1 << 20)));
    sizes.fold(1i128, |product, size| (product * size).min(1 << 40))
}

/// The op behind the names that oneDNN's rewrites give: `_MklNativeFusedConv2D` is `_FusedConv2D`.
pub fn plain_name(op: &str) -> String {
    let Some(rest) = op.strip_prefix("_Mkl") else {
        return op.to_owned();
    };
    let rest = rest
        .strip_prefix("Native")
        .or_else(|| rest.strip_prefix("Eager"))
        .unwrap_or(rest);
    match rest {
        // A fused normalisation and its gradient carry the word without being a fusion.
        _ if rest.starts_with("FusedBatchNorm") && !rest.ends_with("Ex") => rest.to_owned(),
        "FusedBatchMatMulV2" | "FusedMatMul" => format!("_{rest}"),
        _ if rest.starts_with("Fused") => format!("_{rest}"),
        "Conv2DWithBias" => "Conv2DWithBias".to_owned(),
        _ => rest.to_owned(),
    }
}

/// How many ops have a count, and how many would if their shapes were known.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Nodes that got a count.
    pub counted: u64,
    /// Nodes of ops with a formula whose shapes are not known.
    pub unknown: u64,
}

/// Gives every node without a count one of our own, where its shapes are known. What an op log says stays.
pub fn fill(model: &mut Model) -> Counted {
    let shapes = Shapes::new(model);
    let mut counts = Vec::new();
    let mut counted = Counted::default();
    for node in 0..model.nodes.len() as u32 {
        let own = &model.nodes[node as usize];
        if own.flops != 0 {
            continue;
        }
        let name = plain_name(&own.op);
        let op = Op {
            name: &name,
            attributes: &own.attributes,
            inputs: shapes.inputs(model, node),
            output: shapes.of(node, 0),
        };
        if !has_formula(&name) {
            continue;
        }
        match count(&op).and_then(|count| i64::try_from(count).ok()) {
            Some(count) => counts.push((node, count.max(0))),
            None => counted.unknown += 1,
        }
    }
    counted.counted = counts.len() as u64;
    for (node, count) in counts {
        model.nodes[node as usize].flops = count;
    }
    counted
}

/// Whether an op has a formula at all.
pub fn has_formula(name: &str) -> bool {
    products::has_formula(name)
        || elements::has_formula(name)
        || recurrent::has_formula(name)
        || einsum::has_formula(name)
}

/// The operations of one run; None when a shape is missing.
pub fn count(op: &Op<'_>) -> Option<i128> {
    if products::has_formula(op.name) {
        products::count(op)
    } else if recurrent::has_formula(op.name) {
        recurrent::count(op)
    } else if einsum::has_formula(op.name) {
        einsum::count(op)
    } else {
        elements::count(op)
    }
}

#[cfg(test)]
mod tests {
    use super::plain_name;

    #[test]
    fn names_of_onednn() {
        for (op, plain) in [
            ("_MklNativeFusedConv2D", "_FusedConv2D"),
            ("_MklConv2D", "Conv2D"),
            ("_MklNativeBatchMatMulV2", "BatchMatMulV2"),
            ("_MklFusedBatchNormV3", "FusedBatchNormV3"),
            ("_MklNativeFusedBatchNormEx", "_FusedBatchNormEx"),
            ("_FusedMatMul", "_FusedMatMul"),
            ("MatMul", "MatMul"),
        ] {
            assert_eq!(plain_name(op), plain);
        }
    }
}
