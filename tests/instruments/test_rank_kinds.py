"""What names and values say of a collective."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepscope.instruments.ranks.kinds import CollectiveFacts, facts_of, kind_of

QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_kinds_by_name():
    names = {
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "all_reduce",
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)": "all_reduce",
        "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)": "send_recv",
        "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL": "reduce_scatter",
        "ncclDevKernel_Broadcast_RING_LL": "broadcast",
        "ncclDevKernel_Reduce_Sum_f32_RING_LL": "reduce",
        "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)": "unknown",
        "_allgather_base": "all_gather",
        "_reduce_scatter_base": "reduce_scatter",
        "reduce_scatter_tensor_coalesced": "reduce_scatter",
        "all_to_allv": "all_to_all_v",
        "all_to_all": "all_to_all",
        "alltoall_base": "all_to_all",
        "ragged-all-to-all.3": "all_to_all_v",
        "all-reduce-start.12": "all_reduce",
        "collective-permute-done": "permute",
        "CollectiveReduceV2": "all_reduce",
        "CollectiveGatherV2": "all_gather",
        "CollectiveReduceScatterV2": "reduce_scatter",
        "CollectiveBcastSendV2": "broadcast",
        "HorovodAllreduce": "all_reduce",
        "NCCL_ALLREDUCE": "all_reduce",
        "MPI_BCAST": "broadcast",
        "gloo:recv": "recv",
        "gloo:isend": "send",
        "nccl:barrier": "barrier",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>": "all_reduce",
        "": "unknown",
    }
    assert {name: kind_of(name) for name in names} == names


def test_what_pytorch_says_of_a_kernel():
    args = {
        "Collective name": "allreduce", "In msg nelems": 6637568, "Out msg nelems": 6637568, "Group size": 2,
        "dtype": "Float", "In split size": "[]", "Out split size": "[]", "Process Group Name": "0",
        "Process Group Ranks": "[0, 1]", "Seq": 17,
    }  # fmt: skip
    found = facts_of(("ncclDevKernel_Generic",), None, json.dumps(args))
    assert found == CollectiveFacts("all_reduce", "0 [0, 1]", 2, 17, "Float", 6637568, 6637568)
    uneven = args | {"Collective name": "all_to_allv", "In split size": "[3, 5]", "Seq": "18"}
    assert facts_of(("x",), None, json.dumps(uneven)).kind == "all_to_all_v"
    assert (
        facts_of(("x",), None, json.dumps(uneven | {"Collective name": "all_to_all"})).kind == "all_to_all_v"
    )
    assert facts_of(("x",), None, json.dumps(args | {"Collective name": "all_to_all"})).kind == "all_to_all"
    marks = facts_of(("gloo:all_gather",), None, '{"Input Dims": [[64, 10], [2]]}')
    assert (marks.kind, marks.elements_in) == ("all_gather", 642)
    assert (
        facts_of((None, "all-reduce.3"), "all-reduce.3", '{"hlo_module": "jit_f"}').group
        == "jit_f all-reduce.3"
    )


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
_KEYS = (
    "Collective name", "In msg nelems", "Out msg nelems", "Group size", "dtype", "In split size", "Seq",
    "Process Group Name", "Process Group Ranks", "Input Dims", "hlo_module",
)  # fmt: skip


@QUICK
@given(st.dictionaries(st.sampled_from(_KEYS), _json), st.text(max_size=20))
def test_hostile_values(args: dict[str, Any], name: str):
    found = facts_of((name, None), name, json.dumps(args))
    for number in (found.group_size, found.sequence, found.elements_in, found.elements_out):
        assert number is None or 0 <= number < 2**63
    assert found.group is None or len(found.group) <= 801
    for text in ("[" * 100_000, "{", "\x00", '{"Seq": 1e999}', '{"Seq": ' + "9" * 5000 + "}"):
        assert facts_of((name,), None, text).sequence is None
