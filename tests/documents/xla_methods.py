"""Items of "Methods of XLA: dumps, flags, clusters, debuggers"."""

from pathlib import Path

from .item import Item

TITLE = "Methods of XLA: dumps, flags, clusters, debuggers"

_STEPS = "xplane/tf_jit_steps.xplane.pb.gz"
_AFTER = "xla_dump/module_0002.jit_train_step.cpu_after_optimizations.hlo.pb"


def _is_graph_def(folder: Path, _: str) -> None:
    """The text that TensorBoard is to read has every node, and no input that is not there."""
    lines = (folder / "t.pbtxt").read_text().splitlines()
    names = {line.split('"')[1] for line in lines if line.startswith("  name:")}
    inputs = {line.split('"')[1].lstrip("^").partition(":")[0] for line in lines if "  input:" in line}
    assert len(names) == sum(line == "node {" for line in lines) >= 3
    assert inputs <= names


def _is_listed(_: Path, printed: str) -> None:
    """Each of the 26 dumped graphs has its file's name."""
    assert printed.count(".pbtxt") == 26


def _has_folders(folder: Path, _: str) -> None:
    assert (folder / "d" / "graphs").is_dir()


ITEMS: list[Item] = [
    Item(
        "One step as a timeline of its ops",
        "stepscope xplane/tf_xla.xplane.pb.gz",
        ("5 steps", "Most work on hosts, copies included: Conv2D"),
    ),
    Item(
        "Deception 1: an op is the unit, and what is inside is not seen",
        f"stepscope {_STEPS}",
        ("11 train steps", "Most work on hosts: matmul"),
        never=("One op hides", "__inference_step_137 (8"),
    ),
    Item(
        "Deception 2: rows that are drawn are not streams",
        "stepscope query chrome/kineto_cuda.json @concurrency",
        ("kineto_cuda rank-1 0 device GPU 1 2 1.00 130.6",),
    ),
    Item(
        "Deception 3: allreduces of Horovod look parallel, and one thread does them",
        "stepscope run_metadata/horovod --all",
        (
            "Collectives look parallel, but share their links",
            "the time in which any collective runs, 20.0 ms",
            "49.6 % of the step time of the host is communication",
        ),
        never=("of unknown",),
    ),
    Item(
        "Deception 4: with XLA, the first step compiles",
        f"stepscope {_STEPS}",
        ("Left out of the averages: step 0 (compile, 7.98 s",),
    ),
    Item(
        "mpirun with Horovod on several hosts: who waits for whom",
        "stepscope chrome/horovod.json",
        ("2 ranks meet in up to 2 collectives", "They wait 152 µs in all for the last to arrive"),
    ),
    Item(
        "Upload a graph to TensorBoard as pbtxt",
        "stepscope graph graph/small.pb -o t.pbtxt",
        ("wrote t.pbtxt: 3 nodes",),
        check=_is_graph_def,
    ),
    Item(
        "See the clusters in mark_for_compilation_annotated_N.pbtxt",
        "stepscope xla clusters xla_clusters/mark_for_compilation_annotated_5.pbtxt",
        ("20 nodes in 2 clusters, 6 outside", "4 outside: an argument or a result of the graph"),
    ),
    Item(
        "Choose among the graphs that TF_DUMP_GRAPH_PREFIX dumped",
        "stepscope graph xla_clusters --list",
        ("26 mark_for_compilation_5.pbtxt", "3 mark_for_compilation_annotated_1.pbtxt"),
        check=_is_listed,
    ),
    Item(
        "Begin with that folder",
        "stepscope xla_clusters",
        ("26 files hold graphs", "stepscope xla clusters xla_clusters", "stepscope graph xla_clusters"),
    ),
    Item(
        "Turn an HLO pb into something that a viewer reads, which the article could not",
        f"stepscope graph {_AFTER} -o t.pbtxt",
        ("wrote t.pbtxt: 143 nodes",),
        check=_is_graph_def,
    ),
    Item(
        "Draw a dumped .dot, for which graphviz takes too long",
        "stepscope graph graph/xla_fusion.dot -o fusion.svg\nstepscope graph graph/xla_fusion.dot --depth 2",
        ("5 nodes and 4 edges", "multiply.0 1 multiply"),
    ),
    Item(
        "TF_CPP_MIN_LOG_LEVEL",
        "stepscope xla flags TF_CPP_MIN_LOG_LEVEL --catalogue",
        ("Drops messages below this level: 1 infos, 2 warnings, 3 errors.",),
    ),
    Item(
        "TF_CPP_MIN_VLOG_LEVEL",
        "stepscope xla flags TF_CPP_MIN_VLOG_LEVEL --catalogue",
        ("does nothing in TensorFlow 2.21: set TF_CPP_MAX_VLOG_LEVEL",),
    ),
    Item(
        "TF_DUMP_GRAPH_PREFIX and the flag that asks for clusters",
        "stepscope xla env --dump d --graphs",
        ("export TF_DUMP_GRAPH_PREFIX=", "export TF_XLA_FLAGS=--tf_xla_clustering_debug"),
        check=_has_folders,
    ),
    Item(
        "The table of TF_XLA_FLAGS",
        "stepscope xla flags tf_introduce_floating_point_jitter_to_tensors --catalogue",
        ("removed tensorflow 2.8.0 Added noise to tensors, to see what rounding does.",),
    ),
    Item(
        "The table of XLA_FLAGS, also of flags that are gone",
        'stepscope xla check "--xla_gpu_disable_autotune --xla_gpu_disable_ptxas_optimizations" --catalogue',
        (
            "--xla_gpu_disable_autotune: the library no longer has it; write --xla_gpu_autotune_level=0",
            "write --xla_gpu_disable_gpuasm_optimizations",
        ),
        exit=1,
    ),
    Item(
        "The same of the library that is installed",
        "stepscope xla flags xla_cpu_enable_fast_math",
        ("bool false flag 0.4.30 or earlier",),
        kept_by="tests/xla_tools/test_xla_flags.py::test_a_library_is_asked_once_for_each_build",
    ),
    Item(
        "The basic configuration, and what it dumps",
        'stepscope xla check "--xla_dump_to=/tmp/foo --xla_dump_hlo_as_text --xla_dump_hlo_as_dot '
        '--xla_dump_hlo_as_html --xla_dump_hlo_as_proto" --catalogue\nstepscope xla dumps xla_dump',
        ("2 modules of 1 function", "jit_train_step 2 cpu_after_optimizations NULL 143 17 20166 78554"),
    ),
    Item(
        "xla_hlo_profile: cycles of each instruction",
        "stepscope xla check --xla_hlo_profile --catalogue",
        ("--xla_hlo_profile: accepted, does nothing; use `stepscope xla ops`",),
        never=("all fine",),
    ),
    Item(
        "The log of the clustering, with reasons",
        "stepscope xla clusters xla_clusters/program.log",
        (
            "4 outside: an argument or a result of the graph",
            "2 outside: cannot be compiled",
            "Sum 1, Tanh 1 3 2",
        ),
        never=("6 outside: cannot be compiled",),
    ),
    Item(
        "tf2xla_supported_ops for XLA_CPU_JIT",
        "stepscope xla ops-supported xla_clusters",
        ("AsString 1 no_kernel", "StringLength 1 no_kernel"),
        kept_by="tests/xla_tools/test_xla_supported.py::test_a_node_of_several_dumps_is_counted_once",
    ),
    Item(
        "tf2xla_supported_ops for XLA_GPU_JIT",
        "stepscope xla ops-supported --device XLA_GPU_JIT",
        ("this TensorFlow was built without GPUs: give --python of one that has them",),
        exit=2,
        kept_by="tests/xla_tools/test_xla_supported.py::test_a_device_without_kernels_is_not_recommended",
    ),
    Item(
        "Symbols of the library, as readelf shows them",
        "stepscope xla symbols",
        ("functions",),
        kept_by="tests/xla_tools/test_xla_symbols.py::test_our_own_library_as_readelf_has_it",
    ),
    Item(
        "Build TensorFlow with -g, and with Python 3",
        "stepscope xla symbols",
        ("`bazel build --copt=-g --strip=never …` builds TensorFlow with them",),
        kept_by="tests/xla_tools/test_xla_symbols.py::test_the_verb",
    ),
    Item(
        "Attach to a process that waits, and see all stacks",
        "stepscope attach PID",
        ("python", "native"),
        kept_by="tests/cli/test_attach.py::test_python_threads_with_their_functions",
    ),
    Item(
        "Attach, then break, then continue",
        "stepscope attach PID --break TF_NewSession",
        ("gdb stopped at TF_NewSession", "went on"),
        kept_by="tests/cli/test_attach_started.py::test_a_process_goes_on_after_a_breakpoint",
    ),
    Item(
        "Break in TF_NewSession and print the stack",
        "stepscope attach --break TF_NewSession -- python train.py",
        ("gdb stopped at TF_NewSession; the program was ended there",),
        kept_by="tests/cli/test_attach_started.py::test_the_stack_at_a_breakpoint",
    ),
    Item(
        "The folder of sources, for lines around a frame",
        "stepscope attach PID --source /build/tensorflow=tensorflow",
        ("lines of the files of C++ frames, where the library has debug information",),
        kept_by="tests/cli/test_attach_started.py::test_sources_are_found_by_a_map",
    ),
    Item(
        "Passes side by side, and what a recompilation changed",
        "stepscope xla diff xla_dump --compile 1..2",
        ("flops 52,890 → 78,554 (+25,664)", "19 parameters with another shape"),
    ),
]
