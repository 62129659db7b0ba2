"""Results of a replay: rows for people, and sentences about where values changed."""

from collections.abc import Iterator, Sequence

from stepscope import units
from stepscope.report.listing import Listing, Row
from stepscope.xla_tools.replay.stages import COLUMNS, RequestedStage

_FOR_PEOPLE = (
    "stage", "pass", "part", "flags", "runs", "median", "least", "compile", "verdict", "beyond",
    "max_relative", "values", "problem",
)  # fmt: skip


def build(rows: Sequence[Row], asked: Sequence[RequestedStage]) -> Listing:
    """The stages that ran, of those that were asked for."""
    notes = _notes(rows, len(asked), is_plain=any(stage.is_plain for stage in asked))
    return Listing(COLUMNS, rows, list(notes), _FOR_PEOPLE, _readable)


def _readable(row: Row) -> Row:
    """A row for a table: times with units, long values cut."""
    cells = dict(row)
    for name in ("median", "least", "compile"):
        value = row[f"{name}_ps"]
        cells[name] = None if value is None else units.show(value, "ps")
    if row["max_relative"] is not None:
        cells["max_relative"] = f"{row['max_relative']:.2g}"
    return cells


def _notes(rows: Sequence[Row], asked: int, *, is_plain: bool) -> Iterator[str]:
    """What to know beside the rows."""
    ran = [row for row in rows if row["device"] is not None]
    if ran:
        yield f"ran on {ran[0]['device']} with jax {ran[0]['jax']}, compiled anew"
    calls = sorted({row["custom_calls"] for row in rows if row["custom_calls"]})
    if calls:
        yield f"custom calls run as this jax has them: {', '.join(calls)}"
    if asked != 1:
        yield from _compared(rows, asked, is_plain)


def _compared(rows: Sequence[Row], asked: int, is_plain: bool) -> Iterator[str]:
    """What to know of several stages beside their rows."""
    if is_plain:
        yield (
            "optional passes of XLA were off, so that each stage gives what it says itself; "
            "--optimized leaves them on"
        )
    if asked > len(rows):
        same = units.count(asked - len(rows), "stage")
        yield f"{same} with the same program as the one before left out"
    failed = sum(row["verdict"] == "failed" for row in rows)
    if failed:
        yield f"{units.count(failed, 'stage')} could not be run or compared (column problem)"
    yield from (_difference(row) for row in rows if row["verdict"] == "differs")
    compared = [row for row in rows if row["verdict"] in ("identical", "within", "differs")]
    verdicts = {row["verdict"] for row in compared}
    if compared and "differs" not in verdicts:
        exact = verdicts == {"identical"}
        yield "all results are identical" if exact else "all results are equal within the tolerance"
    if any(map(_mostly_nan, compared)):
        yield (
            "most results are not numbers (NaN), which say little: give real inputs with --inputs, "
            "or another --seed"
        )


def _mostly_nan(row: Row) -> bool:
    return bool(row["nan"]) and row["nan"] * 2 > row["elements"]


def _difference(row: Row) -> str:
    """Where a stage gives other values than what it is compared with."""
    share = "infinitely" if row["max_relative"] is None else f"by up to {row['max_relative']:.2g}"
    elements = units.count(row["elements"], "element")
    return (
        f"{row['pass'] or row['stage']}: {row['beyond']:,} of {elements} differ {share} from "
        f"{row['compared_with']}, most in result {row['output']}: {row['values']}"
    )
