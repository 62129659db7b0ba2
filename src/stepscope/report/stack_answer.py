"""What each thread of a process does, in sentences: in which line of the program, and what it waits for.

Both lists below name functions by which a thread waits, as the kernel, libc, Python and the frameworks call
them; a thread that the kernel lets sleep in another one waits, and for what is not said.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stepscope import units
from stepscope.attach import Seen, kernel
from stepscope.attach.py_spy import Sampled, place
from stepscope.attach.tools import StackFrame

_MOST = 5
"""Threads of which a sentence each is said."""
_MOST_LINES = 3
"""Lines of a thread that was sampled."""
_INNER = 6
"""Frames, the innermost first, in which a wait is looked for: what waits is called by little else."""
LOCK, SLEEP, DATA, CHILD, GIL, WORK = (
    "waits for a lock", "sleeps", "waits for data", "waits for another process",
    "waits for Python's own lock (the GIL)", "waits for work of a device or of other threads",
)  # fmt: skip
_IN_KERNEL: Mapping[str, str] = {
    "futex_wait_queue": LOCK, "futex_wait_queue_me": LOCK, "futex_wait": LOCK, "__futex_wait": LOCK,
    "hrtimer_nanosleep": SLEEP, "do_nanosleep": SLEEP, "do_wait": CHILD, "pipe_read": DATA,
    "pipe_wait_readable": DATA, "anon_pipe_read": DATA, "wait_woken": DATA, "ep_poll": DATA,
    "do_epoll_wait": DATA, "poll_schedule_timeout": DATA, "do_poll": DATA, "do_select": DATA,
    "unix_stream_read_generic": DATA, "inet_csk_accept": DATA, "n_tty_read": DATA,
}  # fmt: skip
"""Functions of the kernel in which threads wait, of several releases."""
_BY_NAME: Mapping[str, str] = {
    **dict.fromkeys(("take_gil", "PyEval_RestoreThread", "PyEval_AcquireThread"), GIL),
    **dict.fromkeys(("time.sleep", "time_sleep", "pysleep", "sleep", "usleep", "nanosleep"), SLEEP),
    **dict.fromkeys(("clock_nanosleep", "__clock_nanosleep", "clock_nanosleep_time64"), SLEEP),
    **dict.fromkeys(("WaitForNotification", "BlockUntilReady", "BlockHostUntilDone", "Await"), WORK),
    **dict.fromkeys(("cuStreamSynchronize", "cudaStreamSynchronize", "cuCtxSynchronize"), WORK),
    **dict.fromkeys(("cudaDeviceSynchronize", "cuEventSynchronize", "cudaEventSynchronize"), WORK),
    **dict.fromkeys(("block_until_ready", "synchronize"), WORK),
    **dict.fromkeys(("read", "__read", "__libc_read", "recv", "recvfrom", "accept", "accept4"), DATA),
    **dict.fromkeys(("poll", "__poll", "ppoll", "select", "__select", "epoll_wait", "pselect"), DATA),
    **dict.fromkeys(("wait4", "__wait4", "waitpid", "waitid", "__waitpid"), CHILD),
    **dict.fromkeys(("pthread_cond_wait", "pthread_cond_timedwait", "pthread_mutex_lock", "sem_wait"), LOCK),
    **dict.fromkeys(("__pthread_cond_wait", "sem_timedwait", "sem_clockwait", "__lll_lock_wait"), LOCK),
    **dict.fromkeys(("__futex_abstimed_wait_common", "__futex_abstimed_wait_cancelable64"), LOCK),
    **dict.fromkeys(("___pthread_mutex_lock", "___pthread_cond_wait", "do_futex_wait", "futex_wait"), LOCK),
    **dict.fromkeys(("__new_sem_wait_slow64", "PyThread_acquire_lock_timed", "lock.acquire"), LOCK),
    **dict.fromkeys(("lock_PyThread_acquire_lock", "rlock_acquire", "acquire", "Condition.wait"), LOCK),
}
"""Functions by which threads wait. Those of C++ are looked for by their last name."""
_THREADING = ("threading.py", "queue.py")
"""Files of Python's own whose functions wait for a lock when a thread that sleeps is in them."""


class ThreadDoing(NamedTuple):
    """What a thread does: runs, or how it waits. at: the innermost line of the program, with its function;
    inside: what that line has called; empty where nothing is known."""

    does: str
    at: str
    inside: str


def sentences(seen: Seen, what: str, folder: str | None) -> Iterator[str]:
    """What the threads do, the main one first. what: names the process; folder: in which it runs."""
    if not seen.has_stacks:
        return
    doing = [(task, doing_of(task, frames, folder)) for task, frames, _ in seen.threads]
    running = sum(task.state == "running" for task, _ in doing)
    every = units.count(len(doing), "thread")
    yield f"{what[:1].upper()}{what[1:]}: {running} of {every} {units.agree(running, 'runs', 'run')}."
    main = min(task.tid for task, _ in doing)
    known = [thread for thread in doing if thread[1].at or thread[0].tid == main]
    known.sort(key=lambda thread: (thread[0].tid != main, thread[1].does != "runs", thread[0].tid))
    for task, act in known[:_MOST]:
        name = "The main thread" if task.tid == main else f"Thread {task.tid} {task.name}"
        yield f"{name} {act.does}{act.at and f' in {act.at}'}{act.inside and f', inside {act.inside}'}."
    yield from _others([*known[_MOST:], *(thread for thread in doing if thread not in known)])


