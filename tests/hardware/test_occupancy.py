"""Blocks on a multiprocessor, compared with NVIDIA's occupancy calculator, a header of CUDA's."""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

import pytest

from host.support import require, toolkit
from prismc.hardware.occupancy import resident_blocks
from prismc.hardware.targets import KIB, TARGETS

PROGRAM = """
#include <cuda_occupancy.h>
#include <cstdio>
int main()
{
    int number, threads, registers, shared, barriers, resident, room, optin, kept;
    while (std::scanf("%d %d %d %d %d %d %d %d %d", &number, &threads, &registers, &shared,
                      &barriers, &resident, &room, &optin, &kept) == 9) {
        cudaOccDeviceProp device;
        device.computeMajor = number / 10;
        device.computeMinor = number % 10;
        device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = resident;
        device.regsPerBlock = device.regsPerMultiprocessor = 65536;
        device.warpSize = 32;
        device.sharedMemPerBlock = 49152;
        device.sharedMemPerMultiprocessor = size_t(room);
        device.sharedMemPerBlockOptin = size_t(optin);
        device.reservedSharedMemPerBlock = size_t(kept);
        device.numSms = 1;
        cudaOccFuncAttributes kernel;
        kernel.maxThreadsPerBlock = 1024;
        kernel.numRegs = registers;
        kernel.sharedSizeBytes = 0;
        kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = size_t(shared);
        kernel.numBlockBarriers = barriers;
        cudaOccDeviceState state;
        state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
        cudaOccResult result;
        if (cudaOccMaxActiveBlocksPerMultiprocessor(
                &result, &device, &kernel, &state, threads, size_t(shared)))
            return 1;
        std::printf("%d\\n", result.activeBlocksPerMultiprocessor);
    }
}
"""

THREADS = (1, 32, 33, 64, 96, 180, 256, 384, 512, 1024)
REGISTERS = (8, 16, 32, 40, 64, 96, 128, 168, 255)
SHARED = (0, 1, 4_000, 16 * KIB, 48 * KIB, 48 * KIB + 1)
BARRIERS = (0, 1, 5, 16)
NUMBERS = ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120")


def test_it_agrees_with_the_toolkits_calculator(tmp_path: Path) -> None:
    require("g++")
    include = toolkit()
    if not (include / "cuda_occupancy.h").exists():
        pytest.skip("the toolkit has no occupancy calculator")
    (tmp_path / "occupancy.cpp").write_text(PROGRAM)
    command = ["g++", "-isystem", str(include), "occupancy.cpp", "-o", "occupancy"]
    subprocess.run(command, cwd=tmp_path, check=True)
    cases = [
        (TARGETS[name], threads, registers, shared, barriers)
        for name in NUMBERS
        for threads, registers in product(THREADS, REGISTERS)
        for shared in (*SHARED, TARGETS[name].shared_limit)
        for barriers in BARRIERS
    ]
    lines = [
        f"{target.name[3:]} {threads} {registers} {shared} {barriers} {target.resident_threads} "
        f"{target.shared_limit + target.reserved_shared} {target.shared_limit} "
        f"{target.reserved_shared}"
        for target, threads, registers, shared, barriers in cases
    ]
    done = subprocess.run(
        [tmp_path / "occupancy"], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    wanted = [int(line) for line in done.stdout.split()]
    found = [resident_blocks(*case) for case in cases]
    wrong = [
        (case[0].name, *case[1:], mine, theirs)
        for case, mine, theirs in zip(cases, found, wanted, strict=True)
        if mine != theirs
    ]
    assert wrong[:5] == []


@pytest.mark.parametrize(
    ("target", "threads", "registers", "shared", "blocks"),
    [
        ("sm_80", 256, 32, 0, 8),
        ("sm_86", 256, 32, 0, 6),
        ("sm_80", 512, 162, 0, 0),  # field fault E03
        ("sm_90", 128, 64, 100 * KIB, 2),
    ],
)
def test_some_that_are_known(
    target: str, threads: int, registers: int, shared: int, blocks: int
) -> None:
    assert resident_blocks(TARGETS[target], threads, registers, shared) == blocks
