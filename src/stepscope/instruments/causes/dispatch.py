"""Launching ops: the function that launches them, how often, and what of its ops goes when it is compiled."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes import gain
from stepscope.instruments.causes.call_paths import THRESHOLDS as CALLS
from stepscope.instruments.causes.call_paths import function_of
from stepscope.instruments.causes.cause import LineCause, Removal
from stepscope.instruments.causes.compute import small_ops
from stepscope.instruments.causes.contention import Contention
from stepscope.instruments.causes.copy import session_bytes
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.gain import LeftUntraced
from stepscope.instruments.causes.graph_loops import graph_loop, unseen_loop
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.label_shares import LabelShare
from stepscope.instruments.causes.op_lines import creating_line
from stepscope.instruments.causes.query_cache import QueryRows
from stepscope.instruments.causes.sampled_lines import LineSearch, StackEvidence
from stepscope.instruments.causes.side_effects import THRESHOLDS as SIDE_EFFECTS
from stepscope.instruments.causes.side_effects import goes_by_stack
from stepscope.instruments.causes.thresholds import CauseThresholds
from stepscope.instruments.causes.untraced_steps import GoesAtStack
from stepscope.instruments.thresholds import ANY, DRAWN, MEASURED, tuned
from stepscope.library.statements import statement


@dataclass(frozen=True, eq=False, repr=False)
class DispatchThresholds(CauseThresholds):
    """When launching is a cause, and which of its ops disappear with it."""

    stands_out: float = tuned(
        0.35,
        "a label is what limits a step from this part of it on: some launching belongs to every op, and a "
        "profiler makes it longer",
        slack=(0.175, 0.471),
        by=("tf_data/list_files_shuffle_once.xplane.pb.gz", "xplane/tf1_session.xplane.pb.gz"),
    )
    of_function: float = tuned(
        0.5, "what is to be compiled is the function that has this part of the launching", slack=ANY
    )
    on_host: float = tuned(
        0.5, "an op that runs on the host is the cause when it has this part of the launching", slack=ANY
    )
    compiled_runs: int = tuned(
        3,
        "an op of a compiled function has a name of its own, which runs no more often than this in a step",
        fitted_on=DRAWN,
        slack=ANY,
    )
    op_ps: int = tuned(
        3 * 10**6,
        "ops of a framework that records no launches are launching themselves where a mean one is so short: "
        "an op of PyTorch takes 1 to 5 us on a processor, however little it computes",
        fitted_on=MEASURED,
    )


MANY_CALLS = 20
"""From this many calls in a step on, their number is the explanation. A few may launch many ops of compiled
functions. Same as in the finding per-op-dispatch."""


class DispatchCause(LineCause):
    """Launching."""

    name = "dispatch"
    as_a_function = False
    thresholds: DispatchThresholds = DispatchThresholds()

    @property
    def search(self) -> LineSearch:
        """By functions: where many small calls are the cause, no line is."""
        return LineSearch(
            stands_in="copy", by_function=True, most_of=self.thresholds.of_function, forward=True
        )

    def stands_out(self, part: LabelShare, contention: Contention | None) -> bool:
        """Its share without waiting for cores: what makes it wait, such as the input's threads, is another
        cause."""
        real = 1.0 if contention is None else contention.launching
        return part.share * real / (1 - part.share * (1 - real)) >= self.thresholds.stands_out

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """The function, and how many launches, or runs of a session, a step has."""
        found = super().explain(host, share, ps_per_step)
        if (op := self.op_on_host(host, ps_per_step)) is not None:
            return replace(found, host_op=op)
        launches, sessions = launches_of(host), None
        if launches is None:
            ((shown, counted),) = host.ask("session_calls")
            sessions = round(shown / len(host.steps) if shown else counted or 0) or None
        calls = launches if sessions is None else sessions
        of_session = sessions is not None or (launches is None and host.stacks.runs_graphs())
        found = replace(
            found,
            calls=calls,
            of_session=of_session,
            takes_batches=of_session and host.ask("batches_in_steps")[0][0] > 0,
            called_from=caller(host, found),
            small_ops=self.are_ops(host),
            session_bytes=session_bytes(host.ask),
        )
        return found if (calls or 0) >= MANY_CALLS else self.explain_graph_loop(host, found)

    def op_on_host(self, host: HostSteps, ps_per_step: int) -> str | None:
        """The op that runs on the host for most of it, beside an accelerator."""
        rows = host.ask("ops_on_host") if host.top_op.on_device else ()
        least = self.thresholds.on_host * ps_per_step * len(host.steps)
        return rows[0][0] if rows and rows[0][1] >= least else None

    def are_ops(self, host: HostSteps) -> tuple[int, int] | None:
        """The ops of a mean step and their mean time, as in `small_ops`, where to run one costs as much as to
        launch it."""
        found = small_ops(host) if launches_of(host) is None else None
        return found if found is not None and found[1] * host.had_cores < self.thresholds.op_ps else None

    def explain_graph_loop(self, host: HostSteps, found: Explanation) -> Explanation:
        """The loop in the graph that launches, where there is one: who calls the function calls it once."""
        if host.top_op.on_device:
            return found
        loop = graph_loop(host.ask("computing_ops"), host.steps_of_ops)
        unseen = unseen_loop(host.ask("loops_of_graphs"), len(host.all_steps)) if loop is None else None
        named = loop or unseen
        made = None if named is None else creating_line(host.query, host.run_id, named.op)
        if named is None or made is None:
            return found
        found = replace(found, place=made, called_from=found.place, samples=None)
        ((passes,),) = host.query(
            statement("passes_of_loop", run_id=host.run_id, host_id=host.host_id, body=f"{named.op}/body/%")
        ).rows()
        return replace(found, loop_runs=max(named.runs, passes or 0), loop_unseen=loop is None)

    @property
    def most_of_line(self) -> float:
        """Lines that launch go with all that they do between launches."""
        return SIDE_EFFECTS.between

    def removal(self, host: HostSteps, found: Explanation) -> Removal:
        """Other labels that come from its function, whose ops are then launched from a compiled function."""
        goes = super().removal(host, found)
        place = found.place
        goes = replace(goes, launches=launches_of(host) or 0)
        if place is None:
            return goes
        # What an op computes, a compiled one computes as well, as far as that is more than to launch it.
        sure = None if goes.by_stack is None else self.goes_by_stack(host, found, place, 0.0)
        return replace(goes, sure=sure, of_place=self.launching_of(host.stacks, place))

    def launching_of(self, stacks: StackEvidence, place: CodeLine) -> frozenset[int]:
        """The stacks that come from a function, with the gradients of all ops where it launches these."""
        gradients = {stack for found in stacks.stacks.values() for stack in found.gradients}
        of_place = {
            stack for stack, path in stacks.paths.items() if function_of(place) in map(function_of, path)
        }
        took: Counter[bool] = Counter()
        for _, stack, label, dur_ps in stacks.parts():
            if label == self.name and stack not in gradients:
                took[stack in of_place] += dur_ps
        all_of_it = took[True] >= CALLS.all_of_it * took.total()
        return frozenset(of_place | gradients if all_of_it else of_place)

    def untraced(self, host: HostSteps, goes: Removal) -> LeftUntraced | None:
        """What is left of the steps after the recording. Who mends a function does not mend others. Where to
        launch an op is to run it, those that run for longer may go as well: one big op does what many did."""
        left, steps = super().untraced(host, goes), host.untraced
        if left is None or steps is None or goes.by_stack is None or not goes.of_place:
            return left

        def part_of_place(by_stack: Mapping[int, GoesAtStack]) -> float:
            here = {
                stack: at if stack in goes.of_place else at._replace(goes_ps=0.0)
                for stack, at in by_stack.items()
            }
            found = steps.left_without("none", here, host.stacks)
            return 0.0 if found is None else found.part

        left = left._replace(elsewhere=max(left.part - part_of_place(goes.sure or goes.by_stack), 0.0))
        if launches_of(host) is not None:
            return left
        return left._replace(
            may_go=part_of_place(goes_by_stack(host.stacks.parts(), (), "compute")),
            may_stay_ps=float(ops_of_calls(host) * gain.THRESHOLDS.compiled_op_ps),
        )

    def one_by_one(self, host: HostSteps) -> float:
        """Ops launched one by one disappear with their launching; compiled ones stay."""
        return self.launched_one_by_one(host.ask("computing_ops"), len(host.all_steps))

    def launched_one_by_one(self, rows: QueryRows, steps: int) -> float:
        """The part of all computing that belongs to ops which run again and again in a step: those are
        launched one by one. The others are of functions that are compiled already, and stay. 1.0 where no op
        is known. rows: of the statement computing_ops."""
        whole = again = 0
        for *_, self_ps, runs in rows:
            whole += self_ps or 0
            again += (self_ps or 0) if runs > self.thresholds.compiled_runs * steps else 0
        return again / whole if whole else 1.0


def caller(host: HostSteps, found: Explanation) -> CodeLine | None:
    """The line that calls the function which launches: that may do so once for each example, and then is
    what to change. None where it is that of the loop of the steps, which calls once a step."""
    call = found.called_from
    loops = host.stacks.loops
    return None if call is None or call.function == "<module>" or function_of(call) in loops else call


def ops_of_calls(host: HostSteps) -> int:
    """How many ops of a mean step run within the calls that launch them, which no launch is recorded of."""
    if not host.runs_inline:
        return 0
    number: int = sum(runs for at, *_, runs in host.ask("computing_ops") if at == "host")
    return number // host.steps_of_ops


def launches_of(host: HostSteps) -> int | None:
    """Launches in a mean step of a host, where there are any."""
    ((number,),) = host.ask("launch_count")
    steps = len(host.all_steps)
    return number // steps if number and steps else None
