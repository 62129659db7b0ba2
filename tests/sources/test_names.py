"""Steps and runs that names of files tell."""

import pytest

from stepscope.sources import names


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("timeline-15.json", 15),
        ("run_meta_0005.pb", 5),
        ("rm_4.pb", 4),
        ("my-meta-12.pb.gz", 12),
        ("train.run.7", 7),
        ("resnet50.pb", None),
        ("rank-3.json", None),
        ("meta_ps_1.pb", None),
        ("before.pb", None),
        ("meta_1584128411.pb", None),
        ("model_v2_4.pb", None),
    ],
)
def test_the_number_of_a_step(name: str, number: int | None) -> None:
    assert names.step(name) == number


def test_runs_of_a_session_are_called_without_their_number() -> None:
    assert names.stem("rm_4.pb", [".pb"], sessions=True) == "rm"
    assert names.stem("rm_4.pb", [".pb"]) == "rm_4"
    assert names.stem("ps_1.pb", [".pb"], sessions=True) == "ps_1"


def test_runs_are_called_without_the_ending_of_their_format() -> None:
    assert names.stem("resnet.pt.trace.JSON.gz", [".pt.trace.json", ".json"]) == "resnet"
    assert names.stem("resnet.db", [".json"]) == "resnet.db"
    assert names.stem("rank0.db", [".db"]) == ""
