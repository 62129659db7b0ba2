"""Facts about the program and its machine in a capture."""

import os
import platform
import re
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional

from . import clocks
from .plan import RecordingPlan

_PACKAGES = ("tensorflow", "jax", "jaxlib", "keras", "tf_keras", "torch", "numpy")
_FLAGS = (
    "TF_", "XLA_", "JAX_", "KERAS_", "TPU_", "TORCH_", "PYTORCH_", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS",
)  # fmt: skip
# Terraform's variables begin with TF_, too; and nothing with a secret's name is written.
_NO_FLAG = re.compile(
    r"^TF_(VAR|CLI|TOKEN|LOG|DATA_DIR|REATTACH|PLUGIN|REGISTRY|WORKSPACE)|TOKEN|SECRET|PASSW|_KEY"
)


def facts() -> Dict[str, Any]:
    """Command, host, cores, memory and the flags that are set."""
    argv = list(getattr(sys, "orig_argv", None) or [sys.executable, *sys.argv])
    return {
        "argv": argv,
        "cwd_name": Path(_cwd()).name,
        "flags": _flags(),
        "cores": _cores(),
        "memory_bytes": _memory_bytes(),
        "host": platform.node(),
        "pid": os.getpid(),
        "versions": versions(),
    }


def _flags() -> Dict[str, str]:
    names = [name for name in os.environ if name.startswith(_FLAGS) and not _NO_FLAG.search(name)]
    return {name: os.environ[name] for name in sorted(names)}


def start_facts(plan: RecordingPlan) -> Dict[str, Any]:
    """The content of capture.json at the start."""
    version = plan.version or getattr(sys.modules.get("stepscope"), "__version__", "unknown")
    return {
        "recorder": f"stepscope {version}",
        "mode": plan.mode,
        **facts(),
        "started_unix_ns": clocks.time_ns(),
        "ended_unix_ns": None,
        "exit": {"code": None, "signal": None, "error": None},
        "framework": [],
        "devices": devices(),
        "plan": plan.asked(),
        "recorded": {"steps": 0, "sessions": 0},
        "sessions": [],
        "switches": [],
        "free_threaded": free_threaded(),
        "switched_on": list(plan.pieces),
        "cost": {},
    }


def free_threaded() -> bool:
    """Whether threads run Python at the same time. A build that can has the interpreter's lock all the same
    once a module that needs it is imported."""
    return not getattr(sys, "_is_gil_enabled", lambda: True)()


def versions() -> Dict[str, str]:
    """Versions of Python and of the imported frameworks."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            found[name] = version
    return found


def devices() -> List[Dict[str, str]]:
    """The devices of the frameworks in use. Only asked for once the program has run steps, so that nothing is
    initialised earlier than the program would."""
    found = []
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None:
        config = getattr(tensorflow, "config", None)
        places = (config, getattr(config, "experimental", None))  # 2.1 moved it out of the second
        asked = [getattr(place, "list_physical_devices", None) for place in places]
        for device in next((ask for ask in asked if ask is not None), list)():
            found.append({"name": device.name, "kind": device.device_type})
    jax = sys.modules.get("jax")
    if jax is not None and jax_is_used():
        for device in jax.local_devices():
            found.append({"name": f"jax:{device.platform}:{device.id}", "kind": device.device_kind})
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and getattr(cuda, "is_initialized", lambda: False)():
        for number in range(cuda.device_count()):
            found.append({"name": f"torch:cuda:{number}", "kind": str(cuda.get_device_name(number))})
    return found


def relative(path: str) -> str:
    """A path relative to the working directory, if it is below; a cell of a notebook by its number."""
    cell = _cell(path)
    if cell is not None:
        return cell
    below = _cwd() + os.sep
    return path[len(below) :] if path.startswith(below) else path


def _cell(path: str) -> Optional[str]:
    """`In [22]` for IPython's file of a cell; None for any other."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    named = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = named(path) if named is not None else None
    if not isinstance(found, tuple) or not str(found[-1]).startswith("In["):
        return None
    return f"In [{str(found[-1])[3:-1]}]"


def jax_is_used() -> bool:
    """True once JAX has opened a device."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bool(getattr(bridge, "_backends", None))


def _cwd() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # the folder has been removed
        return ""


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


def _memory_bytes() -> Optional[int]:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # some systems lack sysconf, or these names
        return None
