"""Operations that are statements: arrays, stores, calls, synchronisation, inline text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from prismc.backend.cuda import expression as cpp
from prismc.backend.cuda.emit_mbarrier import MBARRIER_STATEMENTS
from prismc.backend.cuda.expression import Expression, Level
from prismc.backend.cuda.frame import Frame
from prismc.backend.cuda.inline_ptx import Operand, asm_statement
from prismc.backend.cuda.literals import string
from prismc.backend.cuda.types import declarator, lane_field, reference, scalar_of, type_text
from prismc.hardware.scalars import Kind
from prismc.ir.core import Op, Value
from prismc.ir.ops import arithmetic, control, groups, intrinsic, memory, sync
from prismc.ir.types import ArrayType, VectorType
from prismc.source.span import Span

_WARP = 32


def _call(frame: Frame, op: control.Call) -> None:
    """A single result is the call's value; several are reference arguments."""
    arguments = [frame.value(value).imposed for value in op.arguments]
    if len(op.results) == 1 and frame.is_read(op):
        frame.define(op.result, cpp.call(frame.callees[op.callee], *arguments), op.span)
        return
    if len(op.results) > 1:
        for result in op.results:
            if not frame.has_name(result):
                frame.declare(result, op.span)
        arguments += [frame.value(result) for result in op.results]
    frame.writer.line(f"{cpp.call(frame.callees[op.callee], *arguments).text};", op.span)


# --------------------------------------------------------------------------- arrays and memory


def _array_alloc(frame: Frame, op: memory.ArrayAlloc) -> None:
    zeros = " = {}" if op.result in frame.inlining.zeroed else ""
    frame.writer.line(f"{declarator(op.result.type, frame.name(op.result))}{zeros};", op.span)


def _array_fill(frame: Frame, op: memory.ArrayFill) -> None:
    value = frame.value(op.value)
    if value.level < Level.PRIMARY:
        kept = frame.scopes.new("fill")
        frame.writer.line(f"{declarator(op.value.type, kept)} = {value.text};", op.span)
        value = cpp.name(kept)
    _each_element(frame, op.array, lambda indices: value, op.span)


def _array_copy(frame: Frame, op: memory.ArrayCopy) -> None:
    source = frame.value(op.source)
    _each_element(frame, op.target, lambda indices: cpp.index(source, *indices), op.span)


def _each_element(
    frame: Frame, array: Value, value: Callable[[Sequence[Expression]], Expression], at: Span
) -> None:
    """Assign to every element of an array, in loops over its dimensions."""
    extents = array.type.shape if isinstance(array.type, ArrayType) else ()
    frame.scopes.open()
    names = [frame.scopes.new("i") for _ in extents]
    loops = "".join(
        f"for (int {name} = 0; {name} < {extent}; ++{name}) "
        for name, extent in zip(names, extents, strict=True)
    )
    indices = [cpp.name(name) for name in names]
    place = cpp.index(frame.value(array), *indices)
    frame.writer.line("#pragma unroll")
    frame.writer.line(f"{loops}{place.text} = {value(indices).text};", at)
    frame.scopes.close()


def _array_store(frame: Frame, op: memory.ArrayStore) -> None:
    frame.assign(frame.expressions.array_element(op), frame.value(op.value), op.span)


def _sub_array(frame: Frame, op: memory.SubArray) -> None:
    """A sub-array that is used several times."""
    place = frame.expressions.array_element(op)
    name = frame.name(op.result)
    frame.writer.line(f"{reference(op.result.type, name)} = {place.text};", op.span)


def _store(frame: Frame, op: memory.Store) -> None:
    place = frame.expressions.memory_element(op.pointer, op.index, op.value.type)
    frame.assign(place, frame.value(op.value), op.span)


def _insert(frame: Frame, op: arithmetic.Insert) -> None:
    frame.copy_all((op.result,), (op.vector,), op.span)
    if isinstance(op.vector.type, VectorType):
        place = cpp.member(frame.value(op.result), lane_field(op.vector.type, op.lane))
        frame.assign(place, frame.value(op.element), op.span)


# --------------------------------------------------------------------------- groups and sync


def _mask(lanes: int) -> str:
    """The lanes of the warp's aligned group of `lanes` that this thread is in."""
    if lanes == _WARP:
        return "0xffffffff"
    return f"0x{(1 << lanes) - 1:x}u << (threadIdx.x & {_WARP - lanes})"


