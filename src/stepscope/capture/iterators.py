"""The iterators that are alive, their chains of datasets, and TensorFlow's model of each.

The model proto (tensorflow.data.model.ModelProto) has, for each stage after rewriting, the number of elements
made and their cost. The op IteratorGetModelProto reads it, for eager iterators only: for an iterator in a
graph, the program's graph would have to change.
"""

import contextlib
import gc
import weakref
from typing import Any, Dict, List, Optional

from . import clocks
from .callers import WatchedCall
from .datasets import DatasetSites
from .folder import Folder
from .keras import begun_batches
from .machine import threads
from .padding import LOOKS, Padding
from .patches import Patches
from .recorder import Recorder


class Tracked:
    """An iterator with its number and its chain, which outlives the dataset."""

    def __init__(self, number: int, iterator: Any, chain: List[Dict[str, Any]], role: str) -> None:
        self.number = number
        self.role = role
        self.iterator = weakref.ref(iterator)
        self.chain = chain
        self.samples = 0
        self.last_begin_ns: Optional[int] = None
        self.padding = Padding()

    def look(self, element: Any) -> None:
        """Looks at an element, and adds what pads it to the stage that does: to what the program wrote last
        where none is known."""
        self.padding.look(element)
        stages = [stage for stage in self.chain if stage.get("transformation") == "padded_batch"]
        for stage in (stages or self.chain)[-1:]:
            stage.setdefault("arguments", {}).update(self.padding.arguments())


