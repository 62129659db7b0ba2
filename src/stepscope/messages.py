"""Every slug that an error or a note of a source may carry, explained.

`stepscope docs SLUG` prints an entry: its title, what happened and why it matters, and what to do. A test
holds every slug used in the sources to having an entry here. Keep them in alphabetical order. The file is
long because it is a list, and one list is easier to keep true than several.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """What a slug means: a title of a few words, what happened and why it matters, what to do."""

    title: str
    explanation: str
    todo: str


def _read(text: str) -> Iterator[tuple[str, Message]]:
    """The entries of a list, by their slugs."""
    for entry in text.strip().split("\n\n"):
        head, *lines = entry.splitlines()
        slug, _, title = head.partition(": ")
        explanation, _, todo = " ".join(line.strip() for line in lines).partition(" To do: ")
        yield slug, Message(title, explanation, todo)


ERRORS = dict(
    _read("""
attach-refused: The stacks of a process could not be read
    `stepscope attach` reads stacks with py-spy and gdb, which trace the process. The kernel forbids that for
    processes of other users, where Yama's ptrace_scope asks for more, in containers without the capability
    SYS_PTRACE, and while something else traces the process. The process goes on.
    To do: Follow the line that begins with “to do”. A recording needs no tracing: `stepscope record` starts
    the program itself.

budget: A budget cannot be read
    `stepscope check --budget FILE` reads limits from TOML or JSON. `[limits]` has values of figures: the most
    that it may be (120, "2 GiB"), how much it may grow ("+3", "+1 %"), or false for no limit. Figures are
    ops_per_step, kernels_per_step, copies_per_step, copied_bytes_per_step, recompilations, memory_peak_bytes,
    float_ops_per_step and graph_nodes. `[time]` has shares from 0 to 1: minimum_effect, alpha, least_share,
    can_see and judged_share. `[op."dense*/MatMul"]` has minimum_effect or ignore for ops of such names.
    To do: Mend the name or value that the message names. The guide on checks in CI has a whole file.

cannot-write: The file could not be written
    The system refused: the disk is full, the folder may not be written, or a device failed. Nothing was left
    behind under the name you gave.
    To do: Free space or choose another place, then run the command again.

damaged-tables: Tables contradict each other
    Rows of a lake or the cache refer to rows that do not exist. Files were changed or lost after they were
    written.
    To do: Read the recording again with --no-cache, or ingest it into a new lake. If nobody touched the
    files, please report it.

download-too-large: A result is too large for a download
    A browser keeps a download in memory until all of it is there, so the page refuses large ones. Nothing was
    cut.
    To do: Ask for fewer rows, or write the file with `stepscope query` or `stepscope export`.

engine-needs-a-lake: Only a lake can be read by another engine
    Spark and BigQuery read committed tables. Recordings have to be decoded first, which stepscope does on
    this machine, or with `--runner spark` on a cluster.
    To do: Run `stepscope ingest PATH --lake DIR`, then give DIR instead of the recordings.

error: Something could not be done
    The message says what. Nothing was written.
    To do: Follow the line that begins with “to do”.

handle-unknown: No recording of this handle is open
    Tools for agents take the handle that `open` gave. Four recordings are kept open; opening another one
    closes the one that has been idle longest.
    To do: Call `open` with the same paths again.

lake: A lake or the cache cannot be used
    A lake is a folder of Parquet files with a manifest for each source. It could not be read or written, or a
    newer stepscope wrote it.
    To do: Check that the folder exists, has space and can be written. `--no-cache` works without the cache.

lake-needs-locks: A lake cannot be written on this system
    Several processes may write a lake at once, so writing needs locks that die with their process, and
    folders that files are reached through. Windows has neither. stepscope reads lakes there, answers from
    memory, and keeps no cache.
    To do: Ingest on Linux or macOS, or in the Windows Subsystem for Linux, and copy the lake.

limit-reached: A safety limit stopped the work
    A file expands far more than recordings do (over 200:1 after 64 MB), nests too deeply, or would fill the
    disk. stepscope stops there, so that a damaged or hostile file cannot take the machine down.
    To do: If you trust the file, unpack it yourself and pass the unpacked file to stepscope.

missing-extra: An engine needs packages that are not installed
    Spark and BigQuery answer through packages of their own, which a plain installation leaves out.
    To do: Run the command that the error names, such as `pip install 'stepscope[spark]'`.

no-answer: A library did not answer
    Some verbs ask jaxlib or TensorFlow in a child process, which did not end in time.
    To do: Try again when the machine is less busy. `--catalogue` asks no library.

