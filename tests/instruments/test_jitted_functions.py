"""The jitted function of JAX that compiles again and again, by the marks of its calls."""

import pytest

from stepscope.instruments.causes import ranking
from stepscope.report import judgement_text
from tests.draw import draw
from tests.instruments.step_drawings import asked, rows

_USED = "PjitFunction(tanh)........."
_COMPILER = "    [backend_compile].. [backend_compile_and_load]    "


@pytest.mark.parametrize(
    ("call", "used", "named"),
    [
        # What the function uses is compiled within its call, before the function itself.
        ("PjitFunction(step)", _USED, "`step` compiles in 2 of 2 steps."),
        # Less than half of what compiles lies in a jitted function.
        ("compile_all.......", _USED, "in 2 of 2 steps."),
    ],
)
def test_the_function_that_compiles_is_named(call: str, used: str, named: str) -> None:
    called = f"[{call}{'.' * 34}]"
    tables = draw(
        f"step ~compile : {called * 2}\ncpu/python thread : {called * 2}\n"
        f"cpu/python thread : {f'  [{used}]'.ljust(54) * 2}\ncpu/python thread : {_COMPILER * 2}"
    )
    for table, own in rows(tables)._asdict().items():
        for row in own:
            tables.add(table, **{key: value for key, value in row.items() if key != "id"})
    found = ranking.judge(asked(tables))
    assert judgement_text.sentences(found, several=False)[0].endswith(named)
