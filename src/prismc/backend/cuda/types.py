"""IR types as C++ text."""

from __future__ import annotations

from prismc.hardware.scalars import BF16, BOOL, F8E4M3, F8E5M2, F16, TF32, Scalar
from prismc.ir.types import ArrayType, MapType, PointerType, ScalarType, Type, VectorType

# Float types that C++ lacks live in unsigned integers; arithmetic on them goes through helpers.
CARRIERS: dict[Scalar, str] = {
    F16: "unsigned short",
    BF16: "unsigned short",
    TF32: "unsigned int",
    F8E4M3: "unsigned char",
    F8E5M2: "unsigned char",
}

_FIELDS = "xyzw"
MAP_NAME = "TensorMap"
WORD = 32


def scalar_of(type: Type) -> Scalar:
    """The scalar of a scalar type.

    Raises TypeError for other types.
    """
    if isinstance(type, ScalarType):
        return type.scalar
    raise TypeError(f"no scalar type: {type}")


def size_of(element: ScalarType | VectorType) -> int:
    """Bytes of an element in memory."""
    if isinstance(element, VectorType):
        return element.element.size * element.lanes
    return element.scalar.size


def is_narrow(scalar: Scalar) -> bool:
    """Whether C++ promotes the type to int before it computes."""
    return scalar.is_integer and scalar.bits < 32


def is_widening(source: Scalar, target: Scalar) -> bool:
    """Whether C++ itself makes an integer of `source` one of `target` beside another `target`."""
    return source.is_integer and target.is_integer and source.bits < target.bits == 64


def type_text(type: Type) -> str:
    """The type where no name follows; arrays have none."""
    match type:
        case ScalarType(scalar=scalar):
            return scalar.c_name
        case VectorType():
            return vector_name(type)
        case MapType():
            return MAP_NAME
        case PointerType(element=element, is_const=is_const):
            return f"{'const ' if is_const else ''}{type_text(element)} *"
    raise TypeError(f"no type of its own in C++: {type}")


def declarator(type: Type, name: str) -> str:
    """`float acc[4][8]`, `const float *A`, `int n`."""
    if isinstance(type, ArrayType):
        extents = "".join(f"[{extent}]" for extent in type.shape)
        return f"{type_text(type.element)} {name}{extents}"
    text = type_text(type)
    return f"{text}{name}" if text.endswith("*") else f"{text} {name}"


def reference(type: Type, name: str) -> str:
    """A C++ reference: `float (&acc)[4]`, `int &n`."""
    if isinstance(type, ArrayType):
        extents = "".join(f"[{extent}]" for extent in type.shape)
        return f"{type_text(type.element)} (&{name}){extents}"
    return declarator(type, f"&{name}")


def vector_name(type: VectorType) -> str:
    return f"{type.element.name}x{type.lanes}"


def is_long(type: VectorType) -> bool:
    """Whether lanes are elements of `.lane`, not members."""
    return type.lanes > len(_FIELDS) or (type.element.size == 1 and type.lanes == len(_FIELDS))


def lanes_in_word(type: VectorType) -> int:
    """How many lanes a word of 32 bits holds, where lanes are read by shifting words; else 0.

    Of single bytes the CUDA compilers make permutations, which cost more: they do not become part
    of an address.
    """
    is_narrow_lane = type.element is not BOOL and type.element.bits < WORD
    return WORD // type.element.bits if is_long(type) and is_narrow_lane else 0


def lane_field(type: VectorType, lane: int) -> str:
    """The member that is lane `lane`: `.x` to `.w`, or an element of `.lane`."""
    return f"lane[{lane}]" if is_long(type) else _FIELDS[lane]


def vector_struct(type: VectorType) -> str:
    """The definition of a vector's struct, aligned to its size so that one access moves it."""
    scalar = type.element.c_name
    members = f"{scalar} {', '.join(_FIELDS[: type.lanes])};"
    if is_long(type):
        members = f"{scalar} lane[{type.lanes}];"
    if in_word := lanes_in_word(type):
        members = f"union {{ {members} unsigned int word[{type.lanes // in_word}]; }};"
    size = type.element.size * type.lanes
    return f"struct __align__({size}) {vector_name(type)} {{ {members} }};"
