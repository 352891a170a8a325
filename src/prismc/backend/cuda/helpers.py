"""Small device functions that generated text calls; a module contains those that it uses.

They exist for the float types that C++ lacks, whose bits are carried in unsigned integers, and for
reading the same bits as another type. Conversions and arithmetic round to nearest even; the 8-bit
types saturate. (PTX ISA, "cvt", "Half Precision Floating Point Instructions".)
"""

from __future__ import annotations

from prismc.backend.cuda.helper import Helper, function
from prismc.backend.cuda.mbarrier_helpers import mbarrier_helpers
from prismc.hardware.features import Feature
from prismc.hardware.targets import DEFAULT_TARGET, Target


def _assembler(signature: str, result: str, text: str) -> str:
    """A function that is one pure asm statement."""
    return function(signature, f"{result} y;", f"asm({text});", "return y;")


_BITS_AS = """\
template <typename To, typename From>
__device__ __forceinline__ To bits_as(From from) {
    union { From from; To to; } both = {from};
    return both.to;
}
"""

# The counter goes round: from the last block's arrival it is 0 again. Its order covers the whole
# block, whose threads wait before the arrival and for its answer. (PTX ISA, "atom", "Memory
# Consistency Model", "Causality order".)
_LAST_BLOCK = function(
    "bool last_block(unsigned int *counter)",
    "unsigned int before = 0, last = gridDim.x - 1;",
    "if (threadIdx.x == 0) {",
    '    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"',
    '        : "=r"(before) : "l"(counter), "r"(last) : "memory");',
    "}",
    "return __syncthreads_or(threadIdx.x == 0 && before == last);",
)

# What the driver encodes (CUDA driver API, `CUtensorMap`).
_TENSOR_MAP = "struct __align__(64) TensorMap { unsigned char bytes[128]; };\n"

# A matrix descriptor: the address in units of 16 bytes, beside the fields that are known. (PTX ISA,
# "Matrix Descriptor Format".) It is a sum of 32 bits, so that the matrices of an array share all
# but one operation. In a cluster an address also tells the block, above its 18 bits.
_MATRIX_IN_BLOCK, _MATRIX_IN_CLUSTER = (
    function(
        "unsigned long long matrix_at(\n"
        "    const void *array, unsigned int offset, unsigned long long fields)",
        "unsigned int address = (unsigned int)__cvta_generic_to_shared(array);",
        f"unsigned int start = (unsigned int)fields + {units} + (offset >> 4);",
        "return fields >> 32 << 32 | start;",
    )
    for units in ("(address >> 4)", "(address >> 4 & 0x3fffu)")
)

# The address of shared memory in a register, whose value the CUDA compilers do not know. It takes
# three instructions from sm_90 on, the block's place in its cluster among them, which they would
# rather repeat in each turn of a loop than keep.
_KEPT_ADDRESS = function(
    "unsigned char *kept_address(unsigned char *shared)",
    "unsigned int address = (unsigned int)__cvta_generic_to_shared(shared);",
    'asm("" : "+r"(address));',
    "return (unsigned char *)__cvta_shared_to_generic(address);",
)

# A cooperative launch has memory of its own for this, whose address the driver puts into two
# registers; its second word is the barrier. The blocks' arrivals add up to 2^31, so that the last
# one turns over the highest bit, and the others are 0 again. (PTX ISA, "%envreg<32>", "Memory
# Consistency Model".)
_GRID_BARRIER = function(
    "void grid_barrier()",
    "__syncthreads();",
    "if (threadIdx.x == 0) {",
    "    unsigned int high, low, before;",
    '    asm volatile("mov.b32 %0, %%envreg1;" : "=r"(high));',
    '    asm volatile("mov.b32 %0, %%envreg2;" : "=r"(low));',
    "    unsigned int *word = (unsigned int *)((unsigned long long)high << 32 | low) + 1;",
    "    unsigned int arrival = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;",
    '    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"',
    '        : "=r"(before) : "l"(word), "r"(arrival) : "memory");',
    '    asm volatile("{\\n"',
    '        ".reg .b32 now;\\n"',
    '        ".reg .pred waits;\\n"',
    '        "again:\\n"',
    '        "ld.acquire.gpu.global.b32 now, [%0];\\n"',
    '        "xor.b32 now, now, %1;\\n"',
    '        "setp.ge.s32 waits, now, 0;\\n"',
    '        "@waits bra again;\\n"',
    '        "}" :: "l"(word), "r"(before) : "memory");',
    "}",
    "__syncthreads();",
)

