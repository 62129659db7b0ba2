"""Layers in the names of ops: the layer of an op, and the op that a gradient belongs to.

TensorFlow names the gradient of `dense/MatMul` `gradients/dense/MatMul_grad/MatMul` in graphs and
`gradient_tape/dense/MatMul/MatMul` in functions, behind the scope in which gradients are asked for, as each
tower of a model has one: `tower_0/gradients/tower_0/dense/MatMul_grad/MatMul`. Scopes of ops begin with a
capital, those that people and layers name do not. What runs within a function that a function calls, as Keras
compiles its steps, has the name of that call before all of this:
`StatefulPartitionedCall/gradient_tape/dense/MatMul/MatMul`. The body of a loop is such a function, and has
the scopes of the loop once more: `model/lstm/while/body/_27/model/lstm/while/lstm_cell/MatMul`.
"""

import re
from functools import lru_cache

_CALLS = re.compile(r"^((Stateful)?PartitionedCall(_\d+)?/)*")
_BODY = re.compile(r"^.*/_\d+/")
# In the gradient of a loop, its scopes come before those of what a gradient belongs to.
_BACKWARD = re.compile(r"^(.*/)?(gradients|gradient_tape)(_\d+)?/|_grad(?=/)")
_GRADIENT = re.compile(r"(^|/)(gradients|gradient_tape)(_\d+)?(/|$)")
_LOOP = re.compile(r"(while|cond)(_\d+)?")
"""Scopes that TensorFlow makes for loops and branches: what is in them is of the layer around."""


def layer_of(op: str) -> str | None:
    """The scope in which an op was made, forward or backward; None for an op outside of all scopes."""
    return layer_of_scope(op[: op.rfind("/") + 1])


@lru_cache(maxsize=1 << 16)  # asked for each scope of each host
def layer_of_scope(scope: str) -> str | None:
    """The same for all ops of a scope. scope: with its last slash; empty for none."""
    path = _CALLS.sub("", scope)
    scopes = _BACKWARD.sub("", _BODY.sub("", path)).split("/")[:-1]
    loop = next((at for at, name in enumerate(scopes) if _LOOP.fullmatch(name)), len(scopes))
    del scopes[loop:]
    while scopes and scopes[-1][:1].isupper():
        scopes.pop()
    return scope.removesuffix(path) + "/".join(scopes) if scopes else None


def is_gradient(op: str) -> bool:
    """Whether the name of an op calls it part of a gradient, in whatever scope that was asked for."""
    return _GRADIENT.search(_CALLS.sub("", op)) is not None


def forward_of(op: str) -> str | None:
    """The op that an op is part of the gradient of; None for an op that its name does not call a gradient."""
    if not is_gradient(op):
        return None
    path = _CALLS.sub("", op)
    before, found, _ = path.partition("_grad/")
    forward = _BACKWARD.sub("", before if found else path.rpartition("/")[0])
    return op.removesuffix(path) + forward if forward else None
