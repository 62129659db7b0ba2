"""The recorded program, as the frameworks that it imports describe it."""

from typing import Any, Callable, FrozenSet, List, Optional, Tuple


class Program:
    """Facts about the program. The modules of the frameworks set them."""

    compiled = 0
    """Goes up whenever something is traced or compiled."""
    own_threads: Optional[FrozenSet[str]] = None
    """Threads that were there before the first iterator: the framework's and the program's."""

    def __init__(self) -> None:
        self.frameworks: List[str] = []
        """Imported frameworks."""
        self.live_iterators: Callable[[], List[Any]] = list
        self.metric_made_at: Callable[[str, int, str], Optional[Tuple[str, int, str]]] = _unknown
        """Where the program made the Keras metric that a frame (file, line, function) updates."""
        self.optimizes: Callable[[], bool] = lambda: False
        """Whether the program has an optimizer of PyTorch, whose steps are still to come."""


def _unknown(path: str, line: int, function: str) -> None:
    """No line: no Keras was imported."""
