"""Sentences about the DataLoaders of a program of PyTorch."""

from collections.abc import Iterable, Iterator

from stepscope import units
from stepscope.code_lines import CodeLine
from stepscope.instruments.pipeline.loaders import Loader, Loading
from stepscope.report.names import host_of

_TOLD = ("num_workers", "batch_size", "prefetch_factor", "pin_memory", "persistent_workers")
_LITTLE = 0.05
"""Of the steps: no loader is made faster for that."""


def sentences(found: Iterable[Loading]) -> list[str]:
    """Sentences, of the host first that waits most."""
    every = list(found)
    return [sentence for loading in every for sentence in _sentences(loading, several=len(every) > 1)]


def _sentences(loading: Loading, several: bool) -> Iterator[str]:
    where = f" on {host_of(loading.host_id)}" if several else ""
    if loading.share is None:
        unseen = "none of them waited where that is seen"
        yield f"How long steps{where} wait for the DataLoader is not known: {unseen}."
    else:
        # Few samples tell the line of a short wait, and these lie beside it as often as in it.
        place = loading.place if loading.share >= _LITTLE else None
        at = f", in {_line_text(place)}" if place is not None else ""
        share = units.show(loading.share, "ratio")
        yield f"Steps{where} wait for the DataLoader for {share} of their time{at}."
    for loader in loading.loaders:
        yield from _made(loader)
    if (loading.share or 0.0) < _LITTLE:
        return
    workers = [loader.workers for loader in loading.loaders]
    if not workers:
        yield "Make it faster than the step: more workers, a larger prefetch_factor, less work an element."
    elif not any(workers):
        yield "It loads between the steps: with num_workers=2 or more, processes load while steps run."
    else:
        yield (
            "Its workers are processes of their own, of which no stacks are taken: what takes long in them "
            "shows in a recording with num_workers=0. Ways out: more workers, a larger prefetch_factor, less "
            "work for each element."
        )


def _made(loader: Loader) -> Iterator[str]:
    arguments = ", ".join(f"{name}={loader.arguments[name]}" for name in _TOLD if name in loader.arguments)
    where = f" is made in {_line_text(loader.made)}" if loader.made is not None else " is made by the program"
    yield f"The {loader.name}{where}{f', with {arguments}' if arguments else ''}."
    if loader.method is not None:
        yield f"Its elements are those of {loader.dataset}, made in {_line_text(loader.method)}."
    else:
        yield f"Its elements are those of {loader.dataset}, whose code is not the program's."


def _line_text(line: CodeLine) -> str:
    function = f" `{line.function}`" if line.function else ""
    return f"{line.file}:{line.line}{function}"
