//! What each option means: the one list that the help, the prompt and the documentation are made of.

use super::options::{NAMES, Options};

/// An option: its name without a dash, the default of the command line, what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    /// Its name.
    pub name: &'static str,
    /// Its default, as the list of options shows it.
    pub default: String,
    /// What it does.
    pub meaning: &'static str,
}

/// In the order of [`NAMES`].
const MEANINGS: [&str; 21] = [
    "Show nodes at most this many levels below the root, which is the first level; op: this many types after \
     the first. A deeper node still counts in the totals above it.",
    "Show nodes that asked for at least so many bytes, with what is below them.",
    "Show nodes whose peaks of bytes, with those below them, add up to at least this.",
    "Show nodes that left at least so many bytes allocated, with what is below them.",
    "Show nodes whose outputs hold at least so many bytes, with those below them.",
    "Show nodes that took at least so many microseconds, with what is below them.",
    "The same for microseconds of kernels on accelerators.",
    "The same for microseconds on devices that schedule ops: processors, and the host's side of accelerators.",
    "Show nodes with at least so many parameters; scope and graph compare the node's own, op and code its total.",
    "Show nodes with at least so many floating point operations; own and total as for -min_params.",
    "Show nodes that ran at least so often; op: types with at least so many nodes; code does not compare.",
    "The step to look at, by its number; -1 is the average of the steps in which each node ran.",
    "Order siblings by name, rising, or by a figure's total, falling: one of the orders below.",
    "Count nodes that have a type which matches one of these expressions, separated by commas. Types are the \
     op, the device in lower case, and what op logs and checkpoints say. An expression matches a whole type. \
     What does not count hands its children up.",
    "Start from nodes whose name matches one of these: on each way down the first one that does.",
    "Show nothing below nodes whose name matches one of these; code: not the node either; op: nothing from \
     there on.",
    "Show nodes whose name matches one of these.",
    "Do not show nodes whose name matches one of these; what is below them moves up.",
    "Let totals count only what is shown; code ignores it.",
    "The columns, separated by commas.",
    "Where the answer goes: stdout, none, file:outfile=F, timeline:outfile=F (not op; F gets the step behind \
     it) or pprof:outfile=F (code with one column).",
];

/// All options.
pub fn all() -> Vec<Meaning> {
    let defaults = Options::default().list();
    let values = defaults.lines().map(|line| line[28..].to_owned());
    NAMES
        .iter()
        .zip(values)
        .zip(MEANINGS)
        .map(|((name, default), meaning)| Meaning { name: name.trim_start_matches('-'), default, meaning })
        .collect()
}

/// What each column shows, in the order of the options' list.
pub const COLUMN_MEANINGS: [(&str, &str); 14] = [
    ("bytes", "bytes asked for, temporary and persistent ones included"),
    ("micros", "microseconds: all, on accelerators, on other devices"),
    ("params", "parameters: the product of the node's shape, behind the shape"),
    ("float_ops", "floating point operations, times executions where there was a step"),
    ("tensor_value", "the value in the checkpoint; scope and graph"),
    ("device", "the device it is placed on"),
    ("op_types", "all types of the node"),
    ("occurrence", "executions | nodes"),
    ("input_shapes", "shapes of the inputs, by place"),
    ("accelerator_micros", "microseconds of kernels"),
    ("cpu_micros", "microseconds on other devices"),
    ("peak_bytes", "bytes held at most; a parent's is a sum, not one moment"),
    ("residual_bytes", "bytes still allocated at the end"),
    ("output_bytes", "bytes of the outputs"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::COLUMNS;

    #[test]
    fn every_option_is_explained() {
        let all = all();
        assert_eq!(all.len(), NAMES.len());
        assert_eq!((all[0].name, all[0].default.as_str()), ("max_depth", "10"));
        assert_eq!(all[20].default, "stdout:");
        let columns: Vec<&str> = COLUMN_MEANINGS.iter().map(|(column, _)| *column).collect();
        assert_eq!(columns, COLUMNS);
    }
}
