"""The documentation is true: everything has its entry, links lead somewhere, commands run."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepscope import library, reference
from stepscope.attach import kernel, tools
from stepscope.cli import VERBS, main
from stepscope.instruments.pipeline.changes import PredictedChange
from stepscope.instruments.pipeline.model import Prediction
from stepscope.instruments.pipeline.places import UserStage
from stepscope.instruments.pipeline.verify import ChainEdit, Verification
from stepscope.lake.schema import schema
from stepscope.messages import MESSAGES
from stepscope.presenters import scroll
from stepscope.reference import pages
from stepscope.report import verification

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
"""Made by `make docs`, and not in git: what it says is asked of stepscope.reference."""
PROSE = sorted(
    path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")] if REFERENCE not in path.parents
)
SITE = "https://stepscope.github.io/stepscope/"
COMMANDS = [path for path in PROSE if "\n```sh\n" in path.read_text(encoding="utf-8")]


def test_the_reference_is_made_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["docs", "--write", str(tmp_path / "reference")]) == 0
    assert f"wrote {len(pages())} pages" in capsys.readouterr().err
    for name, text in pages().items():
        assert (tmp_path / "reference" / name).read_text(encoding="utf-8") == text
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "/docs/reference/" in ignored


def test_links_of_the_reference_lead_somewhere() -> None:
    made = pages()
    for name, text in made.items():
        for link in links(text):
            target, _, anchor = link.partition("#")
            assert target in made, f"{name}: {link}"
            assert not anchor or anchor in headings(made[target]), f"{name}: {link}"


def test_everything_has_its_entry() -> None:
    names = {entry.name for entry in reference.entries()}
    assert set(schema().names) <= names
    assert set(MESSAGES) <= names
    for entry in library.entries():
        if not entry.private:
            assert (entry.slug if entry.kind == "finding" else entry.name) in names
    for entry in reference.entries():
        assert entry.line, entry.name
        assert f"# {entry.name}" in reference.look_up(entry.name)


def test_a_column_can_be_looked_up() -> None:
    assert "busy time" in reference.look_up("slice.self_ps")


@pytest.mark.parametrize("path", PROSE, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for link in links(path.read_text(encoding="utf-8")):
        if link.startswith(SITE):
            page = link.removeprefix(SITE).rstrip("/")
            assert page == "reference" or f"{page.removeprefix('reference/')}.md" in pages(), link
        elif not re.match(r"https?:", link):
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path
            assert target.exists(), link
            assert REFERENCE not in target.parents, f"{link} is not in git"
            assert not anchor or anchor in headings(target.read_text(encoding="utf-8")), link


def links(text: str) -> list[str]:
    """The targets of the links of a page of Markdown."""
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def headings(text: str) -> list[str]:
    """The anchors of the headings of a page of Markdown."""
    found = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found]


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_need_nothing_but_the_repository(path: Path) -> None:
    """A block that asks for a program of the reader's, or for a shell, is not marked as `sh`."""
    for program, *words in commands_of_page(path):
        assert program == "stepscope"
        assert not {"|", "||", "&&", ";"} & set(words)
        assert not [word for word in words if word.endswith(".py")], "a program of the reader's"


@pytest.mark.repeats("verbs have tests of their own")
@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    commands = commands_of_page(path)
    assert commands
    for _, *words in commands:
        code = main(words)
        captured = capsys.readouterr()
        assert code == 0, f"{shlex.join(words)}\n{captured.err}"
        if words[0] not in VERBS or words[0] in ("query", "docs", "summary"):
            assert len(captured.out.splitlines()) >= 3, f"{shlex.join(words)} says nothing:\n{captured.out}"


def items() -> list[tuple[str, str]]:
    """What the article does, and what does it here."""
    page = (ROOT / "docs" / "how-to" / "debug-an-xla-program.md").read_text(encoding="utf-8")
    table = page.partition("## The old ways")[2]
    rows = re.findall(r"^\| (.*?) \| (.*) \|$", table, re.MULTILINE)
    return [(item, what) for item, what in rows if item != "what the article does"]


