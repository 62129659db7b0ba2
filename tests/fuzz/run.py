"""Runs every fuzz target for a while: `python tests/fuzz/run.py --seconds 60 [TARGET...]`.

Targets of the decoders are in crates/fuzz (cargo-fuzz), those of the Python side in tests/fuzz/targets.py
(atheris, when it is installed). Input that breaks one is kept in tests/fuzz/found/TARGET, where the suite
tries it ever after. Exit 1 when something was found.

For up to a minute, as with each change, a target tries the same inputs each time, so that what is found is
what the change broke; a longer run goes on from what earlier ones found.
"""

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FUZZ = ROOT / "crates" / "fuzz"
FOUND = ROOT / "tests" / "fuzz" / "found"
SAMPLES = ROOT / "tests" / "samples"
SEEDS = {
    "checkpoint": ["checkpoint/**/*.index", "checkpoint/**/*.ckpt"],
    "chrome_trace": ["**/*.json"],
    "event_file": ["**/*.tfevents.*"],
    "graph": ["graph/*.pb"],
    "hlo": ["xla_dump/*.pb", "xla_dump/*.txt"],
    "run_metadata": ["run_metadata/*.pb"],
    "store": [],
    "text_proto": ["**/*.pbtxt"],
    "xplane": ["**/*.xplane.pb"],
    "sniffers": ["**/*.*"],
    "recording": ["**/*.json", "**/*.pb"],
    "zipped": ["**/*.zip"],
    "tarred": ["**/*.tar"],
    "packed": ["**/*.gz"],
    "model": ["**/*.pb", "**/*.tfevents.*", "**/*.index"],
    "program": ["xla_dump/*.pb"],
}
SEED_BYTES = 1 << 12  # longer ones are cut, or every execution would be slow
LIMITS = ["-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1"]
BRIEF_SECONDS = 60
SAME_INPUTS = ["-seed=1", "-runs=20000"]


def main() -> int:
    """Builds, runs two targets at a time on two cores, reports."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="these only")
    parser.add_argument("--seconds", type=int, default=60, help="how long each target runs (60)")
    options = parser.parse_args()
    rust = sorted(path.stem for path in (FUZZ / "fuzz_targets").glob("*.rs"))
    python = sorted(set(SEEDS) - set(rust))
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed (pip install --group fuzz): the Python targets are left out")
        python = []
    wanted = options.targets or [*rust, *python]
    if unknown := set(wanted) - {*rust, *python}:
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join([*rust, *python])}")
    if set(wanted) & set(rust) and not build(brief=options.seconds <= BRIEF_SECONDS):
        return 2
    with ThreadPoolExecutor(max(1, os.cpu_count() or 1)) as pool:
        results = pool.map(lambda name: run(name, name in rust, options.seconds), wanted)
        failed = [name for name, clean in zip(wanted, results, strict=True) if not clean]
    print(f"{len(wanted)} targets, {len(failed)} with findings" + "".join(f"\n  {name}" for name in failed))
    return 1 if failed else 0


def build(*, brief: bool) -> bool:
    """Builds the Rust targets. Without a sanitizer: the core is safe Rust, so that a panic tells enough.

    brief: they run for a moment only, so that a quick build gains more than quick targets."""
    if shutil.which("cargo-fuzz") is None:
        print("cargo-fuzz is missing: cargo install --locked cargo-fuzz")
        return False
    command = ["cargo", "fuzz", "build", "--fuzz-dir", str(FUZZ), "--sanitizer", "none"]
    command += ["--codegen-units", "16"] if brief else []
    quick = {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "1"} if brief else {}
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **quick}, check=False).returncode == 0


def run(name: str, rust: bool, seconds: int) -> bool:
    """Runs one target; keeps and shows what broke it. True when nothing did."""
    with tempfile.TemporaryDirectory(prefix="stepscope-fuzz-") as folder:
        brief = seconds <= BRIEF_SECONDS
        corpus = (Path(folder) if brief else FUZZ) / "corpus" / name
        corpus.mkdir(parents=True, exist_ok=True)
        seeds, artifacts = Path(folder) / "seeds", Path(folder) / "artifacts"
        seeds.mkdir()
        artifacts.mkdir()
        kept = FOUND / name
        for number, seed in enumerate([*_seeds(name), *(kept.glob("*") if kept.is_dir() else ())]):
            framed = name == "checkpoint" and seed.parent != kept
            data = _framed(seed) if framed else seed.read_bytes()
            (seeds / f"{number}-{seed.name}").write_bytes(data[:SEED_BYTES])
        if rust:
            binary = next((FUZZ / "target").glob(f"*/release/{name}"))
            command = [str(binary)]
        else:
            command = [sys.executable, "-m", "tests.fuzz.targets", name]
        command += [str(corpus), str(seeds), f"-max_total_time={seconds}", f"-artifact_prefix={artifacts}/"]
        command += [*LIMITS, *(SAME_INPUTS if brief else [])]
        env = {**os.environ, "PYTHONHASHSEED": "0"}
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        executions = re.search(r"stat::number_of_executed_units: (\d+)", done.stderr)
        found = sorted(artifacts.glob("*"))
        for one in found:
            kept.mkdir(parents=True, exist_ok=True)
            shutil.copy(one, kept / one.name)
        clean = done.returncode == 0 and not found
        count = executions[1] if executions else "?"
        print(f"{name:14} {count:>10} executions  {'clean' if clean else 'FOUND'}", flush=True)
        if not clean:
            print("\n".join(done.stderr.splitlines()[-40:]), flush=True)
        return clean


def _framed(seed: Path) -> bytes:
    """A checkpoint as its target takes it: the length of the index, the index, the values beside it."""
    index = seed.read_bytes()
    values = b"".join(one.read_bytes() for one in sorted(seed.parent.glob(f"{seed.stem}.data-*")))
    return len(index).to_bytes(2, "little") + index + values


def _seeds(name: str) -> list[Path]:
    found = {path for pattern in SEEDS.get(name, []) for path in SAMPLES.glob(pattern) if path.is_file()}
    return sorted(found)


if __name__ == "__main__":
    sys.exit(main())
