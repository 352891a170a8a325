"""Random programs that keep every rule, with what is known at each of their lines."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from property.model import (
    BLOCK,
    GRID,
    LANE,
    ONE_BLOCK,
    ONE_GRID,
    ONE_THREAD,
    Function,
    Perspective,
    Pointer,
    State,
    Value,
)

_DEEPEST = 7
_BLOCKS = (24, 32, 48, 64, 96, 128)
_FUNCTION_BOUNDS = (
    {LANE: 1}, {LANE: 2}, {LANE: 8}, {LANE: 32}, {BLOCK: 1, LANE: 8}, {BLOCK: 1, LANE: 24},
    {BLOCK: 1, LANE: 32},
)  # fmt: skip
_FIXED = "def mixed(a: int, b: int) -> int:\n    return (a ^ b) * 3 + 1\n"


class Place(NamedTuple):
    """A line before which a statement may be inserted, and the state there."""

    line: int
    state: State
    functions: tuple[Function, ...]


class Program:
    """One program: device functions, then a kernel."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines = _FIXED.split("\n")
        self.places: list[Place] = []
        self.functions: tuple[Function, ...] = ()
        self._names = 0
        for _ in range(self.random.randint(1, 3)):
            self._function()
        self._kernel()

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    # ------------------------------------------------------------------ declarations

    def _function(self) -> None:
        bound = self.random.choice(_FUNCTION_BOUNDS)
        lanes = bound[LANE]
        state = State(bound, threads=lanes, base=0 if BLOCK in bound else lanes)
        parameters: list[Value | Pointer] = []
        for _ in range(self.random.randint(1, 2)):
            at = self.random.choice(state.allowed())
            parameters.append(Value(self._name("a"), at, "local"))
        name = self._name("p")
        parameters.append(Pointer(name, state.code, name, is_const=True, extent=0))
        if self.random.random() < 0.5:
            name = self._name("p")
            at = self.random.choice((state.code, ONE_THREAD))
            parameters.append(Pointer(name, at, name, is_const=False, extent=1))
        result = self.random.choice(state.allowed())
        function = Function(self._name("f"), bound, tuple(parameters), result)
        shown = ", ".join(f"{level}[{size}]" for level, size in bound.items())
        listed = ", ".join(_declared(parameter) for parameter in parameters)
        self.lines.append(f"@requires({shown})")
        self.lines.append(f"def {function.name}({listed}) -> int @ {result}:")
        state.values = tuple(p for p in parameters if isinstance(p, Value))
        state.pointers = tuple(p for p in parameters if isinstance(p, Pointer))
        state = self._body(state, self.random.randint(1, 3))
        self._line(state, f"return {self._expression(state, result)}")
        self.lines.append("")
        self.functions += (function,)

    def _kernel(self) -> None:
        lanes = self.random.choice(_BLOCKS)
        threads = lanes * self.random.randint(1, 2)
        state = State({GRID: 1, BLOCK: 1, LANE: lanes}, threads, base=0)
        state.is_kernel = True
        arguments = (Value("n", ONE_GRID, "fixed"), Value("m", ONE_GRID, "local"))
        self.lines.append(f"@requires(grid[1], block[1], thread[{lanes}])")
        self.lines.append(f"@launch(threads = {threads})")
        self.lines.append("kernel k(X: ptr(const i32), Y: ptr(i32), n: int, m: int):")
        state.values = arguments
        read = Pointer("X", ONE_GRID, "X", is_const=True, extent=0)
        state.pointers = (read, Pointer("Y", ONE_GRID, "Y", is_const=False, extent=0))
        block = self._name("b")
        self._line(state, f"{block}: int @ block[1] = id()")
        state.values += (Value(block, ONE_BLOCK, "fixed"),)
        state = self._statements(state, self.random.randint(0, 2))
        self._line(state, f"partition Y as tile @ block[1] at {block} * {threads}:")
        tile = Pointer("tile", ONE_BLOCK, "Y", is_const=False, extent=threads)
        inner = state.narrowed((tile,), (state.pointers[1],))
        self._line(inner, "group block[1]:")
        self._body(inner.group(ONE_BLOCK), self.random.randint(3, 6))

    # ------------------------------------------------------------------ statements

    def _body(self, state: State, count: int) -> State:
        """Statements of code that speaks for another perspective, its threads' index first."""
        if state.code != ONE_THREAD and state.code.level != GRID:
            state = state.copy()
            state.index = self._name("t")
            self._line(state, f"{state.index}: int @ thread[1] = id()")
            state.values += (Value(state.index, ONE_THREAD, "fixed"),)
        return self._statements(state, count)

    def _statements(self, state: State, count: int) -> State:
        for _ in range(count):
            self._place(state)
            state = self.random.choice(self._kinds(state))(state)
        self._place(state)
        self._line(state, "pass")
        return state

    def _kinds(self, state: State) -> list[Callable[[State], State]]:
        kinds = [self._declare, self._declare, self._array, self._assign, self._unit, self._call]
        if state.depth < _DEEPEST:
            kinds += [self._choice, self._loop, self._group, self._arms, self._loop_with_exit]
        if state.has_memory and state.index and state.can_wait and state.code.level != GRID:
            kinds += [self._share, self._share, self._load]
            if state.depth < _DEEPEST:
                kinds += [self._store, self._store, self._claim, self._divide]
        if state.code == ONE_THREAD:
            kinds += [self._store_own]
        return kinds

    def _declare(self, state: State) -> State:
        at = self.random.choice(state.allowed())
        return self._new(state, at, self._expression(state, at))

    def _new(self, state: State, at: Perspective, value: str) -> State:
        """Declare a local; without `@` where it belongs to the code."""
        state, name = state.copy(), self._name("v")
        stated = "" if at == state.code and self.random.random() < 0.5 else f" @ {at}"
        if not stated and self.random.random() < 0.3:
            self._line(state, f"{name} := {value}")
        else:
            self._line(state, f"{name}: int{stated} = {value}")
        state.values += (Value(name, at, "local"),)
        return state

    def _array(self, state: State) -> State:
        state, name, at = state.copy(), self._name("r"), self.random.choice(state.allowed())
        self._line(state, f"{name}: int[4] @ {at} = {self._expression(state, at)}")
        state.values += (Value(name, at, "array"),)
        return state

    def _assign(self, state: State) -> State:
        kinds = ("local", "array")
        targets = [v for v in state.values if v.kind in kinds and state.code.covers(v.at)]
        if targets:
            target = self.random.choice(targets)
            place = target.name if target.kind == "local" else f"{target.name}[1]"
            operator = self.random.choice(("=", "+=", "-=", "^="))
            self._line(state, f"{place} {operator} {self._expression(state, target.at)}")
        return state

    def _unit(self, state: State) -> State:
        if not state.narrower():
            return state
        at = self.random.choice(state.narrower())
        more = self.random.choice(("", " * 3", " + 1", f" + id({at})"))
        state, name = state.copy(), self._name("u")
        self._line(state, f"{name}: int @ {at} = id(){more}")
        state.values += (Value(name, at, "local"),)
        return state

    def _call(self, state: State) -> State:
        for function in self.random.sample(self.functions, len(self.functions)):
            arguments = self.arguments(state, function)
            if arguments is None:
                continue
            results = [q for q in state.allowed() if function.result.covers(q)]
            call = f"{function.name}({', '.join(arguments)})"
            if not results:
                self._line(state, call)
                return state
            return self._new(state, self.random.choice(results), call)
        return state

    def arguments(self, state: State, function: Function) -> list[str] | None:
        """Arguments for a call that keeps the rules; None where there are none."""
        if not state.offers(function) or not state.has_memory:
            return None
        found: list[str] = []
        used: set[str] = set()
        for parameter in function.parameters:
            if isinstance(parameter, Value):
                found.append(self._atom(state, parameter.at))
                continue
            pointer = self._pointer_for(state, parameter, used)
            if pointer is None:
                return None
            used.add(pointer.root)
            found.append(pointer.name)
        return found

    def _pointer_for(self, state: State, parameter: Pointer, used: set[str]) -> Pointer | None:
        fitting = [
            p
            for p in state.pointers
            if p.root not in used
            and (p.at == parameter.at or (parameter.is_const and p.at.covers(parameter.at)))
            and (parameter.is_const or not p.is_const)
            and (p.is_const or (p.root != "Y" and self._is_waited_for(p)))
        ]
        return self.random.choice(fitting) if fitting else None

    @staticmethod
    def _is_waited_for(pointer: Pointer) -> bool:
        return pointer.extent > 0

    # ------------------------------------------------------------------ control flow

    def _condition(self, state: State) -> str:
        left, right = self._atom(state, state.code), self._atom(state, state.code)
        return f"{left} {self.random.choice(('<', '>', '==', '!='))} {right}"

    def _block(self, state: State, count: int, *, is_loop: bool = False) -> None:
        """The body of a condition or a loop, one level deeper."""
        inner = state.copy()
        inner.depth += 1
        inner.is_certain = False
        if is_loop:
            inner.loops, inner.crossed = inner.loops + 1, 0
        self._statements(inner, count)

    def _choice(self, state: State) -> State:
        self._line(state, f"if {self._condition(state)}:")
        self._block(state, self.random.randint(1, 2))
        if self.random.random() < 0.4:
            self._line(state, "else:")
            self._block(state, 1)
        return state

    def _loop(self, state: State) -> State:
        name, stop = self._name("k"), self._atom(state, state.code)
        header = self.random.choice((stop, f"0, {stop}, 2", f"{stop}, 0, -1", "3"))
        self._line(state, f"for {name} in range({header}):")
        inner = state.copy()
        inner.values += (Value(name, state.code, "loop"),)
        self._block(inner, self.random.randint(1, 2), is_loop=True)
        return state

    def _loop_with_exit(self, state: State) -> State:
        """A loop that touches no memory and may be left early."""
        self._line(state, f"while {self._condition(state)}:")
        inner = state.copy()
        inner.has_memory = False
        inner.depth += 1
        self._line(inner, f"if {self._condition(inner)}: break")
        self._block(state_without_memory(state), 1, is_loop=True)
        return state

    # ------------------------------------------------------------------ whose code

    def _group(self, state: State) -> State:
        if state.code.level == GRID:
            return state
        to = self.random.choice(state.allowed())
        self._line(state, f"group {to}:")
        self._body(state.group(to), self.random.randint(1, 3))
        return state

    def _arms(self, state: State) -> State:
        lanes, code = state.entry(LANE), state.code
        if lanes < 2 or code.level == GRID:
            return state
        sizes = [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= lanes]
        arms: list[tuple[int, int]] = []
        offset = 0
        for size in sorted(self.random.choices(sizes, k=3), reverse=True):
            if offset + size <= lanes and state.aligns(size, offset):
                arms.append((size, offset))
                offset += size
        if not arms:
            return state
        is_first = len(arms) == 1
        if is_first:
            self._line(state, f"first thread[{arms[0][0]}]:")
        else:
            self._line(state, "split thread:")
        for size, start in arms:
            arm = state.arm(Perspective(LANE, size), start)
            if not is_first:
                header = state.copy()
                header.depth += 1
                self._line(header, f"case {size}:")
                arm.depth += 1
            arm.is_certain = False
            self._body(arm, self.random.randint(1, 2))
        return state

    # ------------------------------------------------------------------ memory

    def _share(self, state: State) -> State:
        if state.code.size < 8 and state.code.level == LANE:
            return state
        state, name = state.copy(), self._name("S")
        self._line(state, f"shared {name}: i32[{state.threads}]")
        pointer = Pointer(name, state.code, name, is_const=False, extent=state.threads)
        state.pointers += (pointer,)
        return state

    def _own(self, state: State) -> list[Pointer]:
        """Mutable pointers of the code's own perspective, with a part for each of its threads."""
        return [
            p
            for p in state.pointers
            if p.at == state.code and not p.is_const and p.extent >= state.threads
        ]

    def _load(self, state: State) -> State:
        own = self._own(state)
        if not own:
            return state
        pointer = self.random.choice(own)
        last = state.threads - 1
        index = self.random.choice((state.index, f"{last} - {state.index}", f"{state.index} ^ 1"))
        if state.threads % 2:
            index = state.index
        return self._new(state, ONE_THREAD, f"{pointer.name}[{index}]")

    def _store(self, state: State) -> State:
        own = self._own(state)
        if not own:
            return state
        source, name = self.random.choice(own), self._name("s")
        last = state.threads - 1
        offset = self.random.choice((state.index, f"{last} - {state.index}"))
        self._line(state, f"partition {source.name} as {name} @ thread[1] at {offset}:")
        view = Pointer(name, ONE_THREAD, source.root, is_const=False, extent=1)
        inner = state.narrowed((view,), (source,))
        self._line(inner, f"{name}[0] = {self._expression(inner, ONE_THREAD)}")
        self._statements(inner, self.random.randint(0, 2))
        return state

    def _store_own(self, state: State) -> State:
        """A store by a thread into the piece that it sees."""
        mine = [p for p in state.pointers if p.at == ONE_THREAD and not p.is_const and p.extent]
        if mine and state.has_memory:
            pointer = self.random.choice(mine)
            self._line(state, f"{pointer.name}[0] = {self._expression(state, ONE_THREAD)}")
        return state

    def _claim(self, state: State) -> State:
        own, lanes = self._own(state), state.entry(LANE)
        sizes = [n for n in (1, 1, 2, 4, 8, 16, 32, 64) if n <= lanes and state.aligns(n, 0)]
        if not own or not sizes or lanes < 2:
            return state
        source, name = self.random.choice(own), self._name("c")
        to = Perspective(LANE, self.random.choice(sizes))
        self._line(state, f"claim {source.name} as {name} @ {to}:")
        view = Pointer(name, to, source.root, is_const=False, extent=state.threads)
        inner = state.narrowed((), (source,))
        self._line(inner, f"first {to}:")
        arm = inner.arm(to, 0)
        arm.is_certain = False
        arm.pointers += (view,)
        if to == ONE_THREAD:
            self._line(arm, f"{name}[0] = {self._expression(arm, ONE_THREAD)}")
        self._body(arm, self.random.randint(0, 2))
        return state

    def _divide(self, state: State) -> State:
        """A partition to groups, and code of those groups."""
        own = self._own(state)
        sizes = [
            q.size
            for q in state.narrower()
            if q.level == LANE and (q.size in (2, 4, 8, 16) or q.size % 32 == 0)
        ]
        if not own or not sizes:
            return state
        source, size = self.random.choice(own), self.random.choice(sizes)
        unit, name = self._name("u"), self._name("g")
        state = state.copy()
        self._line(state, f"{unit}: int @ thread[{size}] = id()")
        state.values += (Value(unit, Perspective(LANE, size), "fixed"),)
        self._line(state, f"partition {source.name} as {name} @ thread[{size}] at {unit} * {size}:")
        to = Perspective(LANE, size)
        view = Pointer(name, to, source.root, is_const=False, extent=size)
        inner = state.narrowed((view,), (source,))
        self._line(inner, f"group {to}:")
        self._body(inner.group(to), self.random.randint(1, 3))
        return state

    # ------------------------------------------------------------------ expressions

    def _expression(self, state: State, at: Perspective) -> str:
        """An int that is at least as broad as `at`."""
        one, other = self._atom(state, at), self._atom(state, at)
        third = self._atom(state, at)
        return self.random.choice(
            (
                one,
                f"{one} + {other}",
                f"({one} - {other}) * {third}",
                f"mixed({one}, {other})",
                f"min({one}, {other}) & {third}",
                f"{one} if {other} > {third} else {other}",
            )
        )

    def _atom(self, state: State, at: Perspective) -> str:
        values = [v for v in state.values if v.at.covers(at)]
        if not values or self.random.random() < 0.2:
            return str(self.random.randint(0, 9))
        value = self.random.choice(values)
        if value.kind == "array":
            return f"{value.name}[{self.random.randint(0, 3)}]"
        read = [p for p in state.pointers if p.is_const and p.at.covers(at)]
        if read and state.has_memory and self.random.random() < 0.2:
            return f"{self.random.choice(read).name}[{value.name}]"
        return value.name

    # ------------------------------------------------------------------ text

    def _name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def _line(self, state: State, text: str) -> None:
        self.lines.append("    " * state.depth + text)

    def _place(self, state: State) -> None:
        self.places.append(Place(len(self.lines), state.copy(), self.functions))


def state_without_memory(state: State) -> State:
    found = state.copy()
    found.has_memory = False
    return found


def _declared(parameter: Value | Pointer) -> str:
    if isinstance(parameter, Value):
        return f"{parameter.name}: int @ {parameter.at}"
    of = "const i32" if parameter.is_const else "i32"
    return f"{parameter.name}: ptr({of}) @ {parameter.at}"