def _others(doing: Sequence[tuple[kernel.Task, ThreadDoing]]) -> Iterator[str]:
    """How many of the other threads do what."""
    rest = Counter(thread.does for _, thread in doing)
    if rest:
        ways = ", ".join(f"{many} {_plural(does, many)}" for does, many in rest.most_common())
        yield f"Of the other threads {ways}."


def _plural(does: str, many: int) -> str:
    """How several do it: run for runs, wait for a lock."""
    verb, _, rest = does.partition(" ")
    return does if many == 1 else f"{verb.removesuffix('s')}{rest and f' {rest}'}"


def doing_of(task: kernel.Task, frames: Sequence[StackFrame], folder: str | None) -> ThreadDoing:
    """What a thread does that has these frames, the innermost first."""
    innermost = next((k for k, frame in enumerate(frames) if _is_program(frame, folder)), None)
    at = ""
    if innermost is not None:
        frame = frames[innermost]
        shown = place(frame.file or "", folder)[1]
        at = f"{shown}{'' if frame.line is None else f':{frame.line}'} `{frame.function}`"
    return ThreadDoing(
        _does(task, frames), at, _callees(frames[:innermost] if innermost is not None else frames[:0])
    )


def _is_program(frame: StackFrame, folder: str | None) -> bool:
    return frame.kind == "python" and frame.file is not None and place(frame.file, folder)[0] == "program"


def _does(task: kernel.Task, frames: Sequence[StackFrame]) -> str:
    if task.state == "running":
        return "runs"
    if task.state not in ("sleeping", "waiting for a device"):
        return f"is {task.state}"
    inner = [_waits(frame) for frame in frames[:_INNER]]
    # A lock by which something else is waited for is not what the thread waits for.
    named = [way for way in inner if way] or [_IN_KERNEL.get(task.waits_in or "", "")]
    return next((way for way in named if way not in (LOCK, "")), named[0]) or "waits"


def _waits(frame: StackFrame) -> str:
    """How a frame waits; empty where it is not known to."""
    if frame.kind == "python" and os.path.basename(frame.file or "") in _THREADING:  # noqa: PTH119
        return LOCK
    name = frame.function.partition("(")[0].rpartition("::")[2].partition("@")[0].strip()
    return _BY_NAME.get(frame.function, _BY_NAME.get(name, ""))


def _callees(frames: Sequence[StackFrame]) -> str:
    """What a line of the program has called: the function of the library that it calls, and the innermost
    one of C that has a name."""
    words = []
    called = next((frame for frame in reversed(frames) if frame.kind == "python"), None)
    if called is not None:
        words.append(f"`{called.function}` ({place(called.file or '', None)[1]})")
    native = next((frame for frame in frames if frame.kind == "native" and _has_name(frame.function)), None)
    if native is not None:
        module = os.path.basename(native.module or "")  # noqa: PTH119 - a name that may hold anything
        words.append(f"`{native.function.partition('(')[0]}`{module and f' ({module})'}")
    return " and ".join(words)


def _has_name(function: str) -> bool:
    return bool(function) and not function.startswith(("0x", "?"))


def sampled_sentences(found: Sampled) -> Iterator[str]:
    """Where each thread was seen, by line of the program, the busiest first."""
    lines = _program_lines(found)
    shown = sorted(lines, key=lambda thread: (thread[0] != "MainThread", -sum(thread[1].values())))
    for name, seen, looks in shown[:_MOST]:
        parts = [f"{units.show(many / looks, 'ratio')} in {at}" for at, many in seen.most_common(_MOST_LINES)]
        yield f"{name or 'A thread without a name'}: {', '.join(parts)}."
    if len(shown) > _MOST:
        more = units.count(len(shown) - _MOST, "more thread")
        yield f"{more} with lines of the program in --format json."


def _program_lines(found: Sampled) -> list[tuple[str | None, Counter[str], int]]:
    """Of each thread with lines of the program: its name, looks by innermost line, and all looks at it."""
    frames: dict[int, str] = {}
    stacks: dict[int, tuple[int | None, int]] = {}
    names: dict[int, str | None] = {}
    seen: dict[int, Counter[str]] = {}
    looks: Counter[int] = Counter()
    places: dict[int, str] = {}
    for line in found.lines:
        if "function" in line:
            at = f"{line['file']}:{line['line']} `{line['function']}`"
            frames[line["frame"]] = at if line["code"] == "program" and line["line"] else ""
        elif "stack" in line:
            stacks[line["stack"]] = line["in"], line["frame"]
            frame_of_line = frames[line["frame"]]
            places[line["stack"]] = frame_of_line or ("" if line["in"] is None else places[line["in"]])
        elif "name" in line:
            names[line["thread"]] = line["name"]
        for thread, stack in line.get("on", ()):
            looks[thread] += 1
            if places[stack]:
                seen.setdefault(thread, Counter())[places[stack]] += 1
    return [(names.get(thread), counted, looks[thread]) for thread, counted in seen.items()]