no-bigquery: BigQuery could not be asked
    The project refused access, credentials are missing, or there was no answer within the time limits. Every
    request has one, so nothing hangs; a job that was begun may still run.
    To do: Run `gcloud auth application-default login`, check the name of the dataset, then try again.

no-cluster: Spark could not do the work
    The cluster did not come up in time, its executors lack something, or a job failed. Sources that were
    ingested before stay in the lake.
    To do: Check the address, that the server runs and has workers with a free core, and that they have
    pyarrow and see the lake's disk. Then run the same command again.

no-clusters: No clusters were recorded
    TensorFlow writes its clusters only on request: to its log, and to graphs named
    mark_for_compilation_annotated.
    To do: `stepscope xla env --dump DIR --graphs` prints what to set before the program runs.

no-flag: There is no such flag
    Neither the installed libraries nor the catalogue of stepscope has a flag or variable of this name.
    To do: Look through the list that `stepscope xla flags` prints.

no-folder: The output folder does not exist
    stepscope writes results into existing folders only, so that a typo does not scatter files.
    To do: Create the folder, or choose another name.

no-format: No output format was given
    The extension of the file name decides the format, and stdout has none.
    To do: Pass --to with one of the text formats, such as --to csv.

no-grpc: Asking profiler servers needs another package
    Profiler servers of TensorFlow and JAX speak gRPC, which the extra `grpc` brings; everything else works
    without it.
    To do: Install it: pip install 'stepscope[grpc]'.

no-mcp: Answering agents needs another package
    `stepscope mcp` speaks the Model Context Protocol with the official SDK, which the extra `mcp` brings;
    everything else works without it.
    To do: Install it: pip install 'stepscope[mcp]'.

no-server: The page needs two more packages
    `stepscope serve` answers a browser with Starlette and uvicorn, which a plain installation leaves out.
    To do: Run `pip install 'stepscope[serve]'`.

no-session: The browser has no session
    The page is only for the person who started it. The URL that `stepscope serve` prints contains a secret,
    which the page exchanges for a cookie; a server that was started again has a new one.
    To do: Open the URL that `stepscope serve` printed when it started.

no-tensorflow: TensorFlow could not be asked
    The table of ops that XLA can compile is TensorFlow's own, so a child process imports it.
    To do: Install TensorFlow, or name the Python that has it with `--python`.

not-a-table: The format cannot hold a single table
    A Chrome trace holds events on a timeline; a table of steps or ops has no place in it.
    To do: Omit --table, or write .csv, .ndjson or .parquet.

not-exported: A dataset does not have what the lake has
    BigQuery answers from a dataset that the lake was exported to. Runs that were ingested or changed since
    then are not in it, so the answers would be those of another lake.
    To do: Run `stepscope export LAKE -o bigquery://PROJECT.DATASET`: it exports only what is missing.

not-installed: A package is not installed
    stepscope itself needs neither data frames nor notebooks, so it does not install packages for them. What
    you asked for needs one.
    To do: Install the package that the message names, with pip.

not-live: There is no program to watch
    `stepscope top` shows what a program reports about itself while it runs. It only does so when started with
    `stepscope record --live`, which watches its steps to the end.
    To do: Start the program with `stepscope record --live train.py`. `stepscope attach PID` shows the stacks
    of any process.

not-text: The format is not text
    Parquet, DuckDB and compressed files are not written to stdout, where they would garble a terminal.
    To do: Pass a file name with -o, or choose a text format.

nothing-found: No recording was found
    No file under the given paths is a recording that stepscope knows: Chrome-trace JSON, XPlane (.xplane.pb),
    RunMetadata, event files with run metadata or graphs, graphs, checkpoints, dump folders of XLA, folders of
    `stepscope record`, speedscope, .cpuprofile, JSON and CSV of rocprof, exports of Nsight Systems (.sqlite),
    collapsed stacks, pprof, and PyTorch's memory timelines and snapshots. stepscope recognises files by their
    content, not by their name.
    To do: Look at the list of what was seen. A TensorBoard log directory has its recordings under
    plugins/profile/; a run that was never profiled has none. docs/how-to/from-a-recording-to-a-fix.md shows
    how to make one.

output: The result could not be written
    The file already exists, its folder does not, or the disk is full. stepscope writes results under a
    temporary name and then renames them, so it never leaves a half-written file under the name you gave.
    To do: Pass another name with -o, or --force to replace the file.

output-exists: The file already exists
    stepscope replaces a file only when you ask for it.
    To do: Choose another name, or pass --force.

path-outside-roots: A path may not be opened
    An agent may open only what is under the folders that `stepscope mcp DIR…` was started with, after links
    are resolved. URLs and standard input are never opened.
    To do: Ask for a path under one of them, or start the server with other folders.

