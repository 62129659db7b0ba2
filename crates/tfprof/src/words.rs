//! The text around the nodes: explanations and headings.
//!
//! The sentences are TensorFlow's output, spelling included: those who compare or parse the files
//! must find them unchanged.

use super::options::Options;

/// The text before a view.
pub fn preface(command: &str, options: &Options, lacks_streams: bool) -> String {
    let view = match command {
        // The graph view has always introduced itself as the scope view.
        "scope" | "graph" => {
            "scope: The nodes in the model graph are organized by their names, which is hierarchical like filesystem."
        }
        "code" => {
            "code: When python trace is available, the nodes are python lines and their are organized by the python call stack."
        }
        _ => {
            "op: The nodes are operation kernel type, such as MatMul, Conv2D. Graph nodes belonging to the same type are aggregated together."
        }
    };
    let columns: Vec<String> = options.select.iter().map(|column| explain(column)).collect();
    let report = if lacks_streams { LACKS_STREAMS } else { "" };
    format!("{report}\nDoc:\n{view}\n{}\n\nProfile:\n", columns.join("\n"))
}

const LACKS_STREAMS: &str = "\n\nFound accelerator operation but misses accelerator stream stats!\n\n\
    It's likely a gpu tracing issue rather than tf-profiler issue.\n\
    If you found your operation missing accelerator time, consider to post to discuss@tensorflow.org!\n\n";

const CPU: &str = "cpu execution time: The time from the start to the end of the operation. It's the sum of actual cpu run time plus the time that it spends waiting if part of computation is launched asynchronously.";
const ACCELERATOR: &str = "accelerator execution time: Time spent executing on the accelerator. This is normally measured by the actual hardware library.";

fn explain(column: &str) -> String {
    match column {
        "bytes" => "requested bytes: The memory requested by the operation, accumulatively.",
        "micros" => {
            return format!(
                "total execution time: Sum of accelerator execution time and cpu execution time.\n{CPU}\n{ACCELERATOR}"
            );
        }
        "params" => "param: Number of parameters (in the Variable).",
        "float_ops" => {
            "flops: Number of float operations. Note: Please read the implementation for the math behind it."
        }
        "tensor_value" => "tensor_value: Not supported now.",
        "device" => "device: which device is placed on.",
        "op_types" => {
            "op_types: The attributes of the operation, includes the Kernel name device placed on and user-defined strings."
        }
        "occurrence" => "occurrence: The number of times it occurs",
        "input_shapes" => "input shape: The shape of input tensors",
        "accelerator_micros" => ACCELERATOR,
        "cpu_micros" => CPU,
        "peak_bytes" => {
            "peak bytes: The peak amount of memory that the operation is holding at some point."
        }
        "residual_bytes" => {
            "residual bytes: The memory not de-allocated after the operation finishes."
        }
        "output_bytes" => {
            "output bytes: The memory that is output from the operation (not necessarily allocated by the operation)"
        }
        other => return format!("Unknown select: {other}"),
    }
    .to_owned()
}

/// The heading of the columns. The scope and graph views begin with counts, the others with bytes.
pub fn heading(options: &Options, counts_first: bool) -> String {
    let counts = [("params", "# parameters"), ("float_ops", "# float_ops")];
    let bytes = [
        ("bytes", "requested bytes"),
        ("peak_bytes", "peak bytes"),
        ("residual_bytes", "residual bytes"),
        ("output_bytes", "output bytes"),
    ];
    let mut titles = Vec::new();
    let asked = |list: &[(&str, &'static str)], titles: &mut Vec<&'static str>| {
        titles.extend(list.iter().filter(|(column, _)| options.selects(column)).map(|(_, title)| *title));
    };
    if counts_first {
        asked(&counts, &mut titles);
    }
    asked(&bytes, &mut titles);
    if options.selects("micros") {
        titles.push("total execution time");
    }
    for (column, title) in
        [("accelerator_micros", "accelerator execution time"), ("cpu_micros", "cpu execution time")]
    {
        if options.selects("micros") || options.selects(column) {
            titles.push(title);
        }
    }
    if !counts_first {
        asked(&counts, &mut titles);
    }
    let occurrence = if counts_first { "op count (run|defined)" } else { "op occurrence (run|defined)" };
    let rest = [
        ("device", "assigned devices"),
        ("op_types", "op types"),
        ("occurrence", occurrence),
        ("input_shapes", "input shapes"),
    ];
    asked(&rest, &mut titles);
    format!("node name | {}\n", titles.join(" | "))
}
