"""Dump folders: names, stages, passes, compiles of one function, what is damaged."""

import shutil
from pathlib import Path

import pytest

from stepscope.errors import NothingFound
from stepscope.formats.xla import dump_names, dumps
from tests.corpus import SAMPLES, files
from tests.each import each
from tests.formats.test_hlo import truths, unpacked

SAMPLE = SAMPLES / "xla_dump"
TF = "a_inference_step_196__XlaMustCompile_true_config_proto_13_executor_type_11_.15"


@each(
    ("name", "expected"),
    [
        ("module_0036.f.before_optimizations.txt", ("f", 36, "before", "before_optimizations", None, None)),
        (
            f"module_0036.{TF}.before_optimizations.hlo.pb",
            (TF, 36, "before", "before_optimizations", None, None),
        ),
        ("module_0001.after_optimizations.txt", ("", 1, "after", "after_optimizations", None, None)),
        (
            "1700000000000.module_0001.g.sm_8.0_gpu_after_optimizations.hlo.pb",
            ("g", 1, "after", "sm_8.0_gpu_after_optimizations", None, None),
        ),
        (
            "module_0030.jit_f.0009.simplification.after_pipeline-start.before_algsimp.hlo.pb",
            ("jit_f", 30, "pass", "simplification", "pipeline-start", 9),
        ),
        (
            "module_0030.jit_f.0050.copy-insertion.after_removing_unnecessary_copies.txt",
            ("jit_f", 30, "pass", "copy-insertion", "removing_unnecessary_copies", 50),
        ),
        (
            "module_0002.f.cpu_after_optimizations-live-range.txt",
            ("f", 2, "memory", "cpu_after_optimizations", None, None),
        ),
        ("module_0002.f.debug_options", ("f", 2, "options", None, None, None)),
        ("module_0002.f.obj-file.wrapped_add.1_kernel_module.o", ("f", 2, "object", None, None, None)),
        ("module_0002.f.__compute_module_wrapped_add.ir-no-opt.ll", ("f", 2, "kernel", None, None, None)),
        ("module_0002.f.wrapped_add_kernel_module-post-lowering.mlir", ("f", 2, "kernel", None, None, None)),
        (
            f"module_0000.{TF}.cpu_after_optimizations.top_level.html",
            (TF, 0, "after", "cpu_after_optimizations", None, None),
        ),
    ],
)
def test_names_say_what_a_file_is(name: str, expected: tuple[object, ...]) -> None:
    found = dump_names.named(name)
    assert (found.module, found.id, found.place, found.stage, found.passed, found.number) == expected


@each("name", ["mark_for_compilation.pbtxt", "graph.pb", "module.py", "x.xplane.pb", ""])
def test_other_names_are_not_of_a_dump(name: str) -> None:
    assert dump_names.named(name) is None


@pytest.mark.repeats("reads recordings that do not ship")
def test_every_file_of_the_corpus_has_its_place() -> None:
    folders = [folder for folder, _ in truths()]
    other = [
        row["file"]
        for folder in folders
        for row in dumps.read([str(folder)]).files
        if row["place"] == "other"
    ]
    assert other == []
    older = [*files("xla/dump_*/*"), *files("jax/xla_dump/module*")]
    assert [path.name for path in older if dump_names.named(path.name) is None] == []


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("jit_train_step", "train_step"),
        (TF, "step"),
        ("jit__fun", "_fun"),
        ("cluster_0__XlaX_1_.15", "cluster_0"),
    ],
)
def test_modules_of_a_function_have_one_name(module: str, function: str) -> None:
    assert dump_names.function(module) == function


@pytest.mark.repeats("reads recordings that do not ship")
def test_rows_are_as_the_corpus_says() -> None:
    for folder, truth in truths():
        found = dumps.read([str(folder)], fold=False)
        rows = {row["file"]: row for row in found.rows}
        assert found.damaged == 0
        for module in truth["modules"]:
            row = rows[module["file"]]
            assert (row["module"], row["id"], row["pass"]) == (module["name"], module["id"], None)
            for key in ("computations", "instructions", "fusions", "flops", "transcendentals"):
                assert row[key] == module[key], (module["file"], key)
            assert row["bytes"] == module["bytes_accessed"]
            assert row["temp_bytes"] == module["by_class"].get("temp", 0)
            assert row["heap_needed_bytes"] == sum(module["heap_peak"])
        assert sum(row["before"] is not None for row in found.rows) == truth["passes"]
        largest = max(truth["modules"], key=lambda module: module["instructions"])["name"]
        before = [
            row for row in found.rows if row["stage"] == "before_optimizations" and row["module"] == largest
        ]
        assert len(before) == sum(row["stage"].endswith("after_optimizations") for row in found.rows
                                  if row["module"] == largest)  # fmt: skip


