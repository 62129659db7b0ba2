//! What `timeline_label` says about an execution.
//!
//! The executor writes `[mklcpu 1.0MB 1.0MB] name = OpType(in0, in1:1, ^control)`, the bracket only for
//! large allocations; parameter servers write
//! `[0.5MB] [9.5Gb/s] edge_7_layer1/w/read from /job:ps/... to /job:worker/...` for a received tensor;
//! GPU streams carry a kernel's name, `@@node:OpType#...` or a copy such as `MEMCPYHtoD ...`.

/// The parts of an executor's label.
#[derive(Debug, PartialEq, Eq)]
pub struct OpLabel<'a> {
    /// The text between the brackets.
    pub bracket: Option<&'a str>,
    /// Node name.
    pub name: &'a str,
    /// Op type.
    pub op_type: &'a str,
    /// The text between the parentheses.
    arguments: &'a str,
}

impl<'a> OpLabel<'a> {
    /// Names of the inputs, as written: `in0`, `in1:1`, `^control`.
    pub fn inputs(&self) -> impl Iterator<Item = &'a str> {
        self.arguments.split(", ").filter(|input| !input.is_empty())
    }
}

/// Reads an executor's label; None when it is of another kind.
pub fn op_label(label: &str) -> Option<OpLabel<'_>> {
    let (bracket, rest) = match label.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((bracket, rest)) => (Some(bracket), rest),
        None => (None, label),
    };
    let (name, call) = rest.split_once(" = ")?;
    let (op_type, arguments) = call.strip_suffix(')')?.split_once('(')?;
    (!op_type.is_empty() && !name.is_empty()).then_some(OpLabel { bracket, name, op_type, arguments })
}

/// The parts of a received tensor's label.
#[derive(Debug, PartialEq, Eq)]
pub struct Transfer<'a> {
    /// Size as written, such as `0.5MB`.
    pub size: Option<&'a str>,
    /// Rate as written, such as `9.5Gb/s`.
    pub rate: Option<&'a str>,
    /// The rendezvous key's name, such as `edge_7_layer1/w/read`.
    pub edge: &'a str,
    /// Device that sends.
    pub from: &'a str,
    /// Device that receives.
    pub to: &'a str,
}

impl<'a> Transfer<'a> {
    /// Name of the tensor.
    pub fn tensor(&self) -> &'a str {
        tensor_of(self.edge)
    }

    /// Its bytes. TensorFlow rounds those of more than 0.1 MiB, which it calls MB.
    pub fn bytes(&self) -> Option<i64> {
        let size = self.size?;
        match size.strip_suffix("MB") {
            Some(mib) => mib.parse().ok().map(|mib: f64| (mib * 1_048_576.0) as i64),
            None => size.strip_suffix('B')?.parse().ok(),
        }
    }
}

/// Name of the tensor that an edge carries: the edge without `edge_7_`.
pub fn tensor_of(edge: &str) -> &str {
    let numbered = edge.strip_prefix("edge_").and_then(|rest| rest.split_once('_'));
    match numbered {
        Some((number, tensor)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => tensor,
        _ => edge,
    }
}

/// Reads a received tensor's label; None when it is of another kind.
pub fn transfer(label: &str) -> Option<Transfer<'_>> {
    let mut rest = label;
    let mut brackets = [None, None];
    for slot in &mut brackets {
        if let Some((bracket, behind)) = rest.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            *slot = Some(bracket);
            rest = behind;
        }
    }
    let (edge, ends) = rest.split_once(" from ")?;
    let (from, to) = ends.split_once(" to ")?;
    Some(Transfer { size: brackets[0], rate: brackets[1], edge, from, to })
}

