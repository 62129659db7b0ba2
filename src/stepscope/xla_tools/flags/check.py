"""The check of a line of flags, asked of the library itself, flag by flag.

A child process parses the line together with a name that cannot exist, the control. When the library names
the control as unknown, it has read the line to its end, and what it does not name is known. A bad value ends
the parsing before any name is looked at, so flags with bad values are taken out and the
rest is asked again.
"""

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stepscope.xla_tools.flags import catalogue, installed, variables
from stepscope.xla_tools.flags.installed import Library
from stepscope.xla_tools.flags.line import Flag, FlagLine

CONTROL = "xla_stepscope_control_that_no_library_has"
COLUMNS = ("flag", "value", "verdict", "nearest", "library", "evidence")

_UNKNOWN = re.compile(r"Unknown flags? in \w+: (.*)")
_BAD = re.compile(r"Couldn't interpret value (.*) for flag (\S+?)\.\s*$", re.MULTILINE)
_ILLEGAL = re.compile(r"(?:Illegal|Invalid) value for --(\w+)")
_NUMBERS = {"int32": 31, "int64": 63, "uint32": 32, "uint64": 64}


class Verdict(NamedTuple):
    """kind: ok, idle (taken, and does nothing), unknown, removed, replaced (removed, and another does the
    same), no_flag (a field that no flag sets), other_variable, bad_value, repeated, no_dashes, or undecided.
    nearest: a name to use instead. evidence: what the library said, or where it is known from."""

    kind: str
    nearest: str | None = None
    evidence: str = ""


def ask(library: Library, variable: str, flags: Sequence[Flag], python: str | None) -> dict[Flag, Verdict]:
    """What the library says to each flag: ok, unknown, bad_value or undecided."""
    left = list(dict.fromkeys(flags))
    found: dict[Flag, Verdict] = {}
    while left:
        answer = installed.ask(
            library, variable, " ".join([*(flag.word for flag in left), f"--{CONTROL}"]), python
        )
        unknown = _UNKNOWN.search(answer.text)
        if unknown is not None and CONTROL in unknown[1]:
            names = {word.partition("=")[0].lstrip("-") for word in unknown[1].split()}
            return found | {flag: _verdict(flag.name not in names, library, variable) for flag in left}
        named = _named(answer.text, left)
        if named is not None:
            flag, evidence = named
            found[flag] = Verdict("bad_value", None, evidence)
            left.remove(flag)
            continue
        if len(left) == 1 or not answer.loaded or answer.code == 0:
            return found | dict.fromkeys(left, _refused(answer, library))
        half = len(left) // 2
        for part in (left[:half], left[half:]):
            found |= ask(library, variable, part, python)
        return found
    return found


def _verdict(is_known: bool, library: Library, variable: str) -> Verdict:
    if is_known:
        return Verdict("ok", None, library.title)
    return Verdict("unknown", None, f"{library.title}: unknown flag in {variable}")


def _refused(answer: installed.ChildOutput, library: Library) -> Verdict:
    """Of flags that the library refuses without naming one."""
    if answer.loaded and answer.code != 0 and "Flag parsing failed" in answer.text:
        return Verdict("bad_value", None, f"{library.title} refuses it without a reason")
    last = (answer.text.strip().splitlines() or [f"exit code {answer.code}"])[-1][:200]
    return Verdict("undecided", None, last)


def _named(text: str, flags: Sequence[Flag]) -> tuple[Flag, str] | None:
    """The flag whose value the library names as bad."""
    for match in (_BAD.search(text), _ILLEGAL.search(text)):
        if match is None:
            continue
        name = match[match.re.groups]
        for flag in flags:
            if flag.name == name and (match.re is _ILLEGAL or flag.value is None or flag.value == match[1]):
                return flag, match[0].strip()
    return None


def check(
    line: FlagLine, library: Library | None, python: str | None, names: Iterable[str] = ()
) -> list[dict[str, str | None]]:
    """A row for each flag of a line. names: flags that the library has, to look for near ones. Without a
    library, the catalogue answers."""
    known = catalogue.load()
    near = sorted({*names} or (known.tf if line.variable == "TF_XLA_FLAGS" else _current(known)))
    dashed = [flag for flag in line.flags if flag.word.startswith("--")]
    verdicts = _verdicts(dashed, line.variable, known, library, python)
    rows = []
    seen: set[str] = set()
    for flag in line.flags:
        verdict = verdicts.get(flag) or Verdict(
            "no_dashes", f"--{flag.name}", "a flag begins with two dashes"
        )
        if verdict.kind == "unknown":
            verdict = _explained(flag, line.variable, verdict, known, near)
        elif verdict.kind == "ok" and flag.name in seen:
            verdict = Verdict("repeated", None, "the last value counts")
        elif verdict.kind == "ok" and flag.name in variables.IDLE and not _is_old(library):
            verdict = Verdict("idle", None, variables.IDLE[flag.name])
        elif verdict.kind == "bad_value":
            verdict = verdict._replace(nearest=_similar_value(flag, known))
        seen.add(flag.name)
        title = library.title if library is not None else "the catalogue"
        cells = (flag.name, flag.value, verdict.kind, verdict.nearest, title, verdict.evidence)
        rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return rows


