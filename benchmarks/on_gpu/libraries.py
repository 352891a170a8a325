"""The same work by what is installed: PyTorch, with cuBLAS and cuDNN, and CuPy, with CUB."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from prismc.driver.gpu.arrays import DeviceArray

Run = Callable[[], object]
Operation = Callable[[Any, Mapping[str, Any]], Run]
Take = Callable[[DeviceArray], Any]


class Shared:
    """An array on the GPU as other libraries take it: the CUDA Array Interface, version 3."""

    def __init__(self, array: DeviceArray, typestr: str) -> None:
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": typestr, "data": (array.pointer, False),
            "version": 3, "strides": None,
        }  # fmt: skip


_TYPESTRS = {
    "f32": "<f4", "f16": "<f2", "f64": "<f8", "i32": "<i4", "u8": "|u1", "u32": "<u4",
    "u64": "<u8", "bf16": "<i2",
}  # fmt: skip


def installed() -> dict[str, Any]:
    """The libraries that can be imported, by the names of their modules."""
    found = {}
    for name in _OPERATIONS:
        try:
            found[name] = importlib.import_module(name)
        except (ImportError, OSError):  # a library that it needs may be missing in turn
            continue
    return found


def competitors(
    name: str, arguments: Mapping[str, Any], modules: Mapping[str, Any]
) -> Iterator[tuple[str, Callable[[], Run]]]:
    """Who does the work of example `name` on the same arrays, by a name for the table, and what
    prepares it. Libraries raise what they like, there and in the work."""
    for module_name, module in modules.items():
        if operation := _OPERATIONS[module_name].get(name):
            take = partial(_TAKEN[module_name], module)
            yield _LABELS[module_name], partial(_prepared, operation, module, take, arguments)


def _prepared(operation: Operation, module: Any, take: Take, arguments: Mapping[str, Any]) -> Run:
    """The work, on arrays as the library has them."""
    arrays = {
        key: take(value) if isinstance(value, DeviceArray) else value
        for key, value in arguments.items()
    }
    return operation(module, arrays)


def _tensor(torch: Any, array: DeviceArray) -> Any:
    """Unsigned integers go as signed ones of their width, which every release knows: sums wrap
    around to the same bits."""
    typestr = _TYPESTRS[array.dtype]
    wide = typestr.replace("u", "i") if array.itemsize > 1 else typestr
    tensor = torch.as_tensor(Shared(array, wide), device="cuda")
    return tensor.view(torch.bfloat16) if array.dtype == "bf16" else tensor


def _cupy_array(cupy: Any, array: DeviceArray) -> Any:
    return cupy.asarray(Shared(array, _TYPESTRS[array.dtype]))


def _product(torch: Any, a: Mapping[str, Any], tf32: bool = False) -> Run:
    torch.backends.cuda.matmul.allow_tf32 = tf32
    A, B = a["A"].view(a["M"], a["K"]), a["B"].view(a["K"], a["N"])
    C = torch.empty_like(a["C"]).view(a["M"], a["N"])
    return lambda: torch.matmul(A, B, out=C)


def _sgemm(torch: Any, a: Mapping[str, Any]) -> Run:
    torch.backends.cuda.matmul.allow_tf32 = False
    C = a["C"].clone().view(a["M"], a["N"])
    A, B = a["A"].view(a["M"], a["K"]), a["B"].view(a["K"], a["N"])
    alpha, beta = float(a["alpha"]), float(a["beta"])
    return lambda: torch.addmm(C, A, B, beta=beta, alpha=alpha, out=C)


def _by_columns(torch: Any, a: Mapping[str, Any]) -> Run:
    """cuBLAS writes bf16 where the examples write f32: it moves less."""
    return lambda: torch.matmul(a["A"], a["B"].T)


def _transposed(torch: Any, a: Mapping[str, Any]) -> Run:
    rows, cols = a["rows"], a["cols"]
    A = a["A"].view(-1, rows, cols).transpose(1, 2)
    B = torch.empty_like(a["B"]).view(-1, cols, rows)
    return lambda: B.copy_(A)


def _rows(a: Mapping[str, Any]) -> Any:
    return a["x"].view(-1, a["cols"])


def _softmax(torch: Any, a: Mapping[str, Any]) -> Run:
    x = _rows(a)
    return lambda: torch.softmax(x, dim=1)


def _layer_norm(torch: Any, a: Mapping[str, Any]) -> Run:
    norm, eps = torch.nn.functional.layer_norm, float(a["eps"])
    return lambda: norm(_rows(a), (a["cols"],), a["scale"], a["shift"], eps)


def _attention(torch: Any, a: Mapping[str, Any]) -> Run:
    q, k, v = (a[name][None] for name in "QKV")
    return lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v)


def _saxpy(torch: Any, a: Mapping[str, Any]) -> Run:
    y, factor = a["y"].clone(), float(a["a"])
    return lambda: y.add_(a["x"], alpha=factor)


_SGEMMS = ("naive", "coalesced", "tiled", "vectorised", "warp_tiled")
_TORCH: dict[str, Operation] = {
    "saxpy": _saxpy,
    "transpose": _transposed,
    "batched_transpose": _transposed,
    "block_sum": lambda torch, a: lambda: torch.sum(a["x"]),
    "last_block_sum": lambda torch, a: lambda: torch.sum(a["x"]),
    "prefix_scan": lambda torch, a: lambda: torch.cumsum(a["x"], dim=0, dtype=a["x"].dtype),
    "row_softmax": _softmax,
    "online_softmax": _softmax,
    "layer_norm": _layer_norm,
    "row_argmax": lambda torch, a: lambda: torch.argmax(_rows(a), dim=1),
    "histogram": lambda torch, a: lambda: torch.bincount(a["x"], minlength=256),
    "tf32_matmul": lambda torch, a: _product(torch, a, tf32=True),
    **{f"sgemm_{each}": _sgemm for each in _SGEMMS},
    "bf16_matmul": _by_columns,
    "hopper_matmul": _by_columns,
    "attention": _attention,
}
_CUPY: dict[str, Operation] = {
    "block_sum": lambda cupy, a: lambda: cupy.sum(a["x"]),
    "last_block_sum": lambda cupy, a: lambda: cupy.sum(a["x"]),
    "prefix_scan": lambda cupy, a: lambda: cupy.cumsum(a["x"], dtype=a["x"].dtype),
    "histogram": lambda cupy, a: lambda: cupy.bincount(a["x"], minlength=256),
}
_OPERATIONS: dict[str, dict[str, Operation]] = {"torch": _TORCH, "cupy": _CUPY}
_TAKEN = {"torch": _tensor, "cupy": _cupy_array}
_LABELS = {"torch": "PyTorch", "cupy": "CuPy"}