port-taken: The port cannot be used
    Another program listens on it, or the system reserves it. Often it is another `stepscope serve`.
    To do: Choose another --port, or leave it out to get a free one.

profiler-empty: A profile is empty
    A profiler server answered that nothing was recorded: the program did nothing that is traced in that time,
    or its profiler records other devices.
    To do: Record for longer than a step takes, while the program works: `stepscope capture HOST:PORT --for
    10s`.

profiler-late: A profiler server did not answer in time
    The time of the recording and of `--timeout` passed without a reply. The request was withdrawn; other
    hosts are not affected.
    To do: Raise `--timeout`, or record for less time. A program that computes on all cores answers late.

profiler-odd: A profiler server answered something else
    The reply is not a profile, or larger than 1 GiB. The port may belong to another service, or an old
    framework sends files of its own tools.
    To do: Check the port. Record for less time where the reply is too large; update the framework where it is
    old.

profiler-refused: A profiler server refused
    A process records one profile at a time: another capture, TensorBoard or `stepscope record` may be at
    work. Or the port belongs to another gRPC service.
    To do: Wait and try again, and check the port.

profiler-saved-elsewhere: A profile is on the disk of its host
    Older profiler servers do not send the profile: they save it in the folder that the request names, on
    their own disk. The reply was received, but the file is not visible from here.
    To do: Copy the file that the message names, or give `--out` a folder that both machines see, or update
    TensorFlow or JAX.

profiler-unreachable: A profiler server cannot be reached
    No connection could be made within 5 s, or it broke: nothing listens there, a firewall is in between, or
    the program has ended.
    To do: Check host and port, and that the program calls `tf.profiler.experimental.server.start(PORT)` or
    `jax.profiler.start_server(PORT)`.

query: The engine refused the SQL
    The statement has a mistake, names a table or column that does not exist, or tries to change data. Queries
    can only read.
    To do: `stepscope docs` lists tables and columns; in the prompt, .tables and .schema do.

query-stopped: A query of the page was stopped
    SQL that is typed into the page runs in a process with limits on time and memory, so that a mistake does
    not take the machine down. The query exceeded one of them.
    To do: Ask for fewer rows or columns. `stepscope query` has no such limits.

replay: A part of a dump cannot be run alone
    `stepscope xla replay` compiles a module, a computation or an instruction anew. What waits for other
    devices, or calls Python of a process that has ended, cannot run alone, and not every custom call and
    instruction is known to the jax that is asked.
    To do: Cut out a part without it with `--instruction NAME`, or give `--python` an interpreter with the jax
    that made the dump.

replay-needs-jax: Replaying needs jax
    Programs are compiled and run by jax, in a process of its own. stepscope does not install it.
    To do: Run `pip install 'stepscope[replay]'`, or give `--python` an interpreter that has jax.

request-odd: The server does not understand a request
    A route, a parameter or a body is not one that the page sends. The page and the server may be of different
    versions.
    To do: Load the page again. If you wrote the request yourself, the message says what is expected.

request-refused: The server refused a request
    It came from another site, for another host name, or not from the page. `stepscope serve` answers only the
    page that it serves itself.
    To do: Open the URL that `stepscope serve` printed.

system-refused: The system refused an operation
    A disk is full or failed, a folder may not be read or written, or too many files are open. The message
    names the file where the system does.
    To do: Free space, check the permissions and `ulimit -n`, then run the command again.

unexpected: stepscope itself failed
    This is a bug in stepscope, not a mistake in your file or your command.
    To do: Run the same command with STEPSCOPE_TRACEBACK=1 and report what it prints. A small file that
    reproduces the bug helps most.

unknown-ending: No exporter writes such a file
    The extension of the file name decides what is written.
    To do: Choose one of the extensions that the message lists.

unknown-table: There is no such table
    The schema has no table of this name.
    To do: `stepscope docs tables` lists the tables.

unreadable-source: A file cannot be decoded at all
    The file was recognised, but not one event could be read: it is damaged at the very beginning, compressed
    in an unsupported way, or not what its first bytes claim. Or it is called .xplane.pb but is empty or
    something else, as happens when a recording is cut off. Or it is whole, and nothing in it has a duration,
    as in a database that holds scheduling alone.
    To do: Record or copy it again; compare its size and checksum with the original. Where the file is whole,
    the message says what to record. The other sources of the command are still read.

usage: The command line or a call is invalid
    An option is missing, unknown, or contradicts another one.
    To do: `stepscope --help` and `stepscope VERB --help` list the options.
""")
)
"""Slugs of errors: the command stopped."""

NOTES = dict(
    _read("""
aggregated-events: The recorder added events up
    There were too many events of a kind, so the recorder stored their number and total duration instead of
    each one. Such a slice lies at the start of its line and does not say when the events happened.
    To do: Nothing is lost; args_json holds the number of occurrences. Record fewer steps to see each event.

