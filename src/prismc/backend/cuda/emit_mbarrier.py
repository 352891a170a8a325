"""Operations on mbarriers as statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from prismc.backend.cuda import expression as cpp
from prismc.backend.cuda.expression import Expression
from prismc.backend.cuda.frame import Frame
from prismc.ir.core import Op, Value
from prismc.ir.ops import mbarrier
from prismc.ir.ops.arithmetic import Binary, BinaryOperator, Constant


def _place(frame: Frame, base: Value, index: Value) -> Expression:
    """The address of an mbarrier. In a ring it is the first one's, and the slot behind: the CUDA
    compilers then put the constant into the instruction."""
    start, add = frame.value(base), frame.sites.definers.get(index)
    if (
        isinstance(add, Binary)
        and add.operator is BinaryOperator.ADD
        and index in frame.inlining.inlined
        and isinstance(frame.sites.definers.get(add.right), Constant)
    ):
        first = cpp.prefix("&", cpp.index(start, frame.value(add.right)))
        return cpp.binary(first, "+", frame.value(add.left))
    return cpp.prefix("&", cpp.index(start, frame.value(index)))


def emit_inits(frame: Frame, inits: Sequence[mbarrier.MbarrierInit]) -> None:
    """One thread initialises all, and shows them to other proxies and blocks by one fence behind
    the last (PTX ISA, "fence.mbarrier_init")."""
    lines = [_init(frame, op) for op in inits]
    if any(op.is_async for op in inits):
        lines.append('asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");')
    at, test = inits[0].span, "if (threadIdx.x == 0)"
    if len(lines) == 1:
        frame.writer.line(f"{test} {lines[0]}", at, alone=True)
        return
    frame.writer.line(f"{test} {{", at, alone=True)
    with frame.writer.indented():
        for line in lines:
            frame.writer.line(line, at, alone=True)
    frame.writer.line("}")


def _init(frame: Frame, op: mbarrier.MbarrierInit) -> str:
    """The statement for the mbarriers of one purpose; copies lie side by side."""
    frame.scopes.open()
    place, loop = _place(frame, op.base, op.index), ""
    if op.copies > 1:
        name = frame.scopes.new("i")
        loop = f"for (int {name} = 0; {name} < {op.copies}; ++{name}) "
        place = cpp.binary(place, "+", cpp.name(name))
    call = cpp.call(frame.need("mbarrier_init"), place, cpp.literal(str(op.arrivals)))
    frame.scopes.close()
    return f"{loop}{call.text};"


def _sync(frame: Frame, op: mbarrier.MbarrierSync) -> None:
    _call(frame, op, "mbarrier_sync")


def _arrive(frame: Frame, op: mbarrier.MbarrierArrive) -> None:
    """A warp that arrives once waits for its lanes first; so many arrive for it as there are
    blocks, each at one."""
    place = _place(frame, op.base, op.index)
    test = "" if op.condition is None else f"if ({frame.value(op.condition).text}) "
    if op.is_elected:
        frame.writer.line("__syncwarp();", op.span, alone=True)
    if op.blocks > 1:
        _arrive_far(frame, op, place, test)
        return
    if op.is_elected:
        test += "if ((threadIdx.x & 31) == 0) "
    helper = "mbarrier_arrive_copies" if op.of_copies else "mbarrier_arrive"
    call = cpp.call(frame.need(helper), place)
    frame.writer.line(f"{test}{call.text};", op.span, alone=bool(test))


def _arrive_far(frame: Frame, op: mbarrier.MbarrierArrive, place: Expression, test: str) -> None:
    """An arrival at the mbarrier of each block: by the lanes of a warp, or by one thread."""
    frame.scopes.open()
    lane = "threadIdx.x & 31"
    name = "" if op.is_elected else frame.scopes.new("block")
    rank = cpp.name(name) if name else cpp.literal(f"({lane})")
    call = cpp.call(frame.need("mbarrier_arrive_far"), place, rank)
    head = f"for (int {name} = 0; {name} < {op.blocks}; ++{name})"
    if op.is_elected:
        head = f"if (({lane}) < {op.blocks})"
    frame.writer.line(f"{test}{head} {call.text};", op.span, alone=True)
    frame.scopes.close()


def _expect(frame: Frame, op: mbarrier.MbarrierExpect) -> None:
    """A warp that arrives once waits for its lanes first."""
    place, test = _place(frame, op.base, op.index), ""
    call = cpp.call(frame.need("mbarrier_expect"), place, frame.value(op.bytes))
    if op.is_elected:
        frame.writer.line("__syncwarp();", op.span, alone=True)
        test = "if ((threadIdx.x & 31) == 0) "
    frame.writer.line(f"{test}{call.text};", op.span, alone=True)


def _wait(frame: Frame, op: mbarrier.MbarrierWait) -> None:
    """A parity that is not known is a bit of a register, which the wait turns over."""
    helper = "mbarrier_wait_far" if op.is_wide else "mbarrier_wait"
    if op.phases is None:
        assert op.parity is not None, "one of them tells the phase"
        _call(frame, op, helper, frame.value(op.parity))
        return
    word = cpp.index(frame.value(op.phases), cpp.literal(str(op.bit // 32)))
    bit = cpp.literal(str(op.bit % 32))
    if op.slot is not None:
        slot = frame.value(op.slot)
        bit = cpp.binary(slot, "+", bit) if op.bit % 32 else slot
    shifted = word if bit.text == "0" else cpp.binary(word, ">>", bit)
    parity = cpp.binary(shifted, "&", cpp.literal("1"))
    _call(frame, op, helper, parity)
    mask = cpp.binary(cpp.literal("1u"), "<<", bit).text
    if op.slot is None:
        mask = f"{1 << op.bit % 32:#x}u"
    frame.writer.line(f"{word.text} ^= {mask};", op.span, alone=True)


def _call(frame: Frame, op: Any, helper: str, *arguments: Expression) -> None:
    call = cpp.call(frame.need(helper), _place(frame, op.base, op.index), *arguments)
    frame.writer.line(f"{call.text};", op.span, alone=True)


MBARRIER_STATEMENTS: dict[type[Op], Callable[[Frame, Any], None]] = {
    mbarrier.MbarrierSync: _sync,
    mbarrier.MbarrierArrive: _arrive,
    mbarrier.MbarrierExpect: _expect,
    mbarrier.MbarrierWait: _wait,
}
