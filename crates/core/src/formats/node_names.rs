//! Names that TensorFlow's profiler gives to the executions of nodes of a graph.

/// Splits `node:OpType`, as TensorFlow names the execution of an op. Names with `::` are functions
/// of C++, names with a blank are texts: neither is an op.
pub fn op_of(name: &str) -> Option<(&str, &str)> {
    let (node, op) = name.rsplit_once(':')?;
    let mut letters = op.bytes();
    let first = letters.next()?;
    let op_type = (first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'>');
    let first = *node.as_bytes().first()?;
    let named = (first.is_ascii_alphanumeric() || first == b'.' || first == b'_')
        && node.bytes().all(|b| b.is_ascii_alphanumeric() || b"_./>-^".contains(&b));
    (op_type && named).then_some((node, op))
}

#[cfg(test)]
mod tests {
    use super::op_of;

    #[test]
    fn ops_are_known_by_their_names() {
        assert_eq!(
            op_of("StatefulPartitionedCall/a_1/MatMul:_MklMatMul"),
            Some(("StatefulPartitionedCall/a_1/MatMul", "_MklMatMul"))
        );
        assert_eq!(op_of("EagerPyFunc:EagerPyFunc"), Some(("EagerPyFunc", "EagerPyFunc")));
        for name in [
            "Iterator::Root::Prefetch", "EagerLocalExecute: MatMul", "$profiler.py:271 stop_trace", "a:",
            ":a", "12:30", "MatMul", "",
        ] {
            assert_eq!(op_of(name), None, "{name}");
        }
    }
}
