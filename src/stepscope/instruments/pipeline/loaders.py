"""DataLoaders of PyTorch: how long steps wait for them, where they are made, and where elements come from."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from stepscope import strict_json
from stepscope.code_lines import CodeLine
from stepscope.library.statements import Query, statement


class Loader(NamedTuple):
    """A DataLoader that the program took batches from."""

    name: str
    """Class of the DataLoader."""
    made: CodeLine | None
    dataset: str
    """Class of its dataset."""
    method: CodeLine | None
    """Where the program makes an element of the dataset."""
    arguments: Mapping[str, Any]

    @property
    def workers(self) -> int:
        """Worker processes; 0: the program's own process loads."""
        workers = self.arguments.get("num_workers")
        return workers if isinstance(workers, int) else 0


class Loading(NamedTuple):
    """The DataLoaders of a host."""

    host_id: str
    steps_ps: int | None
    """Sum of the durations of its steps; None where no waiting is known."""
    wait_ps: int
    """Time of the steps spent waiting for batches."""
    place: CodeLine | None
    """The line that most of the waiting is in."""
    loaders: tuple[Loader, ...]

    @property
    def share(self) -> float | None:
        """Waiting as part of the steps."""
        return self.wait_ps / self.steps_ps if self.steps_ps else None


def find(query: Query) -> list[Loading]:
    """The DataLoaders of each host, the longest wait first. Empty where there are none."""
    waits: dict[tuple[str, str], tuple[int, int, CodeLine | None]] = {}
    for run, host, steps_ps, wait_ps, file, line, function in query(statement("loader_waits")).rows():
        waits.setdefault((run, host), (steps_ps, wait_ps, _line(file, line, function)))
    made: dict[tuple[str, str], dict[int, dict[int, tuple[Any, ...]]]] = {}
    for run, host, number, is_loader, *figures in query(statement("loader_stages")).rows():
        made.setdefault((run, host), {}).setdefault(number, {})[is_loader] = tuple(figures)
    found = []
    for key in sorted({*waits, *made}):
        steps_ps, wait_ps, place = waits.get(key, (None, 0, None))
        loaders = tuple(_loader(rows) for _, rows in sorted(made.get(key, {}).items()))
        found.append(Loading(key[1], steps_ps, wait_ps, place, loaders))
    return sorted(found, key=lambda loading: -(loading.share or 0.0))


def _loader(rows: Mapping[int, tuple[Any, ...]]) -> Loader:
    _, name, file, line, function, arguments = rows[1]
    _, dataset, own_file, own_line, method, _ = rows.get(0, (None,) * 6)
    return Loader(
        name or "DataLoader",
        _line(file, line, function),
        dataset or "a data set",
        _line(own_file, own_line, method),
        strict_json.members(arguments or "{}"),
    )


def _line(file: str | None, line: int | None, function: str | None) -> CodeLine | None:
    return None if file is None or line is None else CodeLine(file, line, function)
