"""Launches on the PTX machine: arguments bound to a kernel's parameters, runs over schedules."""

from __future__ import annotations

import reprlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite, prod
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from prismc.backend.host.types import NUMPY_SCALARS
from prismc.driver.kernels import Kernel, Parameter, RunError
from prismc.emulator.api import ALL_CHECKS, Checks, RunResult, run_ptx
from prismc.emulator.findings import Finding, place_key
from prismc.emulator.host import Buffer, LaunchError, Tensor
from prismc.emulator.ptx.tree import PtxError
from prismc.emulator.schedule import Plan
from prismc.emulator.timer import TimeLimit
from prismc.source.record import Record

Array = npt.NDArray[Any]

# How NumPy holds the scalars of Prism. bf16 is float32 on the outside and bits on the device.
DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(getattr(np, kind)) for name, kind in NUMPY_SCALARS.items()
}


class Bound(Record):
    """Arguments that fit a kernel: what the machine gets, and how results come back."""

    kernel: Kernel
    device: tuple[Any, ...]
    given: Mapping[str, Any]


def bind(kernel: Kernel, given: Mapping[str, Any], poisoned: frozenset[str] = frozenset()) -> Bound:
    """Checks arguments by name against a kernel. Raises RunError at the first that does not fit.

    `poisoned` arrays count as uninitialised.
    """
    require_names(kernel, given)
    device = tuple(
        _device(parameter, given[parameter.name], parameter.name in poisoned)
        for parameter in kernel.parameters
    )
    require_own_memory(kernel, given)
    require_assumed(kernel, given)
    return Bound(kernel=kernel, device=device, given=given)


def require_names(kernel: Kernel, given: Mapping[str, Any]) -> None:
    """Each parameter has an argument, and no other is there. Raises RunError."""
    names = [parameter.name for parameter in kernel.parameters]
    missing = [name for name in names if name not in given]
    extra = [name for name in given if name not in names]
    if missing or extra:
        what = f"no value for {_listed(missing)}" if missing else f"no parameter {_listed(extra)}"
        raise RunError(f"kernel `{kernel.name}`: {what} (parameters: {', '.join(names) or 'none'})")


def require_assumed(
    kernel: Kernel, given: Mapping[str, Any], addresses: Mapping[str, int] = MappingProxyType({})
) -> None:
    """What `@assume` states of arguments that fit. Raises RunError where it does not hold.

    Arrays without an address get one on the PTX machine, aligned to everything.
    """
    values = {
        parameter.name: addresses.get(parameter.name, 0)
        if parameter.kind == "array"
        else _plain(given[parameter.name])
        for parameter in kernel.parameters
    }
    broken = [each.text for each in kernel.assumptions if not each.holds(*values.values())]
    if broken:
        numbers = [
            f"{parameter.name} = {values[parameter.name]}"
            for parameter in kernel.parameters
            if parameter.kind == "scalar"
        ]
        places = [f"{name} = {address:#x}" for name, address in addresses.items()]
        raise RunError(
            f"kernel `{kernel.name}` assumes {_listed(broken)}: not so with "
            f"{', '.join([*numbers, *places])}"
        )


def may_write(parameter: Parameter) -> bool:
    """Whether a parameter is an array that its kernel may write."""
    return parameter.kind == "array" and not parameter.is_const


