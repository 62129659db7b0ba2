"""stepscope tfprof VIEW: a TensorFlow model by name scope, graph, Python code or op type, as ever."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.cli.arguments import Parser
from stepscope.cli.console import Console
from stepscope.errors import UsageError
from stepscope.instruments.tfprof import OPTIONS, VIEWS

if TYPE_CHECKING:
    from stepscope.instruments.tfprof import Answer, Model

ABOUT = "a model by name scope, graph, code or op type"
FILES = ("graph_path", "run_meta_path", "op_log_path")
FLAGS = ("strict", "force")
EPILOG = """VIEW is scope, graph, op or code; without one a prompt opens: an empty line shows the options.

  --graph_path FILE      GraphDef, binary or text
  --run_meta_path F,F…   RunMetadata of steps 0, 1, …
  --op_log_path FILE     op log: types, FLOPs, Python code
  --strict               what is odd becomes an error
  --force                replace files that -output names

and every option of tfprof, with one dash or two: -max_depth, -min_bytes, -min_peak_bytes,
-min_residual_bytes, -min_output_bytes, -min_micros, -min_accelerator_micros, -min_cpu_micros, -min_params,
-min_float_ops, -min_occurrence, -step, -order_by, -account_type_regexes, -start_name_regexes,
-trim_name_regexes, -show_name_regexes, -hide_name_regexes, -account_displayed_op_only, -select, -output.
Expressions match whole names. The output is that of TensorFlow 2.21, byte for byte."""


class _TfprofParser(Parser):
    """tfprof's own way of writing options: one dash or two, a value behind = or a blank."""

    # argparse declares overloads that give the same at run time.
    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: object = None
    ) -> argparse.Namespace:
        """Sorts the words. UsageError for what is not known."""
        words = list(args or ())
        if any(word in ("-h", "--help") for word in words):
            return super().parse_args(["--help"])
        found = argparse.Namespace(view=None, files={}, words={}, strict=False, force=False)
        while words:
            word = words.pop(0)
            if not word.startswith("-"):
                self._take_view(found, word)
                continue
            name, equals, value = word.lstrip("-").partition("=")
            if name == "color":
                if not equals and words:
                    words.pop(0)
            elif name in FLAGS and not equals:
                setattr(found, name, True)
            elif name in FILES or name in OPTIONS:
                if not equals:
                    value = self._next(name, words)
                (found.files if name in FILES else found.words)[name] = value
            else:
                near = difflib.get_close_matches(name, (*FILES, *OPTIONS, *FLAGS), 1)
                self.error(f"{word} is no option" + (f"; did you mean -{near[0]}?" if near else ""))
        return found

    def _take_view(self, found: argparse.Namespace, word: str) -> None:
        if word not in VIEWS or found.view is not None:
            self.error(f"{word} is no view, or the second one; views are {', '.join(VIEWS)}")
        found.view = word

    def _next(self, name: str, words: list[str]) -> str:
        is_switch = name == "account_displayed_op_only"
        if is_switch and (not words or words[0].startswith("-") or words[0] in VIEWS):
            return "true"
        if not words:
            self.error(f"-{name} needs a value")
        return words.pop(0)


def parser() -> Parser:
    """The options of the verb."""
    return _TfprofParser("tfprof", ABOUT, "stepscope tfprof [VIEW] --graph_path FILE [options]", EPILOG)


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints a view, or opens the prompt."""
    from stepscope import _core
    from stepscope.instruments import tfprof

    chosen = _core.TfprofOptions()
    for name, value in options.words.items():
        tfprof.set_option(chosen, name, value, free=True)
    if not options.files:
        raise UsageError(
            "There is no model to look at",
            seen="no file is named",
            todo="stepscope tfprof scope --graph_path=graph.pb --run_meta_path=run_meta.pb",
        )
    if options.view is None:
        from stepscope.cli.tfprof_prompt import converse

        return converse(_model(options, log_first=True), chosen, console, force=options.force)
    model = _model(options, log_first=False)
    answer = model.show(options.view, chosen)
    warnings = [*model.notes, *answer.warnings, *tfprof.advice(options.view, options.words, answer)]
    for warning in warnings:
        console.say(warning)
    if warnings and options.strict:
        raise UsageError(
            "--strict takes no warning",
            seen=f"{len(warnings)} above",
            todo="change the options, or leave --strict out",
        )
    write_files(answer, force=options.force)
    console.out.write(tfprof.report(chosen, answer))
    return 0


def write_files(answer: Answer, *, force: bool) -> None:
    """Writes what `-output` asked for; OutputError when a file is there already."""
    from stepscope.exporters.staging import staged

    for name, data in answer.files:
        with staged(Path(name), force=force) as part:
            part.write_bytes(data)


def _model(options: argparse.Namespace, *, log_first: bool) -> Model:
    from stepscope.instruments.tfprof import Model

    steps = [path for path in options.files.get("run_meta_path", "").split(",") if path]
    return Model(
        options.files.get("graph_path"), steps, options.files.get("op_log_path"), log_first=log_first
    )
