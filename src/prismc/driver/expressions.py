"""Arrays and numbers from the command line: `randn(64, 64)`, `4 * n`, `A @ B`. Nothing else.

Expressions are Python's, but only numbers, names, arithmetic, comparisons, indexes and the
functions and values below exist: a command line must not be able to run code. They are also reached
as NumPy's programmers write them: `np.max(x)` and `x.max()` are `max(x)`, `np.inf` is `inf`.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from prismc.driver.kernels import RunError

Array = npt.NDArray[Any]
Value = Any

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}

# Bits of the largest integer: no array and no scalar has as many.
_MOST_BITS = 1024

# What NumPy functions an expectation may call.
_FUNCTION_NAMES = """
    abs sqrt exp log sin cos tanh sum max min mean var std prod cumsum cumprod any all maximum
    minimum where sort argsort argmax argmin clip floor ceil round transpose reshape concatenate
    stack arange zeros ones full eye dot matmul outer convolve bincount histogram diff roll pad
    repeat tile array isnan isinf float32 float64 float16 int32 int64 uint32 uint8
    """
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())

# Values that have no literal; a parameter of the kernel may have such a name too, and comes first.
_VALUES = {"inf": math.inf, "nan": math.nan, "pi": math.pi}


class EvaluationFailed(RunError):
    """A well-formed expression without a value: shapes that do not fit, a division by 0."""


def parse(text: str) -> ast.expr:
    """The expression in a text. Raises RunError."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise RunError(f"`{text.strip()}` is no expression: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise RunError(f"`{text.strip()}` is no expression: {error}") from error


def evaluate(
    text: str,
    names: Mapping[str, Value],
    functions: Mapping[str, Callable[..., Value]] | None = None,
) -> Value:
    """The value of an expression over `names`. Raises RunError."""
    known = functions if functions is not None else numpy_functions()
    try:
        return _Evaluator(text, names, known).value(parse(text))
    except RunError:
        raise
    except (ArithmeticError, ValueError, TypeError, IndexError, MemoryError) as error:
        raise EvaluationFailed(f"`{text.strip()}`: {error}") from error


def numpy_functions() -> dict[str, Callable[..., Value]]:
    """The functions an expectation may call."""
    return {name: getattr(np, name) for name in sorted(_FUNCTIONS)} | {"reshape": _reshape}


def _reshape(array: Array, *shape: Any) -> Array:
    """As the method: the shape is one tuple, or a number for each dimension."""
    return np.asarray(array).reshape(*shape)


class _Evaluator:
    def __init__(
        self,
        text: str,
        names: Mapping[str, Value],
        functions: Mapping[str, Callable[..., Value]],
    ) -> None:
        self.text = text.strip()
        self.names = names
        self.functions = functions

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=bool() | int() | float() | str()):
                return node.value
            case ast.Name(id=name):
                return self._name(name)
            case ast.UnaryOp(op=op, operand=operand):
                return self._operator(op)(self.value(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return self._combined(op, self.value(left), self.value(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._operator(op)(self.value(left), self.value(right))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return tuple(self.value(element) for element in elements)
            case ast.Subscript(value=array, slice=index):
                return self.value(array)[self._index(index)]
            case ast.Attribute(value=ast.Name(id="np"), attr=name) if name in _VALUES:
                return _VALUES[name]
            case ast.Attribute(value=array, attr="T"):
                return self.value(array).T
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                return self._call(name, arguments, keywords)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name)):
                return self._call(name, node.args, node.keywords)
            case ast.Call(func=ast.Attribute(value=array, attr=name)):
                return self._call(name, [array, *node.args], node.keywords)
            case _:
                raise RunError(
                    f"`{self.text}`: `{ast.unparse(node)}` cannot stand here; what can are "
                    f"numbers, names, operators, indexes and functions: {', '.join(self.functions)}"
                )

    def _name(self, name: str) -> Value:
        if name in self.names:
            return self.names[name]
        if name in _VALUES:
            return _VALUES[name]
        known = ", ".join((*self.names, *_VALUES))
        raise RunError(f"`{self.text}`: no value `{name}` (known: {known})")

    def _combined(self, op: ast.AST, left: Value, right: Value) -> Value:
        """The value of `left op right`; integers that would take for ever are refused."""
        if isinstance(left, int) and isinstance(right, int):
            bits = left.bit_length()
            bits = bits * right if isinstance(op, ast.Pow) else bits + right
            if isinstance(op, ast.Pow | ast.LShift) and bits > _MOST_BITS:
                raise EvaluationFailed(f"`{self.text}`: a number of more than {_MOST_BITS} bits")
        return self._operator(op)(left, right)

    def _operator(self, op: ast.AST) -> Callable[..., Any]:
        if type(op) not in _OPERATORS:
            raise RunError(f"`{self.text}`: an operator that is not known here")
        return _OPERATORS[type(op)]

    def _index(self, node: ast.expr) -> Value:
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = (lower, upper, step)
                return slice(*(None if bound is None else self.value(bound) for bound in bounds))
            case ast.Tuple(elts=elements):
                return tuple(self._index(element) for element in elements)
            case _:
                return self.value(node)

    def _call(self, name: str, arguments: list[ast.expr], keywords: list[ast.keyword]) -> Value:
        if name not in self.functions:
            known = ", ".join(self.functions)
            raise RunError(f"`{self.text}`: no function `{name}` (known: {known})")
        named = {keyword.arg or "": self.value(keyword.value) for keyword in keywords}
        return self.functions[name](*map(self.value, arguments), **named)


def _shape(given: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[int, ...]:
    """A shape from its numbers, or from one tuple of them. Raises ValueError."""
    extents = given[0] if len(given) == 1 and isinstance(given[0], tuple) else given
    if named:
        raise ValueError("a shape is written as its numbers, as in `zeros(64, 32)`")
    for extent in extents:
        if not isinstance(extent, int | float | np.integer | np.floating) or extent % 1 != 0:
            raise ValueError(f"a shape is of whole numbers, not of {extent!r}")
    return tuple(int(extent) for extent in extents)


def makers(dtype: np.dtype[Any], random: np.random.Generator) -> dict[str, Callable[..., Array]]:
    """Functions that make arguments of a dtype: `zeros`, `randn`, `randint` and so on."""

    def shaped(make: Callable[[tuple[int, ...]], Any]) -> Callable[..., Array]:
        def maker(*shape: Any, **named: Any) -> Array:
            array: Array = np.asarray(make(_shape(shape, named)))
            return array.astype(dtype)

        return maker

    def randint(low: int, high: int, *shape: Any, **named: Any) -> Array:
        return random.integers(low, high, _shape(shape, named)).astype(dtype)

    def full(value: float, *shape: Any, **named: Any) -> Array:
        return np.full(_shape(shape, named), value).astype(dtype)

    return {
        "zeros": shaped(np.zeros),
        "ones": shaped(np.ones),
        "empty": shaped(np.zeros),
        "arange": shaped(lambda shape: np.arange(int(np.prod(shape))).reshape(shape)),
        "rand": shaped(random.random),
        "randn": shaped(random.standard_normal),
        "randint": randint,
        "full": full,
    }
