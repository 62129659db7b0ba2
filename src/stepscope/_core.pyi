"""The native core: bytes in, Arrow columns out. See crates/core."""

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, BinaryIO, Literal, final

DECODER_VERSION: int
"""Raised whenever the same bytes would give other rows."""
MOST_PX: int
"""Pixels of the widest window whose cells Lod.cells() gives."""

def class_rules() -> list[tuple[str, str, str, str]]:
    """The rules of what slices are, in order: `list`, `fact` or the fact that is decided; its name, or the
    value; patterns, what the fact is, or conditions; comments in front of it."""

def slice_class(
    name: str,
    category: str | None,
    op_name: str | None,
    op_type: str | None,
    place: str = "host",
    producer: str = "",
    thread: str = "",
    copies: bool = False,
) -> tuple[str, str | None, str | None, bool]:
    """What a slice is, as rollup_op has it: class, wait, layer, is_op. place, copies: as in track_place."""

def slice_label(
    name: str, category: str | None, names_op: bool
) -> tuple[str | None, str | None, str | None, bool]:
    """What the thread that runs the program does in a slice: in a short one, in a long one, in a long one
    where no accelerator is, `!` where it holds for all within; and whether XLA makes a program in it."""

def collective_kind(name: str) -> str | None:
    """The kind of collective that a name says; None where it says none."""

class CoreError(Exception):
    """A decoder gave up. `args` is (kind, offset or None, what was seen)."""

    kind: str  # not_this_format, damaged, limit, io, interrupted
    offset: int | None
    seen: str

@final
class Input:
    """Bytes to decode: where they are and how they are packed. Opened lazily, read once or twice."""

    @staticmethod
    def file(
        path: str, offset: int = 0, length: int | None = None, codec: str = "plain", crc: int | None = None
    ) -> Input:
        """A stretch of a file; codec is plain, gzip or deflate. crc: CRC-32 of the unpacked bytes, compared
        when they are read from the first to the last."""
    @staticmethod
    def bytes(data: bytes, codec: str = "plain") -> Input: ...
    @staticmethod
    def reader(file: BinaryIO) -> Input:
        """Any Python object with read(n) -> bytes."""

