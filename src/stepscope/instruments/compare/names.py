"""Names without the numbers, sizes and types that a compiler put there."""

import re
from functools import cache, lru_cache

_SUFFIX = re.compile(r"(?:[._]\d+)+(?=$|[/:])")
_NUMBER = re.compile(r"\d+")
_ARCHITECTURE = re.compile(
    r"(?<![A-Za-z])(?:kepler|maxwell|pascal|volta|turing|ampere|ada|hopper|blackwell|sm#|gfx#\w*)(?:_|(?![A-Za-z]))"
)
_TILE = re.compile(r"_(?:sliced)?#x#(?:x#)*(?=_|$)")


@cache
def strip_suffixes(name: str) -> str:
    """The name without the numbers that make it unique: dense_1/MatMul_2 and fusion.12."""
    return _SUFFIX.sub("", name) or name


@cache
def strip_numbers(name: str) -> str:
    """The name with a # for each number in it: gemm_128x64 is gemm_#x#."""
    return _NUMBER.sub("#", _SUFFIX.sub("", name)) or name


@cache
def strip_arguments(name: str) -> str:
    """A C++ name without template arguments and parameters, and without numbers."""
    kept: list[str] = []
    depth = 0
    for i, letter in enumerate(name):
        if letter in "<(":
            depth += 1
        elif letter == ")" or (letter == ">" and name[i - 1 : i] != "-"):
            depth = max(0, depth - 1)
        elif not depth:
            kept.append(letter)
    return strip_numbers("".join(kept).strip()) or name


@cache
def strip_architecture(name: str) -> str:
    """The name of a library's kernel without the architecture that it is made for and its tiles:
    volta_sgemm_128x32_nt and ampere_sgemm_64x32_sliced1x4_nt are sgemm_nt."""
    bare = strip_arguments(name)
    return _TILE.sub("", _ARCHITECTURE.sub("", bare)) or bare


def scope_of(name: str) -> tuple[str, ...]:
    """The scopes around the last part of a name, the outermost first."""
    return _parts(name.rpartition("/")[0]) if "/" in name else ()


@lru_cache(maxsize=1 << 16)
def _parts(scope: str) -> tuple[str, ...]:
    """The names of scopes, kept once for all ops in them."""
    return tuple(scope.split("/"))