allocation-out-of-range: Allocations whose time does not fit
    Times more than 106 days from the first event do not fit a 64-bit number of picoseconds. These allocations
    are left out; the executions they belong to are kept.
    To do: Read memory over time as a lower bound, and record again if it matters.

args-too-deep: Args that are nested too deeply
    Named values nested more than 256 levels deep are left out; the event itself is kept.
    To do: Nothing, unless you need these values: then write them flat.

args-too-long: Args that are too long
    The named values of an event take more space than stepscope keeps. The event is kept without the values
    that were too long.
    To do: Nothing, unless you need these values.

bad-escape: Backslashes that escape nothing
    A string in the file holds a backslash before a character that needs none. JSON forbids it; stepscope kept
    the text as it is.
    To do: Nothing. The program that writes the file should double the backslash.

bad-time: Events whose time is not a number
    The time (ts) of these events is neither a number nor a number in quotes, so they have no place on the
    timeline.
    To do: Look at the event at the given byte, and fix the program that wrote it.

broken-event: Records without a readable event
    The checksum of the record is right, but its content cannot be read as an event.
    To do: Nothing, if there are only a few; otherwise the file was not written by a TensorFlow file writer.

broken-execution: Executions that cannot be read
    The bytes of these executions are damaged. All others in the file were read.
    To do: Copy the file again, or record again.

broken-graph-part: Parts of a graph that cannot be read
    Some nodes or functions of a graph are damaged and missing; the executions were still read.
    To do: Copy the file again, or record again with output_partition_graphs.

broken-profile-node: Nodes of a profile that cannot be read
    The bytes of these nodes are damaged, and when they ran is lost with them. All others were read.
    To do: Copy the file again, or record again.

busy-machine: Other programs had the cores
    While steps were recorded, as many threads of the program waited for a core as ran. What needs a core
    takes longer then, what waits for something does not, so shares and predictions may differ on a quiet
    machine.
    To do: Record again when the machine is quiet, or on cores of its own.

clock-unaligned: Clocks that cannot be compared
    Some times in the recording count from the Unix epoch, others from the start of something else. Nothing
    says how the two relate, so slices of one may be shifted against slices of the other.
    To do: Trust durations and the order within a track; do not read causes across such tracks.

compilations-capped: Compilations that were only counted
    `stepscope record` lists the first 10,000 compilations one by one: which function, and what was new about
    the call. It counts all later ones.
    To do: Nothing: what comes first shows which function is compiled again and again.

control-character: Raw control characters in strings
    JSON requires them to be escaped. They were kept, and are shown escaped.
    To do: Nothing.

counter-without-value: Counter events without a number
    A counter event holds no series with a number, so there is nothing to draw.
    To do: Nothing. The program that writes the file should leave such events out.

damaged-archive: A damaged archive
    The archive, or one member of it, cannot be unpacked. Members before the damage were read.
    To do: Copy the archive again, or unpack it yourself and pass the folder.

damaged-args: Named values that cannot be read
    Some of the values of these events are damaged. The events and their other values were kept.
    To do: Copy the file again, or record again, if these values matter.

damaged-bytes: Stretches of the file that are not JSON
    Between intact events lie bytes that are not JSON. Reading resumed at the next event; at least one event
    of each stretch is lost.
    To do: Look at the given byte. This happens when two programs write into one file.

damaged-event: Events whose bytes cannot be read
    These events are damaged; all others were read.
    To do: Copy the file again, or record again.

damaged-head: The part before the events is damaged
    The beginning of the file, with its settings and names, is damaged. The events were read.
    To do: Copy the file again if names of processes or the clock are missing.

damaged-line: Lines and entries without their numbers
    A line of collapsed stacks ends with a number of samples, an entry of a memory timeline has a time and
    sizes, and an entry of other profiles a time or weight and calls that the profile names. These do not, and
    are left out.
    To do: Make the file again, or remove them.

damaged-metadata: Names or facts that cannot be read
    A part of the file that names events or describes the recording is damaged, or is nothing that belongs
    there. The events were read; those without a name are called by their number.
    To do: Copy the file again, or record again.

damaged-module: A compiled program could not be read
    A dump folder of XLA has a file for each stage and pass of a compile. Some are damaged, cut short, or gone
    since they were found, so that nothing is known of that stage. Where a text lies beside a damaged proto,
    the text is read. An XPlane keeps the programs that ran; slices of one that is damaged meet no
    instruction.
    To do: Dump again, into an empty folder, or record again, and let the program end by itself. What is not
    damaged is read.

