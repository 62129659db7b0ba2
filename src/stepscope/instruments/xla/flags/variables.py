"""Variables of the environment that XLA and TensorFlow read, and what the flags are for that people need
most, in our words."""

from __future__ import annotations

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
    "xla_dump_hlo_as_url": "Prints a URL that draws each module.",
    "xla_dump_hlo_snapshots": "Dumps modules with the arguments and the result of each run: large.",
    "xla_dump_hlo_pass_re": "Dumps the module before and after passes whose name matches; .* is all.",
    "xla_dump_hlo_module_re": "Dumps only modules whose name matches.",
    "xla_dump_max_hlo_modules": "The most modules that are dumped; -1 for all of them.",
    "xla_dump_include_timestamp": "Puts the time into the names of dumped files.",
    "xla_dump_large_constants": "Prints large constants in full.",
    "xla_dump_compress_protos": "Compresses dumped protos with gzip.",
    "xla_dump_module_metadata": "Dumps which passes ran on each module, and how long they took.",
    "xla_hlo_profile": "Counts the time of instructions; a profiler's trace tells more.",
    "xla_gpu_autotune_level": "How carefully kernels are chosen by trying; 0 tries none.",
    "xla_backend_optimization_level": "How hard the backend optimises, from 0 to 3.",
    "xla_disable_hlo_passes": "Passes that are left out, by name, with commas.",
    "xla_force_host_platform_device_count": "Splits the CPU into this many devices.",
    "tf_xla_auto_jit": "Compiles parts of graphs by itself: 0 off, 1 what is safe, 2 as much as it can.",
    "tf_xla_cpu_global_jit": "Lets tf_xla_auto_jit compile for CPU, too.",
    "tf_xla_clustering_debug": "Logs clusters with their ops, and dumps graphs before and after.",
    "tf_xla_min_cluster_size": "Nodes that a cluster must have to be compiled.",
    "tf_xla_max_cluster_size": "The most nodes of a cluster.",
    "tf_xla_ops_to_cluster": "Clusters only these ops, or groups of them such as FUSIBLE, with commas.",
    "tf_xla_cluster_exclude_ops": "Ops that are never clustered, with commas.",
}


def rows() -> list[dict[str, Any]]:
    """The variables as rows of the table."""
    return [
        {
            **dict.fromkeys(("values", "since", "until")),
            **{"name": one.name, "variable": "environment", "library": "", "type": one.type},
            **{"default": one.default, "status": one.status, "doc": one.doc},
        }
        for one in ALL
    ]