def require_own_memory(kernel: Kernel, arrays: Mapping[str, Array]) -> None:
    """An array that the kernel may write shares no memory with another one: the kernel's pointers
    are `__restrict__`. Two that are only read may. Raises RunError."""
    parameters = [each for each in kernel.parameters if each.kind == "array"]
    for written in filter(may_write, parameters):
        for other in parameters:
            if other is not written and np.shares_memory(arrays[written.name], arrays[other.name]):
                raise RunError(
                    f"`{written.name}`, which the kernel may write, shares memory with "
                    f"`{other.name}`: pass a copy of one of them"
                )


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _device(parameter: Parameter, value: Any, is_poisoned: bool) -> Any:
    """One argument as the machine takes it."""
    if parameter.kind == "unknown":
        return value
    if parameter.kind == "scalar":
        return scalar_argument(parameter, value)
    if parameter.kind == "vector":
        return vector_argument(parameter, value)
    if not isinstance(value, np.ndarray):
        raise RunError(f"`{parameter.name}` is an array of {parameter.dtype}, not {_other(value)}")
    wanted = DTYPES[parameter.dtype]
    if value.dtype != wanted:
        raise RunError(
            f"`{parameter.name}` is an array of {parameter.dtype} ({wanted}), not of {value.dtype}"
        )
    array = to_bf16(value) if parameter.dtype == "bf16" else value
    if parameter.box:
        return _tensor(parameter, array)
    return Buffer(array=array, name=parameter.name, is_initialised=not is_poisoned)


def _other(value: Any) -> str:
    """What stands in an array's place, in short."""
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        return f"a {type(value).__name__}: pass a NumPy array, as `numpy.asarray(..)` makes one"
    return reprlib.repr(value)


def _tensor(parameter: Parameter, array: Array) -> Tensor:
    """An array as the tensor map that a parameter is."""
    if array.ndim != len(parameter.box):
        raise RunError(
            f"`{parameter.name}` is a tensor map of {len(parameter.box)} dimensions, the array has "
            f"{array.ndim}"
        )
    return Tensor(array=array, box=parameter.box, swizzle=parameter.swizzle, name=parameter.name)


def scalar_argument(parameter: Parameter, value: Any) -> Any:
    """One number as the device takes it, bf16 as its bits. Raises RunError."""
    if isinstance(value, np.ndarray):
        raise RunError(f"`{parameter.name}` is one {parameter.dtype}, not an array")
    dtype = DTYPES[parameter.dtype]
    number = _plain(value)
    if not isinstance(number, bool | int | float):
        raise RunError(f"`{parameter.name}` is one {parameter.dtype}, not {reprlib.repr(value)}")
    if not _fits(number, dtype):
        raise RunError(f"`{parameter.name}`: {number} is no {parameter.dtype}")
    found = _nearest(number, dtype)
    if found is None:
        raise RunError(f"`{parameter.name}`: {reprlib.repr(number)} is no {parameter.dtype}")
    return to_bf16(np.array([found], np.float32))[0] if parameter.dtype == "bf16" else found


def _nearest(number: float, dtype: np.dtype[Any]) -> Any | None:
    """A number as a type has it; None where that is infinite and the number is not."""
    is_finite = isinstance(number, int) or isfinite(number)
    try:
        with np.errstate(over="ignore"):
            found = dtype.type(number)
    except OverflowError:
        return None
    return None if is_finite and not np.isfinite(found) else found


def vector_argument(parameter: Parameter, value: Any) -> bytes:
    """A vector as the device takes it, of a sequence of its numbers. Raises RunError."""
    is_listed = isinstance(value, Sequence) or (isinstance(value, np.ndarray) and value.ndim > 0)
    lanes = list(value) if is_listed else []
    if len(lanes) != parameter.lanes or isinstance(value, str | bytes):
        raise RunError(
            f"`{parameter.name}` is a sequence of {parameter.lanes} {parameter.dtype}, "
            f"not {reprlib.repr(value)}"
        )
    return b"".join(scalar_argument(parameter, lane).tobytes() for lane in lanes)


def _fits(number: float, dtype: np.dtype[Any]) -> bool:
    """Whether a number, which may be infinite or none, can be one of a type. Floats are rounded."""
    if dtype.kind == "b":
        return number in (0, 1)
    if dtype.kind == "f":
        return True
    limits = np.iinfo(dtype)
    return int(limits.min) <= number <= int(limits.max) and number == int(number)


