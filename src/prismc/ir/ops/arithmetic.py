"""Operations without effects on numbers, bools and vectors.

Integers are two's complement with CUDA's operators: `div` truncates, `rem` takes the dividend's
sign, `shr` is arithmetic on signed types, shift counts are taken as they are (counts at or above
the width are the program's fault). Floats are IEEE with round to nearest even; `min` and `max`
return the number when one side is NaN (CUDA Programming Guide, "Mathematical Functions").
"""

from __future__ import annotations

from enum import Enum

from prismc.ir.core import Op, Value


class Constant(Op):
    """A number or bool known now; the result's type says what the value is."""

    spelling = "const"
    value: int | float | bool


class BinaryOperator(Enum):
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    REM = "rem"
    AND = "and"
    OR = "or"
    XOR = "xor"
    SHL = "shl"
    SHR = "shr"
    MIN = "min"
    MAX = "max"


class Binary(Op):
    """Both sides and the result have one type, except that a shift count may be any integer.

    On bools only `and or xor`; `rem and or xor shl shr` not on floats.
    """

    selector = ("operator", BinaryOperator)
    operator: BinaryOperator
    left: Value
    right: Value


class UnaryOperator(Enum):
    NEG = "neg"
    NOT = "not"
    ABS = "abs"
    POPC = "popc"
    CLZ = "clz"
    CTZ = "ctz"


class Unary(Op):
    """`not` flips the bits of an integer or a bool. `popc clz ctz` count in an integer and give an
    i32; `clz` and `ctz` of 0 are the type's width."""

    selector = ("operator", UnaryOperator)
    operator: UnaryOperator
    operand: Value


class Comparison(Enum):
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"


class Compare(Op):
    """Two values of one type to a bool; with NaN only `ne` is true."""

    selector = ("comparison", Comparison)
    comparison: Comparison
    left: Value
    right: Value


class Select(Op):
    """`when_true` or `when_false`; both exist already."""

    spelling = "select"
    condition: Value
    when_true: Value
    when_false: Value


class Convert(Op):
    """By value, as a C cast: to an integer it truncates toward zero, to bool it compares with 0."""

    spelling = "convert"
    operand: Value


class Bitcast(Op):
    """The same bits as another scalar or vector of the same size."""

    spelling = "bitcast"
    operand: Value


class MakeVector(Op):
    """A vector of its scalars, lane 0 first."""

    spelling = "vector"
    elements: tuple[Value, ...]


class Extract(Op):
    """One lane of a vector."""

    spelling = "extract"
    vector: Value
    lane: int


class Insert(Op):
    """A vector with one lane replaced."""

    spelling = "insert"
    vector: Value
    element: Value
    lane: int
