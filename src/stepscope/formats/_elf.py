"""ELF files of shared libraries and programs: sections, symbols, build id.

Offsets are those of the ELF specification for 64 bits: the header has `e_shoff` at 40, `e_shentsize`,
`e_shnum` and `e_shstrndx` from 58; a section header has name, type, flags, address, offset, size, link, info,
alignment and entry size; a symbol has name, info, other, section, value and size. Both byte orders are read;
files of 32 bits are refused.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stepscope.errors import UnreadableSource

_MOST_SECTIONS = 65_280
"""From here on numbers of sections have other meanings (SHN_LORESERVE)."""
_MOST_NAME_BYTES = 4096
_FUNCTION, _INDIRECT = 2, 10
_SYMTAB, _NOBITS, _DYNSYM = 2, 8, 11
_MACHINES = {3: "x86", 40: "ARM", 62: "x86-64", 183: "AArch64", 243: "RISC-V", 21: "PowerPC64", 22: "S/390"}


class ElfSection(NamedTuple):
    """A section; `size` bytes at `offset` in the file, none of which are there when `empty`."""

    name: str
    type: int
    offset: int
    size: int
    link: int
    entry_bytes: int
    empty: bool


class Symbol(NamedTuple):
    """A symbol. name_at: where its name begins in the file. defined: in this file, not in another one."""

    name_at: int
    is_function: bool
    defined: bool
    address: int
    bytes: int


class Elf:
    """A file that is open. A context manager. UnreadableSource, with the offset, when it is not an ELF of 64
    bits or its tables lead out of it."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        try:
            with Path(path).open("rb") as file:
                self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:  # nothing can be mapped of an empty file
            raise self._damaged(0, "an empty file") from error
        except OSError as error:
            raise UnreadableSource(
                "The library cannot be read",
                seen=error.strerror or str(error),
                todo="give a file that exists and that you may read",
                path=self.path,
            ) from error
        try:
            self._read_header()
            self.sections = self._read_sections()
        except BaseException:
            self.data.close()
            raise

    def __enter__(self) -> Elf:
        return self

    def __exit__(self, *error: object) -> None:
        self.data.close()

    def _damaged(self, offset: int, seen: str) -> UnreadableSource:
        return UnreadableSource(
            "This is not a library that can be read",
            seen=seen,
            todo="give a shared library (.so) or a program of Linux, of 64 bits",
            path=self.path,
            offset=offset,
        )

    def _unpack(self, form: str, offset: int) -> tuple[int, ...]:
        form = self._order + form
        if not 0 <= offset <= len(self.data) - struct.calcsize(form):
            raise self._damaged(min(offset, len(self.data)), "a table that leads out of the file")
        return struct.unpack_from(form, self.data, offset)

    def _read_header(self) -> None:
        head = self.data[:16]
        if head[:4] != b"\x7fELF":
            raise self._damaged(0, f"a file that begins with {head[:4]!r}")
        if len(head) < 16 or head[4] != 2 or head[5] not in (1, 2):
            raise self._damaged(4, "an ELF file of 32 bits, or of a kind that does not exist")
        self._order = "<" if head[5] == 1 else ">"
        (machine,) = self._unpack("H", 18)
        self.machine = _MACHINES.get(machine, f"machine {machine}")

    def _read_sections(self) -> dict[str, ElfSection]:
        (start,) = self._unpack("Q", 40)
        size, count, names = self._unpack("HHH", 58)
        if not start:
            return {}
        if size < 64:
            raise self._damaged(58, f"section headers of {size} bytes")
        if count == 0:  # more than the header can say: the first section says it
            (count,) = self._unpack("Q", start + 32)
        if names == 0xFFFF:
            (names,) = self._unpack("I", start + 40)
        if count > _MOST_SECTIONS:
            raise self._damaged(60, f"{count:,} sections")
        found = [self._unpack("IIQQQQIIQQ", start + number * size) for number in range(count)]
        if names >= len(found):
            raise self._damaged(62, "no section that has the names of the others")
        base = found[names][4]
        sections: dict[str, ElfSection] = {}
        for at, kind, _, _, offset, length, link, _, _, entry in found:
            empty = kind == _NOBITS
            if not empty and offset + length > len(self.data):
                raise self._damaged(min(offset, len(self.data)), "a section that reaches over the file's end")
            name = self.name(base + at).decode("utf-8", "replace")
            sections.setdefault(name, ElfSection(name, kind, offset, length, link, entry, empty))
        self._by_number = [(offset, length) for _, _, _, _, offset, length, *_ in found]
        return sections

    def name(self, offset: int) -> bytes:
        """The text at an offset of the file, to the zero behind it; nothing behind its end."""
        if offset >= len(self.data):
            return b""
        end = self.data.find(b"\0", offset, offset + _MOST_NAME_BYTES)
        return self.data[offset : end if end >= 0 else offset + _MOST_NAME_BYTES]

    @property
    def build_id(self) -> str | None:
        """The build id in hexadecimal digits."""
        note = self.sections.get(".note.gnu.build-id")
        if note is None or note.empty or note.size < 16:
            return None
        owner, length, _ = self._unpack("III", note.offset)
        start = note.offset + 12 + (owner + 3) // 4 * 4
        return self.data[start : min(start + length, note.offset + note.size)].hex() or None

    @property
    def debug_link(self) -> str | None:
        """The name of the file that has the debug information, when it is apart."""
        link = self.sections.get(".gnu_debuglink")
        return None if link is None else self.name(link.offset).decode("utf-8", "replace")

    def count(self, table: str) -> int:
        """How many symbols a table has: .symtab or .dynsym. Its first is not one."""
        section = self.sections.get(table)
        return 0 if section is None or section.empty else max(section.size // 24 - 1, 0)

    def names_of(self, table: str) -> tuple[int, int]:
        """Where the names of a table's symbols lie: offset and bytes."""
        section = self.sections.get(table)
        if section is None or section.link >= len(self._by_number):
            return 0, 0
        offset, size = self._by_number[section.link]
        return offset, max(min(size, len(self.data) - offset), 0)

    def symbols(self, table: str) -> Iterator[Symbol]:
        """The symbols of a table, in its order."""
        section = self.sections.get(table)
        if section is None or section.empty or section.type not in (_SYMTAB, _DYNSYM):
            return
        base, _ = self.names_of(table)
        rows = memoryview(self.data)[section.offset : section.offset + section.size // 24 * 24]
        with rows:
            for name, info, _, place, value, size in struct.iter_unpack(self._order + "IBBHQQ", rows):
                if name:
                    is_function = info & 15 in (_FUNCTION, _INDIRECT)
                    yield Symbol(base + name, is_function, place != 0, value, size)
