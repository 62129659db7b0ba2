"""Small stand-ins for recordings, and formats that recognise them: searching is tested without decoders."""

import struct
from dataclasses import dataclass

from stepscope import formats

CHROME = b'{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}]}'
XPLANE = b"XPLANE....."
RUN_METADATA = b"RUNMETA...."
GRAPH = b"GRAPH......"

_KINDS = {CHROME[:8]: "chrome_trace", b"XPLANE": "xplane", b"RUNMETA": "run_metadata", b"GRAPH": "graph"}


@dataclass(frozen=True)
class Claim:
    """What a format would be."""

    NAME: str


class Fakes:
    """Formats that look at a few bytes. What is known of formats is true."""

    traits = staticmethod(formats.traits)
    described = staticmethod(formats.described)
    twins = staticmethod(formats.twins)
    copies = staticmethod(formats.copies)
    numbered = staticmethod(formats.numbered)

    def recognise(self, head: bytes, name: str) -> Claim | None:
        """By the first bytes; event files by their framing."""
        for magic, kind in _KINDS.items():
            if head.startswith(magic):
                return Claim(kind)
        if len(head) > 12 and struct.unpack_from("<Q", head)[0] < 1000 and head[12:13] in (b"\x09", b"\x42"):
            return Claim("event_file")
        return None


FAKES = Fakes()


def event_file(*tags: str) -> bytes:
    """An event file with run metadata under tags; CRCs are zero, for nobody here checks them."""
    out = b""
    for tag in tags:
        inner = b"\x0a" + bytes([len(tag)]) + tag.encode() + b"\x12\x02xx"
        event = b"\x09" + struct.pack("<d", 1.0) + b"\x10\x00" + b"\x42" + bytes([len(inner)]) + inner
        out += struct.pack("<QI", len(event), 0) + event + struct.pack("<I", 0)
    return out
