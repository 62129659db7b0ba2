"""Recordings of which samples of stacks tell the cause, with several stacks."""

from collections.abc import Iterator, Sequence

from tests.draw import Tables
from tests.report.made_recordings import BACKWARD, MAIN, MS, NEXT, ON_BATCH_END, Frame, ops_called_one_by_one

Look = tuple[int, Sequence[Frame], Sequence[Frame]]
"""Milliseconds, and the stacks of the main thread and of another one, the outermost frame first."""
LOCK: Frame = ("__enter__", "<built-in>", 0, "builtins", "python")
SLEEP: Frame = ("sleep", "<built-in>", 0, "builtins", "python")
EXECUTE: Frame = ("quick_execute", "tensorflow/python/eager/execute.py", 53, "execute", "library")


def samples(*looks: Look) -> Tables:
    """Two steps of 10 ms: what happens in each, sampled every millisecond."""
    tables = Tables()
    tables.source(events_seen=20, events_stored=20)
    for _ in range(2):
        add_step(tables, *looks)
    return tables


def add_step(tables: Tables, *looks: Look, **changed: object) -> None:
    """Adds a step with its samples. changed: columns of step_stored with other values."""
    steps, long_ms = tables.rows["step_stored"], sum(look[0] for look in looks)
    at = sum(step["dur_ps"] for step in steps) // MS
    facts = {"kind": "train", "recovered_from": "marker", "averaged": True, **changed}
    tables.add("step_stored", step=len(steps), ts_ps=at * MS, dur_ps=long_ms * MS, **facts)
    for long, *stacks in looks:
        for ms in range(at, at + long):
            for frames, thread in zip(stacks, ("MainThread", "exporter"), strict=True):
                if frames:
                    main = {"thread_name": thread, "is_main": thread == "MainThread"}
                    times = {"ts_ps": ms * MS, "weight_ps": MS, "cpu_ps": 0 if LOCK in frames else MS}
                    tables.add("stack_sample", stack_id=_stack(tables, frames), **times, **main)
        at += long


def _stack(tables: Tables, frames: Sequence[Frame]) -> int:
    parent = place = None
    for function, file, line, module, code in frames:
        of = {"function": function, "file": file, "line": line, "module": module, "code": code}
        frame = _row(tables, "frame", of)
        place = frame if code == "program" else place
        parent = _row(tables, "stack", {"parent_id": parent, "frame_id": frame, "place_id": place})
    assert parent is not None
    return parent


def _row(tables: Tables, table: str, facts: dict[str, object]) -> int:
    known = [row for row in tables.rows[table] if facts.items() <= row.items()]
    return int((known or [tables.add(table, **facts)])[0]["id"])


def _exports(line: int) -> tuple[Frame, ...]:
    return ("export", "ledger.py", line, "ledger", "program"), SLEEP


def waiting_for_a_lock_of_a_sleeper(also: int = 0) -> Tables:
    """Another thread sleeps in line 31 with the lock, and in 33 without. also: for how many of the 4 ms in
    which nobody waits it is in line 31 as well."""
    return samples(
        (6, (MAIN, LOCK), _exports(31)), (also, (MAIN,), _exports(31)), (4 - also, (MAIN,), _exports(33))
    )


COUNT: Frame = ("count", "words.py", 7, "words", "program")
REPORT: Frame = ("report", "train.py", 19, "__main__", "program")


def two_lines_of_python(second: int = 4) -> Tables:
    """One function of the loop takes 5 of 10 ms, and another one so many of the others."""
    counts: Frame = ("main", "train.py", 38, "__main__", "program")
    tables = samples(
        (5, (MAIN, REPORT), ()), (second, (counts, COUNT), ()), (5 - second, (MAIN, EXECUTE), ())
    )
    for frame in tables.rows["frame"]:
        frame["has_loop"] = frame["function"] == "main"
    return tables


def a_line_of_a_step_left_out() -> Tables:
    """The same, and a long step, which averages leave out, that is all of that other function."""
    tables = two_lines_of_python()
    counts: Frame = ("main", "train.py", 38, "__main__", "program")
    add_step(tables, (100, (counts, COUNT), ()), averaged=False, reason="far longer than the others")
    return tables


def ops_that_a_function_calls_one_by_one() -> Tables:
    """As of made_recordings, called from report()."""
    tables = ops_called_one_by_one()
    call, op = tables.rows["slice"]
    for frames, during in (((MAIN, REPORT, EXECUTE), call), ((MAIN, EXECUTE), op)):
        times = {"ts_ps": during["ts_ps"], "weight_ps": during["dur_ps"], "cpu_ps": during["dur_ps"]}
        main = {"thread_name": "MainThread", "is_main": True}
        tables.add("stack_sample", stack_id=_stack(tables, frames), **times, **main)
    return tables


def a_line_that_runs_ops_of_its_own(ops: int = 3) -> Tables:
    """A function of the loop runs Python for 3 of 10 ms and launches for some."""
    launches = (MAIN, REPORT, EXECUTE)
    tables = samples((3, (MAIN, REPORT), ()), (ops, launches, ()), (7 - ops, (MAIN, EXECUTE), ()))
    for frame in tables.rows["frame"]:
        frame["has_loop"] = frame["function"] == "main"
    return tables


def a_callback_of_several_labels(launches: int = 2) -> Tables:
    """Callbacks of Keras run Python for 2 of 10 ms and launch for some; the rest trains: no label of theirs
    stands out, and none of the rest takes longer."""
    best: Frame = ("Best.on_train_batch_end", "callbacks.py", 14, "callbacks", "program")
    rest = 8 - launches
    return samples(
        (2, (MAIN, ON_BATCH_END, best), ()),
        (launches, (MAIN, ON_BATCH_END, best, EXECUTE), ()),
        (rest // 2, (MAIN, EXECUTE), ()),
        (rest - rest // 2, (MAIN, ("save", "pickle.py", 9, "pickle", "python")), ()),
    )


def a_loop_over_other_batches(batches: int = 3, draws: bool = True, trains: bool = False) -> Tables:
    """A function that the loop calls takes 7 of 10 ms, by several labels, and draws batches there; so many
    are drawn in each step. draws: the loop draws batches, too; trains: gradients are taken in that function.
    """
    evaluate: Frame = ("evaluate", "train.py", 26, "__main__", "program")
    tables = samples(
        (3, (MAIN, evaluate, BACKWARD if trains else EXECUTE), ()),
        (2, (MAIN, evaluate, NEXT), ()),
        (2, (MAIN, evaluate), ()),
        (1, (MAIN, NEXT if draws else EXECUTE), ()),
        (2, (MAIN, EXECUTE), ()),
    )
    for frame in tables.rows["frame"]:
        frame["has_loop"] = frame["function"] == "main"
    track = tables.add("track", kind="thread", process="cpu", name="python")["id"]
    for step in tables.rows["step_stored"]:
        for number in range(batches):
            times = {"ts_ps": step["ts_ps"] + number * MS, "dur_ps": MS // 100, "self_ps": MS // 100}
            facts = {"step": step["id"], "name": "IteratorGetNextOp::DoCompute", "depth": 0}
            tables.add("slice", track_id=track, **times, **facts)
    return tables


def judged() -> Iterator[tuple[str, Tables]]:
    """Those of which the judgement is listed, by their names."""
    for make in (
        waiting_for_a_lock_of_a_sleeper,
        two_lines_of_python,
        a_callback_of_several_labels,
        a_loop_over_other_batches,
    ):
        yield make.__name__.replace("_", " "), make()
