"""Functions of the program by traced calls of Python, held against a twin that looks at each instant."""

from collections import Counter, defaultdict

from hypothesis import given
from hypothesis import strategies as st

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes import op_lines, traced_calls
from stepscope.instruments.causes.call_paths import CallPath
from stepscope.instruments.causes.side_effects import traced_effects
from stepscope.instruments.causes.traced_calls import SliceName
from stepscope.instruments.causes.wait import WaitCause
from stepscope.instruments.python_frame import pytorch_call
from stepscope.instruments.step_breakdown import labels

PYTHON = "python_function"
NAMES: tuple[SliceName, ...] = (
    ("train.py(3): step", PYTHON, False),
    ("data.py(9): __getitem__", PYTHON, False),
    ("torch/utils/data/dataloader.py(700): __next__", PYTHON, False),
    ("torch/nn/modules/module.py(1700): _call_impl", PYTHON, False),
    ("<built-in method to of Tensor object at 0x7f>", PYTHON, False),
    ("aten::copy_", "cpu_op", True),
    ("aten::mm", "cpu_op", True),
    ("cudaLaunchKernel", "cuda_runtime", False),
    ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation", False),
)
Slice = tuple[int, int, SliceName]
Weights = dict[str | None, Counter[CallPath]]


@st.composite
def nested(draw: st.DrawFn, begin: int = 0, end: int = 40, depth: int = 0) -> list[Slice]:
    """Slices of a thread, by begin, the longer first."""
    found: list[Slice] = []
    at = begin
    while at < end and depth < 5 and draw(st.booleans()):
        first = draw(st.integers(at, end - 1))
        last = draw(st.integers(first + 1, end))
        found.append((first, last, draw(st.sampled_from(NAMES))))
        found += draw(nested(first, last, depth + 1))
        at = last
    return found


def twin(slices: list[Slice]) -> Weights:
    weights: Weights = defaultdict(Counter)
    for instant in range(max((end for _, end, _ in slices), default=0)):
        around, path = labels.NOTHING, ()
        within = [(b, e, name) for b, e, name in slices if b <= instant < e]
        for b, e, (name, kind, is_op) in within:
            meaning = labels.slice_meaning(name, kind, is_op, False, e - b)
            purpose = around.whole and around.label != "input"
            before, around = around, labels.nested_meaning(around, meaning)
            if around.label == "input" and before.label != "input":
                path = ()
            if kind == PYTHON and meaning.label == "python" and not purpose:
                file, line, function = pytorch_call(name) or ("", 0, "")
                path = (*path, CodeLine(file, line, function))
        if within:
            weights[around.label][path] += 1
    return weights


def shown(weights: Weights) -> dict[str | None, dict[CallPath, int]]:
    return {label: dict(paths) for label, paths in weights.items() if paths}


@given(nested())
def test_each_instant_counts_to_the_innermost_call(slices: list[Slice]) -> None:
    found: Weights = defaultdict(Counter)
    traced_calls.add_by_call(found, slices)
    assert shown(found) == shown(twin(slices))


def test_what_makes_batches_and_what_waits_for_them() -> None:
    """A function that calls the loader only waits; a function that the loader calls makes batches."""
    step, getitem, loader = NAMES[0], NAMES[1], NAMES[2]
    found: Weights = defaultdict(Counter)
    traced_calls.add_by_call(found, [(0, 100, step), (10, 90, loader), (20, 80, getitem)])
    made = CodeLine("data.py", 9, "__getitem__")
    assert shown(found) == {
        "python": {(CodeLine("train.py", 3, "step"),): 20},
        "input": {(): 20, (made,): 60},
    }


def test_calls_of_an_op_count_to_the_function_around_them() -> None:
    """Not those of other ops, nor what an op calls again within itself of Python."""
    step, other = NAMES[0], ("train.py(30): evaluate", PYTHON, False)
    op, mm = ("aten::_linalg_svd", "cpu_op", True), NAMES[6]
    found: Counter[CallPath] = Counter()
    slices = [
        (0, 50, step),
        (5, 10, op),
        (12, 20, op),
        (21, 30, mm),
        (60, 90, other),
        (61, 70, op),
        (95, 99, op),
    ]
    op_lines.add_calls(found, "aten::_linalg_svd", slices)
    assert found == {(CodeLine("train.py", 3, "step"),): 2, (CodeLine("train.py", 30, "evaluate"),): 1, (): 1}


