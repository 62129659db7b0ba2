"""Dump folders of XLA as sources: their tables, opened, in lakes, packed, damaged and beside recordings."""

import gzip
import shutil
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stepscope
from stepscope import _core, code_lines, library
from stepscope.cli import main
from stepscope.errors import UnreadableSource
from stepscope.formats import xla_dump
from stepscope.formats.xla import cases as cases_of_programs
from stepscope.formats.xla import dumps
from stepscope.instruments.xla import costs
from stepscope.session import tables, trace
from tests import corpus
from tests.asked import ask
from tests.formats.test_hlo import unpacked
from tests.tiers import cases

SAMPLE = corpus.SAMPLES / "xla_dump"
MODULES = cases(500, 2000)
"""Of a dump with many."""
TABLES = (
    *("hlo_module", "hlo_pass", "hlo_case"),
    *("hlo_computation", "hlo_instruction", "hlo_buffer", "hlo_allocation"),
)
FINAL = "module_0000.jit_train_step.cpu_after_optimizations.hlo.pb"
TINY = "HloModule jit_f{0}\n\nENTRY main {{\n  a = f32[{0}] parameter(0)\n  ROOT t = f32[{0}] tanh(a)\n}}\n"
PLACES = ("id", "run_id", "host_id", "source_id", "module_id", "pass_id")


def rows(path: Path, table: str, left_out: Sequence[str] = PLACES) -> list[dict[str, Any]]:
    with trace.open(str(path), cache=False) as opened:
        names = [name for name in opened.schema.table(table).names if name not in left_out]
        found = opened.query(f"SELECT {', '.join(names)} FROM {table} ORDER BY id").rows()
    return [dict(zip(names, row, strict=True)) for row in found]


def copied(folder: Path, *names: str) -> Path:
    """The sample, or some of its files, in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in SAMPLE.iterdir():
        if path.is_file() and (not names or path.name in names):
            shutil.copy(path, folder)
    return folder


# --- what the tables hold --------------------------------------------------------------------------


def test_a_row_of_hlo_pass_is_a_row_of_xla_dumps() -> None:
    wanted = dumps.read([str(SAMPLE)], fold=False).rows
    found = rows(SAMPLE, "hlo_pass")
    assert len(found) == len(wanted) == 8
    names = {"pass_name": "pass", "next_pass": "before", "program_id": "id"}
    for row, known in zip(found, wanted, strict=True):
        assert row["program_id"] == str(known["id"])
        for name in row.keys() - {"program_id", "equals_before"}:
            assert row[name] == known[names.get(name, name)], name
    assert [row["equals_before"] for row in found].count(True) == 1


def test_a_module_has_the_figures_of_its_last_stage() -> None:
    found = rows(SAMPLE, "hlo_module")
    last = dumps.finals(dumps.read([str(SAMPLE)]).rows)
    assert [(row["program_id"], row["compile"]) for row in found] == [("0", 1), ("2", 2)]
    for row, known in zip(found, last, strict=True):
        for name in ("file", "stage", "instructions", "run_flops", "run_bytes", "temp_bytes", "parameters"):
            assert row[name] == known[name], name
    assert [(row["stages"], row["passes"], row["changing_passes"]) for row in found] == [(2, 4, 3), (2, 0, 0)]
    assert all(row["is_final"] for row in found)


def test_computations_and_instructions_are_those_of_the_program() -> None:
    module = _core.hlo_module((SAMPLE / FINAL).read_bytes())
    found = rows(SAMPLE / FINAL, "hlo_instruction")
    names = [one["name"] for one in module["instruction_rows"]]
    assert [row["name"] for row in found] == names
    computations = [one["name"] for one in module["computation_rows"]]
    for row, known in zip(found, module["instruction_rows"], strict=True):
        assert row["computation"] == computations[known["computation"]]
        for name in ("opcode", "shape", "shape_bytes", "flops", "bytes", "run_flops", "run_bytes"):
            assert row[name] == known[name], name
        operands = ", ".join(f'"{names[at]}"' for at in known["operands"])
        assert row["operands_json"] == f"[{operands}]"
        assert row["trip_count"] == known["trip_count"]
        assert (row["op_name"] or "") == known["op_name"]
        assert (row["file"], row["line"]) == code_lines.frame_line(module["frames"], known["frame"])
    (entry,) = [row for row in rows(SAMPLE / FINAL, "hlo_computation") if row["is_entry"]]
    assert computations.index(entry["name"]) == module["entry_computation"]
    assert (entry["times"], entry["run_flops"]) == (1.0, module["run_flops"])


def test_stacks_are_written_as_those_of_recordings() -> None:
    (text,) = ask(SAMPLE / FINAL, "SELECT MAX(stack_json) FROM hlo_instruction WHERE stack_json IS NOT NULL")[
        0
    ]
    assert text.startswith('[["/')
    inside = "SELECT COUNT(*) FROM hlo_instruction WHERE (stack_json IS NULL) <> (file IS NULL)"
    assert ask(SAMPLE, inside) == [(0,)]


def _held(module: dict[str, Any]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Everything that is held at the peak, as the core's replay of the heap has it: whole allocations, and of
    the heap what lives just then. Class, bytes and instruction."""
    buffers = module["buffers"]
    known = {row[key]: row for row in module["instruction_rows"] for key in ("name", "id")}
    makers = {number: known[name or maker] for number, _, name, maker, _ in buffers["logical"]}
    heaps = {trace[2] for trace in buffers["traces"]}
    for index, size, of, _, _, _, assigned in buffers["allocations"]:
        if index not in heaps:
            # Of values that share the memory one after the other, the first that needs all of it is named.
            yield of, size, makers[min(number for number, _, part in assigned if part == size)]
    for _, _, _, _, held in buffers["traces"]:
        yield from (("temp", size, makers[number]) for number, size in held)


