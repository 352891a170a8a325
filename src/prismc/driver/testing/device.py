"""Where tests launch kernels: on the PTX machine, watched for faults, or on a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from prismc.driver.gpu.arrays import DeviceArray, dense_strides
from prismc.driver.gpu.device import Gpu
from prismc.driver.kernels import Kernel, Parameter, RunError, choose
from prismc.driver.running import Array, Launch, Outcome, bind, from_bf16, new_findings, run
from prismc.emulator.host import Buffer, Tensor
from prismc.emulator.report import text_of_findings
from prismc.emulator.schedule import Plan
from prismc.source.files import Files

Kernels = Callable[[], tuple[Kernel, ...]]


class EmulatedDevice:
    """Runs launches in one order of execution; what is found at fault stays in `faults`.

    `kernels` compiles them, when the first is launched.
    """

    def __init__(
        self, kernels: Kernels, plan: Plan, files: Files, time_limit: float | None = None
    ) -> None:
        self._kernels = kernels
        self._plan = plan
        self._files = files
        self._deadline = None if time_limit is None else time.thread_time() + time_limit
        self.faults = ""
        self.printed = ""

    def launch(
        self,
        kernel: str,
        blocks: int,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
        poisoned: Callable[[Array], bool],
    ) -> bool:
        chosen = choose(self._kernels(), kernel)
        given = given_by_name(chosen.parameters, arguments, named)
        unread = frozenset(
            name for name, value in given.items() if hasattr(value, "dtype") and poisoned(value)
        )
        bound = bind(chosen, given, unread)
        left = None if self._deadline is None else max(0.0, self._deadline - time.thread_time())
        launch = Launch(grid=(blocks,))
        (outcome,) = run(bound, launch, [self._plan], time_limit=left)
        self._keep(chosen, outcome)
        store_results(chosen, given, outcome)
        return not self.faults

    def _keep(self, kernel: Kernel, outcome: Outcome) -> None:
        self.printed += outcome.result.printed
        findings = new_findings([outcome])
        if findings:
            self.faults = text_of_findings(findings, kernel.module, self._files)


def given_by_name(
    parameters: Sequence[Parameter], arguments: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments by their parameters' names; one element of an array is a number.

    Raises RunError for too many of them, and for one that is given twice.
    """
    if len(arguments) > len(parameters):
        raise RunError(f"{len(arguments)} arguments for {len(parameters)} parameters")
    given = {p.name: value for p, value in zip(parameters, arguments, strict=False)}
    twice = [name for name in named if name in given]
    if twice:
        raise RunError(f"`{twice[0]}` is given by position and by name")
    found = given | dict(named)
    kinds = {parameter.name: parameter.kind for parameter in parameters}
    return {
        name: _number(value) if kinds.get(name) == "scalar" else value
        for name, value in found.items()
    }


def _number(value: Any) -> Any:
    """The one element of an array; all else as it is, for a launch to refuse."""
    try:
        return value.item() if hasattr(value, "item") else value
    except (ValueError, RuntimeError):  # of NumPy, of PyTorch
        return value


def store_results(kernel: Kernel, given: Mapping[str, Any], outcome: Outcome) -> None:
    """What a run left in the arrays that the kernel may write."""
    for parameter in kernel.parameters:
        if parameter.name in outcome.arrays and not parameter.is_const:
            given[parameter.name][...] = outcome.arrays[parameter.name]


class GpuDevice:
    """Runs launches on a GPU: arrays are copied there and back. Nothing is watched but values."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self.faults = ""
        self.printed = ""

    def launch(
        self,
        kernel: str,
        blocks: int,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
        poisoned: Callable[[Array], bool],
    ) -> bool:
        del poisoned  # a GPU does not tell what was read before it was written
        gpu = self._gpu
        _, chosen = gpu.function(kernel)
        given = given_by_name(chosen.parameters, arguments, named)
        names = [parameter.name for parameter in chosen.parameters]
        bits = {
            name: np.ascontiguousarray(buffer.array)
            for name, buffer in zip(names, bind(chosen, given).device, strict=True)
            if isinstance(buffer, Buffer | Tensor)
        }
        copies: dict[str, int] = {}
        try:
            for name, array in bits.items():
                copies[name] = int(gpu.call("cuMemAlloc", max(1, array.nbytes)))
                gpu.call("cuMemcpyHtoD", copies[name], array.ctypes.data, array.nbytes)
            dtypes = {parameter.name: parameter.dtype for parameter in chosen.parameters}
            on_gpu = {
                name: DeviceArray(
                    pointer=place,
                    dtype=dtypes[name],
                    shape=bits[name].shape,
                    strides=dense_strides(bits[name].shape, bits[name].itemsize),
                )
                for name, place in copies.items()
            }
            gpu.launch(kernel, blocks, given | on_gpu)
            gpu.call("cuCtxSynchronize")
            for name, array in bits.items():
                gpu.call("cuMemcpyDtoH", array.ctypes.data, copies[name], array.nbytes)
        finally:
            for copy in copies.values():
                gpu.call("cuMemFree", copy)
        for parameter in chosen.parameters:
            if parameter.name in bits and not parameter.is_const:
                is_bf16 = parameter.dtype == "bf16"
                array = bits[parameter.name]
                given[parameter.name][...] = from_bf16(array) if is_bf16 else array
        return True
