"""stepscope tfprof VIEW: a TensorFlow model by name scope, graph, Python code or op type, as ever."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope import units
from stepscope.cli import tfprof_help
from stepscope.cli.arguments import FORMATS, Parser
from stepscope.cli.console import Console
from stepscope.errors import UsageError
from stepscope.instruments import tfprof

if TYPE_CHECKING:
    from stepscope._core import TfprofOptions
    from stepscope.formats.models.place import ModelPlace
    from stepscope.instruments.tfprof.evidence import Evidence
    from stepscope.sources.spool import Spool

ABOUT = "a model by name scope, graph, code or op type"
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
SWITCHES = ("account_displayed_op_only", "viz")
OF_A_PROFILE = ("graph_path", "run_meta_path", "op_log_path")
"""Files of which a profile holds the content."""
VERBS = (*tfprof.VIEWS, "advise", "help")


class _TfprofParser(Parser):
    """tfprof's own way of writing options: one dash or two, a value behind = or a blank."""

    def parse_args(  # type: ignore[override]  # one form of the three is enough for a verb
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Sorts the words. UsageError for what is not known."""
        words = list(args or ())
        if any(word in ("-h", "--help") for word in words):
            self.epilog = tfprof_help.options(FILES, {**VALUES, **FLAGS})
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


def parser() -> Parser:
    """The options of the verb."""
    return _TfprofParser("tfprof", ABOUT, "stepscope tfprof [VIEW] [PATH…] [options]")


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints a view, or opens the prompt."""
    from stepscope import _core
    from stepscope.report import tfprof as report
    from stepscope.sources.spool import Spool

    if options.view == "help":
        console.out.write(tfprof_help.whole(FILES, {**VALUES, **FLAGS}))
        return 0
    chosen = _core.TfprofOptions()
    for name, value in options.words.items():
        tfprof.set_option(chosen, name, value, free=True)
    remarks = _older_words(options, chosen)
    form = _form(options)
    spool = Spool()  # lasts as long as this function: the answer may read from it to the end
    options.paths = [_rereadable(path, spool) for path in options.paths]
    files = _files(options, remarks, console)
    if options.view is None:
        from stepscope.cli.tfprof_prompt import converse

        model = _model(options, files, console, log_first=True)
        _keep_profile(options, model, console)
        for sentence in remarks:
            console.say(sentence)
        return converse(model, chosen, console, force=options.force)
    model = _model(options, files, console, log_first=False)
    _keep_profile(options, model, console)
    if options.view == "advise":
        answer, text = (advice := model.advise()), advice.text
    else:
        answer = model.show(options.view, chosen)
        remarks += report.advice(options.words, answer)
        text = tfprof.report(chosen, answer)
    warnings = [*model.notes, *answer.warnings, *remarks]
    for warning in warnings:
        console.say(warning)
    if warnings and options.strict:
        raise UsageError(
            "--strict takes no warning",
            seen=f"{len(warnings)} above",
            todo="change the options, or leave --strict out",
        )
    write_files(answer, force=options.force)
    _write_stacks(options, model, chosen, console)
    if form == "table":
        console.data.write(text)
    else:
        from stepscope.cli.report_output import show

        as_form = argparse.Namespace(format=form, spreadsheet=False)
        tree = report.tree_of(model, options.view, chosen)
        show(report.build(options.view, tree, warnings), as_form, console)
    if options.view == "advise":
        _say_findings(files, console)
    return 0


def _form(options: argparse.Namespace) -> str:
    """What -format asks for. UsageError for a word that is none, and where there is no view to show so."""
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


def _rereadable(path: str, spool: Spool) -> str:
    """A path that can be read more than once: what comes through a pipe is written to a file first."""
    from stepscope.sources.spool import is_pipe, open_pipe, spool_pipe

    if path == "-":
        return str(spool_pipe(sys.stdin.buffer, spool, path))
    if Path(path).exists() and is_pipe(path):
        with open_pipe(path) as stream:
            return str(spool_pipe(stream, spool, path))
    return path


def write_files(answer: tfprof.ViewOutput, *, force: bool) -> None:
    """Writes what `-output` asked for; OutputError when a file is there already."""
    for name, data in answer.files:
        _write(name, data, force=force)


def _write(name: str, data: bytes, *, force: bool) -> None:
    from stepscope.exporters.staging import staged

    with staged(Path(name), force=force) as part:
        part.write_bytes(data)


def _older_words(options: argparse.Namespace, chosen: TfprofOptions) -> list[str]:
    """Does what words of tfprof's first years say that TensorFlow 2.21 has dropped."""
    remarks = []
    values = options.values
    if values.get("dump_to_file"):
        tfprof.set_option(chosen, "output", f"file:outfile={values['dump_to_file']}")
    if devices := values.get("device_regexes"):
        chosen.force("device_regexes", [device for device in devices.split(",") if device])
    if values.get("viz", "false").lower() == "true":
        remarks.append("-viz never drew anything; -output timeline:outfile=FILE draws the view")
    if values.get("flops", "log") not in ("own", "log"):
        raise UsageError(
            f"-flops cannot be {values['flops']}", seen="another word", todo="-flops own, or -flops log"
        )
    return remarks


def _files(options: argparse.Namespace, remarks: list[str], console: Console) -> dict[str, list[ModelPlace]]:
    """The files by kind: those that are named, and those of paths where none is. Says which were taken."""
    from stepscope.formats.models import files

    named = _named_files(options)
    found = files.find_files(options.paths) if options.paths else files.ModelFiles()
    remarks += found.odd
    for name in OF_A_PROFILE if "profile_path" in named else ():
        found.drop(name, "passed over, a profile is named")
    if named.keys() & set(OF_A_PROFILE):
        found.drop("profile_path", "profile passed over, other files of a model are named")
    for name in named:
        found.drop(name, f"passed over, -{name} is given")
    named |= {name: list(places) for name, places in found.files.items()}
    for sentence in (*found.chosen.values(), *found.passed):
        console.say(sentence)
    if named.keys() & {"profile_path", "run_meta_path"}:
        named.pop(files.TRACES, None)
    if not named:
        raise UsageError(
            "There is no model to look at",
            seen=f"no graph, RunMetadata, op log, checkpoint, profile or trace in {', '.join(options.paths)}"
            if options.paths
            else "no file is named",
            todo="stepscope tfprof scope --graph_path=graph.pb --run_meta_path=run_meta.pb",
        )
    return named


def _named_files(options: argparse.Namespace) -> dict[str, list[ModelPlace]]:
    """The files that options name. UsageError for a profile beside what it holds."""
    from stepscope.formats.models import files

    given = {name: value for name, value in options.files.items() if value}
    if "profile_path" in given and given.keys() & set(OF_A_PROFILE):
        raise UsageError(
            "A profile holds all of a model",
            seen="-profile_path beside files of the same",
            todo="name the profile alone, or the other files",
        )
    named: dict[str, list[ModelPlace]] = {}
    for name, value in given.items():
        paths = [part for part in value.split(",") if part] if name == "run_meta_path" else [value]
        named[name] = [files.place_of(name, path) for path in paths]
    return named


def _model(
    options: argparse.Namespace, files: dict[str, list[ModelPlace]], console: Console, *, log_first: bool
) -> tfprof.TfprofModel:
    evidence = _evidence(options.paths, console, alone=len(files) == 1) if "traces" in files else None
    return tfprof.TfprofModel.of_files(
        files,
        evidence=evidence,
        log_first=log_first,
        own_flops=options.values.get("flops") == "own",
        whole="write_profile" in options.values,
    )


def _evidence(paths: list[str], console: Console, *, alone: bool) -> Evidence | None:
    """What the traces under the paths tell. UsageError when they tell of no op and there is nothing else."""
    from stepscope.cli.reading import watched
    from stepscope.instruments.tfprof import evidence

    with watched(paths, console) as found:
        found_evidence = evidence.read(found.query)
    if found_evidence.nodes:
        return found_evidence
    if not alone:
        return None
    raise UsageError(
        "There is no model to look at",
        seen="recordings without a slice that is an op",
        todo="stepscope PATH shows what they hold; tfprof wants ops, graphs or RunMetadata",
    )


def _keep_profile(options: argparse.Namespace, model: tfprof.TfprofModel, console: Console) -> None:
    if name := options.values.get("write_profile"):
        _write(name, model.profile(), force=options.force)
        console.say(f"the profile is in {name}")


def _write_stacks(
    options: argparse.Namespace, model: tfprof.TfprofModel, chosen: TfprofOptions, console: Console
) -> None:
    """Writes the view as a profile of stacks, if that was asked for."""
    if not (name := options.values.get("pprof")):
        return
    import gzip

    from stepscope.exporters import view_pprof
    from stepscope.report import tfprof as report

    view_pprof.check(options.view, chosen.select)
    tree = report.tree_of(model, options.view, chosen)
    data = view_pprof.write(options.view, tree)
    _write(name, gzip.compress(data, mtime=0) if name.endswith(".gz") else data, force=options.force)
    console.say(f"the stacks of {units.count(sum(1 for _ in tree.walk()), 'line')} are in {name}")


def _say_findings(files: dict[str, list[ModelPlace]], console: Console) -> None:
    """What stepscope itself finds in the same recordings, apart from TensorFlow's words."""
    steps = files.get("run_meta_path", [])
    if not steps:
        return
    from stepscope import report
    from stepscope.cli.reading import watched

    recordings = dict.fromkeys(step.file for step in steps)
    with watched(list(recordings), console, cache=False) as found:
        findings = report.build(found).findings
    if findings:
        console.say("\nstepscope's own findings in the same recordings:")
    for finding in findings:
        console.say(f"  {finding.severity}: {finding.title}. {finding.impact} {finding.action}")
