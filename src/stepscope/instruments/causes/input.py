"""Waiting for input: the stage that limits the program, or the Python that a loader runs."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import NamedTuple

from stepscope import strict_json
from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.call_paths import innermost_call
from stepscope.instruments.causes.cause import LineCause
from stepscope.instruments.causes.cause_facts import BufferFill, FilterYield, UnfilledCache
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.gain import Left, untraced_step
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.loader_work import loader_work
from stepscope.instruments.causes.op_lines import creating_line
from stepscope.instruments.causes.query_cache import AskHost
from stepscope.instruments.causes.sampled_lines import LineSearch, line_of_loader
from stepscope.instruments.causes.thresholds import STANDS_OUT, CauseThresholds
from stepscope.instruments.pipeline.places import function_in, is_iterator
from stepscope.instruments.pipeline.stages import (
    FROM_GENERATOR,
    FUSED,
    branch,
    call_text,
    made_in_steps,
    words,
    written_as,
)
from stepscope.instruments.thresholds import ANY, tuned
from stepscope.library.statements import statement


@dataclass(frozen=True, eq=False, repr=False)
class InputThresholds(CauseThresholds):
    """When the program's own Python explains the wait."""

    stands_out: float = tuned(
        0.25, STANDS_OUT, slack=(0.248, 0.289), by=("profiler_hook", "tf_guide/files_in_order.xplane.pb.gz")
    )
    loader: float = tuned(
        0.5,
        "Python that a loader runs explains the wait when it takes this part of it; a generator does nothing "
        "else",
        slack=ANY,
    )
    made: float = tuned(
        0.5,
        "the program's own Python makes the batches where it has this part of the loader's traced time",
        fitted_on="gpu/torch_uploads.json.gz",
        slack=ANY,
    )


class LimitingStage(NamedTuple):
    """The stage that limits the program most."""

    name: str | None = None
    place: CodeLine | None = None
    """Where the program wrote it."""
    without: Left | None = None
    """How long a step would be without its work."""
    spoken: str | None = None
    """As the user wrote it."""
    function: CodeLine | None = None
    """The program's function that it calls, if the capture shows it."""
    kept: FilterYield | None = None
    """The yield of a filter right behind it, if that is low."""
    fill: BufferFill | None = None
    """The elements that a shuffle right behind it draws, if that is many more than it hands on."""
    position: int | None = None
    """Its number among the program's transformations."""


class InputCause(LineCause):
    """The input."""

    name = "input"
    takes_along = False
    thresholds = InputThresholds()

    @property
    def search(self) -> LineSearch:
        """By functions: a batch may be made by many lines of the thread that asks for it."""
        return LineSearch(by_function=True, most_of=self.thresholds.made)

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """The stage, and its Python if that takes the time."""
        stage = limiting_stage(host.ask)
        least: float | None = self.thresholds.loader * share
        if stage.name is None and (queue := awaited_queue(host)) is not None:
            # Between the ops that fill it, and that Python is one of, its runner waits for cores.
            stage, least = queue, self.thresholds.loader * share * host.had_cores
        if stage.name is None:
            stage = only_function(host.ask)
        kind = (stage.name or "").partition(" ")[0]
        python = kind.endswith("Generator") or kind == FROM_GENERATOR or self.calls_python(host)
        found = line_of_loader(host.stacks, None if python else least)
        if found.place is not None:
            found = replace(found, called_from=stage.place, in_python=True)
        elif stage.place is not None:
            found = Explanation(place=stage.place)
        else:
            found = super().explain(host, share, ps_per_step)
            found = replace(found, awaits=stage.name is not None, loader_work=loader_work(host.stacks))
        ((made,),) = host.query(statement("iterators_made", sources=host.sources)).rows()
        steps = len(host.all_steps)
        return replace(
            found,
            stage=stage.name,
            spoken=stage.spoken,
            given=stage.function,
            kept=stage.kept,
            fill=stage.fill,
            unfilled=unfilled_cache(host.ask, stage.position),
            remade=(made, steps) if made_in_steps(made, steps) else None,
        )

    def calls_python(self, host: HostSteps) -> bool:
        """Whether most of what ops of the pipeline do is to call Python. That is where their time goes then,
        however little of it samples saw: they are taken when no other Python runs."""
        ((python_ps, all_ps),) = host.ask("input_work")
        return bool(python_ps > self.thresholds.made * all_ps)

    def traced_line(self, host: HostSteps) -> Explanation:
        """The function that makes batches. One around the loader's call waits for it, and makes nothing."""
        weights = host.traced.get(self.name, Counter())
        made = Counter({path: weight for path, weight in weights.items() if path})
        if sum(made.values()) < self.thresholds.made * sum(weights.values()):
            return Explanation()
        place = innermost_call(made, by_function=True)[0]
        return Explanation(place=place, in_python=place is not None)

    def step_without(self, host: HostSteps, found: Explanation) -> Left:
        """Without the stage that limits, the next one may: the pipeline's own model tells what is left."""
        left = limiting_stage(host.ask).without
        if left is None:
            return super().step_without(host, found)
        untraced_ps = untraced_step(host.paces, host.mean_ps)
        return left._replace(low_ps=round(left.low_ps * host.had_cores), untraced_ps=untraced_ps)


