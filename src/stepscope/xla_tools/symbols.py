"""What a debugger will be able to show of a library, from its sections and symbols: nothing is loaded."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stepscope.errors import UsageError
from stepscope.escapes import printable
from stepscope.formats._elf import Elf
from stepscope.xla_tools import library_answers

COLUMNS = (
    "library", "file_bytes", "machine", "build_id", "debug_link", "symbols", "dynamic_symbols", "functions",
    "lines", "arguments", "unwinds", "shows",
)  # fmt: skip
"""A row is a library. symbols: in .symtab, which stripping takes away; dynamic_symbols: in .dynsym, which
others link to; functions: that are defined here. lines, arguments: whether it has the information for them.
unwinds: whether stacks can be walked through it. shows: what gdb shows of a frame in it."""

FOUND = ("library", "symbol", "name", "table", "is_function", "defined", "address", "bytes")
"""A row is a symbol. symbol: as the file has it; name: as C++ has it, where c++filt is installed. table: that
or those that have it. defined: here, not in a library that this one uses."""

MOST_FOUND = 1_000
_SECONDS = 60


def rows(paths: Sequence[str | Path]) -> list[dict[str, Any]]:
    """Rows with COLUMNS, in the order given. UnreadableSource for what is not an ELF."""
    return [_row(path) for path in paths]


def _row(path: str | Path) -> dict[str, Any]:
    """A row, from the cache where the library is there: TensorFlow has a million symbols."""
    what = f"sections and symbols of {Path(path).absolute()}"
    row = library_answers.recall(what)
    if row is None:
        row = _read(path)
        library_answers.remember(what, [Path(path).absolute()], row)
    return {**row, "library": printable(str(path))}


def _read(path: str | Path) -> dict[str, Any]:
    with Elf(path) as elf:
        table = ".symtab" if elf.count(".symtab") else ".dynsym"
        functions = sum(symbol.is_function and symbol.defined for symbol in elf.symbols(table))
        lines = ".debug_line" in elf.sections or ".zdebug_line" in elf.sections
        arguments = ".debug_info" in elf.sections or ".zdebug_info" in elf.sections
        unwinds = ".eh_frame" in elf.sections or ".debug_frame" in elf.sections
        return {
            "library": "",
            "file_bytes": len(elf.data),
            "machine": elf.machine,
            "build_id": elf.build_id,
            "debug_link": printable(elf.debug_link) if elf.debug_link else None,
            "symbols": elf.count(".symtab"),
            "dynamic_symbols": elf.count(".dynsym"),
            "functions": functions,
            "lines": lines,
            "arguments": arguments,
            "unwinds": unwinds,
            "shows": _shows(lines, arguments, bool(functions), table == ".symtab"),
        }


def _shows(lines: bool, arguments: bool, functions: bool, all_of_them: bool) -> str:
    if lines and arguments:
        return "functions, lines and arguments"
    if lines:
        return "functions and lines"
    if functions:
        return "functions" if all_of_them else "functions that are exported"
    return "addresses"


def find(paths: Sequence[str | Path], name: str) -> list[dict[str, Any]]:
    """The symbols of a function, as C++ or C has its name: rows with FOUND, at most MOST_FOUND. UsageError
    for what cannot be a name."""
    begins = _beginnings(name)
    rows: dict[tuple[str, bytes, int], dict[str, Any]] = {}
    for path in paths:
        with Elf(path) as elf:
            for table in (".symtab", ".dynsym"):
                names = _names(elf, table, begins)
                for symbol in elf.symbols(table) if names else ():
                    if symbol.name_at not in names or len(rows) >= MOST_FOUND:
                        continue
                    key = (str(path), names[symbol.name_at], symbol.address)
                    if key in rows:  # what others may link to is in both
                        rows[key]["table"] += f" {table}"
                        continue
                    rows[key] = {
                        "library": printable(str(path)),
                        "symbol": printable(names[symbol.name_at].decode("utf-8", "replace")),
                        "name": None,
                        "table": table,
                        "is_function": symbol.is_function,
                        "defined": symbol.defined,
                        "address": f"0x{symbol.address:x}",
                        "bytes": symbol.bytes,
                    }
    found = list(rows.values())
    for row, demangled in zip(found, _demangled([row["symbol"] for row in found]), strict=False):
        row["name"] = demangled
    return sorted(found, key=lambda row: (not row["defined"], row["library"], row["table"], row["symbol"]))


_PART = re.compile(r"~?[A-Za-z_]\w*")


def _beginnings(name: str) -> tuple[bytes, ...]:
    """What symbols of a name begin with (Itanium C++ ABI, 5.1). C++ writes a::b as _ZN1a1bE and the types
    behind it, members that change nothing as _ZNK1a1bE, and a function outside of everything as _Z1b; tags
    (B) and template arguments (I) may come before the E."""
    parts = name.strip().partition("(")[0].removeprefix("::").split("::")
    if name.startswith("_Z"):
        return (name.encode(),)
    if not all(_PART.fullmatch(part) for part in parts):
        raise UsageError(
            "This is not a function's name",
            seen=name[:200],
            todo="give one like tensorflow::TF_NewSessionRef, without types, or a mangled one",
        )
    if len(parts) == 1:
        return (f"{parts[0]}\0".encode(), f"_Z{len(parts[0])}{parts[0]}".encode())
    mangled = "".join(
        "St" if part == "std" and number == 0 else f"{len(part)}{part}"
        for number, part in enumerate(parts[:-1])
    )
    ends = _ends(parts[-2], parts[-1])
    return tuple(f"_ZN{kind}{mangled}{end}".encode() for kind in ("", "K") for end in ends)


def _ends(scope: str, last: str) -> list[str]:
    """How the name of a member ends: of a constructor, a destructor, or another one."""
    if last == scope:
        return [f"C{kind}{end}" for kind in "123" for end in "EB"]
    if last == f"~{scope}":
        return [f"D{kind}{end}" for kind in "012" for end in "EB"]
    return [f"{len(last)}{last}{end}" for end in "EBI"]


def _names(elf: Elf, table: str, begins: Sequence[bytes]) -> dict[int, bytes]:
    """Where names that begin so lie in the file, with the whole names."""
    start, size = elf.names_of(table)
    found: dict[int, bytes] = {}
    for begin in begins:
        at = elf.data.find(b"\0" + begin, start, start + size)
        while at >= 0 and len(found) < MOST_FOUND:
            found[at + 1] = elf.name(at + 1)
            at = elf.data.find(b"\0" + begin, at + 1, start + size)
    return found


def _demangled(symbols: Sequence[str]) -> list[str | None]:
    """Names as C++ has them; None for all where there is no c++filt, or where it fails."""
    program = shutil.which("c++filt")
    if program is None or not symbols:
        return [None] * len(symbols)
    try:
        done = subprocess.run(
            [program], input="\n".join(symbols), capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return [None] * len(symbols)
    lines = done.stdout.splitlines()
    return [*map(printable, lines)] if len(lines) == len(symbols) else [None] * len(symbols)