def test_gradients_are_not_calls_of_the_program() -> None:
    """Most calls of an op may be theirs; what makes it is the innermost function of the others."""
    loop, step, inner = (
        (f"train.py({line}): {name}", PYTHON, False)
        for line, name in ((90, "<module>"), (3, "step"), (40, "gram"))
    )
    op = ("aten::bmm", "cpu_op", True)
    gradient = ("autograd::engine::evaluate_function: BmmBackward0", "cpu_op", True)
    slices = [
        (0, 90, loop), (5, 30, step), (6, 20, inner), (7, 10, op),
        (40, 80, gradient), (41, 50, op), (51, 60, op),
    ]  # fmt: skip
    found: Counter[CallPath] = Counter()
    op_lines.add_calls(found, "aten::bmm", slices)
    around = (CodeLine("train.py", 90, "<module>"), CodeLine("train.py", 3, "step"))
    gram = CodeLine("train.py", 40, "gram")
    assert found == {(*around, gram): 1, (): 2}
    assert op_lines.most_calling_line(found) == gram
    assert op_lines.most_calling_line(Counter({(gram,): 1, (): 9})) is None, "the framework makes nearly all"
    others = Counter({(*around[:1], CodeLine("m.py", line, f"layer{line}")): 1 for line in range(5)})
    assert op_lines.most_calling_line(others) is None, "no function makes most"


def test_the_function_with_the_loop_of_steps_has_all_ops_and_tells_nothing() -> None:
    """A line of it that has most of them does."""
    forward, backward = CodeLine("train.py", 9, "main"), CodeLine("train.py", 10, "main")
    loops = [("train.py", "main")]
    for number, named in ((4, backward), (9, backward)):
        found: Counter[CallPath] = Counter({(backward,): number, (forward,): 3, (forward, TRAINS): 1})
        assert op_lines.most_calling_line(found) == named
        assert op_lines.most_calling_line(found, loops) == (None if number < 5 else named)


SAVES, TRAINS = CodeLine("train.py", 9, "save"), CodeLine("train.py", 3, "step")


def test_what_a_storing_function_copies_and_prepares_goes_with_it() -> None:
    """Half of what is copied, and all of the Python, is the function's; launching is the model's."""
    weights: Weights = {
        "wait": Counter({(TRAINS, SAVES): 60}),
        "copy": Counter({(TRAINS, SAVES): 20, (TRAINS,): 20}),
        "python": Counter({(TRAINS, SAVES): 10}),
        "dispatch": Counter({(TRAINS,): 95, (TRAINS, SAVES): 5}),
    }
    steps = [(7, {"wait": 60, "copy": 30, "python": 12, "dispatch": 50, "compute": 9})]
    assert traced_effects(weights, SAVES, "wait", steps, WaitCause().most_of_line) == {7: 15 + 12}
    # A function that calls the model: whose launches are whose is not known.
    assert traced_effects(weights, TRAINS, "wait", steps, WaitCause().most_of_line) == {}
    weights["dispatch"][TRAINS, SAVES] = 20
    assert traced_effects(weights, SAVES, "wait", steps, WaitCause().most_of_line) == {}
    # One that does mostly other things.
    weights["dispatch"][TRAINS, SAVES] = 0
    weights["python"][TRAINS, SAVES] = 100
    assert traced_effects(weights, SAVES, "wait", steps, WaitCause().most_of_line) == {}


def test_where_files_have_no_folders_the_outermost_call_of_a_step_is_named() -> None:
    """Nobody knows whether what it calls is the program's. What a framework calls, and what goes on around
    steps, tells nothing."""

    def python(name: str) -> SliceName:
        return name, "python", False

    def outermost(*slices: Slice) -> Counter[CodeLine | None]:
        weights: Counter[CodeLine | None] = Counter()
        traced_calls.add_by_outermost(weights, "python", [(0, 40), (50, 90)], slices)
        return weights

    keep, write = python("$store.py:9 keep"), python("$npyio_impl.py:681 savez")
    called = CodeLine("store.py", 9, "keep")
    assert outermost((2, 30, keep), (5, 25, write)) == {called: 28}
    assert outermost((2, 30, python("$pjit.py:30 call")), (5, 25, keep)) == {called: 20}
    assert outermost((0, 95, python("$train.py:40 main")), (2, 30, keep), (52, 60, write)) == {
        None: 95 - 28 - 8, called: 28, CodeLine("npyio_impl.py", 681, "savez"): 8,
    }  # fmt: skip
    assert outermost((2, 30, python("$numpy asarray"))) == {None: 28}
    # What the loop itself calls of a library or of Python is no place in the program either.
    library, standard = python("$fromnumeric.py:3596 mean"), python("$contextlib.py:81 inner")
    assert outermost((2, 30, library), (5, 25, standard)) == {None: 28}
    assert outermost((2, 30, standard), (5, 25, keep)) == {None: 8, called: 20}
