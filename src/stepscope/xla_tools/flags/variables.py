"""Variables of the environment that XLA and TensorFlow read, and in our words what the flags are for that
people need most, which of them do nothing, and what replaced those that are gone."""

from typing import Any, NamedTuple

DEAD = "TF_CPP_MIN_VLOG_LEVEL"


class Variable(NamedTuple):
    """A variable: what it takes, what it does without it, and what it is for."""

    name: str
    type: str
    default: str | None
    doc: str
    status: str = "variable"


ALL = (
    Variable("XLA_FLAGS", "flags", None, "Flags of XLA: read once, when a process first needs them."),
    Variable(
        "TF_XLA_FLAGS", "flags", None, "Flags of TensorFlow's bridge to XLA: clustering and its limits."
    ),
    Variable(
        "TF_CPP_MIN_LOG_LEVEL", "int", "0", "Drops messages below this level: 1 infos, 2 warnings, 3 errors."
    ),
    Variable("TF_CPP_MAX_VLOG_LEVEL", "int", "0", "Prints verbose messages up to this level, of every file."),
    Variable(
        "TF_CPP_VMODULE",
        "file=level,…",
        None,
        "Verbose messages of single source files, such as compilability_check_util=5. A thousand times less "
        "to read than TF_CPP_MAX_VLOG_LEVEL.",
    ),
    Variable(
        DEAD,
        "int",
        None,
        "Does nothing in TensorFlow 2.21, which no longer contains the name. Set TF_CPP_MAX_VLOG_LEVEL, or "
        "TF_CPP_VMODULE for single files.",
        "dead",
    ),
    Variable("TF_DUMP_GRAPH_PREFIX", "folder", None, "Where graphs are dumped to; - is the log."),
    Variable("TF_DUMP_GRAPH_FMT", "text", "TXT", "The format of dumped graphs: TXT, BIN or NONE."),
    Variable("TF_DUMP_GRAPH_GROUPS", "text", None, "Groups of passes whose graphs are dumped, with commas."),
    Variable(
        "TF_DUMP_GRAPH_NAME_FILTER", "text", None, "Dumps only graphs whose name contains this; * is all."
    ),
    Variable("TF_DUMP_GRAPH_WRAPPED", "bool", None, "Wraps long lines of dumped graphs in the log."),
    Variable("TF_LOG_XLA_ACTIVITY", "bool", "true", "Whether the start of compilations is logged."),
    Variable(
        "TF_GRAPH_TO_HLO_COMPILER_DUMP_DIR", "folder", None, "Where the compiler from graph to HLO dumps."
    ),
    Variable("TF_DISABLE_PROFILING", "bool", "false", "Turns the profiler of TensorFlow off."),
)

DOCS = {
    "xla_dump_to": "The folder that dumps go to. Without it, the other dump flags write to the log.",
    "xla_dump_hlo_as_text": "Dumps modules as text, for reading.",
    "xla_dump_hlo_as_proto": "Dumps modules as HloProto: exact, and what stepscope reads best.",
    "xla_dump_hlo_as_dot": "Dumps modules as DOT graphs, which is slow for large modules.",
    "xla_dump_hlo_as_html": "Dumps modules as HTML pages with a graph.",
    "xla_dump_hlo_as_url": "Prints a URL that draws each module; only builds with a plugin for it have one.",
    "xla_dump_hlo_snapshots": "Dumps modules with the arguments and the result of each run: large.",
    "xla_dump_hlo_pass_re": "Dumps the module before and after passes whose name matches; .* is all.",
    "xla_dump_hlo_module_re": "Dumps only modules whose name matches.",
    "xla_dump_max_hlo_modules": "The most modules that are dumped; -1 for all of them.",
    "xla_dump_include_timestamp": "Puts the time into the names of dumped files.",
    "xla_dump_large_constants": "Prints large constants in full.",
    "xla_dump_compress_protos": "Compresses dumped protos with gzip.",
    "xla_dump_module_metadata": "Dumps which passes ran on each module, and how long they took.",
    "xla_hlo_graph_addresses": "Shows the addresses of instructions in drawings.",
    "xla_hlo_graph_sharding_color": "Colours drawings by how instructions are sharded.",
    "xla_allow_excess_precision": "Lets results be more exact than their type, as float32 for bfloat16.",
    "xla_backend_extra_options": "Options of a backend as key=value, with commas.",
    "xla_backend_optimization_level": "How hard the backend optimises, from 0 to 3.",
    "xla_disable_all_hlo_passes": "Leaves out all passes over HLO; some programs then do not compile.",
    "xla_disable_hlo_passes": "Passes that are left out, by name, with commas.",
    "xla_eliminate_hlo_implicit_broadcast": "Writes broadcasts out as instructions of their own.",
    "xla_embed_ir_in_executable": "Keeps the compiler's IR as text in the executable.",
    "xla_force_host_platform_device_count": "Splits the CPU into this many devices.",
    "xla_cpu_enable_fast_math": "Lets arithmetic on CPUs be reordered: faster, and less exact.",
    "xla_cpu_fast_math_honor_infs": "With fast math, results may be infinite.",
    "xla_cpu_fast_math_honor_nans": "With fast math, results may be NaN.",
    "xla_cpu_multi_thread_eigen": "Lets a product of matrices or a convolution on CPUs use several threads.",
    "xla_cpu_use_mkl_dnn": "Called MKL-DNN, today oneDNN, for products and convolutions on CPUs.",
    "xla_gpu_autotune_level": "How carefully kernels are chosen by trying; 0 tries none.",
    "xla_gpu_crash_on_verification_failures": "Ends the program when two kernels that are tried differ.",
    "xla_gpu_cuda_data_dir": "The folder of CUDA, with ptxas and libdevice.",
    "xla_gpu_enable_fast_min_max": "Lets minima and maxima on GPUs ignore NaN, which is faster.",
    "xla_gpu_ftz": "Lets code for GPUs take denormal numbers as zero.",
    "xla_llvm_disable_expensive_passes": "Leaves out passes of LLVM that take long.",
    "xla_llvm_enable_alias_scope_metadata": "Tells LLVM which buffers each access may be of (!alias.scope).",
    "xla_llvm_enable_invariant_load_metadata": "Tells LLVM which loads never change (!invariant.load).",
    "xla_llvm_enable_noalias_metadata": "Tells LLVM which accesses share no memory (!noalias).",
    "xla_test_all_input_layouts": "In tests of XLA, tries every layout of the arguments.",
    "xla_test_all_output_layouts": "In tests of XLA, tries every layout of the result.",
    "tf_xla_auto_jit": "Compiles parts of graphs by itself: 0 off, 1 what is safe, 2 as much as it can.",
    "tf_xla_cpu_global_jit": "Lets tf_xla_auto_jit compile for CPU, too.",
    "tf_xla_clustering_debug": "Logs clusters with their ops, and dumps graphs before and after.",
    "tf_xla_min_cluster_size": "Nodes that a cluster must have to be compiled.",
    "tf_xla_max_cluster_size": "The most nodes of a cluster.",
    "tf_xla_ops_to_cluster": "Clusters only these ops, or groups of them such as FUSIBLE, with commas.",
    "tf_xla_cluster_exclude_ops": "Ops that are never clustered, with commas.",
    "tf_xla_enable_lazy_compilation": "Compiles a cluster once it is used often; its ops run singly before.",
    "tf_xla_always_defer_compilation": "Never compiles what may be compiled late: its ops run singly.",
    "tf_xla_compile_on_demand": "Compiles ops one by one as they run, instead of clusters.",
    "tf_xla_print_cluster_outputs": "Prints the results of clusters.",
}

