"""A table of cases as one test: for cases that take no time, of which each would be a test of its own.

    @each(("name", "label"), [("MatMul", "compute"), ("Memcpy", "copy")])
    def test_labels(name, label): ...

It is written like `pytest.mark.parametrize`. All cases are tried, and those that fail are told with their
values. Where a case needs a fixture, or takes more than some milliseconds, parametrize it instead.
"""

import inspect
import traceback
from collections.abc import Callable, Iterable
from typing import Any


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable]:
    """The test over all cases: values of `names`, in their order; a single name needs no tuples."""
    one = isinstance(names, str)
    table = [(case,) if one else tuple(case) for case in cases]

    def over(test: Callable[..., None]) -> Callable[[], None]:
        asked = tuple(inspect.signature(test).parameters)
        if asked != ((names,) if one else tuple(names)):
            raise TypeError(f"{test.__name__} takes {asked}, the table has {names}")
        if not table or any(len(case) != len(asked) for case in table):
            raise ValueError(f"{test.__name__} has no cases, or some of another length than {asked}")

        def every() -> None:
            failed = []
            for case in table:
                try:
                    test(*case)
                except Exception:  # noqa: BLE001 - all are told below
                    failed.append(f"{dict(zip(asked, case, strict=True))}\n{traceback.format_exc()}")
            assert not failed, f"{len(failed)} of {len(table)} cases:\n" + "\n".join(failed)

        every.__name__, every.__qualname__, every.__doc__ = test.__name__, test.__qualname__, test.__doc__
        every.__module__ = test.__module__
        return every

    return over
