"""How many blocks of a kernel a multiprocessor holds at once.

The rules are those of NVIDIA's occupancy calculator (`cuda_occupancy.h` of the toolkit), with which
`tests/hardware/test_occupancy.py` compares them.
"""

from __future__ import annotations

from prismc.hardware.features import Feature
from prismc.hardware.targets import REGISTERS_PER_BLOCK, Target

WARP = 32
PARTITIONS = 4  # of a multiprocessor; each has its part of the registers
REGISTER_UNIT = 256  # registers are given to warps in such numbers


def resident_blocks(
    target: Target, threads: int, registers: int, shared: int, barriers: int = 0
) -> int:
    """Blocks of so many threads on one multiprocessor; 0 where one is too many.

    `registers` are a thread's, `shared` the bytes of a block, `barriers` the numbered ones it uses.
    """
    warps = -(-threads // WARP)
    limits = [target.resident_blocks, target.resident_threads // WARP // warps]
    limits.append(_by_registers(warps, registers))
    used = _rounded(shared + target.reserved_shared, target.shared_unit)
    limits.append((target.shared_limit + target.reserved_shared) // used if used else limits[0])
    if barriers and target.has(Feature.CLUSTER):  # before Hopper, barriers are no limit
        limits.append(target.resident_barriers // barriers)
    return min(limits)


def _by_registers(warps: int, registers: int) -> int:
    """Blocks for which the registers of all partitions suffice."""
    of_warp = _rounded(registers * WARP, REGISTER_UNIT)
    if of_warp * _rounded(warps, PARTITIONS) > REGISTERS_PER_BLOCK:
        return 0
    per_partition = REGISTERS_PER_BLOCK // PARTITIONS
    return per_partition // max(of_warp, 1) * PARTITIONS // warps


def _rounded(number: int, unit: int) -> int:
    return -(-number // unit) * unit
