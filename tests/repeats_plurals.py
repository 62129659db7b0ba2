"""Sentences with numbers: nouns and verbs agree with them, whether there is none, one, two or many."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope import library, units
from stepscope.instruments.memory.allocators import AllocatorMemory, Compared
from stepscope.instruments.memory.blocks import AllocatorBlocks, MemoryBlock
from stepscope.instruments.memory.peak import peak
from stepscope.instruments.pipeline.oddities import oddities
from stepscope.instruments.pipeline.verdict import diagnose
from stepscope.library import templates
from stepscope.report import headline, memory_sentences, pipeline, section_text
from tests.instruments.pipelines import sequential

COUNTS = st.one_of(st.sampled_from([0, 1, 2]), st.integers(3, 10**6))

NOUNS = {
    *(
        "step",
        "event",
        "source",
        "file",
        "checkpoint",
        "tensor",
        "parameter",
        "row",
        "run",
        "host",
        "call",
        "slice",
    ),
    *(
        "slice",
        "gap",
        "op",
        "time",
        "thread",
        "core",
        "block",
        "iterator",
        "element",
        "case",
        "group",
        "allocator",
    ),
}
PLURALS = {"copies": "copy", **{f"{noun}s": noun for noun in NOUNS}}
MODIFIERS = {"more", "recorded", "train"}
VERBS = {
    **{"is": "are", "was": "were", "has": "have", "takes": "take", "waits": "wait", "compiles": "compile"},
    **{"contradicts": "contradict", "belongs": "belong", "consumes": "consume", "holds": "hold"},
}
"""Verbs of our sentences, singular and plural."""
_NUMBER = r"(?<![\d,.])(?<!of )(\d[\d,]*)"
_COUNTED = re.compile(rf"(?<![\d,.])(\d[\d,]*) (?:(?:{'|'.join(MODIFIERS)}) )?([a-z]+)")
_OF_ALL = re.compile(rf"{_NUMBER} of [\d,]+ (?:(?:{'|'.join(MODIFIERS)}) )?[a-z]+(?: on \S+)? ([a-z]+)")
_DOES = re.compile(rf"{_NUMBER} (?!of)[a-z]+ ([a-z]+)")


def complaints(sentence: str) -> list[str]:
    """Where a number and the words after it do not agree: "1 steps", "2 step", "1 of 10 steps take"."""
    found = []
    for match in _COUNTED.finditer(sentence):
        is_one = match[1] == "1"
        if (match[2] in PLURALS) if is_one else (match[2] in PLURALS.values()):
            found.append(match[0])
    for match in [*_OF_ALL.finditer(sentence), *_DOES.finditer(sentence)]:
        is_one = match[1] == "1"
        if (match[2] in VERBS.values()) if is_one else (match[2] in VERBS):
            found.append(match[0])
    return found


def test_the_check_itself_sees_mistakes() -> None:
    wrong = (
        "1 steps were",
        "2 step",
        "1 of 10 steps take",
        "in 1 calls",
        "1 more cases",
        "2 of 3 steps takes",
    )
    right = (
        "1 step was",
        "1 of 10 steps takes",
        "in 1 call",
        "2 copies",
        "21 more cases",
        "0 of 2 steps wait",
    )
    assert all(map(complaints, wrong))
    assert not any(map(complaints, right))


LEAST = {
    "clusters_of_many_shapes": {"runs": 3, "shapes": 2},
    "device_unused": {"times": 100},
    "folder_of_several_processes": {"programs": 2},
    "growing_graph": {"steps": 5},
    "growing_memory": {"steps": 5},
    "parallelism_not_real": {"rows_drawn": 3},
    "slow_host": {"hosts": 2},
}
"""The least number that a finding reports, by its column, where its condition asks for more than one."""


@pytest.mark.parametrize("name", library.names("finding"))
@given(data=st.data())
def test_findings_agree_with_their_numbers(name: str, data: st.DataObject) -> None:
    entry = library.entry(name)
    values: dict[str, object] = {}
    for field in entry.columns:
        values[field.name] = data.draw(COUNTS) if field.unit == "int" else "x"
    for column, number in LEAST.get(name, {}).items():
        values[column] = max(number, int(str(values[column])))
    shown = {f.name: units.show(values[f.name], "int" if f.unit == "int" else "text") for f in entry.columns}
    for template in (entry.impact, entry.action):
        said = templates.fill(template, values, shown)
        assert not complaints(said), said
        assert "{" not in said
        assert "|" not in said


@given(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_summary_agrees_with_its_numbers(
    steps: int, events: int, sources: int, graphs: int, left: int
) -> None:
    host = {
        "run_id": "r", "host_id": "h", "events": events, "sources": sources, "recorded_ps": 10**9,
        "producers": "tf_profiler", "graphs": graphs, "checkpoints": left, "steps": steps, "dumps": left,
        "steps_left_out": left, "devices": 1,
    }  # fmt: skip
    times = {
        "run_id": "r", "host_id": "h", "kind": "train", "averaged": True, "steps": max(steps, 1),
        "mean_ps": 10**9, "median_ps": 10**9, "p95_ps": 10**9, "spread": 0.1, "recovered_from": "marker",
    }  # fmt: skip
    source = {
        "path": "p", "format": "xplane", "events_seen": events, "events_stored": events, "events_lost": left,
        "events_repaired": graphs, "slug": None,
    }  # fmt: skip
    kinds = ["trace", *["graph"] * (graphs > 0), *["checkpoint"] * (left > 0)]
    told = {
        "runs_and_hosts": [host], "step_times": [times], "completeness": [source], "op_types": [],
        "sources": [{"path": "p", "kind": kind, "events_seen": events} for kind in kinds],
        "waits": [], "busy_by_device": [], "step_list": [], "pipeline_stages": [], "checkpoint_tensors": [],
        "hlo_passes": [],
        "hlo_modules": [
            {"run_id": "r", "module": "jit_f", "function": "f", "run_flops": 2.0, "flops_per_byte": 1.0,
             "allocated_bytes": 9, "temp_bytes": 1, "instructions": None if left else 3, "is_copy": copied,
             "devices": left or None, "is_final": True, "passes": left + graphs, "changing_passes": left}
            for copied in [False] * max(graphs, 1) + [True] * left
        ],
        "concurrency": [
            {"device": "d", "run_id": "r", "rows_drawn": max(steps, 2), "concurrency": float(max(graphs, 1))}
        ],
    }  # fmt: skip
    said = [headline.title(told), *headline.headline(told)]
    for name in told:
        said += section_text.answer(name, told)
    for sentence in said:
        assert not complaints(sentence), sentence


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_memory_agrees_with_its_numbers(contradictions: int, never: int, within: int, more: int) -> None:
    blocks = [MemoryBlock(100, i, None if i < never else i + 5) for i in range(never + 1)]
    held = AllocatorBlocks("bfc", "gpu", blocks, contradictions=contradictions, totals=contradictions + more)
    one = AllocatorMemory(
        0, "r", "h", "p", "bfc", "gpu", held, peak(blocks), True, True,
        tuple(blocks[:never]), Compared(9, within + more, within, 5, (), 0), None, None,
    )  # fmt: skip
    for sentence in memory_sentences.sentences(one):
        assert not complaints(sentence), sentence


@given(st.integers(1, 4), st.integers(0, 12), st.integers(1, 3))
def test_the_pipeline_agrees_with_its_numbers(cores: int, long_waits: int, width: int) -> None:
    drawn, times = sequential()
    told = diagnose(drawn.calls(), times)
    assert told.waits is not None
    waits = replace(told.waits, shares=[0.9] * long_waits + [0.1])
    ranked = (replace(told.ranked[0], width=width), *told.ranked[1:])
    for sentence in pipeline.evidence(replace(told, waits=waits, ranked=ranked, cores=cores)):
        assert not complaints(sentence), sentence
    assert oddities(drawn.calls()) == []


@given(COUNTS)
def test_counts_and_words_agree(number: int) -> None:
    assert complaints(f"{units.count(number, 'step')} {units.agree(number, 'takes', 'take')} long") == []
