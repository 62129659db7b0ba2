"""A program whose steps are recorded and watched, without a framework: a step for each line that it is given.

python watched_program.py FOLDER
"""

import sys

from stepscope.capture import live, recording

MS = 10**6


def take_a_step() -> None:
    """Waits for the next line, until there is none."""
    if not sys.stdin.readline():
        raise EOFError


def main() -> None:
    live.WRITE_NS = 10 * MS  # a test waits for what is written
    watched = recording.record(sys.argv[1], warmup=1, steps=2, pieces=("stacks", "machine"))
    watched.plan.live = True
    with watched:
        number = 0
        while True:
            recording.step(number)
            print(number, flush=True)
            try:
                take_a_step()
            except EOFError:
                return
            number += 1


main()
