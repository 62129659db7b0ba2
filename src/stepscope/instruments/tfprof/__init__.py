"""tfprof: what a TensorFlow model costs, by name scope, graph, Python code or op type.

The engine is in the core (crates/tfprof) and answers as TensorFlow 2.21 does, byte for byte. Here a
model is read from its files and asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol, get_args

from stepscope import _core
from stepscope.errors import LimitReached, StepscopeError, UnreadableSource, UsageError

if TYPE_CHECKING:
    from stepscope._core import CoreError, Input, Tfprof, TfprofOptions, ViewStream
    from stepscope.instruments.tfprof.evidence import Evidence


class ModelFile(Protocol):
    """A file of a model: see stepscope.formats.models."""

    @property
    def shown(self) -> str:
        """As told to people."""

    @property
    def path(self) -> str:
        """The file to be opened."""

    def input(self) -> Input:
        """Its bytes."""


ViewName = Literal["scope", "graph", "op", "code"]
VIEWS: tuple[ViewName, ...] = get_args(ViewName)


@dataclass(frozen=True)
class TfprofOption:
    """An option: its name without a dash, its default as the list of options shows it, what it does."""

    name: str
    default: str
    meaning: str


@cache
def options() -> tuple[TfprofOption, ...]:
    """All options that TensorFlow 2.21 has, in its order. The core lists them."""
    return tuple(TfprofOption(*meaning) for meaning in _core.TfprofOptions.meanings())


@cache
def names() -> tuple[str, ...]:
    """The names of the options."""
    return tuple(option.name for option in options())


@cache
def columns() -> dict[str, str]:
    """What -select takes, and what each column shows."""
    return dict(_core.TfprofOptions.columns())


@cache
def orders() -> tuple[str, ...]:
    """What -order_by takes."""
    return tuple(_core.TfprofOptions.orders())


@dataclass(frozen=True)
class ViewOutput:
    """What a view brought: text, warnings, and files still to be written (name, content)."""

    text: str
    warnings: list[str]
    files: list[tuple[str, bytes]]


class TfprofModel:
    """A model and the steps that were recorded of it.

    graph: GraphDef, MetaGraphDef or SavedModel, binary or text. run_metadata: one file a step, numbered from
    0. op_log: what tfprof's logger wrote. profile: a ProfileProto, instead of these three. checkpoint: a
    prefix, a file of one, or a folder. Without a graph the nodes are those that ran. The log is read after
    the steps, as `tf.compat.v1.profiler.profile` does; `log_first` reads it before, as tfprof's own program.

    evidence: the ops that a trace shows, instead of run_metadata; its nodes join those of the graph
    by name. own_flops: count floating point operations for nodes that no op log has. whole: keep large
    constants, for `profile()`.

    Raises UnreadableSource for a file that is not there, damaged or something else.
    """

    def __init__(
        self,
        graph: ModelFile | None = None,
        run_metadata: Sequence[ModelFile] = (),
        op_log: ModelFile | None = None,
        *,
        checkpoint: ModelFile | None = None,
        profile: ModelFile | None = None,
        evidence: Evidence | None = None,
        log_first: bool = False,
        own_flops: bool = False,
        whole: bool = False,
    ) -> None:
        self._core = _core.Tfprof()
        self._calls: Tfprof | None = None
        self._lacks: dict[str, str] = {}
        self.notes: list[str] = []
        if whole:
            self._core.keep_tensors()
        if own_flops:
            self._core.keep_shapes()
        if profile is not None:
            self._read("profile", profile)
        if graph is not None:
            self._read("graph", graph)
        if log_first:
            self._add_log(op_log, checkpoint)
        for step, file in enumerate(run_metadata):
            self._read("RunMetadata", file, step)
        if evidence is not None:
            self._take(evidence, graph, op_log, checkpoint)
        if not log_first:
            self._add_log(op_log, checkpoint)
        if own_flops:
            self._lacks.pop("float_ops", None)
            self.notes.append(_note_on_formulas(*self._core.fill_flops()))

    @classmethod
    def of_files(cls, files: Mapping[str, Sequence[ModelFile]], **more: Any) -> TfprofModel:
        """A model from files by the option that names them, such as graph_path; more: as for the model."""
        graph, op_log, checkpoint, profile = (
            next(iter(files.get(f"{name}_path", ())), None)
            for name in ("graph", "op_log", "checkpoint", "profile")
        )
        steps = files.get("run_meta_path", ())
        return cls(graph, steps, op_log, checkpoint=checkpoint, profile=profile, **more)

    def _add_log(self, op_log: ModelFile | None, checkpoint: ModelFile | None) -> None:
        if op_log is not None:
            self._read("op log", op_log)
        if checkpoint is not None:
            self._add_checkpoint(checkpoint)

    @property
    def of_trace(self) -> bool:
        """Whether what ran is known from the slices of a trace, in picoseconds."""
        return self._core.picoseconds

    @property
    def ticks_per_us(self) -> int:
        """Units of the figures for a microsecond: picoseconds of a trace."""
        return 10**6 if self.of_trace else 1

    @property
    def coverage(self) -> float:
        """Share of the graph's nodes that some step ran."""
        return self._core.coverage()

    def show(self, view: str, options: TfprofOptions) -> ViewOutput:
        """A view: scope, graph, op or code."""
        try:
            answer = ViewOutput(*self._engine(view).show(view, options))
            answer.warnings.extend(self._missing(view, options))
            return answer
        except _core.CoreError as error:
            _refuse(error, None)

    def outline(self, view: str, options: TfprofOptions) -> tuple[list[tuple[Any, ...]], list[str]]:
        """A view's lines as data (see `_core.pyi`), and what to know about them."""
        try:
            return self._engine(view).outline(view, options)
        except _core.CoreError as error:
            _refuse(error, None)

    def streams(self, options: TfprofOptions, first_id: int) -> dict[str, ViewStream]:
        """The lines of each view as a stream (see `_core.tfprof_views`)."""
        engines = [(view, self._engine(view)) for view in VIEWS]
        return dict(zip(VIEWS, _core.tfprof_views(engines, options, first_id), strict=True))

    def advise(self) -> ViewOutput:
        """What TensorFlow's three checkers say. UsageError for a trace, whose slices they cannot judge."""
        if self.of_trace:
            raise UsageError(
                "TensorFlow's checkers judge RunMetadata",
                seen="a trace",
                todo="stepscope PATH says what the trace shows and what to do",
            )
        try:
            return ViewOutput(*self._core.advise(), [])
        except _core.CoreError as error:
            _refuse(error, None)

    def profile(self) -> bytes:
        """The model as a ProfileProto, which `profile=` and TensorFlow read. UsageError for a trace: its
        times would have to be rounded."""
        if self.of_trace:
            raise UsageError(
                "A profile is made of graphs and RunMetadata",
                seen="a trace",
                todo="stepscope query PATH 'SELECT * FROM tfprof_node' gives the same figures as rows",
            )
        try:
            data, lost = self._core.profile()
        except _core.CoreError as error:
            _refuse(error, None)
        if lost:
            self.notes.append(f"{lost} inputs are nodes that the graph does not have; the profile lacks them")
        return data

    def _take(
        self,
        evidence: Evidence,
        graph: ModelFile | None,
        op_log: ModelFile | None,
        checkpoint: ModelFile | None,
    ) -> None:
        """Adds what ran. The code view has nodes of its own, since an op may be called by many lines."""
        try:
            self._core.add_ran(evidence.steps, evidence.rows())
            if evidence.calls and op_log is None:
                self._calls = _core.Tfprof()
                self._calls.add_ran(evidence.steps, evidence.rows(by_stack=True))
        except _core.CoreError as error:
            _refuse(error, None)
        self._lacks = evidence.lacks()
        for source, words in (
            (graph, ("params", "input_shapes")),
            (checkpoint, ("tensor_value",)),
            (op_log, ("float_ops",)),
        ):
            for word in words if source is not None else ():
                self._lacks.pop(word, None)
        self._rootless = graph is None and not any(node.inputs for node in evidence.nodes.values())
        self._codeless = op_log is None and not evidence.calls
        self.notes += evidence.notes

    _rootless = False
    _codeless = False

    def _engine(self, view: str) -> Tfprof:
        return self._calls if view == "code" and self._calls is not None else self._core

    def _missing(self, view: str, options: TfprofOptions) -> list[str]:
        """What a view cannot show because the trace lacks it; each sentence once."""
        asked = set(options.select)
        if "micros" in asked:
            asked |= {"accelerator_micros", "cpu_micros"}
        sentences = [
            f"{word} counts nothing here: {why}" for word, why in self._lacks.items() if word in asked
        ]
        for word in asked:
            self._lacks.pop(word, None)
        if view == "graph" and self._rootless:
            sentences.append("the trace does not contain what ops take from each other: no node has inputs")
            self._rootless = False
        if view == "code" and self._codeless:
            sentences.append(
                "no slice lies within a Python call or has its line: record with stacks (PyTorch:"
                " with_stack=True; TensorFlow and JAX: python_tracer_level=1)"
            )
            self._codeless = False
        return sentences

    def _add_checkpoint(self, file: ModelFile) -> None:
        self._checkpoint = file  # its values are read when they are asked for
        try:
            self._core.add_checkpoint(file.path)
        except _core.CoreError as error:
            _refuse(error, file.shown)

    def _read(self, what: str, file: ModelFile, step: int = 0) -> None:
        try:
            if what == "graph":
                self._core.add_graph(file.input())
            elif what == "op log":
                self._core.add_op_log(file.input())
            elif what == "profile":
                self._core.add_profile(file.input())
            elif not self._core.add_run_metadata(step, file.input()):
                self.notes.append(f"{file.shown}: it has no step statistics, so step {step} is missing")
        except _core.CoreError as error:
            _refuse(error, file.shown)
        self.notes += [f"{file.shown}: {warning}" for warning in self._core.take_warnings()]


