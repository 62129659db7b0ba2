"""Labels of slices and of frames of Python, by their names.

A label that is `whole` holds for everything within: a checkpoint stays waiting, and a compilation compiling,
whatever ops and frames they are made of. Other labels give way to what is known of something further inside.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, cast

from stepscope import _core
from stepscope.capture import c_functions
from stepscope.code_lines import is_framework_or_library
from stepscope.instruments import python_frame
from stepscope.instruments.foreign_files import has_framework_name
from stepscope.step_labels import LABELS as LABELS
from stepscope.step_labels import Label as Label

NUMBER: dict[Label, int] = {label: number for number, label in enumerate(LABELS)}
"""What the core knows a label by."""

EXECUTION: tuple[Label, ...] = ("compute", "communication", "copy", "compile", "python", "wait")
"""What executes, the label that wins first: a collective under compute costs nothing, compute under a
collective is work all the same."""
ON_DEVICES: tuple[Label, ...] = ("compute", "communication", "copy")
"""What devices execute."""
OF_LINES: tuple[Label, ...] = ("python", "copy", "wait")
"""What a thread does in a line of the program, and not in ops. Some launching belongs to every op."""


class Meaning(NamedTuple):
    """What a slice or a frame stands for; nothing when label is None."""

    label: Label | None
    whole: bool = False
    hooked: bool = False
    """It is within a callback, which reads no input of the training."""


NOTHING = Meaning(None)
STORES = Meaning("wait", True)
"""A call that stores something."""
COMPILED = Meaning("compile", True)
"""A call that traced or compiled what it calls."""


def _rule(label: Label, pattern: str, whole: bool = False) -> tuple[Callable[[str], object], Meaning]:
    return re.compile(pattern).search, Meaning(label, whole)


LONG_PS = 200_000_000
"""What a slice stands for that takes longer may differ: long conversions move data."""
Meanings = tuple[Meaning, Meaning, Meaning, bool]
"""What slices of a name stand for: short ones, long ones, long ones where there is no accelerator; and
whether XLA makes a program in them."""


def builds(name: str) -> bool:
    """Whether XLA makes a program in a slice of that name."""
    return _name_meaning(name, None, False)[3]


def slice_meaning(
    name: str, category: str | None, is_op: bool, traced: bool, dur_ps: int = 0, computes: bool = False
) -> Meaning:
    """What a slice on the driving thread stands for. is_op: it names an op; traced: it is a call that traced
    or compiled what it calls; dur_ps: its duration, which decides what a conversion is, and an op that is run
    eagerly; computes: that runs on this thread, where there is no accelerator."""
    if traced:
        return COMPILED
    short, long, eager, _ = _name_meaning(name, category, is_op)
    if dur_ps < LONG_PS:
        return short
    return eager if computes else long


@lru_cache(maxsize=50_000)
def _name_meaning(name: str, category: str | None, is_op: bool) -> Meanings:
    """What all slices stand for that are called so, by the rules of the core (stepscope docs classes)."""
    short, long, eager, makes = _core.slice_label(name, category, is_op)
    if category == "python_function" or name.startswith("$"):
        frame = python_frame.recorded_call(name)
        if frame is not None:
            found = frame_meaning(frame[0], frame[2], "unknown")
        else:
            found = _BUILT_IN_WAIT if _WAITING.search(name) else NOTHING
        return found, found, found, makes
    return _meaning(short), _meaning(long), _meaning(eager), makes


def _meaning(label: str | None) -> Meaning:
    if label is None:
        return NOTHING
    return Meaning(cast("Label", label.removesuffix("!")), label.endswith("!"))


_TAKES = r"^(.*/)?(queue|multiprocessing/queues)\.py:(\w+\.)?get$"
_WORKERS = r"(^|/)dataloader\.py:(\w+\.)?(_get_iterator|_shutdown_workers)$"
_PURPOSES = (
    _rule(
        "input",
        r"(^|/)(iterator_ops|multi_device_iterator_ops)\.py:.*(__next__|_next_internal|get_next)",
        True,
    ),
    _rule("input", r"(^|/)dataloader\.py:.*(__next__|_next_data|_get_data|_try_get_data)", True),
    # Where a loader begins and ends its workers.
    _rule("input", _WORKERS, True),
    # A thread that gets from a queue waits for the one, or for the process, that fills it.
    _rule("input", _TAKES, True),
    _rule("input", r"tensorflow_datasets/.*:__next__|(^|/)data_adapters?/.*:.*(get_|__next__)", True),
    # Triton keeps what it compiled, and looks it up at each launch in files of its compiler.
    _rule("compile", r"(^|/)triton/(compiler|backends)/.*:(compile|make_\w+|ast_to_ttir|parse)$", True),
    _rule("dispatch", r"(^|/)triton/"),
    # Replicas that run op by op are threads, and the one that made them waits while they launch.
    _rule("dispatch", r"(^|/)distribute/(mirrored_run|cross_device_ops)\.py:", True),
    # What torch.compile wrote for calls of a compiled graph; at the end of each, it asks whether anything is
    # being compiled.
    _rule(
        "dispatch",
        r"_functorch/[^:]*codegen\.py:codegen\("
        r"|_inductor/runtime/autotune_cache\.py:.*(end_compile|has_active_compile|_get_context_bundler)$",
    ),
    _rule(
        "compile",
        r"(^|/)session\.py:.*_extend_graph|(^|/)op_def_library\.py:.*apply_op|(^|/)gradients_util\.py:|(^|/)(func_graph|autograph_util|partial_eval|mlir|compiler)\.py:"
        r"|(^|/)tracing_compilation\.py:.*_create_concrete"
        r"|(^|/)polymorphic_function\.py:.*(_initialize|_variable_creation)|autograph/(?!.*:(do_not_convert|call_with_unspecified_conversion_status))|interpreters/(mlir|pe)\."
        r"|(^|/)pjit\.py:.*(_create_pjit_jaxpr|_pjit_lower)"
        r"|(^|/)stages\.py:.*(lower|compile)|(^|/)pxla\.py:.*(lower|compile|from_hlo)"
        # Where torch.compile traces, lowers, generates code and tries variants of it. Its other files run
        # what was compiled before.
        r"|_dynamo/(convert_frame|symbolic_convert|output_graph|bytecode_\w+|codegen|guards|resume_execution|side_effects"
        r"|variables/\w+|backends/\w+)\.py:"
        r"|_inductor/(graph|scheduler|lowering|ir|async_compile|autotune_process|select_algorithm|pattern_matcher"
        r"|(codegen|fx_passes|kernel)/.*)\.py:"
        r"|_inductor/compile_fx\w*\.py:.*compile"
        r"|_inductor/codecache\.py:.*(compile|write|load|build)"
        r"|_inductor/runtime/.*:.*(compile|autotune|benchmark|bench$|coordinate_descent)"
        r"|_functorch/.*:.*(compile|create_aot|dispatch_\w+_graph)"
        r"|torch/fx/(_symbolic_trace|interpreter|experimental/\w+|passes/.*)\.py:",
        True,
    ),
    # What torch.compile generated, and what calls it.
    _rule("dispatch", r"_dynamo/|_inductor/|_functorch/|torch/fx/|torchinductor_[^:]*\.py:"),
    # What makes images, sound and text ready for a model computes in NumPy, and launches nothing.
    _rule(
        "python",
        r"(^|/)transformers/([^:]*/)?((image|audio|video)_(transforms|utils|processing)|feature_extraction|processing"
        r"|tokenization)(_\w+)?\.py:|(^|/)transformers/pipelines/(?!base\.py)[^:]*:(?!_?forward$|__call__$)",
    ),
    _rule(
        "wait",
        r"(^|/)checkpoint/|(^|/)(saver|graph_io|checkpoint|checkpoint_management|save|functional_saver|saving_lib"
        r"|saving_api|serialization)\.py:|(^|/)(summary_ops_v2|summary_io|writer|tensorboard|file_io|event_file_writer)"
        r"\.py:|(^|/)(orbax|tensorboardX)/|(^|/)(pickle|shelve|sqlite3|npyio|_npyio_impl|format)\.py:",
        True,
    ),
    _rule(
        "copy",
        r"(^|/)api\.py:.*(device_get|device_put)|(^|/)array\.py:.*(__array__|_value|_copy_single|copy_to_host)"
        r"|(^|/)dispatch\.py:.*device_put"
        r"|(^|/)ops\.py:.*(\.numpy$|^numpy$|_numpy|__array__)|(^|/)constant_op\.py:.*convert_to_eager_tensor",
        True,
    ),
    # Where a session converts what it is fed: a call of C, of which recorders keep the name. What else a
    # session does is to run its graph, whether anything is fed or not.
    _rule("copy", r"(^|/)numpy_compat\.py:np_asarray$|(^|/)numpy/core/(numeric|_asarray)\.py:asarray$"),
    _rule("idle", r":.*block_until_ready", True),
    # Lists become arrays element by element, in C.
    _rule("copy", r"(^|/)jax/_src/numpy/\w+\.py:(array|asarray)$", True),
)
_WAITING = re.compile(
    r"(^|[ "
    r".])(sleep|acquire|wait|select|poll|recv|recv_into|accept|connect|read|readinto|fsync|flush|join|getaddrinfo)>?$"
    r"|lock.*acquire|_wait_for_tstate_lock|socket"
)
_COLLECTING = frozenset({"_xla_gc_callback"})
"""Called by Python's garbage collection, from whatever code made the last object before it. Collecting keeps
the interpreter's lock, so samples come right after, when this begins."""
_STANDARD_WAITS = re.compile(
    r"(^|/)(threading|queue|socket|ssl|selectors|subprocess|_base|connection|synchronize|popen_fork|urllib/request"
    r"|http/client|asyncio/\w+)(\.py)?$|^time$"
)
_BUILT_IN_COPY = Meaning("copy")
_BUILT_IN_WAIT = Meaning("wait")
_BUILT_IN_IDLE = Meaning("idle", True)


