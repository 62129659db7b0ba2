"""Dump folders of XLA with each problem that programs may have."""

from tests.draw import Tables

MIB = 1 << 20


def module(tables: Tables, number: int, **figures: object) -> None:
    """A program that was dumped to its end."""
    told = {"program_id": str(number), "function": "f", "compile": 1, "file": "f.hlo.pb", "is_final": True}
    facts = {"stages": 1, "passes": 0, "changing_passes": 0, "source_id": 0, **told, **figures}
    tables.add("hlo_module", module=f"jit_f{number}", **facts)


def dump(**facts: object) -> Tables:
    """A dump without programs."""
    tables = Tables()
    tables.source(format="xla_dump", producer="xla", path="dump", **facts)
    tables.rows["capture"].clear()
    return tables


def _whole(**figures: object) -> Tables:
    tables = dump(events_seen=1, events_stored=1)
    module(
        tables, 0, stage="cpu_after_optimizations", instructions=100, run_flops=4e9, run_bytes=1e9, **figures
    )
    return tables


def figures() -> Tables:
    """A program whose figures are odd."""
    return _whole(
        flops=1e9, run_open_loops=2.0, loops=3, copies=20, allocated_bytes=16 * MIB, temp_bytes=8 * MIB,
        heap_needed_bytes=4 * MIB,
    )  # fmt: skip


def one_open_loop() -> Tables:
    """A program with one loop of unknown length."""
    return _whole(flops=4e9, run_open_loops=1.0, loops=1)


def ended_early() -> Tables:
    """A program beside one that was not dumped to its end: to a pass, and to its input."""
    tables = figures()
    module(tables, 1, is_final=False, stage="simplification", file="g.hlo.pb", instructions=9)
    tables.add(
        "hlo_pass", module_id=1, stage="simplification", pass_name="dce", pass_number=7, file="g.hlo.pb"
    )
    return tables


def instructions(times: float | None = 3.0) -> Tables:
    """A program with a loop, a call of the host and a constant. times: how often each runs, where known."""
    tables = _whole(flops=4e9, allocated_bytes=16 * MIB)
    place = {"source_id": 0, "module_id": 0, "pass_id": 0, "stage": "cpu_after_optimizations"}
    tables.add("hlo_computation", **place, name="main", is_entry=True, times=1.0)
    made = {**place, "computation": "main", "file": "/home/user/train.py", "line": 7}
    tables.add(
        "hlo_instruction", **made, name="while.1", opcode="while", times=1.0, trip_count=times, run_flops=3e9,
        run_bytes=9e8,
    )  # fmt: skip
    tables.add(
        "hlo_instruction", **made, name="call.2", opcode="custom-call", times=times or 1.0,
        target="xla_python_cpu_callback",
    )  # fmt: skip
    tables.add(
        "hlo_instruction", **made, name="constant.3", opcode="constant", times=1.0, shape="f32[1048576]",
        shape_bytes=4.0 * MIB,
    )  # fmt: skip
    return tables


def _case(kind: str, what: str, value: float, **more: object) -> Tables:
    tables = _whole(flops=4e9)
    tables.add("hlo_case", source_id=0, module_id=0, kind=kind, what=what, value=value, **more)
    return tables


def shapes() -> Tables:
    """A function that was compiled for two shapes."""
    return _case("shapes", "parameter 1 was f32[8,16], then f32[12,16]", 2.0)


def types() -> Tables:
    """A function that was compiled for two types."""
    return _case("types", "parameter 0 was f32[8], then s32[8]", 2.0)


def mixed() -> Tables:
    """Two programs of one number."""
    return _case("mixed", "jit_f0 and jit_g", 2.0)


def layouts() -> Tables:
    """A copy into another layout."""
    what = "f32[512,512]{1,0} to f32[512,512]{0,1}"
    return _case("layout_copy", what, 2.0 * MIB, instruction="copy.1", share=0.5, file="train.py", line=7)


def doubles() -> Tables:
    """A conversion to doubles."""
    return _case("double", "convert", 2.0 * MIB, instruction="convert.1")


def donors() -> Tables:
    """A donated argument that nothing takes."""
    what = "parameter 0, f32[262144]{0}"
    return _case("donor", what, 1.0 * MIB, instruction="p.1", op_name="p", share=0.25)


def spills() -> Tables:
    """A kernel that spills."""
    return _case("spill", "292 B stored, 300 B loaded", 592.0, instruction="loop_fusion_3")


def collectives() -> Tables:
    """A collective that nothing hides."""
    return _case("collective", "all-reduce-start", 2.0 * MIB, instruction="all-reduce-start.1")


PROBLEMS = {
    "loops_counted_once": figures,
    "loops_of_unknown_length": figures,
    "loops_of_unknown_length, one": one_open_loop,
    "many_copies": figures,
    "fragmented_temporaries": figures,
    "compile_not_dumped_to_its_end": ended_early,
    "loop_dominates": instructions,
    "loop_dominates, one trip": lambda: instructions(1.0),
    "loop_dominates, of unknown length": lambda: instructions(None),
    "host_calls_in_program": instructions,
    "host_calls_in_program, one": lambda: instructions(1.0),
    "custom_calls_without_cost": instructions,
    "custom_calls_without_cost, one": lambda: instructions(1.0),
    "large_constants": instructions,
    "compiled_for_other_shapes": shapes,
    "compiled_for_other_types": types,
    "folder_of_several_processes": mixed,
    "copies_between_layouts": layouts,
    "doubles_not_asked_for": doubles,
    "donated_buffers_not_used": donors,
    "fusions_spill_registers": spills,
    "collectives_not_hidden": collectives,
}
"""Findings, each with what is special about the dump behind a comma."""
