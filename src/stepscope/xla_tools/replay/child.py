"""Run by the Python that has jax, not by ours: compiles a program, runs it, and writes down what came out.

    python child.py run SPEC       compile and run; SPEC is JSON, see `run`
    python child.py compare SPEC   how far the results of two runs differ, see `compare`
    python child.py parse SPEC     text into a proto, see `parse`

It imports jax and numpy only. An answer is one line of JSON on stdout, the last.
"""

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

Told = dict[str, Any]


def run(spec: Told) -> Told:
    """proto: file with a HloModuleProto. parameters: [{type, dimensions}]. seed. runs. inputs: None, a .npz,
    or files with the bytes of each parameter as [{path, order}]. out: .npz for the results, or None."""
    try:
        import jax
        import numpy as np
        from jax._src.lib import xla_client
    except ImportError as error:
        return {"missing": str(error)}
    jax.config.update("jax_enable_x64", True)  # parameters have the types that they have
    proto = Path(spec["proto"]).read_bytes()
    client = jax.devices()[0].client
    try:
        text = _stablehlo(xla_client, proto)
        begin = time.perf_counter_ns()
        program = _compiled(xla_client, client, jax.devices()[0], text)
        compiled_ns = time.perf_counter_ns() - begin
    except Exception as error:  # noqa: BLE001 - whatever the compiler objects to is the answer
        return {"refused": "compile", "said": str(error)[:2000]}
    made = [_input(np, jax, spec, at) for at in range(len(spec["parameters"]))]
    try:
        buffers = [jax.device_put(array, jax.devices()[0]) for array in made]
        jax.block_until_ready(buffers)
        spent = []
        for _ in range(spec["runs"] + 1):  # the first one warms up
            begin = time.perf_counter_ns()
            results = _executed(program, buffers)
            jax.block_until_ready(results)
            spent.append(time.perf_counter_ns() - begin)
    except Exception as error:  # noqa: BLE001 - as above
        return {"refused": "run", "said": str(error)[:2000]}
    if spec["out"]:
        arrays = [np.asarray(result) for result in results]
        names = [f"{at:06}_{array.dtype.name}" for at, array in enumerate(arrays)]
        np.savez(spec["out"], **{name: _storable(np, array) for name, array in zip(names, arrays)})  # noqa: B905
    device = jax.devices()[0]
    return {
        "first_ns": spent[0],
        "spent_ns": spent[1:],
        "compile_ns": compiled_ns,
        "device": " ".join(dict.fromkeys((device.platform, device.device_kind))),
        "jax": jax.__version__,
        "outputs": len(results),
    }


def _stablehlo(xla_client: Any, proto: bytes) -> bytes:
    # Private names of jax, which moved: jaxlib has no public way from HLO to a program.
    mlir = xla_client._xla.mlir
    if hasattr(mlir, "hlo_to_stablehlo"):
        return bytes(mlir.hlo_to_stablehlo(proto))
    made: bytes = mlir.xla_computation_to_mlir_module(xla_client.XlaComputation(proto))
    return made


def _compiled(xla_client: Any, client: Any, device: Any, text: bytes) -> Any:
    options = xla_client.CompileOptions()
    if hasattr(client, "compile_and_load"):
        return client.compile_and_load(text, xla_client.DeviceList((device,)), options)
    return client.compile(text, options)


def _executed(program: Any, buffers: Any) -> Any:
    if hasattr(program, "execute_sharded"):
        found = program.execute_sharded(buffers)
        return [array[0] for array in found.disassemble_into_single_device_arrays()]
    return program.execute(buffers)


def _input(np: Any, jax: Any, spec: Told, at: int) -> Any:
    parameter = spec["parameters"][at]
    dimensions = tuple(parameter["dimensions"])
    dtype = jax.numpy.dtype(parameter["type"])
    given = spec["inputs"]
    if isinstance(given, str):
        with np.load(given, allow_pickle=False) as packed:
            array = packed[packed.files[at]]
        if array.shape != dimensions or array.dtype != dtype:
            sys.exit(f"array {at} is {array.dtype}{list(array.shape)}, not {dtype}{list(dimensions)}")
        return array
    if given:
        flat = np.frombuffer(Path(given[at]["path"]).read_bytes(), dtype)
        physical = [dimensions[axis] for axis in reversed(given[at]["order"])]
        axes = np.argsort(given[at]["order"][::-1])
        return np.ascontiguousarray(flat.reshape(physical).transpose(axes))
    # Each parameter has numbers of its own, whatever comes before it: a part that is cut out anew keeps them.
    draw = np.random.default_rng([spec["seed"], at])
    if dtype == np.bool_:
        return draw.integers(0, 2, dimensions).astype(np.bool_)
    if dtype.kind in "iu":
        return draw.integers(0, 4, dimensions).astype(dtype)  # small: indices and counts of loops stay sane
    if dtype.kind == "c":
        return (draw.standard_normal(dimensions) + 1j * draw.standard_normal(dimensions)).astype(dtype)
    if "int" in dtype.name:
        return draw.integers(0, 2, dimensions).astype(dtype)
    return draw.standard_normal(dimensions).astype(dtype)


