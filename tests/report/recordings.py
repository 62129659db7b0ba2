"""The smallest recordings that produce each sentence: drawings. Those that cannot be drawn are in
made_recordings.py."""

import functools
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice

import duckdb

from stepscope.instruments.causes.judgement import Judgement
from stepscope.instruments.causes.label_shares import CauseName
from stepscope.instruments.causes.ranking import judge
from stepscope.instruments.step_breakdown import part_tables
from stepscope.library.statements import Query
from tests.asked import Asked
from tests.draw import Tables, draw
from tests.fakes import FakeTrace
from tests.report import made_recordings, made_samples


@functools.cache
def connection() -> duckdb.DuckDBPyConnection:
    """One for all: making tables and views anew would take most of the time."""
    return Tables().connect()


STEPS = made_recordings.STEPS
PYTHON = made_recordings.PYTHON

JUDGED: dict[str, str] = {
    "input": STEPS + PYTHON + "cpu/python thread :  [IteratorGetNextOp::DoCompute......]",
    "compute, one op": STEPS + PYTHON + "cpu/pool thread : [a:MatMul........................]",
    "nothing stands out": STEPS + PYTHON + "cpu/pool thread : [a:MatMul.][b:Add....][c:Mul....][d:Sub..]",
    "communication": STEPS + PYTHON + "gpu/s7 device_stream :  [ncclAllReduce...............]",
    "copy": STEPS + PYTHON + "gpu/s7 device_stream :  [MemcpyHtoD..................]",
    "dispatch": STEPS + PYTHON + "cpu/python thread :  [EagerExecute][EagerExecute]",
    "wait": STEPS + PYTHON + "cpu/python thread :  [$time sleep..................]",
    "idle": STEPS + PYTHON + "gpu/s7 device_stream :  [k:MatMul]                 [k]",
    "unknown": STEPS + PYTHON,
    "unknown, with ranges": STEPS + "cpu/python thread : [forward..][backward....] [forward..][backward....]",
    "unknown, only launches": STEPS + "gpu/compute lane! : [a:MatMul]",
    "only step": "step train : [train.....]\ncpu/pool thread : [a:MatMul]",
    "no steps": "cpu/pool thread : [a:MatMul....]",
}
"""Of which the judgement is listed: what limits a step, and what speaks for it."""

WHOLE: dict[str, str] = {
    "one device": STEPS + PYTHON + "gpu/s7 device_stream :  [k:MatMul]                 [k]",
    "pauses between steps": "step train : [s1..]                    [s2..]\n"
    "gpu/s7 device_stream : [a:Dot]                  [b:Mul]",
    "a device without a gap": "gpu/s7 device_stream : [k:MatMul]",
    "launches": "gpu/compute lane! : [a:MatMul][b:Add]",
    "left out": "step ~compile : [step 0....]\nstep train : "
    + " " * 12
    + "[step 1]\ncpu/t thread : [a:Add............]",
    "many left out": "step ~compile : [s0][s1][s2][s3][s4]\nstep train : "
    + " " * 20
    + "[s5]\ncpu/t thread : [a:Add]",
    "uneven steps": "step train : [s][s][s][s][s][s.............]\ncpu/t thread : [a:Add]",
    "waiting for input": STEPS + "cpu/t thread :  [IteratorGetNextOp::DoCompute......]",
    "a pipeline alone": "cpu/tf_data_a thread : [a:MatMul]",
    "two rows": "cpu/1 lane : [a:MatMul.]\ncpu/2 lane :    [b:MatMul.]",
}
"""Of which the whole report is listed."""