def _broadcast(frame: Frame, op: groups.Broadcast) -> None:
    mask, lanes = cpp.literal(_mask(op.lanes)), cpp.literal(str(op.lanes))
    value = cpp.call("__shfl_sync", mask, frame.value(op.value), cpp.literal("0"), lanes)
    frame.define(op.result, value, op.span)


def _block_barrier(frame: Frame, op: sync.BlockBarrier) -> None:
    frame.writer.line("__syncthreads();", op.span, alone=True)


def _cluster_barrier(frame: Frame, op: sync.ClusterBarrier) -> None:
    frame.writer.line(f"{frame.need('cluster_barrier')}();", op.span, alone=True)


def _cluster_half(frame: Frame, op: sync.ClusterArrive | sync.ClusterWait) -> None:
    text = "barrier.cluster.wait.acquire.aligned;"
    if isinstance(op, sync.ClusterArrive):
        text = "barrier.cluster.arrive.release.aligned;"
    _instruction(frame, text, op.span)


def _grid_barrier(frame: Frame, op: sync.GridBarrier) -> None:
    frame.writer.line(f"{frame.need('grid_barrier')}();", op.span, alone=True)


def _last_block(frame: Frame, op: sync.LastBlock) -> None:
    place = cpp.prefix("&", cpp.index(frame.value(op.counter), frame.value(op.index)))
    frame.define(op.result, cpp.call(frame.need("last_block"), place), op.span)


def _warp_barrier(frame: Frame, op: sync.WarpBarrier) -> None:
    mask = "" if op.lanes == _WARP else _mask(op.lanes)
    frame.writer.line(f"__syncwarp({mask});", op.span, alone=True)


def _partial_warp_barrier(frame: Frame, op: sync.PartialWarpBarrier) -> None:
    """No mask names lanes that are not there, or elsewhere (PTX ISA, "bar.warp.sync")."""
    mask = f"0x{op.mask:x}u"
    if op.whole:
        mask = f"threadIdx.x < {op.whole} ? 0xffffffffu : {mask}"
    frame.writer.line(f"__syncwarp({mask});", op.span, alone=True)


def _named_barrier(frame: Frame, op: sync.NamedBarrier | sync.NamedArrive) -> None:
    barrier = Operand("", scalar_of(op.barrier.type), frame.value(op.barrier))
    word = "sync" if isinstance(op, sync.NamedBarrier) else "arrive"
    pieces = (f"bar.{word} ", 0, f", {op.threads};")
    text = asm_statement(pieces, (barrier,), touches_memory=True)
    frame.writer.line(text, op.span, alone=True)


def _commit_group(frame: Frame, op: sync.CommitGroup) -> None:
    _instruction(frame, f"{op.of}.commit_group{_ALIGNED.get(op.of, '')};", op.span)


def _wait_group(frame: Frame, op: sync.WaitGroup) -> None:
    suffix = ".read" if op.is_read else _ALIGNED.get(op.of, "")
    _instruction(frame, f"{op.of}.wait_group{suffix} {op.groups};", op.span)


def _product_fence(frame: Frame, op: sync.ProductFence) -> None:
    _instruction(frame, "wgmma.fence.sync.aligned;", op.span)


def _proxy_fence(frame: Frame, op: sync.ProxyFence) -> None:
    _instruction(frame, f"fence.proxy.async{'' if op.is_full else '.shared::cta'};", op.span)


# What all threads of a warp execute together says so (PTX ISA, "wgmma.commit_group").
_ALIGNED = {"wgmma": ".sync.aligned"}


def _instruction(frame: Frame, text: str, at: Span) -> None:
    frame.writer.line(asm_statement((text,), (), touches_memory=True), at, alone=True)


def _array_hand_over(frame: Frame, op: memory.ArrayHandOver) -> None:
    """Empty text that may change every element: the compiler keeps their uses on their sides."""
    of = op.array.type
    assert isinstance(of, ArrayType), "arrays are handed over"
    array, scalar = frame.value(op.array), scalar_of(of.element)
    places = (
        cpp.index(array, *(cpp.literal(str(index)) for index in indices))
        for indices in product(*map(range, of.shape))
    )
    operands = [Operand("+", scalar, place) for place in places]
    text = asm_statement(("",), operands, touches_memory=True)
    frame.writer.line(text, op.span, alone=True)


