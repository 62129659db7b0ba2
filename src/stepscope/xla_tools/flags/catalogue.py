"""Our own catalogue of flags: what the libraries know that its sources name, for machines that have none.

catalogue.json is made by tests/xla_tools/make_flag_catalogue.py from unpacked wheels; a test holds it
against the installed libraries. It has names, types and defaults, not the text of their help.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from stepscope.xla_tools.flags import variables


class Catalogue(NamedTuple):
    """What is known of flags.

    sources: titles of libraries, the jaxlibs in the order of their versions. flags: of XLA_FLAGS by name,
    with type, values, default and the numbers of the sources that have it. no_flags: fields that no flag
    sets. no_fields: flags whose field is gone, and that the newest jaxlib still takes. tf: flags of
    TF_XLA_FLAGS with type and default. gone: flags of older libraries than these, with the variable, the type
    and the last library that has it, of TensorFlow 1.15, 2.1, 2.4, 2.8, 2.12 and jaxlib 0.4.13 and 0.4.19.
    """

    sources: list[str]
    flags: dict[str, dict[str, Any]]
    no_flags: list[str]
    no_fields: list[str]
    tf: dict[str, list[str]]
    gone: dict[str, list[str]]

    def span(self, name: str) -> tuple[str | None, str | None]:
        """The first and the last jaxlib with a flag; the last only when newer ones lack it."""
        jax = [i for i, title in enumerate(self.sources) if title.startswith("jaxlib ")]
        had = [i for i in self.flags.get(name, {}).get("in", ()) if i in jax]
        if not had:
            return None, None
        first = self.sources[had[0]].partition(" ")[2]
        since = f"{first} or earlier" if had[0] == jax[0] else first
        return since, None if had[-1] == jax[-1] or name in self.no_fields else self.sources[
            had[-1]
        ].partition(" ")[2]

    def rows(self) -> list[dict[str, Any]]:
        """The flags as rows of the table."""
        found = []
        for name, flag in sorted(self.flags.items()):
            since, until = self.span(name)
            found.append(
                {
                    "name": name,
                    "variable": "XLA_FLAGS",
                    "library": ", ".join(self.sources[i] for i in flag["in"][-1:]),
                    "type": flag["type"],
                    "default": flag.get("default"),
                    "values": " ".join(flag["values"]) if flag.get("values") else None,
                    "status": "removed" if until else "dead" if name in variables.IDLE else "flag",
                    "since": since,
                    "until": until,
                    "doc": variables.doc(name),
                }
            )
        return found

    def rows_of_older(self) -> list[dict[str, Any]]:
        """The flags that only older libraries have, as rows of the table."""
        return [
            {
                **dict.fromkeys(("default", "values", "since")),
                **{"name": name, "variable": variable, "library": last, "type": kind},
                **{"status": "removed", "until": last, "doc": variables.doc(name)},
            }
            for name, (variable, kind, last) in self.gone.items()
        ]

    def rows_of_tensorflow(self) -> list[dict[str, Any]]:
        """The flags of TF_XLA_FLAGS as rows of the table."""
        title = next((title for title in self.sources if title.startswith("tensorflow")), "")
        return [
            {
                **dict.fromkeys(("values", "since", "until")),
                **{"name": name, "variable": "TF_XLA_FLAGS", "library": title, "type": kind},
                **{"default": default, "status": "flag", "doc": variables.doc(name)},
            }
            for name, (kind, default) in sorted(self.tf.items())
        ]


@cache
def load() -> Catalogue:
    """The catalogue of this installation."""
    path = Path(__file__).with_name("catalogue.json")
    return Catalogue(**json.loads(path.read_text(encoding="utf-8")))
