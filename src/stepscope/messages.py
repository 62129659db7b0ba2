"""Every slug that an error or a note of a source may carry, explained.

`stepscope docs SLUG` prints an entry; docs/reference/messages.md is made from them. A test holds
every slug used in the sources to having an entry here. Keep them in alphabetical order. The file is long
because it is a list, and one list is easier to keep true than several.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """What a slug means: a title of a few words, what happened and why it matters, what to do."""

    title: str
    explanation: str
    todo: str


ERRORS: dict[str, Message] = {
    "cannot-write": Message(
        "The file could not be written",
        "The system refused: the disk is full, the folder may not be written, or a device failed. "
        "Nothing was left behind under the name you gave.",
        "Free space or choose another place, then run the command again.",
    ),
    "damaged-tables": Message(
        "Tables contradict each other",
        "Rows of a lake or of the cache point at rows that are not there. Files were changed or lost "
        "after they were written.",
        "Read the recording again with --no-cache, or ingest it into a new lake. Please report it when "
        "nobody touched the files.",
    ),
    "error": Message(
        "Something could not be done",
        "The message says what. Nothing was written.",
        "Follow the line that begins with “to do”.",
    ),
    "lake": Message(
        "A lake or the cache cannot be used",
        "A lake is a folder of Parquet files with a manifest for each source. It could not be read or "
        "written, or it was written by a newer stepscope.",
        "Check that the folder exists, has space and may be written. `--no-cache` works without the cache.",
    ),
    "limit-reached": Message(
        "A safety limit stopped the work",
        "A file expands far more than recordings do (over 200:1 after 64 MB), nests too deep, or would "
        "fill the disk. Such files are stopped, so that a damaged or hostile one cannot take the "
        "machine down.",
        "Unpack the file by hand if you trust it, and give the unpacked file to stepscope.",
    ),
    "no-folder": Message(
        "The folder of the result does not exist",
        "Results are written into folders that are there; stepscope makes none, so that a slip of the "
        "pen does not scatter files.",
        "Make the folder, or choose another name.",
    ),
    "no-format": Message(
        "Nothing says what to write",
        "The name of the file tells the form by its ending, and stdout has none.",
        "Say --to with one of the text forms, such as --to csv.",
    ),
    "not-a-table": Message(
        "The form does not hold single tables",
        "A Chrome trace holds events on a timeline; a table of steps or ops has no place in it.",
        "Leave --table out, or write .csv, .ndjson or .parquet.",
    ),
    "not-text": Message(
        "The form is not text",
        "Parquet, DuckDB and packed files are not written to stdout, where they would only disturb a "
        "terminal.",
        "Give -o a file name, or choose a text form.",
    ),
    "nothing-found": Message(
        "No recording was found",
        "No file under the paths given is a recording that stepscope knows: Chrome-trace JSON, XPlane, "
        "RunMetadata, event files with run metadata or graphs, graphs. Files are recognised by what "
        "they hold, not by their name.",
        "Look at the list of what was seen. A TensorBoard log directory has its recordings under "
        "plugins/profile/; a run that was never profiled has none. "
        "docs/how-to/from-a-recording-to-a-fix.md shows how to make one.",
    ),
    "output": Message(
        "The result could not be written",
        "The file exists already, its folder does not, or the disk is full. Results are written to a "
        "temporary name and renamed, so a half-written file is never left under the name you gave.",
        "Give another name with -o, or --force to replace the file.",
    ),
    "output-exists": Message(
        "The file is there already",
        "Files are never replaced unless you say so.",
        "Choose another name, or say --force.",
    ),
    "query": Message(
        "The engine refused the SQL",
        "The statement has a mistake, names a table or column that does not exist, or tries to change "
        "data. Queries only read.",
        "`stepscope docs` lists tables and columns; in the prompt, .tables and .schema do.",
    ),
    "unexpected": Message(
        "stepscope itself failed",
        "This is a mistake in stepscope, not in your file or your command.",
        "Run the same command with STEPSCOPE_TRACEBACK=1 and report what it prints. A small file that "
        "shows the mistake helps most.",
    ),
    "unknown-ending": Message(
        "No exporter writes such a file",
        "What is written follows from the ending of the file name.",
        "Choose one of the endings that the message lists.",
    ),
    "unknown-table": Message(
        "There is no such table",
        "The table named is not one of the schema.",
        "`stepscope docs tables` lists them.",
    ),
    "unreadable-source": Message(
        "A file cannot be decoded at all",
        "The file was recognised, but not one event of it could be read: it is damaged at its very "
        "beginning, packed in a way that is not supported, or not what its first bytes say.",
        "Record or copy it anew; compare its size and checksum with the original. Other sources of the "
        "same command are read all the same.",
    ),
    "usage": Message(
        "The command line or a call does not make sense",
        "An option is missing, unknown, or contradicts another one.",
        "`stepscope --help` and `stepscope VERB --help` list what there is.",
    ),
}
"""Slugs of errors: the command stopped."""

NOTES: dict[str, Message] = {
    "aggregated-events": Message(
        "Events that the recorder added up",
        "Where there were too many, the recorder stored the number and the total duration of a kind of "
        "event instead of each one. Such a slice stands at the start of its line and tells nothing "
        "about when.",
        "Nothing is lost; look at args_json for the number of occurrences. Record fewer steps to see "
        "each of them.",
    ),
    "allocation-out-of-range": Message(
        "Allocations whose time does not fit",
        "Times more than 106 days from the first event do not fit a 64-bit number of picoseconds. These"
        " movements of memory are left out; the executions they belong to are kept.",
        "Read memory over time as a lower bound, and record anew if it matters.",
    ),
    "args-too-deep": Message(
        "Args that are nested too deep",
        "Named values nested deeper than 256 levels are left out; the event itself is kept.",
        "Nothing, unless you need these values: then write them flat.",
    ),
    "args-too-long": Message(
        "Args that are too long",
        "The named values of an event take more space than is kept. The event is kept without what was "
        "too long.",
        "Nothing, unless you need these values.",
    ),
    "bad-escape": Message(
        "Backslashes that escape nothing",
        "A string of the file holds a backslash before a character that needs none. JSON forbids it; it"
        " was taken as it stands.",
        "Nothing; whoever writes the file should double the backslash.",
    ),
    "bad-time": Message(
        "Events whose time is no number",
        "The time (ts) of these events is neither a number nor a number in quotes, so they have no "
        "place on the timeline.",
        "Look at the event at the byte that is named; mend the program that wrote it.",
    ),
    "broken-event": Message(
        "Records that hold no event",
        "A record of the event file is whole by its checksum, but what is in it cannot be read as an event.",
        "Nothing, when it is a few; else the file was not written by a TensorFlow file writer.",
    ),
    "broken-execution": Message(
        "Executions that cannot be read",
        "The bytes of these executions are damaged. All others of the file were read.",
        "Copy the file again, or record anew.",
    ),
    "broken-graph-part": Message(
        "Parts of a graph that cannot be read",
        "Some nodes or functions of a graph are damaged and missing; the executions were read all the same.",
        "Copy the file again, or record anew with output_partition_graphs.",
    ),
    "clock-unaligned": Message(
        "Clocks that cannot be compared",
        "Some times of the recording count from Unix time, others from the start of something. How they"
        " lie to each other is told nowhere, so slices of the two may be shifted on the timeline.",
        "Trust durations, and orders within a track; do not read causes across such tracks.",
    ),
    "control-character": Message(
        "Raw control characters in strings",
        "JSON wants them escaped. They were kept as they are, and are shown escaped.",
        "Nothing.",
    ),
    "counter-without-value": Message(
        "Counter events without a number",
        "A counter event holds no series with a number, so there is nothing to draw.",
        "Nothing; whoever writes the file should leave such events out.",
    ),
    "damaged-archive": Message(
        "An archive that is damaged",
        "The archive, or one member of it, cannot be unpacked. Members before the damage were read.",
        "Copy the archive again, or unpack it by hand and give the folder.",
    ),
    "damaged-args": Message(
        "Named values that cannot be read",
        "Some of the values of these events are damaged. The events and their other values were kept.",
        "Copy the file again, or record anew, if these values matter.",
    ),
    "damaged-bytes": Message(
        "Stretches of the file that are no JSON",
        "Between sound events stand bytes that are none. Reading went on at the next event; at least "
        "one event of each stretch is lost.",
        "Look at the byte that is named. Two programs writing into one file do this.",
    ),
    "damaged-event": Message(
        "Events whose bytes cannot be read",
        "These events are damaged; all others were read.",
        "Copy the file again, or record anew.",
    ),
    "damaged-head": Message(
        "What stands before the events is damaged",
        "The beginning of the file, with its settings and names, is damaged. The events were read.",
        "Copy the file again, if names of processes or the clock are missing.",
    ),
    "damaged-metadata": Message(
        "Names or facts that cannot be read",
        "A part of the file that names events or tells of the recording is damaged. The events were "
        "read; those without a name are called by their number.",
        "Copy the file again, or record anew.",
    ),
    "damaged-piece": Message(
        "A file of a capture is missing or damaged",
        "Beside the trace, `stepscope record` writes small files: models of the input pipeline, samples of "
        "the machine, times of steps. One of them could not be read, or only in part; the others are used.",
        "Nothing, unless a question needs it. Copy the whole folder, or record again.",
    ),
    "damaged-structure": Message(
        "Lengths that contradict each other",
        "The file says how long its parts are, and they do not fit into one another. Reading went on at"
        " the next sound part; what lay between is lost, and how much it was is known only as a lower "
        "bound.",
        "Copy the file again; compare its size with the original.",
    ),
    "damaged-tail": Message(
        "The end of the file is damaged",
        "From the byte that is named on nothing could be read. Everything before was kept.",
        "Copy the file again; let the program that records end by itself.",
    ),
    "dangling-cost-edges": Message(
        "Edges of the cost graph that lead nowhere",
        "The cost graph names nodes that it does not hold. TensorFlow writes such graphs when nodes "
        "were optimised away.",
        "Nothing.",
    ),
    "duplicate-key": Message(
        "Keys that stand twice in one event",
        "JSON leaves open which of them counts. The last one was taken, as most readers do.",
        "Nothing, unless a value looks wrong.",
    ),
    "empty-event": Message(
        "Events that are empty objects",
        "Some writers, JAX among them, end the list of events with {} so that a comma may stand before "
        "it. They hold nothing, so nothing is missing: they count as seen and stored.",
        "Nothing.",
    ),
    "end-without-begin": Message(
        "Ends of slices without a beginning",
        "The slice began before the recording, or its beginning was dropped. Its duration cannot be known.",
        "Nothing, when it is few at the start of each track; else the recorder drops events.",
    ),
    "event-too-long": Message(
        "Events longer than 64 MiB",
        "A single event of such a size is no event of a profiler. It was skipped.",
        "Look at the byte that is named.",
    ),
    "fake-thread-ids": Message(
        "Thread numbers that are lanes",
        "A Timeline was made from this RunMetadata before it was saved, and that writes the rows of its"
        " drawing into the thread numbers. They are not threads and are not used.",
        "Save the RunMetadata before making a Timeline from it.",
    ),
    "invalid-utf8": Message(
        "Texts that are not UTF-8",
        "Bytes that are no characters were replaced by U+FFFD, so names may read differently than in "
        "the program.",
        "Nothing.",
    ),
    "lone-surrogate": Message(
        "Half characters in strings",
        "A string holds one half of a character that takes two in UTF-16. It was replaced by U+FFFD.",
        "Nothing.",
    ),
    "merged-devices": Message(
        "Devices that are listed several times",
        "Distributed runs list a device once for its ops and once for its communication. Rows of one "
        "name were put together.",
        "Nothing.",
    ),
    "missing-comma": Message(
        "Commas that are missing between events",
        "Each event was read all the same.",
        "Nothing; whoever writes the file should put them.",
    ),
    "missing-duration": Message(
        "Slices without a duration",
        "A complete event (ph X) has no dur. It was stored with a duration of 0, so total times are "
        "lower bounds.",
        "Mend the program that wrote it.",
    ),
    "missing-end": Message(
        "The list of events is not closed",
        "The file ends without its closing bracket: the program was stopped, or its writer never puts "
        "one. All whole events were read.",
        "Nothing, when the writer is known for it (Horovod is); else the last events may be missing.",
    ),
    "missing-phase": Message(
        "Events without a phase",
        "An event without ph says nothing of what it is. It is counted as lost.",
        "Mend the program that wrote it.",
    ),
    "missing-time": Message(
        "Events without a time",
        "These events have no ts and so no place on the timeline.",
        "Mend the program that wrote it.",
    ),
    "missing-values": Message(
        "Values of a checkpoint are not where its index says",
        "The index of a checkpoint names a file and a place for the values of each tensor. For some the file "
        "is missing, or ends before them, so that they cannot be restored. They are listed all the same.",
        "Copy the `.data-*` files beside the index, or save the checkpoint again.",
    ),
    "moment-out-of-range": Message(
        "A moment lies too far in time",
        "An execution is stored, but the moment it was scheduled, or its kernel began or ended, does not "
        "fit beside the others: the recorder or the file went wrong there. The moment is left out.",
        "Record again if that execution matters.",
    ),
    "negative-duration": Message(
        "Slices that end before they start",
        "Clocks of different cores or of a device and its host differ, or the recorder is wrong. Such "
        "slices were stored with a duration of 0.",
        "Read times near them with care.",
    ),
    "nested-archive": Message(
        "An archive within an archive",
        "Archives are read one level deep.",
        "Unpack the outer one and give its folder.",
    ),
    "no-access": Message(
        "A file that may not be read",
        "The system refused to open it.",
        "Change its permissions, or copy it to where you may read it.",
    ),
    "no-start-time": Message(
        "Executions without a start",
        "These rows of StepStats have no time, so they have no place on the timeline.",
        "Nothing; ops that never ran are listed so.",
    ),
    "no-steps": Message(
        "No steps were found",
        "Nothing in the recording tells where an iteration of the program begins: no numbered mark, no "
        "Session.run, no call of a tf.function, no call that fetches a batch. There are no step times, "
        "and shares of time are of the whole capture, start-up included.",
        "Mark the steps: tf.profiler.experimental.Trace('train', step_num=i, _r=1) around the body of "
        "the loop, jax.profiler.StepTraceAnnotation, or prof.step() with torch.profiler.",
    ),
    "no-trace-in-events": Message(
        "Event files without a recording",
        "The event file holds summaries, but neither run metadata nor a graph. It says nothing about time.",
        "Record with a profiler; `stepscope docs nothing-found` says where recordings are kept.",
    ),
    "not-a-number": Message(
        "NaN and Infinity in args",
        "JSON has no such numbers. They were kept as text.",
        "Nothing.",
    ),
    "not-an-event": Message(
        "Elements of the event list that are no events",
        "The list of events holds something else than objects.",
        "Nothing, when it is few.",
    ),
    "one-sided-links": Message(
        "Arrows with one end",
        "An arrow between threads was recorded at one end only: the other lies before or after the "
        "recording, or its event was dropped.",
        "Nothing.",
    ),
    "op-log-unread": Message(
        "An op log could not be read",
        "The lines of the program that made the ops of a run are told by op logs, in the folder of a capture "
        "or beside a recording. This one is damaged, too large (over 64 MiB), may not be read, or holds no "
        "op: where it tells of an op alone, the line of that op is not known.",
        "Check who may read it, or write it anew: `stepscope record` does, and so does "
        "tf.compat.v1.profiler.write_op_log.",
    ),
    "record-checksum": Message(
        "Records whose checksum is wrong",
        "The bytes of these records changed after they were written. They were skipped.",
        "Copy the file again; when it stays, the disk or the copy is at fault.",
    ),
    "record-cut": Message(
        "The last record is cut short",
        "The program was stopped while it wrote, or is still writing.",
        "Wait until it is done, or let it close its writer.",
    ),
    "record-too-large": Message(
        "A record that claims an impossible length",
        "The length of a record is damaged or larger than any event. What follows it cannot be found.",
        "Copy the file again.",
    ),
    "recorder-dropped-events": Message(
        "The recorder itself dropped events",
        "The profiler's buffers were full, or it stops at a number of events; it says how many it "
        "dropped. Counts and totals are lower bounds, and whole stretches may look idle.",
        "Record fewer steps, or start the recording later.",
    ),
    "recorder-error": Message(
        "The recorder reported an error",
        "The profiler wrote down that something went wrong while it recorded. What it says stands in "
        "the note.",
        "Read the message; often a device was not traced because of missing permissions or libraries.",
    ),
    "recorder-warning": Message(
        "The recorder reported a warning",
        "The profiler wrote down a warning while it recorded. What it says stands in the note.",
        "Read the message; it may explain rows that are missing.",
    ),
    "same-capture": Message(
        "The same recording in two forms",
        "Profilers write one recording as several files (an XPlane and a Chrome trace). One of them is "
        "read, so that nothing counts twice.",
        "Nothing; give the other file by its own path to read it instead.",
    ),
    "time-out-of-range": Message(
        "Times that do not fit",
        "Times more than 106 days from the start of the recording do not fit a 64-bit number of "
        "picoseconds. These events are lost.",
        "Look at the event at the byte that is named: its time is most likely damaged, or in another unit.",
    ),
    "trailing-bytes": Message(
        "Bytes behind the trace",
        "After the end of the trace the file goes on. What follows was not read.",
        "Nothing, unless two traces were put into one file: then split it.",
    ),
    "trailing-comma": Message(
        "Commas before a closing bracket",
        "JSON forbids them, and many writers put them. They were passed over.",
        "Nothing.",
    ),
    "truncated": Message(
        "The file ends too early",
        "The file was cut, most often because the program that wrote it was stopped. Everything before "
        "the cut was read; what came after is unknown, so counts and totals are lower bounds and the "
        "last step may be cut.",
        "Let the program end its recording (close the trace, leave the `with` block), or copy the file "
        "again.",
    ),
    "truncated-input": Message(
        "The packed file ends too early",
        "The compressed file was cut. Everything before the cut was unpacked and read; what lay behind "
        "it is missing.",
        "Copy the file again.",
    ),
    "unclosed-begin": Message(
        "Slices without an end",
        "A slice began and its end was not recorded. It ends with the last event of its track, so its "
        "duration is an upper bound.",
        "Let the program end its recording outside of what it measures.",
    ),
    "unfinished-capture": Message(
        "The recording was never ended",
        "The program that `stepscope record` watched was killed, or is still running: what it had written "
        "by then is there, the rest is not.",
        "Wait for the program to end, or record again.",
    ),
    "unknown-fields": Message(
        "Fields that the format does not know",
        "The file was written by a newer version, or is of another format. Unknown fields were passed over.",
        "Nothing, unless something you expect is missing.",
    ),
    "unknown-phase": Message(
        "Events of an unknown kind",
        "Their phase (ph) is not one that the format defines. They were kept as moments without a meaning.",
        "Nothing, unless you miss something.",
    ),
    "unnamed-metadata": Message(
        "Events whose name is missing",
        "The file refers to names by number and does not hold all of them. Such events are called by "
        "their number.",
        "Nothing; the recording was cut or put together by a tool.",
    ),
    "value-shortened": Message(
        "Values that were shortened",
        "Events of more than 16 MiB: of their long values only the size was kept.",
        "Nothing.",
    ),
    "value-too-long": Message(
        "Values that were not kept",
        "A value beside the events is too long to be kept. The events are not affected.",
        "Nothing.",
    ),
}
"""Slugs of notes on a source: something was lost, repaired, capped or missing, or its recorder complained."""

MESSAGES: dict[str, Message] = {**ERRORS, **NOTES}
"""All of them."""
