//! What a slice is, by what it is called: the rules of the base views `op_slice` and `wait_slice`.

use super::places::Place;

/// What a slice is called.
#[derive(Debug, Clone, Copy, Default)]
pub struct Texts<'a> {
    pub name: Option<&'a str>,
    pub category: Option<&'a str>,
    pub op_name: Option<&'a str>,
    pub op_type: Option<&'a str>,
}

/// What a slice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// It is in the view op_slice.
    pub is_op: bool,
    /// compute, copy, collective, compile, python, input (a wait for input) or wait.
    pub class: &'static str,
    /// It is work.
    pub works: bool,
    /// What is waited for, where it is in the view wait_slice.
    pub wait: Option<&'static str>,
}

/// What a slice at a place is. names_none: its producer tells no ops, so that all slices are; copies: its row shows
/// copies.
pub fn kind(texts: &Texts<'_>, place: Place, names_none: bool, copies: bool) -> Kind {
    let waits = is_waiting(texts);
    let class = match class(texts) {
        "compute" if copies => "copy",
        class => class,
    };
    Kind {
        is_op: is_op(texts, place, names_none),
        class: match (waits, is_for_input(texts)) {
            (true, true) => "input",
            (true, false) => "wait",
            (false, _) => class,
        },
        works: !waits && place != Place::Launch,
        wait: wait(texts).filter(|_| place != Place::None),
    }
}

fn is_op(texts: &Texts<'_>, place: Place, names_none: bool) -> bool {
    let category = texts.category.unwrap_or_default();
    match place {
        Place::None => false,
        Place::Device => !matches!(
            category,
            "gpu_user_annotation"
                | "user_annotation"
                | "cuda_sync"
                | "xpu_sync"
                | "overhead"
                | "python_function"
        ),
        // A call of an iterator makes input; what it runs is recorded by itself.
        Place::Host | Place::Launch
            if texts
                .op_type
                .or(texts.name)
                .is_some_and(|called| called.starts_with("Iterator::")) =>
        {
            false
        }
        Place::Host | Place::Launch => {
            texts.op_name.is_some()
                || texts.op_type.is_some()
                || matches!(category, "cpu_op" | "Op")
                || (names_none && !matches!(category, "user_annotation" | "python_function"))
        }
    }
}

/// Calls that wait, as devices and Python programs are recorded by any writer: no op has such a name.
const BLOCKING: [&str; 11] = [
    "event_wait%",
    "worker_idle%",
    "%ynchronize",
    "%ynchronize %",
    "%threading%wait%",
    "%wait%threading.py%",
    "%_recv%connection.py%",
    "%connection.py%_recv%",
    "%lock.acquire%",
    "time.sleep%",
    "%select.%poll%",
];

fn is_waiting(texts: &Texts<'_>) -> bool {
    let called = texts.op_type.or(texts.name).unwrap_or_default();
    if any(&BLOCKING, called) || called == "_recv" {
        return true;
    }
    match (texts.op_type, texts.name.unwrap_or_default()) {
        (None, name) => {
            any(
                &["IteratorGetNext%", "infeed%", "recv-done%", "copy-done%"],
                name,
            ) || any(&["WAIT_FOR_%", "NEGOTIATE_%"], name)
                || name == "QUEUE"
        }
        (Some(op_type), _) => {
            like("IteratorGetNext%", op_type)
                || matches!(
                    op_type,
                    "_Recv"
                        | "_HostRecv"
                        | "Recv"
                        | "RecvTensor"
                        | "QueueDequeueV2"
                        | "QueueDequeueManyV2"
                        | "QueueDequeueUpToV2"
                        | "QueueDequeueMany"
                        | "QueueDequeue"
                        | "QueueDequeueUpTo"
                        | "infeed"
                        | "recv-done"
                        | "copy-done"
                        | "OptionalGetValue"
                        | "CollectiveBcastRecv"
                        | "CollectiveBcastRecvV2"
                        | "send-done"
                        | "BarrierTakeMany"
                )
        }
    }
}

/// Of what waits: whether it is for an element of the input pipeline.
fn is_for_input(texts: &Texts<'_>) -> bool {
    match texts.op_type {
        None => any(
            &["IteratorGetNext%", "infeed%"],
            texts.name.unwrap_or_default(),
        ),
        Some(op_type) => {
            any(&["IteratorGetNext%", "QueueDequeue%"], op_type)
                || matches!(op_type, "infeed" | "OptionalGetValue")
        }
    }
}

/// Kernels that NCCL, RCCL, MSCCL and oneCCL run, and the all-reduce that inference servers have of their own.
const COLLECTIVE_KERNELS: [&str; 6] = [
    "nccl%",
    "rccl%",
    "mscclKernel%",
    "oneccl%",
    "%ncclKernel%",
    "%cross_device_reduce%",
];
/// Names of collectives in JAX, after which XLA names the instructions: `psum.3`, `psum_invariant`. In a
/// pattern, `_` stands for `-` as well.
const COLLECTIVES_OF_JAX: [&str; 6] = [
    "psum%",
    "ppermute%",
    "all_gather%",
    "all_to_all%",
    "reduce_scatter%",
    "ragged_all_to_all%",
];
const COLLECTIVES: [&str; 8] = [
    "all-reduce%",
    "all-gather%",
    "reduce-scatter%",
    "all-to-all%",
    "collective-permute%",
    "%ALLREDUCE",
    "%ALLGATHER",
    "%BROADCAST",
];
const COLLECTIVE_TYPES: [&str; 8] = [
    "Nccl%",
    "Horovod%",
    "Collective%",
    "all-reduce%",
    "all-gather%",
    "all-to-all%",
    "reduce-scatter%",
    "collective-permute%",
];

