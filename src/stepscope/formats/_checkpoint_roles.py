"""The role of each tensor of a checkpoint, by its name, type and shape."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

_SLOT = re.compile(
    r"(?P<weight>.+)/(Momentum|Adam(_1)?|AdamW(_1)?|Adagrad(DA)?|gradient_(squared_)?accumulator|Adadelta(_1)?"
    r"|RMSProp(_\d)?|Ftrl(_1)?|adam_[mv]|ExponentialMovingAverage|Lamb(_1)?|vr|vc|m|v)(?P<copy>_\d+)?"
)
"""Slots of TensorFlow 1: the name of the weight, and behind it what the optimizer calls the slot."""
_OBJECT_SLOT = re.compile(r"(?P<weight>.+)/\.OPTIMIZER_SLOT/.+/\.ATTRIBUTES/(?P<key>[^/]+)")
"""Slots of TensorFlow 2's object-based checkpoints."""
_STATE_OF_TORCH = re.compile(r"(.*\.)?state\.\d+\.[^.]+")
"""What an optimizer of PyTorch keeps of a weight, which it only numbers: a slot, or a count of its steps."""
_OPTIMIZER = re.compile(
    r"(.*/)?(beta_?[12]_power(_\d+)?|learning_rate(_\d+)?|decay|momentum|rho|beta_[12])(/\.ATTRIBUTES/.+)?"
    r"|(.*/)?(optimizer|_optimizer|keras_api/optimizer)/.+"
)
"""What an optimizer keeps beside its slots, and the variables of Keras' optimizers, which name no weight."""
_STATISTIC = re.compile(
    r"(.*[/.])?(moving_(mean|variance|avg|average|stddev)|running_(mean|var)|renorm_(mean|stddev)(_weight)?)"
    r"(_\d+)?"
    r"(/local_step|/biased)?(/\.ATTRIBUTES/.+)?"
)
"""Averages of what layers have seen, which normalisation keeps beside its weights."""
_COUNTER = re.compile(
    r"_CHECKPOINTABLE_OBJECT_GRAPH|(.*\.)?num_batches_tracked|(.*/)?(global_step|save_counter|iter|iterations)(/\.ATTRIBUTES/.+)?"
)

_AGAIN, _VARIABLES = "_all_variables/", "variables/"
"""Where an export of Keras keeps all variables, beside those of the model under the second name."""

_LEARNED_BY_NOTHING = ("int64", "bool")
"""Types of positions, labels and masks: weights of quantized models have narrower ones."""


def roles_of(tensors: Sequence[tuple[str, str, Sequence[int]]]) -> Mapping[str, tuple[str, str | None]]:
    """What each tensor (name, type, shape) is for, and of a slot its weight, where the names say it.

    weight: learned values, and other state of the model. statistic: averages of what a layer has seen,
    which no gradient changes. slot: what an optimizer keeps for each element of a
    weight. optimizer: what it keeps besides. counter: steps, and the checkpoint's own record. data:
    integers of 64 bits and booleans beside them, as positions and masks. copy: what an export holds again.
    """
    copies = _stored_again(tensors)
    shapes = {name: tuple(shape) for name, _, shape in tensors}
    found: dict[str, tuple[str, str | None]] = {}
    for name, dtype, _ in tensors:
        weight: str | None
        if (slot := _OBJECT_SLOT.fullmatch(name)) is not None:
            weight = f"{slot['weight']}/.ATTRIBUTES/{slot['key']}"
            found[name] = ("slot", weight if weight in shapes else None)
        elif (weight := _weight_of(name, shapes)) is not None:
            found[name] = ("slot", weight)
        elif name in copies:
            found[name] = ("copy", None)
        elif _STATE_OF_TORCH.fullmatch(name):
            found[name] = ("slot" if shapes[name] else "optimizer", None)
        elif dtype == "string" or _COUNTER.fullmatch(name):
            found[name] = ("counter", None)
        elif _OPTIMIZER.fullmatch(name):
            found[name] = ("optimizer", None)
        elif _STATISTIC.fullmatch(name):
            found[name] = ("statistic", None)
        elif dtype in _LEARNED_BY_NOTHING:
            found[name] = ("data", None)
        else:
            found[name] = ("weight", None)
    return found


def _stored_again(tensors: Sequence[tuple[str, str, Sequence[int]]]) -> set[str]:
    """The tensors of an export that it holds under another name as well: as many of a type and shape as are
    among its variables."""
    known = Counter((dtype, *shape) for name, dtype, shape in tensors if name.startswith(_VARIABLES))
    found = set()
    for name, dtype, shape in tensors:
        if name.startswith(_AGAIN) and known[(dtype, *shape)] > 0:
            known[(dtype, *shape)] -= 1
            found.add(name)
    return found


def _weight_of(name: str, shapes: Mapping[str, tuple[int, ...]]) -> str | None:
    """The weight of a slot of TensorFlow 1: it is there, too, and has the same shape, or the name behind it
    is one that optimizers use."""
    above = name.rpartition("/")[0]
    if shapes[name] and shapes.get(above) == shapes[name]:
        return above
    slot = _SLOT.fullmatch(name)
    return slot["weight"] if slot is not None and slot["weight"] in shapes else None
