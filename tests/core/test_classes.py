"""What slices are, by how they are called: the rules of the core."""

import pytest
from tests.each import each

from stepscope import _core, reference
from stepscope.presenters.pages import render
from stepscope.step_labels import LABELS, LOOKS

OP = {"op_name": "a"}


@each(
    ("name", "texts", "wanted"),
    [
        # name, what else is known, (class, wait, layer, is_op)
        ("MatMul", {}, ("compute", None, None, False)),
        ("MatMul", OP, ("compute", None, "compute", True)),
        ("MatMul", {"category": "cpu_op"}, ("compute", None, "compute", True)),
        ("MatMul", {"producer": "horovod"}, ("compute", None, "compute", True)),
        ("4", {"producer": "horovod"}, ("compute", None, None, False)),
        ("kAllReduce", {"producer": "unknown"}, ("communication", None, "communication", True)),
        ("kBroadcast", {"producer": "unknown"}, ("communication", None, "communication", True)),
        ("kReduceWindow", {"producer": "unknown"}, ("compute", None, "compute", True)),
        ("dataset::GetNext", {"producer": "unknown"}, ("input", None, None, True)),
        ("NCCL_ALLREDUCE", {"producer": "horovod"}, ("communication", None, "communication", True)),
        ("MEMCPY_IN_FUSION_BUFFER", {"producer": "horovod"}, ("copy", None, "copy", True)),
        ("Notify_Wait", {"producer": "unknown"}, ("wait", None, None, True)),
        ("Notify Wait", {"place": "device"}, ("wait", None, None, False)),
        ("SDMA", {"place": "device"}, ("compute", None, None, False)),
        (
            "NOTIFY_WAIT",
            {"place": "device", "thread": "Stream 3 of collectives"},
            ("communication", None, "communication", True),
        ),
        ("hcom_allReduce__271_0_1", {"place": "device"}, ("communication", None, "communication", True)),
        ("Default/AllReduce-op534_0", {"place": "device"}, ("communication", None, "communication", True)),
        ("CopyCPU2GPU", {"place": "device"}, ("copy", None, "copy", True)),
        ("ProfilerStep#1", {"category": "cpu_op"}, ("compute", None, None, False)),
        ("model_run", {"category": "Session", "producer": "unknown"}, ("compute", None, None, False)),
        ("conv_kernel_time", {"category": "Node", "producer": "unknown"}, ("compute", None, "compute", True)),
        ("MatMul", {"producer": "horovod", "category": "user_annotation"}, ("compute", None, None, False)),
        ("Iterator::Map", OP, ("compute", None, None, False)),
        ("kernel", {"place": "device"}, ("compute", None, "compute", True)),
        ("kernel", {"place": "none"}, ("compute", None, None, False)),
        ("kernel", {"place": "device", "copies": True}, ("copy", None, "copy", True)),
        ("mark", {"place": "device", "category": "gpu_user_annotation"}, ("compute", None, None, False)),
        ("wait", {"place": "device", "category": "cuda_sync"}, ("compute", "stream", None, False)),
        ("x", {"place": "device", "category": "gpu_memset"}, ("copy", None, "copy", True)),
        ("Memcpy HtoD", {"place": "device"}, ("copy", None, "copy", True)),
        ("[MEMCPY] DtoH", {"place": "device"}, ("copy", None, "copy", True)),
        ("[CUDA memcpy HtoD]", {"place": "device"}, ("copy", None, "copy", True)),
        ("cuMemcpyHtoDAsync_v2", {"producer": "unknown"}, ("copy", None, "copy", True)),
        ("cudaMemsetAsync", {"producer": "unknown"}, ("copy", None, "copy", True)),
        ("cudaMemcpyAsync", {"category": "cuda_runtime"}, ("copy", None, None, False)),
        ("cuMemAlloc_v2", {"producer": "unknown"}, ("dispatch", None, "setups", True)),
        ("cuLaunchKernel", {"producer": "unknown"}, ("dispatch", None, "launches", True)),
        ("cudaGraphLaunch", {"category": "cuda_runtime"}, ("compute", None, None, False)),
        ("a", OP | {"op_type": "_Send"}, ("copy", None, "copy", True)),
        ("a", OP | {"op_type": "_Recv"}, ("wait", "receive", None, True)),
        ("RecvTensor", {}, ("compute", "receive", "peer waits", False)),
        ("a", OP | {"op_type": "IteratorGetNext"}, ("input", "input", "input waits", True)),
        ("a", OP | {"op_type": "OptionalGetValue"}, ("input", None, None, True)),
        ("a", OP | {"op_type": "OneShotIterator"}, ("input", None, "compute", True)),
        ("a", OP | {"op_type": "ReduceDataset"}, ("input", None, "compute", True)),
        ("a", OP | {"op_type": "MapDataset", "thread": "tf_data_1"}, ("input", None, "input work", True)),
        ("IteratorGetNextOp::DoCompute", {}, ("input", "input", "input waits", False)),
        ("IteratorGetNext", {}, ("input", None, None, False)),
        ("enumerate(DataLoader)#_SingleProcess", {}, ("compute", "input", "input waits", False)),
        ("WAIT_FOR_DATA", {"producer": "horovod"}, ("wait", "peers", "peer waits", True)),
        ("NCCL_ALLREDUCE", {"producer": "horovod"}, ("communication", None, "communication", True)),
        ("MPI_BCAST", {"producer": "horovod"}, ("communication", None, "communication", True)),
        ("NCCL_ALLTOALL", {"producer": "horovod"}, ("communication", None, "communication", True)),
        ("CopyHostToDevice", {"place": "device"}, ("copy", None, "copy", True)),
        ("ncclDevKernel_AllReduce", {"place": "device"}, ("communication", None, "communication", True)),
        (
            "void vllm::cross_device_reduce_1stage",
            {"place": "device"},
            ("communication", None, "communication", True),
        ),
        (
            "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16>",
            {"place": "device"},
            ("communication", None, "communication", True),
        ),
        (
            "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768, 4096>",
            {"place": "device"},
            ("communication", None, "communication", True),
        ),
        ("deep_ep::layout::get_dispatch_layout", {"place": "device"}, ("compute", None, "compute", True)),
        ("psum.3", {"place": "device"}, ("communication", None, "communication", True)),
        ("ragged-all-to-all.1", {"place": "device"}, ("communication", None, "communication", True)),
        ("collective-broadcast-start", {"place": "device"}, ("communication", None, "communication", True)),
        ("broadcast.7", {"place": "device"}, ("compute", None, "compute", True)),
        ("a", OP | {"op_type": "all-to-all"}, ("communication", None, "communication", True)),
        ("a", OP | {"op_type": "CollectiveReduceV2"}, ("communication", None, "communication", True)),
        ("copy-done.1", {"place": "device"}, ("wait", "copy", "copy", True)),
        ("cluster_1/xla_compile", OP, ("compile", None, "compile", True)),
        ("a", OP | {"op_type": "_XlaCompile"}, ("compile", None, "compile", True)),
        ("a", OP | {"op_type": "EagerPyFunc"}, ("python", None, "python", True)),
        ("a", OP | {"op_type": "EagerPyFunc", "thread": "tf_data_1"}, ("python", None, "input work", True)),
        ("a", OP | {"op_type": "MatMul", "thread": "tf_data_1"}, ("compute", None, "input work", True)),
        ("a", OP | {"op_type": "DecodeJpeg"}, ("compute", None, "input work", True)),
        ("a", OP | {"op_type": "DecodeJpeg", "place": "device"}, ("compute", None, "compute", True)),
        ("a", OP | {"op_type": "SaveV2"}, ("compute", None, "wait", True)),
        ("a", OP | {"op_type": "FunctionBufferingResourceGetNext"}, ("input", "input", "input waits", True)),
        ("a", OP | {"op_type": "OrderedMapUnstageNoKey"}, ("input", "input", "input waits", True)),
        ("a", OP | {"op_type": "UnsortedSegmentSum"}, ("compute", None, "compute", True)),
        ("_SOURCE", OP | {"op_type": "NoOp"}, ("dispatch", None, "launches", True)),
        ("a", OP | {"op_type": "__inference_step_7"}, ("compute", None, None, True)),
        ("cudaStreamSynchronize", {}, ("wait", "device", None, False)),
        ("threading.py(323): wait", {"category": "python_function"}, ("wait", None, None, False)),
        ("join (/usr/lib/python3.13/threading.py:1095)", {}, ("wait", None, None, False)),
        ("_handle_tasks (multiprocessing/pool.py:531)", {}, ("wait", None, None, False)),
        ("join (posixpath.py:71)", {}, ("compute", None, None, False)),
        ("$time sleep", {}, ("wait", None, None, False)),
        ("cudaMalloc", {"category": "cuda_runtime"}, ("compute", None, "setups", False)),
        ("cuMemAlloc_v2", {"place": "launch"}, ("compute", None, "setups", False)),
        ("urUSMDeviceAlloc", {"category": "xpu_runtime"}, ("compute", None, "setups", False)),
        ("zeMemFree", {"category": "xpu_driver"}, ("compute", None, "setups", False)),
        ("urQueueFinish", {"category": "xpu_runtime"}, ("compute", "device", None, False)),
        ("zeEventHostSynchronize", {"category": "xpu_driver"}, ("wait", "device", None, False)),
        ("musaStreamSynchronize", {"category": "musa_runtime"}, ("wait", "device", None, False)),
        ("zeCommandListAppendLaunchKernel", {"producer": "unknown"}, ("dispatch", None, "launches", True)),
        ("H2D Dispatch", {"thread": "pjrt_h2d"}, ("compute", None, "copy", False)),
        ("H2D Dispatch", {"thread": "tf_XLAPjRtCpuClient/638893"}, ("compute", None, "copy", False)),
        ("H2D Dispatch", {"thread": "main"}, ("compute", None, None, False)),
        ("aten::clone", {"category": "cpu_op"}, ("copy", None, "copy", True)),
        ("aten::_copy_from", {"category": "cpu_op"}, ("copy", None, "copy", True)),
        ("aten::clone", {"category": "cpu_op", "place": "device"}, ("compute", None, "compute", True)),
        ("aten::contiguous", {"category": "cpu_op"}, ("compute", None, "compute", True)),
        (
            "autograd::engine::evaluate_function: MulBackward0",
            {"category": "cpu_op"},
            ("compute", None, "nodes", True),
        ),
        ("SortsBackward", {"category": "cpu_op"}, ("compute", None, "nodes", True)),
        ("MulBackward0", {"category": "cpu_op"}, ("compute", None, "compute", True)),
    ],
)
def test_what_slices_are(name, texts, wanted):
    known = {"category": None, "op_name": None, "op_type": None, **texts}
    assert _core.slice_class(name, **known) == wanted


