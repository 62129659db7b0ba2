"""Measures what the device does in a second, with whatever is installed; run as a file, in a process."""

import json
import time
from collections.abc import Callable

_SECONDS = 1.0
_FEWEST = 5

Measured = tuple[float, float, str, str]
"""Flops and bytes of a second, device and library."""


def _least(work: Callable[[], object]) -> float:
    """Seconds of the fastest of some runs."""
    work()
    taken: list[float] = []
    until = time.perf_counter() + _SECONDS
    while len(taken) < _FEWEST or time.perf_counter() < until:
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


def _measure_jax() -> Measured:
    import jax
    import jax.numpy as jnp

    device = jax.devices()[0]
    side, length = (1024, 1 << 25) if device.platform == "cpu" else (8192, 1 << 28)
    square, line = jnp.ones((side, side), jnp.float32), jnp.ones((length,), jnp.float32)
    product = jax.jit(lambda a: a @ a)
    # In place: memory that was never touched before would be measured with the work of the kernel.
    add = jax.jit(lambda a: a + 1, donate_argnums=0)

    def passed() -> None:
        nonlocal line
        line = add(line)
        line.block_until_ready()

    flops = 2.0 * side**3 / _least(lambda: product(square).block_until_ready())
    moved = 8.0 * length / _least(passed)
    name = " ".join(dict.fromkeys((device.platform, device.device_kind)))
    return flops, moved, name, f"jax {jax.__version__}"


def _measure_numpy() -> Measured:
    import numpy as np

    side, length = 1024, 1 << 25
    square, line = np.ones((side, side), np.float32), np.ones(length, np.float32)
    flops = 2.0 * side**3 / _least(lambda: np.matmul(square, square))
    moved = 8.0 * length / _least(lambda: np.add(line, 1, out=line))
    return flops, moved, "cpu", f"NumPy {np.__version__}"


def main() -> None:
    """Prints what was measured as JSON; nothing where there is nothing to measure with."""
    for measure in (_measure_jax, _measure_numpy):
        try:
            flops, moved, device, library = measure()
        except ImportError:
            continue
        print(json.dumps({"flops": flops, "bytes": moved, "device": device, "library": library}))
        return


if __name__ == "__main__":
    main()