@lru_cache(maxsize=50_000)
def frame_meaning(file: str, function: str, code: str) -> Meaning:
    """What a frame of Python stands for. file: with or without its folders, as recorders have it; code:
    whose it is as in the table frame. NOTHING for code of others that the program uses: its caller
    decides."""
    if function in _COLLECTING:
        return NOTHING
    if code != "program" and runs_hooks(file, function):
        return Meaning("dispatch", hooked=True)
    if file == c_functions.FILE:
        if function in c_functions.AWAITING:
            return _BUILT_IN_IDLE
        return _BUILT_IN_COPY if function in c_functions.MOVING else _BUILT_IN_WAIT
    return Meaning("python") if code == "program" else _foreign_frame_meaning(file, function, code)


def _foreign_frame_meaning(file: str, function: str, code: str) -> Meaning:
    """What a frame stands for that is not known to be the program's."""
    place = f"{file}:{function}"
    for matches, meaning in _PURPOSES:
        if matches(place):
            return meaning
    if _STANDARD_WAITS.search(file) and _WAITING.search(function):
        return Meaning("wait")
    if is_framework_or_library(file) or (code == "unknown" and has_framework_name(file)):
        return Meaning("dispatch")
    if code != "unknown" or file in ("builtins", "time") or "<" in file:
        return NOTHING
    if "/" in file and _INSTALLED.search(file):
        return NOTHING
    return Meaning("python")


