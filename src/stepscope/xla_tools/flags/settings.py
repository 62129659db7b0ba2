"""The settings that make a program dump what stepscope reads, as values and as lines of a shell."""

import json
import shlex
from collections.abc import Mapping
from pathlib import PurePath

SHELLS = ("sh", "fish", "python", "dockerfile")


def settings(
    folder: PurePath, *, passes: str | None, graphs: bool, profile: bool, before: Mapping[str, str]
) -> dict[str, str]:
    """Variables by name. passes: dump before and after passes whose name matches. graphs: TensorFlow's graphs
    and the reasons of clusters. profile: cycles of instructions are counted, by libraries
    that still do. before: the environment, whose own flags
    stay in front."""
    flags = [f"--xla_dump_to={_quoted(str(folder / 'hlo'))}", "--xla_dump_hlo_as_proto"]
    flags.append("--xla_dump_hlo_as_text")
    if passes is not None:
        flags.append(f"--xla_dump_hlo_pass_re={_quoted(passes)}")
    if profile:
        flags.append("--xla_hlo_profile")
    found = {"XLA_FLAGS": " ".join([*filter(None, [before.get("XLA_FLAGS", "").strip()]), *flags])}
    if graphs:
        debug = "--tf_xla_clustering_debug"
        found["TF_XLA_FLAGS"] = " ".join([*filter(None, [before.get("TF_XLA_FLAGS", "").strip()]), debug])
        found["TF_DUMP_GRAPH_PREFIX"] = str(folder / "graphs")
        found["TF_CPP_VMODULE"] = "compilability_check_util=5,mark_for_compilation_pass=4"
        found["TF_CPP_MIN_LOG_LEVEL"] = "0"
    return found


def _quoted(value: str) -> str:
    """A value as XLA's own splitting of a line wants it."""
    return f"'{value}'" if any(letter.isspace() for letter in value) else value


def folders(folder: PurePath, *, graphs: bool) -> list[PurePath]:
    """The folders to make."""
    return [folder / "hlo", *([folder / "graphs"] if graphs else [])]


def lines(values: Mapping[str, str], shell: str) -> list[str]:
    """The settings in the words of a shell."""
    if shell == "python":
        return ["import os", *(f"os.environ[{name!r}] = {value!r}" for name, value in values.items())]
    if shell == "fish":
        return [f"set -gx {name} {_fish(value)}" for name, value in values.items()]
    if shell == "dockerfile":
        return [
            f"ENV {name}={json.dumps(value).replace('$', chr(92) + '$')}" for name, value in values.items()
        ]
    return [f"export {name}={shlex.quote(value)}" for name, value in values.items()]


def _fish(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
