"""What changed between programs: the matching held against names, which it never reads, and what is told."""

import random
from pathlib import Path

import pytest

from stepscope import _core
from stepscope.errors import NothingFound
from stepscope.formats.xla import compiles, dumps
from stepscope.instruments.xla import diffs
from tests.corpus import SAMPLES
from tests.formats.test_hlo import truths
from tests.instruments.match_scores import scores, together
from tests.tiers import cases

SAMPLE = SAMPLES / "xla_dump"
WITH_PASSES = ("jax_resnet", "jax_transformer", "jax_shardmap", "tf_resnet_jit")


@pytest.mark.repeats("reads recordings that do not ship")
@pytest.mark.parametrize("named", [True, False])
def test_instructions_are_found_again_after_a_pass(named: bool) -> None:
    """In every dump of the corpus with passes; names are the truth, and no key."""
    folders = [folder for folder, _ in truths() if folder.parent.name in WITH_PASSES]
    assert len(folders) == len(WITH_PASSES)
    found = [one for folder in folders for *_, one in scores(folder, named=named)]
    assert len(found) > 160
    every = together(found)
    assert every.precision >= 0.998
    assert every.recall >= 0.998
    assert min(min(one.precision, one.recall) for one in found) >= 0.95


@pytest.mark.parametrize("named", [True, False])
def test_the_sample_is_matched(named: bool) -> None:
    found = [one for *_, one in scores(SAMPLE, named=named)]
    # Three of its four passes were left out of the sample, so that much happens between two dumps.
    assert len(found) == 3
    assert together(found).precision >= 0.97
    assert together(found).recall >= 0.97


def test_a_file_against_itself_is_empty() -> None:
    for path in sorted(SAMPLE.glob("*.pb")):
        said = _core.hlo_diff([str(path), str(path)])
        assert not said["removed"]
        assert not said["added"]
        assert all(a == b and not changed for a, b, _, _, changed in said["pairs"])
        assert len(said["pairs"]) == said["a"]["instructions"]


def test_text_and_proto_of_a_stage_are_the_same() -> None:
    stem = SAMPLE / "module_0000.jit_train_step.cpu_after_optimizations"
    said = _core.hlo_diff([f"{stem}.hlo.pb", f"{stem}.txt"])
    names = [[row[0] for row in said[side]["rows"]] for side in ("a", "b")]
    assert {names[0][a] == names[1][b] for a, b, *_ in said["pairs"]} == {True}
    assert not said["removed"]
    assert not said["added"]


def generated(layers: int, seed: int, *, prefix: str = "v", without: int = -1) -> str:
    """Text of a program of 20 instructions a layer; without: the number of one that its users go past."""
    random_ = random.Random(seed)
    lines = ["HloModule generated", "", "ENTRY main {", f"  {prefix}0 = f32[64,64]{{1,0}} parameter(0)"]
    kinds = ("add", "multiply", "subtract", "maximum", "tanh", "exponential", "negate")
    past: dict[int, int] = {}
    for number in range(1, layers * 20 + 1):
        back = number - 1 - random_.randrange(min(number, 30))
        kind, other = random_.choice(kinds), max(0, number - 1 - random_.randrange(400))
        before = number - 1 if random_.random() < 0.7 else back
        if number == without:
            past[number] = before
            continue
        one, two = (f"{prefix}{past.get(at, at)}" for at in (before, other))
        operands = f"{one}, {two}" if kinds.index(kind) < 4 else one
        scope = f', metadata={{op_name="jit(f)/layer_{number // 20}/{kind}"}}'
        root = "ROOT " if number == layers * 20 else ""
        lines.append(f"  {root}{prefix}{number} = f32[64,64]{{1,0}} {kind}({operands}){scope}")
    return "\n".join([*lines, "}", ""])


def test_a_long_program_without_one_of_its_instructions(tmp_path: Path) -> None:
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    layers = cases(1_000, 5_000)
    last = layers * 10
    a.write_text(generated(layers, 3))
    b.write_text(generated(layers, 3, prefix="renamed", without=last))
    said = _core.hlo_diff([str(a), str(b)])
    assert said["a"]["instructions"] == layers * 20 + 1
    assert [said["a"]["rows"][at][0] for at, *_ in said["removed"]] == [f"v{last}"]
    assert not said["added"]
    assert all(said["a"]["rows"][x][0][1:] == said["b"]["rows"][y][0][7:] for x, y, *_ in said["pairs"])