PROBLEMS: dict[str, str] = {
    "collectives_overlap": "cpu/1 lane : [a:HorovodAllreduce..]\ncpu/2 lane :   [b:HorovodAllreduce..]",
    "compile_step": "step ~compile : [step 0....][step 1....]\ncpu/t lane : [a:_XlaCompile]",
    "compile_step, one": "step ~compile : [step 0....]\ncpu/t lane : [a:_XlaCompile]",
    "copies_in_steps": "gpu/s device_stream : [kernel][Memcpy]",
    "copies_in_steps, two": "gpu/s device_stream : [kernel][Memcpy][Memcpy]",
    "copies_in_steps, of pageable and unified memory": "gpu/s device_stream : [kernel]"
    "[Memcpy HtoD (Pageable -> Device)][Memcpy HtoD (unified memory)]",
    "cpu_ops_in_device_step": STEPS
    + "cpu/t thread : [a:Unique.......][b:Add]\ngpu/s device_stream : [k:MatMul]",
    "device_idle": STEPS + "gpu/s device_stream :  [kernel..]     [k]",
    "device_idle, two": "gpu/s device_stream : [a]        [b]\ngpu2/s device_stream : [a]        [b]",
    "device_unused": f"gpu/s device_stream : [kernel{'.' * 900}]\ntpu/s device_stream : [k]",
    "device_unused, two": f"gpu/s device_stream : [kernel{'.' * 900}]\ntpu/s device_stream : [k][k]",
    "few_steps": "step train : [s0][s1]",
    "few_steps, one": "step train : [s0]",
    "host_sync": STEPS + "cpu/t thread :  [cudaStreamSynchronize]\ngpu/s device_stream : [k]",
    "host_sync, one call": "step train : [train.....]\ncpu/t thread : [cudaStreamSynchronize]\n"
    "gpu/s device_stream : [k]",
    "input_wait": STEPS + "cpu/t thread : [IteratorGetNextOp::DoCompute]",
    "many_tiny_kernels": "gpu/s device_stream : " + "[k]   " * 120,
    "matching_files": STEPS + "cpu/t thread : [list:MatchingFiles]",
    "matching_files, twice": STEPS + "cpu/t thread : [a:MatchingFiles][b:MatchingFiles]",
    "no_steps": "cpu/t thread : [a:Add]",
    "one_op_hides_the_rest": "cpu/t thread : [a:_XlaRun........][b:Add]",
    "one_op_hides_the_rest, twice": "cpu/t thread : [a:_XlaRun........][a:_XlaRun........][b:Add]",
    "parallelism_not_real": "".join(f"cpu/{i} lane : {' ' * 8 * i}[{i}:MatMul]\n" for i in range(4)),
    "python_in_pipeline": STEPS + "cpu/t thread : [f:EagerPyFunc]",
    "python_in_pipeline, twice": STEPS + "cpu/t thread : [f:EagerPyFunc][f:EagerPyFunc]",
    "python_in_pipeline, two ops": STEPS + "cpu/t thread : [f:EagerPyFunc][g:EagerPyFunc]",
    "python_in_pipeline, three ops": (
        "step train : [s...................][s...................]\n"
        "cpu/t thread : [f:EagerPyFunc][....a:Add..][g:EagerPyFunc][h:EagerPyFunc]"
    ),
    "recompilation": "step train : [s0]\nstep ~compile :     [s1][s2]\nstep train :             [s3]",
    "rows_are_launches": "gpu/compute lane! : [a:MatMul][b:Add]",
    "rows_are_launches, one": "gpu/compute lane! : [a:MatMul]",
    "summaries_in_steps": STEPS + "cpu/t thread : [a:HistogramSummary][b:Add]",
    "summaries_in_steps, two": STEPS + "cpu/t thread : [a:HistogramSummary][c:ScalarSummary][b:Add]",
    "slow_step": "step train : [s][s][s][s][s..............]",
    "slow_step, two": "step train : [s][s][s][s][s][s][s..............][s..............]",
}
"""Findings, each with what is special about the recording behind a comma."""


Made = tuple[str, Callable[[], Tables]]
"""A name, and what makes the recording, with the tables that are derived: deriving takes most of the time."""


def judged(each: int = 1) -> Iterator[Made]:
    """Recordings of which the judgement is listed, by their names: every first of so many."""
    drawn = chain(
        ((name, draw(drawing)) for name, drawing in JUDGED.items()),
        made_recordings.judged(),
        made_samples.judged(),
    )
    yield from ((name, partial(derived, tables)) for name, tables in islice(drawn, 0, None, each))


def whole() -> Iterator[Made]:
    """Recordings of which the whole report is listed."""
    yield from ((name, partial(_drawn, drawing)) for name, drawing in WHOLE.items())
    yield from ((make.__name__.replace("_", " "), partial(_made, make)) for make in made_recordings.WHOLE)


def problems(each: int = 1) -> Iterator[Made]:
    """Recordings with a problem, by the name of the finding: every first of so many."""
    drawn = ((name, partial(draw, drawing)) for name, drawing in PROBLEMS.items())
    made = ((name, partial(_made, make)) for name, make in made_recordings.PROBLEMS.items())
    yield from islice(chain(drawn, made), 0, None, each)


def _drawn(drawing: str) -> Tables:
    return derived(draw(drawing))


def _made(make: Callable[[], Tables]) -> Tables:
    return derived(make())


def derived(tables: Tables) -> Tables:
    """The same with what counts to each part of its steps, and with the facts that a decoder would add.
    They are in connection() then."""
    slices = tables.rows["slice"]
    for row in tables.rows["source"][:1]:
        if not row["events_seen"] and not row["error"]:
            row.update(events_seen=len(slices), events_stored=len(slices))
    for row in tables.rows["capture"]:
        own = [one for one in slices if one["source_id"] == row["source_id"]]
        own += [one for one in tables.rows["step_stored"] if one["source_id"] == row["source_id"]]
        if own:
            begin = min(one["ts_ps"] for one in own)
            row["dur_ps"] = max(one["ts_ps"] + one["dur_ps"] for one in own) - begin
    tables.fill(connection(), sums=False)

    asked = Asked(connection())
    if not tables.rows["step_part"]:
        for table, rows in part_tables.rows(asked, asked.stream)._asdict().items():
            for row in rows:
                tables.add(table, **{key: value for key, value in row.items() if key != "id"})
            if rows:
                tables.insert(connection(), table)
    return tables


def queried(tables: Tables) -> Query:
    """How instruments ask the tables, once what is derived is added to them."""
    derived(tables)
    return FakeTrace(connection()).query


def judgement_of(tables: Tables, name: CauseName | None = None) -> Judgement:
    """The judgement of the one host of the tables. name: a cause to judge instead of what ranks first."""
    (judgement,) = judge(queried(tables), name)
    return judgement
