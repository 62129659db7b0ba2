"""Asks TraceLens about a trace: `tracelens_answer.py OUT PATH`."""

import json
import sys
from pathlib import Path

from TraceLens import JaxTreePerfAnalyzer, TreePerfAnalyzer

LIMITS = {
    "computation_time": "compute",
    "exposed_comm_time": "communication",
    "exposed_memcpy_time": "copy",
    "idle_time": "idle",
}


def main(out: str, path: str) -> None:
    """Writes the answer as JSON."""
    jax = path.endswith(".pb")
    asked = (
        JaxTreePerfAnalyzer.from_file(path)
        if jax
        else TreePerfAnalyzer.from_file(path, include_unlinked_kernels=True)
    )
    timeline = asked.get_df_gpu_timeline()
    took = {row["type"]: float(row["time ms"]) for _, row in timeline.iterrows()}
    shares = {LIMITS[name]: ms for name, ms in took.items() if name in LIMITS}
    answer = {
        "limit": max(shares, key=shares.get),
        "busy_ms": {"gpu": took["busy_time"]},
        "ops": longest(asked, jax),
        "said": ", ".join(f"{name} {ms:.3f} ms" for name, ms in took.items()),
    }
    Path(out).write_text(json.dumps(answer))


def longest(asked, jax):
    """The kernels that take longest, from its table of kernels; ops that launch them where it has none."""
    if jax:
        launchers = asked.get_df_kernel_launchers()
        sums = launchers.groupby("name")["total_direct_kernel_time"].sum()
    else:
        try:
            table = asked.get_df_kernels()
            sums = table.groupby("Kernel name")["Kernel duration (µs)"].sum()
        except ValueError:
            launchers = asked.get_df_kernel_launchers()
            sums = launchers.groupby("name")["total_direct_kernel_time"].sum()
    return [str(name) for name in sums.sort_values(ascending=False).index[:3]]


if __name__ == "__main__":
    main(*sys.argv[1:])
