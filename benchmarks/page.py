"""The page of `stepscope serve` in headless Chromium, and its server under load, for a recording of any size.

    python benchmarks/page.py [--events N | --lake DIR] [--viewers N] [--busy N]

Measured are: the time from the start of the command to the first cells on the screen, for a raw file (beside
an ingest of it) and again when what was read is kept; how long after everything is open they come, in a
browser that runs; the same for a reload; frames per second while panning, and what each
costs; the browser's heap; a range and its parts when asked first and again; and the answers of /api/timeline
for many viewers with five requests a second each, on windows of all sizes. With --busy, they are asked
again while a file of N events is ingested beside them and four statements at a time read all slices. Client
and server share the machine: on a busy one, times are upper bounds.

--lake serves a lake that is there. To make one of 100 million events:

    for i in 0 1 2 3 4 5 6 7 8 9; do
      python benchmarks/generate_xspace.py big/host=$i/h.xplane.pb --events 10000000 --seed $i
    done
    stepscope ingest big --lake LAKE --run big

The results are `page-DATE.json`, and `page-lake-DATE.json` with --lake.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import itertools
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from tests.presenters.browser import Browser  # noqa: E402  the tests' browser, found beside this folder

from kept import machine, write  # noqa: E402

RATE = 5
"""Requests a second of each viewer."""
SECONDS = 10
SCREEN = (1600, 900)
PATIENCE = 300
"""Seconds until a page without cells counts as broken."""

DRAWN = """(() => {
  const canvas = document.querySelector('.tl-area canvas');
  if (!canvas || !canvas.width || !canvas.height) return 0;
  const data = canvas.getContext('2d').getImageData(0, 60, canvas.width, canvas.height - 60).data;
  return new Set(new Uint32Array(data.buffer)).size > 6 ? performance.now() : 0;
})()"""
"""Milliseconds since the page was opened, once there are more colours than an empty timeline has."""

WHEEL = """(() => {
  const canvas = document.querySelector('.tl-area canvas'), box = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new WheelEvent('wheel', { clientX: box.left + box.width / 2, clientY: box.top + 120,
    %s, bubbles: true, cancelable: true }));
})()"""

PAN = """new Promise(done => {
  const canvas = document.querySelector('.tl-area canvas'), box = canvas.getBoundingClientRect(), times = [];
  const frame = now => {
    times.push(now);
    if (now - times[0] > %d) return done(times);
    const by = Math.floor((now - times[0]) / 2500) %% 2 ? -14 : 14;
    canvas.dispatchEvent(new WheelEvent('wheel', { clientX: box.left + 400, clientY: box.top + 120,
      deltaX: by, shiftKey: true, bubbles: true, cancelable: true }));
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})"""


class Serving(NamedTuple):
    """A running `stepscope serve`."""

    url: str
    begun: float
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(re.findall(r":(\d+)/", self.url)[0])

    def cookie(self) -> str:
        """Who asks: exchanged for the token."""
        headers = {"Origin": f"http://127.0.0.1:{self.port}", "X-Stepscope": "1"}
        headers["Content-Type"] = "application/json"
        token = json.dumps({"token": self.url.partition("#t=")[2]})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("POST", "/api/session", token, headers)
        return str(connection.getresponse().headers["Set-Cookie"]).partition(";")[0]

    def ask(self, path: str, cookie: str) -> tuple[float, Any]:
        """Milliseconds that an answer takes, and the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        begin = time.perf_counter()
        connection.request("GET", path, headers={"Cookie": cookie})
        reply = connection.getresponse()
        body = reply.read()
        if reply.status != 200:
            raise RuntimeError(f"{path}: {reply.status} {body[:300]!r}")
        return (time.perf_counter() - begin) * 1e3, json.loads(body)

    def wait_until_open(self) -> float:
        """Seconds from the start of the command until everything is open, which the catalogue tells."""
        self.ask("/api/catalog", self.cookie())
        return round(time.perf_counter() - self.begun, 2)

    def peak_mb(self) -> float:
        """The most memory that the server has had."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1e3

    def processor_seconds(self) -> float:
        """What the server has computed so far."""
        told = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def serving(recording: Path, cache: Path) -> Iterator[Serving]:
    """The command, until it is no longer needed."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "stepscope", "serve", str(recording), "--no-open"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "STEPSCOPE_CACHE_DIR": str(cache)},
    )
    try:
        assert process.stdout is not None
        yield Serving(process.stdout.readline().strip(), begun, process)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def main() -> int:
    """Measures, prints figures as they come, writes JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--lake", type=Path, help="serve this lake and generate nothing")
    parser.add_argument("--busy", type=int, metavar="N", help="ingest so many events beside the viewers")
    parser.add_argument("--viewers", type=int, default=16)
    options = parser.parse_args()
    told: dict[str, Any] = {"machine": machine()}
    with tempfile.TemporaryDirectory(prefix="stepscope-page-") as folder:
        recording, cache = Path(folder, "recording.xplane.pb"), Path(folder, "cache")
        if options.lake:
            recording = options.lake
            told |= {"sources": len(list((recording / "_manifest").glob("[0-9]*.json")))}
        else:
            generate(recording, options.events)
            told |= {"events": options.events, "ingest_s": ingested(recording, Path(folder, "read"))}
            with serving(recording, cache) as server:
                told |= read_first(server)
        with serving(recording, cache) as server:
            told |= kept(server)
            told |= ranges(server)
            told |= asyncio.run(under_load(server, options.viewers))
            if options.busy:
                told |= busy(server, options.viewers, options.busy, Path(folder))
            told["server_peak_mb"] = round(server.peak_mb())
    told["load_after"] = round(os.getloadavg()[0], 2)
    print(json.dumps(told, indent=1))
    write("page-lake" if options.lake else "page", told)
    return 0


def generate(path: Path, events: int, seed: int = 0) -> None:
    """Writes a recording."""
    program = [sys.executable, str(HERE / "generate_xspace.py"), str(path)]
    words = ["--events", str(events), "--seed", str(seed)]
    subprocess.run([*program, *words], check=True, stdout=subprocess.DEVNULL)


def ingested(recording: Path, lake: Path) -> float:
    """Seconds that a first ingest into a lake takes, commands and all."""
    words = ["ingest", str(recording), "--lake", str(lake)]
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "stepscope", *words], check=True, capture_output=True)
    return round(time.perf_counter() - begun, 2)


def read_first(server: Serving) -> dict[str, float]:
    """A raw file: from the command to the first cells."""
    with Browser() as browser:
        cells_after(browser, server.url)
        return {"raw_file_to_cells_s": round(time.perf_counter() - server.begun, 2)}


def kept(server: Serving) -> dict[str, float]:
    """What was read is kept: from the command to the first cells, a reload, panning, and the heap."""
    with Browser() as browser:
        browser._call("Performance.enable", timeDomain="threadTicks")
        told = {"kept_to_open_s": server.wait_until_open()}
        begun = time.perf_counter()
        cells_after(browser, server.url)
        told["open_to_cells_s"] = round(time.perf_counter() - begun, 2)
        told["kept_to_cells_s"] = round(time.perf_counter() - server.begun, 2)
        address = server.url.partition("#")[0]
        reloads = [cells_after(browser, f"{address}?{number}#timeline") for number in range(3)]
        told["reload_to_cells_ms"] = round(statistics.median(reloads))
        for depth, zooms in (("wide", 2), ("near", 8)):
            for _ in range(zooms):
                browser.value(WHEEL % "deltaY: -120, ctrlKey: true")
            time.sleep(2)
            told |= {f"pan_{depth}_{name}": value for name, value in panned(browser).items()}
        usage = browser._call("Runtime.getHeapUsage")
        told["heap_mb"] = round((usage["usedSize"] + usage.get("backingStorageSize", 0)) / 1e6, 1)
        return told


def cells_after(browser: Browser, url: str) -> float:
    """Milliseconds from opening a page to the first cells of its timeline."""
    browser.open(url, width=SCREEN[0], height=SCREEN[1])
    browser.value("location.hash = 'timeline'")
    end = time.monotonic() + PATIENCE
    while not (found := browser.value(DRAWN)):
        if time.monotonic() > end:
            raise RuntimeError(f"no cells: {browser.value('document.body.innerText')[:300]!r}")
        time.sleep(0.02)
    return float(found)


def panned(browser: Browser) -> dict[str, float]:
    """Frames a second: the median, and the fifth percentile of the slow end."""
    before = main_thread_ms(browser)
    times: list[float] = browser.value(PAN % 7500)
    computed = main_thread_ms(browser) - before
    rates = sorted(1e3 / (after - before) for before, after in itertools.pairwise(times))
    return {
        "median_fps": round(statistics.median(rates), 1),
        "p5_fps": round(rates[len(rates) // 20], 1),
        "mean_fps": round(1e3 * (len(times) - 1) / (times[-1] - times[0]), 1),
        "computed_ms_a_frame": round(computed / len(times), 2),
    }


def main_thread_ms(browser: Browser) -> float:
    """What the page's main thread has computed: other programs of a busy machine are not in it."""
    metrics = browser._call("Performance.getMetrics")["metrics"]
    return 1e3 * next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