damaged-piece: A file of a capture is missing or damaged
    Besides the trace, `stepscope record` writes small files: models of the input pipeline, samples of the
    machine and of stacks, times of steps. One of them could not be read, or only in part; the others are
    used.
    To do: Nothing, unless a question needs it. Copy the whole folder, or record again.

damaged-structure: Lengths that contradict each other
    The file states how long its parts are, and they do not fit into one another. Reading resumed at the next
    intact part; what lay between is lost, and its amount is known only as a lower bound.
    To do: Copy the file again; compare its size with the original.

damaged-tail: The end of the file is damaged
    Nothing could be read from the given byte on. Everything before it was kept.
    To do: Copy the file again, and let the program that records end by itself.

dangling-cost-edges: Edges of the cost graph that lead nowhere
    The cost graph names nodes that it does not hold. TensorFlow writes such graphs when it has optimised
    nodes away.
    To do: Nothing.

debugging-switches: Switches for debugging were on
    Frameworks have switches that check each value, keep a traceback for each op, or run op by op what is
    compiled otherwise: torch.autograd.set_detect_anomaly, CUDA_LAUNCH_BLOCKING, jax_debug_nans,
    jax_debug_infs, jax_disable_jit, jax_check_tracer_leaks, tf.config.run_functions_eagerly,
    tf.debugging.enable_check_numerics, tf.data.experimental.enable_debug_mode. `stepscope record` notes those
    that are on while it records. They slow steps; only a recording without them shows how much.
    To do: Switch them off where nothing is debugged, and record again.

doubtful-module: A file of a dump folder was read in part
    A text that ends too early, lines that could not be understood, operands that are not there, or no entry
    computation. Figures of that stage are too low. The column problem of `hlo_pass` says why.
    To do: Dump again, into an empty folder, and let the program end by itself.

duplicate-key: Keys that occur twice in one event
    JSON does not say which of them counts. stepscope took the last one, as most readers do.
    To do: Nothing, unless a value looks wrong.

empty-event: Events that are empty objects
    Some writers, JAX among them, end the list of events with {} so that each event can end in a comma. Such
    an object holds nothing, so nothing is missing: it counts as seen and stored.
    To do: Nothing.

end-without-begin: Ends of slices without a beginning
    The slice began before the recording, or its beginning was dropped. Its duration cannot be known.
    To do: Nothing, if there are only a few at the start of each track; otherwise the recorder drops events.

event-too-long: Events longer than 64 MiB
    A single event of this size cannot come from a profiler. It was skipped.
    To do: Look at the given byte.

events-unaccounted: Events that are in no table
    Every decoder says in which tables the events are that it read. At the end this is held against the
    tables; here rows are missing, and the events count as lost. That is a mistake of stepscope.
    To do: Please report it, with the recording if you can.

fake-thread-ids: Thread numbers that are lanes
    A Timeline was made from this RunMetadata before it was saved, which overwrites the thread numbers with
    the rows of its drawing. stepscope does not use them.
    To do: Save the RunMetadata before you make a Timeline from it.

few-samples: Few samples of stacks decide
    The place of an answer is the line that most samples of stacks speak for. There are fewer than ten, or the
    next line has about as many: another recording may name another line.
    To do: Record more steps. `stepscope record` samples the stacks up to 500 times a second, and less often
    where each sample takes long.

free-threaded: Threads ran Python at the same time
    The program ran on a build of Python without the interpreter's lock, or with it off. No thread waits there
    for another to let go of it, so nothing is said of that.
    To do: Nothing.

held-arrays-cut: Variables that were not read
    `stepscope record` spends less than half a second on finding variables that hold arrays, because the
    program waits meanwhile. The program had more objects than that.
    To do: Nothing: it begins with what is nearest to the program's variables.

invalid-utf8: Texts that are not UTF-8
    Bytes that are not characters were replaced by U+FFFD, so names may differ from those in the program.
    To do: Nothing.

kept-moment: A moment that the recorder kept
    `stepscope record --ring` keeps the last steps in memory, and writes them when a step takes three times
    the median or more, when no step ends for half a minute, at SIGUSR2, and at the end. Where it was one
    step, that step alone is averaged; the others are there to compare it with.
    To do: Read the recording around it, too, which has ops: two folders up.

kept-moments: Moments that the recorder kept
    Slow steps, hangs, signals and the end of the program, each as a recording of its own, which is not read
    together with this one.
    To do: Read each by itself: stepscope FOLDER/ring/NAME.

known-copy: A copy of a recording that the lake has
    The same bytes from the same host are in the lake under another path. They were not added again, so that
    nothing counts twice.
    To do: Nothing. To add the copy as a run of its own, name it: --run NAME.

