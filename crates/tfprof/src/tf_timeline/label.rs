//! Labels as Timeline reads them.

/// What a label says.
#[derive(Debug, PartialEq, Eq)]
pub struct Label<'a> {
    /// Name of the node.
    pub name: &'a str,
    /// Op type.
    pub op: &'a str,
    /// Inputs as they are written.
    pub inputs: Vec<&'a str>,
}

impl<'a> Label<'a> {
    /// One without inputs.
    pub fn of(name: &'a str, op: &'a str) -> Self {
        Label { name, op, inputs: Vec::new() }
    }
}

/// Reads `name = op(input, input)`.
///
/// Each part is the longest that leaves something for the rest, within the first line; what follows the
/// last `)` does not count. Anything else is `unknown`.
pub fn op(label: &str) -> Label<'_> {
    let line = label.split('\n').next().unwrap_or_default();
    // The last ` = ` that something in parentheses follows.
    let places: Vec<usize> =
        (0..line.len()).filter(|at| line.as_bytes()[*at..].starts_with(b" = ")).collect();
    for at in places.into_iter().rev() {
        let rest = &line[at + 3..];
        let Some(close) = rest.rfind(')') else {
            continue;
        };
        let Some(open) = rest[..close].rfind('(') else {
            continue;
        };
        let inputs = &rest[open + 1..close];
        return Label {
            name: &line[..at],
            op: &rest[..open],
            inputs: if inputs.is_empty() { Vec::new() } else { inputs.split(", ").collect() },
        };
    }
    Label::of("unknown", "unknown")
}

/// Reads a kernel's label, `… @@name:op#…`; without such a mark the node's name is `name:op`.
pub fn kernel<'a>(label: &'a str, node_name: &'a str) -> Label<'a> {
    let marked = match (label.find("@@"), label.find('#')) {
        (Some(start), Some(end)) if start + 2 < end => &label[start + 2..end],
        _ => node_name,
    };
    let mut parts = marked.split(':');
    Label::of(parts.next().unwrap_or_default(), parts.next().unwrap_or("unknown"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_parts_win() {
        let label = op("[cpu 1MB] a/b = MatMul(x, y:1, ^z)");
        assert_eq!((label.name, label.op, label.inputs), ("[cpu 1MB] a/b", "MatMul", vec!["x", "y:1", "^z"]));
        assert_eq!(op("a = b = C(d)").name, "a = b");
        // Only the first ` = ` of these has parentheses behind it.
        assert_eq!(op("a = C(d) = e").op, "C");
        assert_eq!(op("a = C(d(e)f)g").op, "C(d");
        assert_eq!(op("a = C(d(e)f)g").inputs, ["e)f"]);
        assert_eq!(op("a = C()").inputs, [""; 0]);
        assert_eq!(op("a = (,)").inputs, [","]);
        for other in ["", "a", "a = b", "a=b(c)", "a\nb = c()"] {
            assert_eq!(op(other), Label::of("unknown", "unknown"), "{other}");
        }
    }

    #[test]
    fn kernels_carry_marks() {
        assert_eq!(kernel("x@@n/m:Op#1", "q:R"), Label::of("n/m", "Op"));
        assert_eq!(kernel("x@@n/m#1", "q:R"), Label::of("n/m", "unknown"));
        assert_eq!(kernel("x@@#", "q:R:S"), Label::of("q", "R"));
        assert_eq!(kernel("# @@a:b", "q"), Label::of("q", "unknown"));
    }
}
