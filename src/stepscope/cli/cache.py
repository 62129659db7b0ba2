"""stepscope cache [clear | limit SIZE]: what was decoded and is kept for the next look, and how much."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from stepscope import config, units
from stepscope.cli.arguments import Parser, add_showing, size
from stepscope.cli.console import Console
from stepscope.errors import OutputError, UsageError

if TYPE_CHECKING:
    from stepscope.lake.cache import Cache

ABOUT = "show, clear or limit the cache of decoded recordings"
EPILOG = """Decoded recordings stay in the cache, so that the next look at them is fast. When the cache
reaches its limit, the least recently used go first.

  stepscope cache               list the recordings, the largest first
  stepscope cache clear         remove all that are not being read
  stepscope cache limit 5GiB    keep at most this much from now on (20 GiB)

STEPSCOPE_CACHE_DIR sets another folder, STEPSCOPE_CACHE_BYTES another limit. With --no-cache, a verb stores
nothing."""
COLUMNS = ("bytes", "used", "path")


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("cache", ABOUT, "stepscope cache [clear | limit SIZE] [options]", EPILOG)
    parser.add_argument("what", nargs="?", choices=("show", "clear", "limit"), default="show", metavar="WHAT")
    parser.add_argument("size", nargs="?", type=size, metavar="SIZE", help="most bytes to keep, such as 5GiB")
    add_showing(parser, aside=True)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Shows, clears or limits the cache."""
    if (options.what == "limit") != (options.size is not None):
        raise UsageError(
            "A limit has a size" if options.size is None else "Only a limit has a size",
            seen=f"stepscope cache {options.what}",
            todo="stepscope cache limit 5GiB",
        )
    from stepscope.session.trace import user_cache

    if options.what == "limit":
        _limit(options.size, console)
    kept = user_cache()
    if kept is None:
        raise OutputError(
            "There is no cache",
            seen=f"{config.cache_dir()} cannot be used",
            todo="set STEPSCOPE_CACHE_DIR to a folder that can be written",
            path=str(config.cache_dir()),
        )
    if options.what == "show":
        return _show(kept, options, console)
    before = sum(content.bytes for content in kept.contents())
    if options.what == "clear":
        in_use = kept.clear()
        if in_use:
            console.say(f"{units.count(len(in_use), 'recording')} stay, because they are being read")
    else:
        kept.tidy()
    freed = before - sum(content.bytes for content in kept.contents())
    console.say(f"freed {units.show(freed, 'bytes')} of {kept.folder}")
    return 0


def _show(kept: Cache, options: argparse.Namespace, console: Console) -> int:
    from stepscope.cli.rows_output import write_rows

    contents = kept.contents()
    if options.format == "table":
        total = units.show(sum(content.bytes for content in contents), "bytes")
        limit = units.show(config.cache_bytes(), "bytes")
        console.out.write(
            f"{kept.folder}: {total} of at most {limit}, {units.count(len(contents), 'recording')}\n"
        )
        if not contents:
            return 0
        console.out.write("\n")
    rows = [
        (
            units.show(content.bytes, "bytes") if options.format == "table" else content.bytes,
            time.strftime("%Y-%m-%d %H:%M", time.localtime(content.used)) if content.used else None,
            content.path or "(made of several)",
        )
        for content in sorted(contents, key=lambda content: -content.bytes)
    ]
    write_rows(COLUMNS, rows, console, options.format, spreadsheet=options.spreadsheet)
    return 0


def _limit(most: int, console: Console) -> None:
    path = config.limit_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{most}\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(
            "The limit cannot be written",
            seen=error.strerror or str(error),
            todo="set STEPSCOPE_CACHE_BYTES instead",
            path=str(path),
        ) from error
    console.say(f"the cache keeps at most {units.show(most, 'bytes')}, as {path} says")
