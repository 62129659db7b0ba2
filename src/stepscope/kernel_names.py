"""Names of kernels, functions of C++ as compilers spell them, in fewer characters: without return type,
namespaces and parameters, which seldom tell two kernels of a program apart."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_UNNAMED = ("(anonymous namespace)", "<unnamed>")
_PARAMETERS = "(…)"
_LEAST, _LONGEST = 12, 10_000
"""Fewest characters that a name is cut to; those of the longest that is read."""
_TELLING = 16
"""Characters of a name that says enough by itself: of `CppNode<SplitLookup>`, the argument does."""
_DEEPEST = 100
"""Brackets within each other."""


class _Token(NamedTuple):
    """A word, a bracket with all that is within, or one of `::`, `,` and a space."""

    kind: str
    text: str


class _Unbalanced(ValueError):
    """No name of C++, or one with an operator whose name is a bracket."""


def condensed(name: str) -> str | None:
    """The name and the template arguments of a kernel; None where the name is not that of a C++ function.
    `void at::native::add_kernel<(int)4, c10::Half>(int, T2)` is `add_kernel<4, Half>(…)`."""
    if len(name) > _LONGEST or not name.endswith((")", ">", "]")):
        return None
    try:
        return _function(list(_tokens(name)))
    except _Unbalanced:
        return None


def function_name(name: str) -> str | None:
    """The same without arguments, for a label: `add_kernel`."""
    found = condensed(name)
    return None if found is None else found.partition("<")[0].removesuffix(_PARAMETERS)


def shortened(name: str, most: int) -> str | None:
    """The same in at most so many characters, cut at its end with …; None also where that says nothing."""
    found = condensed(name) if _LEAST <= most < len(name) else None
    return found if found is None or len(found) <= most else f"{found[: most - 1]}…"


def shorten(text: str, most: int | None) -> str:
    """`text`, cut in the middle with … to `most` characters: op names differ at both ends. Of names of
    kernels, what tells none from another goes first."""
    if most is None or len(text) <= most:
        return text
    if kernel := shortened(text, most):
        return kernel
    if most <= 1:
        return "…"[:most]
    tail = (most - 1) * 2 // 5
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def sentence_name(name: str, most: int) -> str | None:
    """The same for a sentence, in which a long name does without its template arguments: `add_kernel<…>`."""
    found = condensed(name)
    head = (found or "").partition("<")[0]
    if found is None or len(found) <= most or not _TELLING <= len(head) <= most - 3:
        return shortened(name, most)
    return f"{head}<…>"


def distinct_names(names: Sequence[str], short: Callable[[str], str], most: int) -> list[str]:
    """The names of different ops or kernels as `short` has them; those that would become the same are cut to
    `most` characters where they begin to differ."""
    shortened_names = {name: short(name) for name in names}
    if most > 1:
        _tell_apart(shortened_names, most)
    return [shortened_names[name] for name in names]


def _tell_apart(shortened_names: dict[str, str], most: int) -> None:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name, text in shortened_names.items():
        groups[text].append(name)
    for alike in groups.values():
        if len(alike) > 1:
            cut = _cut_where_they_differ(alike, most)
            if len(set(cut.values())) > 1:  # there may be no room for a letter that differs
                _tell_apart(cut, most)
            shortened_names |= cut


def _cut_where_they_differ(names: Sequence[str], most: int) -> dict[str, str]:
    whole = {name: condensed(name) or name for name in names}
    if len(set(whole.values())) < len(names):
        whole = {name: name for name in names}
    letters = enumerate(zip(*whole.values(), strict=False))
    differ = next((at for at, each in letters if len(set(each)) > 1), min(map(len, whole.values())))
    before = most * 2 // 5
    behind = most - before - 1
    cut = {}
    for name, text in whole.items():
        begin, end = text[:differ], text[differ:]
        begin = f"{begin[:before]}…" if differ > before else begin
        cut[name] = begin + (end if len(end) <= behind else f"{end[: behind - 1]}…")
    return cut


def _tokens(text: str) -> Iterator[_Token]:
    at = begin = 0
    while at < len(text):
        kind = text[at]
        if kind == ":" and text[at : at + 2] == "::":
            end, kind = at + 2, "::"
        elif kind in _CLOSING:
            end = _end(text, at)
        elif kind in ", ":
            end = at + 1
        elif kind in ">)]}":
            raise _Unbalanced
        else:
            at += 1
            continue
        if begin < at:
            yield _Token("word", text[begin:at])
        yield _Token(kind, text[at:end])
        at = begin = end
    if begin < at:
        yield _Token("word", text[begin:])


def _end(text: str, begin: int) -> int:
    """Where the bracket that opens at `begin` is over."""
    open_ones = []
    for at in range(begin, len(text)):
        if text[at] in _CLOSING:
            open_ones.append(_CLOSING[text[at]])
            if len(open_ones) > _DEEPEST:
                break
        elif text[at] in ">)]}":
            if text[at] != open_ones.pop():
                raise _Unbalanced
            if not open_ones:
                return at + 1
    raise _Unbalanced


def _function(tokens: list[_Token]) -> str | None:
    """A function that returns nothing, as every kernel; its parameters are the last bracket."""
    kinds = {token.kind for token in tokens}
    if not ("<" in kinds or {"::", "("} <= kinds or _are_types(tokens[-1])):
        return None
    if [token.text for token in tokens[:2]] == ["void", " "]:
        tokens = tokens[2:]
    if len(tokens) > 2 and [token.kind for token in tokens[-2:]] == [" ", "["]:  # [clone .kd]
        tokens = tokens[:-2]
    parameters = ""
    if tokens[-1].kind == "(" and tokens[-1].text not in _UNNAMED:
        tokens, parameters = tokens[:-1], _PARAMETERS
    if any(token.kind in (",", " ") for token in tokens):
        return None
    last = _last_segment(tokens)
    return _segment(last) + parameters if last and last[0].kind == "word" else None


def _are_types(bracket: _Token) -> bool:
    """Whether parameters can only be types of C++: pointers, or templates."""
    within = list(_tokens(bracket.text[1:-1])) if bracket.kind == "(" else []
    pairs = ((a.kind, b.kind) for a, b in pairwise(within))
    return "*" in bracket.text or ("word", "<") in pairs


def _split(tokens: Iterable[_Token], kind: str) -> list[list[_Token]]:
    """What lies between the tokens of a kind; at least one part."""
    parts: list[list[_Token]] = [[]]
    for token in tokens:
        if token.kind == kind:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _last_segment(tokens: Iterable[_Token]) -> list[_Token]:
    """A name without its namespaces."""
    return _split(tokens, "::")[-1]


def _segment(tokens: Iterable[_Token]) -> str:
    return "".join(
        f"<{', '.join(map(_argument, _split(_tokens(token.text[1:-1]), ',')))}>"
        if token.kind == "<"
        else token.text
        for token in tokens
    )


def _argument(tokens: list[_Token]) -> str:
    """A template argument: a type or a number; of what a function defines, such as a lambda, the function."""
    for number, token in enumerate(tokens):
        called = number and tokens[number - 1].kind in ("word", "<")
        if token.kind == "(" and called and token.text not in _UNNAMED:
            return _segment(_last_segment(_words(tokens[:number])[-1]))
    words = _words(tokens)
    if words and words[0][0].kind == "(":  # (int)4
        words[0] = words[0][1:]
    return " ".join(_segment(_last_segment(word)) for word in words)


def _words(tokens: Iterable[_Token]) -> list[list[_Token]]:
    """What lies between spaces."""
    return list(filter(None, _split(tokens, " ")))
