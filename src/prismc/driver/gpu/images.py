"""What a GPU can load of a program, and why it loads none of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prismc.backend.host.images import Image
from prismc.driver.kernels import Kernel
from prismc.source.record import Record, Value


class Device(Value):
    """A GPU: its name, its compute capability (90 for 9.0), and CUDA's version of the driver
    (12040 for 12.4)."""

    name: str
    capability: int
    cuda: int

    def __str__(self) -> str:
        return f"{self.name}, sm_{self.capability}"


class Loadable(Record):
    """One image of a program, and its kernels as they are in it."""

    image: Image
    kernels: tuple[Kernel, ...]


# The images of a program that run on a device, the best first. Raises RunError where none does.
Images = Callable[[Device], Sequence[Loadable]]


def newer_ptx(version: int, device: Device) -> str:
    """What is wrong where a driver refuses PTX of a version (95 for 9.5)."""
    major, minor = divmod(device.cuda, 1000)
    return (
        f"the driver (CUDA {major}.{minor // 10}) does not know PTX {version // 10}."
        f"{version % 10}, and there is no machine code for the device ({device}) beside it; build "
        f"with --target sm_{device.capability}, or install a newer driver"
    )
