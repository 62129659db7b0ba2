"""What torch.save() writes, .pt and .pth: which tensors it keeps, how large, and what each is for.

Format: a zip archive whose member data.pkl is a pickle of the object, with the values in members beside it;
before PyTorch 1.6 a file of several pickles, of which the fourth is that of the object. Programs of
TorchScript are such archives as well. Nothing of a pickle is run; values stay where they are.
"""

from stepscope import _core
from stepscope._core import Store
from stepscope.formats import Pieces, Writer, timeless
from stepscope.sources.source import Traits

NAME = "torch_checkpoint"
TRAITS = Traits(kind="checkpoint", endings=(".pt", ".pth", ".bin", ".ckpt"))
WRITERS = {NAME: Writer("pytorch")}
CACHED = False
"""It is quickly listed, however large it is."""
MAGIC = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
"""How a file of PyTorch before 1.6 begins: a pickle of its magic number."""
_PADDING = b"FB"
"""The field that PyTorch puts behind the name of a member."""


def sniff(head: bytes, name: str) -> bool:
    """The magic number, or an archive that begins with the pickle of an object, or as TorchScript's do with
    values, which PyTorch puts where it wants them by a field of its own."""
    if not head.startswith(b"PK\x03\x04"):
        return head.startswith(MAGIC)
    end = 30 + int.from_bytes(head[26:28], "little")
    first = head[30:end]
    return first.endswith(b"/data.pkl") or (first.endswith(b"/data/0") and head[end : end + 2] == _PADDING)


def build(pieces: Pieces) -> Store:
    """Its tensors. Damaged when it cannot be followed to its end; Unreadable when it is gone."""
    from stepscope.formats._checkpoint_rows import store_of
    from stepscope.formats._torch_archive import listing

    with pieces.on_disk() as path:
        rows, notes, data = listing(str(path))
    return store_of(pieces, _core.hash_bytes(data), NAME, rows, notes)


steps = timeless
