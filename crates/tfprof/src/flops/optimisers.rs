//! Optimisers: so many operations for each element of the gradient.
//!
//! The numbers are the arithmetic of TensorFlow's kernels by element, in the units of TensorFlow's statistics:
//! a root is 1, a reciprocal root 2. What is done once for all elements (a learning rate, a power of a decay)
//! does not count, nor does clipping of indices. Sparse forms do the same for the rows that they touch.

use super::Op;

/// Place of the gradient among the inputs, and operations for each of its elements.
fn rule(op: &Op<'_>) -> Option<(usize, i128)> {
    let plain = op.name.strip_prefix("Resource").unwrap_or(op.name);
    let plain = plain.strip_prefix("Sparse").unwrap_or(plain);
    let nesterov = op.attributes.truth("use_nesterov");
    // True unless it says otherwise.
    let slots = !op.attributes.has("update_slots") || op.attributes.truth("update_slots");
    Some(match plain.strip_prefix("Apply")? {
        // var -= rate * grad
        "GradientDescent" => (2, 2),
        // The step, then sign(v) / (1 + rate * l2) * max(|v| - rate * l1, 0).
        "ProximalGradientDescent" => (4, 8),
        // accum = momentum * accum + grad; var -= rate * accum, or with Nesterov grad * rate + accum * momentum * rate.
        "Momentum" => (3, if nesterov { 7 } else { 4 }),
        // accum = momentum * accum - rate * grad; var += accum, or with Nesterov momentum * accum - rate * grad.
        "KerasMomentum" => (3, if nesterov { 7 } else { 4 }),
        // accum += grad²; var -= rate * grad * rsqrt(accum)
        "Adagrad" => (3, if slots { 7 } else { 5 }),
        // The same with grad * rate / (sqrt(accum) + epsilon).
        "AdagradV2" => (4, if slots { 7 } else { 5 }),
        // Two sums; sign(s) * max(|s| - l1 * steps, 0); its product with -rate over rate * l2 * steps + sqrt(squares).
        "AdagradDA" => (3, 12),
        // accum += grad²; rate * rsqrt(accum); the step; the proximal term with that rate.
        "ProximalAdagrad" => (5, 16),
        // Two decaying squares (4 each); sqrt(update + epsilon) * rsqrt(accum + epsilon) * grad (7); var -= rate * it.
        "Adadelta" => (6, 17),
        // Two moments (3 and 4); var -= m * rate / (sqrt(v) + epsilon), where Nesterov has (1 - b1) * grad + b1 * m.
        "Adam" => (9, if nesterov { 15 } else { 12 }),
        // And the larger of the second moments.
        "AdamWithAmsgrad" => (10, 13),
        // m (3); v = max(b2 * v, |grad|) (3); var -= rate * m / (v + epsilon) (4).
        "AdaMax" => (8, 10),
        // ms (4); mom = mom * momentum + grad * rate / sqrt(ms + epsilon) (6); var -= mom.
        "RMSProp" => (7, 11),
        // And mg (3); the root is of ms - mg² + epsilon.
        "CenteredRMSProp" => (8, 16),
        // accum (2); linear (7, of which two powers); quadratic (2); the proximal term (6).
        "Ftrl" => (3, 17),
        // And the gradient's shrinkage.
        "FtrlV2" => (3, 19),
        // m (3); the signs' product into a factor of the gradient (6); var -= rate * it.
        "AddSign" | "PowerSign" => (6, 11),
        _ => return None,
    })
}

/// Whether [`count`] knows the op.
pub fn has_formula(name: &str) -> bool {
    let attributes = super::Attributes::default();
    rule(&Op { name, attributes: &attributes, inputs: Vec::new(), constants: Vec::new(), output: None })
        .is_some()
}

/// The operations of one run.
pub fn count(op: &Op<'_>) -> Option<i128> {
    let (gradient, each) = rule(op)?;
    Some(op.input(gradient)? * each)
}