def _refuse(error: CoreError, path: str | None) -> NoReturn:
    if error.kind == "interrupted":
        raise KeyboardInterrupt from error
    kind: type[StepscopeError] = LimitReached if error.kind == "limit" else UnreadableSource
    raise kind(
        "The file cannot be read." if path else "The view cannot be made.",
        seen=error.seen,
        todo="write or copy it anew; graph, RunMetadata, op log, checkpoint and profile each have an option",
        path=path,
        offset=error.offset,
    ) from error


def set_option(options: TfprofOptions, name: str, value: str, *, free: bool = False) -> None:
    """Sets an option from text. free: take unknown words for order_by and select, as TensorFlow's Python
    interface does (it orders by name and leaves the column empty). UsageError for a refused value."""
    if free and name == "order_by":
        options.force(name, [value])
        return
    if free and name == "select":
        options.force(name, [word for word in value.strip("\"'").split(",") if word])
        return
    try:
        options.set(name, value)
    except ValueError as error:
        raise UsageError(
            f"-{name} cannot be {value}",
            seen=str(error).removeprefix("INVALID_ARGUMENT: ").strip(),
            todo="stepscope tfprof --help lists the options",
        ) from error


def show_all(options: TfprofOptions) -> None:
    """Takes all minimums away: the defaults of 0 hide what is negative, as TensorFlow's first versions wrote
    bytes of ops that free what others allocated."""
    for name in names():
        if name.startswith("min_"):
            set_option(options, name, str(_LEAST))