@final
class Stream:
    """A table as an Arrow stream; may be exported any number of times."""

    rows: int
    columns: list[str]
    def narrowed(self, positions: Sequence[int]) -> Stream:
        """The same rows with the columns at these positions, in that order."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Store:
    """The tables decoded from one source, in memory or in a folder.

    Ids count from 0 within the store. Columns run_id, host_id and source_id are not in it.
    """

    facts: dict[str, Any]
    """events_seen, events_stored, events_lost, events_repaired, events_capped, bytes_in (after
    decompression), content_hash, origin_unix_ns (int or None), producer (str), start_ps, end_ps,
    notes: [{slug, effect, events, first_offset, detail}], and `meta`: what the format tells beside
    its events (str -> str)."""

    def tables(self) -> dict[str, int]:
        """Name and number of rows of every table that is there, `slice` and `marker` included."""
    def stream(self, table: str, mapped: bool = True, columns: Sequence[str] | None = None) -> Stream:
        """The table as Arrow. mapped=False reads batch by batch and keeps nothing in memory.

        columns: only these are read (and compared with their hashes); None is all.
        """
    def rows(self, table: str) -> list[dict[str, Any]]:
        """A small table as Python rows."""
    def replace(self, table: str, columns: dict[str, Sequence[Any]]) -> None:
        """Writes a small table anew (or a new one): columns of int, float, str or None; bool as bool."""
    def assign_steps(self, begin_ps: Sequence[int], end_ps: Sequence[int], number: Sequence[int]) -> None:
        """Fills slice.step: the step in whose half-open interval the slice starts. Sorted, disjoint."""
    def extents(self, before_ps: int = ...) -> dict[int, tuple[int, int, int, int]]:
        """By track_id, of the slices that end before `before_ps` (of all): their number, when the first of
        them begins, the last of them begins, and the last of them ends (ps)."""
    def launched_work(self, begin_ps: Sequence[int], devices: Set[int]) -> list[tuple[int, int] | None]:
        """What the tracks `devices` executed of what was launched before the first of `begin_ps`, and from
        each of them to the next: when the last of it ends, and the least time from a launch to the begin of
        what it launched (ps). None: nothing that was executed."""
    def roll_up(self, producer: str) -> None:
        """Fills the tables rollup_*. Slices, tracks, devices and steps must be final."""
    def update_facts(self, facts: dict[str, Any]) -> None: ...

def decode(
    format: str,
    input: Input,
    folder: str | None = None,
    *,
    needs: Sequence[str] | None = None,
    options: dict[str, str] | None = None,
    threads: int = 0,
    progress: Callable[[int], None] | None = None,
    keep: bool = True,
) -> Store:
    """Decodes `input` as `format` (chrome_trace, xplane, run_metadata, event_file, graph).

    folder: where the tables go; None keeps them in memory.
    needs: what the caller will look at, of {"args", "nesting", "ops", "tables"}; None is everything. Columns
    that are not needed may hold NULL (or 0 where NULL is not allowed), which makes one question cheap.
    "ops" are op_name, op_type and correlation_id. Without "tables" the file is not hashed.
    progress: called with the number of packed bytes read, about ten times a second; its exceptions
    (KeyboardInterrupt) stop the work.
    keep: False lets slices go as soon as they are decoded, does not nest and does not hash the file: what
    decoding alone takes.
    """

def sniff(format: str, head: builtins.bytes, name: str) -> bool:
    """True when the unpacked beginning of a file looks like the format (chrome_trace, xplane, run_metadata,
    event_file, graph, checkpoint). name: its base name, a hint. ValueError for an unknown format."""

def build(folder: str | None = None) -> Store:
    """An empty store to be filled with replace()."""

def open(folder: str) -> Store:
    """A store that decode() wrote."""

def event_messages(
    input: Input,
) -> tuple[
    list[tuple[Literal["graph", "function_graph", "run_metadata"], str, int | None, int, int]], list[str]
]:
    """The messages in an event file that are whole files elsewhere: kind, tag (empty for a graph), step,
    offset in the unpacked file, length; and sentences about what could not be read.

    graph: GraphDef or MetaGraphDef. function_graph: of a function of TensorFlow 2, before it is optimised.
    run_metadata: only with step statistics. CoreError when the file has no record.
    """

def hlo_summaries(
    files: Sequence[str | Input], threads: int = 0
) -> list[builtins.dict[str, Any] | tuple[int | None, str]]:
    """Compiled programs in files (HloProto, HloModuleProto, HloSnapshot, HLO text), summed up on all
    processors, or on `threads`; in the order of the files. Each is a dict, or (byte offset or None, what was
    seen) where the file could not be read.

    name, id (None in text), written (proto, bare module, snapshot or text), size and hash of the file;
    computations, instructions, opcodes {name: number}, doubles (instructions that make f64); flops,
    transcendentals, bytes as XLA counts them; run_flops, run_transcendentals, run_bytes with loops as often
    as they are known to go round, run_custom_calls (of unknown cost), run_open_loops (counted once); entry
    (whether there is one), parameters (their shapes), replicas, partitions, donors (of parameters whose
    memory is given to the program and that no output has taken: number, indexes into it if it is a tuple,
    bytes or None); memory (None, or parameter_bytes, constant_bytes, thread_local_bytes, output_bytes,
    temp_bytes, alias_bytes, allocated_bytes), heap_needed_bytes of each heap; dangling (operands and
    computations that are not there), unknown_fields, lost (lines of text), cut (a text that ends too early),
    cyclic (computations that call themselves)."""

def hlo_tables(
    store: Store, files: Iterable[tuple[str | Input, int, int | None, str, str, str | None]]
) -> list[builtins.dict[str, Any] | tuple[int | None, str] | None]:
    """Fills the tables hlo_computation, hlo_instruction, hlo_buffer and hlo_allocation of a store with
    programs in files. Each file comes with the rows of its module and stage, number and name of the module,
    and the stage. Result: for each that was read None, or what hlo_summaries says where
    it has no row of a stage; for others as there. CoreError when the store cannot be written."""

def hlo_module(data: builtins.bytes) -> builtins.dict[str, Any]:
    """A compiled program as hlo_summaries sums it up, and all that is in it. CoreError when it is damaged.

    Also: scheduled; entry_computation (index or None); computation_rows: dicts with name, instructions, root
    (index of an instruction or None), times (how often it runs as statements of its own) and costs;
    instruction_rows, a computation after the other: dicts with computation (index), name, opcode, shape,
    shape_bytes, operands (indexes; None for one that is missing),
    called (indexes of computations; the body of a loop before its condition), number (of a parameter or
    tuple element, or the value of a constant that is one integer), id (as buffers name it), op_name, op_type,
    frame (number from 1, or 0), fusion_kind, target, direction, sharding, config, after (control
    dependencies), trip_count and costs; frames: Python calls (file, line or 0, function, number of the
    call around it from 1 or 0); buffers: None, or logical (id, size,
    instruction, instruction id, shape index), allocations (index, size, class, aliased, parameter, color,
    [(buffer, offset, size)]), traces (bytes needed, instruction at the peak, allocation that holds the
    buffers, allocation that the file names, [(buffer that lives at the peak, size)])."""

def hlo_diff(paths: list[str], named: bool = True, rows: bool = True) -> builtins.dict[str, Any]:
    """What changed between the first and the last of compiled programs in files, matched one after the other.
    named: whether the framework's names of ops count in the matching; names of instructions never do.
    CoreError when a file is damaged.

    a and b: as hlo_summaries; with `rows` also rows: (name, opcode, shape, computation, op_name, flops,
    bytes) of each instruction, costs as it runs when it runs once. pairs: (index in a, index in b, basis,
    whether it is a guess, words for what differs), in the order of a. basis: identical, surroundings,
    neighbour, opened, twins, op_name, resized or order. removed and added: (index, fate, index or None).
    fate, of what is added seen backwards in time: folded (what used it uses what it was made of; the index is
    the user, of its own side), merged (what used it uses an equal one: index on the other side), replaced
    (by the index on the other side), with its users (the index is one, of its own side), unused, dropped (by
    the user, of its own side)."""

def tf_timeline(
    input: Input, *, dataflow: bool, memory: bool, op_time: str
) -> tuple[str, int, int, tuple[int, str] | None]:
    """The Chrome trace that TensorFlow's Timeline makes of a RunMetadata or StepStats, as text.

    op_time: schedule, gpu or all. Also: the number of events, of executions that could not be read, and
    the first damage (offset, what is wrong). CoreError when the file is no RunMetadata with step
    statistics.
    """

def write_parquet(
    files: Sequence[tuple[str, Store, str, Sequence[tuple[str, str, str | int | None, int]]]],
    *,
    threads: int = 0,
) -> list[tuple[int, int, str]]:
    """Writes tables as Parquet files and forces them to the disk; gives size, rows and hash of each.

    files: path (nothing may be there), store, table, and the columns of the file: name, type in SQL, a
    value that all rows have or None, and else a number that is added to the table's column of that name
    (NULL in all rows when it has none). The bytes depend on the rows alone, not on threads.
    CoreError when a file cannot be written or a value does not fit its type: what was begun is left there.
    """

def arrow_stream(columns: Sequence[tuple[str, str, Sequence[bytes | None]]], length: int) -> object:
    """A PyCapsule of an ArrowArrayStream with one batch of so many rows.

    columns: name, Arrow's format string, and the buffers: the validity bitmap, None where no row is NULL,
    then those of the values. ValueError when they do not fit each other.
    """

def write_lod(path: str, store: Store) -> tuple[int, int, str]:
    """Writes the slices of a store as the file that `Lod` maps and forces it to the disk; gives its size,
    slices and hash. CoreError when it cannot be written or something is there."""

def unpickle(data: bytes) -> Any:
    """The value of a pickle of dicts, lists, tuples, numbers, text and bytes (protocols 2 to 5). CoreError
    when it is damaged, too large, or holds anything else: nothing of the file is run."""

def stack_slices(
    samples: Iterable[tuple[Sequence[str], int, int]],
    begun: Callable[[str], str],
    take: Callable[[bytes], object],
    origin_ps: int | None,
    most_depth: int,
    most: int,
) -> tuple[int, int, int, int | None]:
    """Slices of samples, (stack from the outermost frame, start, end) in order of time, as Chrome's events,
    each after a comma. What successive samples share, up to most_depth frames, is one slice.

    begun: how a slice of a name is written up to its times. take: gets what is written, a piece at a time.
    origin_ps: when ts = 0 is; by default the start of the first slice. most: no more are written, and it ends
    once there are more. Returns how many there were, how many of them end before they begin and how many lie
    more than 53 days from the origin, which are not written; and the origin."""

def hash_bytes(data: bytes) -> str:
    """The content hash of bytes in memory."""

def hash_file(path: str) -> str:
    """The content hash decode() reports, of a whole file as stored."""

@final
class Checkpoint:
    """A checkpoint of TensorFlow, V1 or V2, by its prefix, one of its files, or its folder.

    CoreError, with the tensor in what was seen, when it is damaged.
    """

    def __init__(self, path: str) -> None: ...
    def tensors(self) -> list[tuple[str, str, list[int], int | None, int]]:
        """Name, type, shape, bytes (None when only the values tell) and slices, by name."""
    def absent(self) -> list[tuple[str, int | None, str]]:
        """Tensors whose values are not where the index says: name, offset, what is wrong there."""
    def read(self, name: str) -> builtins.bytes | list[builtins.bytes]:
        """Values in row-major order: elements little-endian, or texts. KeyError for an unknown name."""
    def text(self, name: str) -> str:
        """The values as tfprof prints them."""

def pprof(
    kinds: Sequence[tuple[str, str]],
    frames: Iterable[str] | Iterable[tuple[str, str, int]],
    stacks: Iterable[tuple[int, int]],
    samples: Iterable[tuple[int, Sequence[int], Sequence[tuple[str, str]]]],
    *,
    default: str,
    start_unix_ns: int = 0,
    span_ns: int = 0,
) -> builtins.bytes:
    """A Profile of the pprof project, not compressed.

    kinds: what the values of a sample are, with their units; `default` is the one shown first.
    frames: functions, or functions with file and line; numbered from 0.
    stacks: number of the stack below (-1 for none) and of the frame on top; the one below comes first.
    samples: number of a stack, a value of each kind, labels (key and text).
    ValueError for a number that is not there.
    """

def is_checkpoint_index(head: builtins.bytes) -> bool:
    """True for the beginning of a V2 index, whose values are in other files; False for a V1 checkpoint."""

@final
class TfprofOptions:
    """The options of tfprof, with the defaults of TensorFlow 2.21's command line."""

    output: str
    """timeline, stdout, file, pprof or none."""
    select: list[str]
    def __init__(self) -> None: ...
    def copy(self) -> TfprofOptions: ...
    def set(self, name: str, value: str | None = None) -> None:
        """Sets an option (name without dash) from text; ValueError holds TensorFlow's words."""
    def force(self, name: str, values: Sequence[str]) -> None:
        """Sets order_by, select or a list of expressions without a check."""
    def read_line(self, line: str) -> str:
        """Reads `COMMAND -option value …`; returns the command. ValueError as above."""
    def list(self) -> str:
        """One line for each option."""
    @staticmethod
    def meanings() -> builtins.list[tuple[str, str, str]]:
        """Each option: name, default as listed, what it does."""
    @staticmethod
    def columns() -> builtins.list[tuple[str, str]]:
        """What can be selected, and what it shows."""
    @staticmethod
    def orders() -> builtins.list[str]: ...

