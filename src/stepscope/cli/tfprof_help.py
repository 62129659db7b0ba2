"""The help of `stepscope tfprof`: of its --help, of the word help, and at its prompt."""

import textwrap
from collections.abc import Mapping

_VIEWS = """\
  scope     nodes by name scope: what is in front of each / of a name
  graph     nodes from outputs to inputs, each where it is met first
  op        types of op, each with all its nodes
  code      calls of the Python program that made the nodes; needs an op log, or a trace with stacks
  advise    what TensorFlow's three checkers say
"""
_EXAMPLES = """\
examples
  stepscope tfprof FOLDER                                       opens the prompt
  stepscope tfprof scope -graph_path=graph.pbtxt -max_depth=3 -select params
  stepscope tfprof op FOLDER -select micros,occurrence -order_by micros
  stepscope tfprof graph FOLDER -start_name_regexes 'cost.*' -min_micros 10000 -select micros
"""


def whole(files: Mapping[str, str], own_options: Mapping[str, str]) -> str:
    """Views, examples and all options. Parameters as of options()."""
    return f"views\n{_VIEWS}\n{_EXAMPLES}\n{options(files, own_options)}\n"


def prompt_help() -> str:
    """The commands and the options, as they can be typed at the prompt."""
    return (
        f"commands\n{_VIEWS}"
        "  set       keeps the options that follow for the lines to come\n"
        "  help      this text\n"
        "  exit      leaves, as Ctrl-D does; an empty line shows the options\n\n"
        + "\n".join(option_help())
        + "\n"
    )


def _paragraph(name: str, text: str) -> str:
    first = f"  {name}".ljust(30)
    return textwrap.fill(text, 110, initial_indent=first, subsequent_indent=" " * 30)


def option_help() -> list[str]:
    """Lines about tfprof's own options, columns and orders."""
    from stepscope.instruments import tfprof

    return [
        "options",
        *(
            _paragraph(
                f"-{option.name}",
                f"{option.meaning} [{option.default}]" if option.default else option.meaning,
            )
            for option in tfprof.options()
        ),
        "",
        "columns of -select",
        *(_paragraph(name, text) for name, text in tfprof.columns().items()),
        "",
        f"orders of -order_by: {', '.join(tfprof.orders())}",
    ]


def options(files: Mapping[str, str], own_options: Mapping[str, str]) -> str:
    """What the verb takes. files: options that name files. own_options: options that
    tfprof does not have today."""
    lines = [
        "VIEW is scope, graph, op, code or advise; without one a prompt opens, where an empty line shows the",
        "options. PATH is a file, folder or archive with graphs and RunMetadata; files can also be named one",
        "by one. Without RunMetadata, traces show what ran: XPlanes, Kineto, timelines, a lake.",
        "Options take one dash or two. Expressions match whole names and are separated by commas. For",
        "TensorFlow's own files, the output equals that of TensorFlow 2.21 byte for byte.",
        "",
        "files",
        *(_paragraph(f"-{name}", text) for name, text in files.items()),
        "",
        *option_help(),
        "",
        "of stepscope, and of tfprof's first years",
        *(_paragraph(f"-{name}", text) for name, text in own_options.items()),
    ]
    return "\n".join(lines)
