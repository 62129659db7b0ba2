//! Einsum: every combination of all labels is one multiplication and one addition.

use super::Op;
use std::collections::BTreeMap;

/// Whether [`count`] knows the op.
pub fn has_formula(name: &str) -> bool {
    matches!(name, "Einsum" | "XlaEinsum")
}

/// The operations of one run. Of one input, what is summed up; of two, a product of matrices in general.
pub fn count(op: &Op<'_>) -> Option<i128> {
    let equation = op.attributes.text("equation")?;
    let (left, _) = equation.split_once("->").unwrap_or((&equation, ""));
    let terms: Vec<&str> = left.split(',').collect();
    let mut sizes: BTreeMap<String, i128> = BTreeMap::new();
    for (place, term) in terms.iter().enumerate() {
        let shape = op.shape(place)?;
        let labels: Vec<char> = term.chars().filter(|label| label.is_alphabetic()).collect();
        let spread = shape.len().checked_sub(labels.len())?;
        let before = term.find("...").map_or(labels.len(), |at| {
            term[..at]
                .chars()
                .filter(|label| label.is_alphabetic())
                .count()
        });
        if spread > 0 && !term.contains("...") {
            return None;
        }
        for (axis, dim) in shape.iter().enumerate() {
            // Dimensions behind the dots are lined up from the last one on.
            let label = if axis < before {
                labels[axis].to_string()
            } else if axis < before + spread {
                format!("...{}", before + spread - axis)
            } else {
                labels[axis - spread].to_string()
            };
            let size = sizes.entry(label).or_insert(1);
            *size = (*size).max(i128::from(*dim));
        }
    }
    let all = sizes
        .values()
        .try_fold(1i128, |product, size| product.checked_mul(*size))?;
    match terms.len() {
        1 => Some((op.input(0)? - op.out()?).max(0)),
        inputs => all.checked_mul(inputs as i128),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tfprof::attributes::Attributes;
    use crate::wire_writer::MessageWriter;

    fn flops(equation: &str, inputs: &[&[i64]], output: &[i64]) -> Option<i128> {
        let mut value = MessageWriter::default();
        value.text(2, equation);
        let value = value.into_bytes();
        let attributes = Attributes::new([("equation", value.as_slice())].into_iter());
        count(&Op {
            name: "Einsum",
            attributes: &attributes,
            inputs: inputs.iter().map(|shape| Some(*shape)).collect(),
            output: Some(output),
        })
    }

    #[test]
    fn labels_multiply() {
        assert_eq!(flops("ij,jk->ik", &[&[2, 3], &[3, 5]], &[2, 5]), Some(60));
        assert_eq!(
            flops("bij,bjk->bik", &[&[7, 2, 3], &[7, 3, 5]], &[7, 2, 5]),
            Some(420)
        );
        assert_eq!(
            flops("...ij,jk->...ik", &[&[7, 2, 3], &[3, 5]], &[7, 2, 5]),
            Some(420)
        );
        assert_eq!(
            flops(
                "...ij,...jk->...ik",
                &[&[4, 7, 2, 3], &[1, 3, 5]],
                &[4, 7, 2, 5]
            ),
            Some(1680)
        );
        assert_eq!(flops("ij->i", &[&[2, 3]], &[2]), Some(4));
        assert_eq!(flops("ij->ji", &[&[2, 3]], &[3, 2]), Some(0));
        assert_eq!(flops("i,ij->j", &[&[2, 2], &[2, 3]], &[3]), None);
    }
}
