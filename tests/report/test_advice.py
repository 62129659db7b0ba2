"""To whom findings say what: users of a framework, and those whose program is compiled already."""

import pytest

from stepscope import library
from stepscope.library import header
from stepscope.report.advice import compiled
from tests.asked import Asked
from tests.draw import draw


@pytest.mark.parametrize(
    ("framework", "name", "told"),
    [
        ("pytorch", "Torch-Compiled Region: 0/0", "torch_compiled"),
        ("pytorch", "## Call CompiledFxGraph fabc ##", "torch_compiled"),
        ("pytorch", "aten::mm", "pytorch"),
        ("jax", "Torch-Compiled Region: 0/0", "jax"),
        (None, "Torch-Compiled Region: 0/0", None),
    ],
)
def test_what_torch_compile_has_compiled_is_seen_in_what_ran(
    framework: str | None, name: str, told: str | None
) -> None:
    tables = draw("cpu/t thread : [a:Add......]")
    tables.rows["slice"][0]["name"] = name
    assert compiled(Asked(tables.connect()), framework) == told


def test_who_compiles_is_not_told_to_compile() -> None:
    advised = [dict(entry.actions) for entry in library.entries("finding")]
    of_compilers = [actions for actions in advised if "torch.compile" in actions.get("pytorch", "")]
    assert of_compilers
    for actions in of_compilers:
        assert "torch.compile" not in actions[header.TORCH_COMPILED]
