"""The command line as argparse sees it: shared options, one help layout, mistakes as UsageError."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from stepscope.cli.console import screen
from stepscope.errors import UsageError
from stepscope.presenters.plain import shorten

if TYPE_CHECKING:
    from stepscope.report.pricing import Price

FORMATS = ("table", "json", "csv", "md")
WITH_VALUE = (
    "--format", "--color", "-o", "--output", "--lake", "-f", "--file", "--run", "--host", "--fail-on",
    "--price", "--engine", "--runner", "--remote", "--dataset", "--max-bytes", "--out", "--warmup", "--steps",
    "--seconds", "--every", "--ring",
)  # fmt: skip
"""Options whose value is the next argument: what follows them is neither verb nor path."""


_UNKNOWN = "unrecognized arguments: "
"""How argparse begins to speak of words that no option takes."""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the screen. argparse makes one for every option, and looks at the screen each time."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=screen()[0] - 2)


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises UsageError and leaves printing to one place."""

    def __init__(self, verb: str, about: str, usage: str, epilog: str = "") -> None:
        super().__init__(
            prog=f"stepscope {verb}",
            usage=usage,
            description=about,
            epilog=epilog,
            add_help=False,
            allow_abbrev=False,
            formatter_class=_Help,
        )
        self.add_argument("-h", "--help", action="help", help="print this help and exit")
        self.formulas_need_csv = False

    def parse_args(  # type: ignore[override]  # one form of the three is enough for a verb
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """The options of a command line."""
        words, apart = self.split(list(args or ()))
        options = super().parse_args(words, namespace)
        self.complete(options, apart)
        return options

    def split(self, words: list[str]) -> tuple[list[str], list[str]]:
        """The words that argparse reads, and those that it cannot."""
        return words, []

    def complete(self, options: argparse.Namespace, apart: list[str]) -> None:
        """Adds what the words apart say. UsageError for options that do not go together."""
        if self.formulas_need_csv:
            output = getattr(options, "output", None)
            to_csv = isinstance(output, str) and output.endswith(".csv")
            need_csv(options, to_csv or options.format == "csv")

    def error(self, message: str) -> NoReturn:
        """Turns what argparse found into the error that users know."""
        todo = f"{self.prog} --help lists what there is"
        if near := self._suggestion(message):
            todo = f"did you mean {near}? {todo}"
        for word in message.split(": ", 1)[-1].split():
            if word.startswith("-") and Path(word).exists():
                todo = f"a path that begins with a dash is written ./{word}"
        headline, seen = self._what_is_wrong(message)
        raise UsageError(headline, seen=seen, todo=todo)

    def _what_is_wrong(self, message: str) -> tuple[str, str]:
        """What argparse found, as a sentence; and what it saw, without the names of our functions."""
        if message.startswith(_UNKNOWN):
            words = message[len(_UNKNOWN) :]
            if words.startswith("-"):
                return f"{self.prog} has no option {words.split()[0]}", message
            return f"{self.prog} has no use for {words}", message
        about = re.match(r"argument (\S+): (.*)", message, re.DOTALL)
        if about is None:
            missing = re.match(r"the following arguments are required: (.*)", message)
            return (f"{missing[1]} is missing" if missing else message[:1].upper() + message[1:]), message
        name, what = about.groups()
        if unfit := re.match(r"invalid (\w+) value: (.*)", what, re.DOTALL):
            kind = {"int": "a whole number", "float": "a number"}.get(unfit[1], "such a value")
            return f"{name} takes {kind}", unfit[2]
        if choice := re.match(r"invalid choice: ('[^']*')", what):
            return f"{name} cannot be {choice[1]}", what
        if other := re.match(r"not allowed with argument (\S+)", what):
            return f"{name} and {other[1]} exclude each other", what
        if what.startswith("expected "):
            return f"{name} needs a value", what
        return f"{name}: {what}", message

    def _suggestion(self, message: str) -> str:
        """The option, or the value of one, that a word in argparse's message may be meant for."""
        import difflib

        known = [name for action in self._actions for name in action.option_strings]
        if message.startswith(_UNKNOWN):
            words = [word for word in message[len(_UNKNOWN) :].split() if word.startswith("-")]
            near = [difflib.get_close_matches(word.partition("=")[0], known, 1, cutoff=0.7) for word in words]
            return " ".join(found[0] for found in near if found)
        match = re.match(r"argument (\S+): invalid choice: '([^']*)'", message)
        if match:
            names = match[1].split("/")
            choices = next(
                (a.choices for a in self._actions if names[0] in (*a.option_strings, a.metavar)), None
            )
            return " ".join(difflib.get_close_matches(match[2], [str(choice) for choice in choices or ()], 1))
        return ""


def whole(text: str) -> int:
    """The type of options that take a number from 0 on."""
    return _number(text, 0)


def count(text: str) -> int:
    """The type of options that take a number from 1 on."""
    return _number(text, 1)


def _number(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{shorten(text, 40)!r} is not a whole number") from None
    if number < least:
        raise argparse.ArgumentTypeError(f"{text} is below {least}")
    return number


def seconds(text: str) -> float:
    """The type of options that take a length of time above 0."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{shorten(text, 40)!r} is not a number of seconds") from None
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a length of time")
    return number


def size(text: str) -> int:
    """The type of options that take a number of bytes, with a unit or without."""
    units = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
    units |= {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
    digits = text.strip().lower().rstrip("bikmgt ")
    unit = text.strip().lower()[len(digits) :].strip()
    if not (digits.isascii() and digits.isdigit()) or unit not in units or int(digits) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes, such as 500MB")
    return int(digits) * units[unit]


def a_path(text: str) -> str:
    """The type of options that take a path; what no path can be is a mistake of the command line."""
    from stepscope.sources.user_paths import look_up

    try:
        look_up([text])
    except UsageError as error:
        raise argparse.ArgumentTypeError(f"{shorten(text, 80)!r}: {error.seen}") from error
    return text


RECORDINGS = "recordings: files, folders at any depth, archives, lakes, or -"


def add_paths(parser: Parser, about: str = RECORDINGS) -> None:
    """PATH…, which means the same for every verb."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help=about)


def add_reading(parser: Parser, about: str | None = RECORDINGS, *, part: bool = True) -> None:
    """What is read, and how. about: what PATH… stands for; None for a verb with arguments of its own. part:
    the verb may read a part of a lake."""
    if about is not None:
        add_paths(parser, about)
    parser.add_argument("--lake", metavar="DIR", type=a_path, help="read this lake instead of paths")
    parser.add_argument("--no-cache", action="store_true", help="store nothing in the cache")
    for name in ("run", "host") if part else ():
        help_text = f"read only this {name} of a lake; may be repeated"
        parser.add_argument(f"--{name}", metavar="ID", action="append", help=help_text)


def add_price(parser: Parser) -> None:
    """What lost time costs."""
    parser.add_argument(
        "--price",
        metavar="P",
        type=_price,
        help="price of time, such as 2.10/hx8; prints lost time as money per day",
    )


def _price(text: str) -> Price:
    from stepscope.report import pricing

    try:
        return pricing.price(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_showing(parser: Parser, formats: Sequence[str] = FORMATS, aside: bool = False) -> None:
    """How answers are shown. aside: rows are not what the verb is for, so the help does not detail them."""
    if formats:
        parser.add_argument("--format", choices=formats, default=formats[0], help="format of the output")
    if "csv" in formats:
        add_spreadsheet(parser, aside)
        parser.formulas_need_csv = True
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="when to use colour; respects NO_COLOR and FORCE_COLOR",
    )


def add_spreadsheet(parser: Parser, aside: bool = False) -> None:
    """CSV for programs that run formulas. aside: as for add_showing."""
    about = "in CSV, put an apostrophe before text that would be a formula"
    parser.add_argument("--spreadsheet", action="store_true", help=argparse.SUPPRESS if aside else about)


def full_command(verb: str, options: argparse.Namespace, asked: Sequence[str] = ()) -> str:
    """The command that shows all of what one page has no room for. asked: options to keep."""
    lake = ("--lake", options.lake) if options.lake else ()
    return f"stepscope {verb} {shlex.join([*options.paths, *lake, *asked, '--all'])}"


def need_csv(options: argparse.Namespace, is_csv: bool) -> None:
    """UsageError for --spreadsheet with anything but CSV."""
    if options.spreadsheet and not is_csv:
        raise UsageError(
            "Only CSV has formulas",
            seen="--spreadsheet without CSV",
            todo="add --format csv, or drop the option",
        )


def add_output(parser: Parser, about: str) -> None:
    """Where a file goes."""
    parser.add_argument("-o", "--output", metavar="FILE", type=a_path, help=about)
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")


def need_paths(options: argparse.Namespace, verb: str) -> None:
    """UsageError when there is neither a path nor a lake, or both."""
    if options.lake is not None and options.paths:
        raise UsageError(
            "Both paths and a lake are given",
            seen=f"--lake {options.lake} and {' '.join(options.paths)}",
            todo="give one of them; a lake can also be given as the only PATH",
        )
    if options.lake is None and not options.paths:
        name = "stepscope" if verb == "summary" else f"stepscope {verb}"
        raise UsageError("There is no path to read", seen="no PATH and no --lake", todo=f"{name} PATH…")


def need_dumps(options: argparse.Namespace, verb: str) -> None:
    """UsageError when there is no dump folder."""
    if not options.paths:
        raise UsageError(
            "No dump folder is given",
            seen="no DIR",
            todo=f"stepscope {verb} DIR; DIR is what --xla_dump_to named",
        )


class CommandParser(Parser):
    """Leaves the words behind -- to the program."""

    def split(self, words: list[str]) -> tuple[list[str], list[str]]:
        """The options before --, and the program's words."""
        at = words.index("--") if "--" in words else len(words)
        return words[:at], words[at + 1 :]

    def complete(self, options: argparse.Namespace, apart: list[str]) -> None:
        """Adds the program's words as `command`."""
        super().complete(options, apart)
        options.command = apart


def not_started(program: str, error: OSError) -> UsageError:
    """That the program behind -- could not be started."""
    return UsageError(
        "The program could not be started",
        seen=error.strerror or str(error),
        todo="check its name; for a script: -- python train.py",
        path=program,
    )
