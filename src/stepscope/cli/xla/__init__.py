"""stepscope xla …: what XLA compiled, one module per verb.

A module has ABOUT (one line for the help), `parser()` and `run(options, console) -> exit code`, as verbs
have.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NoReturn

from stepscope.cli.abouts import abouts
from stepscope.cli.arguments import Parser
from stepscope.cli.console import Console

ABOUT = "what XLA compiled: dump folders, passes, cost and time; flags and settings"

BELOW = (
    "dumps", "cost", "ops", "flags", "check", "env", "run", "clusters", "ops-supported", "symbols", "diff",
    "replay",
)  # fmt: skip
"""The verbs below, in the order of the help."""


_FILES = {"run": "running", "ops-supported": "supported"}
"""Verbs whose module has another name: `run` is a function here, and a dash is in no module's name."""


def module_of(name: str) -> ModuleType:
    """The module of a verb below."""
    return importlib.import_module(f"stepscope.cli.xla.{_FILES.get(name, name)}")


class _Parser(Parser):
    """Hands the words behind the verb below to its own parser."""

    def parse_args(  # type: ignore[override]  # one form of the three is enough for a verb
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """The options of the verb below, with `below`: its name."""
        words = list(args or ())
        at = next((i for i, word in enumerate(words) if word in BELOW), None)
        if at is None:
            unknown = next((word for word in words if not word.startswith("-")), None)
            if unknown is not None:
                self._refuse(unknown)
            if not words:
                self.print_help(sys.stderr)
                self.exit(2)
            return super().parse_args(words, namespace)
        options = module_of(words[at]).parser().parse_args([*words[:at], *words[at + 1 :]])
        options.below = words[at]
        return options

    def _refuse(self, word: str) -> NoReturn:
        self.error(f"argument VERB: invalid choice: {word!r} (choose from {', '.join(BELOW)})")


def parser() -> Parser:
    """The parser that chooses the verb below."""
    about = abouts(__path__)
    listed = "\n".join(f"  {name:<15}{about[_FILES.get(name, name)]}" for name in BELOW)
    made = _Parser("xla", ABOUT, "stepscope xla VERB … [--help]", listed)
    made.add_argument("below", nargs="?", choices=BELOW, metavar="VERB", help="one of the list below")
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Runs the verb below."""
    code: int = module_of(options.below).run(options, console)
    return code
