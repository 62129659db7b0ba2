"""stepscope memory on dump folders: classes, heaps and holders of compiled programs."""

import json

import pytest

from stepscope.cli import main
from stepscope.instruments.xla import memory
from stepscope.session import trace
from tests.corpus import SAMPLES
from tests.formats.test_hlo import truths

SAMPLE = str(SAMPLES / "xla_dump")


def test_totals_are_those_of_memory_analysis(capsys: pytest.CaptureFixture[str]) -> None:
    asked = 0
    for folder, truth in truths():
        said = truth.get("memory_analysis")
        if said is None:
            continue
        name = max(truth["modules"], key=lambda module: module["instructions"])["file"]
        assert main(["memory", str(folder / name), "--format", "json"]) == 0
        (program,) = json.loads(capsys.readouterr().out)["programs"]
        for key in ("argument", "output", "alias", "temp"):
            assert program[f"{key}_size_in_bytes"] == said[f"{key}_size_in_bytes"], (name, key)
        assert program["peak_memory_in_bytes"] == said["peak_memory_in_bytes"]
        asked += 1
    assert asked == 7


def _find(folder: str) -> tuple[list[memory.ProgramMemory], int]:
    with trace.open(folder, cache=False) as opened:
        return memory.find(opened.query)


def test_heaps_are_joined_by_their_buffers() -> None:
    heaps = 0
    for folder, truth in truths():
        programs, _ = _find(str(folder))
        for module in truth["modules"]:
            found = [one for one in programs if one.file == module["file"]]
            if not found:
                continue  # beyond the largest
            (program,) = found
            assert [heap.needed_bytes for heap in program.heaps] == module["heap_peak"]
            assert [heap.at for heap in program.heaps] == [at for _, at in module["heap_peak_at"]]
            for heap in program.heaps:
                assert heap.needed_bytes <= heap.reserved_bytes
                heaps += 1
            # What is held adds up to all that a run takes, less what the heap does not need at once.
            gaps = program.classes["temp"] - sum(heap.needed_bytes for heap in program.heaps)
            held = sum(one.bytes for one in program.holders)
            others = sum(one.bytes for one in program.holders if one.of != "temp")
            assert others == program.peak_bytes - program.classes["temp"]
            assert program.peak_bytes - gaps <= held <= program.peak_bytes
    assert heaps > 10


def test_holders_have_ops_and_lines() -> None:
    (first, _), total = _find(SAMPLE)
    assert total == 2
    assert (first.id, first.peak_bytes) == ("2", 15516)
    ops = memory.sum_holders(first.holders, "op")
    lines = memory.sum_holders(first.holders, "line")
    assert sum(size for _, size, _ in ops) == sum(size for _, size, _ in lines)
    assert any("train_step" in name for name, _, _ in ops)
    assert any(name.startswith("/home/user/steps1.py:") for name, _, _ in lines)


def test_a_report_of_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("table", "md", "csv", "json"):
        assert main(["memory", SAMPLE, "--format", form]) == 0
        assert capsys.readouterr().out
    assert main(["memory", SAMPLE]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "jit_train_step (2) takes 15.2 KiB while it runs." in out
    assert "leaves temporaries out" in out
    before = f"{SAMPLE}/module_0000.jit_train_step.before_optimizations.hlo.pb"
    assert main(["memory", before]) == 2
