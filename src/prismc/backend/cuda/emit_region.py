"""Regions and control flow as statements."""

from __future__ import annotations

import re

from prismc.backend.cuda import expression as cpp
from prismc.backend.cuda.emit_mbarrier import emit_inits
from prismc.backend.cuda.emit_statement import STATEMENTS
from prismc.backend.cuda.expression import Expression
from prismc.backend.cuda.frame import Frame
from prismc.backend.cuda.types import declarator
from prismc.ir.core import Op, Region, Value, walk
from prismc.ir.ops.control import Break, Continue, For, If, Return, Unreachable, While, Yield
from prismc.ir.ops.mbarrier import MbarrierInit, MbarrierWait


class Regions:
    """Writes the regions of one function."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._writer = frame.writer
        self._loops: list[tuple[Value, ...]] = []

    def region(self, region: Region, targets: tuple[Value, ...] = ()) -> None:
        """The operations of a region; `targets` are what its `yield` gives values to."""
        inits: list[MbarrierInit] = []
        for op in region.ops:
            if self._frame.is_silent(op):
                self._frame.keep_expression(op)
            elif isinstance(op, MbarrierInit):
                inits.append(op)
            else:
                if inits:
                    emit_inits(self._frame, inits)
                    inits = []
                self._op(op, targets)

    def _op(self, op: Op, targets: tuple[Value, ...]) -> None:
        match op:
            case Yield():
                self._frame.copy_all(targets, op.values, op.span)
            case If() if op in self._frame.inlining.choices:
                self._frame.define(op.result, self._frame.choice(op), op.span)
            case If():
                self._if(op, "if")
            case For():
                self._for(op)
            case While():
                self._while(op)
            case Break() | Continue():
                self._frame.copy_all(self._loops[-1], op.values, op.span)
                self._writer.line(f"{op.spelling};", op.span)
            case Return():
                self._return(op)
            case Unreachable():
                pass
            case _ if emit := STATEMENTS.get(type(op)):
                emit(self._frame, op)
            case _:
                self._frame.define(op.result, self._frame.expressions.of(op), op.span)

    def _nested(self, region: Region, targets: tuple[Value, ...]) -> None:
        self._frame.scopes.open()
        with self._writer.indented():
            self.region(region, targets)
        self._frame.scopes.close()

    # ------------------------------------------------------------------ branches

    def _if(self, op: If, keyword: str) -> None:
        frame = self._frame
        for result in op.results:
            if result in frame.variables and not frame.has_name(result):
                frame.declare(result, op.span)
        condition = frame.value(op.condition)
        then, otherwise = op.then, op.otherwise
        if self._is_empty(then, op.results) and not self._is_empty(otherwise, op.results):
            condition = cpp.prefix("!", condition)
            then, otherwise = otherwise, then
        self._writer.line(f"{keyword} ({condition.text}) {{", op.span)
        self._nested(then, op.results)
        if self._is_empty(otherwise, op.results):
            self._writer.line("}")
        elif chained := self._only_if(otherwise, op.results):
            for inner in otherwise.ops:
                if frame.is_silent(inner):
                    frame.keep_expression(inner)
            self._if(chained, "} else if")
        else:
            self._writer.line("} else {")
            self._nested(otherwise, op.results)
            self._writer.line("}")

    def _is_empty(self, region: Region, targets: tuple[Value, ...]) -> bool:
        """Whether a region gives no statement at all."""
        is_silent = all(map(self._frame.is_silent, region.ops[:-1]))
        return is_silent and self._ends_plainly(region, targets)

    def _ends_plainly(self, region: Region, targets: tuple[Value, ...]) -> bool:
        end = region.terminator
        if isinstance(end, Yield):
            return not self._frame.needed_copies(targets, end.values)
        return isinstance(end, Unreachable)

    def _only_if(self, region: Region, targets: tuple[Value, ...]) -> If | None:
        """The only statement of a region, if it is an `if` that needs no declarations before."""
        frame = self._frame
        loud = [op for op in region.ops[:-1] if not frame.is_silent(op)]
        only = loud[0] if len(loud) == 1 else None
        if not isinstance(only, If) or only in frame.inlining.choices:
            return None
        results = [result for result in only.results if result in frame.variables]
        is_declared = all(map(frame.has_name, results))
        return only if is_declared and self._ends_plainly(region, targets) else None

    # ------------------------------------------------------------------ loops

    def _for(self, op: For) -> None:
        frame = self._frame
        frame.copy_all(op.results, op.initial, op.span)
        start, stop, step = (frame.value(value) for value in (op.start, op.stop, op.step))
        frame.scopes.open()
        counter = frame.name(op.body.arguments[0])
        test = cpp.binary(cpp.name(counter), ">" if op.downward else "<", stop)
        if op.unroll:
            self._writer.line("#pragma unroll")
        elif any(isinstance(each, MbarrierWait) for each in walk(op.body)):
            # What waits gains nothing from copies, and the wait's own loop is hidden in PTX.
            self._writer.line("#pragma unroll 1")
        header = f"{declarator(op.start.type, counter)} = {start.imposed.text}; {test.text}"
        self._writer.line(f"for ({header}; {_advance(counter, step)}) {{", op.span)
        self._loop_body(op, op.body)
        frame.scopes.close()

    def _while(self, op: While) -> None:
        frame = self._frame
        frame.copy_all(op.results, op.initial, op.span)
        test = Region(ops=op.condition.ops[:-1])
        (decides,) = op.condition.terminator.operands
        if all(map(frame.is_silent, test.ops)):
            self.region(test)
            self._writer.line(f"while ({frame.value(decides).text}) {{", op.span)
            self._loop_body(op, op.body)
            return
        self._writer.line("while (true) {", op.span)
        frame.scopes.open()
        with self._writer.indented():
            self.region(test)
            self._writer.line(f"if ({cpp.prefix('!', frame.value(decides)).text}) break;", op.span)
        self._loop_body(op, op.body)
        frame.scopes.close()

    def _loop_body(self, op: For | While, body: Region) -> None:
        self._loops.append(op.results)
        self._nested(body, op.results)
        self._loops.pop()
        self._writer.line("}")

    # ------------------------------------------------------------------ returns

    def _return(self, op: Return) -> None:
        frame = self._frame
        if len(op.values) == 1:
            self._writer.line(f"return {frame.value(op.values[0]).imposed.text};", op.span)
            return
        for name, value in zip(frame.result_names, op.values, strict=True):
            self._writer.line(f"{name} = {frame.value(value).imposed.text};", op.span)
        if op is not frame.function.body.terminator:
            self._writer.line("return;", op.span)


def _advance(counter: str, step: Expression) -> str:
    """The third part of a loop's header."""
    if match := re.fullmatch(r"(-?)1[ul]*", step.text):
        return f"{'--' if match[1] else '++'}{counter}"
    if re.fullmatch(r"-\w+", step.text):
        return f"{counter} -= {step.text[1:]}"
    return f"{counter} += {step.text}"
