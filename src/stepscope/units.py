"""Numbers for people: three significant digits, one scale for a whole column.

Nothing here is used for machines: JSON and CSV carry the raw picoseconds, bytes and shares.
"""

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, get_args

Unit = Literal["text", "int", "float", "bool", "ps", "bytes", "flop", "ratio", "unix_ns"]
"""What a value is: presenters choose its look by this. Raw values stay in the unit (ps, bytes, 0..1)."""

Severity = Literal["high", "medium", "low", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""How severe a finding is, the most severe first."""

NOTHING = "\N{EN DASH}"
"""Shown where a value is NULL."""

# Each kind of quantity has steps; a column uses the largest step that its largest value reaches.
_STEPS: dict[str, tuple[tuple[int, str], ...]] = {
    "ps": ((1, "ps"), (10**3, "ns"), (10**6, "µs"), (10**9, "ms"), (10**12, "s")),
    "bytes": ((1, "B"), (2**10, "KiB"), (2**20, "MiB"), (2**30, "GiB"), (2**40, "TiB")),
    "flop": ((1, "flop"), (10**3, "kflop"), (10**6, "Mflop"), (10**9, "Gflop"), (10**12, "Tflop")),
}
_MOST_DECIMALS = 3
_FAR = 100  # columns whose largest values lie further apart have scales of their own
_ALL = 1e-9  # shares that are sums of others miss 1 by less
_MOST_DIGITS = 4  # of the largest value: more of them are noise, not measurement


@dataclass(frozen=True)
class Scale:
    """How the values of one column are written: divisor, decimals and the symbol for the heading."""

    unit: Unit
    divisor: int
    symbol: str
    decimals: int
    signed: bool = False
    """Whether more than nothing has a plus sign: of differences."""

    def cell(self, value: Any) -> str:
        """`value` without its symbol, which belongs into the heading."""
        if value is None:
            return NOTHING
        if isinstance(value, bool) or self.unit == "bool":
            return "yes" if value else "no"
        if self.unit == "unix_ns" and isinstance(value, int):
            return _moment(value)
        if not isinstance(value, (int, float, Decimal)) or self.unit == "text":
            return str(value)
        if not math.isfinite(value):
            return str(value)
        text = _fixed(value, self.divisor, self.decimals)
        return f"+{text}" if self.signed and value > 0 and text[0] != "<" else text

    def text(self, value: Any) -> str:
        """`value` with its symbol: 12.3 ms."""
        cell = self.cell(value)
        plain = value is None or isinstance(value, (bool, str)) or not self.symbol
        return cell if plain else f"{cell} {self.symbol}"


def scale(unit: Unit, values: Iterable[Any]) -> Scale:
    """The scale on which all of `values` can be read and compared: three significant digits for the
    largest, and more decimals for the smallest as long as the largest keeps to four digits."""
    sizes = [abs(v) for v in values if _is_number(v)]
    largest = max(sizes, default=0)
    smallest = min(filter(None, sizes), default=largest)
    if unit in ("int", "text", "bool", "unix_ns"):
        return Scale(unit, 1, "", 0)
    if unit == "ratio":  # a hundredth, so dividing by the divisor would lose digits: see _fixed
        return Scale(unit, 0, "%", 1)
    steps = _steps(unit, largest)
    divisor, symbol = steps[-1] if steps else (1, "")
    is_wide = smallest * 1000 < largest < 10 * divisor
    if is_wide and len(steps) > 1:  # 1,767 ms and 0.9 ms are both readable, 1.77 s and 0.00 s are not
        divisor, symbol = steps[-2]
    if divisor == 1 and unit != "float":
        return Scale(unit, 1, symbol, 0)
    if unit == "float" and all(isinstance(size, int) for size in sizes):
        return Scale(unit, 1, "", 0)
    needed = _decimals(largest / divisor, 3)
    wished = min(_decimals(smallest / divisor, 3), _decimals(largest / divisor, _MOST_DIGITS))
    decimals = max(needed, wished, 1 if is_wide else 0)
    return Scale(unit, divisor, symbol, min(_MOST_DECIMALS, decimals))


def _steps(unit: Unit, largest: float) -> Sequence[tuple[int, str]]:
    """Divisors and symbols for numbers up to this one; one at least where a unit has any."""
    steps = _STEPS.get(unit, ())
    return [step for step in steps if largest * 2000 >= step[0] * 1999] or steps[:1]


def scales(kinds: Sequence[Unit], rows: Sequence[Sequence[Any]], signed: Sequence[bool] = ()) -> list[Scale]:
    """The scales of a table's columns. Columns of one kind share theirs, so that they can be compared,
    unless one is so much smaller (means beside totals) that its digits would all vanish. signed: which of
    them hold differences; none when not given."""
    columns = [[row[i] for row in rows] for i in range(len(kinds))]
    largest = [max((abs(value) for value in column if _is_number(value)), default=0) for column in columns]
    found = []
    for i, kind in enumerate(kinds):
        like = [k for k, other in enumerate(kinds) if other == kind]
        top = max(largest[k] for k in like)
        together = [k for k in like if largest[k] * _FAR >= top or not largest[k]]
        shared = kind in _STEPS and i in together
        shared_scale = scale(kind, [v for k in together for v in columns[k]] if shared else columns[i])
        found.append(replace(shared_scale, signed=bool(signed and signed[i])))
    return found


def show(value: Any, unit: Unit) -> str:
    """One value by itself: 12.3 ms, 4.00 GiB, 37.5 %, 1,234."""
    if unit == "text" and not isinstance(value, str):
        return NOTHING if value is None else str(value)
    if _is_number(value) and unit == "float" and 0 < abs(value) < 10**-_MOST_DECIMALS:
        return f"{float(value):.3g}"
    return scale(unit, [value]).text(value)


def bounded(bound: str, share: float) -> str:
    """A share behind what it is: at least, at most, about. One that is hardly anything, or nearly all, is a
    bound by itself, or else none."""
    text = show(share, "ratio")
    if text[0] not in "<>":
        return f"{bound} {text}"
    is_void = (bound, text[0]) in (("at least", "<"), ("at most", ">"))
    return f"{bound} {share:.0%}".replace("%", " %") if is_void else text


def whole(value: object) -> object:
    """A float without a fraction as an int; anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def count(number: int, noun: str, nouns: str | None = None) -> str:
    """A number with its noun: 1 slice, 1,234 slices."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def agree(number: int, singular: str, many: str) -> str:
    """The form of a word that goes with a number: "takes" for 1, "take" for all others."""
    return singular if number == 1 else many


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    return is_number and math.isfinite(value)


def _decimals(size: float | Decimal, digits: int) -> int:
    """Decimals that show `digits` significant digits of `size`."""
    if not size:
        return 0
    rounded = float(f"{float(size):.{digits}g}")  # 0.9999 is written 1.00 and has its digits there
    return max(0, digits - 1 - math.floor(math.log10(rounded) + 1e-9))


def _fixed(value: int | float | Decimal, divisor: int, decimals: int) -> str:
    # Exact for integers of any size: a double holds no more than 15 digits.
    exact = Decimal(value) * 100 if divisor == 0 else Decimal(value) / divisor
    text = f"{exact:,.{decimals}f}"
    if value and not any(digit in text for digit in "123456789"):
        # It is not zero, so it is not shown as zero.
        return f"{'>-' if value < 0 else '<'}{Decimal(1).scaleb(-decimals):f}"
    if divisor == 0 and value < 1 - _ALL and Decimal(text) == 100:
        # There is a rest, which may be shown beside it, so it is not shown as all.
        return f">{100 - Decimal(1).scaleb(-decimals):f}"
    return text


def _moment(unix_ns: int) -> str:
    try:
        whole = datetime.datetime.fromtimestamp(unix_ns // 10**9, datetime.timezone.utc)
    except (OverflowError, ValueError, OSError):  # outside the calendar: the number is all there is to show
        return str(unix_ns)
    return whole.strftime("%Y-%m-%d %H:%M:%S UTC")
