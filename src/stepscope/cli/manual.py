"""The manual page, written from the parsers: `stepscope docs --man`.

By hand, because argparse-manpage runs when a package is built, and has no verbs that are found by listing.
"""

from collections.abc import Iterable, Iterator

from stepscope.cli.shape import CommandOption, Shape

_PURPOSE = "where the time of a TensorFlow or XLA job went, why, and what to change"
_EXITS = (
    ("0", "success"),
    ("1", "findings over the limit of --fail-on; a prediction that did not hold"),
    ("2", "the work could not be done"),
    ("130", "stopped by Ctrl-C"),
)
_EXAMPLES = (
    ("stepscope train.py --lr 0.1", "run a program, record some of its steps, print where their time went"),
    ("stepscope logs/", "the same of recordings that are there"),
    ("stepscope pipeline logs/", "which stage of the input limits the program, and what a change would gain"),
    (
        "stepscope query logs/ @op_types",
        "an analysis of the library; any question in SQL stands in its place",
    ),
    ("stepscope report logs/ -o r.html", "one file to look at, keep and send"),
    ("stepscope check --baseline old/ --candidate new/", "whether a change made the program slower"),
)
_FILES = (
    ("~/.cache/stepscope", "the cache of decoded recordings; stepscope cache shows and clears it"),
    ("~/.cache/stepscope-limit", "how much of that is kept, as stepscope cache limit wrote it"),
    ("stepscope-DATE-TIME", "a recording, in the folder where stepscope recorded it"),
)
_ENVIRONMENT = (
    ("STEPSCOPE_CACHE_DIR", "folder of the cache, in place of the one that the system has for users"),
    ("STEPSCOPE_CACHE_BYTES", "most that the cache keeps, such as 5G"),
    ("STEPSCOPE_THREADS", "threads to use, in place of one for each processor"),
    ("NO_COLOR, FORCE_COLOR", "switch colour off or on where --color is auto"),
    ("STEPSCOPE_PAGER, PAGER", "what shows long answers, in place of less; cat: nothing does"),
    ("COLUMNS, LINES", "size of the screen, in place of what the terminal says"),
    ("STEPSCOPE_TRACEBACK", "print the traceback of an unexpected error"),
)


def page(shapes: Iterable[Shape], version: str) -> str:
    """The page in roff, for man(1)."""
    return "\n".join(_lines(shapes, version)) + "\n"


def _lines(shapes: Iterable[Shape], version: str) -> Iterator[str]:
    every = list(shapes)
    yield f'.TH STEPSCOPE 1 "" "stepscope {_text(version)}" "User Commands"'
    yield from (".SH NAME", f"stepscope \\- {_text(_PURPOSE)}")
    yield from (".SH SYNOPSIS", ".nf")
    yield from ("\\fBstepscope\\fR PATH...", "\\fBstepscope\\fR train.py ...")
    yield from ("\\fBstepscope\\fR VERB ... [\\-\\-help]", ".fi")
    yield ".SH DESCRIPTION"
    yield _text(
        "PATH is a Chrome trace, an XPlane (.xplane.pb), RunMetadata, an event file, a graph or a profile, "
        "an archive or a folder of them at any depth, a lake, or - for standard input. Give as many as you "
        "like. Results go to stdout, everything else to stderr."
    )
    yield ".SH VERBS"
    for shape in every:
        yield from _verb(shape)
    sections = (
        ("EXAMPLES", _EXAMPLES),
        ("EXIT STATUS", _EXITS),
        ("ENVIRONMENT", _ENVIRONMENT),
        ("FILES", _FILES),
    )
    for title, facts in sections:
        yield f".SH {title}"
        for name, about in facts:
            yield from (".TP", f"\\fB{_text(name)}\\fR", _text(about))
    yield from (".SH SEE ALSO", _text("stepscope docs lists every table, analysis, finding and message."))


def _verb(shape: Shape) -> Iterator[str]:
    yield from (f".SS {shape.verb}", _text(f"{shape.about}."), ".PP", ".nf")
    yield from (_text(line.strip()) for line in shape.usage.splitlines())
    yield ".fi"
    for option in shape.options:
        yield from _option(option)
    if shape.epilog:
        # Lines of the epilog are laid out by hand: examples among them.
        yield from (".PP", ".nf", *(_text(line) for line in shape.epilog.splitlines()), ".fi")


def _option(option: CommandOption) -> Iterator[str]:
    value = f" \\fI{_text('|'.join(option.choices) or option.value)}\\fR" if option.value else ""
    yield from (".TP", ", ".join(f"\\fB{_text(name)}\\fR" for name in option.names) + value)
    yield _text(option.about or "\N{EN DASH}")


def _text(text: str) -> str:
    """Text that roff shows as it is: no requests, and hyphens that can be copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("\n", " ")
    plain = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in escaped)
    return "\\&" + plain if plain[:1] in (".", "'") else plain
