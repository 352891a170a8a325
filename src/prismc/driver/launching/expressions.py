"""A small language for arrays: the expressions after `--arg NAME=` and `--expect`.

Python's own syntax, evaluated node by node over NumPy: numbers, names, arithmetic, comparisons,
slices, the functions listed here, and a few array methods. Nothing else of Python is reachable.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from prismc.diagnostics.suggest import did_you_mean
from prismc.driver.launching.errors import LaunchArgumentError

# An expression that makes more elements than this is a mistake, not a test.
MOST_ELEMENTS = 1 << 30

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: np.logical_not,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_NUMPY_FUNCTIONS = """
    abs all any arange argmax argmin argsort bincount ceil clip concatenate cos cumprod cumsum diff
    dot einsum exp exp2 expand_dims eye flip floor histogram hypot isnan linspace log log2 matmul
    max maximum mean median min minimum outer pad power prod repeat roll round sign sin sort sqrt
    stack std sum swapaxes take tan tanh tile transpose tril triu unique var where zeros_like
    ones_like
"""
_METHODS = """
    all any argmax argmin astype cumsum flatten max mean min prod ravel repeat reshape round std
    sum swapaxes transpose var
"""
_TYPES = """
    float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool
"""
_CONSTANTS: dict[str, Any] = {
    "pi": np.pi,
    "e": np.e,
    "inf": np.inf,
    "nan": np.nan,
    "true": True,
    "false": False,
} | {name: np.dtype(name) for name in _TYPES.split()}


class Evaluator:
    """Evaluates expressions over named values. `seed` feeds the random functions, in call order."""

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self._functions: dict[str, Callable[..., Any]] = {
            name: getattr(np, name) for name in _NUMPY_FUNCTIONS.split()
        } | {
            "zeros": lambda *shape: np.zeros(_shape(shape)),
            "ones": lambda *shape: np.ones(_shape(shape)),
            "full": lambda *arguments: np.full(_shape(arguments[:-1]), arguments[-1]),
            "iota": lambda *shape: np.arange(np.prod(_shape(shape))).reshape(_shape(shape)),
            "rand": lambda *shape: self._random.random(_shape(shape)),
            "randn": lambda *shape: self._random.standard_normal(_shape(shape)),
            "randint": self._integers,
        }

    def evaluate(self, label: str, text: str, names: Mapping[str, Any]) -> Any:
        """The value of `text`; `label` names the argument in errors.

        Raises LaunchArgumentError.
        """
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = getattr(error, "msg", "it is too deep")
            raise LaunchArgumentError(label, f"`{text}` is no expression: {reason}") from error
        walker = _Walker(label, {**_CONSTANTS, **names}, self._functions)
        try:
            with np.errstate(all="ignore"):
                return walker.value(tree.body)
        except LaunchArgumentError:
            raise
        except RecursionError as error:
            raise LaunchArgumentError(label, "the expression is too deep") from error
        except (ValueError, TypeError, IndexError, ArithmeticError, MemoryError) as error:
            raise LaunchArgumentError(label, f"`{text}`: {error}") from error

    def _integers(self, low: int, high: int, *shape: Any) -> Any:
        return self._random.integers(low, high, _shape(shape))


def _shape(extents: tuple[Any, ...]) -> tuple[int, ...]:
    """Extents as integers, given one by one or as one tuple.

    Raises ValueError for what is no size.
    """
    flat = extents[0] if len(extents) == 1 and isinstance(extents[0], tuple) else extents
    sizes = []
    for extent in flat:
        is_whole = isinstance(extent, int | np.integer) and not isinstance(extent, bool)
        if not is_whole or extent < 0:
            raise ValueError(f"{extent} is no array size")
        sizes.append(int(extent))
    total = 1
    for size in sizes:
        total *= size
    if total > MOST_ELEMENTS:
        raise ValueError(f"{total} elements are more than {MOST_ELEMENTS}")
    return tuple(sizes)


def _power(base: Any, exponent: Any) -> Any:
    """Whole numbers stay whole; everything else is a float's power."""
    if isinstance(base, int) and isinstance(exponent, int) and 0 <= exponent <= 64:
        return base**exponent
    return np.power(np.asarray(base, float), exponent)


class _Walker:
    """One evaluation."""

    def __init__(
        self, label: str, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]
    ) -> None:
        self._label = label
        self._names = names
        self._functions = functions

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | float() as constant):
                return constant
            case ast.Name(id=name):
                return self._name(name)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return tuple(self.value(element) for element in elements)
            case ast.UnaryOp(op=sign, operand=operand):
                return _UNARY[type(sign)](self.value(operand))
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return _power(self.value(left), self.value(right))
            case ast.BinOp(left=left, op=sign, right=right):
                return _BINARY[type(sign)](self.value(left), self.value(right))
            case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _COMPARE:
                return _COMPARE[type(sign)](self.value(left), self.value(right))
            case ast.Subscript(value=inner, slice=index):
                return self.value(inner)[self._index(index)]
            case ast.Attribute(value=inner, attr="T"):
                return np.asarray(self.value(inner)).T
            case ast.Call():
                return self._call(node)
            case _:
                raise LaunchArgumentError(
                    self._label, f"`{ast.unparse(node)}` is not allowed in an expression"
                )

    def _name(self, name: str) -> Any:
        if name in self._names:
            return self._names[name]
        hint = did_you_mean(name, self._names, "give it with another `--arg`, before this one")
        raise LaunchArgumentError(self._label, f"nothing is called `{name}`", hint)

    def _index(self, node: ast.expr) -> Any:
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                parts = (
                    None if part is None else self.value(part) for part in (lower, upper, step)
                )
                return slice(*parts)
            case ast.Tuple(elts=elements):
                return tuple(self._index(element) for element in elements)
            case _:
                return self.value(node)

    def _call(self, node: ast.Call) -> Any:
        arguments = [self.value(argument) for argument in node.args]
        named = {word.arg: self.value(word.value) for word in node.keywords if word.arg}
        match node.func:
            case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name) | ast.Name(id=name):
                if name not in self._functions:
                    hint = did_you_mean(name, self._functions, "see `docs/run.md` for the list")
                    raise LaunchArgumentError(self._label, f"there is no function `{name}`", hint)
                return self._functions[name](*arguments, **named)
            case ast.Attribute(value=inner, attr=name) if name in _METHODS.split():
                return getattr(np.asarray(self.value(inner)), name)(*arguments, **named)
            case _:
                raise LaunchArgumentError(
                    self._label, f"`{ast.unparse(node.func)}` cannot be called"
                )
