"""Computing: the type of op, or the layer, that takes most of the time of all ops."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes import op_lines
from stepscope.instruments.causes.call_paths import THRESHOLDS as CALLS
from stepscope.instruments.causes.call_paths import function_of, longest
from stepscope.instruments.causes.cause import Cause, Removal
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.gradient_calls import calls_of_ops
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.label_shares import CauseName
from stepscope.instruments.causes.recomputing import recomputed
from stepscope.instruments.causes.thresholds import CauseThresholds
from stepscope.instruments.causes.written_ops import written_op
from stepscope.instruments.thresholds import tuned
from stepscope.library.statements import statement


@dataclass(frozen=True, eq=False, repr=False)
class ComputeThresholds(CauseThresholds):
    """When ops of one kind stand out."""

    stands_out: float = 0.0
    """Ops are what a step is for: they limit it only if nothing else does."""

    one_op: float = tuned(
        0.4,
        "a type of op stands out when it takes this part of the time of all ops",
        slack=(0.37, 0.453),
        by=("tf1/resnet32", "chrome/phases.json"),
    )
    one_product: float = tuned(
        0.5,
        "a product of matrices or a convolution does not before it takes this part: models are made of them, "
        "and gradients of both arguments are ops of their own",
        fitted_on="healthy convolutional models of TensorFlow 1.15 and Keras",
    )
    one_layer: float = tuned(
        0.7,
        "so does a layer, forward and backward, beside others",
        slack=(0.667, inf),
        by=("run_metadata/xla_cluster.pb",),
    )

    def standing_out(self, one_op: float | None, one_layer: float | None, is_product: bool = False) -> float:
        """The share of all op time of the type of op or the layer that stands out: the greater of those that
        reach their threshold, 0 if neither does. is_product: the type is a product or a convolution, which
        models consist of."""
        op, layer = one_op or 0.0, one_layer or 0.0
        least = self.one_product if is_product else self.one_op
        return max(op if op >= least else 0.0, layer if layer >= self.one_layer else 0.0)


class ComputeCause(Cause):
    """Ops of one kind."""

    name: CauseName = "compute"
    thresholds: ComputeThresholds = ComputeThresholds()

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """The type of op, and the line that made the longest of them."""
        top, layer = host.top_op, host.top_layer
        stands_out = (layer.share or 0.0) >= self.thresholds.one_layer
        place = None if top.op is None else op_lines.creating_line(host.query, host.run_id, top.op)
        place, made_share = _line_of_most(host, place)
        if place is None:
            place = self.traced_line(host)
        ran_in, gradients_too = self.line_of_ops(host, place)
        written = None if top.op_type is None else written_op(top.op_type)
        return Explanation(
            place=place,
            made_share=made_share,
            spent_in=ran_in,
            gradients_too=gradients_too,
            recomputed=recomputed(host),
            small_ops=small_ops(host),
            doubles=share_of_doubles(host),
            plain_products=share_of_plain_products(host),
            op=top.op,
            op_type=top.op_type,
            of_products=top.is_product,
            op_share=top.share,
            layer_share=layer.share if stands_out else None,
            layer=layer.layer if stands_out else None,
            written_op=None if written == top.op_type else written,
            launched_by=launcher_of(host),
            run_in=line_of_runs(host),
            table=host.whole_table,
        )

    def line_of_ops(self, host: HostSteps, made: CodeLine | None) -> tuple[CodeLine | None, bool]:
        """The line that most ops come from, and whether gradients count to it, where none is known of the
        longest op. made: that line."""
        return (None, False) if made is not None else line_of_inline_ops(host)

    def traced_line(self, host: HostSteps) -> CodeLine | None:
        """The function that calls ops of the type, where calls of Python were traced."""
        op_type = host.top_op.op_type
        return None if op_type is None else op_lines.calling_line(host.query, op_type, host.sources)

    def removal(self, host: HostSteps, found: Explanation) -> Removal:
        """The op or the layer that stands out. Meanwhile an idle device waits for launches, op by op."""
        top, table, layer = host.top_op, host.whole_table, host.top_layer.share
        if table is not None:
            return Removal(self.thresholds.standing_out(table.share, layer))
        part = self.thresholds.standing_out(top.share, layer, top.is_product)
        if part != top.share:
            return Removal(part)
        launched = top.launched / part
        return Removal(part, {step.id: round(launched * step.sums.get("dispatch", 0)) for step in host.steps})


class BalancedCause(ComputeCause):
    """Ops, of which none stands out."""

    name = "none"

    def line_of_ops(self, host: HostSteps, made: CodeLine | None) -> tuple[CodeLine | None, bool]:
        """The line that most ops come from, of whatever type."""
        return line_of_graph_ops(host) if made is not None else line_of_inline_ops(host)

    def traced_line(self, host: HostSteps) -> None:
        """The line of an op that does not stand out is not worth reading all slices."""

    def removal(self, host: HostSteps, found: Explanation) -> Removal:
        """Nothing goes."""
        return Removal()


def launcher_of(host: HostSteps) -> str | None:
    """The op that launches the kernel which computes longest; None where several do, or none is known."""
    top = host.top_op
    if not top.on_device or top.op is None or top.op != top.op_type:
        return None
    asked = statement("ops_of_kernel", run_id=host.run_id, host_id=host.host_id, kernel=top.op)
    rows = host.query(asked).rows()
    return rows[0][0] if rows and rows[0][1] >= _NEARLY_ALL * sum(ps for _, ps in rows) else None


def line_of_inline_ops(host: HostSteps) -> tuple[CodeLine | None, bool]:
    """The line in which most of the ops run, where they do so within the calls of the thread that runs the
    steps, and samples see it, None where no function has most of them; and whether gradients of what a line
    makes count to it."""
    if not host.calls_ops or not host.stacks.stacks:
        return None, False
    calls, gradients = calls_of_ops(host.stacks)
    place = op_lines.most_calling_line(calls, host.stacks.loops)
    if place is None:
        return None, False
    computed_ps, backward_ps = (
        sum(ps for path, ps in times.items() if function_of(place) in map(function_of, path))
        for times in (calls, gradients)
    )
    return place, backward_ps > _FEW * computed_ps


def _line_of_most(host: HostSteps, longest_op: CodeLine | None) -> tuple[CodeLine | None, float | None]:
    """The line that made most of the type of op which takes most, and the part of the type that it made where
    that is less than half. longest_op: the line of the longest of its ops, which stays where lines are not
    known."""
    lines = {} if longest_op is None else host.lines_of_top_op
    most = max(lines, key=lambda line: (lines[line], line), default=None)
    if longest_op is None or most is None or f"{longest_op.file}:{longest_op.line}" not in lines:
        return longest_op, None
    file, _, line = most.rpartition(":")
    made = op_lines.function_at(host.query, host.run_id, CodeLine(file, int(line), None))
    return made, lines[most] if lines[most] < _MOST else None


def line_of_runs(host: HostSteps) -> CodeLine | None:
    """The line that runs a session's graph for most of the time in which ops compute, where steps run it in
    several lines: training and an evaluation share the ops. None where no line has most."""
    if not host.stacks.runs_graphs():
        return None
    by_line: Counter[CodeLine] = Counter()
    for path, dur_ps in host.stacks.times("compute")[0].items():
        if path:
            by_line[path[-1]] += dur_ps
    if len(by_line) < 2:
        return None
    place = longest(by_line)
    return place if by_line[place] >= CALLS.of_function * by_line.total() else None


def line_of_graph_ops(host: HostSteps) -> tuple[CodeLine | None, bool]:
    """The line that made most of the ops of a graph, gradients of these included; None where no line has most
    of them, or one has made all."""
    found = host.top_line
    if found is None or found.share < CALLS.of_function:
        return None, False
    file, _, line = found.line.rpartition(":")
    made = op_lines.function_at(host.query, host.run_id, CodeLine(file, int(line), None))
    return made, found.gradients_too


def share_of_doubles(host: HostSteps) -> float | None:
    """The part of the time of all ops that those with 64-bit floats take; None where others take most."""
    place = "device" if host.top_op.on_device else "host"
    asked = statement("doubles", run_id=host.run_id, host_id=host.host_id, place=place)
    return _share_of_most(host.query(asked).rows())


def share_of_plain_products(host: HostSteps) -> float | None:
    """The part of what devices compute that products of 32-bit floats without tensor cores take; None where
    other ops take most, or devices compute nothing."""
    if not host.top_op.on_device:
        return None
    return _share_of_most(host.ask("plain_products"))


def _share_of_most(rows: Iterable[Sequence[int]]) -> float | None:
    """The share of the first part that is most of its whole. rows: parts, each with its whole."""
    return next((part_ps / all_ps for part_ps, all_ps in rows if part_ps > _MOST * all_ps), None)


_MOST, _FEW = 0.5, 0.05
_NEARLY_ALL = 0.95
"""An op that launches this part of a kernel's time is the one it is named after."""
_MANY, _SMALL_PS = 1000, 50_000_000
"""At least this many ops in a step, each shorter than this, cost more to launch than to compute."""


def small_ops(host: HostSteps) -> tuple[int, int] | None:
    """How many ops a mean step has and how long each takes, where they are many and small and the host runs
    them."""
    if host.top_op.on_device:
        return None
    rows = [(self_ps or 0, runs) for at, *_, self_ps, runs in host.ask("computing_ops") if at == "host"]
    runs = sum(number for _, number in rows)
    if runs < _MANY * host.steps_of_ops:
        return None
    number, mean_ps = runs // host.steps_of_ops, sum(self_ps for self_ps, _ in rows) // runs
    if host.traced_runs is not None:
        # Where an op is traced, that takes longer than to run it.
        computed_ps = sum(step.sums.get("compute", 0) for step in host.steps)
        mean_ps = min(mean_ps, computed_ps // len(host.steps) // number)
    # On a busy machine, ops take as long again to get a core.
    return (number, mean_ps) if mean_ps * host.had_cores < _SMALL_PS else None
