"""Prints the run-time dependencies that pyproject.toml names, a line each, as pip reads them.

pip itself reads them only together with a build of the package.
"""

from __future__ import annotations

from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10
    from pip._vendor import tomli as tomllib  # type: ignore[no-redef]

PROJECT = Path(__file__).parents[1] / "pyproject.toml"

print("\n".join(tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]))