@each(
    ("name", "category", "short", "long", "eager"),
    [
        ("EagerLocalExecute: MatMul", None, "dispatch", "dispatch", "compute!"),
        ("EagerLocalExecute: Cast", None, "dispatch", "dispatch", "copy!"),
        ("EagerLocalExecute: EagerPyFunc", None, "dispatch", "dispatch", "dispatch"),
        ("EagerLocalExecute: __inference_f_1", None, "dispatch", "dispatch", "dispatch"),
        ("EagerLocalExecute: IteratorGetNext", None, "input!", "input!", "input!"),
        ("EagerLocalExecute: MakeIterator", None, "dispatch", "dispatch", "input!"),
        ("EagerLocalExecute: ParallelMapDatasetV2", None, "dispatch", "dispatch", "input!"),
        ("save/SaveV2:SaveV2", None, "wait!", "wait!", "wait!"),
        ("save/SaveV2/tensor_names", None, None, None, None),
        ("convert_to_tensor", None, "dispatch", "copy", "copy"),
        ("cudaLaunchKernel", "cuda_runtime", "dispatch", "setup", "setup"),
        ("cudaMalloc", "cuda_runtime", "setup", "setup", "setup"),
        ("cuModuleLoadData", "cuda_driver", "setup", "setup", "setup"),
        ("aten::copy_", "cpu_op", "copy", "copy", "copy"),
        ("aten::mm", "cpu_op", "dispatch", "dispatch", "dispatch"),
        ("Torch-Compiled Region: 0/0", "cpu_op", "dispatch", "dispatch", "dispatch"),
        ("_compile.compile_inner (dynamo_timed)", "cpu_op", "compile!", "compile!", "compile!"),
    ],
)
def test_what_the_program_does_in_them(name, category, short, long, eager):
    assert _core.slice_label(name, category, False)[:3] == (short, long, eager)