def ranges(server: Serving) -> dict[str, float]:
    """A range of a tenth of the recording on all tracks: asked first, and again."""
    cookie = server.cookie()
    _, catalog = server.ask("/api/catalog", cookie)
    first, last = catalog["start_ps"], catalog["end_ps"]
    tenth = (last - first) // 10
    span = f"from={first + tenth}&to={first + 2 * tenth}"
    tracks = ",".join(str(track["track"]) for track in catalog["tracks"])
    told = {}
    for when in ("first", "again"):
        for name, path in (
            ("range", f"/api/range?{span}&tracks={tracks}"),
            ("parts", f"/api/range/parts?{span}"),
        ):
            told[f"{name}_{when}_ms"] = round(server.ask(path, cookie)[0], 1)
    return told


async def under_load(server: Serving, viewers: int) -> dict[str, Any]:
    """Milliseconds of answers of /api/timeline, timed from when a viewer wanted them."""
    cookie = server.cookie()
    _, catalog = server.ask("/api/catalog", cookie)
    before = server.processor_seconds()
    found = await asyncio.gather(*(viewer(server.port, cookie, catalog, seed) for seed in range(viewers)))
    times = sorted(one for of_viewer in found for one, _ in of_viewer)
    sizes = [size for of_viewer in found for _, size in of_viewer]
    return {
        "viewers": viewers,
        "requests": len(times),
        "timeline_p50_ms": round(at(times, 0.5), 1),
        "timeline_p99_ms": round(at(times, 0.99), 1),
        "timeline_most_ms": round(times[-1], 1),
        "timeline_mean_kb": round(statistics.mean(sizes) / 1e3),
        "processor_ms_a_request": round(1e3 * (server.processor_seconds() - before) / len(times), 2),
    }


