"""The scalar types of the machine, one row each."""

from __future__ import annotations

from enum import Enum

from prismc.source.record import Record


class Kind(Enum):
    """What arithmetic a scalar has."""

    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"


class Scalar(Record):
    """One scalar type: its Prism name, its size in bytes and bits, and its C++ spelling."""

    name: str
    kind: Kind
    bits: int
    c_name: str
    ptx_register: str

    @property
    def size(self) -> int:
        """Bytes in memory; a bool takes one, a tf32 lives in a 32-bit word."""
        return max(1, self.bits // 8)

    @property
    def is_integer(self) -> bool:
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    @property
    def is_float(self) -> bool:
        return self.kind is Kind.FLOAT

    @property
    def ptx_name(self) -> str:
        """The type as PTX writes it: `s32` for i32; 8-bit floats are `e4m3` and `e5m2`."""
        if self.kind is Kind.SIGNED:
            return f"s{self.bits}"
        return self.name.removeprefix("f8")

    def __str__(self) -> str:
        return self.name


def _row(name: str, kind: Kind, bits: int, c_name: str, ptx_register: str) -> Scalar:
    return Scalar(name=name, kind=kind, bits=bits, c_name=c_name, ptx_register=ptx_register)


BOOL = _row("bool", Kind.BOOL, 8, "bool", "r")
I8 = _row("i8", Kind.SIGNED, 8, "signed char", "h")
I16 = _row("i16", Kind.SIGNED, 16, "short", "h")
I32 = _row("i32", Kind.SIGNED, 32, "int", "r")
I64 = _row("i64", Kind.SIGNED, 64, "long long", "l")
U8 = _row("u8", Kind.UNSIGNED, 8, "unsigned char", "h")
U16 = _row("u16", Kind.UNSIGNED, 16, "unsigned short", "h")
U32 = _row("u32", Kind.UNSIGNED, 32, "unsigned int", "r")
U64 = _row("u64", Kind.UNSIGNED, 64, "unsigned long long", "l")
F16 = _row("f16", Kind.FLOAT, 16, "f16", "h")
BF16 = _row("bf16", Kind.FLOAT, 16, "bf16", "h")
TF32 = _row("tf32", Kind.FLOAT, 32, "tf32", "r")
F32 = _row("f32", Kind.FLOAT, 32, "float", "f")
F64 = _row("f64", Kind.FLOAT, 64, "double", "d")
F8E4M3 = _row("f8e4m3", Kind.FLOAT, 8, "f8e4m3", "h")
F8E5M2 = _row("f8e5m2", Kind.FLOAT, 8, "f8e5m2", "h")

SCALARS: dict[str, Scalar] = {
    scalar.name: scalar
    for scalar in (
        BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, TF32, F32, F64, F8E4M3, F8E5M2,
    )
}  # fmt: skip

# The C spellings that the language accepts beside the names above.
ALIASES: dict[str, Scalar] = {"int": I32, "uint": U32, "float": F32, "double": F64}
