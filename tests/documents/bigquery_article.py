"""Items of "Profiling a TensorFlow 1 input pipeline with BigQuery"."""

import gzip
import json
from pathlib import Path
from typing import Any

from .item import Item

TITLE = "Profiling a TensorFlow 1 input pipeline with BigQuery"

_RUNS = (0, 2, 4, 6, 8, 10)
_METADATA = " ".join(f"tf1/session/run_meta_{run}.pb.gz" for run in _RUNS)
_TIMELINES = " ".join(f"tf1/session/timeline-{run}.json.gz" for run in _RUNS)


def _events(path: Path) -> list[dict[str, Any]]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    found: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    return found


def _as_tensorflow_wrote_it(folder: Path, printed: str) -> None:
    """The text of TensorFlow 1.15's own Timeline."""
    own = gzip.decompress((folder / "tf1/session/timeline-2.json.gz").read_bytes())
    assert (folder / "timeline.json").read_bytes() == own


def _keeps_what_sql_asks_for(folder: Path, printed: str) -> None:
    """Category, node and type of each op of the two timelines; arrows begin and end once."""
    merged = _events(folder / "merged.json")
    found = {
        (one["cat"], one["args"]["name"], one["args"]["op"])
        for one in merged
        if one["ph"] == "X" and one.get("cat") == "Op"
    }
    for part in (folder / "tf1" / "estimator").glob("timeline-*.json.gz"):
        wanted = {
            (one["cat"], one["args"]["name"], one["args"]["op"]) for one in _events(part) if one["ph"] == "X"
        }
        assert len(wanted) > 40
        assert wanted <= found
    begun = [one["id"] for one in merged if one["ph"] == "s"]
    assert len(begun) == len(set(begun)) > 0


def _one_flat_event_a_line(folder: Path, printed: str) -> None:
    """Durations and moments of the op that takes batches, in microseconds, as TensorFlow wrote them."""
    lines = [json.loads(line) for line in (folder / "events.ndjson").read_text().splitlines()]
    found = sorted(
        (one["ts"], one["dur"]) for one in lines if one["name"] == "IteratorGetNext" and one["ph"] == "X"
    )
    wanted = sorted(
        (one["ts"], one["dur"])
        for run in _RUNS
        for one in _events(folder / f"tf1/session/timeline-{run}.json.gz")
        if one["name"] == "IteratorGetNext" and one["ph"] == "X"
    )
    assert found == wanted
    assert {"index", "cat", "pid", "tid", "arg_name", "arg_op"} <= lines[0].keys()


