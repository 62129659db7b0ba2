"""The committed page is what its sources build, byte for byte, every time."""

import gzip
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from stepscope import presenters
from stepscope.server.assets import FOLDER
from tests.tiers import cases

WEB = Path(__file__).parents[2] / "web"
MOST_BYTES = 350_000
"""Budget of the whole page, gzipped."""
MOST_IN_REPORT = 40_000
"""The same of what each report carries, and each thing that a notebook shows."""
REPORT = Path(presenters.__file__).with_name("page")


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture(scope="module")
def vite() -> list[str]:
    node, program = shutil.which("node"), WEB / "node_modules" / "vite" / "bin" / "vite.js"
    if node is None or not program.is_file():
        pytest.skip(
            "no Node or no web/node_modules to build the page with: run npm ci --ignore-scripts in web/"
        )
    return [node, str(program), "build", "--emptyOutDir", "--outDir"]


def test_the_page_keeps_its_budget() -> None:
    assert sum(len(gzip.compress(content)) for content in _files(FOLDER).values()) <= MOST_BYTES


def test_the_page_of_a_report_keeps_its_budget_and_fits_into_html() -> None:
    found = _files(REPORT)
    assert found.keys() == {"page.js", "page.css", "notices.md"}
    assert sum(len(gzip.compress(content)) for content in found.values()) <= MOST_IN_REPORT
    script = found["page.js"].lower()
    assert b"</script" not in script
    assert b"<!--" not in script
    assert b"</style" not in found["page.css"].lower()


def test_notices_name_what_is_bundled_with_its_licence() -> None:
    notices = (FOLDER / "THIRD-PARTY-NOTICES.md").read_text(encoding="utf-8")
    head, *each = notices.split("\n## ")
    assert head.startswith("# Licenses")
    locked = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    told = {one.split(" - ")[0] for one in each}
    assert told >= json.loads((WEB / "package.json").read_text(encoding="utf-8"))["dependencies"].keys()
    for one in each:
        title, _, text = one.partition("\n")
        name, version = title.partition(" (")[0].split(" - ")
        assert locked[f"node_modules/{name}"]["version"] == version
        assert title.endswith("(MIT)"), "another licence is a decision"
        assert "Copyright" in text
        assert "permission notice shall be included" in text


def test_every_build_equals_what_is_kept(vite: list[str], tmp_path: Path) -> None:
    for name in ("first", "second")[: cases(1, 2)]:
        built = tmp_path / name / "server" / "assets"
        subprocess.run([*vite, str(built)], cwd=WEB, check=True, capture_output=True)
        assert _files(built) == _files(FOLDER), "run make web and commit what it builds"
        report = tmp_path / name / "presenters" / "page"
        assert _files(report) == _files(REPORT), "run make web and commit what it builds"


@pytest.mark.usefixtures("vite")
def test_sources_pass_their_own_tests() -> None:
    command = ["node", str(WEB / "node_modules" / "vitest/vitest.mjs"), "run"]
    command += ["--testTimeout=240000", "--no-isolate", "--maxWorkers=1"]
    checked = subprocess.run(command, cwd=WEB, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_no_text_becomes_markup() -> None:
    sinks = (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "setHTMLUnsafe",
    )
    sources = list((WEB / "src").rglob("*.ts*"))
    assert sources
    found = [
        (path.name, sink) for path in sources for sink in sinks if sink in path.read_text(encoding="utf-8")
    ]
    assert found == []
