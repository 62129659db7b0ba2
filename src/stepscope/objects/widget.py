"""A view of the page as a widget: `trace.view("timeline")`. Imported when asked for: it needs anywidget.

The frame asks what a page of `stepscope serve` asks, over the connection that the notebook has with its
kernel anyway. So it works where no port of the kernel's machine can be reached: JupyterHub, Colab, VS Code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from stepscope.presenters import frame
from stepscope.server.notebook_routes import Within

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

MOST_PATH, MOST_BODY = 1 << 16, 1 << 20
"""Characters of what a frame may ask."""


class View(anywidget.AnyWidget):  # type: ignore[misc]
    """A view in a notebook. close() ends what answers it."""

    _esm = Path(__file__).with_name("widget.js")
    title = traitlets.Unicode().tag(sync=True)
    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int().tag(sync=True)

    def __init__(
        self, open_trace: Callable[[], OpenTrace], title: str, view: str, height: int, *, twice: bool = True
    ) -> None:
        """open_trace: opens the recording again, in a thread; `twice` as `again` of Recording. view: the name
        of the one to begin with."""
        super().__init__(title=title, page=frame.render(view), height=height)
        self._answers = Within(open_trace, again=twice)
        self.on_msg(self._heard)

    def _heard(self, _: object, message: Any, buffers: object) -> None:
        """Answers a frame. What no frame of ours sends is passed over."""
        if not isinstance(message, dict):
            return
        id_, of, method, path = (message.get(key) for key in ("id", "of", "method", "path"))
        body = message.get("body") or ""
        if not isinstance(id_, int) or not isinstance(of, str) or method not in ("GET", "POST"):
            return
        if not isinstance(path, str) or not isinstance(body, str):
            return
        if len(path) > MOST_PATH or len(body) > MOST_BODY or not path.startswith("/api/"):
            return
        asked = self._answers.ask(str(method), path, body.encode("utf-8", "replace"))
        tell = partial(self._tell, id_, of)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # no kernel around: an application of its own
            tell(asked)
            return
        # Messages leave from the thread that the kernel works in.
        asked.add_done_callback(lambda done: loop.call_soon_threadsafe(tell, done))

    def _tell(self, id_: int, of: str, done: Future[tuple[int, bytes]]) -> None:
        status, content = done.result()
        self.send({"id": id_, "of": of, "status": status}, [content])

    def close(self) -> None:
        """Removes the widget, and stops what answers it."""
        super().close()
        self._answers.close()