IDLE = {
    "xla_hlo_profile": "Accepted, and does nothing in jaxlib 0.10.2 and TensorFlow 2.21; use "
    "`stepscope xla ops`. TensorFlow 1.15 counted cycles of instructions."
}
"""Flags that libraries still take and that do nothing, with what to use."""

_ASYNC = "--xla_gpu_disable_async_collectives="
_GRAPHS = "--xla_gpu_enable_command_buffer="
INSTEAD = {
    "xla_gpu_algorithm_blacklist_path": "--xla_gpu_algorithm_denylist_path",
    "xla_gpu_cuda_graph_capture_threshold": "--xla_gpu_graph_min_graph_size",
    "xla_gpu_cuda_graph_enable_concurrent_region": "--xla_gpu_graph_enable_concurrent_region",
    "xla_gpu_cuda_graph_level": _GRAPHS,
    "xla_gpu_deterministic_reductions": "--xla_gpu_deterministic_ops",
    "xla_gpu_disable_autotune": "--xla_gpu_autotune_level=0",
    "xla_gpu_disable_ptxas_optimizations": "--xla_gpu_disable_gpuasm_optimizations",
    "xla_gpu_dump_autotuned_triton_fusions": "--xla_gpu_dump_autotuned_gemm_fusions",
    "xla_gpu_enable_async_all_gather": _ASYNC,
    "xla_gpu_enable_async_all_reduce": _ASYNC,
    "xla_gpu_enable_async_all_to_all": _ASYNC,
    "xla_gpu_enable_async_collective_permute": _ASYNC,
    "xla_gpu_enable_async_collectives": _ASYNC,
    "xla_gpu_enable_async_reduce_scatter": _ASYNC,
    "xla_gpu_enable_cuda_graphs": _GRAPHS,
    "xla_gpu_enable_data_parallel_collective_optimizer": "--xla_gpu_enable_pipelined_all_reduce",
    "xla_gpu_graph_level": _GRAPHS,
}
"""What does today what a flag did that is gone. Those with the number of the old field in xla.proto were
renamed."""

LOST = {
    "tf_introduce_floating_point_jitter_amount": "How much noise was added.",
    "tf_introduce_floating_point_jitter_to_tensors": "Added noise to tensors, to see what rounding does.",
    "xla_gpu_disable_multi_streaming": "Kept a program on one stream. XLA chooses its streams today.",
    "xla_gpu_max_kernel_unroll_factor": "Limited the unrolling of kernels, which XLA chooses today.",
    "xla_gpu_use_cudnn_batchnorm": "Let cuDNN do batch normalisation, which XLA takes apart today.",
    "xla_reduce_precision": "Rounded results of ops. jax.lax.reduce_precision does so in the program.",
}
"""What flags did that are gone and that nothing replaced."""


def doc(name: str) -> str | None:
    """What a flag is for; of one that is gone, what to write instead."""
    if name in INSTEAD:
        return f"Write {INSTEAD[name]} today."
    return DOCS.get(name) or IDLE.get(name) or LOST.get(name)


def rows() -> list[dict[str, Any]]:
    """The variables as rows of the table."""
    return [
        {
            **dict.fromkeys(("values", "since", "until")),
            **{"name": variable.name, "variable": "environment", "library": "", "type": variable.type},
            **{"default": variable.default, "status": variable.status, "doc": variable.doc},
        }
        for variable in ALL
    ]
