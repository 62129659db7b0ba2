"""stepscope tfprof VIEW: a TensorFlow model by name scope, graph, Python code or op type, as ever."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope import units
from stepscope.cli import tfprof_help
from stepscope.cli.arguments import Parser
from stepscope.cli.console import Console
from stepscope.cli.tfprof_files import model_files, read_model, rereadable
from stepscope.cli.tfprof_options import FILES, OWN_OPTIONS, TfprofParser, form_of
from stepscope.errors import UsageError
from stepscope.instruments import tfprof

if TYPE_CHECKING:
    from stepscope._core import TfprofOptions
    from stepscope.formats.models.place import ModelPlace

ABOUT = "a model by name scope, graph, code or op type"


def parser() -> Parser:
    """The options of the verb."""
    return TfprofParser("tfprof", ABOUT, "stepscope tfprof [VIEW] [PATH…] [options]")


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints a view, or opens the prompt."""
    from stepscope import _core
    from stepscope.report import tfprof as report
    from stepscope.sources.spool import Spool

    if options.view == "help":
        console.out.write(tfprof_help.whole(FILES, OWN_OPTIONS))
        return 0
    chosen = _core.TfprofOptions()
    for name, value in options.words.items():
        tfprof.set_option(chosen, name, value, free=True)
    remarks = _older_words(options, chosen)
    form = form_of(options)
    spool = Spool()  # lasts as long as this function: the answer may read from it to the end
    options.paths = [rereadable(path, spool) for path in options.paths]
    files = model_files(options, remarks, console)
    if options.view is None:
        from stepscope.cli.tfprof_prompt import converse

        model = read_model(options, files, console, log_first=True)
        _keep_profile(options, model, console)
        for sentence in remarks:
            console.say(sentence)
        return converse(model, chosen, console, force=options.force)
    model = read_model(options, files, console, log_first=False)
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
