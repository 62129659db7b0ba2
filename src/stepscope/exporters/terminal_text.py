"""Text on its way to a terminal: hidden characters become escapes, chunk by chunk."""

import codecs
from collections.abc import Callable

from stepscope.exporters.staging import Sink


class Showing:
    """A sink of UTF-8 that writes it to another one through `escape`. Call flush() at the end."""

    def __init__(self, sink: Sink, escape: Callable[[str], str]) -> None:
        self._sink, self._escape = sink, escape
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._held = ""

    def write(self, data: bytes, /) -> None:
        """Takes all of `data`."""
        self._write(self._decoder.decode(data), final=False)

    def flush(self) -> None:
        """Writes what was held back because a chunk ended within it."""
        self._write(self._decoder.decode(b"", final=True), final=True)

    def _write(self, text: str, *, final: bool) -> None:
        text = self._held + text
        # A carriage return is escaped unless a line feed follows, which may be in the next chunk.
        self._held = "\r" if text.endswith("\r") and not final else ""
        text = text[: len(text) - len(self._held)]
        self._sink.write(self._escape(text).encode("utf-8"))
