"""What a target can do beyond the base. Code asks `target.has(Feature.WGMMA)`, never a number."""

from __future__ import annotations

from enum import Enum


class Feature(Enum):
    """An ability that some targets lack; the value is how `needs(...)` in a program spells it.

    Each is checked against the assembler in `tests/hardware/test_targets.py`.
    """

    LDMATRIX = "ldmatrix"
    F16_MMA = "f16_mma"  # m16n8k8; the k16 shape comes with AMPERE_MMA
    AMPERE_MMA = "ampere_mma"  # m16n8k16 f16 and bf16, m16n8k8 tf32, m16n8k32 int8, m8n8k4 f64
    BF16 = "bf16"  # fused multiply-add and conversions
    TF32 = "tf32"
    CP_ASYNC = "cp_async"
    MBARRIER = "mbarrier"
    REDUX = "redux"
    FP8 = "fp8"  # conversions and m16n8k32 products
    BF16_ADD = "bf16_add"  # plain add, subtract, multiply; without it they go through fma
    MBARRIER_TRY_WAIT = "mbarrier_try_wait"
    STMATRIX = "stmatrix"
    ELECT = "elect"
    TMA = "tma"  # bulk and tensor-map copies
    PROXY_FENCE = "proxy_fence"  # fence.proxy.async
    CLUSTER = "cluster"  # cluster barriers, distributed shared memory, multicast
    DEPENDENT_LAUNCH = "dependent_launch"  # griddepcontrol
    VECTOR_REDUCTION = "vector_reduction"  # red.global.add.v2.f32 and wider
    BF16_ATOMIC = "bf16_atomic"
    WGMMA = "wgmma"
    SETMAXNREG = "setmaxnreg"
    TCGEN05 = "tcgen05"
    F32_PAIRS = "f32_pairs"  # add, mul, fma on f32x2

    def __str__(self) -> str:
        return self.value
