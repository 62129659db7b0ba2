"""The unpacked beginning of a file, and what it is when it is not a recording."""

import re
import zlib
from typing import BinaryIO, NamedTuple, Protocol, cast

from stepscope.sources.damage import broken
from stepscope.sources.names import packless
from stepscope.sources.other_tools import OTHER_TOOLS, other_tool

HEAD_BYTES = 65536
_BLOCK_BYTES = 4 << 20
_STEP_BYTES = 16384
_PIECE_BYTES = 256

_MAGIC = ((b"\x1f\x8b", "gzip"), (b"BZh", "bz2"), (b"\xfd7zXZ\x00", "xz"))


def packing(head: bytes) -> str | None:
    """gzip, bz2 or xz, by the first bytes; None when the bytes are not packed."""
    return next((name for magic, name in _MAGIC if head.startswith(magic)), None)


def unpacked(file: BinaryIO, packing: str) -> BinaryIO:
    """A stream of what is packed in `file`."""
    if packing == "gzip":
        import gzip

        return cast("BinaryIO", gzip.GzipFile(fileobj=file))
    if packing == "bz2":
        import bz2

        return cast("BinaryIO", bz2.BZ2File(file))
    import lzma

    return cast("BinaryIO", lzma.LZMAFile(file))


class Peek(NamedTuple):
    """The beginning of a stream: the bytes taken from it, how they are packed, and what they unpack to."""

    taken: bytes
    packing: str | None
    head: bytes


def peek(stream: BinaryIO) -> Peek:
    """Reads as much of a stream as sniffing needs, and no byte twice."""
    taken = _read(stream, HEAD_BYTES)
    found = packing(taken)
    if found is None:
        return Peek(taken, None, taken)
    if found != "gzip":
        # bzip2 and xz give nothing before the end of a block, which may be megabytes long.
        taken += _read(stream, _BLOCK_BYTES)
    return Peek(taken, found, _unpacked_head(taken, found))


def _unpacked_head(taken: bytes, packing: str) -> bytes:
    """What the first bytes unpack to. Streams would give nothing of a short file that is cut or damaged, so
    the bytes go in by small pieces, and what comes out before the damage is kept."""
    head = b""
    unpacker, behind = _unpacker(packing), False
    for at in range(0, len(taken), _PIECE_BYTES):
        piece = taken[at : at + _PIECE_BYTES]
        try:
            while len(head) < HEAD_BYTES:
                # Zeros behind a member are padding.
                piece = piece.lstrip(b"\0") if behind else piece
                if not piece:
                    break
                head += unpacker.decompress(piece, HEAD_BYTES - len(head))
                piece, behind = b"", unpacker.eof
                if behind:
                    piece = unpacker.unused_data
                    unpacker = _unpacker(packing)
        except broken():
            break
        if len(head) >= HEAD_BYTES:
            break
    return head


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _unpacker(packing: str) -> _Unpacker:
    if packing == "gzip":
        return cast("_Unpacker", zlib.decompressobj(wbits=31))
    if packing == "bz2":
        import bz2

        return bz2.BZ2Decompressor()
    import lzma

    return lzma.LZMADecompressor()


