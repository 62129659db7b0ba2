"""The parsers of the verbs as plain data, for completions and the manual page."""

import argparse
from collections.abc import Iterator
from typing import NamedTuple


class CommandOption(NamedTuple):
    """An option: its names, what it does, the name of its value (empty without one), values to choose."""

    names: tuple[str, ...]
    about: str
    value: str
    choices: tuple[str, ...]


class Shape(NamedTuple):
    """A verb: its line of the help, its usage and its text below the options. words: what its arguments may
    be besides paths."""

    verb: str
    about: str
    usage: str
    epilog: str
    options: tuple[CommandOption, ...]
    words: tuple[tuple[str, str], ...]
    paths: bool


def shapes() -> Iterator[Shape]:
    """All verbs, in the order of the help."""
    from stepscope import cli

    for verb in cli.verbs():
        module = cli.module_of(verb)
        parser = module.parser()
        options = tuple(map(_option, parser._actions)) if verb != "tfprof" else tuple(_tfprof_options(parser))
        options = tuple(option for option in options if option.names and option.about != argparse.SUPPRESS)
        words = tuple(_words(verb))
        paths = verb not in ("docs", "completions", "record")
        yield Shape(verb, module.ABOUT, parser.usage or "", parser.epilog or "", options, words, paths)


def _option(action: argparse.Action) -> CommandOption:
    takes = action.nargs != 0
    value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    choices = tuple(map(str, action.choices)) if action.choices is not None else ()
    about = (action.help or "") % {"default": action.default, "prog": "stepscope"}
    return CommandOption(tuple(action.option_strings), about, (value if takes else ""), choices)


def _tfprof_options(parser: argparse.ArgumentParser) -> Iterator[CommandOption]:
    """tfprof has its own way of writing options, and lists them itself."""
    from stepscope.cli import tfprof_options
    from stepscope.instruments.tfprof import options

    yield from map(_option, parser._actions)
    for name, about in tfprof_options.FILES.items():
        yield CommandOption((f"-{name}",), about, "FILE", ())
    known = {option.name for option in options()}
    for option in options():
        switch = option.name in tfprof_options.SWITCHES
        choices = ("true", "false") if switch else ()
        yield CommandOption((f"-{option.name}",), option.meaning, "" if switch else "VALUE", choices)
    for name, about in tfprof_options.VALUES.items():
        if name not in known:
            yield CommandOption((f"-{name}",), about, "VALUE", ())
    for name, about in tfprof_options.FLAGS.items():
        yield CommandOption((f"-{name}",), about, "", ())


def _words(verb: str) -> Iterator[tuple[str, str]]:
    if verb == "query":
        from stepscope import library

        for entry in (*library.entries("analysis"), *library.entries("finding")):
            if not entry.private:
                yield f"@{entry.name}", entry.title
    elif verb == "docs":
        from stepscope import reference

        yield from ((name, "a chapter") for name in reference.CHAPTERS)
        yield from ((entry.name, entry.line) for entry in reference.entries())
    elif verb == "tfprof":
        from stepscope.cli.tfprof_options import VERBS

        yield from ((name, "a view") for name in VERBS)
    elif verb == "xla":
        from stepscope.cli.xla import BELOW, module_of

        yield from ((name, module_of(name).ABOUT) for name in BELOW)
    elif verb == "completions":
        from stepscope.cli.shells import SHELLS

        yield from ((name, "a shell") for name in SHELLS)