def test_the_memory_at_the_peak_is_that_of_the_replay() -> None:
    wanted: Counter[tuple[object, ...]] = Counter()
    needed = 0
    for number, path in enumerate(sorted(SAMPLE.glob("*cpu_after_optimizations.hlo.pb"))):
        module = _core.hlo_module(path.read_bytes())
        needed += sum(module["heap_needed_bytes"])
        for of, size, one in _held(module):
            wanted[
                (
                    str(2 * number),
                    of,
                    size,
                    one["name"],
                    *code_lines.frame_line(module["frames"], one["frame"]),
                )
            ] += 1
    found = Counter(
        tuple(row[key] for key in ("program_id", "class", "held_bytes", "instruction", "file", "line"))
        for row in answers(SAMPLE, "hlo_memory")
    )
    assert found == wanted
    assert ask(SAMPLE, "SELECT CAST(SUM(needed_bytes) AS BIGINT) FROM hlo_allocation") == [(needed,)]


@pytest.mark.repeats("reads recordings that do not ship")
def test_text_and_proto_of_a_stage_give_equal_tables(tmp_path: Path) -> None:
    pairs = 0
    own = (*PLACES, "program_id", "file", "file_bytes", "function", "unknown_fields", "folder")
    of_memory = ("parameter_bytes", "output_bytes", "alias_bytes", "constant_bytes", "thread_local_bytes")
    own = (*own, *of_memory, "temp_bytes", "allocated_bytes", "heap_needed_bytes")
    for proto in [*SAMPLE.glob("*.hlo.pb"), *unpacked("jax_scan/dump").glob("*.hlo.pb")]:
        text = proto.with_name(proto.name.removesuffix(".hlo.pb") + ".txt")
        if not text.exists():
            continue
        for table in ("hlo_module", "hlo_pass", "hlo_computation", "hlo_instruction"):
            of_proto, of_text = (
                sorted(
                    rows(path, table, own),
                    key=lambda row: (row.get("computation") or "", row.get("name") or ""),
                )
                for path in (proto, text)
            )
            assert of_proto == of_text, (proto.name, table)
        pairs += 1
    assert pairs