/// Node and op type of a row on a GPU stream: from `@@node:OpType#` in the label, else from the node name.
pub fn kernel<'a>(label: &'a str, node_name: &'a str) -> (&'a str, Option<&'a str>) {
    let marked = label.split_once("@@").and_then(|(_, rest)| rest.split_once('#')).map(|(name, _)| name);
    match marked.filter(|name| !name.is_empty()).unwrap_or(node_name).split_once(':') {
        Some((name, op_type)) => (name, Some(op_type.split(':').next().unwrap_or(op_type))),
        None => (marked.filter(|name| !name.is_empty()).unwrap_or(node_name), None),
    }
}

/// The edge and the tensor that a row on a GPU stream copies; None where it copies none that is known.
pub fn copied<'a>(label: &'a str, node_name: &'a str) -> Option<(&'a str, &'a str)> {
    let (edge, op_type) = kernel(label, node_name);
    let tensor = tensor_of(edge);
    (tensor.len() < edge.len() && op_type.is_some_and(|kind| kind.starts_with("MEMCPY")))
        .then_some((edge, tensor))
}

/// The name of the node whose output a `_Recv` receives: partitioning adds `_S9` or `/_9` to it.
pub fn received(name: &str) -> Option<&str> {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 {
        return None;
    }
    let front = &name[..name.len() - digits];
    front.strip_suffix("_S").or_else(|| front.strip_suffix("/_")).filter(|bare| !bare.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executor_labels() {
        let label =
            op_label("[mklcpu 0.1MB 0.1MB] layer1/MatMul = _MklMatMul(IteratorGetNext, w/read:1, ^x)")
                .unwrap();
        assert_eq!(
            (label.bracket, label.name, label.op_type),
            (Some("mklcpu 0.1MB 0.1MB"), "layer1/MatMul", "_MklMatMul")
        );
        assert_eq!(label.inputs().collect::<Vec<_>>(), ["IteratorGetNext", "w/read:1", "^x"]);
        assert_eq!(op_label("_SOURCE = NoOp()").unwrap().inputs().count(), 0);
        for other in ["", "RecvTensor", "a = b", "a = (b)", " = Op()", "MEMCPYHtoD 12 bytes", "[open a = Op("]
        {
            assert_eq!(op_label(other), None, "{other}");
        }
    }

    #[test]
    fn transfers() {
        let label = "[0.5MB] [9.5Gb/s] edge_7_layer1/w/read from /job:ps/task:0 to /job:worker/task:0";
        let found = transfer(label).unwrap();
        assert_eq!(
            (found.size, found.rate, found.tensor(), found.bytes()),
            (Some("0.5MB"), Some("9.5Gb/s"), "layer1/w/read", Some(524_288))
        );
        assert_eq!(transfer("[4B] edge_7_x from y to z").unwrap().bytes(), Some(4));
        assert_eq!(transfer("[?] edge_7_x from y to z").unwrap().bytes(), None);
        assert_eq!((found.from, found.to), ("/job:ps/task:0", "/job:worker/task:0"));
        assert_eq!(transfer("x from y to z").unwrap().tensor(), "x");
        assert_eq!(transfer("edge_7 from y"), None);
    }

    #[test]
    fn kernels() {
        assert_eq!(kernel("stuff@@conv1/Conv2D:Conv2D#id=1#", "x"), ("conv1/Conv2D", Some("Conv2D")));
        assert_eq!(kernel("", "conv1/Conv2D:Conv2D"), ("conv1/Conv2D", Some("Conv2D")));
        assert_eq!(kernel("MEMCPYHtoD 4 bytes", "x:Copy:MEMCPYHtoD"), ("x", Some("Copy")));
        assert_eq!(kernel("@@#", "unknown"), ("unknown", None));
    }

    #[test]
    fn receivers() {
        assert_eq!(received("layer1/w/read_S9"), Some("layer1/w/read"));
        assert_eq!(received("a/b/_12"), Some("a/b"));
        for other in ["conv_1", "_S9", "x_S", "", "9"] {
            assert_eq!(received(other), None, "{other}");
        }
    }
}
