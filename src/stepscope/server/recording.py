"""The recording that is served: its traces, and what of them is asked once and kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from stepscope.server import analyses, catalog, details, graphs, model, reports
from stepscope.server.catalog import Catalog
from stepscope.server.desk import Desk
from stepscope.server.replies import encode
from stepscope.server.timeline import Timeline

if TYPE_CHECKING:
    from stepscope.instruments.graphs import Hierarchy
    from stepscope.instruments.pipeline.diagnoses import Found
    from stepscope.instruments.tfprof import Model
    from stepscope.session.trace import Trace

T = TypeVar("T")


class Recording:
    """Answers about one recording. Belongs to one event loop."""

    def __init__(self, open_trace: Callable[[], Trace], *, again: bool = True) -> None:
        """open_trace: called for each of two desks, so that a report, which takes its time, holds up nothing
        that is clicked on. again: False when opening twice would decode twice; then there is one."""
        self.desk = Desk(open_trace)
        self._reports = Desk(open_trace, gives_way=True) if again else self.desk
        self._made: dict[str, asyncio.Task[Any]] = {}

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

        async def made() -> bytes:
            return await asyncio.to_thread(encode, timeline.names)

        return await self._once("names", made)

    async def ops(self) -> bytes:
        """All ops, as JSON."""
        await self.catalog()
        return await self._once("ops", partial(self._reports.ask, lambda trace: encode(analyses.ops(trace))))

    async def buffers(self) -> bytes:
        """Blocks of memory, as JSON."""
        await self.catalog()
        return await self._once(
            "buffers", partial(self._reports.ask, lambda trace: encode(analyses.buffers(trace)))
        )

    async def report(self, name: str) -> bytes:
        """A report by its name, as JSON. KeyError when there is none of that name."""
        await self.catalog()  # decoded once, not by both desks
        if name == "pipeline":
            found = await self.pipelines()
            return await self._once("pipeline", partial(self._reports.ask, partial(reports.pipeline, found)))
        return await self._once(f"report {name}", partial(self._reports.ask, reports.REPORTS[name]))

    async def model(self) -> Model:
        """The model for tfprof's views."""
        await self.catalog()
        return await self._once("model", partial(self._reports.ask, model.read))

    async def ask_model(self, ask: Callable[[Model], T]) -> T:
        """An answer of the model, which takes one question at a time."""
        found = await self.model()
        return await self._reports.ask(lambda _: ask(found))

    async def graphs(self) -> list[dict[str, Any]]:
        """The graphs, the largest first."""
        await self.catalog()
        return await self._once("graphs", partial(self.desk.ask, graphs.listed))

    async def graph(self, number: int) -> Hierarchy:
        """A graph by its place among all."""
        listed = await self.graphs()
        return await self._once(
            f"graph {number}", partial(self.desk.ask, partial(graphs.read, listed, number))
        )

    async def compared(self, a: int, b: int) -> bytes:
        """Two hosts side by side, as JSON."""
        await self.catalog()
        return await self._once(
            f"compared {a} {b}", partial(self._reports.ask, partial(reports.compared, a, b))
        )

    async def parts(self) -> details.Parts:
        """Where steps go."""
        await self.catalog()
        return await self._once("parts", partial(self._reports.ask, details.Parts))

    async def pipelines(self) -> list[Found]:
        """The input pipelines with their rate models, in the order of their report."""
        await self.catalog()
        return await self._once("pipelines", partial(self._reports.ask, reports.pipelines))

    async def _once(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """What `make` gives, made once for all who ask, even when one of them leaves. What failed is tried
        again at the next question."""
        task = self._made.get(key)
        if task is None:
            task = self._made[key] = asyncio.ensure_future(make())
            task.add_done_callback(partial(self._forget_failed, key))
        found: T = await asyncio.shield(task)
        return found

    def _forget_failed(self, key: str, task: asyncio.Task[Any]) -> None:
        if task.cancelled() or task.exception() is not None:
            self._made.pop(key, None)

    def close(self) -> None:
        """Stops what runs and closes the traces."""
        for task in self._made.values():
            task.cancel()
        for desk in {self.desk, self._reports}:
            desk.close()
