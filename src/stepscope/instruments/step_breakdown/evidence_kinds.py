"""The kinds of evidence that sources have of their steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from stepscope.library.statements import Query, statement


class EvidenceKinds(NamedTuple):
    """The kinds of evidence that a source has, as in the statement evidence_kinds, and its slices."""

    on_devices: bool
    devices: int
    launched: bool
    on_hosts: bool
    programs: bool
    waits: bool
    captures: bool
    loads: bool
    functions: bool
    inline: bool
    slices: int

    @classmethod
    def of(cls, row: Sequence[Any]) -> EvidenceKinds:
        """Of a row of that statement."""
        _, on_devices, devices, *seen, slices = row
        return cls._make([bool(on_devices), devices, *map(bool, seen), slices or 0])

    @property
    def asked(self) -> str:
        """The statement that finds when something executes on the host."""
        if self.captures:
            return "captured_evidence"
        if self.inline:
            return "inline_evidence"
        return "loading_evidence" if self.loads else "step_evidence"

    @property
    def any(self) -> bool:
        """Whether slices of several threads tell anything."""
        return self.on_devices or self.on_hosts or self.programs or self.waits

    @property
    def launches(self) -> bool:
        """Whether ops of the host launch what a device does, recorded or not."""
        return self.on_devices or self.launched


NOTHING = EvidenceKinds(False, 0, False, False, False, False, False, False, False, False, 0)


def kinds_by_source(query: Query) -> dict[int, EvidenceKinds]:
    """The kinds of evidence of each source that has slices."""
    return {row[0]: EvidenceKinds.of(row) for row in query(statement("evidence_kinds")).rows()}
