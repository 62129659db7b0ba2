"""THIRD-PARTY-NOTICES: nothing in a wheel lacks its licence, and nothing is named that is not there."""

import json
import re
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.packaging.scripts import ROOT, script

TEXT = (ROOT / "THIRD-PARTY-NOTICES").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def notices() -> ModuleType:
    return script("notices")


def locked_crates() -> set[tuple[str, str]]:
    """Names and versions of Cargo.lock."""
    text = (ROOT / "Cargo.lock").read_text(encoding="utf-8")
    return set(re.findall(r'^name = "(.+)"\nversion = "(.+)"$', text, re.MULTILINE))


def locked_packages() -> dict[str, str]:
    """Names and versions of what web/package-lock.json has for the page itself, not for building it."""
    packages = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    return {
        place.removeprefix("node_modules/"): one["version"]
        for place, one in packages.items()
        if place and not one.get("dev")
    }


def test_crates_are_those_of_the_lock(notices: ModuleType) -> None:
    named = notices.listed(TEXT)
    assert len(named) > 30
    assert named <= locked_crates(), "stale: make notices"
    assert {"arrow-array", "zstd-sys", "pyo3"} <= {one.name for one in named}
    assert not {"proptest", "syn", "serde_derive"} & {one.name for one in named}


def test_every_linked_crate_is_named(notices: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path.home() / ".cargo" / "bin"), prepend=":")
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not on PATH")
    try:
        told = notices.linked(notices.targets(), "--offline")
    except notices.Wrong as wrong:
        if "--offline" not in str(wrong):
            raise
        # The crates of other platforms were not fetched: those of this one are enough to see a new crate.
        here = re.findall(r"^host: (.+)$", notices._run("rustc", "-vV"), re.MULTILINE)
        assert notices.linked(here, "--offline") <= notices.listed(TEXT), "stale: make notices"
        return
    assert told == notices.listed(TEXT), "stale: make notices"


def test_every_crate_has_its_text(notices: ModuleType) -> None:
    crates, _, javascript = TEXT.partition(f"\n{notices.RULE}\n\nJavaScript\n")
    covered = set()
    for part in crates.split(f"\n{notices.RULE}\n")[1:]:
        title, _, text = part.strip().partition("\n\n")
        assert len(text) > 150, title
        covered |= {tuple(one.split()) for one in title.partition(": ")[2].split(", ")}
    assert covered == {tuple(one) for one in notices.listed(TEXT)}
    for line in ("Copyright (c) Meta Platforms, Inc. and affiliates.", "The Apache Software Foundation"):
        assert line in crates
    assert "Permission is hereby granted" in javascript


def test_every_package_of_the_page_has_its_notice(notices: ModuleType) -> None:
    page = notices.PAGE.read_text(encoding="utf-8")
    named = {one.name: one.version for one in notices.bundled(TEXT)}
    assert named == {one.name: one.version for one in notices.bundled(page)}, "stale: make notices"
    assert page[page.index("## ") :].strip() in TEXT, "stale: make notices"
    locked = locked_packages()
    assert named == {name: locked.get(name) for name in named}, "stale: make web notices"
    asked = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert set(asked) <= set(named), "stale: make web notices"
    for part in page.split("\n## ")[1:]:
        assert "opyright" in part, part.partition("\n")[0]


def test_licences_and_platforms_are_named_once(notices: ModuleType) -> None:
    def listed(name: str, key: str) -> list[str]:
        text = (ROOT / name).read_text(encoding="utf-8")
        return re.findall(r'"(.+)"', text.partition(f"\n{key} = [\n")[2].partition("\n]")[0])

    assert sorted(listed("about.toml", "accepted")) == sorted(listed("deny.toml", "allow"))
    workflow = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    assert set(notices.targets()) == set(re.findall(r"target: ([a-z0-9_]+-[a-z0-9_-]+), tag", workflow))


def found(folder: Path, **changes: Any) -> dict[str, Any]:
    """What cargo-about says of two crates, a and b, of which b is not linked."""
    crates = []
    for name in "ab":
        (folder / name).mkdir()
        manifest = str(folder / name / "Cargo.toml")
        package = {"name": name, "version": "1.0.0", "manifest_path": manifest, "repository": None}
        crates.append({"package": package, "license": "MIT"})
    licence = {"name": "MIT License", "id": "MIT", "text": "Copyright A\n", "source_path": "a/LICENSE"}
    used = [{"crate": one["package"]} for one in crates]
    return {"crates": crates, "licenses": [{**licence, "used_by": used, **changes}]}


def test_what_is_written(notices: ModuleType, tmp_path: Path) -> None:
    known = found(tmp_path)
    (tmp_path / "a" / "NOTICE.txt").write_text("Made by A\n")
    wanted = frozenset({notices.Package("a", "1.0.0")})
    text = notices.rendered(known, wanted, "# Licenses\n\n## c - 2.0.0 (MIT)\n\nCopyright C\n")
    assert notices.listed(text) == wanted
    assert notices.bundled(text) == {notices.Package("c", "2.0.0")}
    for part in ("MIT License: a 1.0.0\n\nCopyright A", "Notice: a 1.0.0\n\nMade by A", "Copyright C"):
        assert part in text
    assert "b 1.0.0" not in text


@pytest.mark.parametrize("changes", [{"source_path": None}, {"used_by": []}])
def test_a_crate_without_a_text_of_its_own_is_refused(
    notices: ModuleType, tmp_path: Path, changes: dict[str, Any]
) -> None:
    known = found(tmp_path, **changes)
    with pytest.raises(notices.Wrong, match="cargo-about finds no"):
        notices.texts(known, frozenset({notices.Package("a", "1.0.0")}))


def test_a_stale_file_is_told(notices: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "linked", lambda _: frozenset({notices.Package("new", "1.0.0")}))
    with pytest.raises(notices.Wrong, match=r"lacks \(new 1\.0\.0\)"):
        notices.check()
