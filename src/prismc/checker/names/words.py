"""Words of CUDA and Python that have another form here, for the advice on unknown names."""

from __future__ import annotations

from collections.abc import Mapping

# CUDA's functions of numbers, each also with an `f` at its end, that `std.math` has.
_MATH = """
exp exp2 exp10 expm1 log log2 log10 log1p sqrt rsqrt cbrt sin cos tan tanh erf floor ceil trunc
round pow fmod atan2 copysign fma
"""

_INFINITE = "write `1.0 / 0.0`, which is infinite"
_DERIVED = "leave it out: barriers are derived from `partition` and `claim`"

ADVICE: Mapping[str, str] = {
    **{
        name + suffix: f"import it: `from std.math import {name}`"
        for name in _MATH.split()
        for suffix in ("", "f")
    },
    "fabs": "call `abs`",
    "fabsf": "call `abs`",
    "fmin": "call `min`",
    "fminf": "call `min`",
    "fmax": "call `max`",
    "fmaxf": "call `max`",
    "atomicAdd": "import `fetch_add` from `std.atomic`",
    "atomicMin": "import `fetch_min` from `std.atomic`",
    "atomicMax": "import `fetch_max` from `std.atomic`",
    "atomicSub": "import `fetch_sub` from `std.atomic`",
    "atomicAnd": "import `fetch_and` from `std.atomic`",
    "atomicOr": "import `fetch_or` from `std.atomic`",
    "atomicXor": "import `fetch_xor` from `std.atomic`",
    "atomicExch": "import `exchange` from `std.atomic`",
    "atomicCAS": "import `compare_exchange` from `std.atomic`",
    "__shfl_sync": "import `shfl_idx` from `std.shuffle`",
    "__shfl_up_sync": "import `shfl_up` from `std.shuffle`",
    "__shfl_down_sync": "import `shfl_down` from `std.shuffle`",
    "__shfl_xor_sync": "import `shfl_xor` from `std.shuffle`",
    "__ballot_sync": "import `ballot` from `std.vote`",
    "__any_sync": "import `any` from `std.vote`",
    "__all_sync": "import `all` from `std.vote`",
    "__reduce_add_sync": "import `redux_sum` from `std.warp`",
    "__match_any_sync": "import `match_any` from `std.warp`",
    "__popc": "call `popc`",
    "__clz": "call `clz`",
    "__ffs": "call `ctz`: it counts from 0",
    "__expf": "import it: `from std.math import fast_exp`",
    "make_float2": "write `vec2(x, y)`",
    "make_float4": "write `vec4(x, y, z, w)`",
    "printf": "write `print(..)`: `--asserts` keeps it",
    "INFINITY": _INFINITE,
    "inf": _INFINITE,
    "FLT_MAX": "write `bits(u32(0x7f7fffff))` where an f32 is expected; infinity is `1.0 / 0.0`",
    "nullptr": "there is no null pointer: each pointer is declared with its value",
    "NULL": "there is no null pointer: each pointer is declared with its value",
    "float2": "write `vec(f32, 2)`",
    "float4": "write `vec(f32, 4)`",
    "int2": "write `vec(i32, 2)`",
    "int4": "write `vec(i32, 4)`",
    "size_t": "write `u64`",
    "threadIdx": "declare the index with its perspective: `t: int @ thread[1] = id()`",
    "blockIdx": "declare the index with its perspective: `b: int @ block[1] = id()`",
    "blockDim": "count the threads, in code of the block: `count(thread[1])`",
    "gridDim": "count the blocks, in code of the grid: `blocks: int = count(block[1])`",
    "warpSize": "a warp is `thread[32]`; count warps with `count(warp[1])`",
    "__syncthreads": _DERIVED,
    "__syncwarp": _DERIVED,
    "syncthreads": _DERIVED,
    "syncwarp": _DERIVED,
    "sync": _DERIVED,
    "barrier": _DERIVED,
    "__threadfence": _DERIVED,
    "__threadfence_block": _DERIVED,
    "sum": "import it: `from std.block import sum` adds up the values of a group's threads",
    "__ldg": "write `p[i]`: `ptr(const T)` is read so where it may be",
    "__shared__": "declare it as `shared name: f32[n]`",
    "True": "write `true`",
    "False": "write `false`",
    "None": "there is no null value: declare without one, `x: int`; no result, no `->`",
    "range": "`range(..)` stands only after `for .. in`",
    "len": "an array's length is the constant in its type",
    "unsigned": "write `uint` or `u32`",
    "char": "write `i8` or `u8`",
    "short": "write `i16` or `u16`",
    "long": "write `i64`",
    "half": "write `f16`",
    "float16": "write `f16`",
    "float32": "write `f32`",
    "float64": "write `f64`",
    "bfloat16": "write `bf16`",
    "int8": "write `i8`",
    "int16": "write `i16`",
    "int32": "write `i32`",
    "int64": "write `i64`",
    "uint8": "write `u8`",
    "uint16": "write `u16`",
    "uint32": "write `u32`",
    "uint64": "write `u64`",
}
