"""What modules that `prismc build --emit python` writes are made of.

    from kernels import saxpy

    saxpy(700, 2.5, x, y, grid=3)

With NumPy arrays a launch runs on the CPU, watched as `prismc run` does; with arrays of CuPy,
PyTorch and others on the GPU. The images are in the module: nothing is compiled.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from prismc.backend.host.images import Image, ptx_version
from prismc.driver import arithmetic as arithmetic
from prismc.driver.gpu.images import Device as GpuDevice
from prismc.driver.gpu.images import Loadable
from prismc.driver.kernels import Assumption, Code, RunError
from prismc.driver.kernels import Kernel as LaunchedKernel
from prismc.driver.kernels import Parameter as Parameter
from prismc.driver.launching import (
    OPTIONS,
    Described,
    Device,
    Grid,
    How,
    KernelFault,
    Places,
    blocks_of,
    for_python,
)
from prismc.emulator.names import SharedArray
from prismc.hardware.targets import fitness
from prismc.source.files import Files
from prismc.source.record import replace
from prismc.source.version import VERSION

__all__ = [
    "Array", "Bool", "Device", "Float", "Grid", "Int", "Kernel", "KernelFault", "Lanes", "OnGpu",
    "RunError",
]  # fmt: skip

FORMAT = 1
CALLED_WITH = ("grid", *OPTIONS)


class OnGpu(Protocol):
    """An array of a GPU, of CuPy, PyTorch, Numba and others. What has DLPack alone will do, but
    type checkers cannot tell it from an array of NumPy."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


Scalar = TypeVar("Scalar", bound=np.generic)
Lane = TypeVar("Lane")
Array = npt.NDArray[Scalar] | OnGpu
Int = int | np.integer[Any]
Float = float | np.floating[Any] | np.integer[Any]
Bool = bool | np.bool_
Lanes = Sequence[Lane] | npt.NDArray[Any]


class Kernel(Described):
    """A kernel as a function: arguments in its own order or by name, and `grid`, the blocks.

    `shared_bytes` are those of a block, `targets` what its module holds code for.
    """

    def __init__(self, program: Program, kernel: LaunchedKernel, shared_bytes: int) -> None:
        super().__init__(kernel, "import its module", CALLED_WITH)
        self._program = program
        self.threads = kernel.threads
        self.shared_bytes = shared_bytes
        self.cluster = kernel.cluster
        self.cooperative = kernel.cooperative
        self.targets = program.targets

    def __call__(self, *arguments: Any, **named: Any) -> None:
        """Launch on the CPU and wait, or on a GPU and do not.

        Raises RunError for arguments that do not fit, KernelFault for what is found on the CPU.
        """
        if "grid" not in named:
            name = self._kernel.name
            raise RunError(f"kernel `{name}`: say how many blocks there are: {name}(.., grid=..)")
        blocks = blocks_of(self._kernel, named.pop("grid"))
        how = How(**{name: named.pop(name) for name in OPTIONS if name in named})
        self._program.places.launch(self._kernel, blocks, arguments, named, how)


class Program:
    """The kernels of one Prism file, for the targets that it was built for."""

    def __init__(self, *, format: int, made_by: str, name: str, images: tuple[Image, ...]) -> None:
        """Raises ImportError for a module that is made for another version of this one."""
        if format != FORMAT:
            raise ImportError(
                f"`{name}` was made by {made_by}, this is prismc {VERSION}: build it anew"
            )
        self.name = name
        self.targets = tuple(dict.fromkeys(image.target for image in images))
        self.places = Places(self._loadable, Files())
        self._images = images
        # The CPU runs what any target has.
        text = next(image.content for image in images if image.ptx_version)
        self._code = Code(text.decode(), name)
        self._kernels: list[tuple[LaunchedKernel, tuple[int, ...]]] = []

    def kernel(
        self,
        *,
        name: str,
        parameters: tuple[Parameter, ...],
        shared_bytes: int,
        dynamic_shared: tuple[int, ...],
        assumptions: tuple[tuple[str, Callable[..., bool]], ...] = (),
        shared_arrays: tuple[tuple[str, int, int, int, tuple[int, ...]], ...] = (),
        **facts: Any,
    ) -> Kernel:
        """A kernel of the program; `dynamic_shared` is that of each target."""
        kernel = LaunchedKernel(
            name=name,
            code=self._code,
            parameters=parameters,
            dynamic_shared=dynamic_shared[0],
            assumptions=tuple(Assumption(*each) for each in assumptions),
            shared_arrays=tuple(
                SharedArray(name=array, start=start, size=size, element=element, shape=extents)
                for array, start, size, element, extents in shared_arrays
            ),
            **facts,
        )
        kernel = for_python(kernel, CALLED_WITH)
        self._kernels.append((kernel, dynamic_shared))
        return Kernel(self, kernel, shared_bytes)

    def _loadable(self, device: GpuDevice) -> list[Loadable]:
        """What runs on a device, the best first. Raises RunError where nothing does."""
        fits = {
            number: fitness(image.target, device.capability, is_ptx=bool(image.ptx_version))
            for number, image in enumerate(self._images)
        }
        best = sorted((n for n, fit in fits.items() if fit), key=lambda n: -fits[n])
        if not best:
            raise RunError(
                f"`{self.name}` was built for {', '.join(self.targets)}, which the device "
                f"({device}) does not run; build with --target sm_{device.capability}"
            )
        return [self._for(self._images[number]) for number in best]

    def _for(self, image: Image) -> Loadable:
        """An image, with the kernels as they are on its target."""
        at = self.targets.index(image.target)
        kernels = (replace(each, dynamic_shared=shared[at]) for each, shared in self._kernels)
        return Loadable(image=image, kernels=tuple(kernels))


def ptx(target: str, text: str) -> Image:
    """A text that devices from `target` on run."""
    return Image(target=target, content=text.encode(), ptx_version=ptx_version(text))


def machine_code(target: str, text: str) -> Image:
    """Code for the devices of a target, in base64."""
    return Image(target=target, content=b64decode(text))
