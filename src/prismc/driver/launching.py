"""Kernels as Python calls them: on NumPy arrays on the PTX machine, on a GPU's arrays there."""

from __future__ import annotations

import operator
import threading
from collections.abc import Iterator, Mapping, Sequence
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any, Literal, NoReturn

from prismc.driver.gpu.arrays import is_on_gpu
from prismc.driver.gpu.device import Gpu
from prismc.driver.gpu.images import Images
from prismc.driver.kernels import Kernel, Parameter, RunError
from prismc.driver.running import Launch, bind, may_write, new_findings, run
from prismc.driver.testing.device import given_by_name, store_results
from prismc.emulator.findings import Finding
from prismc.emulator.report import text_of_findings
from prismc.emulator.schedule import Plan, adversaries
from prismc.source.files import Files
from prismc.source.identifiers import python_names
from prismc.source.record import Value, replace

MOST_BLOCKS = 2**31 - 1  # along x (CUDA C++ Programming Guide, "Compute Capabilities")
Grid = int | tuple[int, ...]
Device = Literal["cpu", "gpu"]


class KernelFault(AssertionError):
    """A launch with faults: `findings` tells them one by one."""

    def __init__(self, text: str, findings: tuple[Finding, ...]) -> None:
        super().__init__(text)
        self.findings = findings


class How(Value):
    """What a call says beside the arguments. On the CPU `schedules` orders of execution are tried,
    from `seed` on, for `time_limit` seconds of processor time at most, all together; on a GPU there
    is a `stream`. `device` says which of them it is to be."""

    stream: Any = None
    device: Device | None = None
    schedules: int = 1
    seed: int = 0
    time_limit: float | None = None


OPTIONS = How.__fields__


class Places:
    """Where the kernels of a program run: here, or on GPUs, whose driver is started when it is
    first needed. Several threads may launch at once."""

    def __init__(self, images: Images, files: Files) -> None:
        self._images = images
        self._files = files
        self._gpu: Gpu | None = None
        self._starting = threading.Lock()

    def gpu(self) -> Gpu:
        """The driver, with this program's kernels. Raises RunError where there is no GPU."""
        with self._starting:
            if self._gpu is None:
                self._gpu = Gpu(self._images)
            return self._gpu

    def launch(
        self,
        kernel: Kernel,
        blocks: int,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
        how: How,
    ) -> None:
        """On the CPU, run and store the last run's results into the arrays. On a GPU, launch once,
        and do not wait.

        Raises RunError for arguments that do not fit, KernelFault when anything is found.
        """
        given = given_by_name(kernel.parameters, arguments, named)
        if _is_for_gpu(given, how):
            self.gpu().launch(kernel.name, blocks, given, how.stream)
            return
        bound = bind(kernel, given)
        _require_writable(kernel, given)
        plans = _plans(how)
        outcomes = list(run(bound, Launch(grid=(blocks,)), plans, time_limit=how.time_limit))
        found = new_findings(outcomes)
        if found:
            text = text_of_findings(found, kernel.module, self._files)
            raise KernelFault("\n" + text, found)
        store_results(kernel, given, outcomes[-1])


def _require_writable(kernel: Kernel, given: Mapping[str, Any]) -> None:
    """Arrays that a kernel may write can be written. Raises RunError."""
    for each in kernel.parameters:
        if may_write(each) and not given[each.name].flags.writeable:
            raise RunError(f"`{each.name}` is read only, and the kernel may write it")


def _is_for_gpu(given: Mapping[str, Any], how: How) -> bool:
    """Whether a launch is one on a GPU. Raises RunError where the call contradicts itself."""
    if how.device not in (None, "cpu", "gpu"):
        raise RunError(f'`device` is "cpu" or "gpu", not {how.device!r}')
    there = [name for name, value in given.items() if is_on_gpu(value)]
    if there and how.device == "cpu":
        raise RunError(f'`{there[0]}` is on a GPU, and the launch is for `device="cpu"`')
    if there or how.device == "gpu":
        return True
    if how.stream is not None:
        raise RunError("`stream` is for arrays of a GPU, and there is none among the arguments")
    return False