def _storable(np: Any, array: Any) -> Any:
    """Types that numpy cannot store, as those of ml_dtypes, in one that holds all their values."""
    return array if array.dtype.kind in "biufc" else array.astype(np.float32)


def compare(spec: Told) -> Told:
    """a, b: .npz of two runs. tolerance: how large a difference may be, of the value and the root mean square
    of its array together; None for the square root of the precision of the type. Integers are to be equal."""
    import numpy as np

    found: Told = {"elements": 0, "beyond": 0, "nan": 0, "absolute": 0.0, "relative": 0.0, "output": None}
    worst = 0.0
    with np.load(spec["a"], allow_pickle=False) as a, np.load(spec["b"], allow_pickle=False) as b:
        if len(a.files) != len(b.files):
            return {"other": f"{len(b.files)} results instead of {len(a.files)}"}
        for at, (left, right) in enumerate(zip(a.files, b.files)):  # noqa: B905
            x, y = a[left], b[right]
            if x.shape != y.shape or left != right:
                kinds = [
                    f"{name.partition('_')[2]}{list(array.shape)}" for name, array in ((left, x), (right, y))
                ]
                return {"other": f"result {at} is {kinds[1]} instead of {kinds[0]}"}
            found["elements"] += x.size
            found["nan"] += int((x != x).sum())
            same = (x == y) | ((x != x) & (y != y))
            if same.all():
                continue
            wide = np.complex128 if x.dtype.kind == "c" else np.float64
            with np.errstate(all="ignore"):
                p, q = x.astype(wide), y.astype(wide)
                gap = np.where(same, 0.0, np.abs(p - q))
                gap = np.where(np.isnan(gap), np.inf, gap)
                size = np.where(np.isfinite(p), np.abs(p), 0.0)
                mean = float(np.sqrt(np.mean(size * size)))
                share = np.where(gap > 0, gap / (size + mean), 0.0)  # a gap from zeros alone is infinite
                tolerance = (
                    0.0 if x.dtype.kind in "biu" else _tolerance(left.partition("_")[2], spec["tolerance"])
                )
            beyond = share > tolerance
            found["beyond"] += int(beyond.sum())
            found["absolute"] = max(found["absolute"], float(gap.max()))
            found["relative"] = max(found["relative"], float(share.max()))
            over = float(share.max()) / (tolerance or 1e-300)
            if over > worst:
                worst, where = over, int(np.argmax(share))
                index = [int(number) for number in np.unravel_index(where, x.shape)]
                values = [str(array.reshape(-1)[where]) for array in (x, y)]
                found.update({"output": at, "at": index, "values": values, "tolerance": tolerance})
    for key in ("absolute", "relative"):
        if found[key] == float("inf"):
            found[key] = None  # a number on one side only
    return found


def _tolerance(kind: str, given: float | None) -> float:
    """How much may differ for a type."""
    if given is not None:
        return given
    bits = {"float64": 52, "complex128": 52, "float32": 23, "complex64": 23, "float16": 10, "bfloat16": 7}
    return float(2.0 ** (-bits.get(kind, 2) / 2))


def parse(spec: Told) -> Told:
    """path: HLO text. out: file for the HloModuleProto."""
    try:
        from jaxlib import _hlo as reader  # type: ignore[attr-defined]  # in newer versions
    except ImportError:
        try:
            from jaxlib import xla_extension as reader  # type: ignore[attr-defined]  # in older ones
        except ImportError as error:
            return {"missing": str(error)}
    text = Path(spec["path"]).read_text(encoding="utf-8", errors="replace")
    try:
        proto = reader.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    except Exception as error:  # noqa: BLE001 - as above
        return {"refused": "compile", "said": str(error)[:2000]}
    Path(spec["out"]).write_bytes(proto)
    return {}


def main() -> None:
    """Answers on stdout."""
    with contextlib.suppress(ModuleNotFoundError):  # Windows leaves no core files
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    spec = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    result = {"run": run, "compare": compare, "parse": parse}[sys.argv[1]](spec)
    print("\n" + json.dumps(result))


if __name__ == "__main__":
    main()
