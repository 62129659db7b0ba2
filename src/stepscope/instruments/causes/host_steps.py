"""The steps of a host, and evidence about them, each piece queried when a cause first needs it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from statistics import fmean
from typing import get_args

from stepscope.instruments.causes import traced_calls
from stepscope.instruments.causes.call_paths import CallPath
from stepscope.instruments.causes.cause_facts import Stored, WholeTable
from stepscope.instruments.causes.contention import Contention, contention_of
from stepscope.instruments.causes.label_shares import Weighed
from stepscope.instruments.causes.paces import Paces, are_steps, paces_of
from stepscope.instruments.causes.query_cache import QueryCache
from stepscope.instruments.causes.sampled_lines import StackEvidence, stacks_of_host
from stepscope.instruments.causes.timed_steps import TimedStep, judged_steps
from stepscope.instruments.causes.top_op import (
    TopLayer,
    TopLine,
    TopOp,
    computing_calls,
    lines_of_top_op,
    top_layer_of,
    top_line_of,
    top_op_of,
    top_op_or_copies,
    top_op_or_eager,
)
from stepscope.instruments.causes.untraced_steps import UntracedLooks, UntracedSteps, untraced_of
from stepscope.instruments.step_breakdown.evidence_kinds import kinds_by_source
from stepscope.library.statements import statement

Weigh = Callable[[Sequence[TimedStep], Contention | None], Weighed]
"""Adds up the labels of steps."""
STORES: tuple[Stored, ...] = get_args(Stored)


class HostSteps:
    """The steps of one host."""

    def __init__(
        self, query: QueryCache, run_id: str, host_id: str, steps: Sequence[TimedStep], weigh: Weigh
    ) -> None:
        self.query, self.run_id, self.host_id, self.weigh = query, run_id, host_id, weigh
        self.all_steps = steps
        self.steps = judged_steps(steps)
        """The steps that are judged."""
        self.sources = sorted({step.source_id for step in self.steps})
        self.ask = query.host_query(run_id, host_id)
        self.contention = contention_of(self.ask)

    @property
    def had_cores(self) -> float:
        """The part of the time in which the program's threads wanted a core and had one, as far as is
        known."""
        return 1.0 if self.contention is None else self.contention.had_cores

    @property
    def mean_ps(self) -> int:
        """The duration of a mean step."""
        return round(fmean(step.dur_ps for step in self.steps))

    @cached_property
    def traced_runs(self) -> int | None:
        """The number of runs in which its ops were recorded, if these are not its steps; else None."""
        return next((traced for (traced,) in self.ask("traced_runs")), None)

    @property
    def steps_of_ops(self) -> int:
        """The number of steps in which its ops were recorded."""
        return self.traced_runs or len(self.all_steps)

    @cached_property
    def stacks(self) -> StackEvidence:
        """Samples of its stacks, if any were taken."""
        stacks = stacks_of_host(self.query, self.run_id, self.host_id)
        return StackEvidence(self.query, stacks, self.sources, all(step.averaged for step in self.steps))

    @cached_property
    def whole_ps(self) -> int:
        """The durations of its steps, added up."""
        return sum(step.dur_ps for step in self.steps)

    @cached_property
    def purposes(self) -> Mapping[str, int]:
        """Picoseconds of its steps in which its main thread stores a checkpoint or a summary, loads a model,
        logs, or waits for a device."""
        return dict(self.ask("purposes_in_steps"))

    @cached_property
    def batches(self) -> int:
        """The number of batches drawn within its steps."""
        return sum(batches for (batches,) in self.ask("batches_in_steps"))

    @property
    def stores(self) -> Stored:
        """The main kind of storing or loading: a program that saves a checkpoint also notes it in a
        summary."""
        return max(STORES, key=lambda what: self.purposes.get(what, 0))

    @cached_property
    def traced(self) -> Mapping[str | None, Counter[CallPath]]:
        """The time of each label, by the traced calls of the program."""
        return traced_calls.label_times(self.query, self.sources)

    @cached_property
    def top_op(self) -> TopOp:
        """The type of op that computes longest, or copies, within ops that compute."""
        found = top_op_of(self.ask)
        if found.on_device:
            return found
        found = top_op_or_eager(found, self.ask("eager_ops"))
        if not self.runs_inline:
            return found
        computed_ps = sum(step.sums.get("compute", 0) for step in self.all_steps)
        return top_op_or_copies(found, self.ask("copying_ops"), computed_ps)

    @cached_property
    def whole_table(self) -> WholeTable | None:
        """The table whose update takes longest, where PyTorch runs ops on all of its rows, on a device or
        within the calls of the thread that runs the steps, and these take more than the longest type of op.
        """
        top = self.top_op
        is_inline = self.runs_inline and (top.op_type or "").startswith("aten::")
        if not is_inline and not top.on_device:
            return None
        for rows, columns, used_rows, table_ps, all_ps in self.ask("dense_tables"):
            found = WholeTable(rows, columns, used_rows, table_ps / all_ps)
            return found if found.share > (top.share or 0.0) else None
        return None

    @cached_property
    def has_slices(self) -> bool:
        """Whether the steps have slices, beside what a recorder and samples saw."""
        kinds = kinds_by_source(self.query)
        return any(kinds[source_id].slices for source_id in self.sources if source_id in kinds)

    @cached_property
    def runs_inline(self) -> bool:
        """Whether ops run within the calls of the thread that runs the steps, on a processor."""
        kinds = kinds_by_source(self.query).items()
        inline = {source_id for source_id, of in kinds if of.inline and not of.launches}
        return inline.issuperset(self.sources)

    @cached_property
    def calls_ops(self) -> bool:
        """Whether most of what ops compute lies within the calls of the thread that runs the steps."""
        if self.runs_inline or self.top_op.on_device:
            return self.runs_inline
        called_ps = sum(own_ps for own_ps, *_ in computing_calls(self.ask("eager_ops")))
        return called_ps > self.top_op.all_own_ps / 2

    @cached_property
    def launches_unseen(self) -> bool:
        """Whether ops launch kernels, of which a device shows none."""
        kinds = kinds_by_source(self.query).items()
        return any(of.launched and not of.on_devices for source_id, of in kinds if source_id in self.sources)

    @cached_property
    def top_layer(self) -> TopLayer:
        """The layer that computes longest. Reads the name of each op."""
        called = partial(self.query.ops_called_as_layers, self.run_id, self.host_id)
        return top_layer_of(self.ask, called, self.query.lines_of_ops(self.run_id))

    @cached_property
    def lines_of_top_op(self) -> Mapping[str, float]:
        """The lines that made the type of op that computes longest, with their parts. Reads each op."""
        return lines_of_top_op(self.ask, self.query.lines_of_ops(self.run_id))

    @cached_property
    def top_line(self) -> TopLine | None:
        """The line that made the ops which compute longest, with their part of all op time. Reads each op."""
        return top_line_of(self.ask, self.query.lines_of_ops(self.run_id))

    @cached_property
    def paces(self) -> Paces | None:
        """Durations of steps with and without a profiler, if a recorder timed both."""
        rows = self.ask("traced_durations")
        if not rows:
            return None
        counts = [
            self.query(statement("slice_count", source_id=source)).rows()[0][0] for source in self.sources
        ]
        events = sum(count or 0 for count in counts)
        durations = [(of_call, series, value, early) for of_call, series, value, early in rows]
        found = paces_of(durations, events / len(self.all_steps))
        recorded_ps = [step.dur_ps for step in self.all_steps]
        return None if found is None or not are_steps(found.traced_ps, recorded_ps) else found

    @cached_property
    def untraced(self) -> UntracedSteps | None:
        """Steps after the recording, if the recorder sampled them."""
        if self.paces is None and self.ask("traced_durations"):
            return None
        rows = [UntracedLooks(*row) for row in self.ask("untraced_stacks")]
        return untraced_of([value for (value,) in self.ask("untraced_steps")], rows) if rows else None
