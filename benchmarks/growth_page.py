"""What every route of the page costs for a recording: a JSON line before and after each question.

    python benchmarks/growth_page.py RECORDING LIMIT_SECONDS [FIRST]

Started by growth.py. The limit is processor time of one question; beyond it the system ends the process, and
growth.py starts it again with the question after that one as FIRST. Routes are those of `app.API`.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.server.asking import Answer, Served

from stepscope import library
from stepscope.server import app
from stepscope.server.access import SESSION

TOP = "SELECT name, count(*) AS n, sum(dur_ps) AS ps FROM slice GROUP BY name ORDER BY ps DESC"
PX = 1600


class Asked:
    """What questions are about: found out before, and not measured."""

    def __init__(self, page: Served) -> None:
        catalog = page.get("/api/catalog").json
        first, last = catalog["start_ps"] or 0, catalog["end_ps"] or 1
        third = (last - first) // 3
        self.span = f"from={first + third}&to={max(first + 2 * third, first + third + 1)}"
        self.tracks = ",".join(str(one["track"]) for one in catalog["tracks"]) or "0"
        found = page.sql("SELECT id FROM slice ORDER BY dur_ps DESC LIMIT 1").json["rows"]
        self.slice = str(found[0][0]) if found else "0"
        graphs = page.get("/api/graphs").json
        self.has_graph = bool(graphs.get("graphs"))


def questions(asked: Asked) -> Iterator[tuple[str, Callable[[Served], Answer]]]:
    """Every route with what it is asked. KeyError for a route that is not known here: say what to ask it."""
    posts: dict[str, Any] = {
        "/api/graph": {"graph": 0, "open": [], "fold": True, "flat": False},
        "/api/pipeline/whatif": {"pipeline": 0, "cores": None, "prefetch": False, "stages": []},
        "/api/model": {"view": "scope", "options": {}},
        "/api/export": {},
        "/api/sql": {"sql": TOP},
        "/api/sql/download": {"sql": TOP, "form": "csv"},
    }
    words = {
        "/api/graph/search": "graph=0&q=a",
        "/api/graph/way": "graph=0&from=a&to=b",
        "/api/compare": "a=0&b=0",
        "/api/timeline": f"{asked.span}&px={PX}&tracks={asked.tracks}",
        "/api/search": "q=e&limit=100",
        "/api/range": f"{asked.span}&tracks={asked.tracks}",
        "/api/range/parts": asked.span,
        "/api/counters": f"{asked.span}&px={PX}",
    }
    for method, path, _ in app.API:
        if path in (SESSION, "/api/reload", "/api/add"):
            continue  # they say who asks, and open everything again, which catalog measures
        if path == "/api/analysis/{id}":
            for name in (*library.names("analysis"), *library.names("finding")):
                if not name.startswith("_"):
                    yield f"analysis {name}", _get(f"/api/analysis/{name}")
        elif method == "POST":
            yield path.removeprefix("/api/"), _post(path, posts[path])
        else:
            target = path.replace("{id}", asked.slice)
            yield path.removeprefix("/api/"), _get(f"{target}?{words[path]}" if path in words else target)


def _get(target: str) -> Callable[[Served], Answer]:
    return lambda page: page.get(target)


def _post(target: str, value: Any) -> Callable[[Served], Answer]:
    return lambda page: page.post(target, value)


def main() -> int:
    """Opens the recording and asks."""
    recording, limit, first = sys.argv[1], float(sys.argv[2]), int((*sys.argv[3:], "0")[0])
    page = Served(recording, seconds=limit)
    asked = Asked(page)
    for number, (name, ask) in enumerate(questions(asked)):
        if number < first:
            continue
        tell(number=number, name=name)
        begun = processor_s()
        resource.setrlimit(resource.RLIMIT_CPU, (int(begun + limit) + 1, resource.RLIM_INFINITY))
        clock = time.perf_counter()
        try:
            answer = ask(page)
        except TimeoutError:
            break  # the client's patience; taken as one that took too long
        tell(
            number=number,
            name=name,
            status=answer.status,
            processor_s=processor_s() - begun,
            wall_s=time.perf_counter() - clock,
            bytes=len(answer.body),
        )
    else:
        tell(done=True)
    page.close()
    return 0


def processor_s() -> float:
    """Of this process and, where the system tells, of the consoles that run its SQL."""
    total = time.process_time()
    for children in Path("/proc/self/task").glob("*/children"):
        for child in children.read_text().split():
            with contextlib.suppress(OSError):  # it has just ended
                told = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                total += (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")
    return total


def tell(**what: Any) -> None:
    """One line."""
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    sys.exit(main())
