"""From `--arg NAME=EXPRESSION` to the values of a kernel's parameters, checked before a launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from prismc.diagnostics.suggest import did_you_mean
from prismc.driver.launching.errors import LaunchArgumentError
from prismc.driver.launching.expressions import Evaluator
from prismc.driver.launching.signature import KernelSignature, Parameter

Array = npt.NDArray[Any]


def parse_arguments(words: Sequence[str], evaluator: Evaluator) -> dict[str, Any]:
    """The values of `NAME=EXPRESSION` words, in order: later ones may name earlier ones.

    `NAME=@FILE.npy` reads an array. Raises LaunchArgumentError.
    """
    values: dict[str, Any] = {}
    for word in words:
        name, equals, text = (part.strip() for part in word.partition("="))
        if not equals or not name.isidentifier() or not text:
            raise LaunchArgumentError(f"--arg {word}", "it has the form NAME=EXPRESSION")
        if name in values:
            raise LaunchArgumentError(f"--arg {name}", "it is given twice")
        label = f"--arg {name}"
        is_file = text.startswith("@")
        values[name] = (
            load_array(label, text[1:]) if is_file else evaluator.evaluate(label, text, values)
        )
    return values


def load_array(label: str, path: str) -> Array:
    """The array of a `.npy` file. Raises LaunchArgumentError."""
    try:
        loaded = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "it is no array that NumPy can read"
        raise LaunchArgumentError(label, f"{path}: {reason}") from error
    if not isinstance(loaded, np.ndarray):
        raise LaunchArgumentError(label, f"{path}: it holds several arrays, not one")
    return loaded


def bind_arguments(signature: KernelSignature, given: Mapping[str, Any]) -> dict[str, Any]:
    """The given values as the kernel takes them, by parameter name, in the kernel's order.

    Arrays get the parameter's element type if they hold numbers that convert; scalars become
    Python or NumPy scalars of the right type. Raises LaunchArgumentError.
    """
    names = [parameter.name for parameter in signature.parameters]
    for name in given:
        if name not in names:
            takes = f"`{signature.name}` takes {', '.join(names) or 'nothing'}"
            hint = did_you_mean(name, names, takes)
            raise LaunchArgumentError(
                name, f"kernel `{signature.name}` has no such parameter", hint
            )
    missing = [name for name in names if name not in given]
    if missing:
        raise LaunchArgumentError(
            missing[0],
            f"kernel `{signature.name}` needs it",
            f"add `--arg {missing[0]}=..`",
        )
    return {p.name: _bound(p, given[p.name]) for p in signature.parameters}


def _bound(parameter: Parameter, value: Any) -> Any:
    return _array(parameter, value) if parameter.is_array else _scalar(parameter, value)


def _array(parameter: Parameter, value: Any) -> Array:
    if not isinstance(value, np.ndarray):
        raise LaunchArgumentError(
            parameter.name,
            f"it is {parameter.shown}, and gets a {_kind(value)}",
            "give an array: `zeros(n)`, `randn(n)`, `full(n, value)`, `@file.npy`",
        )
    wanted = np.dtype(parameter.dtype)
    if value.dtype == wanted:
        return np.ascontiguousarray(value)
    if value.dtype.kind not in "biuf":
        raise LaunchArgumentError(
            parameter.name, f"it is {parameter.shown}, and gets an array of {value.dtype}"
        )
    if wanted.kind in "iu" and value.dtype.kind == "f" and not np.all(value == np.floor(value)):
        raise LaunchArgumentError(
            parameter.name,
            f"it is {parameter.shown}, and gets fractions",
            f"round them, or give an array of {wanted}",
        )
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(value.astype(wanted))


def _scalar(parameter: Parameter, value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, bool | int | float | np.generic):
        raise LaunchArgumentError(
            parameter.name, f"it is {parameter.shown}, and gets a {_kind(value)}"
        )
    wanted = np.dtype(parameter.dtype)
    if wanted.kind in "iu":
        return _integer(parameter, value, wanted)
    return wanted.type(value)


def _integer(parameter: Parameter, value: Any, wanted: np.dtype[Any]) -> Any:
    if isinstance(value, float | np.floating) and (not np.isfinite(value) or value != int(value)):
        raise LaunchArgumentError(parameter.name, f"{value} is no {parameter.shown}")
    limits = np.iinfo(wanted)
    if not limits.min <= int(value) <= limits.max:
        raise LaunchArgumentError(parameter.name, f"{int(value)} does not fit {parameter.shown}")
    return wanted.type(int(value))


def _kind(value: Any) -> str:
    return f"{type(value).__name__}"
