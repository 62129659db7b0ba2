"""A listing as people read it."""

from stepscope.presenters.answers import readable
from stepscope.report.listing import Listing, brief

ROWS = [{"name": "convolution_fusion", "ps": 2_500_000, "file": None, "types": "float32 " * 9}]


def test_columns_that_say_nothing_are_left_out_where_people_have_a_choice() -> None:
    listing = Listing(("name", "ps", "file"), ROWS)
    assert readable(listing, cut=True)[:2] == (
        ["name", "ps", "file"],
        [["convolution_fusion", 2_500_000, None]],
    )
    listing = Listing(("name", "ps", "file"), ROWS, for_people=("ps", "file"))
    assert readable(listing, cut=True)[:2] == (["ps"], [[2_500_000]])


def test_numbers_have_units_and_columns_their_heads() -> None:
    units = {"ps": "ps"}
    titles, rows, right = readable(
        Listing((), ROWS, for_people=("name", "ps"), units=units, heads={"name": "op"}), cut=True
    )
    assert (titles, [*rows], right) == (["op", "ps (µs)"], [["convolution_fusion", "2.50"]], [False, True])


def test_texts_are_cut_in_tables_alone() -> None:
    listing = Listing((), ROWS, for_people=("types",), readable=lambda row: row, widest={"types": 20})
    assert [len(text) for cut in (True, False) for (text,) in readable(listing, cut=cut)[1]] == [20, 72]
    assert brief("jit_train_step", 14) == "jit_train_step"
    assert brief("a_long_name_of_a_module", 20) == "a_long_name…a_module"
