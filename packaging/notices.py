"""The notices of what others wrote and our wheels contain: crates in the core, JavaScript in the page.

    python packaging/notices.py write           writes THIRD-PARTY-NOTICES (needs cargo-about, see about.toml)
    python packaging/notices.py check           fails when it names other packages than are linked and bundled

Which crates are linked, for every platform that wheels are built for, is what `cargo tree` says: without
procedural macros and what only builds. Their texts are what cargo-about finds in them. The notices of the
JavaScript are those that the build of the page writes beside it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
NOTICES = ROOT / "THIRD-PARTY-NOTICES"
PAGE = ROOT / "src" / "stepscope" / "server" / "assets" / "THIRD-PARTY-NOTICES.md"
"""Written by `make web`."""
CRATE = ROOT / "crates" / "python" / "Cargo.toml"
RULE = "=" * 80
_LISTED = re.compile(r"^- (\S+) (\S+) \(.+\)", re.MULTILINE)
_BUNDLED = re.compile(r"^## (\S+) - (\S+) \(.+\)$", re.MULTILINE)
_HEAD = """\
Third-party notices

stepscope is under the Apache License 2.0: see LICENSE. Its wheels also contain what others wrote: the crates
below, linked into stepscope/_core, and JavaScript in stepscope/server/assets and stepscope/presenters. These
are their licences and notices. `make notices` writes this file.

The core also contains parts of the standard library of Rust (https://github.com/rust-lang/rust), copyright
The Rust Project Contributors, under the MIT License or the Apache License 2.0; the texts of both are below.
"""


class Wrong(Exception):
    """What is wrong, and what to do, in a sentence."""


class Package(NamedTuple):
    """A package by name and version."""

    name: str
    version: str


class Text(NamedTuple):
    """The text of a licence or notice, and whose it is."""

    title: str
    text: str
    of: tuple[Package, ...]


def targets() -> list[str]:
    """The platforms that wheels are built for."""
    text = (ROOT / "about.toml").read_text(encoding="utf-8").partition("\ntargets = [\n")[2].partition("]")[0]
    return re.findall(r'"([^"]+)"', text)


def linked(platforms: Iterable[str], *options: str) -> frozenset[Package]:
    """The crates that are linked into the core on any of these platforms, ours left out. options: more words
    for `cargo tree`. Wrong when it cannot tell."""
    found = set()
    for platform in platforms:
        told = _run(
            *("cargo", "tree", "--locked", "--manifest-path", str(CRATE), "--target", platform),
            *("--features", "pyo3/extension-module", "--edges", "normal,no-proc-macro"),
            *("--prefix", "none", "--no-dedupe", "--format", "{p}", *options),
        )
        for line in told.splitlines():
            name, version, *path = line.split()
            if not path:  # ours have a path
                found.add(Package(name, version.removeprefix("v")))
    return frozenset(found)


def bundled(text: str) -> frozenset[Package]:
    """The packages in the JavaScript of the page, by the notices of its build or by the whole file."""
    return frozenset(Package(*one) for one in _BUNDLED.findall(text))


def listed(text: str) -> frozenset[Package]:
    """The crates that the file names."""
    return frozenset(Package(*one) for one in _LISTED.findall(text.partition(RULE)[0]))


def gathered() -> Mapping[str, Any]:
    """What cargo-about finds in all crates."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "about.json")
        _run(
            *("cargo", "about", "generate", "--locked", "--fail", "--config", str(ROOT / "about.toml")),
            *("--manifest-path", str(CRATE), "--format", "json", "--output-file", str(out)),
        )
        found: Mapping[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return found


def texts(found: Mapping[str, Any], wanted: frozenset[Package]) -> list[Text]:
    """The texts of the licences of some crates, and their notices. Wrong when a crate has no text of its own:
    the usual words of a licence lack the copyright, but for the Apache License, which names nobody."""
    made = []
    for one in found["licenses"]:
        of = sorted({Package(by["crate"]["name"], by["crate"]["version"]) for by in one["used_by"]} & wanted)
        if of and one["source_path"] is None and one["id"] != "Apache-2.0":
            names = ", ".join(package.name for package in of)
            raise Wrong(f"cargo-about finds no text of {one['id']} in {names}: name the file in about.toml")
        if of:
            made.append(Text(one["name"], _plain(one["text"]), tuple(of)))
    lacking = wanted - {package for one in made for package in one.of}
    if lacking:
        raise Wrong(f"cargo-about finds no licence of {', '.join(sorted(one.name for one in lacking))}")
    return made + _own_notices(found, wanted)


def _own_notices(found: Mapping[str, Any], wanted: frozenset[Package]) -> list[Text]:
    """The files called NOTICE, which the Apache License wants passed on."""
    by_text: dict[str, list[Package]] = {}
    for one in found["crates"]:
        package = Package(one["package"]["name"], one["package"]["version"])
        if package in wanted:
            for path in sorted(Path(one["package"]["manifest_path"]).parent.glob("NOTICE*")):
                by_text.setdefault(_plain(path.read_text(encoding="utf-8")), []).append(package)
    return [Text("Notice", text, tuple(sorted(of))) for text, of in by_text.items()]


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def rendered(found: Mapping[str, Any], wanted: frozenset[Package], page: str) -> str:
    """THIRD-PARTY-NOTICES. page: the notices of the JavaScript."""
    lines = [
        f"- {one['package']['name']} {one['package']['version']} ({one['license']})"
        for one in found["crates"]
        if Package(one["package"]["name"], one["package"]["version"]) in wanted
    ]
    parts = [_HEAD.strip(), "Crates", "\n".join(sorted(lines))]
    for one in texts(found, wanted):
        parts += [RULE, f"{one.title}: {', '.join(f'{of.name} {of.version}' for of in one.of)}", one.text]
    return "\n\n".join([*parts, RULE, f"JavaScript\n\n{page[page.index('## ') :].strip()}"]) + "\n"


def _run(*words: str) -> str:
    try:
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    except FileNotFoundError:
        raise Wrong(f"{words[0]} is not on PATH") from None
    if done.returncode:
        raise Wrong(f"{' '.join(words[:3])} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def _say(found: Iterable[Package]) -> str:
    return ", ".join(f"{one.name} {one.version}" for one in sorted(found))


def check() -> None:
    """Wrong when the file names other packages than are linked and bundled."""
    text = NOTICES.read_text(encoding="utf-8")
    for what, told, there in (
        ("crates are linked", listed(text), linked(targets())),
        ("packages are bundled", bundled(text), bundled(PAGE.read_text(encoding="utf-8"))),
    ):
        if told != there:
            raise Wrong(
                f"{NOTICES.name} is stale: {what} that it lacks ({_say(there - told) or 'none'}), and it "
                f"has others ({_say(told - there) or 'none'}); run `make notices`"
            )


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("write", "check"))
    given = parser.parse_args(arguments)
    try:
        if given.step == "write":
            page = PAGE.read_text(encoding="utf-8")
            NOTICES.write_text(rendered(gathered(), linked(targets()), page), encoding="utf-8", newline="\n")
        check()
    except (Wrong, OSError) as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