@each(
    ("name", "made"), [("TfrtCpuClient::Compile", True), ("backend_compile", True), ("trace_to_jaxpr", False)]
)
def test_where_a_program_is_made(name, made):
    assert _core.slice_label(name, None, False)[3] is made


def test_every_label_is_said_and_drawn_and_is_one_of_the_rules():
    assert tuple(LOOKS) == LABELS
    assert (
        len({look.mark for look in LOOKS.values()})
        == len({look.terminal for look in LOOKS.values()})
        == len(LABELS)
    )
    for of, value, _, _ in _core.class_rules():
        if of in ("label", "long", "eager") and value != "-":
            assert value.removesuffix("!") in LABELS


@pytest.mark.parametrize("name", ["op", "class", "wait", "layer", "label", "stores", "allocates"])
def test_the_rules_can_be_looked_up(name: str):
    assert reference.look_up(name).startswith(f"# {name}\n")


def test_the_page_of_rules():
    page = reference.chapter("classes")
    assert "| stream | category is `{cuda,xpu}_sync` |" in page
    assert page.count("## ") == 1 + sum(of in ("list", "fact") for of, *_ in _core.class_rules())
    assert all(f"| {label} | {look.about} |" in page for label, look in LOOKS.items())
    # In code a star is a star, on a screen as well.
    assert "op_name is *xla_compile; op_type is *" in render(page, width=160)
