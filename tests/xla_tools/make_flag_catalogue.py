"""Makes the catalogue of flags:
python -m tests.xla_tools.make_flag_catalogue FOLDER VERSION … older FOLDER TITLE …

Each FOLDER is the package jaxlib of an unpacked wheel, oldest first. The libraries of this Python come last
and tell defaults, the flags of TF_XLA_FLAGS, and which fields no flag sets. Of older libraries, with titles
like "tensorflow 1.15.5", only flags are kept that none of these has.
"""

import json
import sys
from pathlib import Path
from typing import Any

from stepscope.xla_tools.flags import check, installed, table
from stepscope.xla_tools.flags.installed import Library
from stepscope.xla_tools.flags.line import Flag

OUT = Path(table.__file__).with_name("catalogue.json")


OF_FIELDS = {"hlo_reduce_precision_options": ("xla_reduce_precision", "string")}
"""Flags that have another name and type than their field."""
OLD_OF_TF = {
    "tf_introduce_floating_point_jitter_amount": "float",
    "tf_introduce_floating_point_jitter_to_tensors": "string",
}
"""Flags of TF_XLA_FLAGS, which no descriptor has; TF 1.15 has no others that are gone."""


def gone(words: list[str], there: set[str]) -> dict[str, list[str]]:
    """Flags of older libraries that are not there: variable, type, and the last library that has it."""
    found: dict[str, list[str]] = {}
    for folder, title in zip(words[::2], words[1::2], strict=True):
        library = Library("", "", Path(folder))
        file = table.read(library)
        message = table.debug_options(file) if file is not None else None
        assert message is not None, folder
        for one in message.fields:
            kind = one.type + (" list" if one.repeated else "")
            name, kind = OF_FIELDS.get(one.name, (one.name, kind))
            if one.name not in there:
                found[name] = ["XLA_FLAGS", kind, title]
        objects = [path.read_bytes() for path in installed.shared_objects(library)]
        for name, kind in OLD_OF_TF.items():
            if any(name.encode() + b"\0" in data for data in objects):
                found[name] = ["TF_XLA_FLAGS", kind, title]
    return dict(sorted(found.items()))


def main(words: list[str]) -> None:
    at = words.index("older") if "older" in words else len(words)
    words, older = words[:at], words[at + 1 :]
    here = installed.installed()
    libraries = [Library("jaxlib", words[i + 1], Path(words[i])) for i in range(0, len(words), 2)] + here
    flags: dict[str, dict[str, Any]] = {}
    for number, library in enumerate(libraries):
        file = table.read(library)
        assert file is not None, library
        message = table.debug_options(file)
        assert message is not None
        for one in message.fields:
            entry = flags.setdefault(one.name, {"in": []})
            entry["in"].append(number)
            entry["type"] = one.type + (" list" if one.repeated else "")
            if one.of in file.enums:
                entry["values"] = list(file.enums[one.of].values())
    rows = table.rows(here, None)
    jax = [row for row in rows if row["library"].startswith("jaxlib") and row["status"] == "flag"]
    for row in jax:
        if row["default"] is not None:
            flags[row["name"]]["default"] = row["default"]
    tried = [
        Flag(f"--{row['name']}={row['default']}", row["name"], row["default"])
        for row in jax
        if row["type"] in ("bool", "int32", "int64", "float", "double", "uint32")
        and row["default"] is not None
    ]
    verdicts = check.ask(next(one for one in here if one.name == "jaxlib"), "XLA_FLAGS", tried, None)
    jaxlib = next(one for one in here if one.name == "jaxlib")
    gone = [
        Flag(f"--{row['name']}=0", row["name"], "0")
        for row in rows
        if row["status"] in ("removed", "no field") and row["library"] == jaxlib.title
    ]
    verdicts_gone = check.ask(jaxlib, "XLA_FLAGS", gone, None)
    made = {
        "sources": [library.title for library in libraries],
        "flags": dict(sorted(flags.items())),
        "no_flags": sorted(one.name for one in tried if verdicts[one].kind == "unknown"),
        "no_fields": sorted(one.name for one in gone if verdicts_gone[one].kind in ("ok", "bad_value")),
        "tf": {
            row["name"]: [row["type"], row["default"]]
            for row in rows
            if row["variable"] == "TF_XLA_FLAGS" and row["status"] == "flag"
        },
        "gone": gone(older, set(flags)),
    }
    text = json.dumps(made, separators=(",", ":")).replace('},"', '},\n"').replace('],"no', '],\n"no')
    OUT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
