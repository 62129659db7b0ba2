"""A report says what the tables say: sentences with numbers, findings by weight, doubts where they belong."""

import dataclasses
import functools
from collections import defaultdict

import pytest

from stepscope.library.statements import statement
from stepscope.report import Report, build, section_text, step_text
from stepscope.report.advice import next_commands
from stepscope.report.headline import headline
from stepscope.report.parts import Chart, Column, Table
from stepscope.report.summary_sections import _splits
from tests.draw import UNIT_PS, Tables, draw
from tests.fakes import FakeTrace, drawn_trace
from tests.report import made_ranks
from tests.report.made_recordings import a_pipeline_beside_the_program
from tests.report.recordings import derived


def report(tables: Tables, *paths: str, all: bool = False) -> Report:
    """The report of drawn tables."""
    return build(drawn_trace(tables, *(paths or ("trace.pb",))), all=all)


WAITING = """
step        train         : [train........][train........][train........]
cpu/python  thread        : [train........][train........][train........]
cpu/next    thread        :  [IteratorGetNextOp::DoCompute..........]
cpu/pool    thread        : [a:MatMul][b:Add]
cpu/lane    lane          : [c:Relu]
"""


@functools.cache
def waiting() -> Report:
    """The report of WAITING, made once: it is never changed."""
    return report(draw(WAITING))


@functools.cache
def _waiting_trace() -> FakeTrace:
    return drawn_trace(draw(WAITING))


def commands(*paths: str) -> tuple[str, ...]:
    """What the report of WAITING offers next, had it been read from these paths."""
    trace = _waiting_trace()
    trace.given = paths
    told = {"runs_and_hosts": [{"sources": 1, "events": 1}], "pipeline_stages": []}
    return next_commands(trace, waiting().findings, told)


def test_commands_are_those_of_the_report():
    assert commands("trace.pb") == waiting().next_commands


def test_sections_and_sentences():
    found = waiting()
    names = [section.name for section in found.sections]
    assert names[:4] == ["runs_and_hosts", "step_list", "op_types", "ops"]
    assert names[-1] == "completeness"
    assert found.title == "r: 1 run, 1 host, 3 steps"
    assert found.headline[0] == "Train steps take 15.0 µs on average."
    (waits,) = [section.answer for section in found.sections if section.name == "waits"]
    assert waits == ("Share of the steps in which some thread waits: input 88.9 %.",)
    assert found.headline[1].startswith("Most work on hosts: MatMul (40.0 % of it)")
    steps = found.sections[1]
    assert steps.answer[0].startswith("3 train steps: mean 15.0 µs, median 15.0 µs")
    assert steps.chart.y == ("dur_ps", "input_wait_ps")
    assert found.facts["steps"] == 3


def test_ops_of_the_pipeline_are_no_work_of_the_program():
    """A function of the pipeline runs ops of the same names, on the thread on which the program's run."""
    drawn = derived(a_pipeline_beside_the_program())
    found = report(drawn)
    assert (
        "Most work on hosts besides the input pipeline: Exp (65.2 % of it), Mat (34.8 %)." in found.headline
    )
    for name in ("op_types", "ops"):
        (table,) = [section.table for section in found.sections if section.name == name]
        names = [column.name for column in table.columns]
        rows = [dict(zip(names, row, strict=True)) for row in table.rows]
        of_input = {row["op_type"]: row["input_ps"] for row in rows}
        assert of_input == {"Mat": 24 * UNIT_PS, "Exp": None, "DecodeJpeg": 14 * UNIT_PS}
    (top,) = drawn_trace(drawn).query(statement("top_kinds_of_ops")).rows()
    assert top[3:6] == ("Exp", "b", 15 * UNIT_PS)


def test_a_recording_of_the_pipeline_alone():
    (sentence,) = [line for line in report(draw("cpu/tf_data_a thread : [a:Mat]")).headline if "work" in line]
    assert sentence == "Most work on hosts, all of it of the input pipeline: Mat (100.0 % of it)."


def test_compiling_is_no_work_of_steps():
    """The step that compiles is left out of the averages that stand beside it."""
    drawing = "step train : [s...][s...][s...]\ncpu/t thread : [c:_XlaCompile........][r:_XlaRun][b:Add]"
    (sentence,) = [line for line in report(draw(drawing)).headline if line.startswith("Most work")]
    assert "_XlaRun" in sentence
    assert "_XlaCompile" not in sentence


