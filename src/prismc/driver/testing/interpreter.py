"""Runs the statements of a test: arrays are NumPy's, launches go to a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from prismc.checker.host.expressions import scalar_called
from prismc.checker.host.facts import HostTest
from prismc.driver.kernels import RunError
from prismc.driver.running import Array
from prismc.driver.testing.functions import (
    FUNCTIONS,
    applied,
    combined,
    converted,
    made,
    random_array,
)
from prismc.frontend import ast
from prismc.source.span import Span

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
MAKERS = ("zeros", "ones", "empty", "iota", "random")


class Device(Protocol):
    """Where kernels run."""

    def launch(
        self,
        kernel: str,
        blocks: int,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
        poisoned: Callable[[Array], bool],
    ) -> bool:
        """Launch a kernel by its name; arrays are updated in place. Whether all went well: what did
        not is kept there. Raises RunError for a launch that cannot be made."""


class Stopped(Exception):
    """A test that cannot go on: an assertion that failed, an expression without a value."""

    def __init__(self, at: Span, message: str, note: str = "") -> None:
        super().__init__(message)
        self.at = at
        self.message = message
        self.note = note


class Interpreter:
    """One run of one test."""

    def __init__(self, test: HostTest, device: Device, seed: int) -> None:
        self._test = test
        self._device = device
        self._seed = seed
        self._scopes: list[dict[str, Any]] = [dict(test.constants), {}]
        self._uninitialised: dict[int, Array] = {}

    def run(self) -> None:
        """All statements. Raises Stopped."""
        self._statements(self._test.node.body)

    # ------------------------------------------------------------------ statements

    def _statements(self, body: Sequence[ast.Statement]) -> None:
        for statement in body:
            self._statement(statement)

    def _scope(self, body: Sequence[ast.Statement], **names: Any) -> None:
        self._scopes.append(names)
        self._statements(body)
        self._scopes.pop()

    def _statement(self, node: ast.Statement) -> None:
        match node:
            case ast.Declare(name=name, value=ast.Expression() as value):
                self._scopes[-1][name.text] = self._own(value)
            case ast.Assign():
                self._assign(node)
            case ast.ExpressionStatement(value=ast.Call() as call):
                self._launch(call)
            case ast.Assert(condition=condition, message=message):
                self._assert(condition, "" if message is None else message.value)
            case ast.If(condition=condition, body=body, otherwise=otherwise):
                self._scope(body if self._holds(condition) else otherwise)
            case ast.For(variable=variable, range=bounds, body=body):
                for number in range(*(self._integer(bound) for bound in bounds)):
                    self._scope(body, **{variable.text: number})
            case _:
                pass

    def _own(self, node: ast.Expression) -> Any:
        """A value for a variable: arrays are values, so a variable's is a copy."""
        value = self._value(node)
        if not isinstance(value, np.ndarray):
            return value
        own = value.copy()
        if id(value) in self._uninitialised:
            self._uninitialised[id(own)] = own
        return own

    def _assign(self, node: ast.Assign) -> None:
        value = self._own(node.value)
        if node.operator:
            value = self._guarded(node, combined, node.operator, self._value(node.target), value)
        target = node.target
        if isinstance(target, ast.Index):
            array = self._value(target.value)
            array[self._indices(target, array)] = value
        elif isinstance(target, ast.Reference):
            scope = next(scope for scope in reversed(self._scopes) if target.name in scope)
            scope[target.name] = value

    def _assert(self, condition: ast.Expression, text: str) -> None:
        found = self._difference(condition)
        if found is not None:
            at, message = found
            raise Stopped(at, message, text)

    def _launch(self, node: ast.Call) -> None:
        head = node.callee
        assert isinstance(head, ast.Call)
        kernel, blocks = head.arguments[0], head.named[0].value
        assert isinstance(kernel, ast.Reference | ast.Member)  # the check lets nothing else pass
        name = kernel.name if isinstance(kernel, ast.Reference) else kernel.name.text
        arguments = [self._value(argument) for argument in node.arguments]
        named = {each.name.text: self._value(each.value) for each in node.named}
        count = self._integer(blocks)
        if count < 1:
            raise Stopped(blocks.span, f"a launch of {count} blocks")
        try:
            is_fine = self._device.launch(name, count, arguments, named, self._is_uninitialised)
        except RunError as error:
            raise Stopped(node.span, str(error)) from error
        if not is_fine:
            raise Stopped(node.span, "this launch is at fault")
        for value in (*arguments, *named.values()):
            self._uninitialised.pop(id(value), None)

    def _is_uninitialised(self, array: Array) -> bool:
        return id(array) in self._uninitialised

    # ------------------------------------------------------------------ conditions

    def _holds(self, node: ast.Expression) -> bool:
        return bool(np.all(self._value(node)))

    def _difference(self, node: ast.Expression) -> tuple[Span, str] | None:
        """Where and how a condition does not hold; None if it does."""
        if isinstance(node, ast.Binary) and node.operator == "and":
            return self._difference(node.left) or self._difference(node.right)
        value = self._value(node)
        if np.all(value):
            return None
        sides: Sequence[ast.Expression] = ()
        if isinstance(node, ast.Binary) and node.operator in COMPARISONS:
            sides = (node.left, node.right)
        elif isinstance(node, ast.Call) and _name(node.callee) == "near":
            sides = node.arguments
        if not sides:
            return node.span, "this does not hold"
        left, right = (np.asarray(self._value(side)) for side in sides)
        return node.span, _told(np.asarray(value), left, right)

    # ------------------------------------------------------------------ expressions

    def _guarded(
        self, node: ast.Node, function: Callable[..., Any], *values: Any, **named: Any
    ) -> Any:
        """The function's value. Raises Stopped where it has none."""
        try:
            return function(*values, **named)
        except ZeroDivisionError as error:
            raise Stopped(node.span, "a division by 0") from error
        except (ArithmeticError, ValueError, TypeError, IndexError, MemoryError) as error:
            raise Stopped(node.span, str(error) or "this has no value") from error

    def _integer(self, node: ast.Expression) -> int:
        return int(self._value(node))

    def _value(self, node: ast.Expression) -> Any:
        match node:
            case ast.Integer(value=value) | ast.Float(value=value) | ast.Boolean(value=value):
                return value
            case ast.Reference(name=name):
                return self._named(name)
            case ast.Member(name=name):
                return self._named(name.text)
            case ast.Unary(operator=sign, operand=operand):
                return self._guarded(node, applied, sign, self._value(operand))
            case ast.Binary(operator="and" | "or"):
                return self._decided(node)
            case ast.Binary(operator=sign, left=left, right=right):
                return self._guarded(node, combined, sign, self._value(left), self._value(right))
            case ast.Index():
                array = self._value(node.value)
                return np.array(array[self._indices(node, array)])
            case ast.Call():
                return self._call(node)
            case _:
                raise TypeError(f"no host code: {node!r}")

    def _decided(self, node: ast.Binary) -> bool:
        left = self._holds(node.left)
        if node.operator == "and":
            return left and self._holds(node.right)
        return left or self._holds(node.right)

    def _named(self, name: str) -> Any:
        return next(scope[name] for scope in reversed(self._scopes) if name in scope)

    def _indices(self, node: ast.Index, array: Array) -> tuple[int, ...]:
        found = tuple(self._integer(argument) for argument in node.arguments)
        for index, length, argument in zip(found, array.shape, node.arguments, strict=False):
            if not 0 <= index < length:
                raise Stopped(argument.span, f"index {index} into {length} elements")
        return found

    def _call(self, node: ast.Call) -> Any:
        name = _name(node.callee)
        if name in MAKERS:
            return self._made(name, node)
        values = [self._value(argument) for argument in node.arguments]
        if name in FUNCTIONS:
            named = {each.name.text: self._value(each.value) for each in node.named}
            return self._guarded(node, FUNCTIONS[name], *values, **named)
        scalar = scalar_called(name)
        assert scalar is not None
        return self._guarded(node, converted, scalar.name, values[0])

    def _made(self, name: str, node: ast.Call) -> Array:
        scalar = scalar_called(_name(node.arguments[0]))
        assert scalar is not None
        numbers = [self._integer(argument) for argument in node.arguments[1:]]
        if name == "random":
            *shape, seed = numbers
            seeds = (seed, self._seed)
            drawn: Array = self._guarded(node, random_array, scalar.name, tuple(shape), seeds)
            return drawn
        array: Array = self._guarded(node, made, name, scalar.name, tuple(numbers))
        if name == "empty":
            self._uninitialised[id(array)] = array
        return array


def _name(node: ast.Expression) -> str:
    """The name that an expression is, "" for any other."""
    return node.name if isinstance(node, ast.Reference) else ""


def _told(holds: Array, left: Array, right: Array) -> str:
    """How two sides of a comparison differ: how often, first where, and what is there."""
    wrong = ~holds
    left, right = np.broadcast_to(left, wrong.shape), np.broadcast_to(right, wrong.shape)
    at = tuple(int(index) for index in np.argwhere(wrong)[0])
    values = f"found {left[at]}, expected {right[at]}"
    if not at:
        return values
    place = ", ".join(map(str, at))
    return f"{int(wrong.sum())} of {wrong.size} elements differ, first [{place}]: {values}"
