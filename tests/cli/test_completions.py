"""Completions are tried in the shells that are here; the manual page by the formatter of man."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from stepscope import cli
from stepscope.cli import main
from stepscope.cli.shape import shapes
from stepscope.cli.shells import SHELLS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Path]:
    made = {}
    for shell in SHELLS:
        assert main(["completions", shell]) == 0
        made[shell] = tmp_path / f"script.{shell}"
        made[shell].write_text(capsys.readouterr().out)
    return made


CASES = [
    (["sum"], {"summary"}, {"query"}),
    (["query", "x", "--for"], {"--format"}, {"--force-not"}),
    (["query", "x", "--format", ""], {"table", "json", "csv", "md"}, {"--format"}),
    (["query", "x", "@op_t"], {"@op_types", "@op_time_over_steps"}, {"@ops"}),
    (["docs", "findin"], {"findings"}, {"tables"}),
    (["completions", "f"], {"fish"}, {"bash"}),
    (["xla", "d"], {"dumps", "diff"}, {"replay"}),
    (["tfprof", "-min_mi"], {"-min_micros"}, {"-max_depth"}),
    (["tests/samples/capt"], {"tests/samples/capture"}, {"summary"}),
    (["--lake", "tests/samples/capt"], {"tests/samples/capture"}, {"summary"}),
]


def run(*words: str, env: dict[str, str] | None = None) -> list[str]:
    done = subprocess.run(
        words, capture_output=True, text=True, check=True, cwd=ROOT, env={**os.environ, **(env or {})}
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize(
    ("words", "offered", "others"), CASES, ids=lambda one: " ".join(one) if isinstance(one, list) else ""
)
def test_bash(scripts: dict[str, Path], words: list[str], offered: set[str], others: set[str]) -> None:
    program = (
        'source "$1"; shift; COMP_WORDS=("stepscope" "$@"); COMP_CWORD=$#; '
        '_stepscope; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    # Outside of a completion bash says that compopt has nothing to set; in one it says nothing.
    found = set(run("bash", "--norc", "-c", program, "bash", str(scripts["bash"]), *words))
    if found == {""}:  # the default of the shell, names of files, comes after an empty answer
        found = set(run("bash", "--norc", "-c", 'compgen -f -- "$1"', "bash", words[-1]))
    assert offered <= found
    assert not others & found


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_splits_at_equals_and_at(scripts: dict[str, Path]) -> None:
    program = (
        'source "$1"; shift; COMP_WORDS=("stepscope" "$@"); COMP_CWORD=$#; '
        '_stepscope; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    assert run("bash", "--norc", "-c", program, "bash", str(scripts["bash"]), "x", "--format", "=", "j") == [
        "json"
    ]
    found = run("bash", "--norc", "-c", program, "bash", str(scripts["bash"]), "query", "x", "@", "op_ty")
    assert "@op_types" in found  # readline leaves the @ in the word that it replaces


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here")
def test_tab_in_bash_keeps_the_at_sign(scripts: dict[str, Path], tmp_path: Path) -> None:
    """As typed: what bash hands to a function is not what it replaces."""
    tmux = ["tmux", "-L", f"stepscope-tab-{os.getpid()}", "-f", os.devnull]
    shell = ["env", "PS1=$ ", "LC_ALL=C.UTF-8", "bash", "--norc", "--noprofile"]
    subprocess.run([*tmux, "new-session", "-d", "-x", "120", "-y", "20", "-c", str(ROOT), *shell], check=True)

    def screen(until: str) -> str:
        end = time.monotonic() + 240  # bounds a hang
        while True:
            done = subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True)
            if until in done.stdout or time.monotonic() > end:
                return done.stdout
            time.sleep(0.05)

    try:
        subprocess.run([*tmux, "send-keys", f". {scripts['bash']}; echo rea\\dy", "Enter"], check=True)
        assert "ready" in screen("ready")
        subprocess.run([*tmux, "send-keys", "stepscope query tests @op_time_o", "Tab"], check=True)
        assert "query tests @op_time_over_steps" in screen("@op_time_over_steps")
        subprocess.run([*tmux, "send-keys", "C-u", "stepscope xla ops-", "Tab"], check=True)
        assert "xla ops-supported" in screen("xla ops-supported")
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes_commands_behind_dashes(scripts: dict[str, Path]) -> None:
    program = (
        'source "$1"; shift; COMP_WORDS=("stepscope" "$@"); COMP_CWORD=$#; '
        '_stepscope; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    script = str(scripts["bash"])
    assert "printf" in run("bash", "--norc", "-c", program, "bash", script, "record", "--", "print")
    assert run("bash", "--norc", "-c", program, "bash", script, "record", "--", "cat", "--fo") == [""]


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here")
@pytest.mark.parametrize(
    ("words", "offered", "others"), CASES, ids=lambda one: " ".join(one) if isinstance(one, list) else ""
)
def test_fish(scripts: dict[str, Path], words: list[str], offered: set[str], others: set[str]) -> None:
    line = " ".join(["stepscope", *words])
    program = f'source {scripts["fish"]}; complete -C "{line}"'
    found = {one.partition("\t")[0].rstrip("/") for one in run("fish", "--no-config", "-c", program)}
    assert offered <= found
    assert not others & found


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh here")
def test_zsh_reads_it(scripts: dict[str, Path]) -> None:
    program = f"autoload -U compinit; compinit -D; source {scripts['zsh']}; print $_comps[stepscope]"
    assert run("zsh", "-f", "-c", program) == ["_stepscope"]


def test_every_verb_and_option_is_offered(scripts: dict[str, Path]) -> None:
    for shell, path in scripts.items():
        script = path.read_text()
        for shape in shapes():
            assert shape.verb in script
            for option in shape.options:
                for name in option.names:
                    assert (name if shell != "fish" else name.lstrip("-")) in script


def test_installing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("SHELL", "/bin/bash")
    script = tmp_path / "data" / "bash-completion" / "completions" / "stepscope"
    for _ in range(2):  # a newer script replaces an older one
        assert main(["completions", "--install"]) == 0
        assert "complete -o bashdefault" in script.read_text()
    script.write_text("somebody else's")
    assert main(["completions", "--install"]) == 2
    assert "not written by stepscope" in capsys.readouterr().err
    assert script.read_text() == "somebody else's"
    page = next(tmp_path.rglob("man1/stepscope.1"))
    assert page.read_text().startswith('.\\" made by `stepscope completions`\n.TH STEPSCOPE 1')
    assert ".SH EXAMPLES" in page.read_text()
    assert main(["completions", "fish", "--install"]) == 0
    assert (tmp_path / "config" / "fish" / "completions" / "stepscope.fish").exists()
    assert main(["completions", "zsh", "--install"]) == 0
    assert "fpath" in capsys.readouterr().err
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert main(["completions"]) == 2
    assert "/bin/tcsh" in capsys.readouterr().err


def test_the_manual_page_lists_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "--man"]) == 0
    page = capsys.readouterr().out
    assert page.isascii()
    assert page.startswith(".TH STEPSCOPE 1")
    for verb in cli.verbs():
        assert f".SS {verb}\n" in page
    for shape in shapes():
        for option in shape.options:
            for name in option.names:
                assert name.replace("-", "\\-") in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff here")
def test_the_manual_page_is_well_formed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "--man"]) == 0
    path = tmp_path / "stepscope.1"
    path.write_text(capsys.readouterr().out)
    shown = run("groff", "-man", "-Tutf8", "-ww", str(path), env={"GROFF_NO_SGR": "1"})
    assert len(shown) > 100


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["sumary", "x"], "Did you mean summary?"),
        (["tests/samples/captur"], "did you mean tests/samples/capture?"),
        (["tests/samples/capture", "--frmat", "json"], "did you mean --format?"),
        (["tests/samples/capture", "--format", "jsn"], "did you mean json?"),
        (["tests/samples/capture", "--frmat=json"], "did you mean --format?"),
        (["query", "tests/samples/capture", "@op_typs"], "did you mean @op_types?"),
        (["completions", "bsh"], "did you mean bash?"),
    ],
)
def test_did_you_mean(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(words) == 2
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize("words", [["nothing-like-it"], ["tests/samples/zzzz"], ["tests/samples", "--zzzz"]])
def test_no_guess_where_nothing_is_near(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(words) == 2
    assert "did you mean" not in capsys.readouterr().err


def test_docs_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    import json

    assert main(["docs", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {"slice", "op_types"} <= {row["name"] for row in rows}
    assert main(["docs", "op_types", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "chapter,name,line,text"
    assert main(["docs", "nonsense", "--format", "json"]) == 2
