"""What a table says alike in every row is said once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stepscope.presenters.constant_columns import drop_constants
from stepscope.report import Column, Table

COLUMNS = (
    Column("host_id", "text", "Host"),
    Column("step", "int", "Step"),
    Column("kind", "text", "Kind"),
    Column("averaged", "bool", "Averaged"),
    Column("mark", "text", "Mark"),
)


def table(*rows: tuple[Any, ...]) -> Table:
    return Table(COLUMNS, rows, len(rows))


def test_words_are_lifted_numbers_stay_and_places_go() -> None:
    short, said = drop_constants(table(*(("h", 7, "train", True, None) for _ in range(3))))
    assert [column.name for column in short.columns] == ["step"]
    assert short.rows == ((7,), (7,), (7,))
    assert short.total == 3
    assert said == "In every row: Kind = train; Averaged = yes; Mark has no value."


def test_rows_that_a_limit_left_out_are_not_spoken_for() -> None:
    short, said = drop_constants(Table(COLUMNS, tuple(("h", i, "train", i > 1, "m") for i in range(3)), 8))
    assert short.total == 8
    assert said == "In every row shown: Kind = train; Mark = m."


def test_what_differs_stays() -> None:
    rows = (("h", 1, "train", True, "a"), ("g", 2, "train", False, "b"), ("h", 3, "eval", True, "c"))
    assert drop_constants(table(*rows)) == (table(*rows), "")


def test_a_short_table_keeps_its_words() -> None:
    rows = (("h", 1, "train", True, "a"), ("h", 2, "train", True, "b"))
    short, said = drop_constants(table(*rows))
    assert (len(short.columns), said) == (4, "")
    assert drop_constants(table(rows[0])) == (table(rows[0]), "")


def test_a_table_of_nothing_else_stays_whole() -> None:
    words = Table(COLUMNS[2:3], (("train",),) * 4, 4)
    assert drop_constants(words) == (words, "")


def test_names_of_a_recording_are_made_safe() -> None:
    _, said = drop_constants(table(*(("h", i, "\x1b[31m" + "k" * 9000, True, "m") for i in range(3))))
    assert "\x1b" not in said
    assert len(said) < 500


_VALUES = st.sampled_from(["a", "b", None])


@given(st.lists(st.tuples(_VALUES, st.integers(0, 1), _VALUES, st.booleans(), _VALUES), max_size=5))
def test_every_value_is_in_the_table_or_in_the_sentence(rows: list[tuple[Any, ...]]) -> None:
    short, said = drop_constants(table(*rows))
    kept = [COLUMNS.index(column) for column in short.columns]
    assert short.rows == tuple(tuple(row[i] for i in kept) for row in rows)
    for i, column in enumerate(COLUMNS):
        if i not in kept and column.name != "host_id":
            assert len({row[i] for row in rows}) == 1
            assert column.title.lower() in said.lower()
