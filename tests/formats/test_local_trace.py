"""What the profilers of TensorFlow 2.0 and 2.1 wrote, against TensorFlow's own reading of the same files."""

import gzip
from pathlib import Path

import pytest

from stepscope import formats
from stepscope.cli import main
from tests import corpus
from tests.asked import ask

FOLDER = corpus.SAMPLES / "tf_2_0"
US = 10**6


@pytest.mark.parametrize(
    ("version", "ops"),
    [
        (0, [("IteratorGetNext", 8, 597 * US), ("MatMul", 8, 515 * US), ("_FusedMatMul", 8, 264 * US)]),
        (1, [("IteratorGetNext", 8, 749 * US), ("MatMul", 8, 816 * US), ("_FusedMatMul", 8, 274 * US)]),
    ],
)
def test_ops_of_steps_are_apart_from_those_of_the_pipeline(version: int, ops: list[tuple]) -> None:
    """The map of the pipeline runs another 144 MatMul or more, of 2.5 ms and more."""
    path = FOLDER / f"tf_2_{version}.local.trace.gz"
    found = ask(
        path,
        "SELECT op_type, count(*), CAST(sum(dur_ps) AS BIGINT) FROM slice "
        "WHERE op_type IN ('IteratorGetNext', 'MatMul', '_FusedMatMul') GROUP BY 1 ORDER BY 1",
    )
    assert found == ops
    assert ask(path, "SELECT format, producer, framework FROM source") == [
        ("local_trace", "tf_profiler", "tensorflow")
    ]
    ((matmuls,),) = ask(path, "SELECT count(*) FROM slice WHERE op_type IS NULL AND name LIKE '%:MatMul'")
    assert matmuls >= 144


@pytest.mark.parametrize(
    ("version", "stages"),
    [
        (0, ["Model", "Prefetch", "MapAndBatch", "Range"]),
        (1, ["Model", "ParallelMap", "Prefetch", "MapAndBatch", "Range"]),
    ],
)
def test_stages_have_their_way_from_the_root(version: int, stages: list[str]) -> None:
    """TensorFlow 2.1 wrote it; in 2.0 it follows from threads, and from which stages have their own."""
    found = ask(FOLDER / f"tf_2_{version}.local.trace.gz", "SELECT name FROM iterator ORDER BY length(name)")
    ways = ["::".join(["Iterator", *stages[: i + 1]]) for i in range(len(stages))]
    assert [name for (name,) in found] == ways


@pytest.mark.parametrize(
    ("name", "stages"),
    [
        (
            "tf_2_0_python",
            "Model Model::Prefetch Model::Prefetch::ForeverRepeat Model::Prefetch::ForeverRepeat::Map "
            "Model::Prefetch::ForeverRepeat::Map::MapAndBatch "
            "Model::Prefetch::ForeverRepeat::Map::MapAndBatch::FlatMap "
            "Model::Prefetch::ForeverRepeat::Map::MapAndBatch::FlatMap::TFRecord",
        ),
        (
            "tf_2_0_devices",
            "Model Model::ForeverRepeat Model::ForeverRepeat::MapAndBatch "
            "Model::ForeverRepeat::MapAndBatch::FlatMap "
            "Model::ForeverRepeat::MapAndBatch::FlatMap::TFRecord Prefetch Prefetch::Generator",
        ),
    ],
)
def test_calls_on_other_threads_have_their_way_too(name: str, stages: str) -> None:
    """Of whole microseconds, one of several that are alike contains the others; and calls around the first
    ones had begun before the recording."""
    found = ask(FOLDER / f"{name}.local.trace.gz", "SELECT DISTINCT name FROM iterator ORDER BY name")
    assert [way for (way,) in found] == [f"Iterator::{way}" for way in stages.split(" ")]


@pytest.mark.parametrize("version", [0, 1])
def test_devices_of_a_strategy_take_what_the_host_makes(
    version: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", str(FOLDER / f"tf_2_{version}_devices.local.trace.gz")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "of the step time is spent waiting for input" in said
    assert "The pipelines of the devices only hand over what the host's pipeline makes" in said
    assert "Generator 0 ps" in said
    assert "from_generator" not in said


def test_the_python_of_a_map_holds_the_program_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", str(FOLDER / "tf_2_0_python.local.trace.gz")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "map (transformation 3) does 8.88 ms of work per step on 1 thread" in said


def test_the_wait_and_its_stage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", str(FOLDER / "tf_2_0.local.trace.gz")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    # 10.8 ms in calls of Model on the thread that takes batches, eight steps of 4.62 ms.
    assert "31.0 % of the step time is spent waiting for input" in said
    assert "the last stage is yours, prefetch (transformation 2)" in said
    assert "map_and_batch (transformation 1) does 4.59 ms of work per step" in said
    assert "it does not show what calling the function for each element takes" in said


def test_what_nothing_tells_apart_is_called_by_both_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", str(FOLDER / "tf_2_1.local.trace.gz")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "Perhaps map (transformation 3) or map_and_batch (transformation 1): the recording shows when they "
        "are called, and not what their functions do."
    ) in said


def test_the_host_is_that_of_its_run(tmp_path: Path) -> None:
    """Beside the profile lies an event file with the host in its name."""
    data = gzip.decompress((FOLDER / "tf_2_1.local.trace.gz").read_bytes())
    profile = tmp_path / "plugins" / "profile" / "2020-01-08_10-00-00"
    profile.mkdir(parents=True)
    (profile / "local.trace").write_bytes(data)
    event = corpus.SAMPLES / "event_file"
    (events,) = event.glob("events.out.tfevents.*")
    (tmp_path / events.name).write_bytes(events.read_bytes())
    assert len(ask(tmp_path, "SELECT DISTINCT host_id FROM source")) == 1


def test_a_cut_file_gives_what_is_before_the_cut(tmp_path: Path) -> None:
    data = gzip.decompress((FOLDER / "tf_2_0.local.trace.gz").read_bytes())
    cut = tmp_path / "local.trace"
    cut.write_bytes(data[: len(data) // 2])
    ((seen,),) = ask(cut, "SELECT events_seen FROM source")
    assert 300 < seen < 1329
    assert ("truncated",) in ask(cut, "SELECT slug FROM source_note")


def test_other_messages_are_not_taken_for_it() -> None:
    fmt = formats.named_format("local_trace")
    data = gzip.decompress((FOLDER / "tf_2_0.local.trace.gz").read_bytes())
    assert fmt.sniff(data[:4096], "local.trace")
    for end in range(0, 64):
        fmt.sniff(data[:end], "local.trace")
    xplane = gzip.decompress((corpus.SAMPLES / "tf_2_3" / "two_maps.xplane.pb.gz").read_bytes())
    assert not fmt.sniff(xplane[:4096], "local.trace")