def _verdicts(
    flags: Sequence[Flag],
    variable: str,
    known: catalogue.Catalogue,
    library: Library | None,
    python: str | None,
) -> dict[Flag, Verdict]:
    """What the library, or else the catalogue, says to each flag."""
    if library is not None:
        return ask(library, variable, flags, python)
    return {flag: _catalogue_verdict(flag, variable, known) for flag in flags}


def _similar_value(flag: Flag, known: catalogue.Catalogue) -> str | None:
    """The flag with the value that is spelled most like the one given."""
    values = known.flags.get(flag.name, {}).get("values") or ()
    match = difflib.get_close_matches((flag.value or "").upper(), values, 1)
    return f"--{flag.name}={match[0]}" if match else None


def _is_old(library: Library | None) -> bool:
    """Whether a library is of TensorFlow 1."""
    return library is not None and library.name == "tensorflow" and library.version.startswith("1.")


def _current(known: catalogue.Catalogue) -> list[str]:
    return [name for name in known.flags if known.span(name)[1] is None and name not in known.no_flags]


def _explained(
    flag: Flag, variable: str, verdict: Verdict, known: catalogue.Catalogue, near: Sequence[str]
) -> Verdict:
    """Why a name is unknown: it belongs to the other variable, was removed, names no flag, or is a typo."""
    if (flag.name in known.tf) != (variable == "TF_XLA_FLAGS") and (
        flag.name in known.tf or flag.name in known.flags
    ):
        other = "TF_XLA_FLAGS" if variable == "XLA_FLAGS" else "XLA_FLAGS"
        return verdict._replace(kind="other_variable", nearest=f"{other}=--{flag.name}")
    if flag.name in known.no_flags:
        return verdict._replace(kind="no_flag")
    if gone := _gone(flag.name, verdict, known):
        return gone
    matches = difflib.get_close_matches(flag.name, [name for name in near if name != flag.name], 1, 0.75)
    nearest = f"--{matches[0]}" if matches else None
    until = known.span(flag.name)[1]
    if until is not None:
        return Verdict("removed", nearest, f"{verdict.evidence}; {_last(f'jaxlib {until}')}")
    return verdict._replace(nearest=nearest)


def _last(title: str) -> str:
    return f"{title} is the last of the catalogue that has it"


def _gone(name: str, verdict: Verdict, known: catalogue.Catalogue) -> Verdict | None:
    """What is known of a flag of older libraries; None of others."""
    if name not in known.gone:
        return None
    evidence = f"{verdict.evidence}; {_last(known.gone[name][2])}"
    if name in variables.INSTEAD:
        return Verdict("replaced", variables.INSTEAD[name], evidence)
    return Verdict("removed", None, f"{evidence}. {variables.LOST.get(name, '')}".rstrip())


def _catalogue_verdict(flag: Flag, variable: str, known: catalogue.Catalogue) -> Verdict:
    if variable == "TF_XLA_FLAGS":
        kind = known.tf.get(flag.name, [""])[0]
        source = next((title for title in known.sources if title.startswith("tensorflow")), "")
        values: Sequence[str] = ()
    else:
        entry = known.flags.get(flag.name, {})
        kind, values = entry.get("type", ""), entry.get("values", ())
        source = known.sources[entry["in"][-1]] if entry else ", ".join(known.sources[-2:])
        if known.span(flag.name)[1] is not None or flag.name in known.no_flags:
            return Verdict("unknown", None, f"catalogue of {', '.join(known.sources[-2:])}")
    if variable == "XLA_FLAGS" and flag.name in known.no_fields:
        return Verdict("ok", None, f"catalogue of {known.sources[-2]}")
    if not kind:
        return Verdict("unknown", None, f"catalogue of {', '.join(known.sources[-2:])}")
    if not _fits(kind, flag.value, values):
        return Verdict("bad_value", None, f"{source}: a value of type {kind}")
    return Verdict("ok", None, f"catalogue of {source}")


def _fits(kind: str, value: str | None, values: Sequence[str]) -> bool:
    """Whether a value is one that XLA's own parser takes. Lists, messages and texts may be anything."""
    if kind == "bool":
        return value is None or value.lower() in ("true", "false", "1", "0")
    if kind in _NUMBERS:
        return (
            value is not None
            and re.fullmatch(r"-?\d+", value) is not None
            and abs(int(value)) < 2 ** _NUMBERS[kind]
        )
    if kind in ("float", "double"):
        try:
            float(value or "")
        except ValueError:
            return False
        return True
    return not (kind == "enum" and value is not None and values) or value.upper() in values or value.isdigit()
