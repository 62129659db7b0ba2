"""The served recording: its traces, and answers that are computed once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from stepscope.server import analyses, catalog, details, graphs, model, reports
from stepscope.server.activity import Doing, waits_for
from stepscope.server.catalog import Catalog
from stepscope.server.replies import encode
from stepscope.server.timeline import Timeline
from stepscope.server.trace_workers import TraceWorker, TraceWorkerPool, TraceWorkers

if TYPE_CHECKING:
    from stepscope.instruments.graphs import Hierarchy
    from stepscope.instruments.pipeline.diagnoses import SourcePipelines
    from stepscope.instruments.tfprof import TfprofModel
    from stepscope.session.trace import OpenTrace

T = TypeVar("T")


class ServedRecording:
    """Answers about one recording. Belongs to one event loop."""

    def __init__(self, open_trace: Callable[[], OpenTrace], *, again: bool = True) -> None:
        """open_trace: called for each of several desks, so that slow answers delay neither clicks nor one
        another. again: False when opening twice would decode twice; then there is one desk."""
        self.desk = TraceWorker(open_trace)
        self.long: TraceWorkers = TraceWorkerPool(open_trace) if again else self.desk
        """For slow answers."""
        self._made: dict[str, _Made] = {}
        self._model_is_free = asyncio.Lock()

    async def catalog(self) -> Catalog:
        """What there is to look at."""
        return await self._once("catalog", partial(self.desk.ask, catalog.read))

    async def timeline(self) -> Timeline:
        """The slices of all tracks."""
        known = await self.catalog()
        return await self._once(
            "timeline", partial(self.desk.ask, partial(Timeline, stacks=known.has_stacks))
        )

    async def names(self) -> bytes:
        """Names of slices, as JSON."""
        timeline = await self.timeline()
        return await self._once("names", partial(asyncio.to_thread, encode, timeline.names))

    async def rows(self, name: str) -> bytes:
        """Ops, ops that launch, or blocks of memory, as JSON."""
        return await self._slow(name, lambda trace: encode(analyses.ROWS[name](trace)))

    async def report(self, name: str) -> bytes:
        """A report by its name, as JSON. KeyError when there is none of that name."""
        if name == "pipeline":
            return await self._slow("pipeline", partial(reports.pipeline, await self.pipelines()))
        return await self._slow(f"report {name}", reports.REPORTS[name])

    async def model(self) -> TfprofModel:
        """The model for tfprof's views."""
        return await self._slow("model", model.read)

    async def ask_model(self, ask: Callable[[TfprofModel], T]) -> T:
        """An answer of the model, one at a time."""
        found = await self.model()
        async with self._model_is_free:
            return await self.long.ask(lambda _: ask(found))

    async def graphs(self) -> list[dict[str, Any]]:
        """The graphs, the largest first."""
        return await self._slow("graphs", graphs.listed)

    async def graph(self, number: int) -> Hierarchy:
        """A graph by its place among all."""
        return await self._slow(f"graph {number}", partial(graphs.read, await self.graphs(), number))

    async def compared(self, a: int, b: int) -> bytes:
        """Two hosts side by side, as JSON."""
        return await self._slow(f"compared {a} {b}", partial(reports.compared, a, b))

    async def parts(self) -> details.Parts:
        """The parts of the steps."""
        return await self._slow("parts", details.Parts)

    async def pipelines(self) -> list[SourcePipelines]:
        """The input pipelines with their rate models, in the order of their report."""
        return await self._slow("pipelines", reports.pipelines)

    async def _slow(self, key: str, ask: Callable[[OpenTrace], T]) -> T:
        """A slow answer, computed once. The catalog comes first, so that only one desk decodes."""
        await self.catalog()
        return await self._once(key, partial(self.long.ask, ask))

    async def _once(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """The result of `make`, computed once for all callers, and stopped when the last of them leaves.
        Stopped or failed work is repeated for the next caller."""
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = _Made(make)
            made.task.add_done_callback(partial(self._forget_failed, key, made))
        made.waiting += 1
        try:
            with waits_for(made.doing):
                found: T = await asyncio.shield(made.task)
                return found
        finally:
            made.waiting -= 1
            if not made.waiting and not made.task.done():
                self._forget(key, made)
                made.task.cancel()

    def _forget_failed(self, key: str, made: _Made, task: asyncio.Task[Any]) -> None:
        if task.cancelled() or task.exception() is not None:
            self._forget(key, made)

    def _forget(self, key: str, made: _Made) -> None:
        if self._made.get(key) is made:
            del self._made[key]

    def close(self) -> None:
        """Stops running work and closes the traces. Thread-safe."""
        for made in list(self._made.values()):
            loop = made.task.get_loop()
            if not loop.is_closed():
                loop.call_soon_threadsafe(made.task.cancel)
        for desk in {self.desk, self.long}:
            desk.close()


class _Made:
    """A result that is computed for all who wait for it."""

    def __init__(self, make: Callable[[], Awaitable[Any]]) -> None:
        self.doing = Doing()
        self.waiting = 0
        with self.doing.is_current():
            self.task: asyncio.Task[Any] = asyncio.ensure_future(_run(make))


async def _run(make: Callable[[], Awaitable[T]]) -> T:
    return await make()
