"""Switches of frameworks for debugging, which slow each step, as the program calls them."""

import contextlib
import os
import sys
from typing import Any, Callable, List

_SWITCHES = (
    ("torch.autograd.set_detect_anomaly", "torch", lambda torch: torch.is_anomaly_enabled()),
    ("CUDA_LAUNCH_BLOCKING", "torch", lambda _: os.environ.get("CUDA_LAUNCH_BLOCKING", "0") != "0"),
    ("jax_debug_nans", "jax", lambda jax: jax.config.jax_debug_nans),
    ("jax_debug_infs", "jax", lambda jax: jax.config.jax_debug_infs),
    ("jax_disable_jit", "jax", lambda jax: jax.config.jax_disable_jit),
    ("jax_check_tracer_leaks", "jax", lambda jax: jax.config.jax_check_tracer_leaks),
    (
        "tf.config.run_functions_eagerly",
        "tensorflow.python.eager.polymorphic_function.eager_function_run",
        lambda module: module.RUN_FUNCTIONS_EAGERLY,
    ),
    (
        "tf.debugging.enable_check_numerics",
        "tensorflow.python.debug.lib.check_numerics_callback",
        lambda module: getattr(module._state, "check_numerics_callback", None) is not None,
    ),
    (
        "tf.data.experimental.enable_debug_mode",
        "tensorflow.python.data.ops.debug_mode",
        lambda module: module.DEBUG_MODE,
    ),
)
"""What the program calls it, the module that knows, and whether it is on."""


def switches() -> List[str]:
    """Names of those that are on, of frameworks that are imported."""
    return [name for name, module, is_on in _SWITCHES if module in sys.modules and _holds(is_on, module)]


def _holds(is_on: Callable[[Any], Any], module: str) -> bool:
    # Other versions keep it elsewhere, or have none: then nothing is known of it.
    with contextlib.suppress(Exception):
        return bool(is_on(sys.modules[module]))
    return False
