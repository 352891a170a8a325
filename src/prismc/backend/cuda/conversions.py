"""Values of one type as another, in C++, which lacks some of the types."""

from __future__ import annotations

from collections.abc import Callable

from prismc.backend.cuda import expression as cpp
from prismc.backend.cuda.expression import Expression
from prismc.backend.cuda.literals import constant
from prismc.backend.cuda.types import CARRIERS, is_widening
from prismc.hardware.scalars import BOOL, F32, F64, I32, I64, U32, U64, Scalar


class Conversions:
    """`need` asks for a helper to be part of the module and returns its name."""

    def __init__(self, need: Callable[[str], str]) -> None:
        self._need = need

    def converted(self, source: Scalar, target: Scalar, operand: Expression) -> Expression:
        """A conversion by value."""
        if source is target:
            return operand
        if target is BOOL:
            return self._is_nonzero(source, operand)
        if target in CARRIERS:
            return self.rounded(target, self._single(source, operand))
        if source in CARRIERS and target is F32:
            return self.widened(source, operand)
        cast = cpp.cast(target.c_name, self.widened(source, operand))
        if is_widening(source, target):
            return cpp.supplied(cast, operand, widens=True)
        return cast

    def _is_nonzero(self, source: Scalar, operand: Expression) -> Expression:
        zero = cpp.literal("0")
        if source in CARRIERS:
            mask = cpp.literal(f"0x{(1 << (source.bits - 1)) - 1:x}")
            return cpp.binary(cpp.binary(operand, "&", mask), "!=", zero)
        return cpp.binary(operand, "!=", constant(source, 0))

    def _single(self, source: Scalar, operand: Expression) -> Expression:
        """The operand as an f32 that rounds further as the operand itself would."""
        if source is F32 or source in CARRIERS:
            return self.widened(source, operand)
        if source in (I32, U32, I64, U64, F64):
            return cpp.call(self._need(f"f32_odd_{source.name}"), operand)
        return cpp.cast("float", operand)

    def widened(self, scalar: Scalar, operand: Expression) -> Expression:
        """The operand as f32 if C++ lacks its type, else the operand."""
        if scalar not in CARRIERS:
            return operand
        return cpp.call(self._need(f"f32_from_{scalar.name}"), operand)

    def rounded(self, scalar: Scalar, single: Expression) -> Expression:
        """An f32 rounded to a type that C++ lacks."""
        return cpp.call(self._need(f"{scalar.name}_from_f32"), single)
