"""Runs of sessions that are traced in full, and their RunMetadata in the folder of a recording."""

import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple

from .folder import Folder
from .log_filter import quiet


def traces(options: Any) -> bool:
    """True for RunOptions with which the program itself traces: such runs are left alone."""
    return options is not None and options.trace_level != 0


def full_trace(options: Any = None) -> Any:
    """RunOptions with which a run is traced in full; everything else is as in those that are given."""
    from tensorflow.core.protobuf import config_pb2

    full = config_pb2.RunOptions()
    if options is not None:
        full.CopyFrom(options)
    full.trace_level = full.FULL_TRACE
    full.output_partition_graphs = True
    return full


class Tracer:
    """Runs steps with FULL_TRACE and keeps their RunMetadata."""

    def __init__(self, state: Optional[str] = None) -> None:
        self._state = state
        self._taken: Any = None
        self._kept: Optional[Tuple[int, Any]] = None
        """The number of a step, and what was taken of its runs so far."""
        self._partitions: List[bytes] = []
        self._tracing: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        """Of a callable the one that traces."""

    def run(
        self, run: Any, session: Any, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any
    ) -> Any:
        """As Session.run. The program's own RunMetadata gets what it would have got."""
        asked = full_trace(options)
        return self._take(
            lambda taken: run(session, fetches, feed_dict, asked, taken),
            lambda: run(session, fetches, feed_dict, options, run_metadata),
            run_metadata,
            options is not None and options.output_partition_graphs,
        )

    def call(
        self, call: Any, callable_: Any, options: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]
    ) -> Any:
        """As a callable of a session. What it traces is fixed as it is made: another one is."""
        if callable_ not in self._tracing:
            asked = type(options)()
            asked.CopyFrom(options)
            asked.run_options.CopyFrom(full_trace(options.run_options))
            self._tracing[callable_] = type(callable_)(callable_._session, asked)
        tracing = self._tracing[callable_]
        return self._take(
            lambda taken: call(tracing, *args, **{**kwargs, "run_metadata": taken}),
            lambda: call(callable_, *args, **kwargs),
            kwargs.get("run_metadata"),
            options.run_options.output_partition_graphs,
        )

    def _take(
        self, traced: Callable[[Any], Any], plain: Callable[[], Any], run_metadata: Any, own_partitions: bool
    ) -> Any:
        """Makes a run that fills a RunMetadata; a plain one where TensorFlow refuses."""
        from tensorflow.core.protobuf import config_pb2
        from tensorflow.python.framework import errors

        taken = config_pb2.RunMetadata()
        try:
            with quiet(self._state):
                result = traced(taken)
        except errors.AlreadyExistsError as error:
            if "profiling session" not in str(error):
                raise
            # Another profiler is at work; TensorFlow refused before anything ran.
            return plain()
        if run_metadata is not None:
            run_metadata.CopyFrom(taken)
            run_metadata.ClearField("step_stats")
            if not own_partitions:
                run_metadata.ClearField("partition_graphs")
        self._taken = taken
        return result

    def taken(self) -> Any:
        """The RunMetadata of the last run."""
        taken, self._taken = self._taken, None
        return taken

    def keep(self, step: int, taken: Any) -> None:
        """Keeps the RunMetadata of a run, with that of the other runs of its step."""
        if self._kept is None or self._kept[0] != step:
            self._kept = step, taken
        else:
            self._kept[1].MergeFrom(taken)

    def save_kept(self, folder: Folder) -> None:
        """Writes what was kept of a step, if there is any."""
        kept, self._kept = self._kept, None
        if kept is not None:
            self.save(folder, *kept)

    def save(self, folder: Folder, step: int, taken: Any) -> None:
        """Writes the RunMetadata, and the partition graphs when they differ from those written last."""
        folder.add(f"run_metadata/step_{step}.pb", "run_metadata", taken.SerializeToString(), step=step)
        partitions = [graph.SerializeToString(deterministic=True) for graph in taken.partition_graphs]
        if partitions != self._partitions:
            self._partitions = partitions
            for number, data in enumerate(partitions):
                folder.add(f"graphs/partition_{step}_{number}.pb", "partition_graph", data, step=step)
        folder.save()
