"""Types of kernel parameters as C, C++ and Prism spell them."""

from __future__ import annotations

from typing import Any

from prismc.backend.cuda_module import KernelParameter
from prismc.hardware.scalars import SCALARS

# Floats that C lacks are structs of `runtime.h`, except tf32: a float whose low bits are unused.
C_SCALARS = {
    "bool": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "f16": "prism_f16",
    "bf16": "prism_bf16", "tf32": "float", "f32": "float", "f64": "double",
    "f8e4m3": "prism_f8e4m3", "f8e5m2": "prism_f8e5m2",
}  # fmt: skip

# How NumPy holds them: bf16 as float32, rounded; 8-bit floats as their bits.
NUMPY_SCALARS = {
    "bool": "bool_", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "f16": "float16", "bf16": "float32",
    "tf32": "float32", "f32": "float32", "f64": "float64", "f8e4m3": "uint8", "f8e5m2": "uint8",
}  # fmt: skip

# Scalars whose vectors CUDA has too: `float4` (CUDA's `vector_types.h`).
_CUDA_VECTORS = {
    "i8": "char", "i16": "short", "i32": "int", "u8": "uchar", "u16": "ushort", "u32": "uint",
    "f32": "float", "f64": "double", "i64": "longlong", "u64": "ulonglong",
}  # fmt: skip

# CUtensorMapDataType and CUtensorMapSwizzle, cuda.h; bits of other types go as unsigned integers.
_MAP_TYPES = {
    "bool": 0, "u8": 0, "i8": 0, "f8e4m3": 0, "f8e5m2": 0, "u16": 1, "i16": 1, "u32": 2, "i32": 3,
    "u64": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9, "tf32": 11,
}  # fmt: skip
_MAP_SWIZZLES = {"": 0, "swizzle32": 1, "swizzle64": 2, "swizzle128": 3}

_FIELDS = "xyzw"


def prism_type(parameter: KernelParameter) -> str:
    """As the program has it: `ptr(const f32)`."""
    element = parameter.scalar
    if parameter.is_map:
        swizzle = f", {parameter.swizzle}" if parameter.swizzle else ""
        return f"tensor_map({element}[{', '.join(map(str, parameter.box))}]{swizzle})"
    if parameter.lanes > 1:
        element = f"vec({element}, {parameter.lanes})"
    if not parameter.is_pointer:
        return element
    return f"ptr({'const ' if parameter.is_const else ''}{element})"


def c_element(parameter: KernelParameter) -> str:
    """The C type of the value, or of what the pointer points to: `const float`, `prism_f32x4`.

    A tensor map is pointed to, on the host.
    """
    if parameter.is_map:
        return "const prism_tensor_map"
    name = C_SCALARS[parameter.scalar]
    if parameter.lanes > 1:
        name = vector_name(parameter)
    return f"const {name}" if parameter.is_const else name


def vector_name(parameter: KernelParameter) -> str:
    return f"prism_{parameter.scalar}x{parameter.lanes}"


def vector_type(parameter: KernelParameter) -> str:
    """The definition of a vector's struct for C and C++, aligned to its size; once in a program."""
    scalar, lanes, name = parameter.scalar, parameter.lanes, vector_name(parameter)
    element = C_SCALARS[scalar]
    members = f"{', '.join(_FIELDS[:lanes])}" if lanes <= len(_FIELDS) else f"lane[{lanes}]"
    size = SCALARS[scalar].size * lanes
    lines = [
        f"#ifndef {name.upper()}_",
        f"#define {name.upper()}_",
        f"typedef struct __attribute__((aligned({size}))) {name} {{ {element} {members}; }}",
        f"    {name};",
    ]
    # CUDA 13 has two types for each vector of four 8-byte elements.
    if scalar in _CUDA_VECTORS and lanes <= (4 if SCALARS[scalar].size < 8 else 2):
        theirs = f"{_CUDA_VECTORS[scalar]}{lanes}"
        lines += [
            "#ifdef __cplusplus",
            f"struct {theirs};",
            f"template <> struct prism_same_<{name}, {theirs}> : std::true_type {{}};",
            "#endif",
        ]
    return "\n".join([*lines, "#endif"])


def pointee_alignment(parameter: KernelParameter) -> int:
    """Bytes that a pointer's address is a multiple of; 0 for a value."""
    return SCALARS[parameter.scalar].size * parameter.lanes if parameter.is_pointer else 0


def map_constants(parameter: KernelParameter, name: str) -> str:
    """The initialiser of a `prism_map_` for a tensor map."""
    box = ", ".join(map(str, parameter.box))
    kinds = f"{_MAP_TYPES[parameter.scalar]}, {_MAP_SWIZZLES[parameter.swizzle]}"
    size = SCALARS[parameter.scalar].size
    return f'{{"{name}", {kinds}, {size}, {len(parameter.box)}, {{{box}}}}}'


def map_element(parameter: KernelParameter) -> str:
    """The C type of the elements that a tensor map describes."""
    return C_SCALARS[parameter.scalar]


def launch_facts(parameter: KernelParameter) -> dict[str, Any]:
    """What a launch from Python knows of a parameter, by the fields of `Parameter` in
    `prismc.driver.kernels`."""
    is_array = parameter.is_pointer or parameter.is_map
    return {
        "name": parameter.name,
        "type": prism_type(parameter),
        "kind": "array" if is_array else "vector" if parameter.lanes > 1 else "scalar",
        "dtype": parameter.scalar,
        "is_const": parameter.is_const,
        "lanes": parameter.lanes,
        "alignment": pointee_alignment(parameter) or 1,
        "box": parameter.box,
        "swizzle": parameter.swizzle.removeprefix("swizzle") or "none",
    }
