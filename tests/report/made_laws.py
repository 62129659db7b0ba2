"""Recordings that set a device up, wait for copies, serve, or break laws."""

from collections.abc import Callable

from tests.draw import UNIT_PS, Tables, draw

STEPS = "step train : [train.....][train.....][train.....]\n"
PYTHON = "cpu/python thread : [train.....][train.....][train.....]\n"


def of_runtime(tables: Tables, times: int = 1) -> Tables:
    """The calls of the runtime in it say so, and all takes so many times as long."""
    for row in tables.rows["slice"]:
        if row["name"].startswith("cu"):
            row["category"] = "cuda_runtime"
    for table in ("slice", "step_stored"):
        for row in tables.rows[table]:
            for column in ("ts_ps", "dur_ps", "self_ps"):
                if column in row:
                    row[column] *= times
    return tables


def allocating() -> Tables:
    calls = "[cudaMalloc]" * 12 + "[cudaFree]" * 22
    return of_runtime(
        draw(f"step train : [train{'.' * 366}]\ncpu/python thread : {calls}\ngpu/s7 device_stream : [k]")
    )


def allocating_on_the_host(before: str = "") -> Tables:
    """What is pinned for copies is memory of the host."""
    calls = before + "[cudaMallocHost]" * 2 + "[cudaFreeHost]" * 22
    dots = "." * (len(calls) - 6)
    return of_runtime(
        draw(f"step train : [train{dots}]\ncpu/python thread : {calls}\ngpu/s7 device_stream : [k]")
    )


def allocating_on_both() -> Tables:
    return allocating_on_the_host("[cudaMalloc]" * 3)


def touching_a_device_first() -> Tables:
    drawing = (
        STEPS + PYTHON + "cpu/python thread :  [cudaStreamCreate...............]\ngpu/s7 device_stream : [k]"
    )
    return of_runtime(draw(drawing), 20_000)


def waiting_for_copies() -> Tables:
    return draw(STEPS + PYTHON + "tpu/ops device_stream : [a:fusion][f32 S(5):copy-done.........]")


def waiting_for_copies_within() -> Tables:
    return draw(STEPS + PYTHON + "tpu/ops device_stream : [a:fusion][f32:copy-done.........]")


LONG = f"step train : [train{'.' * 54}]\n"


def two_causes_alike() -> Tables:
    waits = f"[$time sleep{'.' * 17}][IteratorGetNextOp::DoCompute]"
    return draw(LONG + f"cpu/python thread : {waits}")


def sleeping_beside_the_input() -> Tables:
    waits = f"[IteratorGetNextOp::DoCompute.][$time sleep{'.' * 16}]"
    return draw(LONG + f"cpu/python thread : {waits}")


def an_idle_device_beside_sleep() -> Tables:
    return draw(LONG + f"cpu/python thread : [$time sleep{'.' * 18}]\ngpu/s7 device_stream : {' ' * 59}[k]")


def an_idle_device_for_longer_than_the_host_sleeps() -> Tables:
    return draw(LONG + f"cpu/python thread : [$time sleep....]\ngpu/s7 device_stream : {' ' * 59}[k]")


def batches(number: int = 3) -> Tables:
    tables = draw(STEPS + PYTHON + "gpu/s7 device_stream :  [k:MatMul]                 [k]")
    for row in tables.rows["step_stored"]:
        row |= {"kind": "decode", "recovered_from": "batch"}
    del tables.rows["step_stored"][number:]
    return tables


def batches_of_a_server() -> Tables:
    """Three that decode, with time between them."""
    tables = draw("step decode : [a....] [b....] [c....]\n" + PYTHON + "gpu/s7 device_stream :  [k:MatMul]")
    for row in tables.rows["step_stored"]:
        row |= {"kind": "decode", "recovered_from": "batch"}
    return tables


def functions_that_wait() -> Tables:
    said = "of the 36.0 µs in which functions were recorded, these ran for 20.0 µs themselves"
    return broken("functions_fill_their_time", f"{said}, and waited in what they called for the rest")


def one_batch() -> Tables:
    return batches(1)


def steps_of_a_device() -> Tables:
    tables = draw(STEPS + PYTHON + "gpu/s7 device_stream :  [k:MatMul]                 [k]")
    for row in tables.rows["step_stored"]:
        row |= {"kind": "unknown", "recovered_from": "device"}
    return tables


def broken(
    law: str, said: str, drawing: str = STEPS + PYTHON + "cpu/python thread :  [EagerExecute][EagerExecute]"
) -> Tables:
    tables = draw(drawing + "\ngpu/s7 device_stream : [k:MatMul]")
    tables.add("broken_law", law=law, number=30, of_number=60, said=said)
    return tables