ITEMS: list[Item] = [
    Item(
        "A folder that `tf.estimator.ProfilerHook` wrote, TensorFlow 1.15",
        "stepscope tf1/estimator",
        (
            "Waiting for input takes 81.6 % of a recorded run (7.60 ms of 9.32 ms)",
            "TFRecordDataset inside flat_map (transformation 1) holds it up",
        ),
        never=("unknown takes", "lost 0", "not the bottleneck"),
    ),
    Item(
        "The same hook in a MonitoredTrainingSession, TensorFlow 2",
        "stepscope profiler_hook",
        (
            "Ops run for 60.1 % of a recorded run (391 µs of 651 µs), MatMul for 55.2 % of all compute time.",
            "input 24.7 %",
            "4 recorded runs: mean 651 µs, median 628 µs",
        ),
    ),
    Item(
        "Runs of a session with FULL_TRACE, a RunMetadata each, TensorFlow 2",
        "stepscope " + " ".join(f"tf1/later/run_meta_{run}.pb" for run in range(6)),
        (
            "Waiting for input takes 88.2 % of a recorded run (1.49 ms of 1.69 ms).",
            "Left out of the averages: step 0 (warm up, 108 ms",
            "stepscope query tf1/later/run_meta_*.pb @waits",
        ),
    ),
    Item(
        "The same of TensorFlow 1.15: one answer for all runs",
        f"stepscope pipeline {_METADATA}",
        (
            "77.5 % of the step time is spent waiting for input",
            "prefetch (transformation 6) comes earlier: what is behind it, 7.20 µs per step, runs when",
            "TFRecordDataset inside flat_map",
        ),
        never=("No call that fetches a batch", "is not complete", "unknown takes"),
    ),
    Item(
        "A trace whose rows are called `unknown`, with the name in `args.name`",
        "stepscope pipeline tf1/session/timeline-8.json.gz",
        ("The input is the bottleneck", "batch (3) 38.0 µs BatchV2", "flat_map (1) 647 µs FlatMap"),
        never=("unknown takes", "do not contain"),
    ),
    Item(
        "`Timeline(step_stats).generate_chrome_trace_format()`, without TensorFlow",
        "stepscope export tf1/session/run_meta_2.pb.gz -o timeline.json --style tf-timeline --show-dataflow",
        ("to timeline.json",),
        check=_as_tensorflow_wrote_it,
    ),
    Item(
        "More than one iteration: a timeline for each",
        f"stepscope {_TIMELINES}",
        (
            "Waiting for input takes 77.5 % of a recorded run",
            "5 recorded runs: mean",
            "Left out of the averages: step 0 (warm up, 225 ms",
        ),
    ),
    Item(
        "Traces of several steps in one file for a viewer",
        "stepscope export tf1/estimator -o merged.json",
        ("to merged.json",),
        check=_keeps_what_sql_asks_for,
    ),
    Item(
        "A file that was merged by appending the events of all steps",
        "stepscope tf1/session/timeline.json.gz",
        (
            "Waiting for input takes 78.5 % of a recorded run",
            "11 recorded runs: mean",
            "Left out of the averages: step 0 (warm up, 225 ms",
        ),
        never=("1 step: 334 ms", "OneShotIterator for"),
    ),
    Item(
        "The same runs as RunMetadata, timelines and the merged timeline in one folder",
        "stepscope tf1/session",
        (
            "Waiting for input takes 78.5 % of a recorded run",
            "1 run, 1 host, 12 steps",
            "OneShotIterator",
            "126.8",
        ),
        never=("24 steps", "18 steps"),
    ),
    Item(
        "`dur` is a duration and `ts` an absolute time: both in microseconds",
        'stepscope query tf1/session/timeline-8.json.gz "SELECT name, dur_ps / 1e6 AS us FROM slice '
        "WHERE name = 'IteratorGetNext'\" --format csv",
        ("IteratorGetNext,2176.0",),  # "dur": 2176 in the file
    ),
    Item(
        "`MatchingFiles` takes too long",
        "stepscope tf1/session/timeline-0.json.gz",
        ("Files are listed 1 time, which takes 69.0 ms", "List the files once, before the pipeline"),
        never=("each time the pipeline starts over",),
    ),
    Item(
        "JSON for BigQuery, an event a line, types by autodetection",
        f"stepscope export {_TIMELINES} -o events.ndjson",
        ("to events.ndjson",),
        check=_one_flat_event_a_line,
    ),
    Item(
        "Load, flatten with UNNEST into a `--destination_table`, ask that; `%%stepscope` beside it",
        "%%stepscope query timeline.json --table flat",
        ("equal sums in both",),
        kept_by="tests/engines/repeats_bigquery_sql.py::test_the_cells_of_the_article",
    ),
    Item(
        "SQL: sum, mean, least and most of `dur` by name",
        "stepscope query tf1/session/timeline.json.gz \"SELECT json_extract_string(args_json, '$.name') AS "
        "arg_name, sum(dur_ps) / 1e6 AS total, avg(dur_ps) / 1e6 AS mean, min(dur_ps) / 1e6 AS least, "
        'max(dur_ps) / 1e6 AS most FROM slice GROUP BY arg_name ORDER BY total DESC LIMIT 4" --format csv',
        (
            "OneShotIterator,126766.0,10563.833333333334,7.0,126620.0",
            "OptimizeDataset/list_files/MatchingFiles:MatchingFiles,68955.0,68955.0,68955.0,68955.0",
        ),
    ),
    Item(
        "Export a recording to BigQuery, without a lake",
        "stepscope export tf1/estimator -o bigquery://my-project.profiles",
        ("to bigquery://my-project.profiles",),
        kept_by="tests/engines/test_bigquery.py::test_recordings_are_exported_without_a_lake",
    ),
    Item(
        "Record a job that is still on TensorFlow 1, in Python 3.6 or 3.7",
        "stepscope record -- python3.7 train.py",
        ("the program runs as without it",),
        kept_by="tests/capture/test_tensorflow1.py::test_recorded_and_read",
    ),
    Item(
        "A MonitoredTrainingSession that was recorded: the line, and an edit of it that is code",
        "stepscope pipeline tf1/monitored.tar.xz",
        (
            "91.2 % of the step time is spent waiting for input, 29.9 ms per step.",
            "flat_map (2) mts.py:7 12.0 ms FlatMap",
            ".map(grow).prefetch(tf.data.experimental.AUTOTUNE)",
            "put the cache before the repeat()",
        ),
        never=("iterator(", "found by files", "(2090)"),
    ),
    Item(
        "A loop of Session.run that feeds and fetches nothing",
        "stepscope tf1/unfed.tar.xz",
        ("Ops run, or wait for a core to do so, for 97.6 % of a step", "73 steps: mean 13.8 ms"),
        never=("Copying and converting",),
    ),
    Item(
        "A trace that is too large: fewer iterations, and packed",
        "stepscope export tf1/session/timeline-2.json.gz tf1/session/timeline-4.json.gz -o two.json.gz\n"
        "stepscope two.json.gz",
        ("2 steps",),
    ),
]