# The barrier of a cluster (PTX ISA, "barrier.cluster"): what its threads did before is there for
# all behind it.
_CLUSTER_BARRIER = function(
    "void cluster_barrier()",
    'asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");',
    'asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");',
)

# The run-time's part of C's `assert`; no compiler declares it beforehand.
_ASSERT_FAIL = """\
extern "C" __device__ __attribute__((noreturn)) void __assertfail(
    const char *message, const char *file, unsigned int line, const char *function,
    decltype(sizeof(0)) character);
"""

# f32 with the last bit set when something was cut off: a later rounding to fewer bits is then
# correct (Boldo and Melquiond, "When double rounding is odd", 2005).
_ROUND_TO_ODD = {
    f"f32_odd_{name}": Helper(
        text=function(
            f"float f32_odd_{name}({c_type} x)",
            f"float y = {convert}(x);",
            f"return __int_as_float(__float_as_int(y) | (({c_type})y != x));",
        )
    )
    for name, c_type, convert in (
        ("i32", "int", "__int2float_rz"),
        ("u32", "unsigned int", "__uint2float_rz"),
        ("i64", "long long", "__ll2float_rz"),
        ("u64", "unsigned long long", "__ull2float_rz"),
        ("f64", "double", "__double2float_rz"),
    )
}

_F16 = {
    "f16_from_f32": Helper(
        text=_assembler(
            "f16 f16_from_f32(float x)", "f16", '"cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x)'
        )
    ),
    "f32_from_f16": Helper(
        text=_assembler(
            "float f32_from_f16(f16 x)", "float", '"cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x)'
        )
    ),
} | {
    f"f16_{name}": Helper(
        text=_assembler(
            f"f16 f16_{name}(f16 a, f16 b)",
            "f16",
            f'"{name}.rn.f16 %0, %1, %2;" : "=h"(y) : "h"(a), "h"(b)',
        )
    )
    for name in ("add", "sub", "mul")
}

_BF16 = {
    "f32_from_bf16": Helper(
        text=function(
            "float f32_from_bf16(bf16 x)", "return __uint_as_float((unsigned int)x << 16);"
        )
    ),
}

# One rounding each: a * 1 + b, b * -1 + a, a * b - 0. Plain `add.bf16` needs sm_90.
_BF16_NATIVE = {
    "bf16_from_f32": Helper(
        text=_assembler(
            "bf16 bf16_from_f32(float x)", "bf16", '"cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x)'
        )
    ),
} | {
    f"bf16_{name}": Helper(
        text=_assembler(
            f"bf16 bf16_{name}(bf16 a, bf16 b)",
            "bf16",
            f'"fma.rn.bf16 %0, {first}, {second}, {third};" '
            f': "=h"(y) : "h"(a), "h"(b), "h"((bf16){constant})',
        )
    )
    for name, first, second, third, constant in (
        ("add", "%1", "%3", "%2", "0x3f80"),
        ("sub", "%2", "%3", "%1", "0xbf80"),
        ("mul", "%1", "%2", "%3", "0x8000"),
    )
}

_BF16_EMULATED = {
    "bf16_from_f32": Helper(
        text=function(
            "bf16 bf16_from_f32(float x)",
            "unsigned int bits = __float_as_uint(x);",
            "if (x != x) return 0x7fff;",
            "return (bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);",
        )
    ),
} | {
    f"bf16_{name}": Helper(
        text=function(
            f"bf16 bf16_{name}(bf16 a, bf16 b)",
            f"return bf16_from_f32(f32_from_bf16(a) {sign} f32_from_bf16(b));",
        ),
        calls=("f32_from_bf16", "bf16_from_f32"),
    )
    for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"))
}

_TF32 = {
    "f32_from_tf32": Helper(
        text=function("float f32_from_tf32(tf32 x)", "return __uint_as_float(x);")
    ),
}

_TF32_NATIVE = {
    "tf32_from_f32": Helper(
        text=_assembler(
            "tf32 tf32_from_f32(float x)", "tf32", '"cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x)'
        )
    ),
}

_TF32_EMULATED = {
    "tf32_from_f32": Helper(
        text=function(
            "tf32 tf32_from_f32(float x)",
            "unsigned int bits = __float_as_uint(x);",
            "bool is_finite = (bits & 0x7f800000) != 0x7f800000;",
            "return is_finite ? (bits + 0x1000) & 0xffffe000 : bits;",
        )
    ),
}