def missing_kernels() -> Tables:
    return broken(
        "work_launched", "60 launches, 30 kernels: half of the device's work is missing from the recording"
    )


def missing_kernels_and_compute() -> Tables:
    said = "60 launches, 30 kernels: half of the device's work is missing from the recording"
    return broken("work_launched", said, STEPS + "gpu/s9 device_stream : [a:MatMul.......................]")


def a_host_ahead() -> Tables:
    return broken("step_of_the_device", "90.0 % of the device's work came after the last step of the host")


def clocks_that_differ() -> Tables:
    said = "the clocks of host and device differ, by 498 ms or more: 32 of 32 kernels begin when the host had"
    return broken("clocks_agree", f"{said} waited for all of its device's work")


def a_queue_that_fills() -> Tables:
    return broken("work_within_steps", "20.0 % of the device's work came after the last step of the host")


def a_profiler_that_takes_time() -> Tables:
    said = (
        "the profiler itself took 20.0 µs, 55.6 % of what is judged (Activity Buffer Request); that counts to"
    )
    return broken("recorder_apart", f"{said} what the host did meanwhile, which took less without it")


def waiting_for_a_copy_to_begin() -> Tables:
    """A call of the runtime whose copy the device begins when most of the call is over."""
    tables = draw(
        STEPS
        + "cpu/python thread : [cudaMemcpyAsync..........]\ngpu/s7 device_stream : "
        + " " * 23
        + "[Memcpy DtoH]"
    )
    for row in tables.rows["slice"]:
        if "emcpy" in row["name"]:
            row |= {"correlation_id": 7, "args_json": '{"bytes": 64}'}
    return of_runtime(tables, 100)


def unloading_code(before: str = "") -> Tables:
    calls = before + "[cuModuleUnload]" * 12
    dots = "." * (len(calls) - 6)
    return of_runtime(
        draw(f"step train : [train{dots}]\ncpu/python thread : {calls}\ngpu/s7 device_stream : [k]")
    )


def unloading_code_and_freeing() -> Tables:
    return unloading_code("[cudaFree]" * 3)


def allocating_before_code_goes() -> Tables:
    return unloading_code("[cudaMalloc]" * 22)


def spans_of_requests(kinds: int = 1) -> Tables:
    rows = (f"server/s{number} async : [{kind}....][{kind}..]" for number, kind in enumerate("abcde"[:kinds]))
    return draw("\n".join(rows))


def one_span() -> Tables:
    return draw("server/s async : [a....]")


def spans_of_five_kinds() -> Tables:
    return spans_of_requests(5)


def python_of_a_library() -> Tables:
    """A call of Python that PyTorch traced, in what makes images ready."""
    tables = draw(LONG + f"cpu/python thread : [call{'.' * 40}]\ngpu/s7 device_stream : {' ' * 50}[k]")
    for row in tables.rows["slice"]:
        if row["name"] == "call":
            row |= {"name": "transformers/image_transforms.py(390): normalize", "category": "python_function"}
    return tables


def many_programs_in_a_folder() -> Tables:
    from tests.report.made_recordings import _host

    tables = draw(STEPS + PYTHON + "cpu/python thread :  [IteratorGetNextOp::DoCompute......]")
    for at in range(6):
        _host(tables, f"h{at}", (20 + at) * UNIT_PS)
        tables.rows["source"][-1] |= {"producer": "kineto", "framework": "pytorch"}
        tables.rows["capture"][-1]["producer"] = "kineto"
    return tables


JUDGED: tuple[Callable[[], Tables], ...] = (
    allocating, allocating_on_the_host, allocating_on_both, touching_a_device_first, waiting_for_copies,
    waiting_for_copies_within,
    two_causes_alike, an_idle_device_beside_sleep, sleeping_beside_the_input, missing_kernels,
    an_idle_device_for_longer_than_the_host_sleeps,
    missing_kernels_and_compute, a_host_ahead, functions_that_wait,
    waiting_for_a_copy_to_begin, unloading_code, unloading_code_and_freeing, allocating_before_code_goes,
    python_of_a_library,
)  # fmt: skip
WHOLE: tuple[Callable[[], Tables], ...] = (
    batches, one_batch, batches_of_a_server, steps_of_a_device, missing_kernels, a_host_ahead,
    clocks_that_differ,
    many_programs_in_a_folder, a_queue_that_fills, a_profiler_that_takes_time, spans_of_requests, one_span,
    spans_of_five_kinds,
)  # fmt: skip