fn is_collective(text: &str, called: &[&str]) -> bool {
    any(called, text) || any(&COLLECTIVE_KERNELS, text) || any(&COLLECTIVES_OF_JAX, text)
}

fn class(texts: &Texts<'_>) -> &'static str {
    let compiles = |text: &str| like("%compile", text) && like("%xla_compile", text);
    let Some(op_type) = texts.op_type else {
        let name = texts.name.unwrap_or_default();
        let copies = matches!(
            texts.category,
            Some("gpu_memcpy" | "gpu_memset" | "Memcpy" | "Memset")
        );
        return if any(&["Memcpy%", "Memset%", "MEMCPY%"], name) || copies {
            "copy"
        } else if is_collective(name, &COLLECTIVES) {
            "collective"
        } else if compiles(name) || like("XlaCompile%", name) {
            "compile"
        } else {
            "compute"
        };
    };
    let copies = any(&["MEMCPY%", "Memcpy%", "Memset%"], op_type)
        || matches!(
            op_type,
            "copy" | "copy-start" | "_Send" | "_HostSend" | "CopyHost" | "Copy"
        );
    if copies {
        "copy"
    } else if is_collective(op_type, &COLLECTIVE_TYPES) {
        "collective"
    } else if like("%XlaCompile", op_type) || texts.op_name.is_some_and(compiles) {
        "compile"
    } else if matches!(
        op_type,
        "EagerPyFunc"
            | "PyFunc"
            | "PyFuncStateless"
            | "pure_callback"
            | "io_callback"
            | "debug_callback"
            | "debug_print"
    ) {
        "python"
    } else {
        "compute"
    }
}

fn wait(texts: &Texts<'_>) -> Option<&'static str> {
    match texts.category {
        Some("cuda_sync" | "xpu_sync") => return Some("stream"),
        Some("gpu_user_annotation" | "python_function") => return None,
        _ => {}
    }
    if let Some(op_type) = texts.op_type {
        return if any(&["IteratorGetNext%", "QueueDequeue%"], op_type) || op_type == "infeed" {
            Some("input")
        } else if matches!(
            op_type,
            "_Recv" | "_HostRecv" | "Recv" | "RecvTensor" | "recv-done"
        ) {
            Some("receive")
        } else if op_type == "copy-done" {
            Some("copy")
        } else {
            None
        };
    }
    let name = texts.name.unwrap_or_default();
    let input = (like("IteratorGetNext%", name) && like("%::DoCompute", name))
        || any(&["enumerate(DataLoader)#%", "infeed%"], name);
    if input {
        Some("input")
    } else if like("recv-done%", name) || name == "RecvTensor" {
        Some("receive")
    } else if like("copy-done%", name) {
        Some("copy")
    } else if is_blocking(name) || any(&["%(wait for completion)", "%BlockUntilReady%"], name) {
        Some("device")
    } else if any(&["WAIT_FOR_%", "NEGOTIATE_%"], name) || name == "QUEUE" {
        Some("peers")
    } else {
        None
    }
}

fn is_blocking(name: &str) -> bool {
    matches!(
        name,
        "cudaStreamSynchronize"
            | "cudaDeviceSynchronize"
            | "cudaEventSynchronize"
            | "cuStreamSynchronize"
            | "cuCtxSynchronize"
            | "cuEventSynchronize"
            | "hipStreamSynchronize"
            | "hipDeviceSynchronize"
            | "hipEventSynchronize"
            | "StreamSynchronize"
            | "EventSynchronize"
            | "BlockHostUntilDone"
            | "StreamExecutor::SynchronizeAllActivity"
            | "cudaStreamSynchronize_ptsz"
    )
}

fn any(patterns: &[&str], text: &str) -> bool {
    patterns.iter().any(|pattern| like(pattern, text))
}

/// LIKE of SQL: `%` stands for any text, `_` for any one character.
pub fn like(pattern: &str, text: &str) -> bool {
    let Some(wanted) = pattern.chars().next() else {
        return text.is_empty();
    };
    let rest = &pattern[wanted.len_utf8()..];
    let mut characters = text.chars();
    match wanted {
        '%' if rest.is_empty() => true,
        '%' => {
            // The last part of a pattern is looked for at the end, so that long texts are not tried at
            // every place.
            if !rest.contains(['%', '_']) {
                return text.ends_with(rest);
            }
            let mut from = text;
            loop {
                if like(rest, from) {
                    return true;
                }
                match from.chars().next() {
                    Some(next) => from = &from[next.len_utf8()..],
                    None => return false,
                }
            }
        }
        '_' => characters.next().is_some() && like(rest, characters.as_str()),
        wanted => characters.next() == Some(wanted) && like(rest, characters.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::like;

    #[test]
    fn like_as_sql_has_it() {
        for (pattern, text, wanted) in [
            ("", "", true),
            ("", "a", false),
            ("%", "", true),
            ("Memcpy%", "MemcpyHtoD", true),
            ("Memcpy%", "aMemcpy", false),
            ("%ALLREDUCE", "x_ALLREDUCE", true),
            ("%ALLREDUCE", "x_ALLREDUCE_y", false),
            ("WAIT_FOR_%", "WAITxFORé", true),
            ("WAIT_FOR_%", "WAIT_FOR", false),
            ("%stream:all%", "a stream:all b", true),
            ("%BlockUntilReady%", "BlockUntilRead", false),
            ("%a_c%", "xxabc", true),
        ] {
            assert_eq!(like(pattern, text), wanted, "{text} LIKE {pattern}");
        }
    }
}