_LOADERS = re.compile(
    r"(^|/)(script_ops|from_generator_op|structured_function|py_dataset_adapter|generator_data_adapter|data_utils)\.py$"
    r"|(^|/)data_adapters?/|(^|/)torch/utils/data/|(^|/)(grain|tensorflow_datasets)/"
)


_CALLS_BACK = re.compile(r"(^|/)script_ops\.py$|(^|/)jax/(_src/callback|experimental/host_callback)\.py$")


@lru_cache(maxsize=50_000)
def calls_back(file: str, code: str) -> bool:
    """Whether a file is one of those from which ops of frameworks call the program's code."""
    return code != "program" and _CALLS_BACK.search(file) is not None


def _place(pattern: str) -> Callable[[str, str], bool]:
    """Whether a file and a function in it are of a pattern."""
    search = re.compile(pattern).search
    return lru_cache(maxsize=50_000)(lambda file, function: search(f"{file}:{function}") is not None)


runs_hooks = _place(r"(^|/)(tf_)?keras/(.*/)?callbacks?(_list)?\.py:CallbackList\.\w*batch")
"""Whether Keras calls there what the program wants done at the begin or end of a batch."""
recomputes = _place(r"(^|/)torch/utils/checkpoint\.py:(.*\.)?(unpack_hook|CheckpointFunction\.backward)$")
"""Whether a framework computes again there what it did not keep for gradients."""
runs_gradients = _place(r"(^|/)torch/autograd/(__init__|graph)\.py:")
"""Whether a framework runs there the gradients of all that was computed before."""
runs_graph = _place(
    r"(^|/)session\.py:(.*\.)?(_call_tf_sessionrun|_run_fn)$|(^|/)client/session\.py:(.*\.)?__call__$"
)
"""Whether a session waits there for the run of its graph. The second is a callable of one, as in Keras 1."""
takes = _place(_TAKES)
"""Whether it gets from a queue that another thread or process fills."""
takes_from_process = _place(r"(^|/)multiprocessing/queues\.py:(\w+\.)?get$")
"""Whether it gets an object from another process: once it has the bytes, it makes the object of them."""
receives = _place(r"multiprocessing/.*:(.*\.)?(recv_bytes|_poll|poll|__enter__)$")
"""Whether it waits there for these bytes, or reads them."""
puts_into_queue = _place(r"(^|/)(queue|multiprocessing/queues)\.py:(\w+\.)?put$")
"""Whether it puts into a queue that another thread or process empties, and waits while that is full."""
runs_workers = _place(_WORKERS)
"""Whether it begins or ends the workers of a loader."""


