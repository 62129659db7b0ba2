"""A table as one test: all cases are tried, those that fail are told, one that fits nothing is an error."""

import pytest

from tests.each import each


def test_all_cases_that_fail_are_told() -> None:
    tried = []

    @each(("number", "most"), [(1, 2), (5, 2), (2, 2), (9, 3)])
    def small(number: int, most: int) -> None:
        tried.append(number)
        assert number <= most

    with pytest.raises(AssertionError, match="2 of 4 cases") as failed:
        small()
    assert tried == [1, 5, 2, 9]
    assert "{'number': 5, 'most': 2}" in str(failed.value)
    assert "{'number': 9, 'most': 3}" in str(failed.value)


def test_a_table_fits_its_test() -> None:
    def test(number: int) -> None:
        assert number

    for names, cases in (("other", [1]), ("number", []), (("number",), [(1, 2)])):
        with pytest.raises((TypeError, ValueError), match=r"test takes|test has no cases"):
            each(names, cases)(test)
    each("number", [1, 2])(test)()