def to_bf16(values: Array) -> Array:
    """float32 rounded to the bits of bf16, to nearest even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    nan = np.isnan(values)
    return np.where(nan, np.uint32(0x7FC0), rounded).astype(np.uint16)


def from_bf16(bits: Array) -> Array:
    """The float32 values of bf16 bits."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


class Launch(Record):
    """How a kernel is launched; `block` is needed where the kernel does not fix it."""

    grid: tuple[int, ...]
    block: tuple[int, ...] = ()
    dynamic_shared: int | None = None
    cluster: int = 0


class Stopped(RunError):
    """A launch that took longer than it was allowed to."""


class Outcome(Record):
    """One run: the schedule, what the machine says, and the final arrays by parameter name."""

    plan: Plan
    result: RunResult
    arrays: Mapping[str, Array]


def run(
    bound: Bound,
    launch: Launch,
    plans: Sequence[Plan],
    *,
    checks: Checks = ALL_CHECKS,
    time_limit: float | None = None,
    instruction_limit: int | None = None,
    profile: bool = False,
    on_tick: Callable[[int, int, int], None] | None = None,
) -> Iterator[Outcome]:
    """Runs once for each plan, the first with a profile if one is wanted.

    `time_limit` is in seconds of processor time for all together; a run of more than
    `instruction_limit` instructions is stopped. Raises RunError for a launch that cannot be,
    Stopped for one that takes too long.
    """
    kernel = bound.kernel
    block = _block(kernel, launch)
    deadline = None if time_limit is None else time.thread_time() + time_limit
    for plan in plans:
        left = None if deadline is None else max(0.0, deadline - time.thread_time())
        try:
            result = run_ptx(
                kernel.module,
                kernel.name,
                launch.grid,
                block,
                bound.device,
                cluster=launch.cluster or kernel.cluster,
                dynamic_shared=kernel.dynamic_shared
                if launch.dynamic_shared is None
                else launch.dynamic_shared,
                checks=checks,
                plan=plan,
                shared_arrays=kernel.shared_arrays,
                time_limit=left,
                instruction_limit=instruction_limit,
                profile=profile and plan is plans[0],
                on_tick=on_tick,
            )
        except (LaunchError, PtxError) as error:
            raise RunError(str(error)) from error
        except TimeLimit as error:
            limit = f"{time_limit:g} seconds of processor time"
            raise Stopped(f"stopped after {limit}, its limit") from error
        yield Outcome(plan=plan, result=result, arrays=_arrays(kernel, result))


def _block(kernel: Kernel, launch: Launch) -> tuple[int, ...]:
    """The extents of a block: those the kernel fixes, or else the launch's."""
    fixed = kernel.module.functions[kernel.name].limits.get("reqntid") or (kernel.threads,)
    if not fixed[0]:
        if not launch.block:
            raise RunError(f"kernel `{kernel.name}` does not fix its block: give one")
        return launch.block
    if launch.block and prod(launch.block) != prod(fixed):
        raise RunError(
            f"kernel `{kernel.name}` has blocks of {prod(fixed)} threads, not {prod(launch.block)}"
        )
    return launch.block or fixed


def _arrays(kernel: Kernel, result: RunResult) -> dict[str, Array]:
    """The final content of the array arguments, bf16 as float32."""
    found = {}
    for parameter, output in zip(kernel.parameters, result.outputs, strict=True):
        if output is not None:
            found[parameter.name] = from_bf16(output) if parameter.dtype == "bf16" else output
    return found


def new_findings(outcomes: Sequence[Outcome]) -> tuple[Finding, ...]:
    """The findings of all runs, each fault once."""
    seen: dict[object, Finding] = {}
    for outcome in outcomes:
        for finding in outcome.result.findings:
            key = (
                finding.kind, finding.array, place_key(finding.site), place_key(finding.other)
            )  # fmt: skip
            seen.setdefault(key, finding)
    return tuple(seen.values())
