"""From a checked program to the IR: the functions that kernels reach, callees before callers."""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.memory.maps import written_maps
from prismc.checker.results import CheckedProgram
from prismc.checker.types import model, typed
from prismc.diagnostics.sink import Sink
from prismc.ir.core import Function, Launch, Module, Op, Region, Value
from prismc.ir.lowering.asserts import Checks, checks_of, learn_assumptions
from prismc.ir.lowering.assigned import reassigned_pointers
from prismc.ir.lowering.conditions import conditions_of
from prismc.ir.lowering.counters import tests_of
from prismc.ir.lowering.frame import Frame, LoweredFunction, phase_words
from prismc.ir.lowering.positions import Hidden
from prismc.ir.lowering.statements import Statements
from prismc.ir.lowering.sync import operations_by_position
from prismc.ir.lowering.types import lower_pointer, lower_type
from prismc.ir.lowering.views import View
from prismc.ir.ops.arithmetic import Constant
from prismc.ir.ops.groups import Position, Query
from prismc.ir.ops.memory import ArrayAlloc, ArrayStore, SharedMemory, SharedView
from prismc.ir.types import INT, LONG, SHARED_BYTES, UINT, Space, Type

_QUERIES = {
    Hidden.THREAD: Query.THREAD_INDEX,
    Hidden.BLOCK_THREAD: Query.THREAD_INDEX,
    Hidden.WARPGROUP: Query.WARPGROUP_INDEX,
    Hidden.BLOCK: Query.BLOCK_INDEX,
    Hidden.BLOCKS: Query.BLOCK_COUNT,
}


def lower_program(
    checked: CheckedProgram,
    sink: Sink,
    *,
    keeps_asserts: bool = False,
    keeps_assumptions: bool = False,
) -> Module:
    """The IR of every kernel and of what kernels call. The program must be free of errors."""
    bodies = checked.program.bodies
    checks = checks_of(
        checked.program, keeps_asserts=keeps_asserts, keeps_assumptions=keeps_assumptions
    )
    needed = _reached_from_kernels(checked.program)
    lowered: dict[str, LoweredFunction] = {}
    for symbol, body in bodies.items():
        if symbol in needed:
            lowered[symbol] = _FunctionLowering(checked, body, lowered, checks, sink).run()
    return Module(functions=tuple(each.function for each in lowered.values()))


def _reached_from_kernels(program: typed.Program) -> frozenset[str]:
    reached: set[str] = set()
    # Callers stand after callees, so one pass from the end meets every caller first.
    for symbol, body in reversed(list(program.bodies.items())):
        if body.instance.is_kernel or symbol in reached:
            reached.add(symbol)
            reached.update(call.callee.symbol for call in body.calls)
            reached.update(_layouts(body))
    return frozenset(reached)


def _layouts(body: typed.Body) -> Iterator[str]:
    """The layouts of a body's shared arrays."""
    for statement in body.all_statements:
        if isinstance(statement, typed.DeclareShared) and statement.variable.layout is not None:
            yield statement.variable.layout.symbol


