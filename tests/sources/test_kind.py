"""What a file that is no recording is called in the list of what was passed over."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.sources.head import INSTEAD, kind

JSON = "JSON file without trace events"

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(values) | st.dictionaries(st.text(max_size=4), values),
    st.sampled_from([None, 1]),
    st.integers(0, 2000),
)
def test_every_json_document_is_one_however_it_is_cut(document: object, indent: int | None, cut: int) -> None:
    text = json.dumps(document, indent=indent, allow_nan=False) if _finite(document) else "[]"
    assert kind(text.encode()[: max(cut, 1)], "x.txt") == JSON


def _finite(document: object) -> bool:
    try:
        json.dumps(document, allow_nan=False)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "text",
    [
        "[tool.ruff]\nline-length = 110\n",
        "[[bin]]\nname = 'graph'\n",
        '["quoted".key]\nx = 1\n',
        "[section]\nkey=value\n",
        "[2026-11-21 15:33:24] started\n",
        "{% if x %}\n",
        "[x](link) is markdown\n",
    ],
)
def test_other_texts_that_begin_with_a_bracket_are_texts(text: str) -> None:
    assert kind(text.encode(), "pyproject.toml") == "text file"


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"NVIDIA Tegra Profiler Report 2023@4", "report of Nsight Systems"),
        (b"\x10\x00\x04FxT\x16\x00\x21", "trace of Fuchsia"),
        (b"# tracer: nop\n#\n", "trace of ftrace"),
        (
            b"\n\x22\x32\x1b\x10\x06\n\x07\x08\x06\x10\xc4\xd8\xf0\xd7\x07\n\x07\x08\x02\x10\xba\xa3\xe5\x87\x0c"
            b"\n\x07\x08\x04\x10\x84\xea\x8d\xd6\x07\x18\xe8\x07",
            "trace of Perfetto",
        ),
        (
            b"Function Stack,CPU Time:Self,Module\nTotal,0.0,[Unknown]\n",
            "call tree of VTune or Visual Studio",
        ),
        (b"\xef\xbb\xbfLevel,Function Name,Number of Calls,Elapsed\n", "call tree of VTune or Visual Studio"),
        (b"Analysis of sampling rg (pid 6) every 1 millisecond\nProcess: rg\n", "samples of macOS"),
        (b"OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTR\n", "ops of a Tenstorrent device"),
        (b"memray\x00\x0b\x00\x00\x00", "recording of memray"),
        (b'\x04"M\x18@@\xc0\xeb\xb9\x00\xf8\x06memray\x00\x0c\x00', "recording of memray"),
        (b"<!DOCTYPE html>\n<html>\n<head>\n<title>memray - flamegraph report</title>", "page of memray"),
        (b"<html>\n<head><title>GPU Memory Timeline HTML</title></head>", "picture of PyTorch's memory"),
        (b"\x1c\x00\x00\x00TFL3\x14\x00", "TFLite model"),
        (b"\x08\x06\x12\x07pytorch\x1a\x052.5.1:\x99", "ONNX model"),
        (b"pt2", "exported program of PyTorch"),
        (
            b"op_type,type_occurrences,total_time(us),total_proportion,avg_time(us)\n",
            "sums of MindSpore's profiler",
        ),
        (
            b'{"calls": [{"Count": {"count": 1}, "Duration (us)": {"microseconds": 1.5}}]}',
            "report of TVM's profiler",
        ),
        (b"Name,Duration (us),Percent,Device,Count\n", "report of TVM's profiler"),
        (b'{"version":1.2,"mode":"object","interval":1,"samples":103}', "profile of stackprof"),
        (b'{\n"program": "a",\n"arguments": ["a"],\n"rts_arguments": ["-pj"],', "profile of GHC"),
        (b'[\n  {\n    "cols":[\n {\n "id":"stepnum",', "TensorBoard page"),
        (b'{"byCategory": {"name": "byCategory", "metrics": {}}}', "TensorBoard page"),
        (b"FLR\x00\x00\x02\x00\x01", "recording of Java's Flight Recorder"),
        (b"go 1.19 trace\x00\x00\x00", "execution trace of Go"),
        (b"PERFILE2\x68\x00", "recording of perf"),
        (b"# ========\n# captured on    : Sat Sep  4\n", "printed output of perf"),
        (
            b"node 83220/83220 36556.170907:  1 cycles:uppp: \n\tffffa4c7c5c6 run+0x6 (a)\n",
            "printed output of perf",
        ),
        (b"python3 99 [001] 12.000001: cpu-clock: \n\t  4c7c run (/bin/a)\n", "printed output of perf"),
        (
            b"node-v011 31912 cpu-clock: \n\t13a80b608e0a RegExp:[&<>] (/tmp/perf.map)\n",
            "printed output of perf",
        ),
        (b"SIMPLEPERF\x01", "recording of simpleperf"),
        (b"positions: line\nevents: cpu(ms)\n\nob=(1) /bin/a\nfl=(1) a.c\n", "profile of callgrind"),
        (
            b"".join(word.to_bytes(8, "little") for word in (0, 3, 0, 10_000, 0, 1, 2, 0x40, 0x41)),
            "profile of gperftools",
        ),
        (
            b"".join(word.to_bytes(4, "little") for word in (0, 3, 1, 10_000, 0, 1, 2, 0x40, 0x41)),
            "profile of gperftools",
        ),
        (b"__rec=node,id=31,attr=10,data=77,parent=1\n", "profile of Caliper"),
        (
            b'{"head":{"callFrame":{"functionName":"(root)"},"selfSize":0,"children":[]}}',
            "heap profile of V8",
        ),
        (b'{"head":{"functionName":"(root)","url":"","children":[]}}', "old CPU profile of V8"),
        (b'digraph "a.out" {\nnode [style=filled fillcolor="#f8f8f8"]\n', "call graph of a profiler"),
        (b"digraph {\n\tgraph [fontname=Arial, nodesep=0.125, ranksep=0.25];\n", "call graph of a profiler"),
        (b"HPCTOOLKITmeta\x04", "database of HPCToolkit"),
        (
            b'{"start_time": 1.5, "duration": 0.4, "sample_count": 9, "root_frame": {"function": "a"}}',
            "session of pyinstrument",
        ),
        (b'"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n', "sums of rocprof"),
        (b"Dispatch_ID,Kernel_Name,GPU_ID,SQ_WAVES,Start_Timestamp\n", "counters of ROCm's profilers"),
        (b"Index,KernelName,gpu-id,queue-id,GPUBusy\n", "counters of ROCm's profilers"),
    ],
)
def test_files_of_other_tools_are_named_with_what_to_give_instead(head: bytes, found: str) -> None:
    assert kind(head, "a") == found
    assert found in INSTEAD


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21 15:33:24.123456: I tensorflow/core: done\n",
        "events: none\nall is well\n",
        "batch 12 loss:\n  0.5 fine\n",
        "Name,Calls\na,1\n",
        "main;run;work 12\n",
    ],
)
def test_texts_that_begin_much_alike_are_texts(text: str) -> None:
    assert kind(text.encode(), "a.log") == "text file"
