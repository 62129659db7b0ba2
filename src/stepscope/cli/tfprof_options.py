"""The options of `stepscope tfprof`: as tfprof writes them, and those of stepscope beside them."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from stepscope.cli import tfprof_help
from stepscope.cli.arguments import FORMATS, Parser
from stepscope.errors import UsageError
from stepscope.instruments import tfprof

FILES = {
    "graph_path": "GraphDef, MetaGraphDef or SavedModel, binary or text",
    "run_meta_path": "RunMetadata of steps 0, 1, …, separated by commas",
    "op_log_path": "op log: types, floating point operations, Python code",
    "checkpoint_path": "checkpoint, V1 or V2: its prefix, one of its files, or its folder",
    "profile_path": "a profile that holds all of it, as Profiler.serialize_to_string writes it",
}
VALUES = {
    "write_profile": "FILE: keep the model and its steps as such a profile",
    "pprof": "FILE: write the scope, graph or code view as stacks for pprof and speedscope, with the figures"
    " of -select; packed where the name ends in .gz",
    "flops": "own: count operations for nodes that no op log covers; log (the default): do not",
    "device_regexes": "show only nodes on devices that match one of these, in whatever case",
    "format": "table (the default): the text of tfprof; json, csv, md: the view as a report of stepscope",
    "dump_to_file": "the same as -output file:outfile=FILE, and stronger",
}
FLAGS = {"strict": "what is odd becomes an error", "force": "replace files that are there"}
OWN_OPTIONS = {**VALUES, **FLAGS}
"""Those that tfprof does not have today."""
SWITCHES = ("account_displayed_op_only", "viz")
VERBS = (*tfprof.VIEWS, "advise", "help")


class TfprofParser(Parser):
    """tfprof's own way of writing options: one dash or two, a value behind = or a blank."""

    def parse_args(  # type: ignore[override]  # one form of the three is enough for a verb
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Sorts the words. UsageError for what is not known."""
        words = list(args or ())
        if any(word in ("-h", "--help") for word in words):
            self.epilog = tfprof_help.options(FILES, OWN_OPTIONS)
            return super().parse_args(["--help"])
        options = tfprof.names()
        found = argparse.Namespace(
            view=None, paths=[], files={}, values={}, words={}, strict=False, force=False
        )
        while words:
            word = words.pop(0)
            if not word.startswith("-") or word == "-":
                self._take(found, word)
                continue
            self._take_option(found, word, words, options)
        return found

    def _take_option(
        self, found: argparse.Namespace, word: str, words: list[str], options: Collection[str]
    ) -> None:
        """Reads an option; its value may be the next of the words. options: those of tfprof."""
        from stepscope.sources.user_paths import look_up

        name, equals, value = word.lstrip("-").partition("=")
        if name == "color":
            if not equals and words:
                words.pop(0)
        elif name in FLAGS and not equals:
            setattr(found, name, True)
        elif name in FILES:
            value = value if equals else self._next(name, words)
            look_up([path for path in value.split(",") if path])
            found.files[name] = value
        elif name in options or name in (*VALUES, "viz"):
            kind = found.words if name in options else found.values
            kind[name] = value if equals else self._next(name, words)
        else:
            near = difflib.get_close_matches(name, (*FILES, *options, *VALUES, *FLAGS), 1)
            self.error(f"{word} is not an option" + (f"; did you mean -{near[0]}?" if near else ""))

    def _take(self, found: argparse.Namespace, word: str) -> None:
        if found.view is None and not found.paths and word in VERBS:
            found.view = word
        elif word == "-" or (word and _is_path(word)):
            found.paths.append(word)
        else:
            self.error(f"{word} is not a view ({', '.join(VERBS)}) and not a path")

    def _next(self, name: str, words: list[str]) -> str:
        if name in SWITCHES and (not words or words[0].lower() not in ("true", "false")):
            return "true"
        if not words:
            self.error(f"-{name} needs a value")
        return words.pop(0)


def _is_path(word: str) -> bool:
    """Whether a word is a path or a URL, or the prefix of a checkpoint. UsageError when it can be no path."""
    from stepscope.sources.user_paths import checkpoint_index, is_url, look_up

    look_up([word])
    return Path(word).exists() or is_url(word) or checkpoint_index(Path(word)) is not None


def form_of(options: argparse.Namespace) -> str:
    """The format that -format names. UsageError for an unknown one, and for one without a view to show."""
    form: str = options.values.get("format", FORMATS[0])
    if form not in FORMATS:
        raise UsageError(
            f"-format cannot be {form}", seen="another word", todo=f"choose one of {', '.join(FORMATS)}"
        )
    if form != FORMATS[0] and options.view not in tfprof.VIEWS:
        raise UsageError(
            "-format needs a view",
            seen=f"-format {form} with {options.view or 'no view'}",
            todo=f"name one of {', '.join(tfprof.VIEWS)}",
        )
    return form
