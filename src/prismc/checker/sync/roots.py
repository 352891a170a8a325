"""Which memory a pointer may name, and how its indices become the root's (paper-notes A43).

Flow-insensitive: a pointer that is assigned again may name whatever it is assigned anywhere, swaps
included. That is wider than what a narrowing hides: names kept apart by a swap still change roots.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from operator import add

from prismc.checker.memory.facts import CallMemory, MemoryFacts, Replica, copies
from prismc.checker.sync.definitions import Definitions
from prismc.checker.sync.forms import Coefficient, combine
from prismc.checker.sync.graph import Root
from prismc.checker.sync.split import LoadPhase, Loads
from prismc.checker.types import typed
from prismc.checker.types.conversions import root_variable
from prismc.checker.types.model import ArrayType, PointerType, TensorMapType, Type, size_of
from prismc.checker.types.variables import mirrors_of
from prismc.hardware.groups import Level, Perspective
from prismc.source.record import Record, replace

# How many elements arrays of different blocks of a cluster are taken to lie apart.
BLOCK_STRIDE = 1 << 24


class Path(Record):
    """What a pointer names: one of `roots`, seen through `views` (outermost first).

    `is_known` holds if its element 0 is the innermost view's, or the root's.
    """

    roots: tuple[Root, ...]
    views: tuple[typed.View, ...] = ()
    is_known: bool = True


NOWHERE = Path(roots=(), is_known=False)


class Returned(Record):
    """What a function's pointer result names: one of these parameters, from its element 0 on if
    `is_whole`."""

    parameters: tuple[int, ...]
    is_whole: bool


class Pointers:
    """The pointers of one body; `returned` tells of callees, by symbol, for each result.
    `registers` are the register arrays that operations may have after they return."""

    def __init__(
        self,
        body: typed.Body,
        definitions: Definitions,
        memory: MemoryFacts,
        returned: Mapping[str, tuple[Returned, ...]],
        threads: int,
        block: int,
        registers: Collection[typed.Variable] = (),
    ) -> None:
        self._definitions = definitions
        self._memory = memory
        self._returned = returned
        self._threads = threads
        self._block = block
        self._roots: dict[tuple[int, int], Root] = {}
        self._called: dict[tuple[Root, int, int, tuple[Replica, ...]], Root] = {}
        self._phases: dict[Loads, LoadPhase] = {}
        self._views: dict[typed.Variable, typed.View] = {}
        self._changing: dict[typed.Variable, list[typed.Expression]] = {}
        self._merged: dict[typed.Variable, Path] = {}
        positions = {variable: i for i, variable in enumerate(body.instance.parameters)}
        for variable in registers:
            self._roots[variable.id, 0] = Root(
                name=variable.name,
                span=variable.span,
                parameter=positions.get(variable, -1),
                register=variable.id,
                is_shown=isinstance(variable.type, ArrayType) and variable.type.is_async,
            )
        for position, parameter in enumerate(body.instance.parameters):
            if isinstance(parameter.type, PointerType):
                self._roots[parameter.id, 0] = Root(
                    name=parameter.name,
                    span=parameter.span,
                    parameter=position,
                    is_global=body.instance.is_kernel,
                    piece=_pieces(parameter, body.instance.bound.code, threads, block),
                    is_shown=parameter.type.is_async,
                )
            elif isinstance(parameter.type, TensorMapType):
                self._roots[parameter.id, 0] = Root(
                    name=parameter.name,
                    span=parameter.span,
                    parameter=position,
                    is_global=body.instance.is_kernel,
                    is_map=True,
                )
        for statement in body.all_statements:
            self._enter(statement)
        self._merge()

    def path(self, pointer: typed.Expression) -> Path:
        """What a pointer expression names."""
        match pointer:
            case typed.Read(variable=variable):
                return self._path_of(variable)
            case typed.Slot(variable=variable, index=index):
                return self._slot(variable, index)
            case typed.Element(array=array):
                return self.path(array)
            case typed.Conditional(value=value, otherwise=otherwise):
                return _either((self.path(value), self.path(otherwise)))
            case typed.Call():
                return self.result(pointer, 0)
            case _:
                return NOWHERE

    def result(self, call: typed.Call, number: int) -> Path:
        """What a call's pointer result names."""
        known = self._returned.get(call.callee.symbol, ())
        if number < len(known):
            found = known[number]
            path = _either([self.path(call.arguments[i]) for i in found.parameters])
            return path if found.is_whole else replace(path, is_known=False)
        arguments = [a for a in call.arguments if isinstance(a.type, PointerType)]
        return replace(_either([self.path(a) for a in arguments]), is_known=False)

    def registers(self, variable: typed.Variable) -> Path:
        """The register array that a variable names, itself or in an asynchronous scope; nothing
        where no operation has it after it returned."""
        while variable in self._views:
            outer = root_variable(self._views[variable].source)
            if outer is None:
                return NOWHERE
            variable = outer
        root = self._roots.get((variable.id, 0))
        return NOWHERE if root is None or not root.is_private else Path(roots=(root,))

    def everything(self) -> tuple[Root, ...]:
        """All memory that the body can name."""
        return tuple(root for root in self._roots.values() if not root.is_private)

    def own_registers(self) -> tuple[Root, ...]:
        """The register arrays that end with the function."""
        roots = self._roots.values()
        return tuple(root for root in roots if root.is_private and root.parameter < 0)

    def own_shared(self) -> tuple[Root, ...]:
        """The shared arrays that the function declares."""
        roots = self._roots.values()
        return tuple(root for root in roots if root.parameter < 0 and not root.is_private)

    def returned(self, body: typed.Body) -> tuple[Returned, ...]:
        """What the body's own pointer results name."""
        results = [result.type for result in body.instance.results]
        found: list[Returned] = []
        for number, of in enumerate(results):
            paths = [
                self.path(statement.values[number])
                for statement in body.all_statements
                if isinstance(statement, typed.Return) and isinstance(of, PointerType)
            ]
            path = _either(paths)
            parameters = tuple(r.parameter for r in path.roots if r.parameter >= 0)
            is_whole = path.is_known and not path.views
            found.append(Returned(parameters=parameters, is_whole=is_whole))
        return tuple(found)

    def of_call(self, root: Root, call: typed.Call) -> Root:
        """A callee's shared array as the caller's memory."""
        memory = self._memory.calls.get(call.id)
        if memory is None:
            return root
        key = (root, memory.base, memory.stride, memory.replicas)
        if key not in self._called:
            self._called[key] = _moved(root, memory, self._threads, self._block)
        return self._called[key]

    def phase_of_call(self, phase: LoadPhase) -> LoadPhase:
        """The phase of a callee's loads, which all calls have in common, each unit its own."""
        if phase.is_local or phase.unit == self._threads:
            return phase
        if phase.loads not in self._phases:
            base = tuple(thread // phase.unit for thread in range(self._threads))
            self._phases[phase.loads] = replace(phase, base=base)
        return self._phases[phase.loads]

    def _path_of(self, variable: typed.Variable) -> Path:
        root = self._roots.get((variable.id, 0))
        if variable in self._merged:
            return self._merged[variable]
        if root is not None:
            return Path(roots=(root,))
        if variable in self._views:
            view = self._views[variable]
            path = self.path(view.source)
            return replace(path, views=(*path.views, view))
        definition = self._definitions.of(variable)
        if definition is not None and definition.value is not None:
            return self.path(definition.value)
        return NOWHERE

    def _slot(self, variable: typed.Variable, index: int) -> Path:
        root = self._roots.get((variable.id, index))
        return NOWHERE if root is None else Path(roots=(root,))

    def _enter(self, statement: typed.Statement) -> None:
        match statement:
            case typed.DeclareShared(variable=variable):
                self._declare(variable)
            case typed.Narrow(views=views):
                self._views.update((view.variable, view) for view in views)
            case typed.Declare(variable=variable, value=value) if value is not None:
                self._change(variable, value)
            case typed.Assign(place=typed.VariablePlace(variable=variable), value=value):
                self._change(variable, value)
            case typed.AssignSeveral(places=places, values=values):
                for place, value in zip(places, values, strict=True):
                    if isinstance(place, typed.VariablePlace):
                        self._change(place.variable, value)
            case typed.DeclareSeveral(variables=variables, call=call):
                for number, variable in enumerate(variables):
                    if isinstance(variable.type, PointerType):
                        self._merged[variable] = self.result(call, number)
            case _:
                pass

    def _declare(self, variable: typed.Variable) -> None:
        array = self._memory.arrays.get(variable.id)
        slots = max(1, variable.slots)
        size = _size(variable.type)
        for index in range(slots):
            low = 0 if array is None else array.offset + index * size
            high = 0 if array is None else array.offset + array.size - (slots - 1 - index) * size
            element = _element_size(variable.type)
            base: Coefficient = 0
            start: Coefficient = low
            if array is not None and array.replicas:
                copies_before = partial(_copies, array.replicas, threads=self._threads)
                base = copies_before(array.stride // element, block=self._block)
                start = combine(add, low, copies_before(array.stride, block=self._block))
            is_local = mirrors_of(variable) == 1
            if is_local and self._threads > self._block > 0:
                base = combine(add, base, _by_block(self._threads, self._block))
            self._roots[variable.id, index] = Root(
                name=variable.name if variable.slots == 0 else f"{variable.name}[{index}]",
                span=variable.span,
                low=low,
                high=high,
                base=base,
                start=start,
                size=size,
                element=element,
                is_local=is_local,
                is_mirrored=not is_local,
            )

    def _change(self, variable: typed.Variable, value: typed.Expression) -> None:
        if isinstance(variable.type, PointerType) and self._definitions.of(variable) is None:
            self._changing.setdefault(variable, []).append(value)

    def _merge(self) -> None:
        """Give each pointer that changes all roots of all values it gets, to a fixpoint."""
        for variable in self._changing:
            root = self._roots.get((variable.id, 0))
            self._merged[variable] = Path(roots=() if root is None else (root,))
        is_changing = True
        while is_changing:
            is_changing = False
            for variable, values in self._changing.items():
                old = self._merged[variable]
                new = _either([old, *(self.path(value) for value in values)])
                if (new.roots, new.is_known) != (old.roots, old.is_known):
                    self._merged[variable] = new
                    is_changing = True


def _either(paths: Iterable[Path]) -> Path:
    """One of several: where they lie differently, the place inside the root is not known."""
    found = list(paths)
    if len(found) == 1:
        return found[0]
    roots = tuple(dict.fromkeys(root for path in found for root in path.roots))
    is_known = all(path.is_known and not path.views for path in found)
    return Path(roots=roots, is_known=is_known and bool(found))


def _by_block(threads: int, block: int) -> Coefficient:
    """Where each block's array starts."""
    return tuple(thread // block * BLOCK_STRIDE for thread in range(threads))


def _pieces(parameter: typed.Variable, code: Perspective, threads: int, block: int) -> Coefficient:
    """Each thread's piece, where a parameter is narrower than the function's code. Atomic memory
    may be shared by more threads than the parameter says."""
    at = parameter.perspective
    is_atomic = isinstance(parameter.type, PointerType) and parameter.type.is_atomic
    if is_atomic or at.level is Level.GRID or at == code:
        return 0
    size = at.size if at.level is Level.THREAD else at.size * block
    return tuple(thread // size for thread in range(threads))


def _size(of: Type) -> int:
    try:
        return size_of(of)
    except ValueError:
        return 0


def _element_size(of: Type) -> int:
    return max(1, _size(getattr(of, "element", of)))


def _copies(replicas: tuple[Replica, ...], stride: int, threads: int, block: int) -> Coefficient:
    """Where each thread's copy starts, the last factor running fastest; blocks are alike."""
    starts: list[int] = []
    for thread in range(threads):
        number = 0
        place = thread % block if block else thread
        for replica in replicas:
            number = number * replica.count + place // replica.size % replica.count
        starts.append(number * stride)
    return tuple(starts)


def _moved(root: Root, memory: CallMemory, threads: int, block: int) -> Root:
    """A callee's array where the call puts it; each unit that calls has one of its own."""
    shift, stride = memory.base, memory.stride
    own = _spread(root.start, threads)
    if not memory.replicas:
        return replace(
            root,
            low=root.low + shift,
            high=root.high + shift,
            start=combine(add, own, shift),
            parameter=-1,
        )
    reach = stride * (copies(memory.replicas) - 1)
    is_whole = root.element > 0 and stride % root.element == 0
    # Elements of different copies never meet: any stride beyond the array's end tells them apart.
    step = stride // root.element if is_whole else stride
    first = combine(add, _copies(memory.replicas, stride, threads, block), shift)
    return replace(
        root,
        low=root.low + shift,
        high=root.high + shift + reach,
        base=_copies(memory.replicas, step, threads, block),
        start=combine(add, own, first),
        element=root.element if is_whole else 0,
        parameter=-1,
    )


def _spread(start: Coefficient, threads: int) -> Coefficient:
    """A callee's bytes, thread by thread, for all of its caller's threads. Units are aligned."""
    if isinstance(start, int):
        return start
    return tuple(start[thread % len(start)] for thread in range(threads))
