"""What threads do, in sentences: drawn threads with the frames that py-spy and gdb give."""

import pytest

from stepscope.attach import Seen
from stepscope.attach.kernel import Task
from stepscope.attach.py_spy import read
from stepscope.attach.tools import StackFrame
from stepscope.report.stack_answer import doing_of, sampled_sentences, sentences

LOAD = StackFrame("python", "load", "/home/me/train.py", 12)
MAIN = StackFrame("python", "<module>", "/home/me/train.py", 30)
WAIT = StackFrame("python", "wait", "/usr/lib/python3.11/threading.py", 320)
FUTEX = StackFrame("native", "__futex_abstimed_wait_common", module="libc.so.6")
DOT = StackFrame("native", "dgemm_kernel_HASWELL", module="/x/numpy.libs/libopenblas.so")
NUMPY = StackFrame("python", "solve", "/v/lib/python3.11/site-packages/numpy/linalg/_linalg.py", 409)
SESSION = StackFrame("python", "run", "/v/lib/python3.11/site-packages/tensorflow/session.py", 968)
NOTIFIED = StackFrame("native", "absl::Notification::WaitForNotification", module="libtensorflow.so")


@pytest.mark.parametrize(
    ("state", "waits_in", "frames", "does", "inside"),
    [
        ("running", None, [LOAD, MAIN], "runs", ""),
        (
            "running",
            None,
            [DOT, NUMPY, LOAD],
            "runs",
            "`solve` (numpy/linalg/_linalg.py) and `dgemm_kernel_HASWELL` (libopenblas.so)",
        ),
        ("sleeping", None, [FUTEX, WAIT, LOAD], "waits for a lock", None),
        ("sleeping", None, [WAIT, LOAD], "waits for a lock", None),
        ("sleeping", "futex_wait_queue", [LOAD], "waits for a lock", ""),
        (
            "sleeping",
            "futex_wait_queue",
            [FUTEX, NOTIFIED, SESSION, LOAD],
            "waits for work of a device or of other threads",
            None,
        ),
        ("sleeping", "futex_wait_queue", [FUTEX, StackFrame("native", "take_gil"), LOAD], None, None),
        ("sleeping", "hrtimer_nanosleep", [LOAD], "sleeps", ""),
        ("sleeping", None, [StackFrame("native", "clock_nanosleep@@GLIBC_2.17"), LOAD], "sleeps", None),
        ("sleeping", "a_function_of_tomorrow", [LOAD], "waits", ""),
        ("stopped", None, [LOAD], "is stopped", ""),
    ],
)
def test_what_a_thread_does(
    state: str, waits_in: str | None, frames: list[StackFrame], does: str | None, inside: str | None
) -> None:
    found = doing_of(Task(1, "python", state, waits_in), frames, "/home/me")
    assert found.does == (does or "waits for Python's own lock (the GIL)")
    assert found.at == "train.py:12 `load`"
    assert inside is None or found.inside == inside


def test_the_main_thread_comes_first_and_the_others_are_counted() -> None:
    pool = [(Task(30 + k, "tf_Compute", "sleeping", "futex_wait_queue"), [FUTEX], "gdb") for k in range(3)]
    seen = Seen(
        [
            (Task(20, "loader", "running", None), [LOAD], "py-spy"),
            *pool,
            (Task(10, "python", "sleeping", "futex_wait_queue"), [FUTEX, WAIT, MAIN], "py-spy"),
        ]
    )
    assert list(sentences(seen, "process 10", "/home/me")) == [
        "Process 10: 1 of 5 threads runs.",
        "The main thread waits for a lock in train.py:30 `<module>`, inside `wait` (threading.py) and "
        "`__futex_abstimed_wait_common` (libc.so.6).",
        "Thread 20 loader runs in train.py:12 `load`.",
        "Of the other threads 3 wait for a lock.",
    ]


def test_nothing_is_said_of_what_no_tool_read() -> None:
    assert list(sentences(Seen([(Task(1, "a", "sleeping", None), [], "kernel")]), "process 1", None)) == []


def test_samples_by_line_of_the_program() -> None:
    frames = [
        {"name": "main", "file": "/home/me/train.py", "line": 30},
        {"name": "load", "file": "/home/me/train.py", "line": 12},
        {"name": "wait", "file": "/usr/lib/python3.11/threading.py", "line": 320},
    ]
    profiles = [
        {"name": 'Thread 1 "MainThread"', "samples": [[0, 1], [0, 1], [0, 1, 2], [0]]},
        {"name": 'Thread 2 "pool"', "samples": [[2], [2]]},
    ]
    shared = {"shared": {"frames": frames}, "profiles": profiles}
    found = read(shared, 0, 100, "/home/me", native=False)
    assert list(sampled_sentences(found)) == [
        "MainThread: 75.0 % in train.py:12 `load`, 25.0 % in train.py:30 `main`."
    ]
