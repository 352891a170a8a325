"""Names in the generated text: what is taken, and what a Prism name becomes beside it."""

from __future__ import annotations

import re

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
threadIdx blockIdx blockDim gridDim warpSize smem min max abs llabs fabs fabsf fmin fminf fmax fmaxf
assert printf NULL EOF NAN INFINITY HUGE_VAL M_PI M_E INT_MAX INT_MIN UINT_MAX CHAR_BIT RAND_MAX
errno stdin stdout stderr linux unix i386 dim3 main f16 bf16 tf32 f8e4m3 f8e5m2 bits_as
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

_RESERVED = frozenset((_KEYWORDS + _CUDA).split())
# What neither a kernel nor a device function can be called.
TAKEN_SYMBOLS = _RESERVED | frozenset((_FUNCTIONS + _GLOBAL).split())

_NOT_IN_NAMES = re.compile(r"\W", re.ASCII)


def is_taken_symbol(symbol: str) -> bool:
    """Whether CUDA C++ cannot have a kernel called `symbol`."""
    return symbol in TAKEN_SYMBOLS or symbol.startswith("__")


def plain_name(hint: str) -> str:
    """`hint` as an identifier that no keyword, macro or helper has; "v" for an empty one."""
    name = _NOT_IN_NAMES.sub("_", hint) or "v"
    # Two underscores, or one before a capital, belong to the compiler everywhere.
    name = re.sub(r"__+", "_", name)
    if name[0].isdigit() or re.match(r"_[A-Z]", name):
        name = f"v{name}"
    return f"{name}_" if name in _RESERVED else name


class Scopes:
    """The names in use while a function is written, innermost scope last.

    A name is never given again while a scope that knows it is open, so no name hides another and
    a name alone tells the variable.
    """

    def __init__(self, outside: frozenset[str]) -> None:
        self._outside = outside
        # Each scope's names, and the next number to try for the names that it has made many of.
        self._scopes: list[dict[str, int]] = [{}]

    def open(self) -> None:
        self._scopes.append({})

    def close(self) -> None:
        self._scopes.pop()

    def new(self, hint: str) -> str:
        """A free name like `hint`, taken in the innermost scope."""
        base = plain_name(hint)
        known = (scope[base] for scope in reversed(self._scopes) if base in scope)
        number = next(known, 0)
        name = f"{base}_{number}" if number else base
        while name in self._outside or any(name in scope for scope in self._scopes):
            number += 1
            name = f"{base}_{number}"
        self._scopes[-1].setdefault(name, 1)
        self._scopes[-1][base] = number + 1
        return name