def _read(stream: BinaryIO, most: int) -> bytes:
    pieces: list[bytes] = []
    left = most
    while left > 0:
        try:
            piece = stream.read(min(left, _STEP_BYTES))
        except broken():
            # What can be read before the damage is enough to recognise a file; decoding it will tell more.
            break
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def is_zip(head: bytes) -> bool:
    """True for the first bytes of a zip archive, an empty one included."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def is_tar(head: bytes) -> bool:
    """True for the first block of a tar archive with a POSIX or GNU header."""
    return len(head) >= 512 and head[257:262] == b"ustar"


_KINDS = (
    (b"\x89PNG", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"PAR1", "Parquet file"),
    (b"ARROW1", "Arrow file"),
    (b"\x7fELF", "program"),
    (b"\x28\xb5\x2f\xfd", "zstd-packed file (unpack it first)"),
    (b"7z\xbc\xaf", "7-Zip archive (unpack it first)"),
    (b"Rar!", "RAR archive (unpack it first)"),
    (b"\x80\x04", "pickle"),
    (b"SQLite format 3\x00", "SQLite database"),
)
_PAGES = (
    *(
        f".{page}.pb"
        for page in ("overview_page", "input_pipeline", "kernel_stats", "memory_profile", "tensorflow_stats")
    ),
    ".memory_profile.json",
)
"""What TensorBoard's profiler computes from an XPlane."""
_HLO = "HLO module"
_DUMPED = re.compile(r"(?:\d+\.)?module_\d+\.")
"""How names of files in a dump folder of XLA begin."""
_CHAKRA, _FIREFOX = "execution trace (PyTorch, Chakra)", "Firefox profile"
_CPROFILE = "profile of cProfile"
_SCALENE, _TRITON = "Scalene profile", "trace of requests (Triton Inference Server)"
_PAGE, _KERAS = "TensorBoard page", "Keras model"
_NVPROF, _NVVP = "printed output of nvprof", "database of nvprof"
OP_LOG = "op log of tfprof"
_CODE = (".py", ".sh", ".ipynb")
_SUFFIXES = (
    (_CODE, "source code"),
    ((".index", ".meta", ".ckpt"), "checkpoint file"),
    ((".hlo.pb", ".hlo", ".hlo_proto.pb"), _HLO),
    ((".csv", ".tsv"), "table of text"),
    (_PAGES, _PAGE),
    ((".h5", ".keras"), _KERAS),
    ((".npz", ".npy"), "array file"),
    ((".pt", ".pth"), "PyTorch checkpoint"),
)
INSTEAD = {
    _HLO: "give the whole dump folder, the one that --xla_dump_to named: this file holds no program that can "
    "be read",
    _CHAKRA: "record with torch.profiler.profile() and give what export_chrome_trace() writes: an execution "
    "trace says what ran and what it needed, not when",
    _FIREFOX: "look at it in profiler.firefox.com, or record with `py-spy record --format speedscope`, which "
    "stepscope reads",
    OP_LOG: "`stepscope tfprof code -op_log_path PATH -graph_path …` reads it beside a graph",
    _NVPROF: "record with Nsight Systems and give what `nsys export --type sqlite` writes: the tables that "
    "nvprof prints are not read",
    _NVVP: "record with Nsight Systems and give what `nsys export --type sqlite` writes: nvprof's own "
    "databases are not read",
    _CPROFILE: "`python -m pstats PATH` reads it; record with `stepscope record`: cProfile sums up by "
    "function and does not say when",
    _SCALENE: "use `scalene view`, or record with `stepscope record`: Scalene sums up by line and "
    "does not say when",
    _TRITON: "record the model with its framework's profiler: this trace times requests, and no ops",
    _PAGE: "give the .xplane.pb that lies beside it: the page was computed from that",
    _KERAS: "give a checkpoint (save_weights with a name that does not end in .h5), or a recording of the "
    "training",
    **{tool.kind: tool.instead for tool in OTHER_TOOLS},
}
"""What to give instead of a file that is known and cannot be read, by its kind."""


# How a JSON object or array goes on, cut anywhere. Other texts begin with a bracket as well: a TOML table,
# an INI section.
_JSON = rb"""(?:\xef\xbb\xbf)?\s*(?:
      \{\s*(?:["}]|\Z)
    | \[[\s\[]*(?:
        [{\]] | \Z
      | "(?:[^"\\]|\\.)*(?:\\?\Z|"\s*(?:[,\]]|\Z))
      | (?:-?[0-9][0-9.eE+-]*|true|false|null)\s*(?:[,\]]|\Z)
      | (?:-|tr?u?|fa?l?s?|nu?l?)\Z
      )
    )"""