def test_a_compile_that_was_cut_off_keeps_the_instructions_of_its_last_pass(tmp_path: Path) -> None:
    folder = copied(tmp_path / "d")
    (folder / FINAL).unlink()
    (folder / f"{FINAL.removesuffix('.hlo.pb')}.txt").unlink()
    asked = """SELECT DISTINCT p.pass_name FROM hlo_instruction i JOIN hlo_pass p ON p.id = i.pass_id
        WHERE i.program_id = '0' ORDER BY 1 NULLS LAST"""
    kept = ask(folder, asked)
    assert kept == [("fusion",), (None,)]
    assert ask(folder, "SELECT is_final FROM hlo_module ORDER BY program_id") == [(False,), (True,)]


# --- how a folder is given -------------------------------------------------------------------------


def test_a_folder_is_one_source_and_a_file_stands_for_itself() -> None:
    assert ask(SAMPLE, "SELECT format, producer, events_seen, events_lost, complete FROM source") == [
        ("xla_dump", "xla", 8, 0, True)
    ]
    assert ask(SAMPLE / FINAL, "SELECT COUNT(*), MIN(file) FROM hlo_pass") == [(1, FINAL)]
    one, other = (SAMPLE / f"module_000{n}.jit_train_step.before_optimizations.hlo.pb" for n in (0, 2))
    assert ask([one, other], "SELECT COUNT(*) FROM hlo_module") == [(2,)]


def test_a_dump_beside_a_recording_joins_it(tmp_path: Path) -> None:
    copied(tmp_path)
    (tmp_path / "vm.xplane.pb").write_bytes(
        gzip.decompress((corpus.SAMPLES / "xplane" / "jax.xplane.pb.gz").read_bytes())
    )
    assert ask(tmp_path, "SELECT format FROM source ORDER BY 1") == [("xla_dump",), ("xplane",)]
    kinds = "SELECT pass_id IS NULL, COUNT(*) > 0 FROM hlo_instruction GROUP BY ALL ORDER BY 1"
    assert ask(tmp_path, kinds) == [(False, True), (True, True)]
    before = "SELECT COUNT(*) FROM slice"
    assert ask(tmp_path, before) == ask(tmp_path / "vm.xplane.pb", before)


def test_archives_and_packed_files_are_read(tmp_path: Path) -> None:
    folder = copied(tmp_path / "dump")
    wanted = rows(folder, "hlo_instruction")
    for name, mode in (("d.tar.xz", "w:xz"), ("d.tar", "w")):
        with tarfile.open(tmp_path / name, mode) as packed:
            packed.add(folder, "dump")
        assert rows(tmp_path / name, "hlo_instruction") == wanted
    for path in list(folder.iterdir()):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert rows(folder, "hlo_instruction") == wanted


@pytest.mark.repeats("lake/test_lake.py compares them for every table")
def test_a_lake_holds_the_same_and_takes_a_folder_once(tmp_path: Path) -> None:
    folder, lake = copied(tmp_path / "dump"), tmp_path / "lake"
    (row,) = stepscope.ingest([folder], lake)
    assert (row.format, row.events_stored, row.error) == ("xla_dump", 8, None)
    for table in TABLES:
        assert rows(lake, table) == rows(folder, table), table
    joined = """SELECT COUNT(*) FROM hlo_instruction i JOIN hlo_pass p ON p.id = i.pass_id
        JOIN hlo_module m ON m.id = p.module_id AND m.id = i.module_id"""
    assert ask(lake, joined) == ask(lake, "SELECT COUNT(*) FROM hlo_instruction") != [(0,)]
    stepscope.ingest([folder], lake)
    assert ask(lake, "SELECT COUNT(*) FROM source") == [(1,)]
    (folder / "module_0009.jit_late.before_optimizations.txt").write_text(TINY.format(3))
    stepscope.ingest([folder], lake)
    assert ask(lake, "SELECT COUNT(*) > 0 FROM hlo_module WHERE module = 'jit_f3'") == [(True,)]