# --------------------------------------------------------------------------- inline text


def _asm(frame: Frame, op: intrinsic.Asm) -> None:
    outputs = len(op.results) - len(op.updates)
    updated = [
        (result, operand)
        for result, operand in zip(op.results[outputs:], op.updates, strict=True)
        if result not in frame.inlining.places
    ]
    frame.copy_all([one for one, _ in updated], [one for _, one in updated], op.span)
    after: list[str] = []
    operands = [
        _asm_result(frame, result, "=" if number < outputs else "+", after, op.span)
        for number, result in enumerate(op.results)
    ]
    operands += [Operand("", scalar_of(one.type), frame.value(one)) for one in op.inputs]
    text = asm_statement(op.pieces, operands, touches_memory=op.touches_memory)
    frame.writer.line(text, op.span)
    for line in after:
        frame.writer.line(line, op.span)


def _asm_result(frame: Frame, result: Value, mode: str, after: list[str], at: Span) -> Operand:
    """The operand that takes a result. There are no 8-bit registers in `asm`: such results go
    through a wider variable, and `after` gets the assignment that brings them back."""
    scalar = scalar_of(result.type)
    if store := frame.inlining.places.get(result):
        place = frame.expressions.array_element(store)
    else:
        if not frame.has_name(result):
            frame.declare(result, at)
        place = frame.value(result)
    if scalar.bits > 8:
        return Operand(mode, scalar, place)
    wide = "short" if scalar.kind is Kind.SIGNED else "unsigned short"
    kept = frame.scopes.new("wide")
    initial = f" = {place.text}" if mode == "+" else ""
    frame.writer.line(f"{wide} {kept}{initial};", at)
    after.append(f"{place.text} = ({type_text(result.type)}){kept};")
    return Operand(mode, scalar, cpp.name(kept))


def _cuda_text(frame: Frame, op: intrinsic.CudaText) -> None:
    frame.writer.line(op.text, op.span)


def _assert(frame: Frame, op: intrinsic.Assert) -> None:
    """`__FILE__` and `__LINE__` are the program's: a directive above the line says so."""
    condition = frame.value(op.condition)
    ending = "__trap();"
    if op.tells:
        source = frame.writer.source(op.span).removeprefix("assert ")
        told = string(op.message or source or condition.text)
        name = frame.need("__assertfail")
        ending = f"{name}({told}, __FILE__, __LINE__, __func__, sizeof(char));"
    frame.writer.line(f"if ({cpp.prefix('!', condition).text}) {ending}", op.span, alone=True)


def _print(frame: Frame, op: intrinsic.Print) -> None:
    values = [frame.value(value) for value in op.arguments]
    call = cpp.call("printf", cpp.literal(string(op.format)), *values)
    frame.writer.line(f"{call.text};", op.span, alone=True)


STATEMENTS: dict[type[Op], Callable[[Frame, Any], None]] = {
    control.Call: _call,
    memory.ArrayAlloc: _array_alloc,
    memory.ArrayFill: _array_fill,
    memory.ArrayCopy: _array_copy,
    memory.ArrayStore: _array_store,
    memory.ArrayHandOver: _array_hand_over,
    memory.SubArray: _sub_array,
    memory.Store: _store,
    arithmetic.Insert: _insert,
    groups.Broadcast: _broadcast,
    sync.BlockBarrier: _block_barrier,
    sync.LastBlock: _last_block,
    sync.ClusterBarrier: _cluster_barrier,
    sync.ClusterArrive: _cluster_half,
    sync.ClusterWait: _cluster_half,
    sync.GridBarrier: _grid_barrier,
    sync.WarpBarrier: _warp_barrier,
    sync.PartialWarpBarrier: _partial_warp_barrier,
    sync.NamedBarrier: _named_barrier,
    sync.NamedArrive: _named_barrier,
    sync.CommitGroup: _commit_group,
    sync.WaitGroup: _wait_group,
    sync.ProductFence: _product_fence,
    sync.ProxyFence: _proxy_fence,
    intrinsic.Asm: _asm,
    intrinsic.CudaText: _cuda_text,
    intrinsic.Assert: _assert,
    intrinsic.Print: _print,
    **MBARRIER_STATEMENTS,
}
