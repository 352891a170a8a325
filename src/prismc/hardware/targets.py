"""The targets, one row each: features, limits, compiler flag, least PTX version.

Limits: CUDA Programming Guide, "Compute Capabilities" (shared memory per block is the amount that a
kernel may opt in to: that of the multiprocessor less 1 KiB, which the driver keeps, from sm_80 on).
PTX versions: PTX ISA, ".target" and its release notes. Features: measured with NVRTC 13.5.
"""

from __future__ import annotations

from prismc.hardware.features import Feature
from prismc.source.record import Record

KIB = 1024
REGISTERS_PER_BLOCK = 65_536


class Target(Record):
    """One architecture that the toolchain can make machine code for. Of blocks and threads so many
    are resident on a multiprocessor at most."""

    name: str
    ptx: tuple[int, int]
    shared_limit: int
    features: frozenset[Feature]
    resident_blocks: int
    resident_threads: int
    static_shared_limit: int = 48 * KIB
    max_threads: int = 1024
    named_barriers: int = 16

    def has(self, feature: Feature) -> bool:
        return feature in self.features

    @property
    def reserved_shared(self) -> int:
        """Bytes of each block that the driver keeps."""
        return KIB if self.has(Feature.CP_ASYNC) else 0

    @property
    def shared_unit(self) -> int:
        """Shared memory is given to blocks in such pieces."""
        return 128 if self.has(Feature.CP_ASYNC) else 256

    @property
    def resident_barriers(self) -> int:
        """Numbered barriers of all blocks of a multiprocessor."""
        return self.resident_blocks * (1 if self.resident_threads == 1536 else 2)

    @property
    def arch_flag(self) -> str:
        """What NVRTC takes: machine code for exactly this architecture, PTX beside it."""
        return f"-arch={self.name}"

    @property
    def compute(self) -> str:
        """The virtual architecture of the same number and suffix: `compute_90a`."""
        return self.name.replace("sm_", "compute_", 1)

    def __str__(self) -> str:
        return self.name


_TURING = frozenset({Feature.LDMATRIX, Feature.F16_MMA})
_AMPERE = _TURING | {
    Feature.AMPERE_MMA, Feature.BF16, Feature.TF32, Feature.CP_ASYNC, Feature.MBARRIER,
    Feature.REDUX,
}  # fmt: skip
_ADA = _AMPERE | {Feature.FP8}
_HOPPER = _ADA | {
    Feature.BF16_ADD, Feature.MBARRIER_TRY_WAIT, Feature.STMATRIX, Feature.ELECT, Feature.TMA,
    Feature.PROXY_FENCE, Feature.CLUSTER, Feature.DEPENDENT_LAUNCH, Feature.VECTOR_REDUCTION,
    Feature.BF16_ATOMIC,
}  # fmt: skip
_HOPPER_A = _HOPPER | {Feature.WGMMA, Feature.SETMAXNREG}
_BLACKWELL = _HOPPER | {Feature.F32_PAIRS}
_BLACKWELL_A = _BLACKWELL | {Feature.SETMAXNREG, Feature.TCGEN05}
_CONSUMER_A = _BLACKWELL | {Feature.SETMAXNREG}


def _row(
    name: str,
    ptx: tuple[int, int],
    shared_kib: int,
    resident: tuple[int, int],
    features: frozenset[Feature],
) -> Target:
    return Target(
        name=name,
        ptx=ptx,
        shared_limit=shared_kib * KIB,
        resident_blocks=resident[0],
        resident_threads=resident[1],
        features=features,
    )


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        _row("sm_75", (6, 3), 64, (16, 1024), _TURING),
        _row("sm_80", (7, 0), 163, (32, 2048), _AMPERE),
        _row("sm_86", (7, 1), 99, (16, 1536), _AMPERE),
        _row("sm_87", (7, 4), 163, (16, 1536), _AMPERE),
        _row("sm_88", (9, 0), 99, (16, 1536), _AMPERE),
        _row("sm_89", (7, 8), 99, (24, 1536), _ADA),
        _row("sm_90", (7, 8), 227, (32, 2048), _HOPPER),
        _row("sm_90a", (8, 0), 227, (32, 2048), _HOPPER_A),
        _row("sm_100", (8, 6), 227, (32, 2048), _BLACKWELL),
        _row("sm_100a", (8, 6), 227, (32, 2048), _BLACKWELL_A),
        _row("sm_100f", (8, 8), 227, (32, 2048), _BLACKWELL_A),
        _row("sm_103", (8, 8), 227, (32, 2048), _BLACKWELL),
        _row("sm_103a", (8, 8), 227, (32, 2048), _BLACKWELL_A),
        _row("sm_110", (9, 0), 227, (24, 1536), _BLACKWELL),
        _row("sm_110a", (9, 0), 227, (24, 1536), _BLACKWELL_A),
        _row("sm_110f", (9, 0), 227, (24, 1536), _BLACKWELL_A),
        _row("sm_120", (8, 7), 99, (24, 1536), _BLACKWELL),
        _row("sm_120a", (8, 7), 99, (24, 1536), _CONSUMER_A),
        _row("sm_120f", (8, 8), 99, (24, 1536), _CONSUMER_A),
        _row("sm_121", (8, 8), 99, (24, 1536), _BLACKWELL),
        _row("sm_121a", (8, 8), 99, (24, 1536), _CONSUMER_A),
    )
}

# The oldest target with Tensor Core TF32: its PTX runs on everything later.
DEFAULT_TARGET = TARGETS["sm_80"]


def is_need(word: str) -> bool:
    """Whether `word` may stand in `needs(..)`: a target's name or a feature's."""
    return word in TARGETS or word in {feature.value for feature in Feature}


def meets(target: Target, word: str) -> bool:
    """Whether `target` has what `needs(word)` asks for.

    A feature's name asks for the feature. `sm_80` asks for an architecture of that number or a
    later one; a suffix (`sm_90a`) for exactly that one, since such code runs nowhere else
    (PTX ISA, ".target").
    """
    if word not in TARGETS:
        return Feature(word) in target.features
    if not word[-1].isdigit():
        return target.name == word
    return _number(target.name) >= _number(word)


def fitness(target: str, device: int, *, is_ptx: bool) -> int:
    """How well code for a target fits a device of compute capability `device` (90 for 9.0); 0: it
    does not run there.

    Machine code for exactly this device comes first, PTX last (CUDA C++ Programming Guide,
    "Application Compatibility"); `runtime.h` has the same rule for programs in C.
    """
    number, kind = _number(target), target[-1]
    is_line = number // 10 == device // 10 and number <= device
    if kind == "a":
        return 0 if number != device else 1 if is_ptx else 3000
    if kind == "f":
        return (1 if is_ptx else 2000) + number if is_line else 0
    if is_ptx:
        return 1 + number if number <= device else 0
    return 1000 + number if is_line else 0


def nearest(device: int) -> Target:
    """What is compiled for a device of compute capability `device`: itself, with all that only it
    can do, or else the nearest below it that is known here."""
    for name in (f"sm_{device}a", f"sm_{device}"):
        if name in TARGETS:
            return TARGETS[name]
    below = [each for each in TARGETS.values() if fitness(each.name, device, is_ptx=True) > 1]
    return max(below, key=lambda each: _number(each.name), default=DEFAULT_TARGET)


def _number(name: str) -> int:
    return int("".join(letter for letter in name if letter.isdigit()))
