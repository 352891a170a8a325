"""Words of CUDA and Python that have another form here, for the advice on unknown names."""

from __future__ import annotations

from collections.abc import Mapping

ADVICE: Mapping[str, str] = {
    "threadIdx": "declare the index with its perspective: `t: int @ thread[1] = id()`",
    "blockIdx": "declare the index with its perspective: `b: int @ block[1] = id()`",
    "blockDim": "count the threads: `count(thread[1])`",
    "gridDim": "count the blocks: `count(block[1])`",
    "warpSize": "a warp is `thread[32]`; count warps with `count(warp[1])`",
    "__syncthreads": "leave it out: barriers are derived from `partition` and `claim`",
    "__syncwarp": "leave it out: barriers are derived from `partition` and `claim`",
    "__shared__": "declare it as `shared name: f32[n]`",
    "True": "write `true`",
    "False": "write `false`",
    "None": "there is no null value: leave the declaration without `= ..` instead",
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
