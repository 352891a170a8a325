"""Says whether a module is legal IR: who sees what, how regions end, and the rules of `rules.py`.

An illegal module is a bug of whoever made it, never of the program: the verifier raises.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from prismc.ir.core import Function, Module, Op, Region, Value
from prismc.ir.ops.control import For, While
from prismc.ir.rules import RULES, Broken, Context, types_of
from prismc.ir.types import BOOLEAN


class InvalidIr(Exception):
    """The IR breaks one of its rules; the message names the function and the operation."""


def verify_module(module: Module) -> None:
    """Check every function of a module.

    Raises InvalidIr for the first fault.
    """
    known: dict[str, Function] = {}
    for function in module.functions:
        if function.symbol in known:
            raise InvalidIr(f"@{function.symbol} is defined twice")
        _FunctionVerifier(function, known).run()
        known[function.symbol] = function


class _FunctionVerifier:
    def __init__(self, function: Function, known: dict[str, Function]) -> None:
        self._function = function
        self._known = known
        self._defined: set[Value] = set()
        self._visible: set[Value] = set()

    def run(self) -> None:
        function = self._function
        if function.is_kernel and function.results:
            raise InvalidIr(f"@{function.symbol}: a kernel has no results")
        self._define(function.parameters, None)
        self._region(function.body, Context(function, self._known, None, None))

    def _fail(self, op: Op | None, rule: str) -> NoReturn:
        place = f"@{self._function.symbol}" + (f", {op.name}" if op else "")
        raise InvalidIr(f"{place}: {rule}")

    def _define(self, values: Iterable[Value], op: Op | None) -> None:
        for value in values:
            if value in self._defined:
                self._fail(op, f"%{value.hint} is defined twice")
            self._defined.add(value)
            self._visible.add(value)

    def _region(self, region: Region, context: Context) -> None:
        if not region.ops or not region.terminator.is_terminator:
            self._fail(None, "a region ends with a terminator")
        self._define(region.arguments, None)
        for op in region.ops:
            if op.is_terminator and op is not region.terminator:
                self._fail(op, "a terminator ends its region")
            self._op(op, context)
            self._define(op.results, op)
        self._visible.difference_update(region.arguments)
        for op in region.ops:
            self._visible.difference_update(op.results)

    def _op(self, op: Op, context: Context) -> None:
        for value in op.operands:
            if value not in self._visible:
                self._fail(op, f"%{value.hint} is not defined here")
        try:
            RULES[type(op)](op, context)
        except Broken as rule:
            self._fail(op, str(rule))
        for region, inside in zip(op.regions, _contexts(op, context), strict=True):
            self._region(region, inside)


def _contexts(op: Op, around: Context) -> tuple[Context, ...]:
    """What the operations of each region of `op` may refer to."""
    match op:
        case For(initial=initial):
            carried = types_of(initial)
            return (around._replace(yields=carried, loop=carried),)
        case While(initial=initial):
            carried = types_of(initial)
            condition = around._replace(yields=(BOOLEAN,), loop=None)
            return (condition, around._replace(yields=carried, loop=carried))
        case _:
            inside = around._replace(yields=types_of(op.results))
            return (inside,) * len(op.regions)