@final
class ViewStream:
    """A view of tfprof as an Arrow stream, made when a row is read; may be exported any number of times."""

    columns: list[str]
    is_made: bool
    def narrowed(self, positions: Sequence[int]) -> ViewStream:
        """The same rows with the columns at these positions, in that order."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def tfprof_views(
    models: Sequence[tuple[str, Tfprof]], options: TfprofOptions, first_id: int
) -> list[ViewStream]:
    """The lines of views, each of its model, with the columns of `tfprof_node` that tell of a line. Their ids
    count through all views from `first_id` on: a stream with ids makes the views before it. The code view has
    no lines where nothing tells of code."""

@final
class Tfprof:
    """A model for tfprof: nodes, what ran in each step, what op logs say. Any thread may ask."""

    def __init__(self) -> None: ...
    def add_graph(self, input: Input) -> int:
        """Adds the nodes of a graph that are not there yet; returns how many the file has."""
    def add_run_metadata(self, step: int, input: Input) -> bool:
        """Adds a step; False when the file has no step statistics."""
    def add_ran(self, steps: Sequence[int], rows: Sequence[Any]) -> None:
        """Adds what ran, as a trace tells it: name, op, (device, accelerator), more types, operations of a
        run, stack [(file, line, function)] outermost first, names of inputs, and in each step (step, start in
        microseconds, runs, ps on the device, ps on the accelerator, bytes). Times are picoseconds from
        then on. CoreError when RunMetadata was added before."""
    picoseconds: bool
    """Whether times are picoseconds, as after add_ran(), and not microseconds."""
    def add_op_log(self, input: Input) -> int: ...
    def add_profile(self, input: Input) -> int:
        """Adds nodes and steps of a ProfileProto; returns how many nodes it has."""
    def add_checkpoint(self, path: str) -> int:
        """Adds a checkpoint by prefix, file or folder; returns how many tensors it has."""
    def keep_tensors(self) -> None:
        """From now on large constants of graphs are kept, for profile()."""
    def keep_shapes(self) -> None:
        """From now on steps tell the shapes of outputs, for fill_flops()."""
    def fill_flops(self) -> tuple[int, int, dict[str, int], int]:
        """Counts operations of nodes without a count; returns how many, how many lack a shape, how many
        are of each op that has no formula, and how many no graph has."""
    @staticmethod
    def arithmetic(op: str) -> Literal["counted", "none", "unknown"]:
        """Whether an op has a formula, is known to do no floating point arithmetic, or neither."""
    def flops(self, name: str) -> int | None:
        """Operations of one run of a node; None when there is no such node."""
    def profile(self) -> tuple[bytes, int]:
        """The model as a ProfileProto, and how many inputs without a node were left out."""
    def outline(
        self, view: str, options: TfprofOptions
    ) -> tuple[list[tuple[builtins.int, str, bool, list[builtins.int], list[builtins.int], Any]], list[str]]:
        """A view's lines: level, name, whether it counts, own and total figures (runs, definitions, micros,
        accelerator_micros, cpu_micros, requested, peak, residual and output bytes, params, float_ops), and
        (types, devices, shape, nodes). Also warnings."""
    def advise(self) -> tuple[str, builtins.list[str]]:
        """Text and warnings of the three checkers."""
    def take_warnings(self) -> builtins.list[str]:
        """What was odd about the files since the last call."""
    def coverage(self) -> float:
        """Share of the graph's nodes that some step ran."""
    def show(
        self, view: str, options: TfprofOptions
    ) -> tuple[str, builtins.list[str], builtins.list[tuple[str, bytes]]]:
        """Text, warnings, and files to be written (name, content) of a view: scope, graph, op or code."""

