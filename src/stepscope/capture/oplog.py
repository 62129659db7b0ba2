"""The op log (tensorflow.tfprof.OpLogProto): trainable variables, FLOPs and code traces of a graph.

Written by hand and not by TensorFlow's writer, which prints to stdout.
"""

from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

from .places import is_ours

TRAINABLE = "_trainable_variables"
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})


def op_log(graph: Any, metric_made_at: Callable[..., Optional[Tuple[str, int, str]]]) -> bytes:
    """The op log of a tf.Graph, serialised. metric_made_at: as in Program; the line is the last of an op."""
    import tensorflow
    from tensorflow.core.profiler import tfprof_log_pb2
    from tensorflow.python.framework import ops
    from tensorflow.python.util import deprecation

    log = tfprof_log_pb2.OpLogProto()
    numbers: Dict[str, int] = {}

    def number(text: str) -> int:
        if text not in numbers:
            numbers[text] = len(numbers) + 1
            log.id_to_string[numbers[text]] = text
        return numbers[text]

    trainable = _trainable(graph, tensorflow)
    for name, op in _operations(graph):
        entry = log.log_entries.add(name=name)
        if op.graph is graph:
            if name in trainable:
                entry.types.append(TRAINABLE)
            with deprecation.silence():  # TensorFlow's formulas use deprecated functions of its own
                flops = _flops(ops, graph, op)
            if flops:
                entry.float_ops = flops
        for path, line, function, text in _frames(op, metric_made_at):
            entry.code_def.traces.add(
                lineno=line, file_id=number(path), function_id=number(function), line_id=number(text or "")
            )
    data: bytes = log.SerializeToString(deterministic=True)
    return data


def _frames(op: Any, metric_made_at: Callable[..., Optional[Tuple[str, int, str]]]) -> List[Tuple[Any, ...]]:
    """File, line, function and text of the calls that made an op, the outermost first."""
    frames = [tuple(place)[:4] for place in op.traceback or ()]
    made = [found for frame in frames for found in (metric_made_at(*frame[:3]),) if found is not None]
    return [frame for frame in frames if not is_ours(frame[0])] + [(*place, "") for place in made[-1:]]


def _operations(graph: Any, call: str = "") -> Iterator[Tuple[str, Any]]:
    """The ops of a graph and of the functions that it calls, by runtime name: Keras compiles its step within
    another function. call: the op that calls the graph."""
    for op in graph.get_operations():
        name = f"{call}/{op.name}" if call else op.name
        yield name, op
        body = _body(graph, op) if op.type in _CALLS else None
        if body is not None:
            yield from _operations(body, name)


def _body(graph: Any, op: Any) -> Any:
    """The graph of the function that an op calls; None if it is not kept. A function without one would build
    it on access, without the lines of its ops."""
    made = getattr(graph, "_functions", {}).get(op.get_attr("f").name)
    return getattr(made, "_cached_graph" if hasattr(made, "_cached_graph") else "graph", None)


def _flops(ops: Any, graph: Any, op: Any) -> int:
    """0 when the op type has no formula, or a shape is unknown before the run."""
    if not hasattr(op, "node_def"):
        return 0
    try:
        return int(ops.get_stats_for_node_def(graph, op.node_def, "flops").value or 0)
    except (ValueError, AssertionError, KeyError, TypeError):
        return 0


def _trainable(graph: Any, tensorflow: Any) -> Set[str]:
    names = {var.op.name for var in graph.get_collection(tensorflow.compat.v1.GraphKeys.TRAINABLE_VARIABLES)}
    for var in _captured(graph):
        for outer, inner in getattr(graph, "captures", ()):
            if outer is getattr(var, "handle", None):
                names.add(inner.op.name)
    return names


def _captured(graph: Any) -> Tuple[Any, ...]:
    """The trainable variables of a tf.function, which are known by its inputs."""
    try:
        return tuple(getattr(graph, "trainable_variables", ()))
    except AssertionError:  # the signature of a saved model, of which the program keeps nothing else
        return ()
