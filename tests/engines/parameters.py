"""Values for the parameters of the library's statements, as a recording has them."""

from stepscope import library
from stepscope.library import statements
from stepscope.session.trace import OpenTrace


def of_source(
    trace: OpenTrace, source_id: int, run_id: str, host_id: str, modules: list[str]
) -> dict[str, statements.Value]:
    """Those of a source, and the least that leaves nothing out."""
    tracks = trace.query("SELECT id FROM track WHERE source_id = $1 ORDER BY id LIMIT 20", [source_id])
    lanes = [track for (track,) in tracks.rows()]
    nested = trace.query(
        "SELECT min(coalesce(parent_id, id)) AS id FROM slice WHERE source_id = $1", [source_id]
    )
    first_slice = nested.rows()[0][0] or 0
    made = trace.query(
        "SELECT file, line FROM op_line WHERE run_id = $1 ORDER BY id LIMIT 1", [run_id]
    ).rows()
    file, line = made[0] if made else ("train.py", 1)
    graphs = trace.query("SELECT MIN(graph) AS graph FROM node WHERE source_id = $1", [source_id]).rows()
    programs = trace.query(
        "SELECT id, program_id, module FROM hlo_module WHERE source_id = $1 ORDER BY id LIMIT 1", [source_id]
    ).rows()
    rolled = "SELECT DISTINCT rollup_id FROM slice WHERE source_id = $1 ORDER BY rollup_id LIMIT 20"
    rollups = [rollup for (rollup,) in trace.query(rolled, [source_id]).rows() if rollup is not None]
    called = "SELECT op_name FROM _computing_op WHERE run_id = $1 GROUP BY op_name ORDER BY op_name LIMIT 20"
    names = [name for (name,) in trace.query(called, [run_id]).rows() if name is not None]
    module_id, program, module_name = programs[0] if programs else (0, "0", "jit_step")
    return {
        "source_id": source_id, "run_id": run_id, "host_id": host_id, "host_ids": [host_id], "whole": 1,
        "sources": [source_id],
        "tracks": lanes, "walked": [], "allocator": "cpu", "most": 3,
        "types": ["_Send", "_Recv"], "first_ps": 0, "begin_ps": 0, "width_ps": 10**9,
        "hour_ps": 3600 * 10**12,
        "until_ps": 2**62, "end_ps": 2**62, "track_id": lanes[0] if lanes else 0, "op": "fusion",
        "place": "host", "kernel": "fusion", "programs": 1, "waits": 1, "captures": 1, "computing": 1,
        "slice_id": first_slice, "text": "mA", "body": "%/body/%", "graph": graphs[0][0] or "graph",
        "forward": "fusion", "file": file, "line": line, "main": 1, "stack_id": 1, "stacks": [1],
        "averaged": 0, "modules": modules,
        "module_ids": [module_id], "module_id": module_id, "module_name": module_name,
        "program": program, "rollups": rollups, "names": names,
    }  # fmt: skip


def sets_of_values(
    one: library.Entry, known: list[dict[str, statements.Value]]
) -> list[dict[str, statements.Value]]:
    """Those that a statement asks for, each set of them once."""
    kept: list[dict[str, statements.Value]] = []
    for of_source in known:
        values = {
            field.name: of_source[
                "module_ids" if (field.name, field.unit) == ("modules", "ints") else field.name
            ]
            for field in one.parameters
        }
        if values not in kept:
            kept.append(values)
    return kept
