"""Conditions of a launch as Python, which computes them as the kernel does.

The text calls functions of `prismc.driver.arithmetic`, named `ARITHMETIC`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from prismc.hardware.scalars import Kind, Scalar
from prismc.ir.conditions import Condition, Formula
from prismc.source.identifiers import python_names

ARITHMETIC = "_arithmetic"
_USED = ("bool", "float", "min", "max")  # functions of Python that formulas call
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def python_condition(condition: Condition, names: Sequence[str]) -> str:
    """A condition that a host computes, as a function of all parameters in their order."""
    assert condition.formula is not None
    own = python_names(names, (ARITHMETIC, *_USED))
    holds = python_formula(condition.formula, dict(zip(names, own, strict=True)))
    return f"lambda {', '.join(own)}: {_bare(holds)}" if own else f"lambda: {_bare(holds)}"


def _bare(text: str) -> str:
    """`text` without parentheses around all of it."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and at < len(text) - 1:
            return text
    return text[1:-1] if text.startswith("(") else text


def python_formula(formula: Formula, parameters: Mapping[str, str]) -> str:
    """Python text of a formula; `parameters` has the text of each parameter by its name.

    A pointer stands for its address. Parentheses stand around operands that are not a word.
    """
    operands = [python_formula(each, parameters) for each in formula.operands]
    match formula.operator:
        case "parameter":
            name = parameters[formula.name]
            # A number of Python has more digits than the kernel gets.
            return _typed(formula.scalar, name) if formula.scalar.name == "f32" else name
        case "constant":
            return _literal(formula)
        case "aligned":
            return f"({operands[0]} % {operands[1]} == 0)"
        case "not":
            return f"(not {operands[0]})"
        case "negate":
            return _typed(formula.scalar, f"-{operands[0]}")
        case "convert":
            return _typed(formula.scalar, operands[0])
        case "min" | "max" as name:
            return f"{name}({operands[0]}, {operands[1]})"
        case "/":
            return _typed(formula.scalar, f"{ARITHMETIC}.quotient({operands[0]}, {operands[1]})")
        case "%":
            return f"{ARITHMETIC}.remainder({operands[0]}, {operands[1]})"
        case "<<" | ">>" as sign:
            shift = f"({operands[1]} & {formula.scalar.bits - 1})"
            return _typed(formula.scalar, f"{operands[0]} {sign} {shift}")
        case sign if sign in ("and", "or", *_COMPARISONS):
            return f"({operands[0]} {sign} {operands[1]})"
        case sign:
            return _typed(formula.scalar, f"{operands[0]} {sign} {operands[1]}")


def _typed(scalar: Scalar, text: str) -> str:
    """`text` cut off or rounded to a type: numbers of Python have no width."""
    return f"bool({text})" if scalar.kind is Kind.BOOL else f"{ARITHMETIC}.{scalar.name}({text})"


def _literal(formula: Formula) -> str:
    value, scalar = formula.constant, formula.scalar
    if scalar.kind is Kind.BOOL:
        return str(bool(value))
    if scalar.is_float:
        return repr(float(value)) if isfinite(value) else f'float("{float(value)}")'
    return str(int(value)) if value >= 0 else f"({int(value)})"
