"""Recordings with programs whose times are met with instructions: those of the corpus, and drawn ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.cli import main
from tests.formats.xplane_reference import messages
from tests.later import proto

hlo_pb2 = proto("compiler.xla.service.hlo_pb2")
MS = 10**9


def rows_of(capsys: pytest.CaptureFixture[str], *words: str | Path) -> list[dict[str, Any]]:
    assert main(["xla", "ops", *map(str, words), "--format", "json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["rows"]
    return rows


class Drawn:
    """An XSpace with programs and events."""

    def __init__(self) -> None:
        self.space = messages().XSpace()
        self.programs = self.space.planes.add(name="/host:metadata")
        self.programs.stat_metadata[1].id, self.programs.stat_metadata[1].name = 1, "Hlo Proto"

    def program(self, module: Any, number: int) -> None:
        """Keeps a program."""
        kind = self.programs.event_metadata[len(self.programs.event_metadata) + 1]
        kind.id = len(self.programs.event_metadata)
        kind.name = f"{module.name}({number})"
        kind.stats.add(metadata_id=1, bytes_value=hlo_pb2.HloProto(hlo_module=module).SerializeToString())

    def line(self, plane_name: str, line_name: str) -> tuple[Any, Any]:
        plane = next((one for one in self.space.planes if one.name == plane_name), None)
        if plane is None:
            plane = self.space.planes.add(name=plane_name, id=len(self.space.planes))
            for number, name in enumerate(
                ("hlo_op", "hlo_module", "program_id", "run_id", "hlo_category"), 1
            ):
                plane.stat_metadata[number].id, plane.stat_metadata[number].name = number, name
        return plane, plane.lines.add(id=len(plane.lines) + 1, name=line_name, timestamp_ns=10**9)

    @staticmethod
    def event(
        at: tuple[Any, Any],
        name: str,
        start: int,
        dur: int,
        *,
        op: str,
        module: str = "",
        program: int = 0,
        run: int = -1,
    ) -> None:
        plane, line = at
        number = next((key for key, one in plane.event_metadata.items() if one.name == name), None)
        if number is None:
            number = len(plane.event_metadata) + 1
            plane.event_metadata[number].id, plane.event_metadata[number].name = number, name
        event = line.events.add(metadata_id=number, offset_ps=start, duration_ps=dur)
        event.stats.add(metadata_id=1, str_value=op)
        if module:
            event.stats.add(metadata_id=2, str_value=module)
            event.stats.add(metadata_id=3, uint64_value=program)
            event.stats.add(metadata_id=4, int64_value=run)

    def write(self, path: Path) -> Path:
        path.write_bytes(self.space.SerializeToString())
        return path


def matmul(name: str, m: int, k: int, n: int) -> Any:
    """A module with one dot of 2mkn flops."""
    module = hlo_pb2.HloModuleProto(name=name, entry_computation_id=1, id=7)
    entry = module.computations.add(name="main", id=1, root_id=3)
    for number, sizes in ((1, (m, k)), (2, (k, n)), (3, (m, n))):
        one = entry.instructions.add(name=f"p{number}" if number < 3 else "dot.1", id=number)
        one.opcode = "parameter" if number < 3 else "dot"
        one.parameter_number = number - 1 if number < 3 else 0
        one.shape.element_type = 11
        one.shape.dimensions.extend(sizes)
        one.shape.layout.minor_to_major.extend((1, 0))
    entry.instructions[2].operand_ids.extend((1, 2))
    entry.instructions[2].dot_dimension_numbers.lhs_contracting_dimensions.append(1)
    entry.instructions[2].dot_dimension_numbers.rhs_contracting_dimensions.append(0)
    entry.instructions[2].metadata.op_name = "jit(f)/layer/dot_general"
    return module


def loops() -> Any:
    """A loop in a loop, of which the compiler does not know the trips, and a branch."""
    module = hlo_pb2.HloModuleProto(name="jit_f", entry_computation_id=1, id=7)
    calls = {1: ("while.o", (2, 9)), 2: ("while.i", (3, 9)), 3: ("cond.b", (4, 5))}
    for number in (4, 5, 3, 9, 2, 1):
        part = module.computations.add(name=f"c{number}", id=number, root_id=number * 10 + 2)
        work = part.instructions.add(name=f"tanh.{number}", id=number * 10 + 1, opcode="tanh")
        last = part.instructions.add(name=f"last.{number}", id=number * 10 + 2, opcode="tuple")
        for one in (work, last):
            one.shape.element_type = 11
            one.shape.dimensions.append(64)
        work.operand_ids.append(number * 10 + 2)
        if number in calls:
            name, called = calls[number]
            one = part.instructions.add(
                name=name, id=number * 10 + 3, opcode="while" if number < 3 else "conditional"
            )
            one.shape.element_type = 11
            one.called_computation_ids.extend(called)
    return module
