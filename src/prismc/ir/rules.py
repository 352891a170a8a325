"""The legal shapes of operations: one rule for each, as a list.

A rule raises `Broken` with the sentence that does not hold. Where values may be seen, and that
regions end properly, is the verifier's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from prismc.hardware.primitives import WARP_THREADS
from prismc.hardware.scalars import Kind, Scalar
from prismc.ir.core import Function, Op, Value
from prismc.ir.ops import arithmetic, control, groups, intrinsic, mbarrier, memory, sync
from prismc.ir.ops.arithmetic import BinaryOperator, Comparison, UnaryOperator
from prismc.ir.types import (
    BOOLEAN,
    INT,
    LONG,
    MBARRIERS,
    SHARED_BYTES,
    UINT,
    ULONG,
    ArrayType,
    MapType,
    PointerType,
    ScalarType,
    Space,
    Type,
    VectorType,
)


class Broken(Exception):
    """A rule does not hold; the text is the rule."""


class Context(NamedTuple):
    """What an operation may refer to beside values: its function, the functions before it, what a
    `yield` of its region carries (None: it may not yield), and what the exits of its loop carry
    (None: there is no loop)."""

    function: Function
    known: dict[str, Function]
    yields: tuple[Type, ...] | None
    loop: tuple[Type, ...] | None


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise Broken(rule)


def types_of(values: Sequence[Value]) -> tuple[Type, ...]:
    """The types of several values."""
    return tuple(value.type for value in values)


def _results(op: Op, *types: Type) -> None:
    expected = ", ".join(map(str, types)) or "nothing"
    _require(types_of(op.results) == types, f"the results are {expected}")


def _one_result(op: Op) -> Type:
    _require(len(op.results) == 1, "there is one result")
    return op.results[0].type


def _scalar(type: Type) -> Scalar:
    if isinstance(type, ScalarType):
        return type.scalar
    raise Broken("the operands are scalars")


def _index(value: Value) -> None:
    _require(value.type in (INT, LONG), "an index is i32 or i64")


def _bits(type: Type) -> int:
    match type:
        case ScalarType(scalar=scalar):
            return scalar.bits
        case VectorType(element=element, lanes=lanes):
            return element.bits * lanes
    raise Broken("scalars and vectors have bits")


# --------------------------------------------------------------------------- arithmetic


def _constant(op: arithmetic.Constant, context: Context) -> None:
    scalar = _scalar(_one_result(op))
    if scalar.kind is Kind.BOOL:
        _require(isinstance(op.value, bool), "a bool constant is true or false")
    elif scalar.is_float:
        _require(isinstance(op.value, float), "a float constant is a float")
    else:
        _require(type(op.value) is int, "an integer constant is an integer")
        low = -(1 << (scalar.bits - 1)) if scalar.kind is Kind.SIGNED else 0
        _require(low <= op.value < low + (1 << scalar.bits), f"the constant fits {scalar}")


_NOT_ON_FLOATS = frozenset(
    {
        BinaryOperator.REM, BinaryOperator.AND, BinaryOperator.OR, BinaryOperator.XOR,
        BinaryOperator.SHL, BinaryOperator.SHR,
    }
)  # fmt: skip
_ON_BOOLS = frozenset({BinaryOperator.AND, BinaryOperator.OR, BinaryOperator.XOR})


def _binary(op: arithmetic.Binary, context: Context) -> None:
    scalar = _scalar(op.left.type)
    if op.operator in (BinaryOperator.SHL, BinaryOperator.SHR):
        _require(_scalar(op.right.type).is_integer, "a shift count is an integer")
    else:
        _require(op.left.type == op.right.type, "both sides have one type")
    if scalar.kind is Kind.BOOL:
        _require(op.operator in _ON_BOOLS, "bools have only and, or, xor")
    if scalar.is_float:
        _require(op.operator not in _NOT_ON_FLOATS, f"floats have no {op.operator.value}")
    _results(op, op.left.type)


def _unary(op: arithmetic.Unary, context: Context) -> None:
    scalar = _scalar(op.operand.type)
    match op.operator:
        case UnaryOperator.NEG | UnaryOperator.ABS:
            _require(scalar.kind is not Kind.BOOL, "bools have no sign")
            _results(op, op.operand.type)
        case UnaryOperator.NOT:
            _require(not scalar.is_float, "floats have no not")
            _results(op, op.operand.type)
        case _:
            _require(scalar.is_integer, "bits are counted in integers")
            _results(op, INT)


def _compare(op: arithmetic.Compare, context: Context) -> None:
    _require(op.left.type == op.right.type, "both sides have one type")
    if _scalar(op.left.type).kind is Kind.BOOL:
        _require(op.comparison in (Comparison.EQ, Comparison.NE), "bools have no order")
    _results(op, BOOLEAN)


def _select(op: arithmetic.Select, context: Context) -> None:
    _require(op.condition.type == BOOLEAN, "the condition is a bool")
    _require(op.when_true.type == op.when_false.type, "both sides have one type")
    _require(not isinstance(op.when_true.type, ArrayType), "arrays are not selected")
    _results(op, op.when_true.type)


def _convert(op: arithmetic.Convert, context: Context) -> None:
    _scalar(op.operand.type)
    _scalar(_one_result(op))


def _bitcast(op: arithmetic.Bitcast, context: Context) -> None:
    _require(_bits(op.operand.type) == _bits(_one_result(op)), "both sides have as many bits")


def _vector(type: Type) -> VectorType:
    if isinstance(type, VectorType):
        return type
    raise Broken("a vector is meant")


def _make_vector(op: arithmetic.MakeVector, context: Context) -> None:
    vector = _vector(_one_result(op))
    expected = (ScalarType(scalar=vector.element),) * vector.lanes
    _require(types_of(op.elements) == expected, "one scalar for each lane")


def _lane(vector: VectorType, lane: int) -> None:
    _require(0 <= lane < vector.lanes, "the vector has that lane")


def _extract(op: arithmetic.Extract, context: Context) -> None:
    vector = _vector(op.vector.type)
    _lane(vector, op.lane)
    _results(op, ScalarType(scalar=vector.element))


def _insert(op: arithmetic.Insert, context: Context) -> None:
    vector = _vector(op.vector.type)
    _lane(vector, op.lane)
    _require(op.element.type == ScalarType(scalar=vector.element), "the element is the lane's")
    _results(op, vector)


# --------------------------------------------------------------------------- control


def _if(op: control.If, context: Context) -> None:
    _require(op.condition.type == BOOLEAN, "the condition is a bool")
    _require(not op.then.arguments + op.otherwise.arguments, "the regions have no arguments")


def _for(op: control.For, context: Context) -> None:
    counter = op.start.type
    _require(_scalar(counter).is_integer, "the counter is an integer")
    _require(counter == op.stop.type == op.step.type, "start, stop and step have one type")
    carried = types_of(op.initial)
    _require(types_of(op.body.arguments) == (counter, *carried), "arguments: counter, carried")
    _results(op, *carried)


def _while(op: control.While, context: Context) -> None:
    carried = types_of(op.initial)
    for region in op.regions:
        _require(types_of(region.arguments) == carried, "the arguments are what is carried")
    _results(op, *carried)


def _yield(op: control.Yield, context: Context) -> None:
    _require(context.yields is not None, "a function is left by `return`")
    _require(types_of(op.values) == context.yields, "the region's owner says what is yielded")


def _exit(op: control.Break | control.Continue, context: Context) -> None:
    _require(context.loop is not None, "there is a loop to leave")
    _require(types_of(op.values) == context.loop, "an exit carries what the loop carries")


def _return(op: control.Return, context: Context) -> None:
    _require(types_of(op.values) == context.function.results, "the function's results")


def _unreachable(op: control.Unreachable, context: Context) -> None:
    _results(op)


def _call(op: control.Call, context: Context) -> None:
    callee = context.known.get(op.callee)
    if callee is None:
        raise Broken(f"@{op.callee} stands before its callers")
    _require(not callee.is_kernel, "kernels are not called")
    _require(types_of(op.arguments) == types_of(callee.parameters), "the callee's parameters")
    _results(op, *callee.results)


# --------------------------------------------------------------------------- memory


def _array(value: Value) -> ArrayType:
    if isinstance(value.type, ArrayType):
        return value.type
    raise Broken("an array is meant")


def _array_alloc(op: memory.ArrayAlloc, context: Context) -> None:
    _require(isinstance(_one_result(op), ArrayType), "the result is an array")


def _array_fill(op: memory.ArrayFill, context: Context) -> None:
    _require(op.value.type == _array(op.array).element, "the value is an element")


def _array_copy(op: memory.ArrayCopy, context: Context) -> None:
    _require(_array(op.target) == _array(op.source), "both arrays have one type")


def _element_indices(array: ArrayType, indices: Sequence[Value]) -> None:
    for index in indices:
        _index(index)
    _require(len(indices) == len(array.shape), "an index for each dimension")


def _array_load(op: memory.ArrayLoad, context: Context) -> None:
    array = _array(op.array)
    _element_indices(array, op.indices)
    _results(op, array.element)


def _array_store(op: memory.ArrayStore, context: Context) -> None:
    array = _array(op.array)
    _element_indices(array, op.indices)
    _require(op.value.type == array.element, "the value is an element")


def _sub_array(op: memory.SubArray, context: Context) -> None:
    array = _array(op.array)
    for index in op.indices:
        _index(index)
    _require(0 < len(op.indices) < len(array.shape), "fewer indices than dimensions")
    _results(op, ArrayType(element=array.element, shape=array.shape[len(op.indices) :]))


def _shared_memory(op: memory.SharedMemory, context: Context) -> None:
    _require(context.function.is_kernel, "only a kernel has shared memory")
    _results(op, SHARED_BYTES)


def _pointer(type: Type) -> PointerType:
    if isinstance(type, PointerType):
        return type
    raise Broken("a pointer is meant")


def _shared_view(op: memory.SharedView, context: Context) -> None:
    _require(op.base.type == SHARED_BYTES, f"the base is {SHARED_BYTES}")
    _require(op.offset is None or op.offset.type == INT, "the offset is i32")
    _require(op.bytes >= 0, "no bytes before the base")
    _require(_pointer(_one_result(op)).space is Space.SHARED, "the result is a shared pointer")


def _pointer_cast(op: memory.PointerCast, context: Context) -> None:
    source, target = _pointer(op.pointer.type), _pointer(_one_result(op))
    _require(source.element == target.element, "a cast keeps the element type")
    _require(target.is_const or not source.is_const, "a cast does not take const away")
    widens = target.space in (source.space, Space.GENERIC)
    _require(widens, "a cast keeps the space or makes it generic")


def _is_shared(op: memory.IsShared, context: Context) -> None:
    _pointer(op.pointer.type)
    _results(op, BOOLEAN)


def _accessed(pointer: PointerType, type: Type) -> None:
    element = pointer.element
    is_vector = (
        isinstance(type, VectorType)
        and isinstance(element, ScalarType)
        and type.element is element.scalar
    )
    _require(type == element or is_vector, "an access moves an element or a vector of elements")


def _load(op: memory.Load, context: Context) -> None:
    _index(op.index)
    _accessed(_pointer(op.pointer.type), _one_result(op))


def _store(op: memory.Store, context: Context) -> None:
    _index(op.index)
    pointer = _pointer(op.pointer.type)
    _require(not pointer.is_const, "no store through a const pointer")
    _accessed(pointer, op.value.type)


def _map_address(op: memory.MapAddress, context: Context) -> None:
    _require(isinstance(op.map.type, MapType), "a tensor map has the address")
    _results(op, ULONG)


def _descriptor(op: memory.Descriptor, context: Context) -> None:
    _index(op.index)
    _pointer(op.pointer.type)
    for offset in (op.leading, op.stride):
        _require(offset % 16 == 0 and 0 <= offset < 1 << 18, "offsets are units of 16 bytes")
    _results(op, ULONG)


def _address(op: memory.Address, context: Context) -> None:
    _index(op.index)
    _pointer(op.pointer.type)
    _results(op, UINT if op.kind is memory.AddressKind.SHARED else ULONG)


# --------------------------------------------------------------------------- groups and sync


def _position(op: groups.Position, context: Context) -> None:
    _require(context.function.is_kernel, "only a kernel asks where it is")
    _results(op, INT)


def _is_group(lanes: int) -> bool:
    return lanes in (2, 4, 8, 16, 32)


def _in_group(op: groups.InGroup, context: Context) -> None:
    _require(op.index.type == INT, "an index among groups is an i32")
    _require(op.size > 0, "a group has members")
    _results(op, INT)


def _broadcast(op: groups.Broadcast, context: Context) -> None:
    _require(_is_group(op.lanes), "2, 4, 8, 16 or 32 lanes")
    _require(_scalar(op.value.type).bits in (32, 64), "the value has 32 or 64 bits")
    _results(op, op.value.type)


def _block_barrier(op: sync.BlockBarrier, context: Context) -> None:
    _results(op)


def _cluster_barrier(
    op: sync.ClusterBarrier | sync.ClusterArrive | sync.ClusterWait, context: Context
) -> None:
    launch = context.function.launch
    _require(launch is None or launch.cluster > 1, "the kernel is launched in clusters")
    _results(op)


def _grid_barrier(op: sync.GridBarrier, context: Context) -> None:
    launch = context.function.launch
    _require(launch is not None and launch.cooperative, "the kernel is launched cooperatively")
    _results(op)


def _last_block(op: sync.LastBlock, context: Context) -> None:
    _require(context.function.is_kernel, "only a kernel has a last block")
    _require(_pointer(op.counter.type).element == UINT, "the counter is u32")
    _index(op.index)
    _results(op, BOOLEAN)


def _warp_barrier(op: sync.WarpBarrier, context: Context) -> None:
    _require(_is_group(op.lanes), "2, 4, 8, 16 or 32 lanes")
    _results(op)


def _partial_warp_barrier(op: sync.PartialWarpBarrier, context: Context) -> None:
    _require(op.whole % WARP_THREADS == 0, "whole warps have 32 threads")
    _require(0 < op.mask < 1 << WARP_THREADS, "a mask names lanes of a warp")
    _results(op)


def _named_barrier(op: sync.NamedBarrier | sync.NamedArrive, context: Context) -> None:
    _require(op.barrier.type == INT, "the barrier's number is i32")
    _require(op.threads > 0 and op.threads % 32 == 0, "the count is a multiple of 32")


def _commit_group(op: sync.CommitGroup, context: Context) -> None:
    _results(op)


def _wait_group(op: sync.WaitGroup, context: Context) -> None:
    _require(op.groups >= 0, "0 or more groups stay pending")
    _results(op)


def _fence(op: sync.ProductFence | sync.ProxyFence, context: Context) -> None:
    _results(op)


def _array_hand_over(op: memory.ArrayHandOver, context: Context) -> None:
    _require(isinstance(op.array.type, ArrayType), "arrays are handed over")
    _results(op)


_AtMbarrier = (
    mbarrier.MbarrierInit
    | mbarrier.MbarrierSync
    | mbarrier.MbarrierArrive
    | mbarrier.MbarrierExpect
    | mbarrier.MbarrierWait
)


def _at_mbarrier(op: _AtMbarrier, context: Context) -> None:
    _require(op.base.type == MBARRIERS, "the base is the kernel's mbarriers")
    _require(op.index.type == INT, "the index is i32")
    _results(op)


def _mbarrier_init(op: mbarrier.MbarrierInit, context: Context) -> None:
    _at_mbarrier(op, context)
    _require(context.function.is_kernel, "a kernel initialises its mbarriers")
    _require(1 <= op.arrivals < 1 << 20, "1 to 2^20 - 1 arrivals complete a phase")
    _require(op.copies > 0, "there is an mbarrier")


def _mbarrier_arrive(op: mbarrier.MbarrierArrive, context: Context) -> None:
    _at_mbarrier(op, context)
    _require(not (op.is_elected and op.of_copies), "each thread's copies arrive by themselves")
    _require(op.condition is None or op.condition.type == BOOLEAN, "the condition is a bool")


def _mbarrier_expect(op: mbarrier.MbarrierExpect, context: Context) -> None:
    _at_mbarrier(op, context)
    _require(op.bytes.type == UINT, "bytes are u32")


def _mbarrier_wait(op: mbarrier.MbarrierWait, context: Context) -> None:
    _at_mbarrier(op, context)
    _require((op.parity is None) == (op.phases is not None), "one of them tells the phase")
    if op.parity is not None:
        _require(op.parity.type == INT, "the parity is i32")
    if op.phases is not None:
        phases = op.phases.type
        words = phases.length if isinstance(phases, ArrayType) and phases.element == UINT else 0
        _require(0 <= op.bit < 32 * words, "the register of phases has the bit")
    _require(op.slot is None or op.slot.type == INT, "the slot is i32")


# --------------------------------------------------------------------------- intrinsics


def _asm(op: intrinsic.Asm, context: Context) -> None:
    outputs = len(op.results) - len(op.updates)
    _require(outputs >= 0, "a result for each update")
    _require(types_of(op.results[outputs:]) == types_of(op.updates), "updates keep their type")
    operands = (*types_of(op.results), *types_of(op.inputs))
    for type in operands:
        _require(_scalar(type).kind is not Kind.BOOL, "bools are passed as integers")
    for number, piece in enumerate(op.pieces):
        is_operand = number % 2 == 1
        _require(isinstance(piece, int) is is_operand, "pieces alternate text and number")
        if isinstance(piece, int):
            _require(0 <= piece < len(operands), f"there is an operand {piece}")
    _require(len(op.pieces) % 2 == 1, "pieces begin and end with text")


def _assert(op: intrinsic.Assert, context: Context) -> None:
    _require(op.condition.type == BOOLEAN, "the condition is a bool")
    _results(op)


def _print(op: intrinsic.Print, context: Context) -> None:
    for value in op.arguments:
        scalar = _scalar(value.type)
        is_known = not scalar.is_float or scalar.name in ("f32", "f64")
        _require(is_known, "C prints integers, f32 and f64")
    _results(op)


def _cuda_text(op: intrinsic.CudaText, context: Context) -> None:
    _results(op)


RULES: dict[type[Op], Callable[[Any, Context], None]] = {
    arithmetic.Constant: _constant,
    arithmetic.Binary: _binary,
    arithmetic.Unary: _unary,
    arithmetic.Compare: _compare,
    arithmetic.Select: _select,
    arithmetic.Convert: _convert,
    arithmetic.Bitcast: _bitcast,
    arithmetic.MakeVector: _make_vector,
    arithmetic.Extract: _extract,
    arithmetic.Insert: _insert,
    control.If: _if,
    control.For: _for,
    control.While: _while,
    control.Yield: _yield,
    control.Break: _exit,
    control.Continue: _exit,
    control.Return: _return,
    control.Unreachable: _unreachable,
    control.Call: _call,
    memory.ArrayAlloc: _array_alloc,
    memory.ArrayFill: _array_fill,
    memory.ArrayCopy: _array_copy,
    memory.ArrayLoad: _array_load,
    memory.ArrayStore: _array_store,
    memory.SubArray: _sub_array,
    memory.SharedMemory: _shared_memory,
    memory.SharedView: _shared_view,
    memory.PointerCast: _pointer_cast,
    memory.IsShared: _is_shared,
    memory.Load: _load,
    memory.Store: _store,
    memory.Address: _address,
    memory.MapAddress: _map_address,
    memory.Descriptor: _descriptor,
    groups.Position: _position,
    groups.InGroup: _in_group,
    groups.Broadcast: _broadcast,
    sync.BlockBarrier: _block_barrier,
    sync.LastBlock: _last_block,
    sync.ClusterBarrier: _cluster_barrier,
    sync.ClusterArrive: _cluster_barrier,
    sync.ClusterWait: _cluster_barrier,
    sync.GridBarrier: _grid_barrier,
    sync.WarpBarrier: _warp_barrier,
    sync.PartialWarpBarrier: _partial_warp_barrier,
    sync.NamedBarrier: _named_barrier,
    sync.NamedArrive: _named_barrier,
    sync.CommitGroup: _commit_group,
    sync.WaitGroup: _wait_group,
    sync.ProductFence: _fence,
    sync.ProxyFence: _fence,
    memory.ArrayHandOver: _array_hand_over,
    mbarrier.MbarrierInit: _mbarrier_init,
    mbarrier.MbarrierSync: _at_mbarrier,
    mbarrier.MbarrierArrive: _mbarrier_arrive,
    mbarrier.MbarrierExpect: _mbarrier_expect,
    mbarrier.MbarrierWait: _mbarrier_wait,
    intrinsic.Asm: _asm,
    intrinsic.CudaText: _cuda_text,
    intrinsic.Assert: _assert,
    intrinsic.Print: _print,
}
