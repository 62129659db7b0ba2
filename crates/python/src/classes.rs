//! What a slice is, by what it is called.

use pyo3::prelude::*;
use stepscope_core::classes::{self, Texts};

/// Class, wait, layer, whether it is an op.
type Class = (&'static str, Option<&'static str>, Option<&'static str>, bool);

#[pyfunction]
#[pyo3(signature = (name, category, op_name, op_type, place="host", producer="", thread="", copies=false))]
#[allow(clippy::too_many_arguments)]
pub fn slice_class(
    name: &str,
    category: Option<&str>,
    op_name: Option<&str>,
    op_type: Option<&str>,
    place: &str,
    producer: &str,
    thread: &str,
    copies: bool,
) -> Class {
    let found = classes::class(&Texts {
        name: Some(name),
        category,
        op_name,
        op_type,
        place,
        producer,
        thread,
        copies,
        letters: None,
    });
    (found.class, found.wait, found.layer, found.is_op)
}

/// Labels of a short slice, of a long one, and of a long one without an accelerator; whether XLA makes a program.
type Doing = (Option<&'static str>, Option<&'static str>, Option<&'static str>, bool);

#[pyfunction]
pub fn slice_label(name: &str, category: Option<&str>, names_op: bool) -> Doing {
    let found = classes::doing(&Texts {
        name: Some(name),
        category,
        op_name: names_op.then_some(name),
        ..Texts::default()
    });
    (found.label, found.long, found.eager, found.builds)
}

#[pyfunction]
pub fn collective_kind(name: &str) -> Option<&'static str> {
    classes::collective(name)
}

#[pyfunction]
pub fn class_rules() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    (classes::lines().iter()).map(|line| (line.of, line.value, line.text, line.about)).collect()
}
