"""The files of a model that `stepscope tfprof` looks at: named by options, or found under paths."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.cli.console import Console
from stepscope.errors import UsageError
from stepscope.instruments import tfprof

if TYPE_CHECKING:
    from stepscope.formats.models.place import ModelPlace
    from stepscope.instruments.tfprof.evidence import Evidence
    from stepscope.sources.spool import Spool

OF_A_PROFILE = ("graph_path", "run_meta_path", "op_log_path")
"""Files of which a profile holds the content."""


def rereadable(path: str, spool: Spool) -> str:
    """A path that can be read more than once: what comes through a pipe is written to a file first."""
    from stepscope.sources.spool import is_pipe, open_pipe, spool_pipe

    if path == "-":
        return str(spool_pipe(sys.stdin.buffer, spool, path))
    if Path(path).exists() and is_pipe(path):
        with open_pipe(path) as stream:
            return str(spool_pipe(stream, spool, path))
    return path


def model_files(
    options: argparse.Namespace, remarks: list[str], console: Console
) -> dict[str, list[ModelPlace]]:
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


def read_model(
    options: argparse.Namespace, files: dict[str, list[ModelPlace]], console: Console, *, log_first: bool
) -> tfprof.TfprofModel:
    """The model of files by kind. log_first: as of TfprofModel. UsageError when nothing
    in them is an op."""
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