@final
class Lod:
    """Slices as a timeline of any size shows them: nothing is cut, what is too dense to draw is counted."""

    names: list[str]
    """Names of slices; the column `name` of a frame holds indices into it."""
    tracks: dict[int, tuple[int, int]]
    """Lanes (largest depth and one) and slices of each track."""

    def __init__(
        self,
        stream: object | None = None,
        *,
        sources: Sequence[tuple[tuple[str, int] | Store, int, int]] = (),
    ) -> None:
        """stream: anything with `__arrow_c_stream__`, rows in any order, with the columns track, id, ts_ps
        and dur_ps (BIGINT), depth (INTEGER) and name (VARCHAR), none of them NULL, and perhaps op_type
        (VARCHAR); else CoreError. sources: a
        file of write_lod() and its size, or a store; what is added to its tracks and ids; and to its times.
        CoreError when a file is damaged or gone."""
    def cells(self, tracks: Sequence[int], from_ps: int, to_ps: int, px: int) -> builtins.bytes:
        """The window as a frame: the length of a JSON header as u32, the header, then columns, each part
        padded to 8 bytes. One row is a cell: track (index into `tracks`), depth, start and width (ps, from
        `from_ps`), count, name, busy (ps) and id (of the longest slice). Counts add up to the slices that
        start in [from_ps, to_ps) or start before and end after from_ps. ValueError for an empty window or
        more than 16,384 pixels."""
    def sums(self, tracks: Sequence[int], from_ps: int, to_ps: int) -> Sums:
        """What the slices of a window come to, nothing of it added up yet. ValueError for an empty window."""

