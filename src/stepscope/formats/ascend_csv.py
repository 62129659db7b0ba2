"""Tables of what NPUs ran, kernel by kernel, of Ascend's profilers: `kernel_details.csv` of torch_npu,
`op_summary_….csv` of msprof.

Format: <https://www.hiascend.com/document/detail/en/canncommercial/80RC3/devaids/auxiliarydevtool/
atlasprofiling_16_0035.html>. Times are Unix microseconds with three places.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from stepscope._core import Store
from stepscope.formats import Damaged, Pieces, Step, _twins
from stepscope.formats._csv_rows import names_in, rows_below
from stepscope.formats._profile_events import MOST_BYTES, Events
from stepscope.sources.source import Traits

NAME = "ascend_csv"
TRAITS = Traits(endings=(".csv",))
TWINS = (_twins.ascend_folder, _twins.ascend_parts)
_COLUMNS = (
    ("Name", "Type", "Accelerator Core", "Start Time(us)", "Duration(us)"),
    ("Op Name", "OP Type", "Task Type", "Task Start Time(us)", "Task Duration(us)"),
)
"""What the two tables call a kernel, its type, what ran it, its begin and its length."""
_DEVICES = ("Device_id", "Device ID", "Device Id")
_US_PS = 1_000_000
_MOST_US = 2**63 // 1000
"""Times are below."""
_DIGITS = re.compile(r"[0-9]{1,9}")
_OF_COLLECTIVES = ("COMMUNICATION", "HCCL")
"""What stands for the core that ran a collective."""


def sniff(head: bytes, name: str) -> bool:
    """A first line with the columns of a table."""
    line, ended, _ = head.partition(b"\n")
    return bool(ended) and _columns(_names(line.decode("utf-8", "replace"))) is not None


def _names(line: str) -> list[str]:
    return [name.strip() for name in names_in(line)]


def _columns(names: list[str]) -> tuple[str, ...] | None:
    return next((columns for columns in _COLUMNS if set(columns) <= set(names)), None)


def build(pieces: Pieces) -> Store:
    """Kernels on the streams of their NPUs, and collectives beside them. Damaged when there are none."""
    data = pieces.read(MOST_BYTES)
    events = Events()
    spans = sorted(_spans(data, events), key=lambda span: (span[0], -span[1]))
    if not spans:
        raise Damaged("it holds no kernels with their times")
    for start_ps, end_ps, name, device, row, args in spans:
        events.thread(f"NPU {device}", row, f"NPU {device}", row)
        events.slice(name, start_ps, end_ps, f"NPU {device}", row, "kernel", args)
    origin_ps = events.origin_ps or 0
    store = events.store(pieces, data, "msprof")
    store.update_facts({"origin_unix_ns": origin_ps // 1000})
    return store


def steps(pieces: Pieces) -> list[Step]:
    """Steps from the first kernel of one to the first of the next, by their ids. Nothing says how long the
    last one is: it is left out, unless it is the only one, which then lasts as long as its kernels."""
    first_ps: dict[int, int] = {}
    last_ps = 0
    for columns, row in _rows(pieces.read(MOST_BYTES), Events()):
        number, start_ps, length_ps = (
            row.get("Step Id", ""),
            _ps(row.get(columns[3])),
            _ps(row.get(columns[4])),
        )
        if start_ps is not None and length_ps is not None and _DIGITS.fullmatch(number):
            first_ps[int(number)] = min(start_ps, first_ps.get(int(number), start_ps))
            last_ps = max(last_ps, start_ps + length_ps)
    begun = sorted((start_ps, number) for number, start_ps in first_ps.items())
    if len(begun) == 1:
        begun.append((last_ps, -1))
    return [
        (number, start_ps // 1000, next_ps // 1000, True)
        for (start_ps, number), (next_ps, _) in pairwise(begun)
    ]


_Span = tuple[int, int, str, str, str, dict[str, Any]]
"""Begin and end in picoseconds, name, number of the NPU, row and args."""


def _rows(data: bytes, events: Events) -> Iterator[tuple[tuple[str, ...], Mapping[str, str]]]:
    """What the table calls its columns, and each row by the names of all."""
    first, _, rest = data.decode("utf-8-sig", "replace").partition("\n")
    names = _names(first)
    columns = _columns(names)
    if columns is None:
        raise Damaged("its first line names no columns with the times of kernels")
    for row in rows_below(names, rest, events):
        yield columns, {name: cell.strip() for name, cell in row.items()}


def _spans(data: bytes, events: Events) -> Iterator[_Span]:
    for (name_column, _, core_column, start_column, length_column), row in _rows(data, events):
        start_ps, length_ps = _ps(row.get(start_column)), _ps(row.get(length_column))
        if start_ps is None or length_ps is None:
            events.miss()
            continue
        device = next((row[column] for column in _DEVICES if _DIGITS.fullmatch(row.get(column, ""))), "0")
        if row.get(core_column) in _OF_COLLECTIVES:
            place = "stream of collectives"
        else:
            place = f"stream {row.get('Stream ID', '')}".strip()
        yield (
            start_ps,
            start_ps + length_ps,
            row.get(name_column) or "kernel",
            device,
            place,
            _args(row, device),
        )


def _args(row: Mapping[str, str], device: str) -> dict[str, Any]:
    shapes = row.get("Input Shapes", "").strip('"')
    args: dict[str, Any] = {"device": int(device)}
    return args if shapes in ("", "N/A") else {**args, "Input Dims": shapes}


def _ps(cell: str | None) -> int | None:
    """Picoseconds of a cell in microseconds; None where it is no time."""
    try:
        found = Decimal((cell or "").strip())
    except InvalidOperation:
        return None
    return int(found * _US_PS) if found.is_finite() and 0 <= found < _MOST_US else None
