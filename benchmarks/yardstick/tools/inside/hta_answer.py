"""Asks HolisticTraceAnalysis about a trace: `hta_answer.py OUT PATH`."""

import gzip
import json
import os
import shutil
import sys
from pathlib import Path

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"  # It reads this once; otherwise times are whole microseconds.

from hta.trace_analysis import TraceAnalysis

KINDS = {"COMMUNICATION": "communication", "MEMORY": "copy"}


def main(out: str, path: str) -> None:
    """Writes the answer as JSON. HTA wants a name that ends in .json.gz."""
    packed = Path("trace") / "rank_0.json.gz"
    packed.parent.mkdir()
    if path.endswith(".gz"):
        shutil.copy(path, packed)
    else:
        packed.write_bytes(gzip.compress(Path(path).read_bytes()))
    # It leaves out the last step otherwise.
    asked = TraceAnalysis(trace_files={0: str(packed.resolve())}, include_last_profiler_step=True)
    times = asked.get_temporal_breakdown(visualize=False).iloc[0]
    kinds, kernels = asked.get_gpu_kernel_breakdown(visualize=False, num_kernels=10)
    sums = {row["kernel_type"]: row["sum"] for _, row in kinds.iterrows()}
    moving = {name: sums[kind] for kind, name in KINDS.items() if kind in sums}
    other = max(moving, key=moving.get) if moving else "copy"
    shares = {
        "compute": times["compute_time(us)"],
        "idle": times["idle_time(us)"],
        other: times["non_compute_time(us)"],
    }
    longest = kernels.sort_values("sum (us)", ascending=False)
    longest = longest[(longest["name"] != "others") & (longest["kernel_type"] != "MEMORY")]
    answer = {
        "limit": max(shares, key=shares.get),
        "busy_ms": {"rank 0": float(times["kernel_time(us)"] - times["idle_time(us)"]) / 1e3},
        "ops": [str(name) for name in longest["name"][:3]],
        "said": ", ".join(
            f"{name} {times[f'{name}_time_pctg']} %" for name in ("compute", "idle", "non_compute")
        ),
    }
    Path(out).write_text(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