_LEAST = -(2**63)


def report(options: TfprofOptions, answer: ViewOutput) -> str:
    """The answer as TensorFlow's Python interface prints it: options above, an end below. Only text that goes
    to stdout is framed."""
    if options.output != "stdout":
        return answer.text
    return (
        "\n=========================Options=============================\n"
        f"{options.list()}"
        "\n==================Model Analysis Report======================\n"
        f"{answer.text}"
        "\n======================End of Report==========================\n"
    )


def _note_on_formulas(counted: int, unknown: int, without_formula: dict[str, int], not_in_graph: int) -> str:
    """What became of the nodes for which no op log tells the operations; nothing is zero in silence."""
    sentences = [f"floating point operations of stepscope's own for {counted} nodes"]
    if unknown:
        sentences.append(f"{unknown} have no complete shape and count none")
    if without_formula:
        ops = sorted(without_formula, key=lambda op: (-without_formula[op], op))
        named = ", ".join(ops[:_NAMED]) + (f" and {len(ops) - _NAMED} more" if len(ops) > _NAMED else "")
        sentences.append(f"{sum(without_formula.values())} of ops without a formula count none: {named}")
    if not_in_graph:
        sentences.append(f"{not_in_graph} that the graph does not have count none")
    return "; ".join(sentences)


_NAMED = 8  # ops without a formula that are named; the rest is counted
