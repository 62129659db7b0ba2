"""What a release needs and no release has to be made for: one version, workflows, checks of wheels.

`make wheel` builds a wheel, checks it and tries it in an empty environment; that takes minutes.
"""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import stepscope
from tests.packaging.scripts import ROOT, script

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_all_places_name_one_version() -> None:
    version = script("version")
    assert set(version.others().values()) == {version.version()} == {stepscope.__version__}
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[project]")[2]
    assert 'dynamic = ["version"]' in project.partition("\n[")[0]
    members = (ROOT / "crates").glob("*/Cargo.toml")
    ours = [path.read_text(encoding="utf-8") for path in members if path.parent.name != "fuzz"]
    assert all("version.workspace = true" in text for text in ours)


def test_a_tag_must_be_the_version() -> None:
    done = subprocess.run(
        [sys.executable, "packaging/version.py", "9.9.9"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "the tag says 9.9.9" in done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_clean(path: Path) -> None:
    known = Path.home() / "go" / "bin" / "actionlint"
    found = shutil.which("actionlint") or (str(known) if known.exists() else None)
    if found is None:
        pytest.skip(
            "actionlint is not installed: go install github.com/rhysd/actionlint/cmd/actionlint@latest"
        )
    done = subprocess.run([found, str(path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_rights_are_few(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    uses = re.findall(r"uses: (\S+)(.*)", text)
    for action, rest in uses:
        if not action.startswith("./"):
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", rest), action
    assert re.search(r"^permissions:\n  contents: read$", text, re.MULTILINE)
    assert "secrets." not in text
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_every_platform_has_a_wheel() -> None:
    text = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    found = set(re.findall(r"target: ([a-z0-9_]+-[a-z0-9_-]+), tag", text))
    assert found == {
        *(f"{cpu}-unknown-linux-{libc}" for cpu in ("x86_64", "aarch64") for libc in ("gnu", "musl")),
        *("aarch64-apple-darwin", "x86_64-apple-darwin", "x86_64-pc-windows-msvc"),
    }


CONTENTS = (
    "stepscope/py.typed",
    "stepscope/lake/schema.sql",
    "stepscope/library/findings/input_wait.sql",
    "stepscope/server/assets/index.html",
    "stepscope/capture/_start/sitecustomize.py",
    "stepscope_start/__init__.py",
    "stepscope-0.1.0.dist-info/licenses/LICENSE",
    "stepscope-0.1.0.dist-info/licenses/THIRD-PARTY-NOTICES",
)
NEW = "manylinux_2_28"


def wheel(
    folder: Path, tags: str = f"cp310-abi3-{NEW}_x86_64", core: bytes = b"GLIBC_2.17", less: str = ""
) -> Path:
    """A file that looks like a wheel."""
    path = folder / f"stepscope-0.1.0-{tags}.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for name in CONTENTS:
            if name != less:
                packed.writestr(name, "x")
        packed.writestr("stepscope/_core.abi3.so", core)
    return path


def test_a_good_wheel(tmp_path: Path) -> None:
    script("wheel").check([wheel(tmp_path, core=b"\0GLIBC_2.28\0GLIBC_2.9\0")], NEW)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tags": "cp310-abi3-manylinux_2_34_x86_64"}, "not manylinux_2_28"),
        ({"tags": "cp310-abi3-linux_x86_64"}, "not manylinux_2_28"),
        ({"tags": f"cp311-cp311-{NEW}_x86_64"}, "not cp310-abi3"),
        ({"core": b"GLIBC_2.34"}, "needs glibc 2.34"),
        *(({"less": name}, "lacks") for name in CONTENTS),
    ],
)
def test_a_wheel_that_is_refused(tmp_path: Path, given: dict[str, str], said: str) -> None:
    check = script("wheel")
    with pytest.raises(check.Wrong, match=re.escape(said)):
        check.check([wheel(tmp_path, **given)], NEW)  # type: ignore[arg-type]
    with pytest.raises(check.Wrong):
        check.check([], NEW)


def test_a_core_without_glibc() -> None:
    assert script("wheel").glibc(b"macho") == (0, 0)


def test_what_is_told_beside_the_code() -> None:
    for name in ("RELEASING.md", "CITATION.cff", "deny.toml", "zensical.toml", "THIRD-PARTY-NOTICES"):
        assert (ROOT / name).stat().st_size > 100
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for minor in range(10, 15):
        assert f'"Programming Language :: Python :: 3.{minor}"' in project


def test_all_places_name_one_repository() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    urls = project.partition("[project.urls]\n")[2].partition("\n\n")[0]
    told = dict(re.findall(r'^(\w+) = "(.+)"$', urls, re.MULTILINE))
    assert set(told) == {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    source, site = told["Source"], told["Documentation"]
    assert told["Issues"] == f"{source}/issues"
    assert told["Changelog"] == f"{source}/blob/main/CHANGELOG.md"
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nrepository-code: {source}\nurl: {site}\n" in cited
    assert f'\nsite_url = "{site}"\n' in (ROOT / "zensical.toml").read_text(encoding="utf-8")
    assert f"<{source}/security/advisories/new>" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert source.removeprefix("https://github.com/") in (ROOT / "RELEASING.md").read_text(encoding="utf-8")