def _f8_native(name: str, format: str) -> dict[str, Helper]:
    unpack = (
        '"{ .reg .b32 both; .reg .b16 low, high; '
        f"cvt.rn.f16x2.{format}x2 both, %1; "
        'mov.b32 {low, high}, both; cvt.f32.f16 %0, low; }"'
    )
    return {
        f"{name}_from_f32": Helper(
            text=function(
                f"{name} {name}_from_f32(float x)",
                "unsigned short y;",
                f'asm("cvt.rn.satfinite.{format}x2.f32 %0, %1, %2;" '
                ': "=h"(y) : "f"(0.0f), "f"(x));',
                f"return ({name})y;",
            )
        ),
        f"f32_from_{name}": Helper(
            text=_assembler(
                f"float f32_from_{name}({name} x)",
                "float",
                f'{unpack} : "=f"(y) : "h"((unsigned short)x)',
            )
        ),
    }


def _f8_rounding(name: str, mantissa: int, bias: int, largest: str) -> Helper:
    """Rounding by integer arithmetic; numbers below the least normal one are rounded by a sum in
    which the least subnormal is the last place."""
    shift = 23 - mantissa
    least_normal = (128 - bias) << 23
    sum_bits = (151 - bias - mantissa) << 23
    return Helper(
        text=function(
            f"{name} {name}_from_f32(float x)",
            "if (x != x) return 0x7f;",
            "unsigned int sign = __float_as_uint(x) >> 24 & 0x80;",
            f"float size = fminf(fabsf(x), {largest});",
            "unsigned int bits = __float_as_uint(size);",
            f"unsigned int even = bits + 0x{(1 << (shift - 1)) - 1:x} + (bits >> {shift} & 1);",
            f"unsigned int normal = (even >> {shift}) - {(127 - bias) << mantissa};",
            f"unsigned int sum = __float_as_uint(size + __int_as_float(0x{sum_bits:x}));",
            f"bool is_normal = bits >= 0x{least_normal:x};",
            f"return ({name})(sign | (is_normal ? normal : sum - 0x{sum_bits:x}));",
        )
    )


_F8_EMULATED = {
    "f8e4m3_from_f32": _f8_rounding("f8e4m3", 3, 7, "448.0f"),
    "f8e5m2_from_f32": _f8_rounding("f8e5m2", 2, 15, "57344.0f"),
    "f32_from_f8e4m3": Helper(
        text=function(
            "float f32_from_f8e4m3(f8e4m3 x)",
            "float size = __uint_as_float((x & 0x7fu) << 20) * __int_as_float(0x7b800000);",
            "if ((x & 0x7f) == 0x7f) size = __int_as_float(0x7fffffff);",
            "return x & 0x80 ? -size : size;",
        )
    ),
    # f8e5m2 is the upper byte of f16.
    "f32_from_f8e5m2": Helper(
        text=function("float f32_from_f8e5m2(f8e5m2 x)", "return f32_from_f16((f16)(x << 8));"),
        calls=("f32_from_f16",),
    ),
}
_F8_NATIVE = _f8_native("f8e4m3", "e4m3") | _f8_native("f8e5m2", "e5m2")


def helpers_for(target: Target, *, has_clusters: bool = False) -> dict[str, Helper]:
    """All helpers as they read on `target`, each after those it calls."""
    matrix_at = _MATRIX_IN_CLUSTER if has_clusters else _MATRIX_IN_BLOCK
    return (
        {"bits_as": Helper(text=_BITS_AS), "__assertfail": Helper(text=_ASSERT_FAIL)}
        | {"last_block": Helper(text=_LAST_BLOCK)}
        | {"TensorMap": Helper(text=_TENSOR_MAP), "matrix_at": Helper(text=matrix_at)}
        | {"kept_address": Helper(text=_KEPT_ADDRESS)}
        | {"cluster_barrier": Helper(text=_CLUSTER_BARRIER)}
        | {"grid_barrier": Helper(text=_GRID_BARRIER)}
        | mbarrier_helpers(target)
        | _ROUND_TO_ODD
        | _F16
        | _BF16
        | (_BF16_NATIVE if target.has(Feature.BF16) else _BF16_EMULATED)
        | _TF32
        | (_TF32_NATIVE if target.has(Feature.TF32) else _TF32_EMULATED)
        | (_F8_NATIVE if target.has(Feature.FP8) else _F8_EMULATED)
    )


# They have the same names on all targets.
HELPER_NAMES = frozenset(helpers_for(DEFAULT_TARGET))