def waits_in_c(file: str, function: str) -> bool:
    """Whether a frame is a function of C that waits."""
    return file == c_functions.FILE and function in c_functions.BLOCKING


@lru_cache(maxsize=50_000)
def loads(file: str, code: str) -> bool:
    """Whether a file is one of those from which frameworks call the program's code that makes the input."""
    return code != "program" and _LOADERS.search(file) is not None


_INSTALLED = re.compile(r"(site|dist)-packages/|/lib/python\d|^(numpy|pandas|scipy|sklearn|PIL|cv2)/")

BLOCKED = 0.03
"""A thread that ran for less than this part of a sample was waiting for something."""
PREEMPTED = 0.25
"""One that ran for more than this part ran all the time, as far as other threads and programs let it."""


def part_run(weight_ps: int, active_ps: int | None, queued_ps: int) -> float | None:
    """For which part of the time of a sample a thread ran, without that in which it could have and had no
    core; None where it is not known. active_ps: how long it ran or had no core; queued_ps: the second."""
    if active_ps is None:
        return None
    rest_ps = weight_ps - queued_ps
    if rest_ps < BLOCKED * weight_ps:
        return 1.0  # it wanted a core all the time
    return max(active_ps - queued_ps, 0) / rest_ps


def nested_meaning(around: Meaning, inner: Meaning) -> Meaning:
    """What something stands for inside something else: a purpose further out (loading, compiling, storing)
    holds for all within; otherwise the innermost decides that stands for something. A callback that predicts
    makes batches of its own: that is no waiting for those of the training."""
    if around.whole or inner.label is None:
        return around
    if not around.hooked or (inner.whole and inner.label != "input"):
        return inner
    return Meaning("dispatch" if inner.label == "input" else inner.label, hooked=True)


def shares(label: Label | None, ran: float | None) -> tuple[tuple[Label | None, float], ...]:
    """What a sample stands for, and for which part of its time each. label: of its stack; ran: the part of
    its time in which the thread used a processor, where that is known.

    Blocked code of the program itself waits, whatever for: sleeping, sockets and files are calls of C
    without a frame of their own. A sample that sees a short stretch of Python beside a long wait holds both.
    """
    if label != "python" or ran is None or ran >= PREEMPTED:
        return ((label, 1.0),)
    if ran < BLOCKED:
        return (("wait", 1.0),)
    return (("python", ran), ("wait", 1.0 - ran))
