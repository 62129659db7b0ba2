"""Changes to a pipeline in words: what to do, with the code to write, why its gain is small or unknown."""

from collections.abc import Mapping

from stepscope import units
from stepscope.instruments.pipeline.changes import PredictedChange
from stepscope.instruments.pipeline.footprint import Footprint
from stepscope.instruments.pipeline.places import ANY_ORDER, AUTOTUNE

_WHAT: Mapping[str, str | Mapping[str, str]] = {
    "parallelise_map": {
        "sequential": "give {stage} num_parallel_calls={autotune}, and {any_order} where order does "
        "not matter",
        "parallel_already": "give {stage} num_parallel_calls: TensorFlow runs it in parallel already",
    },
    "raise_parallelism": "raise the parallelism of {stage} from {width} to {autotune}, with {any_order} "
    "where order does not matter",
    "any_order": "give {stage} {any_order}, if order does not matter",
    "outer_parallelism": "run {copies} copies of the pipeline at once, each of a shard of the data, because "
    "{stage} takes one element after the other: {code}, with {any_order} where order does not matter",
    "more_cores": "give the host {doubled} cores instead of {cores} and leave parallelism to autotune",
    "vectorise": {
        "alone": "batch before {stage}, so that its function takes {elements} elements at once, if it can",
        "fused": "batch first in {stage}, so that its function takes {elements} elements at once, if it can",
    },
    "larger_threadpool": "let {threads} functions of {stage} wait at once: num_parallel_calls={threads} and "
    "options.{threading}.private_threadpool_size = {threads}, if its Python waits and does not compute",
    "intra_op_parallelism": {
        "by_default": "set options.{threading}.max_intra_op_parallelism = 1: TensorFlow 2 does so by "
        "itself, unless the program's options say otherwise",
        "by_options": "set options.{threading}.max_intra_op_parallelism = 1, so that each op of the pipeline "
        "runs on one thread",
    },
    "parallelise_batch": "give {stage} num_parallel_calls={autotune}, or batch smaller elements "
    "(uint8, not float)",
    "parallelise_reading": {
        "interleave": "run several branches of {stage} at once: num_parallel_calls={autotune}, with "
        "{any_order} where order does not matter",
        "flat_map": "run several branches of {stage} at once: interleave(…, num_parallel_calls={autotune}) "
        "instead of flat_map, with {any_order} where order does not matter",
        "files": "read several files at once: interleave(…, num_parallel_calls={autotune}), with {any_order} "
        "where order does not matter",
    },
    "list_files_once": "list the files once, before training, and give the list to from_tensor_slices "
    "({stage})",
    "drop_python": "use TensorFlow ops instead of the Python of {stage}, which holds the interpreter lock",
    "smaller_shuffle": {
        "elements": "shuffle names of files instead of elements, or make the buffer of {stage} smaller",
        "names": "list fewer files with {stage}, or shuffle their names once, before the pipeline: all are "
        "shuffled anew in each epoch",
    },
    "move_filter": "move {filter} before {stage}, if it does not need what that makes: it keeps {kept} of "
    "the elements",
    "cache_here": "add cache() after {stage}",
    "halve_work": "halve the work of {stage}",
    "prefetch": {
        "at_the_end": "end the pipeline with prefetch({autotune})",
        "ahead_already": "prefetch more: the pipeline already works ahead of the program",
        "uneven": "prefetch more ({autotune}): the buffer is full in some steps and empty in others",
        "uneven_by_autotune": "prefetch more, by a number: the buffer that AUTOTUNE chose is full in some "
        "steps and empty in others",
    },
    "tf_data_service": "run the pipeline on other hosts with tf.data service",
}
"""What to do, by the name of a change and, where there are several, its way."""
_TODAY = {"autotune": AUTOTUNE, "any_order": ANY_ORDER, "threading": "threading"}
"""The spelling of options if the version is unknown."""
_UNKNOWN = {
    "": "",
    "many_at_once": "the recording does not show how long the function takes for many elements at once",
    "files": "the recording does not show how many files there are",
    "one_file": "it shows only one file, and with one this gains nothing: divide the data into several",
    "one_branch": "the recording shows only one branch",
    "order": "the recording does not show how long elements wait for those before them",
    "function": "a function that runs on threads of its own may be what it waits for, and was not recorded",
    "ops": "the recording does not show on how many threads an op runs",
    "cores": "the recording does not show how many cores there are",
    "other_hosts": "it gains what those hosts add, up to all of the waiting",
}
_WHY_NOT = {
    "": "",
    "gains_little": "would save less than a twentieth of a step",
    "does_not_work": "that does not work here",
}


def what(change: PredictedChange) -> str:
    """What to do."""
    ways = _WHAT[change.name]
    text = ways if isinstance(ways, str) else ways[str(change.facts["way"])]
    values: dict[str, str | int | float] = {**_TODAY, **change.facts}
    if change.name == "more_cores":
        values["doubled"] = 2 * int(values["cores"])
    if "elements" in values:
        values["elements"] = round(float(values["elements"]))
    if "kept" in values:
        values["kept"] = units.show(float(values["kept"]), "ratio")
    sentence = text.format(**values)
    if change.cache is not None:
        return f"{sentence}, {takes(change.cache)}"
    if change.batch_bytes is not None:
        return f"{sentence} (each buffered batch takes {units.show(change.batch_bytes, 'bytes')})"
    return sentence


def unknown(change: PredictedChange) -> str:
    """Why what a change gains cannot be said; empty when it can."""
    return _UNKNOWN[change.unknown]


def why_not(change: PredictedChange) -> str:
    """Why a change does not help; empty when it does."""
    return _WHY_NOT[change.why_not]


def takes(cache: Footprint) -> str:
    """What a cache takes, as the end of a sentence."""
    if cache.elements is not None and cache.elements < 0:
        return "but its output repeats or never ends: put the cache before the repeat()"
    if cache.elements is None or cache.element_bytes is None:
        lacks = "number" if cache.element_bytes is not None else "size"
        unsure = f"the {lacks} of its elements is unknown"
        return f"if it yields the same in each epoch and fits into memory: {unsure}"
    sentence = (
        f"if it yields the same in each epoch; it takes {units.show(cache.bytes, 'bytes')} "
        f"({units.count(cache.elements, 'element')} of {units.show(round(cache.element_bytes), 'bytes')})"
    )
    if cache.free_bytes is None:
        return f"{sentence}, and the free memory is unknown"
    free = units.show(cache.free_bytes, "bytes")
    return f"{sentence} of the {free} that is free" if cache.fits else f"{sentence}, and only {free} is free"