def awaited_queue(host: HostSteps) -> LimitingStage | None:
    """The queue of the graph that the steps of a host wait for most; whatever fills it counts as its
    stage."""
    rows = host.ask("awaited_queues")
    if not rows:
        return None
    op = rows[0][0]
    name = f"what fills the queue {op}"
    return LimitingStage(
        name, creating_line(host.query, host.run_id, op), spoken=f"what fills the queue `{op}`"
    )


def only_function(ask: AskHost) -> LimitingStage:
    """The transformation of a host's pipelines that calls a function of the program, if all others only hand
    its elements on. Without a known limiting stage, the wait is for that function."""
    works = [row for row in ask("written_stages") if row[0] not in _HAND_ON and not is_iterator(row[0])]
    if len(works) != 1:
        return LimitingStage()
    transformation, file, line, inside, arguments = works[0]
    function = function_in(arguments or "")
    if function is None or file is None:
        return LimitingStage()
    place = CodeLine(file, line, inside)
    return LimitingStage(transformation, place, None, call_text(transformation), function)


_LITTLE = 0.5
"""A filter that keeps less than this part makes the stage before it work for nothing most of the time. A
shuffle that hands on less fills its buffer."""
_HAND_ON = frozenset(
    {
        "from_tensors",
        "from_tensor_slices",
        "range",
        "batch",
        "repeat",
        "take",
        "skip",
        "prefetch",
        "with_options",
    }
)


def limiting_stage(ask: AskHost) -> LimitingStage:
    """The stage of a host's pipelines that limits its program most."""
    rows = ask("limiting_stage")
    if not rows:
        return LimitingStage()
    name, user_stage, position, spoken, *others = rows[0]
    file, line, inside, transformation, arguments, left, low, high, *behind = others
    kept, filter_line, drawn, shuffle_line = behind
    stage = branch(name)
    written = words(user_stage or "")
    if len(written) == 1 and transformation in FUSED.get(written[0], ()):
        written = [transformation]
    # What the function of a transformation makes is a stage of its own: the function burns no time there.
    nested = transformation is not None and bool(written) and transformation not in written
    return LimitingStage(
        f"{stage} ({written_as(user_stage, position)})" if user_stage else stage,
        None if file is None else CodeLine(file, line, inside),
        None if left is None else Left(left, low, high),
        spoken if file is None or nested else " with ".join(map(call_text, written)) or spoken,
        function_in(arguments or "") if transformation and not nested else None,
        FilterYield(kept, filter_line) if kept is not None and kept < _LITTLE else None,
        BufferFill(drawn, shuffle_line) if drawn is not None and drawn > 1 / _LITTLE else None,
        position,
    )


def unfilled_cache(ask: AskHost, position: int | None) -> UnfilledCache | None:
    """The cache behind a stage of which `take` draws a part: TensorFlow drops what a pass leaves unfinished,
    and makes all of it again."""
    if position is None:
        return None
    for at, line, cache, take in ask("caches_taken_from"):
        elements = strict_json.members(cache).get("cardinality")
        taken = strict_json.members(take).get("count")
        if not isinstance(elements, int) or not isinstance(taken, int):
            continue
        if position < at and 0 <= taken < elements:
            return UnfilledCache(line, taken, elements)
    return None
