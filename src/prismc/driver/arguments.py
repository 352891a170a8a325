"""Arguments of a launch from the texts of a command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from prismc.driver.expressions import evaluate, makers
from prismc.driver.kernels import Kernel, Parameter, RunError
from prismc.driver.running import DTYPES, to_bf16

# What a PTX parameter is taken for when nothing else is said.
_PTX_DTYPES = {
    "u64": "f32", "b64": "f32", "s64": "f32", "f32": "f32", "f64": "f64", "u32": "u32",
    "s32": "i32", "b32": "i32", "u16": "u16", "s16": "i16", "b16": "i16", "u8": "u8", "s8": "i8",
    "b8": "u8",
}  # fmt: skip
_UNINITIALISED = re.compile(r"empty\s*\(")


def make_arguments(
    kernel: Kernel, texts: Sequence[tuple[str, str]], seed: int
) -> tuple[dict[str, Any], frozenset[str]]:
    """Values by parameter name, and which arrays are uninitialised (`empty(..)`).

    Raises RunError for names the kernel does not have and expressions that make no value.
    """
    random = np.random.default_rng(seed)
    parameters = {parameter.name: parameter for parameter in kernel.parameters}
    values: dict[str, Any] = {}
    poisoned: set[str] = set()
    for name, text in texts:
        bare, _, dtype = name.partition(":")
        if bare not in parameters:
            known = ", ".join(parameters) or "none"
            raise RunError(f"kernel `{kernel.name}` has no parameter `{bare}` (it has: {known})")
        if bare in values:
            raise RunError(f"`{bare}` is given twice")
        values[bare] = _value(parameters[bare], text, dtype, values, random)
        if _UNINITIALISED.match(text):
            poisoned.add(bare)
    return values, frozenset(poisoned)


def _value(
    parameter: Parameter,
    text: str,
    dtype: str,
    values: dict[str, Any],
    random: np.random.Generator,
) -> Any:
    name = dtype or (
        parameter.dtype if parameter.kind != "unknown" else _PTX_DTYPES.get(parameter.dtype, "")
    )
    if name not in DTYPES:
        raise RunError(f"`{parameter.name}`: no type `{name}` (types: {', '.join(DTYPES)})")
    if text.startswith("@"):
        return _loaded(text[1:])
    value = evaluate(text, values, makers(DTYPES[name], random))
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.astype(DTYPES[name])
        return to_bf16(value) if name == "bf16" and parameter.kind == "unknown" else value
    if parameter.kind == "unknown" and parameter.dtype in ("b32", "b64") and name[0] == "f":
        return DTYPES[name].type(value)
    return value


def _loaded(path: str) -> Any:
    """The array in a `.npy` file."""
    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise RunError(f"`{path}` cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError) as error:
        raise RunError(f"`{path}` is no array that `numpy.save` has written whole") from error
    if not isinstance(array, np.ndarray):
        raise RunError(f"`{path}` holds several arrays; save one with `numpy.save`")
    if array.dtype.kind not in "biuf":
        raise RunError(f"`{path}` is an array of {array.dtype}; a kernel takes numbers")
    return array
