"""tfprof against TensorFlow's own engine: random models, random steps, random op logs, random questions.

Every question wants the same text. STEPSCOPE_FUZZ_SEED chooses another run, STEPSCOPE_FUZZ_CASES a size.
"""

import os
import random
from pathlib import Path

import pytest

from stepscope import _core
from stepscope.formats.models.place import ModelPlace
from stepscope.instruments import tfprof
from tests.instruments import oracle
from tests.instruments.tfprof_drawings import graph_of, log_of, name, step_of

CASES = int(os.environ.get("STEPSCOPE_FUZZ_CASES", "2400"))
LINES = 80
"""Questions to a model: the engine's start takes as long as some hundred answers."""
SEED = int(os.environ.get("STEPSCOPE_FUZZ_SEED", "20170213"))

REGEXES = (
    ".*", "a.*", ".*w", "unit.*", "b/.*,a", ".*grad.*", "Conv2D", "VariableV2", ".*cpu:0.*", ".*gpu.*",
    "_trainable_variables", "mine", "_checkpoint_variables", "nothing",
    "x|a", "(a|b)/.+", "[a-c].*", "save/.*", "_TFProfRoot", "a",
    "a/b", ".", "", "op", ".*Momentum", "Variable.*,MatMul", ".*,.*", r"\w+", r".*\d", ".*py.*", "main.*",
    "_kTFScopeParent", "é.*",
)  # fmt: skip


def save_checkpoint(dice: random.Random, names: list[str], prefix: Path) -> None:
    """Values of some nodes: small and large numbers, no numbers, long rows, and types that are not shown."""
    import numpy as np
    import tensorflow as tf

    numbers = (0.0, -0.0, 1.005, 0.004999, -123456.789, 1234567.0, 99999.95, 1e30, -1e-30, np.inf, np.nan)
    tensors = []
    chosen = dice.sample(names, (len(names) + 1) // 2)
    for _ in chosen:
        kind = dice.choice(("float32", "float64", "int32", "int64", "float16", "bool"))
        shape = dice.choice(((), (1,), (3,), (2, 3), (0,), (2, 0), (2, 2, 2), (1700,), (40, 50), (3, 3334)))
        data = [dice.choice(numbers[:7] if "i" in kind else numbers) for _ in range(int(np.prod(shape)))]
        with np.errstate(over="ignore"):
            tensors.append(np.array(data, "float64").reshape(shape).astype(kind))
    slices = [""] * len(chosen)
    tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=chosen, shape_and_slices=slices, tensors=tensors)


def question(dice: random.Random) -> str:
    """A line for the prompt, mostly one that makes sense."""
    words = [dice.choice(("scope", "graph", "op", "code"))]
    columns = tuple(tfprof.columns())
    for _ in range(dice.choice((0, 1, 2, 3, 4, 6))):
        option = dice.choice(tfprof.names())
        if option == "output":
            value = dice.choice(("stdout", "none", "stdout", "bogus"))
        elif option == "select":
            value = ",".join(dice.sample(columns, dice.choice((1, 1, 2, 4, len(columns)))))
        elif option == "order_by":
            value = dice.choice((*tfprof.orders(), "depth"))
        elif option == "step":
            value = dice.choice(("-1", "0", "1", "2", "7"))
        elif option == "account_displayed_op_only":
            value = dice.choice(("true", "false", "", "yes"))
        elif option == "max_depth":
            value = dice.choice(("1", "2", "3", "4", "100"))
        elif option.startswith("min_"):
            value = dice.choice(("0", "1", "2", "100", "1000", "-1", "99999999"))
        else:
            value = dice.choice(REGEXES)
        words.append(f"-{option} {value}".strip())
    # The code view of TensorFlow dies of a trimmed root, and of no depth.
    return " ".join(word for word in words if not (words[0] == "code" and word.startswith("-trim")))


def ours(model: tfprof.TfprofModel, line: str) -> str:
    options = _core.TfprofOptions()
    try:
        command = options.read_line(line)
    except ValueError as error:
        return f"E: {error}\n"
    return model.show(command, options).text


@pytest.mark.parametrize("number", range(-(-CASES // LINES)))
def test_the_same_text_as_tensorflow(number: int, tmp_path: Path) -> None:
    program = oracle.build()
    dice = random.Random(f"{SEED}/{number}")
    names = sorted({name(dice) for _ in range(dice.choice((1, 4, 12, 30)))})
    dice.shuffle(names)
    graph, log = tmp_path / "graph.pb", tmp_path / "log"
    graph.write_bytes(graph_of(dice, names).SerializeToString())
    log.write_bytes(log_of(dice, names).SerializeToString())
    steps = [tmp_path / f"step_{place}.pb" for place in range(dice.choice((0, 1, 2, 3)))]
    for step in steps:
        step.write_bytes(step_of(dice, names).SerializeToString())
    checkpoint = tmp_path / "model.ckpt"
    save_checkpoint(dice, names, checkpoint)
    lines = [question(dice) for _ in range(LINES)]
    answers = oracle.ask(program, graph, steps, log, checkpoint, lines)
    assert len(answers) == len(lines), f"TensorFlow died of {lines[len(answers)]}"
    files = [ModelPlace.of_file(str(path)) for path in (graph, log, *steps)]
    kept = ModelPlace.of_checkpoint(str(checkpoint))
    model = tfprof.TfprofModel(files[0], files[2:], files[1], checkpoint=kept, log_first=True)
    for line, wanted in zip(lines, answers, strict=True):
        assert ours(model, line) == wanted, line
