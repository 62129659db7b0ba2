"""Runs commands and prints what each took: `python tests/parts.py NAME=COMMAND ... --beside NAME=COMMAND`.

The commands before the first `--beside` run one after another. What follows each `--beside` runs one after
another, too, beside the others: on two cores a part that waits leaves its core to one that computes. What
such parts print is shown when each has ended, but for the last group, which is seen as it goes. The first
that fails ends its group and gives the exit code. Needs nothing but Python, so that it can measure
installing, too.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, NamedTuple

BESIDE = "--beside"


class Part(NamedTuple):
    """A command that has ended."""

    name: str
    wall_s: float
    processor_s: float
    code: int


def run(part: str, output: IO[bytes] | None) -> Part:
    """Runs NAME=COMMAND; what it prints goes to `output`, None for where this process prints."""
    name, _, command = part.partition("=")
    begun_s = time.monotonic()
    process = subprocess.Popen(
        command, shell=True, stdout=output, stderr=None if output is None else subprocess.STDOUT
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # known already: nothing waits for it again
    return Part(name, time.monotonic() - begun_s, used.ru_utime + used.ru_stime, process.returncode)


def run_group(parts: list[str], held: bool, ended: list[Part]) -> None:
    """Runs commands until one fails. held: what they print is shown when each has ended."""
    for part in parts:
        with tempfile.TemporaryFile() as printed:
            ended.append(run(part, printed if held else None))
            printed.seek(0)
            sys.stdout.buffer.write(printed.read())
            sys.stdout.flush()
        if ended[-1].code:
            return


def main(words: list[str]) -> int:
    """Runs all parts; exit code of the first that fails, else 0."""
    first, *groups = _split(words)
    begun_s, ended = time.monotonic(), list[Part]()
    run_group(first, False, ended)
    if not any(part.code for part in ended):
        beside = [
            threading.Thread(target=run_group, args=(group, group is not groups[-1], ended))
            for group in groups
        ]
        for thread in beside:
            thread.start()
        for thread in beside:
            thread.join()
    print(f"\n{'part':<12}{'wall':>8}{'processor':>12}")
    whole = Part("all", time.monotonic() - begun_s, sum(part.processor_s for part in ended), 0)
    for part in (*ended, whole):
        print(f"{part.name:<12}{part.wall_s:>6.0f} s{part.processor_s:>10.0f} s")
    failed = [part for part in ended if part.code]
    if failed:
        print(f"failed: {', '.join(part.name for part in failed)}")
    return failed[0].code if failed else 0


def _split(words: list[str]) -> list[list[str]]:
    """The parts before the first `--beside`, and those after each."""
    groups: list[list[str]] = [[]]
    for word in words:
        if word == BESIDE:
            groups.append([])
        else:
            groups[-1].append(word)
    return groups


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
