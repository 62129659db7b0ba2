"""Programs of JAX made by chance, to hold our cost rules against XLA's own figures."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Array = Any


class Asked(NamedTuple):
    """What XLA says of a module, and the module: its HloModuleProto."""

    side: str
    proto: bytes
    flops: float
    transcendentals: float
    bytes: float


def program(seed: int) -> tuple[Callable[..., Any], list[Array], str]:
    """A function, its arguments and what it is made of; always the same for a seed."""
    rng = random.Random(seed)
    rank = rng.choice([1, 2, 2, 2, 3, 3, 4])
    shape = tuple(rng.choice([1, 2, 3, 4, 5, 7, 8, 12, 16]) for _ in range(rank))
    dtype = rng.choice([np.float32] * 6 + [jnp.bfloat16, np.float16, np.int32, np.complex64])
    steps = [rng.choice(_KINDS) for _ in range(rng.randint(1, 6))]
    made = random.Random(seed + 1)
    seeds = [made.randrange(1 << 30) for _ in steps]
    numbers = np.random.default_rng(seed)
    x = jnp.asarray(numbers.random(shape) + 0.5, dtype=dtype)
    y = jnp.asarray(numbers.random(shape) + 0.5, dtype=dtype)
    differentiate = rng.random() < 0.2 and np.issubdtype(np.dtype(dtype), np.floating)

    def run(x: Array, y: Array) -> Array:
        value = x
        for kind, number in zip(steps, seeds, strict=True):
            value = kind(value, y, random.Random(number))
        return value

    def loss(x: Array, y: Array) -> Array:
        return jnp.sum(_real(run(x, y)))

    what = f"{np.dtype(dtype).name}{list(shape)} " + " ".join(kind.__name__.strip("_") for kind in steps)
    return (jax.grad(loss) if differentiate else run), [x, y], what + (" grad" if differentiate else "")


def ask(seed: int, sides: tuple[str, ...] = ("before", "after")) -> tuple[str, list[Asked]]:
    """Compiles a program and asks XLA for its cost; what it is made of, and the answers. Programs that JAX
    refuses have none."""
    function, arguments, what = program(seed)
    try:
        lowered = jax.jit(function).lower(*arguments)
        found = []
        for side in sides:
            if side == "before":
                proto = lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()
                said = lowered.cost_analysis() or {}
            else:
                compiled = lowered.compile()
                (module,) = compiled.runtime_executable().hlo_modules()
                proto = module.as_serialized_hlo_module_proto()
                said = compiled.cost_analysis() or {}
            figures = (said.get(key, 0.0) for key in ("flops", "transcendentals", "bytes accessed"))
            found.append(Asked(side, proto, *figures))
    except (TypeError, ValueError, NotImplementedError) as refused:
        return f"{what}: {refused}", []
    return what, found


def _real(x: Array) -> Array:
    return jnp.abs(x).astype(np.float32) if np.iscomplexobj(x) else x.astype(np.float32)


def _fit(x: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    size = int(np.prod(shape))
    flat = jnp.resize(x.reshape(-1), (size,)) if x.size else jnp.zeros((size,), x.dtype)
    return (_real(flat) if np.issubdtype(dtype, np.floating) else flat).astype(dtype).reshape(shape)


def _unary(x: Array, y: Array, rng: random.Random) -> Array:
    names = ["exp", "log", "tanh", "sin", "cos", "sqrt", "negative", "abs", "sign", "square"]
    if not np.iscomplexobj(x):
        names += ["floor", "ceil", "round", "log1p", "expm1", "cbrt", "tan", "arctan", "sinh", "rint"]
    return getattr(jnp, rng.choice(names))(x)


def _special(x: Array, y: Array, rng: random.Random) -> Array:
    x = _real(x)
    one = rng.choice(
        [lax.erf, lax.logistic, lax.rsqrt, lax.is_finite, lax.lgamma, jax.nn.gelu, jax.nn.softplus]
    )
    made = one(x)
    return made.astype(np.float32)


def _binary(x: Array, y: Array, rng: random.Random) -> Array:
    names = ["add", "subtract", "multiply", "divide", "power"]
    if not np.iscomplexobj(x):
        names += ["maximum", "minimum", "remainder", "arctan2", "hypot"]
    return getattr(jnp, rng.choice(names))(x, x[..., ::-1])


def _bits(x: Array, y: Array, rng: random.Random) -> Array:
    bits = lax.bitcast_convert_type(_real(x), np.uint32)
    one = rng.choice(
        [
            lambda a: a >> 3,
            lambda a: a << 2,
            lambda a: a ^ (a & 0xFF),
            lambda a: ~a,
            lax.population_count,
            lax.clz,
        ]
    )
    return one(bits).astype(np.float32)


def _select(x: Array, y: Array, rng: random.Random) -> Array:
    z = _real(x)
    return jnp.where(z > 0.7, z, jnp.clip(z, 0.1, 0.9))


def _reduce(x: Array, y: Array, rng: random.Random) -> Array:
    if not x.ndim:
        return x
    names = ["sum", "prod", "mean"] + ([] if np.iscomplexobj(x) else ["max", "min", "argmax", "any"])
    return getattr(jnp, rng.choice(names))(x, axis=rng.randrange(x.ndim))


def _normalise(x: Array, y: Array, rng: random.Random) -> Array:
    z = _real(x)
    return jax.nn.softmax(z, axis=-1) if z.ndim else z


def _running(x: Array, y: Array, rng: random.Random) -> Array:
    if not x.ndim:
        return x
    one = rng.choice([lax.cumsum, lax.cumprod] + ([] if np.iscomplexobj(x) else [lax.cummax]))
    return one(x, axis=rng.randrange(x.ndim), reverse=rng.random() < 0.3)


def _transpose(x: Array, y: Array, rng: random.Random) -> Array:
    return jnp.transpose(x, rng.sample(range(x.ndim), x.ndim))


def _reshape(x: Array, y: Array, rng: random.Random) -> Array:
    return x.reshape(-1) if rng.random() < 0.5 else x.reshape(1, -1)


def _broadcast(x: Array, y: Array, rng: random.Random) -> Array:
    return jnp.broadcast_to(x, (rng.choice([2, 3]), *x.shape)) if x.ndim < 4 else x


def _join(x: Array, y: Array, rng: random.Random) -> Array:
    return jnp.concatenate([x, x * 2], axis=rng.randrange(x.ndim)) if x.ndim and x.size < 4096 else x


def _pad(x: Array, y: Array, rng: random.Random) -> Array:
    config = [(rng.randint(0, 3), rng.randint(0, 2), rng.randint(0, 1)) for _ in range(x.ndim)]
    return lax.pad(x, jnp.zeros((), x.dtype), config) if x.size < 4096 else x


def _reverse(x: Array, y: Array, rng: random.Random) -> Array:
    return jnp.flip(x, axis=rng.randrange(x.ndim)) if x.ndim else x


def _slice(x: Array, y: Array, rng: random.Random) -> Array:
    return x[tuple(slice(0, max(1, size - 1), rng.choice([1, 2])) for size in x.shape)]


def _at_run_time(x: Array, y: Array, rng: random.Random) -> Array:
    if not x.ndim:
        return x
    at = (jnp.argmax(_real(y)) % 2).astype(np.int32)
    part = lax.dynamic_slice_in_dim(x, at, max(1, x.shape[0] - 1), 0)
    return part if rng.random() < 0.5 else lax.dynamic_update_slice_in_dim(x, part, at, 0)


def _gather(x: Array, y: Array, rng: random.Random) -> Array:
    if not x.ndim:
        return x
    at = (_real(y).reshape(-1)[:6] * 3).astype(np.int32)
    return jnp.take(x, at, axis=rng.randrange(x.ndim), mode=rng.choice(["clip", "fill"]))


def _scatter(x: Array, y: Array, rng: random.Random) -> Array:
    if not x.ndim:
        return x
    at = (_real(y).reshape(-1)[:4] * 3).astype(np.int32)
    z = x.at[at]
    return rng.choice([z.add, z.set, z.multiply])(x[:1] * 2)


def _sort(x: Array, y: Array, rng: random.Random) -> Array:
    if not x.ndim:
        return x
    z = _real(x)
    return rng.choice([jnp.sort, jnp.argsort])(z, axis=rng.randrange(z.ndim)).astype(np.float32)


def _top(x: Array, y: Array, rng: random.Random) -> Array:
    return lax.top_k(_real(x), 1)[0] if x.ndim else x


def _dot(x: Array, y: Array, rng: random.Random) -> Array:
    batch, m, k, n = (rng.choice([1, 2, 3, 8, 17]) for _ in range(4))
    dtype = x.dtype if np.iscomplexobj(x) else np.float32
    left, right = _fit(x, (batch, m, k), dtype), _fit(y, (batch, k, n), dtype)
    if rng.random() < 0.3:
        return left[0] @ right[0]
    return jnp.einsum(rng.choice(["bmk,bkn->bmn", "bmk,bkn->mn", "bmk,bkn->bnm"]), left, right)


def _convolution(x: Array, y: Array, rng: random.Random) -> Array:
    groups = rng.choice([1, 1, 2])
    inputs, outputs = 2 * rng.choice([1, 2, 3]), 2 * rng.choice([1, 2, 4])
    height, width = rng.choice([5, 8, 9]), rng.choice([4, 6, 11])
    size = rng.choice([1, 2, 3, 5])
    channels_last = rng.random() < 0.5
    layout = ("NHWC", "HWIO", "NHWC") if channels_last else ("NCHW", "OIHW", "NCHW")
    batch = rng.choice([1, 2, 3])
    holes = rng.choice([(1, 1), (2, 1), (2, 3)])
    words = ["SAME", "VALID"] if holes == (1, 1) else []
    padding = rng.choice([*words, [(1, 2), (3, 0)]]) if size < 4 else [(2, 2), (3, 2)]
    input_shape = (batch, height, width, inputs) if channels_last else (batch, inputs, height, width)
    kernel = (
        (size, size, inputs // groups, outputs) if channels_last else (outputs, inputs // groups, size, size)
    )
    return lax.conv_general_dilated(
        _fit(x, input_shape, np.float32),
        _fit(y, kernel, np.float32),
        window_strides=(rng.choice([1, 2]), rng.choice([1, 2, 3])),
        padding=padding,
        lhs_dilation=holes,
        rhs_dilation=rng.choice([(1, 1), (1, 2), (3, 1)]) if size < 4 else (1, 1),
        dimension_numbers=layout,
        feature_group_count=groups,
    )


def _pool(x: Array, y: Array, rng: random.Random) -> Array:
    z = _fit(x, (2, 8, 9, 3), np.float32)
    one = rng.choice([(lax.max, -jnp.inf), (lax.add, 0.0)])
    window, stride = rng.choice([2, 3]), rng.choice([1, 2])
    return lax.reduce_window(
        z, one[1], one[0], (1, window, window, 1), (1, stride, stride, 1), rng.choice(["SAME", "VALID"])
    )


def _scan(x: Array, y: Array, rng: random.Random) -> Array:
    z = _real(x)

    def body(carry: Array, number: Array) -> tuple[Array, Array]:
        carry = jnp.tanh(carry) + number
        return carry, jnp.sum(carry)

    return lax.scan(body, z, jnp.arange(rng.choice([1, 3, 7]), dtype=np.float32))[rng.randrange(2)]


def _while(x: Array, y: Array, rng: random.Random) -> Array:
    z = _real(x)
    if rng.random() < 0.5:
        return lax.fori_loop(0, rng.choice([2, 5]), lambda i, a: jnp.sin(a) * i, z)
    return lax.while_loop(lambda a: jnp.sum(a) > 1.0, lambda a: a * 0.5, z)


def _branch(x: Array, y: Array, rng: random.Random) -> Array:
    z = _real(x)
    at = (jnp.sum(_real(y)).astype(np.int32)) % 3
    return lax.switch(at, [jnp.exp, lambda a: a * 3 + 1, lambda a: lax.cumsum(a, 0) if a.ndim else a], z)


def _linear_algebra(x: Array, y: Array, rng: random.Random) -> Array:
    n = rng.choice([2, 4, 7])
    z = _fit(x, (n, n), np.float32)
    z = z @ z.T + n * jnp.eye(n)
    if rng.random() < 0.5:
        return jnp.linalg.cholesky(z)
    return lax.linalg.triangular_solve(z, _fit(y, (n, 3), np.float32), left_side=True, lower=True)


def _fourier(x: Array, y: Array, rng: random.Random) -> Array:
    z = _fit(x, (4, 8, 6), np.float32)
    one = rng.choice([jnp.fft.fft, jnp.fft.rfft, jnp.fft.fft2, lambda a: jnp.fft.irfft(jnp.fft.rfft(a))])
    return one(z)


def _random(x: Array, y: Array, rng: random.Random) -> Array:
    key = jax.random.key(rng.randrange(99), impl=rng.choice(["threefry2x32", "rbg"]))
    return _real(x) + rng.choice([jax.random.uniform, jax.random.normal])(key, x.shape)


def _many(x: Array, y: Array, rng: random.Random) -> Array:
    z = _real(x)
    return jnp.sum(jnp.stack([jnp.sin(z) * i for i in range(rng.randint(2, 9))]), axis=0)


def _constant(x: Array, y: Array, rng: random.Random) -> Array:
    table = np.arange(x.shape[-1] if x.ndim else 1, dtype=np.float32) ** 2
    return _real(x) * table


def _convert(x: Array, y: Array, rng: random.Random) -> Array:
    return _real(x).astype(rng.choice([np.int8, np.int32, jnp.bfloat16, np.float16, np.uint8]))


def _precision(x: Array, y: Array, rng: random.Random) -> Array:
    return lax.reduce_precision(_real(x), 5, 7)


def _complex(x: Array, y: Array, rng: random.Random) -> Array:
    z = lax.complex(_real(x), _real(x) * 2)
    return rng.choice([jnp.real, jnp.imag, jnp.conj, jnp.abs])(z * z)


_KINDS = [value for name, value in sorted(globals().items()) if name.startswith("_") and callable(value)]
_KINDS = [
    kind for kind in _KINDS if kind not in (_real, _fit) and getattr(kind, "__module__", "") == __name__
]
