"""Runs commands one after another and prints what each took: `python tests/parts.py NAME=COMMAND ...`.

Stops at the first that fails, with its exit code. Needs nothing but Python, so that it can measure
installing, too.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time


def _children_s() -> float:
    """Processor time of the processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(parts: list[str]) -> int:
    """Runs NAME=COMMAND each; exit code of the first that fails, else 0."""
    taken = []
    code = 0
    for part in parts:
        name, _, command = part.partition("=")
        begun_s, used_s = time.monotonic(), _children_s()
        code = subprocess.run(command, shell=True, check=False).returncode
        taken.append((name, time.monotonic() - begun_s, _children_s() - used_s))
        if code:
            break
    print(f"\n{'part':<12}{'wall':>8}{'processor':>12}")
    for name, wall_s, processor_s in [*taken, ("all", sum(t[1] for t in taken), sum(t[2] for t in taken))]:
        print(f"{name:<12}{wall_s:>6.0f} s{processor_s:>10.0f} s")
    if code:
        print(f"failed: {taken[-1][0]}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