log-unread: A log beside a dump could not be read to its end
    Registers that kernels spill and donated arguments that JAX refuses stand in the program's log only. A log
    in the folder of the dump is damaged or has more than five million lines, so that some of them may be
    missing.
    To do: Copy the log again, or put the part with the compiles into the folder.

lone-surrogate: Half characters in strings
    A string holds one half of a character that takes two in UTF-16. It was replaced by U+FFFD.
    To do: Nothing.

memory-before: Memory that was held before the recording
    A snapshot of PyTorch's memory lists allocations and frees while it was recorded, and what was held at the
    end. Blocks from before the recording appear as allocated at its first moment; their stack is known only
    if the snapshot contains it.
    To do: Call torch.cuda.memory._record_memory_history() at the start of the program.

memory-without-times: Memory that was recorded in its order, without times
    PyTorch before 2.1 writes the allocations and frees of a snapshot in their order and does not say when
    they were. They are shown 1 µs apart: what is held after each is right, times and durations are not.
    Where no history was recorded, a snapshot only has what was held when it was taken.
    To do: To see times, call torch.cuda.memory._record_memory_history() at the start of the program, and
    take the snapshot with PyTorch 2.1 or newer.

merged-devices: Devices that are listed several times
    Distributed runs list a device once for its ops and once for its communication. Rows with the same name
    were merged.
    To do: Nothing.

missing-comma: Missing commas between events
    Each event was still read.
    To do: Nothing. The program that writes the file should write the commas.

missing-duration: Slices without a duration
    A complete event (ph X) has no dur. It was stored with a duration of 0, so total times are lower bounds.
    To do: Fix the program that wrote it.

missing-end: The list of events is not closed
    The file ends without its closing bracket: the program was stopped, or its writer never writes one. All
    complete events were read.
    To do: Nothing, if the writer is known for it (Horovod is); otherwise the last events may be missing.

missing-phase: Events without a phase
    An event without ph does not say what it is. It counts as lost.
    To do: Fix the program that wrote it.

missing-time: Events without a time
    These events have no ts, so they have no place on the timeline.
    To do: Fix the program that wrote it.

missing-values: Values of a checkpoint that are not where its index says
    A checkpoint names a file and a position for the values of each tensor. For some tensors the
    file is missing or ends too early, so they cannot be restored. They are still listed.
    To do: Copy the `.data-*` files beside an index, or save the checkpoint again.

module-input-only: Modules of which only the input was dumped
    Beside the programs that XLA dumped lie inputs of others (StableHLO): a filter such as
    --xla_dump_hlo_module_re kept XLA from dumping what it made of them. Nothing is known of what they cost.
    To do: Nothing, if they were left out on purpose. Dump without the filter otherwise.

moment-out-of-range: A moment that lies too far away in time
    An execution is stored, but the moment it was scheduled, or its kernel began or ended, does not fit with
    the others: the recorder or the file is wrong there. The moment is left out.
    To do: Record again if that execution matters.

names-alone: Names without events
    Metadata events name processes and threads and say in which order they are shown. This file has no others:
    nothing was recorded, or what was recorded lies in the part that is damaged or cut off.
    To do: Record again, and close the profiler before the program ends; copy the file again if it was whole.

negative-duration: Slices that end before they start
    The clocks of two cores, or of a device and its host, differ, or the recorder is wrong. Such slices were
    stored with a duration of 0.
    To do: Read times near them with care.

nested-archive: An archive inside an archive
    stepscope reads archives one level deep.
    To do: Unpack the outer one and pass its folder.

no-access: A file that stepscope may not read
    The system refused to open it.
    To do: Change its permissions, or copy it to a place where you can read it.

no-cuda: Nothing of CUDA was recorded
    The export of Nsight Systems has neither kernels nor copies nor calls of CUDA: the program used none, or
    they were not traced. What its GPUs did is unknown.
    To do: Record the program with `nsys profile --trace=cuda,nvtx,osrt` and export that.

no-start-time: Executions without a start
    These rows of StepStats have no time, so they have no place on the timeline.
    To do: Nothing; ops that never ran look like this.

no-steps: No steps were found
    Nothing in the recording says where an iteration of the program begins: no numbered mark, no Session.run,
    no call of a tf.function, no update of an optimizer, no call that fetches a batch. There are no step
    times, and shares of time refer to the whole capture, start-up included.
    To do: Mark the steps: tf.profiler.experimental.Trace('train', step_num=i, _r=1) around the body of the
    loop (since TensorFlow 2.3), jax.profiler.StepTraceAnnotation, or prof.step() with torch.profiler.

no-trace-in-events: Event files without a recording
    The event file holds summaries, but neither run metadata nor a graph. It says nothing about time.
    To do: Record with a profiler; `stepscope docs nothing-found` says where recordings are stored.

