"""What a program's own log says of its compiles and no dump does: donated arguments that JAX refuses, because
no result has their shape, and kernels that spill registers.

JAX warns once for each list of arguments. NVIDIA's ptxas and AMD's backend tell of spills through XLA, with
the name of the kernel, which is the name of its fusion with underscores for dots.
"""

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

ENDINGS = (".log", ".log.gz")
KEPT = "program.log"
"""What `stepscope xla run` calls the log that it keeps around the folder of the programs."""
MOST_LINES = 5_000_000
"""Of a log; the rest is not read, and `Logs.unread` says so."""
_LONGEST = 1 << 16


class LogStatement(NamedTuple):
    """Something that a log says. kind: refused (a donated argument) or spilled. name: a shape as JAX writes
    it, or a kernel. value: bytes, of a spill those that a thread stores and loads. at: line of the log."""

    kind: str
    name: str
    value: float
    what: str
    path: str
    at: int


_REFUSED = re.compile(rb"Some donated buffers were not usable: (.+)")
_SHAPE = re.compile(rb"\b([a-z]+[a-z0-9_]*)\[([0-9,]*)\]")
_WARNED = re.compile(
    rb"spilled to local memory in function '([^']+)', (\d+) bytes spill stores, (\d+) bytes spill loads"
)
_FUNCTION = re.compile(rb"Function properties for (\S+)")
_COUNTED = re.compile(rb"(\d+) bytes spill stores, (\d+) bytes spill loads")
_AMD_MODULE = re.compile(rb"\] Module: (\S+)")
_AMD_BYTES = re.compile(rb"Private segment size: (\d+) bytes")


class Logs(NamedTuple):
    """What logs say, and which of them could not be read to the end."""

    statements: list[LogStatement]
    unread: dict[str, str]
    """Paths, and why no more of the log was read."""


def read(paths: Sequence[str]) -> Logs:
    """What logs say, in their order; of a kernel the last. What was read of a damaged log counts."""
    found: dict[tuple[str, str, str], LogStatement] = {}
    unread: dict[str, str] = {}
    for path in paths:
        for logged in _statements(path, unread):
            found.pop((path, logged.kind, logged.name), None)
            found[path, logged.kind, logged.name] = logged
    return Logs(list(found.values()), unread)


def kernel(instruction: str) -> str:
    """What the kernel of an instruction is called."""
    return re.sub(r"\W", "_", instruction)


def _statements(path: str, unread: dict[str, str]) -> Iterator[LogStatement]:
    function = module = b""
    for at, line in _lines(path, unread):
        if b"donated buffers" in line:
            if match := _REFUSED.search(line):
                for shape in _SHAPE.finditer(match[1]):
                    yield LogStatement("refused", _text(shape[0]), _bytes(shape), "refused by JAX", path, at)
        elif b"spill" in line:
            if match := _WARNED.search(line):
                yield _spilled(match[1], int(match[2]), int(match[3]), path, at)
            elif function and (match := _COUNTED.search(line)):
                if int(match[1]) or int(match[2]):
                    yield _spilled(function, int(match[1]), int(match[2]), path, at)
                function = b""
        elif match := _FUNCTION.search(line):
            function = match[1]
        elif match := _AMD_MODULE.search(line):
            module = match[1]
        elif module and (match := _AMD_BYTES.search(line)):
            yield LogStatement(
                "spilled", _text(module), int(match[1]), "private memory of a thread", path, at
            )
            module = b""


def _spilled(name: bytes, stored: int, loaded: int, path: str, at: int) -> LogStatement:
    return LogStatement(
        "spilled", _text(name), stored + loaded, f"{stored:,} B stored, {loaded:,} B loaded", path, at
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _bytes(shape: re.Match[bytes]) -> float:
    """Of an array as JAX names it: float32[8,4]."""
    bits = re.search(rb"\d+", shape[1])
    size = int(bits[0]) / 8 if bits else 1.0
    for dim in filter(None, shape[2].split(b",")):
        size *= int(dim)
    return size


def _lines(path: str, unread: dict[str, str]) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers; one without an end in parts, so that it does not fill the memory."""
    try:
        with gzip.open(path) if path.endswith(".gz") else Path(path).open("rb") as file:
            lines = iter(lambda: file.readline(_LONGEST), b"")
            yield from enumerate(islice(lines, MOST_LINES), 1)
            if next(lines, None) is not None:
                unread[path] = f"it has more than {MOST_LINES:,} lines"
    except (OSError, EOFError, zlib.error) as error:
        unread[path] = getattr(error, "strerror", None) or str(error)