@pytest.mark.parametrize(
    ("means", "labels"),
    [
        ([("a", "h")], [""]),
        ([("a", "unknown"), ("b", "unknown")], ["a", "b"]),
        ([("a", "h"), ("a", "unknown")], ["h", "a host without a name"]),
        ([("a", "h"), ("b", "i")], ["a on h", "b on i"]),
    ],
)
def test_mean_steps_have_the_names_that_tell_them_apart(means, labels):
    names = ("run_id", "host_id", "what", "dur_ps", "steps")
    columns = tuple(Column(name, "text", name, "") for name in names)
    table = Table(columns, tuple((*where, "mean", 5, 2) for where in means), len(means))
    splits = _splits(table, Chart("stacked_bar", "what", (), ""))
    assert [split.of for split in splits] == labels


def test_tables_prove_the_sentences():
    """Each section and finding carries the SQL and the raw rows, in the units of its columns."""
    found = report(draw(WAITING), all=True)
    for section in (one for outer in found.sections for one in outer.walk()):
        assert section.sql.startswith(("SELECT", "WITH")) or section.kind in ("prose", "diff")
        if section.table is not None:
            assert {len(row) for row in section.table.rows} <= {len(section.table.columns)}
    (wait,) = [finding for finding in found.findings if finding.slug == "input-wait"]
    assert wait.severity == "high"
    assert wait.evidence.rows[0][1] == 40 * UNIT_PS
    assert wait.impact.startswith("88.9 % of the step time on h is waiting for input: 13.3 µs of each step")


@pytest.mark.repeats("another table; columns are left out beside it")
def test_ranks_have_no_columns_in_which_nothing_was_recorded():
    """A zero would say that there were collectives, and that they took no time."""

    def shown(tables: Tables) -> tuple[set[str], tuple[str, ...]]:
        found = report(derived(tables))
        (ranks,) = [section for section in found.sections if section.name == "ranks"]
        assert ranks.table is not None
        return {column.name for column in ranks.table.columns}, tuple(ranks.chart.y)

    columns, bars = shown(made_ranks.input_late_on_one_rank())
    assert not columns & {"collectives", "times_last", "wait_ps", "communication_ps", "hidden_ps"}
    assert bars == ("compute_ps", "input_ps")
    columns, bars = shown(made_ranks.one_rank_arrives_last())
    assert {"collectives", "times_last", "wait_ps"} <= columns
    assert "input_ps" not in columns
    assert bars == ("compute_ps",)


def test_all_shows_more():
    brief, whole = waiting(), report(draw(WAITING), all=True)
    assert {s.name for s in brief.sections} < {s.name for s in whole.sections}


def test_findings_come_by_weight():
    order = [finding.severity for finding in waiting().findings]
    assert order == sorted(order, key=["high", "medium", "low", "info"].index)


def test_steps_left_out_are_told():
    text = "step ~compile : [step 0....]\nstep train : " + " " * 12 + "[step 1]\ncpu/t thread : [a:Add]"
    (section,) = [s for s in report(draw(text)).sections if s.name == "step_list"]
    assert "Left out of the averages: step 0 (compile, 12.0 µs: drawn)." in section.answer
    assert section.chart is not None


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([4], "step 4"),
        ([4, 5], "steps 4 and 5"),
        ([0, 1, 2, 3], "steps 0 to 3"),
        ([0, 0, 1, 1, 2], "steps 0 to 2"),
        ([1, 4, 6], "steps 1, 4 and 6"),
        ([1, 4, 6, 8, 9], "steps 1, 4, 6 and 2 more"),
    ],
)
def test_steps_left_out_for_one_reason_are_told_together(numbers, words):
    rows = [
        {"run_id": "r", "kind": "unknown", "reason": "slow", "step": n, "dur_ps": (n + 1) * 10**9}
        | {"averaged": False, "recovered_from": "file"}
        for n in numbers
    ]
    (sentence,) = step_text._left_out(rows, False)
    assert sentence.startswith(f"Left out of the averages: {words} (")


def test_notes_say_what_they_weaken():
    tables = draw(WAITING)
    tables.rows["source"][0] |= {"events_seen": 9, "events_stored": 7, "events_lost": 2, "complete": False}
    tables.add("source_note", slug="repaired-thing", effect="repaired", events=1, detail="mended")
    tables.add("source_note", slug="truncated", effect="lost", events=2, detail="cut")
    found = report(tables)
    assert [note.slug for note in found.notes] == ["truncated", "repaired-thing"]
    assert "step times" in found.notes[0].weakens
    assert found.notes[1].weakens == ()
    (wait,) = [finding for finding in found.findings if finding.slug == "input-wait"]
    assert wait.weakened_by == ("truncated",)
    assert found.sections[-1].answer == ("7 of 9 events stored, 2 lost.",)


