"""Recordings whose steps the recorder timed with and without the profiler."""

from tests.draw import UNIT_PS, Tables, draw

_DRAWN = (
    "step train : [train.....][train.....][train.....]\n"
    "cpu/python thread : [train.....][train.....][train.....]\n"
    "cpu/pool thread : [a:MatMul.][b:Add....][c:Mul....][d:Sub..]"
)
_STEP = 12
"""Units of a step that is drawn."""


def steps_faster_without_the_profiler() -> Tables:
    """Nothing stands out, so nothing else says how long a step takes."""
    return timed(6)


def a_run_faster_without_the_profiler() -> Tables:
    """Beside another run, a sentence of its own says it."""
    tables = timed(6)
    tables.add_run("other", draw(_DRAWN))
    return tables


def few_long_steps_with_the_profiler() -> Tables:
    """One step of six takes much longer than the others, which a profiler makes longer, too."""
    rows = [("step train", "train"), ("cpu/python thread", "train"), ("cpu/pool thread", "a:MatMul")]
    drawn = (f"{row} : " + f"[{name:.<10}]" * 5 + f"[{name:.<58}]\n" for row, name in rows)
    return timed(6, "".join(drawn))


def timed(units: int, drawn: str = _DRAWN) -> Tables:
    """Three traced steps, and three that the recorder timed without the profiler, of so many units."""
    tables = draw(drawn)
    for series, of_series in (("untraced_ns", units), ("traced_ns", _STEP)):
        for number in range(3):
            value = of_series * UNIT_PS / 1000
            facts = {"series": series, "value": value, "ts_ps": number * _STEP * UNIT_PS}
            tables.add("counter", name="duration of a step", **facts)
    return tables


WHOLE = (
    steps_faster_without_the_profiler,
    few_long_steps_with_the_profiler,
    a_run_faster_without_the_profiler,
)
