//! Names of ops that replace others: those of oneDNN's rewrites and of TensorFlow's RISC set.

/// The op whose formula counts: `_MklNativeFusedConv2D` is `_FusedConv2D`, `RiscDot` is `MatMul`.
pub fn plain_name(op: &str) -> String {
    let op = without_onednn(op);
    if let Some(rest) = op.strip_prefix("Risc") {
        let plain = match rest {
            "Dot" => "MatMul",
            "Max" => "Maximum",
            "Min" => "Minimum",
            "Rem" => "FloorMod",
            "Conv" | "Abs" | "Add" | "Ceil" | "Cos" | "Div" | "Exp" | "Floor" | "Log" | "Mul" | "Neg"
            | "Pow" | "Sign" | "Sub" => rest,
            _ => return op,
        };
        return plain.to_owned();
    }
    op
}

fn without_onednn(op: &str) -> String {
    // "__MklDummy" marks a step of the rewrite that other steps replace.
    let Some(rest) = op.strip_prefix("__MklDummy").or_else(|| op.strip_prefix("_Mkl")) else {
        return op.to_owned();
    };
    let rest = rest.strip_prefix("Native").or_else(|| rest.strip_prefix("Eager")).unwrap_or(rest);
    match rest {
        // A fused normalisation and its gradient carry the word without being a fusion.
        _ if rest.starts_with("FusedBatchNorm") && !rest.ends_with("Ex") => rest.to_owned(),
        _ if rest.starts_with("Fused") => format!("_{rest}"),
        _ => rest.to_owned(),
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
            ("__MklDummyConv2DWithBias", "Conv2DWithBias"),
            ("_MklNativeBatchMatMulV2", "BatchMatMulV2"),
            ("_MklFusedBatchNormV3", "FusedBatchNormV3"),
            ("_MklNativeFusedBatchNormEx", "_FusedBatchNormEx"),
            ("_MklQuantizedConv2DWithBiasAndRelu", "QuantizedConv2DWithBiasAndRelu"),
            ("_FusedMatMul", "_FusedMatMul"),
            ("MatMul", "MatMul"),
            ("BatchMatMul", "BatchMatMul"),
            ("RiscDot", "MatMul"),
            ("RiscSlice", "RiscSlice"),
        ] {
            assert_eq!(plain_name(op), plain);
        }
    }
}