@final
class Sums:
    """A range on its way into sums: those of what was added up so far."""

    slices: int
    """Slices that start in the range, or start before and end after it begins."""
    busy_ps: int
    """Time in which at least one track has a slice."""
    work_ps: int
    """Times in which tracks have slices, added up."""

    def go_on(self, seconds: float) -> bool:
        """Adds up for so long, or a little longer; True when all is. CoreError when a file has changed."""
    def rows(self, most: int) -> tuple[builtins.list[tuple[str, str | None, int, int, int]], int]:
        """By name and op type, those with the most self time first, how many there are beside them: slices,
        durations within the range (ps), and time in which they lie on top (ps). The largest number there is
        for a sum that is larger."""

@final
class Spans:
    """Unions of spans of time: when each of some layers of some sources had anything in it."""

    def __init__(self, streams: Iterable[object]) -> None:
        """streams: anything with `__arrow_c_stream__`, one after the other, rows in any order, with the
        columns layer (VARCHAR), source_id, begin_ps and end_ps (BIGINT), none of them NULL; else
        CoreError."""
    def within(self, source_id: int, from_ps: int, to_ps: int) -> dict[str, list[tuple[int, int]]]:
        """The spans of a source by layer, cut to a stretch of time, in order; none touches another. A layer
        that has spans elsewhere may have none here."""