def test_tables_are_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "modules.csv"
    assert main(["export", str(SAMPLE), "--table", "hlo_module", "-o", str(out), "--no-cache"]) == 0
    assert out.read_text().count("jit_train_step") >= 2


# --- damage ----------------------------------------------------------------------------------------


def test_half_written_folders_are_counted(tmp_path: Path) -> None:
    folder = copied(tmp_path / "d")
    proto = folder / FINAL
    proto.write_bytes(proto.read_bytes()[:-40])
    (folder / f"{FINAL.removesuffix('.hlo.pb')}.txt").unlink()
    other = folder / "module_0002.jit_train_step.cpu_after_optimizations.hlo.pb"
    other.unlink()
    (folder / "module_0004.jit_g.before_optimizations.hlo.pb").write_bytes(b"")
    (folder / "module_0006.jit_h.before_optimizations.txt").write_text(TINY.format(2)[:60])
    seen = ask(folder, "SELECT events_seen, events_stored, events_lost, complete FROM source")
    assert seen == [(9, 7, 2, False)]
    notes = dict(ask(folder, "SELECT slug, events FROM source_note"))
    assert notes == {"damaged-module": 2, "doubtful-module": 1}
    problems = ask(folder, "SELECT file, instructions FROM hlo_pass WHERE problem IS NOT NULL ORDER BY 1")
    assert [(name.split(".")[0], count is None) for name, count in problems] == [
        ("module_0000", True),
        ("module_0004", True),
        ("module_0006", False),
    ]


def test_text_stands_in_for_a_damaged_proto(tmp_path: Path) -> None:
    folder = copied(tmp_path / "d", FINAL, f"{FINAL.removesuffix('.hlo.pb')}.txt")
    wanted = rows(folder, "hlo_computation")
    (folder / FINAL).write_bytes(b"\xff" * 100)
    found = rows(folder, "hlo_computation")
    assert sorted(found, key=lambda row: row["name"]) == sorted(wanted, key=lambda row: row["name"])
    assert ask(folder, "SELECT events_lost, complete FROM source") == [(0, False)]


def test_a_folder_of_nothing_but_damage_is_an_error(tmp_path: Path) -> None:
    name = "module_0000.f.before_optimizations.hlo.pb"
    (tmp_path / name).write_bytes(b"\x0a\xff")
    with pytest.raises(UnreadableSource, match=name):
        ask(tmp_path, "SELECT 1 FROM hlo_module")
    (row,) = stepscope.ingest([tmp_path], tmp_path / "lake")
    assert name in (row.error or "")


@pytest.mark.repeats("only their number is new")
def test_many_tiny_modules(tmp_path: Path) -> None:
    for number in range(1, MODULES + 1):
        (tmp_path / f"module_{number:04}.jit_f{number}.before_optimizations.txt").write_text(
            TINY.format(number)
        )
    found = ask(tmp_path, "SELECT COUNT(*), CAST(SUM(instructions) AS BIGINT) FROM hlo_module")
    assert found == [(MODULES, 2 * MODULES)]
    assert ask(tmp_path, "SELECT COUNT(*) FROM source") == [(1,)]


@given(st.binary(max_size=300))
@settings(max_examples=cases(50, 200), deadline=None)
def test_any_bytes_are_a_dump_or_not(data: bytes) -> None:
    assert xla_dump.sniff(data, "x.pb") in (True, False)
    assert xla_dump.sniff(b"HloModule m\n" + data, "x")


def test_a_module_may_follow_comments(tmp_path):
    """As a licence, and who made the file."""
    path = tmp_path / "call.hlo"
    path.write_text("/* A licence,\n * in lines. */\n\n// Generated by make_call.py\n\n" + TINY.format(8))
    assert ask(path, "SELECT computations, instructions FROM hlo_module") == [(1, 2)]


@pytest.mark.repeats("reads recordings that do not ship")
def test_programs_are_known_whatever_their_name() -> None:
    for path in SAMPLE.glob("*.hlo.pb"):
        head = path.read_bytes()[:65536]
        assert xla_dump.sniff(head, "graph.pb"), path.name
    bare = next(unpacked("cost").rglob("*.pb")).read_bytes()
    assert xla_dump.sniff(bare, "x.pb")
    for path in (corpus.SAMPLES / "graph").iterdir():
        assert not xla_dump.sniff(path.read_bytes()[:65536], path.name), path.name


