"""The end of a program during a recording: the recording is saved, and the program ends as it would."""

import atexit
import contextlib
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any, Callable, Dict, List, Optional

_SIGNALS = ("SIGTERM", "SIGHUP")


class Exits:
    """Calls `finish` before the process ends: at the end of the interpreter, on a signal that would end it at
    once, and at os._exit."""

    def __init__(self, finish: Callable[..., None]) -> None:
        self._end = finish
        self._pid = os.getpid()
        self._handled: List[int] = []
        self._exit: Any = None
        self._guarding = False

    def guard(self) -> None:
        """Starts watching. Signals that the program handles or ignores are left alone."""
        if self._guarding:
            return
        self._guarding = True
        # After the framework's own, so that it runs before them.
        atexit.register(self._finish)
        if threading.current_thread() is threading.main_thread():
            for name in _SIGNALS:
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                    signal.signal(number, self._on_signal)
                    self._handled.append(number)
        self._exit = os._exit
        os._exit = self._watched_exit  # type: ignore[assignment]

    def release(self) -> None:
        """Restores everything."""
        if not self._guarding:
            return
        self._guarding = False
        atexit.unregister(self._finish)
        if os._exit == self._watched_exit:
            os._exit = self._exit
        # Only the main thread may; another leaves the handlers, which then pass the signal on.
        if threading.current_thread() is threading.main_thread():
            while self._handled:
                number = self._handled.pop()
                if signal.getsignal(number) == self._on_signal:
                    signal.signal(number, signal.SIG_DFL)

    def _finish(self, cut: str = "") -> None:
        # Whatever goes wrong with the recording, the program ends as it would.
        with contextlib.suppress(Exception):
            self._end(cut)

    def _on_signal(self, number: int, frame: Optional[FrameType]) -> None:
        self._finish(signal.Signals(number).name)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _watched_exit(self, status: int) -> None:
        if os.getpid() == self._pid:
            self._finish("os._exit")
        self._exit(status)


def uncaught() -> Optional[str]:
    """The exception that ends the program, as far as Python has noted it; None without one."""
    error: Optional[BaseException] = getattr(sys, "last_value", None)
    return f"{type(error).__name__}: {error}"[:2000] if error is not None else None


def hide_own_frames(is_ours: Callable[[str], bool]) -> None:
    """Removes the frames of wrappers from the traceback of an uncaught exception before it is printed."""
    original = sys.excepthook

    def excepthook(kind: Any, error: Any, traceback: Any) -> None:
        seen: Dict[int, bool] = {}
        _strip(error, is_ours, seen)
        if error is not None and getattr(error, "__traceback__", None) is not None:
            traceback = error.__traceback__
        original(kind, error, traceback)

    sys.excepthook = excepthook


def _strip(error: Optional[BaseException], is_ours: Callable[[str], bool], seen: Dict[int, bool]) -> None:
    while error is not None and id(error) not in seen:
        seen[id(error)] = True
        links = []
        link = error.__traceback__
        while link is not None:
            links.append(link)
            link = link.tb_next
        kept = [link for link in links if not is_ours(link.tb_frame.f_code.co_filename)]
        if kept and len(kept) < len(links):
            for kept_link, after in zip(kept, [*kept[1:], None]):
                kept_link.tb_next = after
            error.__traceback__ = kept[0]
        _strip(error.__cause__, is_ours, seen)
        error = error.__context__