not-a-number: NaN and Infinity in args
    JSON has no such numbers. They were kept as text.
    To do: Nothing.

not-an-event: Elements of the event list that are not events
    The list of events holds something other than objects.
    To do: Nothing, if there are only a few.

not-read: Tables that are not read
    An export of Nsight Systems has tables of events that stepscope does not read, such as MPI's or those of
    samples. They are named with their number of rows.
    To do: Nothing, unless you look for what they hold: then ask them with sqlite3.

not-time: Profiles that do not count time
    speedscope's format can hold profiles of bytes or of counts. A timeline cannot show them, so they are left
    out.
    To do: Record a profile of time.

one-sided-links: Arrows with one end
    An arrow between threads was recorded at only one end: the other end lies before or after the recording,
    or its event was dropped.
    To do: Nothing.

op-log-unread: An op log could not be read
    Op logs, in the folder of a capture or beside a recording, name the lines of the program that made the ops
    of a run. This one is damaged, too large (over 64 MiB), unreadable, or holds no op. Ops that only this log
    knows have no line.
    To do: Check who may read it, or write it again: `stepscope record` does, and so does
    tf.compat.v1.profiler.write_op_log.

other-values: Values of a profile that are not shown
    A pprof profile may have several values for each stack, such as bytes in use and bytes allocated since the
    start. stepscope shows one of them: time before memory before counts.
    To do: Look at the others with `pprof -sample_index=NAME FILE`.

out-of-memory: Memory that could not be given
    A GPU had less memory left than the program asked for, after PyTorch had given back what it keeps for
    later. Memory that other programs hold on the GPU is not in the recording.
    To do: See what was held then: `stepscope memory` shows the peak by line, and what would lower it.

program-hung: No step ended for a long time
    `stepscope record --live` saw that no step ended for half a minute or more, and for more than ten times
    what steps take. It wrote down what all threads of Python did then.
    To do: Read the file that is named: the thread that runs the steps is marked.

programs-not-searched: Programs whose instructions were not searched for problems
    Copies between layouts, 64-bit floats, donated buffers and exposed collectives are looked for in the
    programs that move most bytes, up to 100,000 instructions of all programs of a dump and 300,000 of one.
    To do: Give the files of one of the others alone: stepscope FILE.

programs-unread: Compiled programs could not be read
    An XPlane keeps the programs that XLA compiled, and they are read after the events. The file was packed
    and is damaged, was gone or changed by then, or unpacks to more than 1 GiB. The tables hlo_module,
    hlo_computation, hlo_instruction, hlo_buffer and hlo_allocation lack what could not be read, and so do
    conclusions about compiled programs.
    To do: Unpack the file yourself, or copy it again, and open it anew.

record-checksum: Records with a wrong checksum
    The bytes of these records changed after they were written. They were skipped.
    To do: Copy the file again; if the note stays, the disk or the copy is at fault.

record-cut: The last record is cut short
    The program was stopped while it wrote, or is still writing.
    To do: Wait until it is done, or let it close its writer.

record-too-large: A record that claims an impossible length
    The length of a record is damaged, or larger than any event. What follows it cannot be found.
    To do: Copy the file again.

recorded-program: What was recorded
    `stepscope record` notes the command, the versions of Python and frameworks, and how many cores there are.
    To do: Nothing.

recorder-dropped-events: The recorder itself dropped events
    The profiler's buffers were full, or it stops at a number of events; it says how many it dropped. Counts
    and totals are lower bounds, and whole stretches may look idle.
    To do: Record fewer steps, or start the recording later.

recorder-error: The recorder reported an error
    The profiler noted that something went wrong while it recorded. The note quotes it.
    To do: Read the message; often a device was not traced because of missing permissions or libraries.

recorder-warning: The recorder reported a warning
    The profiler noted a warning while it recorded. The note quotes it.
    To do: Read the message; it may explain missing rows.

repeated-executions: Executions that are in a file a second time
    The file was merged with what it holds already: the same ops on the same device at the same times. Each
    execution was counted once.
    To do: Nothing. Merge each run once.

repeated-runs: Runs of a session that are in a timeline a second time
    The timeline was merged with what it holds already. Each run is one step, and its time counts
    once. How often ops ran includes both.
    To do: Merge each run once.

same-capture: The same recording in two forms
    Profilers write one recording as several files (an XPlane and a Chrome trace). stepscope reads one of
    them, so that nothing counts twice.
    To do: Nothing. Pass the other file by its own path to read it instead.

