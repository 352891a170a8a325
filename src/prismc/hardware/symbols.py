"""Words that generated CUDA C++ cannot have as names: C++'s, CUDA's, and those of its own parts."""

from __future__ import annotations

import re

from prismc.hardware.scalars import SCALARS

# ISO C++17 [lex.key] and [lex.digraph], with what EDG and CUDA add.
_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern
false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
operator or or_eq private protected public register reinterpret_cast requires restrict return short
signed sizeof static static_assert static_cast struct switch template this thread_local throw true
try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor
xor_eq
"""

# Variables, types and functions that the generated text uses or that CUDA declares beforehand with
# a macro's force: a local name must not hide them.
_CUDA = """
threadIdx blockIdx blockDim gridDim warpSize smem smem_start min max abs llabs fabs fabsf fmin fminf
fmax fmaxf assert printf NULL EOF NAN INFINITY HUGE_VAL M_PI M_E INT_MAX INT_MIN UINT_MAX CHAR_BIT
RAND_MAX errno stdin stdout stderr linux unix i386 dim3 main f16 bf16 tf32 f8e4m3 f8e5m2 bits_as
"""

# Functions that CUDA declares with C linkage or builds in: no kernel can have such a symbol.
_FUNCTIONS = """
abs acos acosf acosh acoshf acospi acospif asin asinf asinh asinhf asinpi asinpif atan atan2 atan2f
atanf atanh atanhf atanpi atanpif cbrt cbrtf ceil ceilf clock clock64 copysign copysignf cos cosf
cosh coshf cospi cospif cyl_bessel_i0 cyl_bessel_i0f cyl_bessel_i1 cyl_bessel_i1f erf erfc erfcf
erfcinv erfcinvf erfcx erfcxf erff erfinv erfinvf exp exp10 exp10f exp2 exp2f expf expm1 expm1f fabs
fabsf fdim fdimf fdividef floor floorf fma fmaf fmax fmaxf fmin fminf fmod fmodf free frexp frexpf
hypot hypotf ilogb ilogbf isfinite isinf isnan j0 j0f j1 j1f jn jnf labs ldexp ldexpf lgamma lgammaf
llabs llmax llmin llrint llrintf llround llroundf log log10 log10f log1p log1pf log2 log2f logb
logbf logf lrint lrintf lround lroundf malloc max memcmp memcpy memmove memset min modf modff nan
nanf nearbyint nearbyintf nextafter nextafterf norm norm3d norm3df norm4d norm4df normcdf normcdff
normcdfinv normcdfinvf normf pow powf powi powif printf rcbrt rcbrtf remainder remainderf remquo
remquof rhypot rhypotf rint rintf rnorm rnorm3d rnorm3df rnorm4d rnorm4df rnormf round roundf rsqrt
rsqrtf scalbln scalblnf scalbn scalbnf signbit sin sincos sincosf sincospi sincospif sinf sinh sinhf
sinpi sinpif sqrt sqrtf tan tanf tanh tanhf tgamma tgammaf trunc truncf ullmax ullmin umax umin
vprintf y0 y0f y1 y1f yn ynf
"""

# Types and macros that NVRTC declares globally, and the word that PTX has for a warp's size.
_GLOBAL = """
WARP_SZ clock_t cudaError_t cudaStream_t max_align_t nullptr_t ptrdiff_t size_t std va_arg va_copy
va_end va_list va_start wint_t
"""

# Functions and types that the generated text has itself, beside `f32x4` and the like.
_PARTS = """
TensorMap bf16_add bf16_from_f32 bf16_mul bf16_sub bits_as cluster_barrier f16_add f16_from_f32
f16_mul f16_sub f32_from_bf16 f32_from_f16 f32_from_f8e4m3 f32_from_f8e5m2 f32_from_tf32
f32_odd_f64 f32_odd_i32 f32_odd_i64 f32_odd_u32 f32_odd_u64 f8e4m3_from_f32 f8e5m2_from_f32
grid_barrier kept_address last_block matrix_at mbarrier_arrive mbarrier_arrive_copies
mbarrier_arrive_far mbarrier_expect mbarrier_init mbarrier_sync mbarrier_wait mbarrier_wait_far
tf32_from_f32
"""

# What a variable cannot be called.
RESERVED_NAMES = frozenset((_KEYWORDS + _CUDA).split())
# What neither a kernel nor a device function can be called.
TAKEN_SYMBOLS = RESERVED_NAMES | frozenset((_FUNCTIONS + _GLOBAL + _PARTS).split())

_VECTOR = re.compile(rf"(?:{'|'.join(SCALARS)})x[0-9]+")


def is_taken_symbol(symbol: str) -> bool:
    """Whether the generated CUDA C++ cannot have a kernel called `symbol`."""
    is_vector = _VECTOR.fullmatch(symbol) is not None
    return is_vector or symbol in TAKEN_SYMBOLS or symbol.startswith("__")
