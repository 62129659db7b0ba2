"""The copies that an op on the processor forces, from RunMetadata of a step on an accelerator."""

from pathlib import Path
from typing import Any

import pytest

from stepscope import library
from stepscope.session import trace
from tests.formats import reference_step_stats as reference

HOST, GPU = "/job:w/replica:0/task:0/device:CPU:0", "/job:w/replica:0/task:0/device:GPU:0"
ROWS = {
    GPU: [("ids", 0, 10, "ids = Where(x)"), ("matmul", 400, 10, "matmul = MatMul(dense/_7, w)")],
    HOST: [
        ("dense", 100, 100, "dense = SparseToDense(ids/_5)"),
        ("other", 100, 4, "other = Shape(ids/_5)"),
        ("far", 500, 4, "far = Shape(matmul/_9)"),
    ],
    f"{GPU}/stream:7": [
        ("ids:Where", 12, 5, "kernel"),
        ("edge_3_ids:MEMCPYDtoH", 20, 70, "MEMCPYDtoH"),
        ("edge_4_dense:MEMCPYHtoD", 210, 130, "MEMCPYHtoD"),
        ("matmul:MatMul", 420, 50, "kernel"),
        ("edge_6_matmul:MEMCPYDtoH", 480, 9, "MEMCPYDtoH"),
        ("edge_6_matmul:MEMCPYDtoH", 501, 9, "MEMCPYDtoH"),  # of the round to come: it is too late
        ("edge_3_ids:Cast", 90, 1, "a kernel, whatever it is called"),
    ],
}


def recorded(rows: dict[str, list[tuple[str, int, int, str]]], *, again: bool) -> Any:
    message = reference.RunMetadata()
    shown = dict(rows)
    if again:  # as TensorFlow writes them: all streams together, and the copies once more
        shown[f"{GPU}/stream:all"] = rows[f"{GPU}/stream:7"]
        shown[f"{GPU}/memcpy"] = [row for row in rows[f"{GPU}/stream:7"] if "MEMCPY" in row[0]]
    for device, ran in shown.items():
        entry = message.step_stats.dev_stats.add(device=device)
        for name, start, dur, label in ran:
            entry.node_stats.add(
                node_name=name,
                all_start_micros=10**15 + start,
                all_end_rel_micros=dur,
                op_end_rel_micros=dur,
                timeline_label=label,
            )
    return message


def test_a_copy_is_known_by_its_tensor_where_labels_name_the_op_itself(tmp_path: Path) -> None:
    own = {"SparseToDense(ids/_5)": "SparseToDense(ids)", "MatMul(dense/_7, w)": "MatMul(dense, w)"}
    rows = {
        device: [
            (name, start, dur, next((text.replace(a, b) for a, b in own.items() if a in text), text))
            for name, start, dur, text in ran
        ]
        for device, ran in ROWS.items()
    }
    path = tmp_path / "run_meta.pb"
    path.write_bytes(recorded(rows, again=True).SerializeToString())
    with trace.open(str(path), cache=False) as found:
        result = found.ask(library.entry("cpu_ops_in_device_step"))
        first = dict(zip(result.columns, result.rows()[0], strict=True))
    assert (first["op_type"], first["copies"], first["copies_ps"]) == ("SparseToDense", 2, 200 * 10**6)
    assert first["with_copies"] == ", 2 copies between it and the accelerator"


@pytest.mark.parametrize("again", [False, True], ids=["one stream", "all streams again"])
def test_copies_are_counted_for_the_op_that_forces_them(again: bool, tmp_path: Path) -> None:
    path = tmp_path / "run_meta.pb"
    path.write_bytes(recorded(ROWS, again=again).SerializeToString())
    with trace.open(str(path), cache=False) as found:
        ways = found.query(
            "SELECT a.name, c.name, b.name FROM flow AS s"
            " INNER JOIN flow AS m ON m.flow_id = s.flow_id AND m.phase = 'step'"
            " INNER JOIN flow AS e ON e.flow_id = s.flow_id AND e.phase = 'end'"
            " INNER JOIN slice AS a ON a.id = s.slice_id INNER JOIN slice AS b ON b.id = e.slice_id"
            " INNER JOIN slice AS c ON c.id = m.slice_id WHERE s.phase = 'start' ORDER BY ALL"
        ).rows()
        result = found.ask(library.entry("cpu_ops_in_device_step"))
        rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows()]
    assert ways == [
        ("dense", "edge_4_dense:MEMCPYHtoD", "matmul"),
        ("ids", "edge_3_ids:MEMCPYDtoH", "dense"),
        ("ids", "edge_3_ids:MEMCPYDtoH", "other"),
        ("matmul", "edge_6_matmul:MEMCPYDtoH", "far"),
    ]
    (row, *others) = rows
    assert (row["op_type"], row["runs"], row["copies"]) == ("SparseToDense", 1, 2)
    assert (row["host_ps"], row["copies_ps"], row["impact_ps"]) == (100 * 10**6, 200 * 10**6, 300 * 10**6)
    # Shape takes the copy that SparseToDense takes as well, and one of its own.
    assert [(one["op_type"], one["copies"], one["copies_ps"]) for one in others] == [
        ("Shape", 2, (70 + 9) * 10**6)
    ]
