"""Files of other tools, which no format reads: how they begin, and what to give instead."""

import re
from typing import NamedTuple

_ANEW = "record with `stepscope record`"
_FOLDED = (
    "fold it with FlameGraph's `stackcollapse-perf.pl` and give the folded stacks, which stepscope reads"
)
_PERFETTO = "look at it in ui.perfetto.dev, or give what Perfetto's `traceconv json` makes of it"
_ROCPROF = "record with `rocprofv3 --sys-trace --output-format csv`"


class OtherTool(NamedTuple):
    """A kind of file."""

    kind: str
    begins: re.Pattern[bytes]
    """How its first bytes look, which are enough to tell it."""
    instead: str


def _tool(kind: str, begins: bytes, instead: str) -> OtherTool:
    return OtherTool(kind, re.compile(begins, re.DOTALL), instead)


OTHER_TOOLS = (
    _tool(
        "report of Nsight Systems",
        rb"NVIDIA Tegra Profiler Report ",
        "give what `nsys export --type sqlite PATH` writes",
    ),
    _tool("trace of Fuchsia", rb"\x10\x00\x04FxT\x16\x00", _PERFETTO),
    _tool(
        "trace of Perfetto",
        # Packets, of which one of the first tells what several clocks show at one moment.
        rb"\n(?=.{1,4000}2.{1,2}(?:\x10.)?(?:\n[\x04-\x14]\x08[\x01-\x7f]\x10.{1,16}?){3})",
        _PERFETTO,
    ),
    _tool("trace of ftrace", rb"# tracer: |TRACE:\n# tracer: ", _PERFETTO),
    _tool("recording of perf", rb"PERFILE2|2ELIFREP", f"print it with `perf script`, then {_FOLDED}"),
    _tool(
        "printed output of perf",
        rb"# =+\n# captured on|[^\n]{1,200}?\s\d+(?:/\d+)?\s+(?:\[\d+\]\s+)?(?:\d+\.\d{6,9}:\s+)?(?:\d+\s+)?"
        rb"[\w:/.-]+:[^\n]*\n\s+[0-9a-f]{4,16} ",
        _FOLDED,
    ),
    _tool(
        "call tree of VTune or Visual Studio",
        rb"(?:\xef\xbb\xbf)?(?:Function Stack,CPU Time|Level,Function Name,Number of Calls,)",
        "fold it with `inferno-collapse-vtune` or `inferno-collapse-vsprof` and give the folded stacks, "
        "which stepscope reads",
    ),
    _tool(
        "samples of macOS",
        rb"Analysis of sampling |<\?xml[^\n]*\n<trace-query-result>",
        "fold them with `inferno-collapse-sample` or `inferno-collapse-xctrace` and give the folded stacks, "
        "which stepscope reads",
    ),
    _tool(
        "ops of a Tenstorrent device",
        rb"OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,",
        "`tt-perf-report PATH` reads it, or look at the program in Tracy: it has a row for each op",
    ),
    _tool(
        "recording of memray",
        rb'(?:\x04"M\x18.{1,20})?memray\x00',  # as it is, or packed by LZ4
        "`memray flamegraph PATH` and `memray stats PATH` read it",
    ),
    _tool(
        "page of memray",
        rb"\s*<!DOCTYPE html>.{0,1000}?<title>memray - ",
        "a browser shows it; memray sums up by function what was allocated, and stepscope does not read that",
    ),
    _tool(
        "picture of PyTorch's memory",
        rb"<html>.{0,200}?<title>GPU Memory Timeline HTML<",
        "save it with a name that ends in .json.gz: what export_memory_timeline() then writes is read",
    ),
    _tool("TFLite model", rb".{4}TFL3", f"it says what could run: {_ANEW} the program that runs it"),
    _tool(
        "ONNX model",
        rb"\x08[\x03-\x20]\x12[\x01-\x40][\w.-]{1,64}\x1a[\x00-\x20]",
        f"it says what could run: {_ANEW} the program that runs it",
    ),
    _tool(
        "exported program of PyTorch",
        rb"pt2\Z",  # the member archive_format of a .pt2
        f"it says what could run: {_ANEW} the program that runs it",
    ),
    _tool(
        "sums of MindSpore's profiler",
        rb"(?:\xef\xbb\xbf)?(?:op_type|full_op_time),(?:type_|execution_|full_op_name|op_name)",
        "give the trace_view.json or the timeline that it writes beside: sums do not say when",
    ),
    _tool(
        "report of TVM's profiler",
        rb'\s*\{\s*"calls":\s*\[.{0,20000}?"Duration \(us\)":|Name,Duration \(us\),|Name +Duration \(us\) ',
        f"it sums up by function and does not say when: {_ANEW} the program that runs the model",
    ),
    _tool(
        "profile of stackprof",
        rb'\s*\{\s*"version":\s*1\.\d,\s*"mode":\s*"(?:wall|cpu|object|custom)"',
        "give what `stackprof --stackcollapse PATH` prints",
    ),
    _tool(
        "profile of GHC",
        rb'\s*\{\s*"program":.{0,2000}?"rts_arguments":',
        "GHC's own viewers read it: it sums up by cost centre and does not say when",
    ),
    _tool("recording of Java's Flight Recorder", rb"FLR\x00", f"`jfr print PATH` reads it; {_ANEW}"),
    _tool("execution trace of Go", rb"go 1\.\d+ trace\x00", f"`go tool trace PATH` reads it; {_ANEW}"),
    _tool("recording of simpleperf", rb"SIMPLEPERF", "give what simpleperf's `stackcollapse.py` writes"),
    _tool(
        "profile of callgrind",
        rb"# callgrind format|(?:version: |creator: |positions: |events: )[^\n]*\n(?:[^\n]*\n){0,20}?"
        rb"(?:ob|fl|fn)=",
        f"`callgrind_annotate PATH` reads it; {_ANEW}: it sums up by function and does not say when",
    ),
    _tool(
        "profile of gperftools",
        # The header of its words, of 8 or 4 bytes: 0, three words to come, version, period, padding.
        rb"\x00{8}\x03\x00{7}[\x00\x01]\x00{7}.{8}\x00{8}|\x00{4}\x03\x00{3}[\x00\x01]\x00{3}.{4}\x00{4}",
        "`pprof -proto PROGRAM PATH` makes a profile of it that stepscope reads",
    ),
    _tool(
        "profile of Caliper",
        rb"__rec=",
        f"`cali-query` reads it; Caliper's `cali2traceevent.py` makes a trace of one with times, or {_ANEW}",
    ),
    _tool("database of HPCToolkit", rb"HPCTOOLKIT", f"HPCToolkit's viewers read it; {_ANEW}"),
    _tool(
        "call graph of a profiler",
        # As gprof2dot and pprof draw them.
        rb"digraph \{\s*graph \[fontname=Arial, nodesep=0\.125"
        rb'|digraph "[^"]*" \{\s*node \[style=filled fillcolor=',
        "give the profile that it was drawn from",
    ),
    _tool(
        "session of pyinstrument",
        rb'\s*\{(?=.{0,400}"sample_count")(?=.{0,800}"root_frame")',
        "save it with `pyinstrument -r speedscope`, which stepscope reads",
    ),
    _tool(
        "heap profile of V8",
        rb'\s*\{"head":\s*\{(?=.{0,300}"callFrame").{0,600}"selfSize"',
        "look at it in Chrome's DevTools; stepscope reads CPU profiles of V8",
    ),
    _tool(
        "old CPU profile of V8",
        rb'\s*\{"head":\s*\{"functionName"',
        "record with Node.js 12 or newer (`node --cpu-prof`), or open it in Chrome's DevTools and save it",
    ),
    _tool(
        "sums of rocprof",
        rb'"?Name"?,"?Calls"?,"?TotalDuration',
        f"give the trace beside it, as results.json, or {_ROCPROF}: sums do not say when",
    ),
    _tool(
        "counters of ROCm's profilers",
        rb'"?(?:Dispatch_ID,(?:Kernel_Name|GPU_ID)|Index,KernelName|Correlation_Id"?,"?Dispatch_Id|'
        rb'Kernel_Name,Count,Sum|CodeObj"?,"?Vaddr)',
        f"{_ROCPROF}: where counters are collected, kernels run one by one, and several times",
    ),
)


def other_tool(head: bytes) -> OtherTool | None:
    """What wrote a file that begins like this, where that is known."""
    return next((tool for tool in OTHER_TOOLS if tool.begins.match(head)), None)
