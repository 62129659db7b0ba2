"""Clocks in whole nanoseconds.

Python 3.6 has them in seconds, in floating point: good to a quarter of a microsecond for Unix time, and to
nanoseconds for times since the start of a process.
"""

import time

if hasattr(time, "time_ns"):
    time_ns = time.time_ns
    monotonic_ns = time.monotonic_ns
    perf_counter_ns = time.perf_counter_ns
    process_time_ns = time.process_time_ns
    thread_time_ns = getattr(time, "thread_time_ns", time.process_time_ns)  # missing on some systems
else:

    def time_ns() -> int:
        """Nanoseconds of Unix time."""
        return int(time.time() * 1e9)

    def monotonic_ns() -> int:
        """Nanoseconds of a clock that is never set."""
        return int(time.monotonic() * 1e9)

    def perf_counter_ns() -> int:
        """Nanoseconds of the finest clock."""
        return int(time.perf_counter() * 1e9)

    def process_time_ns() -> int:
        """Processor time of this process in nanoseconds."""
        return int(time.process_time() * 1e9)

    def thread_time_ns() -> int:
        """Processor time of this thread in nanoseconds; of the process where the system has no such clock."""
        clock = getattr(time, "CLOCK_THREAD_CPUTIME_ID", None)
        return process_time_ns() if clock is None else int(time.clock_gettime(clock) * 1e9)


def clock_gettime_ns(clock: int) -> int:
    """Nanoseconds of one of the system's clocks. OSError when it is missing."""
    exact = getattr(time, "clock_gettime_ns", None)
    if exact is not None:
        return int(exact(clock))
    if not hasattr(time, "clock_gettime"):  # Windows
        raise OSError("this system has no clocks by number")
    return int(time.clock_gettime(clock) * 1e9)