@pytest.fixture(scope="module")
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A Python that waits and calls the system meanwhile, to look at."""
    code = "import os, select, sys\nwhile not select.select([sys.stdin], [], [], 0.01)[0]: os.getppid()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        yield process


@pytest.mark.repeats("each item is a process, some of them of JAX and gdb")
@pytest.mark.parametrize(("item", "what"), items(), ids=lambda text: text[:40])
def test_every_item_of_the_article_has_its_command(
    item: str, what: str, tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    ((program, *words),) = commands_of(what.removeprefix("`").removesuffix("`"))
    assert program == "stepscope"
    if words[:2] == ["xla", "symbols"]:
        pytest.importorskip("jaxlib")
    if words[:2] == ["xla", "ops-supported"]:
        pytest.importorskip("tensorflow")
    if "PID" in words:
        if tools.find("py-spy") is None and tools.find("gdb") is None:
            pytest.skip("neither py-spy nor gdb is installed")
        if kernel.refusal(sleeper.pid) is not None:
            pytest.skip("this system forbids tracing")
        words = [str(sleeper.pid) if word == "PID" else word for word in words]
    text = TRAIN
    if "--break" in words:
        if tools.find("gdb") is None:
            pytest.skip("gdb is not installed")
        # gdb takes a minute to read TensorFlow; libc has a function that a program calls, too.
        words[words.index("--break") + 1] = "getppid"
        text = "import ctypes\nctypes.CDLL(None).getppid()\n"
    elif "train.py" in words:
        pytest.importorskip("jax")
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    (tmp_path / "train.py").write_text(text)
    environment = {
        **os.environ,
        "STEPSCOPE_CACHE_DIR": str(tmp_path / "cache"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        [sys.executable, "-m", "stepscope", *words],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    written = [words[at + 1] for at, word in enumerate(words) if word in ("-o", "--dump")]
    assert all((tmp_path / part).exists() for part in written)
    assert len(done.stdout.splitlines()) >= 3 or written


TRAIN = """
import jax, jax.numpy as jnp
step = jax.jit(lambda a: jnp.tanh(a @ a))
for _ in range(8):
    jax.block_until_ready(step(jnp.ones((64, 64))))
"""


def commands_of_page(path: Path) -> list[list[str]]:
    """The commands of a page that are marked as `sh`."""
    blocks = re.findall(r"^```sh\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [words for block in blocks for words in commands_of(block)]


def commands_of(block: str) -> list[list[str]]:
    """The commands of a shell block; quotes may span lines."""
    found: list[list[str]] = []
    text = ""
    for line in block.splitlines():
        text += line
        try:
            words = shlex.split(text, comments=True)
        except ValueError:  # a quote is still open
            text += "\n"
            continue
        if words:
            found.append(words)
        text = ""
    assert text == ""
    return found


def test_every_verb_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for verb in VERBS:
        assert verb == "summary" or f"stepscope {verb}" in readme


def test_the_output_of_the_pipeline_page_is_that_of_its_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "how-to" / "input-bound.md").read_text(encoding="utf-8")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["pipeline", "tests/samples/capture/slow_map"]) == 0
    assert f"```text\n{capsys.readouterr().out}```\n" in text


def test_the_verification_of_the_pipeline_page_is_in_our_words() -> None:
    text = (ROOT / "docs" / "how-to" / "input-bound.md").read_text(encoding="utf-8")
    ms = 10**9
    prediction = Prediction(15 * ms, 134 * ms // 10, 301 * ms // 10, "")
    change = PredictedChange("parallelise_map", "Iterator::Root::Map", {}, prediction, True)
    edit = ChainEdit("parallelism", UserStage(0, 1, "map", None, "train.py", 17, None), None, -1)
    result = Verification((edit,), change, 301 * ms // 10, 2025 * ms // 100)
    shown = scroll.render(verification.build(result, "before", "after"), width=100)
    assert f"\n{shown.rstrip()}\n```\n" in text