class Iterators:
    """Follows the iterators of a program."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._sites = DatasetSites()
        self._tracked: List[Tracked] = []
        self._by_id: Dict[int, Tracked] = {}
        self._written = 0
        self._made = self._looks = 0
        self._first = True
        """No iterator has been made yet."""

    def watch(self, patches: Patches) -> None:
        """Records every dataset and iterator from now on, and counts the elements that Python takes."""
        from tensorflow.python.data.ops import iterator_ops

        self._sites.watch(patches)
        patches.wrap(iterator_ops.Iterator, "__init__", self._watched_graph_init)
        self._watch_graph_datasets(patches)
        if not hasattr(iterator_ops, "OwnedIterator"):
            return  # before TensorFlow 2.1: iterators live in a graph, or belong to no dataset
        patches.wrap(iterator_ops.OwnedIterator, "__init__", self._watched_init)
        patches.wrap(iterator_ops.OwnedIterator, "__next__", self._watched_next)
        self._watch_host_pipelines(patches)
        if self._recorder.plan.state is None:
            # Attached in the middle of a program: iterators may exist already.
            for found in gc.get_objects():
                if type(found) is iterator_ops.OwnedIterator and getattr(found, "_dataset", None) is not None:
                    self._first = False
                    self._track(found, found._dataset)

    def live(self) -> List[Any]:
        """The iterators that still exist."""
        return [found for found in (tracked.iterator() for tracked in self._tracked) if found is not None]

    def _watched_init(self, init: Any) -> Any:
        from tensorflow.python.eager import context

        def __init__(self_: Any, dataset: Any = None, *args: Any, **kwargs: Any) -> None:
            if self._first and context.executing_eagerly():
                # Threads that exist now are not a pipeline's: those come with their iterators.
                self._recorder.program.own_threads = threads()
            self._first = False
            init(self_, dataset, *args, **kwargs)
            if dataset is not None and context.executing_eagerly() and self._recorder.listening:
                self._track(self_, dataset)

        return __init__

    def _watched_next(self, next_: Any) -> Any:
        from tensorflow.python.eager import context

        recorder = self._recorder

        def __next__(self_: Any) -> Any:
            tracked = self._by_id.get(id(self_))
            if tracked is None or not recorder.listening or not context.executing_eagerly():
                return next_(self_)
            if begun_batches(recorder.local):
                return next_(self_)  # part of a batch of Keras, which is the step
            # A step of a plain loop goes from one request for an element to the next: wait, then body.
            now = clocks.time_ns()
            last, tracked.last_begin_ns = tracked.last_begin_ns, now
            if last is not None:
                key, name = ("iterator", tracked.number), self._name(tracked)
                recorder.step(WatchedCall("next_element", key, name, last, now, begin_ns=last))
            element = next_(self_)
            if tracked.padding.batches < LOOKS:
                self._looks += 1
                with contextlib.suppress(Exception):  # an element may be anything
                    tracked.look(element)
            return element

        return __next__

    def _watched_graph_init(self, init: Any) -> Any:
        def __init__(self_: Any, *args: Any, **kwargs: Any) -> None:
            self._first = False
            init(self_, *args, **kwargs)
            self._recorder.problem(
                "no model of a graph-mode iterator",
                "an iterator of TensorFlow 1 lives in the program's graph, which would have to be changed to "
                "ask it",
                "its stages are in the XPlane; eager iterators also have a model",
            )

        return __init__

    def _watch_graph_datasets(self, patches: Patches) -> None:
        """The chains of one-shot and initializable iterators."""
        from tensorflow.python.data.ops import dataset_ops

        for name in ("_make_one_shot_iterator", "_make_initializable_iterator"):
            if not hasattr(dataset_ops.DatasetV1, name):
                continue

            def make(original: Any) -> Any:
                def iterator_of(self_: Any, *args: Any, **kwargs: Any) -> Any:
                    iterator = original(self_, *args, **kwargs)
                    if self._recorder.listening:
                        self._track(iterator, self_)
                    return iterator

                return iterator_of

            patches.wrap(dataset_ops.DatasetV1, name, make)

    def _watch_host_pipelines(self, patches: Patches) -> None:
        """The pipeline on the host that feeds those on the devices, under a distribution strategy."""
        from tensorflow.python.data.ops import multi_device_iterator_ops as ops

        def make(init: Any) -> Any:
            def __init__(self_: Any, dataset: Any = None, *args: Any, **kwargs: Any) -> None:
                init(self_, dataset, *args, **kwargs)
                if dataset is not None and self._recorder.listening:
                    self._track(self_, dataset, "host")

            return __init__

        patches.wrap(ops.OwnedMultiDeviceIterator, "__init__", make)

    def _track(self, iterator: Any, dataset: Any, role: str = "") -> None:
        try:
            tracked = Tracked(self._made, iterator, self._sites.chain(dataset), role)
            weakref.finalize(iterator, self._by_id.pop, id(iterator), None).atexit = False
        except Exception as error:  # noqa: BLE001  a dataset of an unknown kind is still a dataset
            self._recorder.output.failed("a chain of datasets", error)
            return
        self._made += 1
        self._tracked.append(tracked)
        self._by_id[id(iterator)] = tracked

    @staticmethod
    def _name(tracked: Tracked) -> str:
        last = tracked.chain[-1] if tracked.chain else {}
        return f"elements of the dataset of {last['file']}:{last['line']}" if "file" in last else "elements"

    # --- pieces of the capture -----------------------------------------------------------------

    def datasets(self, folder: Folder, now_ns: int) -> None:
        """Writes the chains, whenever there are new ones, or more is known of one."""
        if self._written < self._made + self._looks:
            self._written = self._made + self._looks
            rows = [
                {
                    "iterator": tracked.number,
                    **({"role": tracked.role} if tracked.role else {}),
                    "chain": tracked.chain,
                }
                for tracked in self._tracked
            ]
            folder.add_json("pipeline/datasets.json", "datasets", rows)

    def models(self, folder: Folder, now_ns: int) -> None:
        """Samples the model of every live iterator."""
        if not self.live():
            return
        from tensorflow.python.eager import context
        from tensorflow.python.ops import gen_experimental_dataset_ops as ops

        if not context.executing_eagerly():
            return
        ask = getattr(ops, "iterator_get_model_proto", None)
        if ask is None:
            import tensorflow

            self._recorder.problem(
                "no model of the iterators",
                f"TensorFlow {tensorflow.__version__} has no op IteratorGetModelProto",
                "record with a newer TensorFlow for exact rates; the XPlane has the stages all the same",
            )
            return
        for tracked in list(self._tracked):
            iterator = tracked.iterator()
            resource = getattr(iterator, "_iterator_resource", None)
            if iterator is not None and tracked.role == "host":
                self._recorder.problem(
                    "no model of the pipeline on the host",
                    "TensorFlow has no way to ask the iterator that feeds several devices",
                    "its stages are in the XPlane; the pipelines on the devices have models",
                )
            if resource is None or not hasattr(resource, "numpy"):
                continue
            try:
                data = ask(iterator=resource).numpy()
            except Exception as error:  # noqa: BLE001  one iterator failed: the others are still good
                self._recorder.problem(
                    f"no model of iterator {tracked.number}",
                    str(error).split("\n")[0],
                    "TensorFlow keeps no model when options.autotune.enabled is False",
                )
                continue
            name = f"model_{tracked.number}_{tracked.samples}.pb"
            line = {"iterator": tracked.number, "sample": tracked.samples, "unix_ns": now_ns, "file": name}
            elements = _elements(data)
            if elements is not None:
                line["elements"] = elements
            tracked.samples += 1
            folder.add(f"pipeline/{name}", "model", data)
            folder.line("pipeline/models.ndjson", "models", line)


def _elements(data: bytes) -> Optional[int]:
    """Elements that the root has returned."""
    from tensorflow.core.framework import model_pb2

    model = model_pb2.ModelProto.FromString(data)
    return int(model.nodes[model.output].num_elements) if model.output in model.nodes else None
