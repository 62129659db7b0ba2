"""Flags of XLA: descriptors from the bytes of libraries, lines taken apart, and what the libraries say."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.cli import main
from stepscope.errors import NothingFound
from stepscope.xla_tools.flags import catalogue, check, descriptors, installed, settings, table, variables
from stepscope.xla_tools.flags.installed import Library
from stepscope.xla_tools.flags.line import parse
from tests.each import each

needs_jax = pytest.mark.skipif(importlib.util.find_spec("jaxlib") is None, reason="no jaxlib here")
needs_tensorflow = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="no TensorFlow here"
)


def library(name: str) -> Library:
    return next(one for one in installed.installed() if one.name == name)


@pytest.mark.repeats("jaxlib itself judges flags beside it")
@needs_tensorflow
def test_descriptors_are_those_that_the_reference_reads() -> None:
    from google.protobuf import descriptor_pb2

    for one in installed.installed():
        path = next(p for p in installed.shared_objects(one) if descriptors.find(p, "xla/xla.proto"))
        data = path.read_bytes()
        at = data.index(b"\x0a\x0dxla/xla.proto\x12")
        reference = descriptor_pb2.FileDescriptorProto.FromString(
            bytes(descriptors._cut(data[at : at + (1 << 20)]))
        )
        theirs = next(message for message in reference.message_type if message.name == "DebugOptions")
        file = table.read(one)
        assert file is not None
        ours = table.debug_options(file)
        assert [(f.name, f.number, f.repeated, f.optional) for f in ours.fields] == [
            (f.name, f.number, f.label == 3, f.proto3_optional) for f in theirs.field
        ]
        assert ours.reserved == list(theirs.reserved_name)
        for enum in theirs.enum_type:
            assert file.enums[f".xla.DebugOptions.{enum.name}"] == {v.number: v.name for v in enum.value}


def test_bytes_that_are_no_library_have_no_descriptor(tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    for data in (b"", b"\x0a\x0dxla/xla.proto\x12", b"\x0a\x0dxla/xla.proto\x12\x03xla\x22\xff\xff\xff\x7f"):
        path.write_bytes(data)
        assert descriptors.find(path, "xla/xla.proto") is None


@needs_jax
def test_the_catalogue_is_what_the_installed_library_has() -> None:
    one = library("jaxlib")
    known = catalogue.load()
    if one.title not in known.sources:
        pytest.skip(f"the catalogue does not have {one.title}")
    file = table.read(one)
    assert file is not None
    message = table.debug_options(file)
    assert message is not None
    number = known.sources.index(one.title)
    assert {f.name for f in message.fields} == {
        n for n, entry in known.flags.items() if number in entry["in"]
    }


@needs_jax
def test_defaults_are_those_of_the_library() -> None:
    rows = {row["name"]: row for row in table.rows([library("jaxlib")], None)}
    assert rows["xla_backend_optimization_level"]["default"] == "3"
    assert rows["xla_cpu_enable_fast_math"]["default"] == "false"
    assert rows["xla_dump_max_hlo_modules"]["default"] == "-1"
    assert rows["xla_gpu_ftz"]["doc"]
    assert sum(row["default"] is not None for row in rows.values()) > 200


@each(
    ("text", "variable", "flags"),
    [
        ("--xla_a --xla_b=3", "XLA_FLAGS", [("xla_a", None), ("xla_b", "3")]),
        ("export XLA_FLAGS=\"--xla_a=1  --xla_b='x y'\"", "XLA_FLAGS", [("xla_a", "1"), ("xla_b", "x y")]),
        ("TF_XLA_FLAGS=--tf_xla_auto_jit=2", "TF_XLA_FLAGS", [("tf_xla_auto_jit", "2")]),
        ("--tf_xla_auto_jit=2", "TF_XLA_FLAGS", [("tf_xla_auto_jit", "2")]),
        ("--xla_a=", "XLA_FLAGS", [("xla_a", "")]),
        ("--xla_a=x=y", "XLA_FLAGS", [("xla_a", "x=y")]),
    ],
)
def test_lines_are_taken_apart(text: str, variable: str, flags: list[tuple[str, str | None]]) -> None:
    line = parse(text)
    assert line.variable == variable
    assert [(one.name, one.value) for one in line.flags] == flags


MIXED = (
    "--xla_dump_to=/tmp/x --xla_dump_hlo_as_txt --xla_dump_max_hlo_modules=abc "
    "--xla_cpu_enable_mlir_fusion_outlining "
    "--xla_step_marker_location=NO --tf_xla_auto_jit=2 --xla_cpu_enable_fast_math=maybe"
)
VERDICTS = {
    "xla_dump_to": "ok",
    "xla_dump_hlo_as_txt": "unknown",
    "xla_dump_max_hlo_modules": "bad_value",
    "xla_cpu_enable_mlir_fusion_outlining": "removed",
    "xla_step_marker_location": "bad_value",
    "tf_xla_auto_jit": "other_variable",
    "xla_cpu_enable_fast_math": "bad_value",
}


@needs_jax
def test_jaxlib_itself_says_what_is_wrong_with_each_flag() -> None:
    rows = check.check(parse(MIXED), library("jaxlib"), None)
    assert {row["flag"]: row["verdict"] for row in rows} == VERDICTS
    assert {row["flag"]: row["nearest"] for row in rows}["xla_dump_hlo_as_txt"] == "--xla_dump_hlo_as_text"


def test_the_catalogue_says_the_same_without_a_library() -> None:
    rows = check.check(parse(MIXED), None, None)
    assert {row["flag"]: row["verdict"] for row in rows} == VERDICTS


@pytest.mark.repeats("jaxlib is asked in the same way, which takes less than TensorFlow")
@needs_tensorflow
def test_tensorflow_itself_says_what_is_wrong() -> None:
    line = parse("--tf_xla_auto_jit=2 --tf_xla_min_cluster_sise=3 --tf_xla_max_cluster_size=many")
    rows = check.check(line, library("tensorflow"), None)
    assert [row["verdict"] for row in rows] == ["ok", "unknown", "bad_value"]
    assert rows[1]["nearest"] == "--tf_xla_min_cluster_size"


@needs_jax
def test_an_answer_without_the_control_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    said = installed.ChildOutput(0, True, "", b"loaded")
    monkeypatch.setattr(installed, "ask", lambda *_: said)
    rows = check.check(parse("--xla_dump_to=/tmp/x"), library("jaxlib"), None)
    assert rows[0]["verdict"] == "undecided"


ARTICLE = [
    "tf_xla_enable_lazy_compilation", "tf_xla_print_cluster_outputs", "tf_xla_compile_on_demand",
    "tf_xla_always_defer_compilation", "tf_introduce_floating_point_jitter_to_tensors",
    "xla_cpu_enable_fast_math", "xla_cpu_fast_math_honor_nans", "xla_cpu_fast_math_honor_infs",
    "xla_gpu_enable_fast_min_max", "xla_llvm_enable_alias_scope_metadata", "xla_llvm_enable_noalias_metadata",
    "xla_llvm_enable_invariant_load_metadata", "xla_llvm_disable_expensive_passes",
    "xla_backend_optimization_level", "xla_disable_hlo_passes", "xla_disable_all_hlo_passes",
    "xla_embed_ir_in_executable", "xla_eliminate_hlo_implicit_broadcast", "xla_cpu_multi_thread_eigen",
    "xla_gpu_cuda_data_dir", "xla_gpu_ftz", "xla_gpu_disable_multi_streaming",
    "xla_gpu_max_kernel_unroll_factor", "xla_test_all_output_layouts", "xla_test_all_input_layouts",
    "xla_hlo_profile", "xla_backend_extra_options", "xla_reduce_precision", "xla_gpu_use_cudnn_batchnorm",
    "xla_cpu_use_mkl_dnn", "xla_gpu_crash_on_verification_failures", "xla_gpu_disable_autotune",
    "xla_force_host_platform_device_count", "xla_gpu_disable_ptxas_optimizations", "xla_dump_to",
    "xla_dump_hlo_as_text", "xla_dump_hlo_as_proto", "xla_dump_hlo_as_dot", "xla_dump_hlo_as_html",
    "xla_dump_hlo_as_url", "xla_dump_hlo_snapshots", "xla_dump_hlo_module_re", "xla_dump_hlo_pass_re",
    "xla_hlo_graph_addresses", "xla_hlo_graph_sharding_color", "xla_allow_excess_precision",
]  # fmt: skip


def test_every_flag_of_tensorflow_1_has_its_words() -> None:
    rows = {row["name"]: row for row in table.rows([], None)}
    assert [name for name in ARTICLE if not rows.get(name, {}).get("doc")] == []
    assert {name: rows[name]["until"] for name in ARTICLE if rows[name]["status"] == "removed"} == {
        "tf_introduce_floating_point_jitter_to_tensors": "tensorflow 2.8.0",
        "xla_cpu_use_mkl_dnn": "0.5.3",
        "xla_gpu_disable_autotune": "tensorflow 2.1.0",
        "xla_gpu_disable_multi_streaming": "tensorflow 2.8.0",
        "xla_gpu_disable_ptxas_optimizations": "tensorflow 1.15.5",
        "xla_gpu_max_kernel_unroll_factor": "tensorflow 2.8.0",
        "xla_gpu_use_cudnn_batchnorm": "tensorflow 2.8.0",
        "xla_reduce_precision": "tensorflow 1.15.5",
    }
    assert rows["xla_hlo_profile"]["status"] == "dead"


def test_what_replaced_a_flag_exists() -> None:
    known = catalogue.load()
    assert variables.INSTEAD.keys() | variables.LOST.keys() <= known.gone.keys()
    assert not known.gone.keys() & (known.flags.keys() | known.tf.keys())
    for written in variables.INSTEAD.values():
        name = written.strip("-").partition("=")[0]
        assert known.span(name) == (known.span(name)[0], None), written
    line = "--xla_gpu_disable_autotune --xla_reduce_precision=x --xla_hlo_profile"
    rows = check.check(parse(line), None, None)
    assert [(row["verdict"], row["nearest"]) for row in rows] == [
        ("replaced", "--xla_gpu_autotune_level=0"),
        ("removed", None),
        ("idle", None),
    ]
    assert "tensorflow 1.15.5 is the last" in str(rows[1]["evidence"])


def test_a_library_is_asked_once_for_each_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    package = tmp_path / "tensorflow"
    package.mkdir()
    (package / "lib.so").write_bytes(b"\0" * (1 << 21))
    asked: list[str] = []

    def ask(one: Library, variable: str, *_: object) -> installed.ChildOutput:
        asked.append(variable)
        return installed.ChildOutput(1, True, f"\t--{variable.lower()}_x=true  bool\tDoes x.\n\n", b"")

    monkeypatch.setattr(installed, "ask", ask)
    one = Library("tensorflow", "9.9", package)
    rows = [table.rows([one], None) for _ in range(2)]
    assert rows[0] == rows[1]
    assert [row["doc"] for row in rows[0] if row["name"] == "tf_xla_flags_x"] == ["Does x."]
    assert len(asked) == 2
    (package / "lib.so").write_bytes(b"\0" * (1 << 20) + b"another build")
    table.rows([one], None)
    assert len(asked) == 4
    next((tmp_path / "cache" / "libraries").iterdir()).write_bytes(b"{")
    table.rows([one], None)
    assert len(asked) == 6


def test_check_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["xla", "check", "--xla_dump_hlo_as_txt", "--catalogue", "--format", "json"]
    assert main(words) == 1
    shown = capsys.readouterr()
    assert "unknown" in shown.out
    assert "write --xla_dump_hlo_as_text" in shown.err
    assert "1 of 1 flag of XLA_FLAGS stops a program" in shown.err
    assert main(["xla", "check", "--xla_dump_to=/x --xla_dump_hlo_as_text", "--catalogue"]) == 0


def test_check_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=2")
    monkeypatch.setenv(variables.DEAD, "1")
    assert main(["xla", "check", "--catalogue"]) == 0
    assert "does nothing" in capsys.readouterr().err
    monkeypatch.delenv("TF_XLA_FLAGS")
    assert main(["xla", "check"]) == 2
    assert "neither XLA_FLAGS nor TF_XLA_FLAGS" in capsys.readouterr().err


def test_flags_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "flags", variables.DEAD, "--catalogue", "--format", "json"]) == 0
    shown = capsys.readouterr()
    assert "dead" in shown.out
    assert "TF_CPP_MAX_VLOG_LEVEL" in shown.err
    assert main(["xla", "flags", "xla_dump_hlo_as_txt", "--catalogue"]) == 2
    assert "did you mean xla_dump_hlo_as_text" in capsys.readouterr().err


@needs_jax
def test_flags_of_the_installed_library(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "flags", "--library", "jaxlib", "--fast", "--format", "json"]) == 0
    text = capsys.readouterr().out
    assert json.loads(text)
    assert "xla_dump_to" in text
    assert text.count("jaxlib") > 300


def test_a_python_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "flags", "--python", str(tmp_path / "python")]) == 2
    assert "could not be started" in capsys.readouterr().err


def test_an_empty_name_lists_nothing() -> None:
    from stepscope.report.xla_flags import named

    with pytest.raises(NothingFound):
        named([{"name": "xla_a"}], "--")


@pytest.mark.parametrize("shell", settings.SHELLS)
def test_settings_are_lines_of_the_shell(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "it's $HOME"
    words = ["xla", "env", "--dump", str(folder), "--passes", ".*", "--graphs", "--profile", "--shell", shell]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert (folder / "hlo").is_dir()
    assert (folder / "graphs").is_dir()
    wanted = str(folder / "graphs")
    if shell == "python":
        monkeypatch.setattr(os, "environ", {})
        exec(text, {})
        assert os.environ["TF_DUMP_GRAPH_PREFIX"] == wanted
    elif shell == "sh":
        code = text + 'printf %s "$TF_DUMP_GRAPH_PREFIX"'
        assert subprocess.run(["sh", "-c", code], capture_output=True, text=True, check=True).stdout == wanted
    else:
        assert text.count("TF_DUMP_GRAPH_PREFIX") == 1


def test_the_settings_are_flags_that_exist(tmp_path: Path) -> None:
    values = settings.settings(
        tmp_path, passes=".*", graphs=True, profile=True, before={"XLA_FLAGS": "--xla_gpu_ftz"}
    )
    assert values["XLA_FLAGS"].startswith("--xla_gpu_ftz --xla_dump_to=")
    for name in ("XLA_FLAGS", "TF_XLA_FLAGS"):
        rows = check.check(parse(values[name], name), None, None)
        assert {row["verdict"] for row in rows} <= {"ok", "idle"}


@needs_jax
def test_run_dumps_and_hands_the_exit_code_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    code = "import jax, sys; jax.jit(lambda x: x + 1)(1.0); sys.exit(7)"
    assert main(["xla", "run", "--dump", str(tmp_path / "d"), "--", sys.executable, "-c", code]) == 7
    assert list((tmp_path / "d" / "hlo").rglob("*.hlo.pb"))


def test_run_needs_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "run", "--dump", str(tmp_path)]) == 2
    assert main(["xla", "run", "--dump", str(tmp_path), "--", str(tmp_path / "none")]) == 2
    assert "could not be started" in capsys.readouterr().err