class _FunctionLowering:
    def __init__(
        self,
        checked: CheckedProgram,
        body: typed.Body,
        lowered: dict[str, LoweredFunction],
        checks: Checks,
        sink: Sink,
    ) -> None:
        self._body = body
        self._checks = checks
        self._instance = body.instance
        self._memory = checked.memory
        is_kernel = body.instance.is_kernel
        self._written = written_maps(body, checked.program) if is_kernel else frozenset()
        self._plan = checked.plan
        self._placed = operations_by_position(checked.plan, body.instance.symbol)
        reassigned = reassigned_pointers(body.statements)
        self._frame = Frame(checked, body.instance, lowered, reassigned, sink)

    def run(self) -> LoweredFunction:
        frame, instance = self._frame, self._instance
        frame.builder.open()
        frame.builder.span = instance.span
        parameters = [p for variable in instance.parameters for p in self._parameter(variable)]
        if instance.is_kernel:
            frame.arguments = frozenset(parameters)
        learn_assumptions(frame)
        statements = Statements(frame, self._placed, self._checks)
        statements.begin()
        statements.body(self._body.statements)
        statements.finish()
        region = frame.builder.close()
        hidden = tuple(kind for kind in Hidden if kind in frame.hidden)
        if instance.is_kernel:
            return LoweredFunction(self._kernel(parameters, region, hidden), ())
        given = [frame.hidden[kind] for kind in hidden]
        function = Function(
            symbol=instance.symbol,
            parameters=(*given, *parameters),
            results=self._results(),
            body=region,
            span=instance.span,
        )
        return LoweredFunction(function, hidden)

    # ------------------------------------------------------------------ the signature

    def _parameter(self, variable: typed.Variable) -> tuple[Value, ...]:
        """The IR parameters of one source parameter, which is bound to them."""
        frame = self._frame
        if not isinstance(variable.type, model.PointerType):
            value = Value(lower_type(variable.type), variable.name)
            frame.values[variable] = value
            return (value,)
        if self._instance.is_kernel:
            base = Value(lower_pointer(variable.type, Space.GLOBAL), variable.name)
            frame.bind_pointer(variable, View(base))
            return (base,)
        base = Value(lower_pointer(variable.type, Space.GENERIC), variable.name)
        offset = Value(LONG, f"{variable.name}_offset")
        frame.bind_pointer(variable, View(base, offset, layout=variable.type.layout))
        return (base, offset)

    def _results(self) -> tuple[Type, ...]:
        types: list[Type] = []
        for result in self._instance.results:
            if isinstance(result.type, model.PointerType):
                types += (lower_pointer(result.type, Space.GENERIC), LONG)
            else:
                types.append(lower_type(result.type))
        return tuple(types)

    # ------------------------------------------------------------------ kernels

    def _kernel(
        self, parameters: list[Value], region: Region, hidden: tuple[Hidden, ...]
    ) -> Function:
        instance, symbol = self._instance, self._instance.symbol
        reads = tuple(op for kind in hidden for op in self._read(kind))
        tests = tuple(tests_of(self._frame.limits, instance.span))
        return Function(
            symbol=symbol,
            parameters=tuple(parameters),
            results=(),
            body=Region(ops=(*reads, *tests, *region.ops)),
            launch=_launch(instance, self._frame.threads),
            shared=self._memory.need.get(symbol, 0),
            alignment=self._memory.alignment.get(symbol, 1),
            conditions=conditions_of(instance),
            written=frozenset(
                value
                for variable, value in zip(instance.parameters, parameters, strict=True)
                if variable in self._written
            ),
            span=instance.span,
        )

    def _read(self, hidden: Hidden) -> Iterator[Op]:
        """What a kernel does for a value that device functions are given."""
        value, span = self._frame.hidden[hidden], self._instance.span
        match hidden:
            case Hidden.SHARED:
                yield SharedMemory(results=(value,), span=span)
            case Hidden.MBARRIERS:
                start = SharedMemory(results=(Value(SHARED_BYTES),), span=span)
                yield start
                place = self._memory.mbarriers[self._instance.symbol]
                yield SharedView(
                    base=start.result, offset=None, bytes=place, results=(value,), span=span
                )
            case Hidden.PHASES:
                yield ArrayAlloc(results=(value,), span=span)
                for number, word in enumerate(phase_words(self._plan, self._instance.symbol)):
                    index = Constant(value=number, results=(Value(INT),), span=span)
                    bits = Constant(value=word, results=(Value(UINT),), span=span)
                    yield index
                    yield bits
                    yield ArrayStore(
                        array=value, indices=(index.result,), value=bits.result, span=span
                    )
            case _:
                yield Position(query=_QUERIES[hidden], results=(value,), span=span)


def _launch(instance: typed.Instance, threads: int) -> Launch:
    launch = instance.launch
    if launch is None:
        return Launch(threads=threads)
    return Launch(
        threads=launch.threads,
        min_blocks=launch.min_blocks,
        cluster=launch.cluster,
        cooperative=launch.cooperative,
    )