def _layers(order: list[int], *, detour: bool) -> str:
    """Text of layers that are alike but for the loop that each begins with. order: of the layers in the
    program. detour: whether what a loop gives is put into a tuple and taken out again."""
    each, pair = "f32[8,8]", "(f32[8,8], f32[8,8])"
    lines = ["HloModule layers", ""]
    for at in order:
        lines += [
            f"body{at} {{",
            f"  p{at} = {pair} parameter(0)",
            f"  x{at} = {each} get-tuple-element(p{at}), index=0",
            f"  y{at}_0 = {each} tanh(x{at})",
            *(f"  y{at}_{step + 1} = {each} negate(y{at}_{step})" for step in range(at)),
            f"  ROOT r{at} = {pair} tuple(x{at}, y{at}_{at})",
            "}",
            f"cond{at} {{",
            f"  q{at} = {pair} parameter(0)",
            f"  ROOT t{at} = pred[] constant(true)",
            "}",
        ]
    lines += ["ENTRY main {", f"  s = {each} parameter(0)", f"  i = {pair} tuple(s, s)"]
    for at in order:
        lines += [f"  w{at} = {pair} while(i), condition=cond{at}, body=body{at}"]
        if detour:
            lines += [
                f"  f{at} = {each} get-tuple-element(w{at}), index=0",
                f"  d{at} = ({each}) tuple(f{at})",
                f"  g{at} = {each} get-tuple-element(d{at}), index=0",
            ]
        else:
            lines += [f"  g{at} = {each} get-tuple-element(w{at}), index=0"]
        lines += [f"  k{at}_0 = {each} exponential(g{at})"]
        lines += [f"  k{at}_{step} = {each} sine(k{at}_{step - 1})" for step in range(1, 10)]
    tails = ", ".join(f"k{at}_9" for at in order)
    return "\n".join([*lines, f"  ROOT all = ({', '.join([each] * len(order))}) tuple({tails})", "}"])


def test_a_detour_through_a_tuple_breaks_no_chain(tmp_path: Path) -> None:
    """Layers that only their loops tell apart, which the program has in another order afterwards. What was
    taken out of the tuple takes the place of what was put in: XLA keeps its name as well."""
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text(_layers([0, 1, 2, 3], detour=True))
    b.write_text(_layers([3, 2, 1, 0], detour=False))
    for one, other in ((a, b), (b, a)):
        said = _core.hlo_diff([str(one), str(other)])
        left, right = ([row[0] for row in said[side]["rows"]] for side in ("a", "b"))
        pairs = {left[x]: right[y] for x, y, *_ in said["pairs"]}
        assert {x: y for x, y in pairs.items() if x != y} == {}
        lost = {left[at] for at, *_ in said["removed"]} | {right[at] for at, *_ in said["added"]}
        assert lost == {f"{what}{at}" for what in "fd" for at in range(4)}


def test_stages_are_chained_by_way_of_the_passes() -> None:
    stages = compiles.read([str(SAMPLE)], "jit_train_step")[0]
    first, last = compiles.place(stages, "before"), compiles.place(stages, "after")
    chained = compiles.compare(stages[first : last + 1])
    assert len(chained.paths) == 6
    totals = diffs.totals(chained.diff)
    assert totals["instructions"] == {"a": 116, "b": 143, "delta": 27}
    assert totals["temp_bytes"] == {"a": None, "b": 8836, "delta": None}
    said = chained.diff
    assert len(said["pairs"]) + len(said["removed"]) == 116
    assert len(said["pairs"]) + len(said["added"]) == 143


def test_stages_have_names_and_numbers() -> None:
    stages = compiles.read([str(SAMPLE)])[0]
    assert [
        compiles.place(stages, one) for one in ("before", "algsimp", "0005", "51", "fusion", "after")
    ] == [0, 1, 2, 4, 4, 5]
    with pytest.raises(NothingFound):
        compiles.place(stages, "nothing")
    with pytest.raises(NothingFound):
        compiles.read([str(SAMPLE)], "nothing")


def test_a_recompilation_changes_shapes_only() -> None:
    first, second = compiles.read([str(SAMPLE)])
    found = compiles.compare([first[-1], second[-1]])
    assert not found.diff["removed"]
    assert not found.diff["added"]
    assert {row["what"] for row in diffs.groups(found.diff)} == {"changed"}
    assert any("shape" in row["changed"] for row in diffs.groups(found.diff))


def test_groups_ops_and_changes_count_the_same() -> None:
    stages = compiles.read([str(SAMPLE)])[0]
    for found in compiles.passes(stages):
        rows = list(diffs.changes(found.diff))
        groups = diffs.groups(found.diff)
        replaced = sum(row["what"] == "+replaced" for row in rows)
        assert sum(row["count"] for row in groups) == len(rows) - replaced
        ops = diffs.op_names(found.diff)
        gone_and_new = sum(row["removed"] + row["added"] for row in ops)
        assert gone_and_new == sum(row["what"] != "changed" for row in rows)
        assert len(list(diffs.pairs(found.diff))) == len(found.diff["pairs"])


def test_costs_of_a_text_without_an_entry_are_unknown(tmp_path: Path) -> None:
    """Cut texts are kept as references of what a compiler makes."""
    whole = (SAMPLE / "module_0000.jit_train_step.cpu_after_optimizations.txt").read_text()
    cut = tmp_path / "module_0000.jit_train_step.cpu_after_optimizations.txt"
    cut.write_text(whole[: whole.index("\nENTRY ")])
    (row,) = dumps.read([str(cut)]).rows
    assert row["instructions"] > 0
    assert [row[key] for key in ("flops", "bytes", "run_flops", "run_bytes")] == [None] * 4
    assert "no entry computation" in row["problem"]
    totals = diffs.totals(_core.hlo_diff([str(cut), str(cut)]))
    assert totals["run_flops"] == {"a": None, "b": None, "delta": None}
    assert totals["instructions"]["delta"] == 0