samples-without-times: Samples that tell no times
    Collapsed stacks and pprof's profiles tell how often each stack was seen, or how long, not when. The
    stacks are shown one after the other in alphabetical order: shares are right, moments are not.
    To do: To see the order in time, record in another format: py-spy's speedscope, or a trace.

shared-values: Tensors of a checkpoint that are kept once
    PyTorch stores the values of a tensor once, however many names it has: the weights of an embedding that
    the last layer uses as well, for instance. The other names are listed, and add no elements and no bytes.
    To do: Nothing.

size-unknown: Executables whose size is not known
    A profile of JAX's device memory lists compiled programs. Some runtimes, such as that of TPUs, do not know
    how large those are and write -1. They are counted, with no bytes.
    To do: Nothing: what arrays hold is complete.

spans-elsewhere: Spans of requests in a clock of their own
    The file has asynchronous sequences, and all of them lie before or behind everything else, which is how
    another clock looks. They are kept where the file has them; shares are of the others' time.
    To do: Nothing, unless you compare the two by time.

stacks-capped: Samples of stacks were not kept
    `stepscope record` limits how many samples of Python stacks it writes, and how many different stacks. The
    trace itself is complete; figures by line of code cover the part that was sampled.
    To do: Record fewer steps if the part that is missing matters.

storage-kept-whole: A tensor of a checkpoint brings more than itself
    PyTorch saves the whole storage of a tensor. One that shows a part of it, such as a row of a larger
    tensor, brings the rest along: its bytes are those of the storage.
    To do: Save a copy, `tensor.clone()`, where the rest is not wanted.

summaries-unread: Summaries of an event file are not read
    Beside run metadata and graphs, an event file holds what TensorBoard plots: scalars, histograms, images.
    They say nothing of time.
    To do: Nothing. TensorBoard shows them.

time-out-of-range: Times that do not fit
    Times more than 106 days from the start of the recording do not fit a 64-bit number of picoseconds. These
    events are lost.
    To do: Look at the event at the given byte: its time is most likely damaged, or in another unit.

times-between-events: Times of a GPU between two events
    PyTorch's profiler, before it had Kineto (1.8 and older), measured no kernels. Its rows `CUDA functions`
    have, for each op, the time from an event before it to an event behind it: that includes what the GPU
    waits for the host to launch, and counts once for the op, and again for each op that calls it.
    To do: Record with torch.profiler.profile() of PyTorch 1.8.1 or newer to know what kernels take.

trailing-bytes: Bytes after the trace
    The file goes on after the end of the trace. The rest was not read.
    To do: Nothing, unless two traces were put into one file: then split it.

trailing-comma: Commas before a closing bracket
    JSON forbids them, but many writers write them. stepscope skipped them.
    To do: Nothing.

truncated: The file ends too early
    The file was cut, most often because the program that wrote it was stopped. Everything before the cut was
    read; what came after it is unknown, so counts and totals are lower bounds and the last step may be cut.
    To do: Let the program end its recording (close the trace, leave the `with` block), or copy the file
    again.

truncated-input: The compressed file ends too early
    The compressed file was cut, or something else was written behind it. Everything before that was unpacked
    and read; what lay behind it is missing. Zeros behind it are padding, and no damage.
    To do: Copy the file again.

unclosed-begin: Slices without an end
    A slice began and its end was not recorded. It ends with the last event of its track, which may be before
    or after its real end.
    To do: Let the program end its recording outside the part that it measures.

unfinished-capture: The recording was never ended
    The program that `stepscope record` watched was killed, or is still running. What it had written by then
    is here, the rest is not.
    To do: Wait for the program to end, or record again.

unknown-fields: Fields that the format does not define
    A newer version wrote the file, or it has another format. stepscope skipped the unknown fields.
    To do: Nothing, unless something you expect is missing.

unknown-phase: Events of an unknown kind
    The format does not define their phase (ph). They were kept as moments without a meaning.
    To do: Nothing, unless you miss something.

unnamed-metadata: Events whose name is missing
    The file refers to names by number and does not hold all of them. Such events are called by their number.
    To do: Nothing; a tool cut or merged the recording.

unread-beside-events: Events outside of the event array
    Some writers of Chrome traces keep stacks that were sampled (samples), or what the system traced
    (systemTraceEvents), beside the events. stepscope reads the events only.
    To do: Look at the file in ui.perfetto.dev or speedscope.app, which show the samples.

value-shortened: Values that were shortened
    These events are larger than 16 MiB: only the size of their long values was kept.
    To do: Nothing.

value-too-long: Values that were not kept
    A value outside the events is too long to keep. The events are not affected.
    To do: Nothing.
""")
)
"""Slugs of notes on a source: something was lost, repaired, capped or missing, or its recorder complained."""

MESSAGES = {**ERRORS, **NOTES}
"""All of them."""