def _plans(how: How) -> tuple[Plan, ...]:
    """The orders of execution that a call asks for. Raises RunError."""
    schedules: Any = how.schedules
    seconds: Any = how.time_limit
    if not isinstance(schedules, int) or schedules < 1:
        raise RunError(f"`schedules` is a number from 1 on, not {schedules!r}")
    if seconds is not None and not (isinstance(seconds, int | float) and seconds > 0):
        raise RunError(f"`time_limit` is a number of seconds, not {seconds!r}")
    try:
        return adversaries(schedules, operator.index(how.seed))
    except TypeError:
        raise RunError(f"`seed` is an integer, not {how.seed!r}") from None


def blocks_of(kernel: Kernel, grid: Any) -> int:
    """The number of blocks that a grid has. Raises RunError."""
    extents = grid if isinstance(grid, tuple) else (grid,)
    try:
        blocks, *others = map(operator.index, extents)
    except (TypeError, ValueError):
        raise RunError(f"kernel `{kernel.name}`: {grid!r} is no number of blocks") from None
    if any(other != 1 for other in others):
        raise RunError(f"kernel `{kernel.name}`: blocks are counted along x, give their number")
    if not 1 <= blocks <= MOST_BLOCKS:
        raise RunError(
            f"kernel `{kernel.name}`: a grid of {blocks} blocks; from 1 to {MOST_BLOCKS} are "
            "possible"
        )
    if blocks % kernel.cluster:
        raise RunError(
            f"kernel `{kernel.name}` has clusters of {kernel.cluster} blocks, and {blocks} is no "
            "multiple of that"
        )
    return blocks


# ------------------------------------------------------------------ how a kernel is called


def for_python(kernel: Kernel, options: Sequence[str] = OPTIONS) -> Kernel:
    """The kernel with its parameters named as a function of Python has them, which is called with
    `options`: a name that is a keyword, or that of an option, has `_` behind it."""
    own = [parameter.name for parameter in kernel.parameters]
    names = python_names(own, ("self", *options))
    renamed = zip(kernel.parameters, names, strict=True)
    return replace(kernel, parameters=tuple(replace(each, name=name) for each, name in renamed))


def _signature(kernel: Kernel, options: Sequence[str]) -> Iterator[Argument]:
    for parameter in kernel.parameters:
        yield Argument(parameter.name, Argument.POSITIONAL_OR_KEYWORD, annotation=parameter.type)
    defaults = How()
    for option in options:
        default = getattr(defaults, option, Argument.empty)
        yield Argument(option, Argument.KEYWORD_ONLY, default=default)


class Described:
    """What Python's own tools say of a kernel, which is one `for_python`, called with `options`;
    `again` tells how to have it where it cannot be taken to."""

    def __init__(self, kernel: Kernel, again: str, options: Sequence[str] = OPTIONS) -> None:
        self._kernel = kernel
        self._options = options
        self._again = again
        self.__name__ = kernel.name
        self.__doc__ = documentation(kernel)

    @property
    def __signature__(self) -> Signature:
        return Signature([*_signature(self._kernel, self._options)], return_annotation=None)

    def __repr__(self) -> str:
        return f"<Prism kernel {heading(self._kernel)}, {shape(self._kernel)}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a Prism kernel cannot be pickled or copied: {self._again}")


def heading(kernel: Kernel) -> str:
    """`saxpy(n: i32, a: f32, x: ptr(const f32), y: ptr(f32))`."""
    return f"{kernel.name}({', '.join(map(_declared, kernel.parameters))})"


def _declared(parameter: Parameter) -> str:
    return f"{parameter.name}: {parameter.type}" if parameter.type else parameter.name


def shape(kernel: Kernel) -> str:
    """What is fixed about a launch, in words: `blocks of 256 threads`."""
    words = [f"blocks of {kernel.threads} threads"]
    words += [f"clusters of {kernel.cluster} blocks"] if kernel.cluster > 1 else []
    words += ["a cooperative launch"] if kernel.cooperative else []
    return ", ".join(words)


def documentation(kernel: Kernel) -> str:
    """A kernel's docstring: its head, its author's comment, its shape and what it assumes."""
    assumed = [f"It assumes `{each.text}`." for each in kernel.assumptions]
    parts = [heading(kernel), kernel.comment, f"{shape(kernel).capitalize()}.", *assumed]
    return "\n\n".join(part for part in parts if part)