HEAVY = (
    "SELECT name, COUNT(*) AS n, SUM(dur_ps) AS ps FROM slice GROUP BY name ORDER BY ps DESC",
    "SELECT track_id, MAX(dur_ps) AS ps FROM slice GROUP BY track_id",
    "SELECT COUNT(DISTINCT ts_ps) AS n FROM slice",
    "SELECT name, QUANTILE_CONT(dur_ps, 0.99) AS ps FROM slice GROUP BY name ORDER BY ps DESC",
)


def busy(server: Serving, viewers: int, events: int, folder: Path) -> dict[str, Any]:
    """The viewers once more, while a file is ingested and four statements are always being answered."""
    recording = Path(folder, "more.xplane.pb")
    generate(recording, events, seed=77)
    words = ["ingest", str(recording), "--lake", str(folder / "lake")]
    over = threading.Event()
    statuses: list[int] = []
    cookie = server.cookie()
    asking = [threading.Thread(target=answer_on, args=(server, cookie, sql, over, statuses)) for sql in HEAVY]
    # As the guide to the page advises.
    command = ["nice", sys.executable, "-m", "stepscope", *words]
    ingest = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    for one in asking:
        one.start()
    try:
        told = asyncio.run(under_load(server, viewers))
        still = ingest.poll() is None
    finally:
        over.set()
        code = ingest.wait()
        for one in asking:
            one.join()
    return {
        "busy_file_mb": round(recording.stat().st_size / 1e6),
        "busy_requests": told["requests"],
        "busy_timeline_p50_ms": told["timeline_p50_ms"],
        "busy_timeline_p99_ms": told["timeline_p99_ms"],
        "busy_timeline_most_ms": told["timeline_most_ms"],
        "busy_ingest_outlasted_the_viewers": still,
        "busy_ingest_exit_code": code,
        "busy_statements": {str(status): statuses.count(status) for status in sorted(set(statuses))},
    }


def answer_on(server: Serving, cookie: str, sql: str, over: threading.Event, statuses: list[int]) -> None:
    """Sends a statement again and again; 413 is one that took longer than it may."""
    headers = {"Origin": f"http://127.0.0.1:{server.port}", "X-Stepscope": "1", "Cookie": cookie}
    headers["Content-Type"] = "application/json"
    while not over.is_set():
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        connection.request("POST", "/api/sql", json.dumps({"sql": sql}), headers)
        reply = connection.getresponse()
        reply.read()
        statuses.append(reply.status)
        connection.close()


def at(ordered: Sequence[float], share: float) -> float:
    """The value that this share of the values does not exceed."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def on_screen(tracks: Sequence[dict[str, Any]], chance: random.Random) -> str:
    """Tracks that a screen shows from some track on: 16 pixels a lane, as the page draws them."""
    first, high, found = chance.randrange(len(tracks)), 0, []
    while high < SCREEN[1] and len(found) < len(tracks):
        track = tracks[(first + len(found)) % len(tracks)]
        found.append(str(track["track"]))
        high += 16 * track["depths"] + 4
    return ",".join(found)


async def viewer(port: int, cookie: str, catalog: dict[str, Any], seed: int) -> list[tuple[float, int]]:
    """One who looks at windows of all sizes. Milliseconds and bytes of each answer."""
    chance = random.Random(seed)
    first, last = catalog["start_ps"], catalog["end_ps"]
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    await asyncio.sleep(chance.random() / RATE)
    wanted = time.perf_counter()
    end, told = wanted + SECONDS, []
    while wanted < end:
        await asyncio.sleep(max(0.0, wanted - time.perf_counter()))
        width = max(1, int((last - first) / 10 ** chance.uniform(0, 4)))
        begin = first + int(chance.random() * (last - first - width))
        tracks = on_screen(catalog["tracks"], chance)
        path = f"/api/timeline?from={begin}&to={begin + width}&px={SCREEN[0]}&tracks={tracks}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200 "):
            raise RuntimeError(head.decode("latin-1"))
        size = int(re.findall(rb"(?i)content-length: (\d+)", head)[0])
        await reader.readexactly(size)
        told.append(((time.perf_counter() - wanted) * 1e3, size))
        wanted += 1 / RATE
    writer.close()
    return told


if __name__ == "__main__":
    sys.exit(main())