def test_no_steps():
    found = report(draw("cpu/t thread : [a:MatMul]"))
    assert not [section for section in found.sections if section.name == "step_list"]
    assert [finding.slug for finding in found.findings] == ["no-steps"]
    assert found.title == "r: 1 run, 1 host"


def test_nothing_at_all():
    """An empty trace gives an empty report, not an error."""
    found = build(drawn_trace(Tables()), all=True)
    assert found.headline == ()
    assert found.findings == ()
    assert found.next_commands == ()


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        (("a b/x.pb",), "'a b/x.pb'"),
        (("z.zip", "z.zip"), "z.zip"),
        (("logs/1.pb", "logs/2.pb", "logs/3.pb", "logs/4.pb"), "logs/1.pb logs/2.pb logs/3.pb logs/4.pb"),
        (("logs/1.pb", "logs/2.pb", "logs/3.pb", "/4.pb"), "logs/1.pb logs/2.pb logs/3.pb /4.pb"),
        (("b.pb", "a.pb"), "b.pb a.pb"),
        (("-x.pb",), "./-x.pb"),
    ],
)
def test_next_commands_can_be_pasted(paths, shown):
    first, second = commands(*paths)
    assert first == f"stepscope query {shown} @waits"
    assert second == f"stepscope report {shown} -o report.html"


def test_a_pattern_stands_for_the_files_that_it_names_and_no_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("run_0.pb", "run_1.pb", "run_2.pb", "run_10.pb", "timeline.json"):
        (tmp_path / name).touch()
    given = ["run_0.pb", "run_1.pb", "run_2.pb", "run_10.pb"]
    assert commands(*given)[1] == "stepscope report run_*.pb -o report.html"
    (tmp_path / "run_3.pb").touch()
    first, _ = commands(*given)
    assert first == "stepscope query run_0.pb run_1.pb run_2.pb run_10.pb @waits"


@pytest.mark.parametrize("path", ["-", "/dev/fd/63"])
def test_a_pipe_cannot_be_asked_again(path):
    assert commands(path) == ()


def test_names_of_a_file_are_not_templates():
    """Braces and backslashes in names are shown, not filled in."""
    tables = draw("cpu/t thread : [a:_XlaRun]")
    tables.rows["slice"][0]["op_name"] = "{share} \\1 {0}"
    (hides,) = [f for f in report(tables).findings if f.slug == "one-op-hides-the-rest"]
    assert hides.impact.startswith("{share} \\1 {0} (_XlaRun) takes 11.0 µs, 100.0 % of the time of host ops")


def test_more_cases_are_counted():
    tables = draw("gpu/s device_stream : [a]        [b]")
    tables.add("device", name="gpu2", kind="gpu")
    tables.add("track", device_id=1, kind="device_stream", records="execution")
    tables.slices(0, [{"track_id": 1, "name": "k", "ts_ps": 3 * UNIT_PS, "dur_ps": UNIT_PS}])
    (idle,) = [finding for finding in report(tables).findings if finding.slug == "device-idle"]
    assert idle.impact.endswith(" 1 more case like it: `device_idle` lists it.")
    assert idle.evidence.total == 2


def test_views_are_kept_once():
    trace = drawn_trace(draw(WAITING), "t.pb")
    build(trace)
    assert sorted(set(trace.kept)) == sorted(trace.kept)


def test_report_is_plain_data():
    assert dataclasses.asdict(waiting())["title"] == "r: 1 run, 1 host, 3 steps"


def test_several_runs_are_told_apart():
    """Every sentence about one of several runs names it; hosts are counted once."""
    tables = draw(WAITING)
    tables.source(1, run_id="other", producer="tf_profiler, tf_timeline")
    tables.rows["capture"][1]["run_id"] = "other"
    for number in range(2):
        span = {"ts_ps": number * UNIT_PS, "dur_ps": UNIT_PS}
        facts = {"kind": "train", "recovered_from": "marker", "averaged": True}
        tables.add("step_stored", source_id=1, run_id="other", step=number, **facts, **span)
    found = report(tables)
    assert found.title == "other, r: 2 runs, 1 host, 5 steps"
    assert found.headline[0] == "Train steps of r take 15.0 µs on average."
    steps = next(s for s in found.sections if s.name == "step_list")
    assert [answer.split(":")[0] for answer in steps.answer] == ["other", "r"]
    wait = next(finding for finding in found.findings if finding.slug == "input-wait")
    assert "on h in r is waiting" in wait.impact


def test_one_step_has_no_spread():
    found = report(draw("step train : [step 0]\ncpu/t thread : [a:A]"))
    assert found.headline[0] == "One train step takes 8.00 µs."
    steps = next(s for s in found.sections if s.name == "step_list")
    assert steps.answer[0] == "1 train step: 8.00 µs; found by marks in the program."