# --- analyses --------------------------------------------------------------------------------------


def answers(path: Path, name: str) -> list[dict[str, Any]]:
    with trace.open(str(path), cache=False) as opened:
        found = opened.ask(library.entry(name))
        return [dict(zip(found.columns, row, strict=True)) for row in found.rows()]


def test_hlo_modules_come_by_their_work() -> None:
    found = answers(SAMPLE, "hlo_modules")
    known = sorted(dumps.finals(dumps.read([str(SAMPLE)]).rows), key=lambda row: -row["run_flops"])
    assert [(row["program_id"], row["run_flops"]) for row in found] == [
        (str(row["id"]), row["run_flops"]) for row in known
    ]
    assert [row["flops_per_byte"] for row in found] == [row["run_flops"] / row["run_bytes"] for row in known]


def test_hlo_passes_say_what_each_changed() -> None:
    wanted = []
    before: dict[Any, dict[str, Any]] = {}
    for row in dumps.read([str(SAMPLE)]).rows:
        if row["id"] in before:
            last = before[row["id"]]
            added = [row[key] - last[key] for key in ("instructions", "fusions", "flops", "bytes")]
            wanted.append((str(row["id"]), row["pass"] or row["stage"], *added, row["changed"]))
        before[row["id"]] = row
    keys = (
        "program_id",
        "after_pass",
        "instructions_added",
        "fusions_added",
        "flops_added",
        "bytes_added",
        "changed",
    )
    assert [tuple(row[key] for key in keys) for row in answers(SAMPLE, "hlo_passes")] == wanted


def test_hlo_instructions_cost_what_the_verb_says() -> None:
    program = {**_core.hlo_module((SAMPLE / FINAL).read_bytes()), "module": "m", "id": 0}
    wanted = {
        row["name"]: (row["times"], row["flops"], row["bytes"], row["line"])
        for row in costs.rows(program)
        if row["flops"] or row["bytes"]
    }
    found = {
        row["name"]: (row["times"], row["total_flops"], row["total_bytes"], row["line"])
        for row in answers(SAMPLE / FINAL, "hlo_instructions")
    }
    assert found == wanted
    shares = [row["bytes_share"] for row in answers(SAMPLE / FINAL, "hlo_instructions")]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("room", [True, False], ids=["room", "no room"])
def test_a_large_dump_is_decoded_into_a_folder(
    room: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into memory where there is none. It goes with the trace."""
    ask = "SELECT * FROM hlo_instruction ORDER BY id"
    with trace.open(str(SAMPLE), cache=False) as opened:
        wanted = opened.query(ask).rows()
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tables, "_LARGE_BYTES", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("scratch" if room else "gone")))
    with trace.open(str(SAMPLE), cache=False) as opened:
        assert opened.query(ask).rows() == wanted
        assert bool(list(tmp_path.rglob("hlo_instruction.*"))) == room
    assert list((tmp_path / "scratch").iterdir()) == []


def test_what_findings_on_programs_may_lack_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of which a filter left the rest out, and those beyond the instructions that are searched."""
    monkeypatch.setattr(cases_of_programs, "_MOST_INSTRUCTIONS", 3)
    for number in (0, 1):
        name = f"module_000{number}.jit_f{number + 1}.cpu_after_optimizations.txt"
        (tmp_path / name).write_text(TINY.format(number + 1))
    for name in ("jax_ir7_jit_g_compile.mlir", "jax_ir8_jit_f1_compile.mlir"):
        (tmp_path / name).write_text("module @jit {}\n")
    found = dict(ask(tmp_path, "SELECT slug, detail FROM source_note"))
    assert found["programs-not-searched"].startswith("the instructions of 1 program were not searched")
    assert "jit_g" in found["module-input-only"]
    assert "jit_f1" not in found["module-input-only"]
