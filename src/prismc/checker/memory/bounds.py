"""Lays shared arrays out and bounds what each instance needs (`docs/language.md`, "Shared memory").

An allocation adds over its scope; scopes side by side may share bytes, so a sequence takes the
maximum; a call adds the callee's need on top of what is live. What runs at the same time shares
nothing: the arms of a split, and scopes side by side in code of several units, where one unit may
be in the first scope while another is in the second (decision 0081). Padding stands between arrays,
never at the end (paper-notes A29 to A31). Where bytes are plenty, nothing is shared (`apart.py`).
"""

from __future__ import annotations

from types import MappingProxyType

from prismc.checker.memory.apart import kept_apart
from prismc.checker.memory.errors import LocalLimit, SharedAtGrid, SharedBudget, SharedLimit
from prismc.checker.memory.facts import (
    CallMemory,
    MemoryFacts,
    Replica,
    SharedArray,
    copies,
    table_line,
)
from prismc.checker.perspectives.facts import PerspectiveFacts
from prismc.checker.types import typed
from prismc.checker.types.model import ArrayType, ErrorType, size_of
from prismc.checker.types.walk import bodies_of, calls_of
from prismc.diagnostics.problem import Problem, Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.groups import Bound, Level, Perspective
from prismc.hardware.targets import Target
from prismc.source.span import Span

DEFAULT_ALIGNMENT = 16
# Bytes of local memory, where large arrays go (CUDA C++ Programming Guide, "Compute Capabilities").
LOCAL_LIMIT = 512 * 1024


def bound_memory(
    program: typed.Program, perspectives: PerspectiveFacts, target: Target, sink: Sink
) -> MemoryFacts:
    """Lay out every instance's shared arrays. What is refused is so with the fewest bytes."""
    refused = Sink()
    least = _lay_out(program, perspectives, target, refused, frozenset())
    for problem in refused.problems():
        sink.report(problem)
    if refused.has_errors():
        return least

    def lay_out(apart: frozenset[str]) -> MemoryFacts:
        return _lay_out(program, perspectives, target, Sink(), apart)

    return kept_apart(program, least, lay_out)


def _lay_out(
    program: typed.Program,
    perspectives: PerspectiveFacts,
    target: Target,
    sink: Sink,
    apart: frozenset[str],
) -> MemoryFacts:
    """Lay out all instances, callees first; in those of `apart` no two arrays share bytes."""
    arrays: dict[int, SharedArray] = {}
    need: dict[str, int] = {}
    alignment: dict[str, int] = {}
    calls: dict[int, CallMemory] = {}
    sharing: list[str] = []
    for symbol, body in program.bodies.items():
        layout = _Layout(
            body.instance, perspectives, need, alignment, target, sink, is_apart=symbol in apart
        )
        layout.sequence(body.statements, 0, ())
        arrays |= layout.arrays
        calls |= layout.calls
        need[symbol], alignment[symbol] = layout.need, layout.alignment
        if layout.is_sharing:
            sharing.append(symbol)
    return MemoryFacts(
        arrays=MappingProxyType(arrays),
        need=MappingProxyType(need),
        alignment=MappingProxyType(alignment),
        calls=MappingProxyType(calls),
        sharing=tuple(sharing),
    )