_MARSHALLED_STATS = re.compile(
    rb"[{\xfb](?:[)\xa9]\x03|[(\xa8]\x03\x00\x00\x00)[stuaAzZ\xf3\xf4\xf5\xe1\xc1\xfa\xda]"
)
"""How Python's marshal begins a dictionary whose keys are file, line and function."""
_NVPROF_BEGINS = re.compile(rb"==\d+== NVPROF is profiling process \d+")
_PAGE_BEGINS = re.compile(
    rb'\s*(?:\[\s*)?\{\s*"cols":\s*\[\s*\{(?=.{0,2000}?"id":\s*"(?:stepnum|\w*TimePercent|\w*_self_time))'
    rb'|\s*\{\s*"by(?:Category|Program)":\s*\{',
    re.DOTALL,
)
"""Tables for charts, of which pages consist, and the tree of op_profile."""
_CHAKRA_BEGINS = re.compile(rb".{1,3}\x12.\n\x06schema", re.DOTALL)
"""The first message of an execution trace as protobuf: its attributes, of which the schema comes first."""


def _undecoded_format(head: bytes) -> str | None:
    """A format that is known by what it holds, and that no decoder reads."""
    if _MARSHALLED_STATS.match(head):
        return _CPROFILE
    if _NVPROF_BEGINS.match(head):
        return _NVPROF
    if _CHAKRA_BEGINS.match(head):
        return _CHAKRA
    if _PAGE_BEGINS.match(head):
        return _PAGE
    begin = head.lstrip()[:1]
    if begin == b"[" and b'"timestamps"' in head and b'"REQUEST_START"' in head:
        return _TRITON
    if begin != b"{" or b'"traceEvents"' in head:
        return None
    if b'"workload_graph"' in head[:256] and b'"NodeType"' in head:
        return _CHAKRA
    if b'"nodes"' in head and (b"chakra" in head or b'"ctrl_deps"' in head or b'"rf_id"' in head):
        return _CHAKRA
    if b'"alloc_samples"' in head[:256] and b'"entrypoint_dir"' in head:
        return _SCALENE
    meta = b'"meta"' in head[:64]
    return (
        _FIREFOX if meta and (b'"preprocessedProfileVersion"' in head or b'"processType"' in head) else None
    )


def is_database_of_nvprof(head: bytes) -> bool:
    """Whether a database is one of nvprof (.nvvp), which names its tables as Nsight Systems does, for both
    write what CUPTI tells; names of kernels are in another table."""
    return b"CUPTI_ACTIVITY_KIND_" in head and b"StringTable" in head and b"StringIds" not in head


def is_code(name: str) -> bool:
    """Whether a file is the text of a program, by its name."""
    return name.lower().endswith(_CODE)


def is_known_archive(name: str) -> bool:
    """Whether the name of an archive says that it holds something else than recordings, as a model."""
    return any(name.lower().endswith(endings) for endings, _ in _SUFFIXES)


def kind(head: bytes, name: str) -> str:
    """What a file that is not a recording seems to be, for the list of what was seen."""
    if not head:
        return "empty file"
    if head[8:12] == b"DUCK":
        return "DuckDB database"
    for magic, found in _KINDS:
        if head.startswith(magic):
            return _NVVP if is_database_of_nvprof(head) else found
    if found_inside := _undecoded_format(head):
        return found_inside
    if tool := other_tool(head):
        return tool.kind
    lower = packless(name).lower()
    for suffixes, found in _SUFFIXES:
        if lower.endswith(suffixes):
            return found
    if _DUMPED.match(lower):
        return "other file of a dump of XLA"
    if ".data-0" in lower or lower == "checkpoint":
        return "checkpoint file"
    if re.match(_JSON, head, re.VERBOSE | re.DOTALL):
        return "JSON file without trace events"
    try:
        head[:4096].decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head[:4096]) - 3:
            return "binary file"
    return "binary file" if b"\x00" in head[:4096] else "text file"