def thread_segments(
    stream: object,
    within: Mapping[int, tuple[int, int]],
    kinds: Mapping[int, tuple[tuple[int | None, bool], tuple[int | None, bool], bool, bool]],
    traced: Sequence[tuple[int, int, int]],
    compiled: tuple[int | None, bool],
    long_ps: int,
) -> dict[int, list[tuple[int, int, int]]]:
    """What each thread does: (from_ps, to_ps, label) in order, disjoint; no neighbours have one label.

    stream: anything with `__arrow_c_stream__`, slices of each thread in order of begin, outer ones first,
    with the columns track_id, begin_ps, end_ps and rollup_id (BIGINT), none of them NULL; else CoreError.
    within: the threads, each with its stretch of time; slices that do not reach into it are left out. traced:
    those in which a function was traced. kinds: for each rollup_id what a slice of less than long_ps stands
    for, what a longer one does, whether a program is compiled in it, and whether it calls a function that is
    compiled at need. What something stands for is a label, or None, and whether it holds for all within.
    compiled: what a call stands for that traced or compiled what it calls. ValueError for a slice whose kind
    is not there."""

def ops_in_calls(stream: object, calls: set[int]) -> list[tuple[int, int, int, int, int]]:
    """Executions of ops by the innermost of some calls that is open when they begin: call, kind of op,
    device, executions, and how long they took; those outside of all of these calls are left out.

    stream: anything with `__arrow_c_stream__`, calls and ops of each thread in order of begin, outer ones
    first, with the columns track_id, begin_ps, end_ps, call_id (-1 for an op), alike_id (kind of an op),
    device_track_id and took_ps (BIGINT), none of them NULL; else CoreError."""

def innermost_slices(
    slices: object, names: object, moments: Sequence[tuple[int, int]], line_of: Callable[[str], bool | None]
) -> tuple[list[int], list[tuple[str, str | None]]]:
    """What is open at each moment: a number in the list that comes second, -1 between slices. The list has
    the names of the innermost slice and of the innermost call around it whose line is the program's own, or
    else of the innermost call whose line is known, None where there is no such call.

    slices: anything with `__arrow_c_stream__`, slices of each thread in order of begin, outer ones first,
    with the columns track_id, begin_ps, end_ps, slices_around and rollup_id (BIGINT). names: such a stream
    with the columns rollup_id (BIGINT) and name (text), of all slices. Nothing in them is NULL; else
    CoreError. moments: threads and times in picoseconds, in this order. line_of: whether a name is a call
    of the program's own code, None where it tells no line; what it raises comes through.
    """

