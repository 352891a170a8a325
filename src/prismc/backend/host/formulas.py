"""Conditions of a launch as C, which is C++ too."""

from __future__ import annotations

from collections.abc import Mapping

from prismc.backend.host.types import C_SCALARS
from prismc.hardware.scalars import Kind
from prismc.ir.conditions import Formula

_LOGICAL = {"and": "&&", "or": "||"}
# Integer literals of at least 32 bits; narrower ones are of type int in C.
_SUFFIXES = {"u32": "u", "i64": "ll", "u64": "ull"}
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def c_formula(formula: Formula, parameters: Mapping[str, str]) -> str:
    """C text of a formula; `parameters` has the text of each parameter by its name.

    Parentheses stand around everything that is not a word.
    """
    operands = [c_formula(each, parameters) for each in formula.operands]
    match formula.operator:
        case "parameter":
            return parameters[formula.name]
        case "constant":
            return _literal(formula)
        case "aligned":
            return f"((uintptr_t){operands[0]} % {operands[1]} == 0)"
        case "not":
            return f"(!{operands[0]})"
        case "negate":
            return f"(({C_SCALARS[formula.scalar.name]})-{operands[0]})"
        case "convert":
            return f"(({C_SCALARS[formula.scalar.name]}){operands[0]})"
        case "min" | "max" as name:
            sign = "<" if name == "min" else ">"
            return f"({operands[0]} {sign} {operands[1]} ? {operands[0]} : {operands[1]})"
        case "and" | "or" as word:
            return f"({operands[0]} {_LOGICAL[word]} {operands[1]})"
        case "/" | "%" as sign if formula.operands[1].operator != "constant":
            # What a division by zero gives on the device is no reason to end the host program.
            return f"({operands[1]} ? {operands[0]} {sign} {operands[1]} : 0)"
        case sign if sign in _COMPARISONS:
            return f"({operands[0]} {sign} {operands[1]})"
        case sign:
            # C computes narrow integers as int: the type cuts the result off.
            return f"(({C_SCALARS[formula.scalar.name]})({operands[0]} {sign} {operands[1]}))"


def _literal(formula: Formula) -> str:
    value, scalar = formula.constant, formula.scalar
    if scalar.kind is Kind.BOOL:
        return "true" if value else "false"
    if scalar.is_float:
        text = float(value).hex()
        text = f"{text}f" if scalar.bits == 32 else text
    else:
        text = f"{int(value)}{_SUFFIXES.get(scalar.name, '')}"
        if value == -(2**31):
            text = "INT32_MIN"
        elif value == -(2**63):
            text = "INT64_MIN"
    return f"({text})" if text.startswith("-") else text
