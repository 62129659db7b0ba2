"""Every slug that an error or a note of a source may carry, explained.

`stepscope docs SLUG` prints an entry; docs/reference/messages.md is made from them. A test holds
every slug used in the sources to having an entry here. Keep them in alphabetical order.
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
    "no-steps": Message(
        "No steps were found",
        "Nothing in the recording tells where an iteration of the program begins: no numbered mark, no "
        "Session.run, no call of a tf.function, no call that fetches a batch. There are no step times, and "
        "shares of time are of the whole capture, start-up included.",
        "Mark the steps: tf.profiler.experimental.Trace('train', step_num=i, _r=1) around the body of the "
        "loop, jax.profiler.StepTraceAnnotation, or prof.step() with torch.profiler.",
    ),
    "truncated": Message(
        "The file ends too early",
        "The file was cut, most often because the program that wrote it was stopped. Everything before "
        "the cut was read; what came after is unknown, so counts and totals are lower bounds and the "
        "last step may be cut.",
        "Let the program end its recording (close the trace, leave the `with` block), or copy the file "
        "again.",
    ),
}
"""Slugs of notes on a source: something was lost, repaired, capped or missing, or its recorder complained."""

MESSAGES: dict[str, Message] = {**ERRORS, **NOTES}
"""All of them."""