def test_graphs_are_no_recordings():
    tables = Tables()
    tables.source(0, format="graph", producer="unknown", events_seen=7, events_stored=7)
    found = report(tables)
    assert found.headline[0].startswith("Only graphs were found")
    assert found.sections[0].answer == (
        "1 file holds a graph of 7 nodes: what could run, not what ran (`node`, `edge`).",
    )
    first, second = found.next_commands
    assert first == "stepscope graph trace.pb"
    assert "FROM node" in second
    tables.add("node", graph="graph", name="b", op_type="Mul", args_json='{"_XlaCluster": "cluster_0"}')
    assert report(tables).next_commands[0] == "stepscope xla clusters trace.pb"
    tables.source(1, producer="step_stats", events_seen=5, events_stored=5)
    recorded = report(tables).sections[0].answer
    assert recorded[0] == "5 events from 1 source by step_stats."
    assert recorded[1].startswith("Beside them, 1 file holds a graph")


@pytest.mark.parametrize(
    ("producer", "said"),
    [
        ("kineto", "DataLoader"),
        ("tf_timeline", "`stepscope record` makes one that does"),
        ("tf_profiler", "Iterator::"),
    ],
)
def test_advice_fits_what_feeds_the_steps(producer, said):
    tables = draw(WAITING, producer=producer)
    (wait,) = [finding for finding in report(tables).findings if finding.slug == "input-wait"]
    assert said in wait.action


MORE = "Map needs more, 3.00 µs, but in parallel with the others."


def stage(name: str, service_ps: int, **others: object) -> dict[str, object]:
    known = {"pipeline": 0, "verdict": "input_bound", "user_stage": None, "stage": f"Iterator::{name}"}
    known |= {"run_id": "r", "host_id": "h", "wait_share": 0.6, "limits": 1}
    return {**known, "service_ps": service_ps, **others}


@pytest.mark.parametrize(
    ("second", "more"),
    [
        (stage("Map", 1_000_000, limits=2), []),
        (stage("Map", 3_000_000, limits=2), [MORE]),
        (stage("Zip[1]::Map", 3_000_000, limits=2), [f"Zip[1]::{MORE}"]),
        (stage("Map", 3_000_000, limits=2, pipeline=1), []),
    ],
)  # fmt: skip
def test_a_stage_that_needs_more_and_limits_less_is_explained(
    second: dict[str, object], more: list[str]
) -> None:
    told = {"pipeline_stages": [stage("Batch", 2_000_000), second], "runs_and_hosts": []}
    said = section_text.answer("pipeline_stages", told)
    assert said == ["The input is the bottleneck.", "Batch limits it: it needs 2.00 µs per step.", *more]


def test_each_host_with_a_pipeline_gets_its_verdict() -> None:
    """Also where no stage limits, or none can be told."""
    stages = [
        stage("Map", 2_000_000, host_id="a"),
        stage("Map", 1_000, host_id="b", verdict="input_bound", limits=None, wait_share=0.5),
        stage("Map", 1_000, host_id="c", verdict="partly_input_bound", limits=None, wait_share=0.1),
        stage("Map", 1_000, host_id="d", verdict="not_input_bound", limits=None, wait_share=0.0),
        stage("Map", 1_000, host_id="e", verdict="unknown", limits=None, wait_share=None),
    ]
    told = {"pipeline_stages": stages, "runs_and_hosts": [{"run_id": "r"}]}
    assert section_text.answer("pipeline_stages", told) == [
        "The input of a is the bottleneck.",
        "Map limits it: it needs 2.00 µs per step.",
        "The input of b is the bottleneck.",
        "No stage limits it by itself.",
        "The input of c is part of the bottleneck: waiting for it takes 10.0 % of a step.",
        "No stage limits it by itself.",
        "The input of d is not the bottleneck.",
        "The recording does not show whether the input of e is the bottleneck.",
    ]


def test_ops_that_are_called_alone_are_most_of_the_work():
    """A table is made anew for each request, in calls that have no slice of their op."""
    gather = {"op_type": "Gather", "place": "host", "class": "compute", "self_ps": 5, "input_ps": None}
    rows = defaultdict(list, op_types=[gather])
    assert list(headline(rows)) == ["Most work on hosts: Gather (100.0 % of it)."]
    called = [("LookupTableImportV2", 80), ("HashTableV2", 15)]
    assert list(headline(rows, alone=called)) == [
        "Most work on hosts, ops called one by one included: LookupTableImportV2 (80.0 % of it), "
        "HashTableV2 (15.0 %), Gather (5.0 %)."
    ]
