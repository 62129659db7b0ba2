"""Names of kernels: what is left of them when they are too long, and what is no kernel."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope import kernel_names
from stepscope.kernel_names import condensed, function_name, sentence_name, shortened
from stepscope.presenters.plain import plain, shorten
from stepscope.report.names import distinct_names

ADD = (
    "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>, "
    "std::array<char *, (unsigned long)3>>(int, T2, T3)"
)
COPY = (
    "void at::native::elementwise_kernel<(int)128, (int)2, void at::native::gpu_kernel_impl_nocast<"
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 3)]::operator ()() "
    "const::[lambda(float) (instance 1)]>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>"
    "(int, T3)"
)
POOL = (
    "void at::native::(anonymous namespace)::max_pool_backward_nchw<c10::BFloat16, unsigned int>"
    "(c10::BFloat16 const*, long const*)"
)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (ADD, "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char *, 3>>(…)"),
        (COPY, "elementwise_kernel<128, 2, gpu_kernel_impl_nocast<direct_copy_kernel_cuda>>(…)"),
        (POOL, "max_pool_backward_nchw<BFloat16, unsigned int>(…)"),
        ("void f<at::(anonymous namespace)::G<c10::Half>>(int) [clone .kd]", "f<G<Half>>(…)"),
        ("ns::(anonymous namespace)::softmax(float*)", "softmax(…)"),
        ("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_Generic(…)"),
        ("ncclKernel_AllReduce(ncclComm*, unsigned long, ncclWork*)", "ncclKernel_AllReduce(…)"),
        ("PjitFunction(<lambda>)", None),
        ("Iterator::Root::Prefetch::Map", None),
        ("Iterator::Root::FlatMap[0]", None),
        ("FSDP::post_forward (encoder.block.12.layer.0)", None),
        ("autograd::engine::evaluate_function: AddmmBackward0", None),
        ("<built-in method mm of type object at 0x7faf8498c940>", None),
        ("train.py(62): <module>", None),
        ("jit(step)/jit(main)/transpose(jvp(Dense))/dot_general", None),
        ("Memcpy HtoD (Pageable -> Device)", None),
        ("fused_op<T> in layer (1)", None),
        ("operator<<(std::ostream&, a<b>)", None),
        ("<" * 5_000 + ">" * 5_000, None),
        ("f" + "<" * 4_000 + ">" * 4_000, None),
    ],
)
def test_what_is_left_of_a_name(name: str, short: str | None) -> None:
    assert condensed(name) == short


def test_a_label_has_the_function_alone() -> None:
    assert function_name(ADD) == "vectorized_elementwise_kernel"
    assert function_name("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)") == "ncclDevKernel_Generic"
    assert function_name("StatefulPartitionedCall/dense/Relu") is None


def test_names_that_fit_stay_and_longer_ones_are_cut_at_their_end() -> None:
    assert shorten(POOL, len(POOL)) == POOL
    assert plain(ADD, 80) == "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char *, 3>>(…)"
    assert plain(ADD, 40) == "vectorized_elementwise_kernel<4, CUDAFu…"
    assert sentence_name(ADD, 40) == "vectorized_elementwise_kernel<…>"
    node = f"torch::autograd::CppNode<SplitLookupFunction_{'x' * 40}>"
    assert sentence_name(node, 40) == "CppNode<SplitLookupFunction_xxxxxxxxxxx…"


def test_kernels_of_one_name_are_told_apart_by_their_arguments() -> None:
    first, second = (
        f"void ns::elementwise_kernel<ns::{name}<{'ns::Long_type, ' * 9}int>>(T)" for name in ("Add", "Mul")
    )
    assert distinct_names([first, "other"]) == ["elementwise_kernel<…>", "other"]
    assert distinct_names([first, second]) == [
        f"elementwise_kern…{name}<Long_type, Long_ty…" for name in ("Add", "Mul")
    ]


@given(st.text(alphabet="ab:<>(), []{}4*", max_size=60), st.integers(0, 40))
def test_any_text_is_kept_or_cut(text: str, most: int) -> None:
    found = shortened(text, most)
    assert found is None or len(found) <= most < len(text)
    assert len(shorten(text, most)) <= max(most, len(text) if len(text) <= most else 0)


@pytest.mark.parametrize("room", [1, 2, 3, 8])
def test_names_stay_apart_where_there_is_room_for_it(room: int) -> None:
    names = ["aaaaaaaaaaX", "aaaaaaaaaaY", "aaaaaaaaaaXZ"]
    found = kernel_names.distinct_names(names, lambda name: shorten(name, room), room)
    assert max(map(len, found)) <= room
    assert len(set(found)) == (1 if room == 1 else 3)


def test_names_that_differ_where_there_is_no_room_end_alike() -> None:
    assert kernel_names.distinct_names(["abcd", "axyz"], lambda name: shorten(name, 2), 2) == ["……", "……"]
