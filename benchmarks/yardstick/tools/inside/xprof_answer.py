"""Asks xprof about an XPlane: `xprof_answer.py OUT PATH`."""

import json
import shutil
import sys
from pathlib import Path

from xprof.convert import raw_to_tool_data

LIMITS = {
    "deviceComputeTimeMs": "compute",
    "deviceCollectivesTimeMs": "communication",
    "deviceToDeviceTimeMs": "copy",
    "hostComputeTimeMs": "idle",
    "kernelLaunchTimeMs": "idle",
    "infeedTimeMs": "idle",
    "outfeedTimeMs": "idle",
    "compileTimeMs": "idle",
    "otherTimeMs": "idle",
}
CAUSES = {
    "deviceComputeTimeMs": ["compute"],
    "deviceCollectivesTimeMs": ["communication"],
    "deviceToDeviceTimeMs": ["copy"],
    "hostComputeTimeMs": ["python", "compute"],
    "kernelLaunchTimeMs": ["dispatch"],
    "infeedTimeMs": ["input", "copy"],
    "outfeedTimeMs": ["copy"],
    "compileTimeMs": ["compile"],
    "otherTimeMs": ["python", "dispatch", "wait", "idle"],
}

TALKING = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "nccl")
"""Parts of names of ops that communicate."""


def main(out: str, path: str) -> None:
    """Writes the answer as JSON. xprof leaves files beside what it reads, so it gets a copy."""
    copy = Path("plugins/profile/asked/host.xplane.pb")
    copy.parent.mkdir(parents=True)
    shutil.copy(path, copy)
    answer = of_overview(tables(copy, "overview_page"))
    device, host = ops(copy, "Device"), ops(copy, "Host")
    working = [op for op in device if op["type"] != "IDLE"]
    answer["ops"] = [*kernels(copy), *(op["operation"] for op in working)][:3]
    if not answer.get("limit") and device:
        # Its overview tells nothing where it finds no steps. Its first op of the device does.
        answer["limit"] = answer["cause"] = limit(device[0])
        answer["said"] += f" First on the device is {device[0]['operation']}."
    elif not answer.get("cause") and host:
        first = next(op for op in host if op["type"] != "IDLE")
        answer["cause"] = "input" if first["type"] == "Dataset" else "compute"
        answer["said"] += f" First on the host is {first['type']} {first['operation']}."
        answer["ops"] = [f"{op['type']} {op['operation']}" for op in host if op["type"] != "IDLE"][:3]
    Path(out).write_text(json.dumps(answer))


def tables(path, tool):
    """What a tool of xprof shows: tables as JSON."""
    data, _ = raw_to_tool_data.xspace_to_tool_data([str(path)], tool, {})
    if not data:
        return []
    found = json.loads(data)
    return [table for table in (found if isinstance(found, list) else [found]) if "cols" in table]


def rows(table):
    """The rows of a table, as dictionaries by column."""
    names = [column["id"] for column in table["cols"]]
    cells = ([cell["v"] if cell else None for cell in row["c"]] for row in table.get("rows", ()))
    return [dict(zip(names, row, strict=False)) for row in cells]


def of_overview(found):
    """The largest part of a mean step, unless its statement calls the program input-bound."""
    properties, parts, steps = {}, {}, []
    for table in found:
        properties.update({key: value for key, value in (table.get("p") or {}).items() if value})
        if any(column["id"] == "stepTimeMs" for column in table["cols"]):
            steps = rows(table)
    statement = properties.get("statement") or properties.get("input_conclusion") or ""
    answer = {"said": statement}
    for row in steps:
        for name in LIMITS:
            if isinstance(row.get(name), (int, float)):
                parts[name] = parts.get(name, 0.0) + row[name]
    if not any(parts.values()):
        return answer
    step_ms = float(properties.get("steptime_ms_average") or 0)
    answer["step_ms"] = step_ms or None
    limits = {}
    for name, ms in parts.items():
        limits[LIMITS[name]] = limits.get(LIMITS[name], 0.0) + ms
    answer["limit"] = max(limits, key=limits.get)
    causes = CAUSES[max(parts, key=parts.get)]
    if "input-bound" in statement and "NOT input-bound" not in statement:
        causes = ["input"]
    answer["cause"], answer["or_causes"] = causes[0], causes[1:]
    return answer


def kernels(path):
    """Kernels of a GPU by their total time."""
    found = [row for table in tables(path, "kernel_stats") for row in rows(table)]
    found = [row for row in found if isinstance(row.get("total_duration_us"), (int, float))]
    return [row["kernel_name"] for row in sorted(found, key=lambda row: -row["total_duration_us"])]


def ops(path, where):
    """Ops of the device or of the host by their self time, with the time that none runs."""
    found = [row for table in tables(path, "framework_op_stats")[:1] for row in rows(table)]
    found = [row for row in found if row.get("host_or_device") == where and row["total_self_time"]]
    return sorted(found, key=lambda row: -row["total_self_time"])


def limit(op):
    """What an op of a device stands for."""
    name = f"{op['type']} {op['operation']}".lower()
    if op["type"] == "IDLE":
        return "idle"
    if any(word in name for word in TALKING):
        return "communication"
    return "copy" if "copy" in name or "memcpy" in name else "compute"


if __name__ == "__main__":
    main(*sys.argv[1:])
