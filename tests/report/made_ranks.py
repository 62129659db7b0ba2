"""Jobs of two ranks, each with one thing wrong."""

from typing import Any

from tests.draw import Row, Tables

MS = 1_000_000_000


def _ranks(**parts: tuple[int, int]) -> Tables:
    """Two ranks with three steps of 100 ms, which compute but for `parts`: label and milliseconds on each."""
    tables = Tables()
    for rank in range(2):
        tables.source(rank)
        tables.rows["capture"][-1]["rank"] = rank
        took = {label: each[rank] for label, each in parts.items()}
        for number in range(3):
            facts: Row = {"name": "train", "kind": "train", "recovered_from": "marker", "averaged": True}
            at = {"ts_ps": number * 100 * MS, "dur_ps": 100 * MS}
            step = tables.add("step_stored", source_id=rank, step=number, **at, **facts)
            for label, ms in {**took, "compute": 100 - sum(took.values())}.items():
                spans = {"dur_ps": ms * MS, "hidden_ps": 0}
                tables.add("step_part", source_id=rank, step_id=step["id"], label=label, **spans)
    return tables


def _meet(tables: Tables, number: int, **facts: tuple[Any, Any]) -> None:
    """A collective of both ranks. facts: its columns, as each rank has them."""
    for rank in range(2):
        tables.add(
            "collective", source_id=rank, participant=f"rank-{rank}", rank=rank, matched_by="sequence",
            sequence=number, step=number % 3, match_id=number, seen=2, ts_ps=number * 30 * MS,
            **{name: each[rank] for name, each in facts.items()},
        )  # fmt: skip


def input_late_on_one_rank() -> Tables:
    """Rank 1 waits 40 ms of each step for its input, rank 0 waits 10 ms."""
    return _ranks(input=(10, 40))


def one_rank_arrives_last() -> Tables:
    """Rank 0 waits 6 ms for rank 1 at each of ten collectives, which move data for 1 ms."""
    tables = _ranks()
    for number in range(10):
        _meet(
            tables, number, kind=("all_reduce",) * 2, dur_ps=(7 * MS, MS), wait_ps=(6 * MS, 0),
            transfer_ps=(MS, MS),
        )  # fmt: skip
    return tables


def one_rank_gets_most() -> Tables:
    """Of each of four exchanges of 10 ms rank 1 gets 900 elements and rank 0 gets 100."""
    tables = _ranks()
    for number in range(4):
        _meet(
            tables, number, kind=("all_to_all_v",) * 2, group_name=("experts",) * 2,
            dur_ps=(10 * MS, 10 * MS), elements_out=(100, 900),
        )  # fmt: skip
    return tables


def collectives_in_the_open() -> Tables:
    """Rank 0 spends 40 ms of each step in collectives that nothing hides, rank 1 5 ms."""
    return _ranks(communication=(40, 5))


def collectives_that_compute_hides_in_part() -> Tables:
    """Rank 0 spends 50 ms of each step in collectives, 10 ms of which compute hides."""
    tables = collectives_in_the_open()
    for part in tables.rows["step_part"]:
        part["hidden_ps"] = 10 * MS if part["label"] == "communication" else 0
    return tables
