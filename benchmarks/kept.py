"""The results that are kept: of each family the newest, as benchmarks/results/FAMILY-DATE.json.

A family is what one script measures: `rows` for run.py, `fleet`, `culprits`. docs/measured.md is made of them
(table.py). A result says on which machine it was measured, and names no folder of it (a test looks).
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
_DATE = len("-2026-11-20")
_WIDTH = 120


def families() -> dict[str, Path]:
    """The newest result of each family."""
    return {path.stem[:-_DATE]: path for path in sorted(RESULTS.glob("*.json"))}


def read(family: str) -> dict[str, Any]:
    """What was measured last; empty when nothing was."""
    path = families().get(family)
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path else {}


def write(family: str, found: Mapping[str, Any]) -> Path:
    """Keeps today's result of a family in place of earlier ones."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{family}-{today()}.json"
    path.write_text(_lines(found) + "\n", encoding="utf-8")
    for other in RESULTS.glob("*.json"):
        if other.stem[:-_DATE] == family and other != path:
            other.unlink()
    return path


def _lines(value: Any, indent: str = "\n ") -> str:
    """JSON in which what fits on a line stands on one."""
    text = json.dumps(value)
    if len(text) + len(indent) <= _WIDTH or not isinstance(value, (dict, list)):
        return text
    inner = value.values() if isinstance(value, dict) else value
    names = [f"{json.dumps(key)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    parts = [name + _lines(part, indent + " ") for name, part in zip(names, inner, strict=True)]
    left, right = "{}" if isinstance(value, dict) else "[]"
    return left + indent + f",{indent}".join(parts) + indent[:-1] + right


def add(family: str, part: str, name: str, found: Mapping[str, Any]) -> Path:
    """Keeps an entry of a part (`rows`, `programs`) with date and machine, beside those of earlier runs."""
    known = read(family)
    known.setdefault(part, {})[name] = {"date": today(), "machine": machine(), **found}
    return write(family, known)


def today() -> str:
    """The date of a result."""
    return datetime.now(timezone.utc).date().isoformat()


def machine() -> dict[str, Any]:
    """What the figures were measured on and with."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        cpu = names[0] if names else cpu
    versions = {}
    for name in ("stepscope", "duckdb", "viztracer", "tensorflow", "tensorflow-cpu"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "missing"
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
        "versions": versions,
    }
