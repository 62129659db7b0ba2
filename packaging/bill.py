"""What a wheel is made of: the crates that are linked into it, with licences, and a CycloneDX bill.

    python packaging/bill.py --write            writes LICENSES-RUST.md
    python packaging/bill.py --check            fails when it is stale, or when a licence is not allowed
    python packaging/bill.py --sbom FILE        writes the bill as CycloneDX JSON

It asks `cargo metadata`, which needs no network once the crates of Cargo.lock are there.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from version import ROOT, version

LIST = ROOT / "LICENSES-RUST.md"
TOP = "stepscope-python"
Package = dict[str, Any]


def linked() -> list[Package]:
    """The packages that are linked into the core on any platform, ours left out: no dependencies of build
    scripts or tests, no procedural macros. In order of name and version."""
    told = json.loads(
        subprocess.run(
            ["cargo", "metadata", "--format-version", "1", "--locked", "--features", "pyo3/extension-module"],
            cwd=ROOT / "crates" / "python",
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
    packages: dict[str, Package] = {one["id"]: one for one in told["packages"]}
    nodes = {one["id"]: one for one in told["resolve"]["nodes"]}
    todo = [one["id"] for one in told["packages"] if one["name"] == TOP]
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen or any("proc-macro" in target["kind"] for target in packages[name]["targets"]):
            continue
        seen.add(name)
        for needed in nodes[name]["deps"]:
            if any(kind["kind"] is None for kind in needed["dep_kinds"]):
                todo.append(needed["pkg"])
    found = [packages[name] for name in seen if packages[name]["source"] is not None]
    return sorted(found, key=lambda one: (one["name"], one["version"]))


def licence(package: Package) -> str:
    """A licence as an SPDX expression; old manifests write / for OR."""
    return re.sub(r"\s*/\s*", " OR ", package["license"] or "unknown")


def allowed() -> frozenset[str]:
    """The licences that deny.toml allows."""
    text = (ROOT / "deny.toml").read_text(encoding="utf-8")
    block = re.search(r"^allow = \[(.*?)\]", text, re.DOTALL | re.MULTILINE)
    assert block is not None
    return frozenset(re.findall(r'"([^"]+)"', block[1]))


def is_allowed(expression: str, known: frozenset[str]) -> bool:
    """Whether an expression of SPDX can be met: OR of ANDs of names, with brackets at one depth."""
    expression = re.sub(
        r"\(([^()]*)\)", lambda m: "yes" if is_allowed(m[1], known | {"yes"}) else "no", expression
    )
    parts = [part.strip() for part in expression.split(" OR ")]
    return any(all(one.strip() in known | {"yes"} for one in part.split(" AND ")) for part in parts)


def listing(packages: list[Package]) -> str:
    """LICENSES-RUST.md."""
    lines = [
        "# Crates in the core",
        "",
        "The core of stepscope is linked from these crates; `make bill` makes this list. The texts of the",
        "licences are in the sources of the crates.",
        "",
        "| crate | version | licence | source |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {one['name']} | {one['version']} | {licence(one)} | {one['repository'] or ''} |"
        for one in packages
    ]
    return "\n".join(lines) + "\n"


def sbom(packages: list[Package]) -> Package:
    """The bill of materials in the form of CycloneDX 1.5."""
    checksums = {
        (name, number): checksum
        for name, number, checksum in re.findall(
            r'name = "([^"]+)"\nversion = "([^"]+)"\nsource = "[^"]+"\nchecksum = "([0-9a-f]{64})"',
            (ROOT / "Cargo.lock").read_text(encoding="utf-8"),
        )
    }
    components = []
    for one in packages:
        purl = f"pkg:cargo/{one['name']}@{one['version']}"
        components.append(
            {
                "type": "library",
                "bom-ref": purl,
                "name": one["name"],
                "version": one["version"],
                "purl": purl,
                "licenses": [{"expression": licence(one)}],
                "hashes": [{"alg": "SHA-256", "content": checksums[one["name"], one["version"]]}],
            }
        )
    own = f"pkg:pypi/stepscope@{version()}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "stepscope",
                "version": version(),
                "purl": own,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": components,
        "dependencies": [{"ref": own, "dependsOn": [one["bom-ref"] for one in components]}],
    }


def main() -> int:
    """Writes or checks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--sbom", type=Path)
    given = parser.parse_args()
    packages = linked()
    if given.write:
        LIST.write_text(listing(packages), encoding="utf-8")
    if given.sbom is not None:
        given.sbom.write_text(json.dumps(sbom(packages), indent=1) + "\n", encoding="utf-8")
    refused = [one["name"] for one in packages if not is_allowed(licence(one), allowed())]
    if given.check and refused:
        print(f"error: deny.toml does not allow the licence of {', '.join(refused)}", file=sys.stderr)
        return 1
    if given.check and (not LIST.is_file() or LIST.read_text(encoding="utf-8") != listing(packages)):
        print(f"error: {LIST.name} is stale: python packaging/bill.py --write", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
