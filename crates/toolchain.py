"""Finds a Rust toolchain for the native core, and installs one where there is none.

    python crates/toolchain.py FILE

Writes shell lines to FILE that put the toolchain on PATH, for recipes to source, and says on stderr what it
installs. It takes the first of these that is new enough:

1. cargo and rustc on PATH;
2. rustup's stable toolchain, installed or updated when rustup is there;
3. the toolchain of puccinialin, the package that maturin's build backend uses for this: it runs rustup's
   installer in the user's cache folder and changes neither PATH nor the settings of a shell.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

CARGO = Path(__file__).parents[1] / "Cargo.toml"
NEED = CARGO.read_text().partition('rust-version = "')[2].partition('"')[0]

NO_COMPILER = """\
make: Rust needs a linker, and zstd a C compiler; there is no cc.
  seen:  PATH={path}
  to do: apt-get install gcc libc6-dev   (Debian, Ubuntu)
         dnf install gcc                 (Fedora)
         xcode-select --install          (macOS)"""

NO_RUST = """\
make: the native core needs Rust {need} or newer (cargo and rustc), and none could be installed.
  seen:  {seen}
  tried: {tried}
  to do: install rustup, run `rustup default stable`, and make again:
           https://rustup.rs        any system
           apt-get install rustup   Debian 13, Ubuntu 24.04 and newer
           dnf install rustup       Fedora; then run rustup-init
           brew install rustup      macOS
         Debian's own rustc is too old (1.63 in Debian 12, 1.85 in Debian 13). Behind a mirror, set
         RUSTUP_DIST_SERVER and RUSTUP_UPDATE_ROOT."""


class Failed(Exception):
    """A way to get a toolchain that did not work; the text says why, in a line."""


def main(out: Path) -> int:
    """Writes the settings of the first toolchain that will do; 1 when there is none."""
    if shutil.which("cc") is None:
        say(NO_COMPILER.format(path=os.environ.get("PATH", "")))
        return 1
    seen = version({}) or "no Rust compiler"
    if new_enough({}):
        out.write_text("")
        return 0
    say(f"make: Rust {NEED} or newer is missing; seen: {seen}.")
    tried = ["PATH and ~/.cargo/bin"]
    ways: dict[str, Callable[[], dict[str, str]]] = {"puccinialin (from PyPI)": from_pypi}
    if shutil.which("rustup"):
        ways = {"rustup": from_rustup, **ways}
    for name, way in ways.items():
        try:
            found = way()
        except Failed as failure:
            tried.append(f"{name}: {failure}")
            continue
        if new_enough(found):
            out.write_text(shell(found))
            return 0
        tried.append(f"{name}: it gave {version(found) or 'no compiler'}")
    say(NO_RUST.format(need=NEED, seen=seen, tried="\n         ".join(tried)))
    return 1


def version(changes: dict[str, str]) -> str | None:
    """What rustc says of itself, as in "rustc 1.88.0 (…)"; None when it or cargo is missing or fails."""
    environment = {**os.environ, **changes}
    rustc = shutil.which("rustc", path=environment["PATH"])
    if rustc is None or shutil.which("cargo", path=environment["PATH"]) is None:
        return None
    try:
        ran = subprocess.run([rustc, "--version"], env=environment, capture_output=True, text=True)
    except OSError:
        return None
    return ran.stdout.strip() if ran.returncode == 0 and ran.stdout else None


def new_enough(changes: dict[str, str]) -> bool:
    """Whether rustc is at least as new as Cargo.toml asks for."""
    numbers = re.search(r"(\d+)\.(\d+)", version(changes) or "")
    return numbers is not None and tuple(map(int, numbers.groups())) >= tuple(map(int, NEED.split(".")[:2]))


def shell(found: dict[str, str]) -> str:
    """The settings as shell lines; PATH gets the toolchain's folder in front, whatever else is on it then."""
    home, _, _ = found["PATH"].partition(os.pathsep)
    lines = [f"export {name}={shlex.quote(found[name])}" for name in found if name != "PATH"]
    return "\n".join([*lines, f'export PATH={shlex.quote(home)}:"$PATH"', ""])


def from_rustup() -> dict[str, str]:
    """The stable toolchain of the rustup that is there."""
    say("make: rustup installs its stable toolchain.")
    run("rustup", "toolchain", "install", "stable", "--profile", "minimal", "--no-self-update")
    cargo = run("rustup", "which", "--toolchain", "stable", "cargo")
    return {"PATH": f"{Path(cargo.strip()).parent}{os.pathsep}{os.environ['PATH']}"}


def from_pypi() -> dict[str, str]:
    """A toolchain in the user's cache folder, by the package of maturin's build backend."""
    say("make: installing Rust with puccinialin, in your cache folder (800 MB); nothing else changes.")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "puccinialin")
    import puccinialin  # type: ignore[import-not-found]  # just installed

    # Trust what the system trusts, as pip does: puccinialin downloads with httpx, which brings its own list.
    if system := ssl.get_default_verify_paths().cafile:
        os.environ.setdefault("SSL_CERT_FILE", system)
    try:
        return dict(puccinialin.setup_rust(file=sys.stderr))
    except Exception as failure:  # whatever the network or the installer raised: shown
        raise Failed(str(failure) or type(failure).__name__) from failure


def run(*command: str) -> str:
    """What a program prints; Failed with the last line of its complaint."""
    try:
        ran = subprocess.run(command, capture_output=True, text=True)
    except OSError as failure:
        raise Failed(str(failure)) from failure
    if ran.returncode:
        complaint = (ran.stderr or ran.stdout).strip().splitlines() or ["it failed"]
        raise Failed(complaint[-1])
    return ran.stdout


def say(text: str) -> None:
    """A line to the person."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
