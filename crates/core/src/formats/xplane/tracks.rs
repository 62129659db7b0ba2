//! What planes and lines really are.

use crate::formats::markers::shows_steps;

/// What a plane represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneKind {
    /// Threads of the host.
    Host,
    /// Threads of the host as seen by CUPTI: calls of the driver that launch work.
    Driver,
    Gpu,
    Tpu,
    /// Another accelerator.
    Device,
    /// Facts about the recording.
    TaskEnvironment,
    /// Facts about programs: HLO modules.
    Metadata,
    Unknown,
}

impl PlaneKind {
    /// By the plane's name.
    pub fn of(name: &str) -> PlaneKind {
        let is = |prefix: &str| name.starts_with(prefix);
        match name {
            "Task Environment" | "/task_environment" => PlaneKind::TaskEnvironment,
            "/host:metadata" => PlaneKind::Metadata,
            "/host:CUPTI" | "/host:ROCTRACER" => PlaneKind::Driver,
            _ if is("/device:GPU") => PlaneKind::Gpu,
            _ if is("/device:TPU") || is("/device:SPARSECORE") => PlaneKind::Tpu,
            _ if name.starts_with("#Chip") || name.contains("#Chip") => PlaneKind::Tpu,
            _ if is("/device:CPU") || is("/host:") => PlaneKind::Host,
            _ if is("/device:") => PlaneKind::Device,
            _ => PlaneKind::Unknown,
        }
    }

    /// Value of device.kind; None for planes that are not a device.
    pub fn device(self) -> Option<&'static str> {
        match self {
            PlaneKind::Host | PlaneKind::Driver => Some("cpu"),
            PlaneKind::Gpu => Some("gpu"),
            PlaneKind::Tpu => Some("tpu"),
            PlaneKind::Device => Some("unknown"),
            PlaneKind::TaskEnvironment | PlaneKind::Metadata | PlaneKind::Unknown => None,
        }
    }

    /// True when its rows are an accelerator's.
    pub fn accelerator(self) -> bool {
        matches!(self, PlaneKind::Gpu | PlaneKind::Tpu | PlaneKind::Device)
    }
}

/// Rows that xprof and TensorFlow compute from others: the same time again, seen otherwise.
const DERIVED: [&str; 16] = [
    "Steps", "Step", "XLA Modules", "XLA TraceMe", "XLA Ops", "Async XLA Ops", "TensorFlow Name Scope",
    "TensorFlow Ops", "Framework Name Scope", "Framework Ops", "Source code", "Source Code", "Launch Stats",
    "Host Offload Ops", "GPU Power", "Counters",
];

/// Rows of a TPU that record what its cores did. Its other rows show units, bundles, counters, or what goes on
/// beside the cores, and are no execution.
const TPU_EXECUTION: [&str; 3] = ["XLA Ops", "Sparse Core Ops", "SparseCore Ops"];
/// Copies and calls that go on beside what a core does, from start to done.
const ASYNC: &str = "Async XLA Ops";
/// Rows whose slices are samples of counters.
const COUNTERS: &str = "_counters_";

/// Values of track.kind and track.records for a line.
pub fn line_kind(plane: PlaneKind, name: &str) -> (&'static str, &'static str) {
    let derived =
        DERIVED.contains(&name) || name.starts_with("Source code") || name.starts_with("Framework ");
    match plane {
        PlaneKind::Tpu if TPU_EXECUTION.contains(&name) => ("device_stream", "execution"),
        PlaneKind::Tpu if name == ASYNC => ("async", "execution"),
        _ if plane.accelerator() && (derived || name == COUNTERS) => ("derived", "annotation"),
        PlaneKind::Tpu => ("derived", "annotation"),
        PlaneKind::Gpu | PlaneKind::Device => ("device_stream", "execution"),
        PlaneKind::Driver => ("thread", "dispatch"),
        PlaneKind::Host if derived => ("derived", "annotation"),
        PlaneKind::Host => ("thread", "execution"),
        PlaneKind::TaskEnvironment | PlaneKind::Metadata | PlaneKind::Unknown => ("unknown", "unknown"),
    }
}

/// What a line's events have in common, as the file says it: the kind of thread, or the row without
/// the number of its stream: `tf_Compute/-253` is `tf_Compute`, `Stream #13(Compute)` is `Stream`.
pub fn line_category(name: &str) -> &str {
    let name = name.split_once('/').map_or(name, |(kind, _)| kind);
    let name = name.split_once('#').map_or(name, |(kind, _)| kind);
    name.trim()
}

/// True for the rows of an accelerator whose slices are its own steps, or runs of whole programs.
pub fn delimits_steps(plane: PlaneKind, name: &str) -> bool {
    plane.accelerator() && shows_steps(name)
}

/// True for threads on which tf.data calls the user's functions: those calls are not steps.
pub fn is_background(name: &str) -> bool {
    name.starts_with("tf_data_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_and_lines() {
        let cases = [
            ("/host:CPU", "python", "thread", "execution"),
            ("/host:CPU", "tf_Compute/-25", "thread", "execution"),
            ("/host:CUPTI", "Driver API", "thread", "dispatch"),
            ("/device:GPU:0", "Stream #13(MemcpyH2D,Compute)", "device_stream", "execution"),
            ("/device:GPU:0", "XLA Ops", "derived", "annotation"),
            ("/device:GPU:0", "TensorFlow Name Scope", "derived", "annotation"),
            ("/device:TPU:0", "XLA Ops", "device_stream", "execution"),
            ("/device:TPU:0", "XLA Modules", "derived", "annotation"),
            ("/device:TPU:0", "Steps", "derived", "annotation"),
            ("/device:TPU:0", "Async XLA Ops", "async", "execution"),
            ("/device:TPU:0", "Tensor Core", "derived", "annotation"),
            ("/device:TPU:0", "Overlay", "derived", "annotation"),
            ("/device:GPU:0", "_counters_", "derived", "annotation"),
            ("/device:CUSTOM:npu", "Queue 1", "device_stream", "execution"),
            ("something", "else", "unknown", "unknown"),
        ];
        for (plane, line, kind, records) in cases {
            assert_eq!(line_kind(PlaneKind::of(plane), line), (kind, records), "{plane} {line}");
        }
    }

    #[test]
    fn categories() {
        assert_eq!(line_category("tf_Compute/-253"), "tf_Compute");
        assert_eq!(line_category("Stream #13(Compute)"), "Stream");
        assert_eq!(line_category("python"), "python");
        assert_eq!(line_category(""), "");
    }
}
