"""The files under a path that make a model: graph, steps, op log, checkpoint or profile."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from stepscope.formats.models.candidates import GRAPHS, PROFILE, STEPS, Candidate, search
from stepscope.formats.models.place import ModelPlace
from stepscope.sources.source import ByteLocation
from stepscope.sources.user_paths import is_lake

TRACES = "traces"
"""Not an option: recordings other than RunMetadata, or a lake."""
_MOST_SHOWN = 4
"""Files that one sentence names."""


@dataclass
class ModelFiles:
    """The files of a model."""

    files: dict[str, list[ModelPlace]] = field(default_factory=dict)
    """By the option that takes them, traces by TRACES: they tell what ran where no step does."""
    chosen: dict[str, str] = field(default_factory=dict)
    """What was taken for each option, as a sentence; nothing for a file that was named itself."""
    passed: list[str] = field(default_factory=list)
    """What was passed over, and why."""
    odd: list[str] = field(default_factory=list)
    """What could not be read, and what may mislead."""

    def drop(self, option: str, why: str) -> None:
        """Passes over the files for an option, where there are any."""
        self.chosen.pop(option, None)
        for place in self.files.pop(option, ()):
            self.passed.append(f"{why}: {place.shown}")

    def one(self, option: str) -> ModelPlace | None:
        """The file for an option that takes one."""
        return self.files[option][0] if option in self.files else None


class _Role(NamedTuple):
    """A part of a model: the option that takes it, what it is called, the kinds of files that are it, and why
    some of them are not taken."""

    option: str
    called: str
    kinds: tuple[str, ...]
    why: str = "one is enough"


_ROLES = (
    _Role("graph_path", "graph", GRAPHS),
    _Role("run_meta_path", "steps", STEPS, "files of their own were taken"),
    _Role("op_log_path", "op log", ("op_log",)),
    _Role("checkpoint_path", "checkpoint", ("checkpoint",)),
    _Role("profile_path", "profile", (PROFILE,)),
)


def find_files(paths: Sequence[str]) -> ModelFiles:
    """The files under the paths, in folders and archives at any depth, known by what is in them.

    All steps are taken, in the order of their numbers, and one of each other kind: of the run that has steps,
    then the first by name, binary before text. What event files hold counts where there is no file of the
    kind. Errors of sources.find; nothing is found where there is no recording.
    """
    found = ModelFiles()
    if any(is_lake(Path(path)) for path in paths):
        found.files[TRACES] = [ModelPlace(path, path, ByteLocation(path)) for path in paths]
        return found
    candidates = search(paths, found.odd)
    runs = {candidate.run for candidate in _best(candidates, STEPS)}
    if len(runs) > 1:
        found.odd.append(
            f"steps of {len(runs)} runs ({', '.join(sorted(runs)[:_MOST_SHOWN])}) are looked at as one model;"
            " name the folder of one"
        )
    if traces := _best(candidates, ("trace",)):
        found.files[TRACES] = [trace.place for trace in traces]
    _choose(found, candidates, runs, paths)
    if "profile_path" in found.files:
        if found.files.keys() & {"graph_path", "run_meta_path"}:
            found.drop("profile_path", "profile passed over, graph and steps were taken")
        else:
            found.drop("op_log_path", "op log skipped, the profile contains what it says")
    return found


def _choose(
    found: ModelFiles, candidates: Sequence[Candidate], runs: Collection[str], paths: Sequence[str]
) -> None:
    """Takes the files of each kind, and says which were passed over. runs: those that have steps."""
    for option, called, kinds, why in _ROLES:
        best = _best(candidates, kinds)
        if option != "run_meta_path":
            best = sorted(best, key=lambda candidate: bool(runs) and candidate.run not in runs)[:1]
        if not best:
            continue
        found.files[option] = [candidate.place for candidate in best]
        if any(candidate.place.shown not in paths for candidate in best):
            found.chosen[option] = f"{called}: {_listed(best)}"
        if rest := [
            candidate for candidate in candidates if candidate.kind in kinds and candidate not in best
        ]:
            found.passed.append(f"{called} passed over, {why}: {_listed(rest)}")


def place_of(option: str, path: str) -> ModelPlace:
    """The file that was named for an option. UnreadableSource when it cannot be read."""
    return ModelPlace.of_checkpoint(path) if option == "checkpoint_path" else ModelPlace.of_file(path)


def _best(candidates: Sequence[Candidate], kinds: Sequence[str]) -> list[Candidate]:
    """The candidates of the first kind that has any."""
    return next(
        (
            some
            for kind in kinds
            if (some := [candidate for candidate in candidates if candidate.kind == kind])
        ),
        [],
    )


def _listed(candidates: Sequence[Candidate]) -> str:
    names = ", ".join(candidate.place.shown for candidate in candidates[:_MOST_SHOWN])
    more = len(candidates) - _MOST_SHOWN
    return names + (f" and {more} more" if more > 0 else "")
