"""Signals while a program runs under the launcher: it gets them as if the launcher were not there."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set

_ENDING = (
    "SIGHUP", "SIGINT", "SIGQUIT", "SIGABRT", "SIGALRM", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGVTALRM",
    "SIGPROF", "SIGXCPU", "SIGIO", "SIGPWR", "SIGSTKFLT",
)  # fmt: skip
"""Signals that would end the launcher but not the program."""
_KEYS = ("SIGINT", "SIGQUIT")
"""Signals that a terminal sends to all foreground processes, the program included."""
_OF_PYTHON = ("SIGPIPE", "SIGXFSZ")
"""Signals that Python ignores from its start on."""


class Passing:
    """While it lasts, signals to this process go to its program and do not end the launcher, not even after
    the program has ended. What was ignored before stays ignored, for the program as well."""

    def __init__(self) -> None:
        self._child: Optional[subprocess.Popen[bytes]] = None
        self._early: List[int] = []
        self._before: Dict[int, Any] = {}

    def __enter__(self) -> "Passing":
        with contextlib.suppress(ValueError):  # not the main thread: the caller handles signals
            for number in _known(_ENDING):
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._pass)
        return self

    def __exit__(self, *error: object) -> None:
        while self._before:
            signal.signal(*self._before.popitem())

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        """Starts the program. It inherits the descriptors and the ignored signals that the launcher was
        started with. OSError when it cannot be started."""
        self._child = _start(command, environment)
        for number in self._early:
            self._send(number)
        return self._child

    def _pass(self, number: int, frame: Any) -> None:
        if number in _known(_KEYS) and _is_foreground():
            return
        if self._child is None:
            self._early.append(number)
        else:
            self._send(number)

    def _send(self, number: int) -> None:
        assert self._child is not None
        with contextlib.suppress(OSError):  # it has ended, or is another user's by now
            self._child.send_signal(number)


def _start(command: Sequence[str], environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    ignored = _ignored_by_parent()
    before: Dict[int, Any] = {}
    try:
        try:
            for number in _known(_OF_PYTHON):
                wanted = signal.SIG_IGN if number in ignored else signal.SIG_DFL
                before[number] = signal.signal(number, wanted)
        except ValueError:  # not the main thread: subprocess puts the default back
            return subprocess.Popen(list(command), env=environment, close_fds=False)
        # Descriptors that Python opened are not inherited; those that the shell passed on are.
        return subprocess.Popen(list(command), env=environment, close_fds=False, restore_signals=False)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ignored_by_parent() -> Set[int]:
    """Which of SIGPIPE and SIGXFSZ were ignored before Python ignored them.

    Python keeps no record, so the parent has to tell: a shell under `trap '' PIPE` ignores that one. A parent
    that ignores both is most likely Python itself, which restores the defaults for what it starts. A program
    that became the launcher, as in `env --ignore-signal=PIPE stepscope record …`, leaves nobody to ask: such
    a command belongs behind the --.
    """
    try:
        text = Path(f"/proc/{os.getppid()}/status").read_text(encoding="ascii", errors="replace")
        mask = int(text.partition("SigIgn:")[2].split(None, 1)[0], 16)
    except (OSError, ValueError, IndexError):  # another system, or a parent that is hidden or gone
        return set()
    found = {number for number in _known(_OF_PYTHON) if mask >> (number - 1) & 1}
    return set() if len(found) == len(_OF_PYTHON) else found


def _is_foreground() -> bool:
    """True when a terminal has this process, and so the program, in its foreground."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | getattr(os, "O_NOCTTY", 0))
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _known(names: Sequence[str]) -> List[int]:
    return [getattr(signal, name) for name in names if hasattr(signal, name)]