class _Layout:
    """The layout of one instance. `need` is the greatest number of bytes live at once, with
    `is_apart` that of all together. `is_sharing` tells that bytes are used again."""

    def __init__(
        self,
        instance: typed.Instance,
        perspectives: PerspectiveFacts,
        callee_need: dict[str, int],
        callee_alignment: dict[str, int],
        target: Target,
        sink: Sink,
        *,
        is_apart: bool,
    ) -> None:
        self._instance = instance
        self._bounds = perspectives.bounds
        self._callee_need = callee_need
        self._callee_alignment = callee_alignment
        self._target = target
        self._sink = sink
        self._is_apart = is_apart
        self._live: list[SharedArray] = []
        self._is_over: set[str] = set()
        self.arrays: dict[int, SharedArray] = {}
        self.calls: dict[int, CallMemory] = {}
        self.need = 0
        self.alignment = 1
        self.is_sharing = False
        # The byte after all that was given out in the arm, or the code of several units, around.
        self._end = 0

    def sequence(
        self, body: tuple[typed.Statement, ...], start: int, around: tuple[Replica, ...]
    ) -> None:
        """Lay out one scope whose first free byte is `start`; `around` are the groups that
        replicate it."""
        live_before = len(self._live)
        top = start
        for statement in body:
            if isinstance(statement, typed.DeclareShared):
                top = self._allocate(statement, top, around)
            if isinstance(statement, typed.Declare):
                self._bound_local(statement)
            for call in calls_of((statement,)):
                self._call(call, top, around)
            self._inner(statement, top, around)
        del self._live[live_before:]

    def _inner(self, statement: typed.Statement, top: int, around: tuple[Replica, ...]) -> None:
        """Lay out what stands inside a statement; in code of nobody knows whom, nothing."""
        if isinstance(statement, typed.Block) and statement.is_refused:
            return
        inside = around
        if isinstance(statement, typed.Group):
            bound = self._bounds[statement.id]
            inside = (*around, *self._replica(statement.id, bound, statement.to))
        is_split = isinstance(statement, typed.Split)
        starts_units = bool(inside) and not around
        end = self._end
        if (starts_units or (is_split and not around)) and not self._is_apart:
            self._end = top
        for inner in bodies_of(statement):
            self.sequence(inner, max(top, self._end) if is_split else top, inside)
        self._end = max(self._end, end)

    def _bound_local(self, statement: typed.Declare) -> None:
        variable = statement.variable
        if isinstance(variable.type, ArrayType) and size_of(variable.type) > LOCAL_LIMIT:
            self._sink.report(
                LocalLimit(
                    at=statement.span,
                    name=variable.name,
                    size=size_of(variable.type),
                    limit=LOCAL_LIMIT,
                )
            )

    def _replica(self, group: int, bound: Bound, to: Perspective) -> tuple[Replica, ...]:
        """The factor that code with `bound` has for units of `to`; none if there is one unit."""
        if to.level is not Level.THREAD:
            return ()
        is_whole_block = bound.code.level is not Level.THREAD
        here = (self._instance.threads or bound.thread) if is_whole_block else bound.thread
        count = here // to.size
        return (Replica(group=group, size=to.size, count=count),) if count > 1 else ()

    def _allocate(
        self, statement: typed.DeclareShared, top: int, around: tuple[Replica, ...]
    ) -> int:
        """Place one array at the first aligned byte from `top`; return the byte after it."""
        variable, bound = statement.variable, self._bounds[statement.id]
        if bound.code.level is Level.GRID:
            header = Related(at=self._instance.requires_span, message=f"{bound.code} from here on")
            self._sink.report(
                SharedAtGrid(at=statement.span, code_perspective=bound.code, related=(header,))
            )
            return top
        if isinstance(variable.type, ErrorType):
            return top
        wanted = variable.alignment or DEFAULT_ALIGNMENT
        one = size_of(variable.type) * max(1, variable.slots)
        replicas = (*around, *self._replica(0, bound, variable.perspective))
        stride = _round_up(one, wanted)
        size = stride * (copies(replicas) - 1) + one
        array = SharedArray(
            variable=variable,
            offset=_round_up(self._free(top, around), wanted),
            size=size,
            stride=stride,
            replicas=replicas,
        )
        self.arrays[variable.id] = array
        self._live.append(array)
        self.alignment = max(self.alignment, wanted)
        end = array.offset + size
        self._grow(end, statement.span, f"`{variable.name}` takes {size} bytes", ())
        return end

    def _call(self, call: typed.Call, top: int, around: tuple[Replica, ...]) -> None:
        callee = call.callee
        need = self._callee_need.get(callee.symbol, 0)
        if need == 0 or call.bound.lacks(callee.bound) is not None:  # refused for that already
            return
        alignment = self._callee_alignment[callee.symbol]
        replicas = (*around, *self._replica(0, call.bound, callee.bound.code))
        memory = CallMemory(
            base=_round_up(self._free(top, around), alignment),
            stride=_round_up(need, alignment),
            replicas=replicas,
        )
        self.calls[call.id] = memory
        self.alignment = max(self.alignment, alignment)
        number = copies(replicas)
        end = memory.base + memory.stride * (number - 1) + need
        each = "" if number == 1 else f" for each of {number} units"
        cause = f"`{callee.name}` needs {need} bytes{each}, on top of {top} live ones"
        callee_note = Related(at=callee.span, message=f"`{callee.name}` needs {need} bytes")
        is_echo = need > self._target.shared_limit
        self._grow(end, call.span, cause, (callee_note,), is_echo=is_echo)

    def _free(self, top: int, around: tuple[Replica, ...]) -> int:
        """The first byte that nothing uses which may run at the same time, or may not share."""
        free = max(top, self._end) if around or self._is_apart else top
        self.is_sharing = self.is_sharing or free < self.need
        return free

    def _grow(
        self,
        end: int,
        at: Span,
        cause: str,
        related: tuple[Related, ...],
        *,
        is_echo: bool = False,
    ) -> None:
        """Note that bytes up to `end` are in use; refuse once where a limit is passed."""
        self.need, self._end = max(self.need, end), max(self._end, end)
        declared, limit = self._instance.declared_shared, self._target.shared_limit
        if declared is not None and end > declared:
            self._refuse(
                SharedBudget(
                    at=at,
                    needed=end,
                    declared=declared,
                    cause=cause,
                    related=(*related, self._declared_note(declared)),
                    notes=self._table(),
                )
            )
        elif end > limit and not is_echo:
            self._refuse(
                SharedLimit(
                    at=at,
                    needed=end,
                    target=self._target.name,
                    limit=limit,
                    cause=cause,
                    related=related,
                    notes=self._table(),
                )
            )

    def _refuse(self, problem: Problem) -> None:
        if problem.code not in self._is_over:
            self._is_over.add(problem.code)
            self._sink.report(problem)

    def _declared_note(self, declared: int) -> Related:
        return Related(at=self._instance.requires_span, message=f"`smem = {declared}` is here")

    def _table(self) -> tuple[str, ...]:
        """The buffers that are live, as lines of a table."""
        return tuple(map(table_line, self._live))


def _round_up(value: int, alignment: int) -> int:
    return (value + alignment - 1) // alignment * alignment