@pytest.mark.repeats("reads recordings that do not ship")
def test_passes_without_a_change_are_folded() -> None:
    folder = unpacked("jax_resnet") / "dump"
    whole, folded = (dumps.read([str(folder)], fold=fold) for fold in (False, True))
    assert len(whole.rows) - len(folded.rows) == folded.folded == 22
    named = [
        name for row in folded.rows if row["unchanged_passes"] for name in row["unchanged_passes"].split(", ")
    ]
    assert len(named) == 22
    # What changed adds up: the last stage has what the first had and every change since.
    changed = [row["changed"] for row in folded.rows if row["changed"]]
    total = sum(int(part.rsplit(" ", 1)[1]) for change in changed for part in change.split(", "))
    assert total == folded.rows[-1]["instructions"] - folded.rows[0]["instructions"]


def test_two_compiles_of_a_function_are_counted() -> None:
    rows = dumps.read([str(SAMPLE)]).rows
    assert {(row["id"], row["function"], row["compile"]) for row in rows} == {
        (0, "train_step", 1),
        (2, "train_step", 2),
    }
    shapes = {row["id"]: row["parameters"] for row in rows if row["stage"] == "cpu_after_optimizations"}
    assert shapes == {0: "f32[16,16]{1,0}, f32[8,16]{1,0}", 2: "f32[16,16]{1,0}, f32[12,16]{1,0}"}


def test_a_compile_split_over_two_numbers_is_one(tmp_path: Path) -> None:
    before, after = "before_optimizations.hlo.pb", "cpu_after_optimizations.hlo.pb"
    for number, ending in ((0, before), (1, after), (4, before), (5, after), (6, after)):
        shutil.copy(
            SAMPLE / f"module_0000.jit_train_step.{ending}", tmp_path / f"module_000{number}.jit_f.{ending}"
        )
    found = {row["id"]: row["compile"] for row in dumps.read([str(tmp_path)]).rows}
    assert found == {0: 1, 1: 1, 4: 2, 5: 2, 6: 3}


def test_cut_and_empty_files_are_counted_and_the_text_is_read_instead(tmp_path: Path) -> None:
    shutil.copytree(SAMPLE, tmp_path / "d")
    after = tmp_path / "d" / "module_0000.jit_train_step.cpu_after_optimizations.hlo.pb"
    after.write_bytes(after.read_bytes()[:9_000])
    (tmp_path / "d" / "module_0002.jit_train_step.before_optimizations.hlo.pb").write_bytes(b"")
    found = dumps.read([str(tmp_path)])
    assert found.damaged == 1
    rows = {(row["id"], row["stage"]): row for row in found.rows}
    assert rows[2, "before_optimizations"]["instructions"] is None
    assert "no computation" in rows[2, "before_optimizations"]["problem"]
    row = rows[0, "cpu_after_optimizations"]
    assert (row["file"], row["instructions"]) == (after.name.replace(".hlo.pb", ".txt"), 143)
    assert "past the end" in row["problem"]
    assert row["folder"] == "d"


def test_a_folder_without_a_dump_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    with pytest.raises(NothingFound, match="no dump of XLA"):
        dumps.read([str(tmp_path)])


def test_thousands_of_modules_of_one_name(tmp_path: Path) -> None:
    for number in range(1_500):  # as a process that compiles thousands of tiny functions leaves them
        for ending in ("before_optimizations", "cpu_after_optimizations"):
            (tmp_path / f"module_{number:04}.jit_f.{ending}.txt").write_text(
                "HloModule jit_f\n\nENTRY m {\n  ROOT a = f32[2]{0} parameter(0)\n}\n"
            )
    found = dumps.read([str(tmp_path)])
    assert (len(found.rows), found.rows[-1]["compile"]) == (3_000, 1_500)
