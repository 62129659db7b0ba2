//! Einsum: every combination of all labels is one multiplication and one addition.

use super::Op;
use std::collections::BTreeMap;

/// Whether [`count`] knows the op.
pub fn has_formula(name: &str) -> bool {
    matches!(name, "Einsum" | "XlaEinsum")
}

/// The sizes of all labels. Dimensions behind dots are labels too, counted from the end.
fn sizes(terms: &str, shapes: &[Option<&[i64]>]) -> Option<BTreeMap<String, i64>> {
    let mut sizes = BTreeMap::new();
    for (place, term) in terms.split(',').enumerate() {
        let shape = (*shapes.get(place)?)?;
        let names = names(term, shape.len())?;
        for (name, dim) in names.into_iter().zip(shape) {
            let size = sizes.entry(name).or_insert(1);
            *size = (*dim).max(*size);
        }
    }
    Some(sizes)
}

/// The labels of a term with so many dimensions.
fn names(term: &str, rank: usize) -> Option<Vec<String>> {
    let labels = |part: &str| -> Vec<String> {
        let labels = part.chars().filter(|label| label.is_alphabetic());
        labels.map(|label| label.to_string()).collect()
    };
    let Some((before, behind)) = term.split_once("...") else {
        let names = labels(term);
        return (names.len() == rank).then_some(names);
    };
    let (mut names, behind) = (labels(before), labels(behind));
    let spread = rank.checked_sub(names.len() + behind.len())?;
    names.extend((1..=spread).rev().map(|from_end| format!("...{from_end}")));
    names.extend(behind);
    Some(names)
}

/// The operations of one run. Of one input, what is summed up; of two, a product of matrices in general.
pub fn count(op: &Op<'_>) -> Option<i128> {
    let equation = op.attributes.text("equation")?;
    let (left, _) = equation.split_once("->").unwrap_or((&equation, ""));
    let all = sizes(left, &op.inputs)?
        .values()
        .try_fold(1i128, |product, size| product.checked_mul(i128::from(*size)))?;
    match left.split(',').count() {
        1 => Some((op.input(0)? - op.out()?).max(0)),
        inputs => all.checked_mul(inputs as i128),
    }
}

/// The shape of the result; None for an equation without one.
pub fn output(equation: &str, shapes: &[Option<&[i64]>]) -> Option<Vec<i64>> {
    let (left, right) = equation.split_once("->")?;
    let sizes = sizes(left, shapes)?;
    let spread = sizes.keys().filter(|name| name.starts_with("...")).count();
    let labels = right.chars().filter(|label| label.is_alphabetic()).count();
    let dots = if right.contains("...") { spread } else { 0 };
    let names = names(right, labels + dots)?;
    names.iter().map(|name| sizes.get(name).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::Attributes;
    use stepscope_core::proto::wire_writer::MessageWriter;

    fn flops(equation: &str, inputs: &[&[i64]], output: &[i64]) -> Option<i128> {
        let mut value = MessageWriter::default();
        value.text(2, equation);
        let value = value.into_bytes();
        let attributes = Attributes::new([("equation", value.as_slice())].into_iter());
        count(&Op {
            name: "Einsum",
            attributes: &attributes,
            inputs: inputs.iter().map(|shape| Some(*shape)).collect(),
            constants: Vec::new(),
            output: Some(output),
        })
    }

    #[test]
    fn labels_multiply() {
        assert_eq!(flops("ij,jk->ik", &[&[2, 3], &[3, 5]], &[2, 5]), Some(60));
        assert_eq!(flops("bij,bjk->bik", &[&[7, 2, 3], &[7, 3, 5]], &[7, 2, 5]), Some(420));
        assert_eq!(flops("...ij,jk->...ik", &[&[7, 2, 3], &[3, 5]], &[7, 2, 5]), Some(420));
        assert_eq!(flops("...ij,...jk->...ik", &[&[4, 7, 2, 3], &[1, 3, 5]], &[4, 7, 2, 5]), Some(1680));
        assert_eq!(flops("ij->i", &[&[2, 3]], &[2]), Some(4));
        assert_eq!(flops("ij->ji", &[&[2, 3]], &[3, 2]), Some(0));
        assert_eq!(flops("i,ij->j", &[&[2, 2], &[2, 3]], &[3]), None);
    }

    #[test]
    fn results_have_shapes() {
        let of = |equation, shapes: &[&[i64]]| {
            let shapes: Vec<_> = shapes.iter().map(|shape| Some(*shape)).collect();
            output(equation, &shapes)
        };
        assert_eq!(of("ij,jk->ki", &[&[2, 3], &[3, 5]]), Some(vec![5, 2]));
        assert_eq!(of("...ij,...jk->...ik", &[&[4, 7, 2, 3], &[1, 3, 5]]), Some(vec![4, 7, 2, 5]));
        assert_eq!(of("...i->i", &[&[4, 7, 2]]), Some(vec![2]));
        assert_eq!(of("ij", &[&[2, 3]]), None);
    }
}