class Pieces:
    """Stretches of time in which nothing changes: from_ps, to_ps, label, and a bit for each label that goes
    on as well and costs nothing."""

    def __init__(self, rows: Sequence[tuple[int, int, int, int]]) -> None: ...
    def rows(self) -> list[tuple[int, int, int, int]]: ...

def sweep_steps(
    steps: Sequence[tuple[int, int]],
    spans: Sequence[Sequence[tuple[int, int]]],
    by_slices: Sequence[tuple[int, int, int]],
    by_stacks: Sequence[tuple[int, int, int]],
    decide: Callable[[list[bool], int | None, int | None], tuple[int, int]],
) -> Pieces:
    """The pieces of all that the steps cover, in order of time; none reaches over a begin or an end of one.

    spans: at most 32 layers. by_slices, by_stacks: (from_ps, to_ps, label), each kind disjoint. decide: asked
    once for each state, with which layers have a span there and the labels of both kinds; gives the label of
    such an instant, and the bits of what goes on besides. What it raises is raised here."""

class Replay:
    """The steps of a source, to be replayed with other times: see crates/core/src/replay. Its work ends with
    Ctrl-C, and with Stopped (stepscope.background) when nobody wants it any more."""

    def __init__(
        self,
        slices: object,
        arrows: object,
        on_devices: Mapping[int, bool],
        driver: int,
        doing: Sequence[tuple[int, int, int]],
        marks: Sequence[int],
        may_wait: int,
        may_join: int,
        kinds: Mapping[int, tuple[bool, bool, bool]],
    ) -> None:
        """slices, arrows: Arrow streams of the statements replay_slices and replay_arrows. on_devices: the
        tracks, and whether each is a stream of a device. doing: what the driving track does, (from_ps, to_ps,
        label), disjoint and in order. marks: moments of that track that are asked for. may_wait, may_join: a
        bit for each label under which it may wait for others, and for what it handed over. kinds: by
        rollup_id, whether slices wait, open a stretch of work, and close one.
        ValueError where driver is not among the tracks."""

    def replay(
        self,
        kinds: Mapping[int, float] | None = None,
        labels: Sequence[float] | None = None,
        *,
        unbound: int = 0,
        event_ps: int = 0,
        link: float = 1.0,
    ) -> list[int]:
        """When the marks come, in picoseconds. kinds, labels: what is left of the time of slices and of the
        driving track's labels. unbound: a bit for each label under which it waits for nobody. event_ps: what
        an event takes. link: what is left of the time from the last participant of a collective to its end.
        ValueError for times below zero or not finite."""

    def longest_way(
        self,
        kinds: Mapping[int, float] | None = None,
        labels: Sequence[float] | None = None,
        *,
        unbound: int = 0,
        event_ps: int = 0,
        link: float = 1.0,
    ) -> list[tuple[int | None, int | None, int]]:
        """What has to take less time before the last mark comes sooner: rollup_id (-1 outside of slices), the
        driving track's label, picoseconds. Time between tracks has neither."""

    def counts(self) -> dict[str, int]:
        """points, arrows, backward (arrows that would go back in time), inferred (arrows found by time),
        held_ps (for how long the driving track waits for what nobody recorded)."""

class StepSums:
    """Sums of steps, which may overlap: each gets all that lies in it."""

    def __init__(self, steps: Sequence[tuple[int, int]], labels: int) -> None: ...
    def add(self, pieces: Pieces) -> None:
        """Adds pieces, which come in order of time; none reaches over a begin or an end of a step."""
    def finish(self) -> list[list[int]]:
        """For each step picoseconds by label, then the same of what is hidden. ValueError the second time."""

def layered_layout(
    widths: Sequence[float], edges: Sequence[tuple[int, int]]
) -> tuple[list[int], list[float]]:
    """Layer (from 0 at the top) and left edge of each box, none over another. Edges lead from box to box and
    point down but where they close a cycle; others than between two boxes that are there say nothing. Ends
    with Ctrl-C, and with Stopped (stepscope.background) when nobody wants it any more."""
