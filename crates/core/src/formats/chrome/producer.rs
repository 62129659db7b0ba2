//! Who wrote a file, by what only that writer writes.

use crate::store::Writer;

/// Names that are looked at.
const NAMES: u32 = 20_000;

/// One of the producers of `capture.producer`.
pub fn guess<'a>(writer: &Writer, processes: impl Iterator<Item = &'a str>) -> &'static str {
    let meta = |key: &str| writer.facts.meta.contains_key(key);
    let category = |wanted: &[&str]| {
        (0..writer.categories.len() as u32).any(|code| wanted.contains(&writer.categories.get(code)))
    };
    let name = |wanted: fn(&str) -> bool| {
        (0..(writer.names.len() as u32).min(NAMES)).any(|code| wanted(writer.names.get(code)))
    };
    let processes: Vec<&str> = processes.collect();
    if meta("viztracer_metadata") || category(&["fee", "FEE"]) {
        "viztracer"
    } else if (meta("schemaVersion")
        && (meta("deviceProperties") || meta("distributedInfo") || meta("traceName")))
        || category(&[
            "cpu_op", "cuda_runtime", "python_function", "gpu_memcpy", "gpu_memset", "gpu_user_annotation",
            "mtia_ccp_events", "hpu_op", "ac2g", "fwdbwd", "Runtime",
        ])
    {
        "kineto"
    } else if name(|name| name.starts_with("NEGOTIATE_") || name == "CYCLE_START") {
        "horovod"
    } else if category(&["Op"])
        && (!writer.op_names.is_empty() || processes.iter().any(|name| name.ends_with(" Compute")))
    {
        "tf_timeline"
    } else if processes.iter().any(|name| name.starts_with("/host:") || name.starts_with("/device:")) {
        // TensorFlow's profiler and JAX share the writer; the runtime's calls tell them apart.
        let jax = name(|name| {
            name.contains("PjRt")
                || name.contains("Pjit")
                || name.contains("jax")
                || name.contains("XlaComputation")
        });
        if jax { "jax" } else { "tf_profiler" }
    } else {
        "unknown"
    }
}
