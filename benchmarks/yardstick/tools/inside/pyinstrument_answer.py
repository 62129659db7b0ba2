"""Asks pyinstrument about a program: `pyinstrument_answer.py OUT PROGRAM [ARGUMENT ...]`."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path


def main(out: str, program: str, *arguments: str) -> None:
    """Runs the program under pyinstrument and writes the answer as JSON."""
    session = Path("session.json")
    command = [sys.executable, "-m", "pyinstrument", "-r", "json", "-o", str(session), program, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    took = defaultdict(float)
    own(json.loads(session.read_text())["root_frame"], Path(program), None, took)
    places = sorted(took, key=took.get, reverse=True)
    answer = {
        "places": [{"file": program, "line": line, "function": name} for name, line in places[:3]],
        "said": ", ".join(f"{name} {took[name, line]:.2f} s" for name, line in places[:3]),
    }
    Path(out).write_text(json.dumps(answer))


def own(frame, program, within, took):
    """Adds the time of frames to the innermost function of the program that they run in; imports are left
    out, since no step has them."""
    if "importlib" in (frame["file_path"] or ""):
        return
    if Path(frame["file_path"] or "") == program or (frame["file_path"] or "").endswith(f"/{program.name}"):
        within = (frame["function"], frame["line_no"])
    below = 0.0
    for child in frame["children"]:
        below += child["time"]
        own(child, program, within, took)
    if within is not None:
        took[within] += max(0.0, frame["time"] - below)


if __name__ == "__main__":
    main(*sys.argv[1:])
