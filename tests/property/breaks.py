"""Ways to break one rule: each is a statement that is wrong where it stands, and nothing else is.

A break looks at the state of a line and gives the lines to insert, the wrong one marked with `!`,
or None where the rule cannot be broken.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple, TypeVar

from property.model import (
    GRID,
    LANE,
    ONE_BLOCK,
    ONE_GRID,
    ONE_THREAD,
    Perspective,
    Pointer,
    State,
    Value,
)
from property.programs import Place, Program

Lines = list[str]
# What a refused narrowing shows may still be used: that is no second mistake.
_USE = ["    worse: int @ thread[1] = bad[0]", "    worse = 3"]
Item = TypeVar("Item")


class Break(NamedTuple):
    """A kind of break, and the code that it is refused with."""

    code: str
    make: Callable[[Place, Random, Program], Lines | None]

    @property
    def name(self) -> str:
        return f"{self.code}-{self.make.__name__}"


def insert(program: Program, place: Place, lines: Lines) -> tuple[str, int]:
    """The program with the lines in it, and the number of the wrong line."""
    space = "    " * place.state.depth
    wrong = next(i for i, line in enumerate(lines) if line.lstrip().startswith("!"))
    new = [space + line.replace("!", "", 1) if i == wrong else space + line
           for i, line in enumerate(lines)]  # fmt: skip
    text = [*program.lines[: place.line], *new, *program.lines[place.line :]]
    return "\n".join(text) + "\n", place.line + wrong + 1


def _pick(random: Random, found: list[Item]) -> Item | None:
    return random.choice(found) if found else None


# --------------------------------------------------------------------------- values


def writes_down(place: Place, random: Random, program: Program) -> Lines | None:
    state = place.state
    pairs = [
        (at, v) for at in state.allowed() for v in _scalars(state) if not v.at.covers(at)
    ]  # fmt: skip
    found = _pick(random, pairs)
    return found and [f"!bad: int @ {found[0]} = {found[1].name} + 1"]


def assigns_for_others(place: Place, random: Random, program: Program) -> Lines | None:
    state = place.state
    broad = [v for v in state.values if v.kind == "local" and not state.code.covers(v.at)]
    found = _pick(random, broad)
    return found and [f"!{found.name} = 1"]


def declares_broader(place: Place, random: Random, program: Program) -> Lines | None:
    code = place.state.code
    broader = [q for q in (ONE_GRID, ONE_BLOCK) if q != code and q.covers(code)]
    if code.level == LANE:
        broader += [Perspective(LANE, code.size * 2), Perspective(LANE, code.size * 3)]
    found = _pick(random, broader)
    return found and [f"!bad: int @ {found} = 3", "bad = 4"]


def declares_what_does_not_divide(place: Place, random: Random, program: Program) -> Lines | None:
    entry = place.state.entry(LANE)
    sizes = [n for n in range(2, entry) if entry % n]
    found = _pick(random, sizes)
    return found and [f"!bad: int @ thread[{found}] = 3", "bad += 1"]


def indexes_an_array_per_thread(place: Place, random: Random, program: Program) -> Lines | None:
    state = place.state
    pairs = [
        (a, v)
        for a in state.values
        for v in _scalars(state)
        if a.kind == "array" and state.code.covers(a.at) and not v.at.covers(a.at)
    ]
    found = _pick(random, pairs)
    return found and [f"!{found[0].name}[{found[1].name}] = 1"]


def reads_before_assigning(place: Place, random: Random, program: Program) -> Lines | None:
    if place.state.code == ONE_THREAD:
        return None
    return ["bad: int", "!worse: int = bad + 1", "bad = worse"]


def assigns_a_counter(place: Place, random: Random, program: Program) -> Lines | None:
    found = _pick(random, [v for v in place.state.values if v.kind == "loop"])
    return found and [f"!{found.name} += 1"]


def takes_another_type(place: Place, random: Random, program: Program) -> Lines | None:
    found = _pick(random, [v for v in _scalars(place.state) if v.at.covers(place.state.code)])
    return found and [f"!bad: f32 = {found.name}", "bad += 1.0"]


def takes_an_unknown_name(place: Place, random: Random, program: Program) -> Lines | None:
    return ["!bad: int @ thread[1] = nowhere + 1", "bad -= 1"]


# --------------------------------------------------------------------------- control flow


def divides_by_a_condition(place: Place, random: Random, program: Program) -> Lines | None:
    found = _pick(random, _varying(place.state))
    word = random.choice(("if", "while"))
    return found and [f"!{word} {found.name} > 3:", "    pass"]


def divides_by_a_bound(place: Place, random: Random, program: Program) -> Lines | None:
    found = _pick(random, _varying(place.state))
    header = random.choice(("range({})", "range({}, 9)", "range(0, 9, {} + 1)"))
    return found and [f"!for bad in {header.format(found.name)}:", "    pass"]


def leaves_a_loop(place: Place, random: Random, program: Program) -> Lines | None:
    state = place.state
    if not state.loops or not state.crossed:
        return None
    return ["if 1 > 2:", f"    !{random.choice(('break', 'continue'))}"]


def leaves_the_function(place: Place, random: Random, program: Program) -> Lines | None:
    state = place.state
    if not state.is_kernel or not state.hidden:
        return None
    return ["if 1 > 2:", "    !return"]


# --------------------------------------------------------------------------- whose code


def broadens(place: Place, random: Random, program: Program) -> Lines | None:
    code = place.state.code
    to = _pick(random, [q for q in (ONE_BLOCK, ONE_GRID) if not code.covers(q)])
    return to and [f"!group {to}:", f"    bad: int @ {to} = 3"]


def groups_by_no_divisor(place: Place, random: Random, program: Program) -> Lines | None:
    entry = place.state.entry(LANE)
    size = _pick(random, [n for n in range(2, 2 * entry + 2) if entry % n])
    return size and [f"!group thread[{size}]:", "    bad: int = 3", "    if bad > 3: bad = 1"]


def splits_too_much(place: Place, random: Random, program: Program) -> Lines | None:
    entry = place.state.entry(LANE)
    if random.random() < 0.3:
        return [f"!first thread[{entry + random.randint(1, 40)}]:", "    pass"]
    arms = [
        f"    case {n}: bad: int = {n}" for n in (entry, *random.choices((1, 2, 8, entry), k=2))
    ]
    return ["!split thread:", *arms]


def misaligns_an_arm(place: Place, random: Random, program: Program) -> Lines | None:
    entry = place.state.entry(LANE)
    pairs = [(a, b) for a in (1, 2, 4, 5) for b in (2, 3, 4, 8, 16) if a + b <= entry and a % b]
    found = _pick(random, [(a, b) for a, b in pairs if place.state.aligns(a, 0)])
    if found is None:
        return None
    return ["split thread:", f"    case {found[0]}: pass", f"    !case {found[1]}: pass"]


def counts_nothing(place: Place, random: Random, program: Program) -> Lines | None:
    form = ("if id() > 1:", "while id() == 3:", "for bad in range(id()):")
    return ["!" + random.choice(form), "    pass"]


def counts_what_is_not_there(place: Place, random: Random, program: Program) -> Lines | None:
    state, entry = place.state, place.state.entry(LANE)
    wrong = [str(state.code)] + [f"thread[{n}]" for n in (3, 5, 7, 32) if entry % n and n < entry]
    wrong += [str(q) for q in (ONE_BLOCK, ONE_GRID) if not state.code.covers(q)]
    return [f"!bad: int @ thread[1] = id({random.choice(wrong)}) + 1"]


# --------------------------------------------------------------------------- memory


def narrows_from_elsewhere(place: Place, random: Random, program: Program) -> Lines | None:
    state = place.state
    found = _pick(random, [p for p in state.pointers if p.at != state.code])
    word = random.choice(("partition", "claim"))
    body = _USE if word == "partition" else ["    pass"]
    return found and [f"!{word} {found.name} as bad @ thread[1]:", *body]


def narrows_to_no_divisor(place: Place, random: Random, program: Program) -> Lines | None:
    entry = place.state.entry(LANE)
    source = _here(place.state, random)
    size = _pick(random, [n for n in range(2, 2 * entry) if entry % n])
    return source and size and [f"!partition {source.name} as bad @ thread[{size}]:", *_USE]


def offsets_inside_a_piece(place: Place, random: Random, program: Program) -> Lines | None:
    state, source = place.state, _here(place.state, random)
    pairs = [(q, v) for q in state.allowed(2) for v in _scalars(state) if not v.at.covers(q)]
    found = _pick(random, pairs)
    if source is None or found is None:
        return None
    part = random.choice((f"at {found[1].name}", f"by i => i * 3 + {found[1].name}"))
    return [f"!partition {source.name} as bad @ {found[0]} {part}:", *_USE]


def reads_what_is_hidden(place: Place, random: Random, program: Program) -> Lines | None:
    found = _pick(random, list(place.state.hidden))
    return found and [f"!bad: int @ thread[1] = {found.name}[0]"]


def claims_for_two_arms(place: Place, random: Random, program: Program) -> Lines | None:
    source = _here(place.state, random)
    if source is None or place.state.entry(LANE) < 2:
        return None
    return [
        f"claim {source.name} as bad @ thread[1]:",
        "    split thread:",
        "        case 1: one: int = bad[0]",
        "        !case 1: two: int = bad[0]",
    ]


def uses_a_claim_outside(place: Place, random: Random, program: Program) -> Lines | None:
    source = _here(place.state, random)
    if source is None or place.state.code == ONE_THREAD:
        return None
    if random.random() < 0.5:
        use = ["    !worse: int @ thread[1] = bad[0]"]
    else:
        use = ["    group thread[1]:", "        !worse: int = bad[0]"]
    return [f"claim {source.name} as bad @ thread[1]:", *use]


def stores_for_several(place: Place, random: Random, program: Program) -> Lines | None:
    shared = [p for p in place.state.pointers if not p.is_const and p.at != ONE_THREAD]
    found = _pick(random, shared)
    return found and [f"!{found.name}[0] = 3"]


def stores_through_const(place: Place, random: Random, program: Program) -> Lines | None:
    found = _pick(random, [p for p in place.state.pointers if p.is_const])
    return found and [f"!{found.name}[0] = 3"]


def assigns_a_broader_pointer(place: Place, random: Random, program: Program) -> Lines | None:
    state = place.state
    pairs = [(p, q) for p in state.pointers for q in state.allowed() if p.at != q]
    found = _pick(random, pairs)
    return found and [f"!bad: ptr(const i32) @ {found[1]} = {found[0].name}"]


def shares_in_the_grid(place: Place, random: Random, program: Program) -> Lines | None:
    lines = ["!shared bad: i32[4]", "worse: int @ thread[1] = bad[1]"]
    return lines if place.state.code.level == GRID else None


def shares_too_much(place: Place, random: Random, program: Program) -> Lines | None:
    lines = ["!shared bad: i32[50000]", "worse: int @ thread[1] = bad[1]"]
    return None if place.state.code.level == GRID else lines


def misaligns_an_access(place: Place, random: Random, program: Program) -> Lines | None:
    if place.state.code.level == GRID:
        return None
    at = random.choice(("2", "4 * 3 + 1", "{0} * 2", "{0} + 4"))
    found = _pick(random, [v for v in _scalars(place.state) if v.at.covers(ONE_THREAD)])
    if found is None:
        return None
    lines = ["shared bad: i32[64]", f"!worse: vec(i32, 4) @ thread[1] = load_vec[4](bad, {at})"]
    return [line.format(f"({found.name} * 2 + 1)") for line in lines]


def parts_an_access(place: Place, random: Random, program: Program) -> Lines | None:
    source = _here(place.state, random)
    if source is None or place.state.code.level == GRID:
        return None
    return [
        "shared bad: i32[64]",
        f"partition bad as worse @ thread[1] by i => {random.choice(('i * 2', '7 - i', 'i / 2'))}:",
        "    !worst: vec(i32, 2) @ thread[1] = load_vec[2](worse, 0)",
    ]


def broadcasts_too_far(place: Place, random: Random, program: Program) -> Lines | None:
    state = place.state
    wide = [at for at in state.allowed(2) if at.level != LANE or 32 % at.size]
    found = _pick(random, wide)
    return found and [f"!bad: int @ {found} = broadcast(3)"]


def overlaps(place: Place, random: Random, program: Program) -> Lines | None:
    """A warning: all threads write one element of a new array, and certainly do."""
    state = place.state
    if not state.is_certain or state.code.level == GRID or state.entry(LANE) < 8:
        return None
    if not state.can_wait:
        return None
    return [
        "shared bad: i32[4]",
        "partition bad as worse @ thread[1] at 3:",
        "    !worse[0] = 1",
    ]


# --------------------------------------------------------------------------- calls


def calls_with_too_few(place: Place, random: Random, program: Program) -> Lines | None:
    wrong = [f for f in place.functions if not place.state.offers(f)]
    found = _pick(random, wrong)
    if found is None:
        return None
    arguments = ["0" if isinstance(p, Value) else "X" for p in found.parameters]
    pointers = [p for p in place.state.pointers if p.is_const]
    if not pointers or any(isinstance(p, Pointer) and not p.is_const for p in found.parameters):
        return None
    shown = ", ".join(pointers[0].name if a == "X" else a for a in arguments)
    return [f"!{found.name}({shown})"]


def passes_a_narrow_value(place: Place, random: Random, program: Program) -> Lines | None:
    state = place.state
    calls = [
        (f, i, v)
        for f in place.functions
        for i, p in enumerate(f.parameters)
        for v in _scalars(state)
        if isinstance(p, Value) and not v.at.covers(p.at)
    ]
    found = _pick(random, calls)
    if found is None:
        return None
    arguments = program.arguments(state, found[0])
    if arguments is None:
        return None
    arguments[found[1]] = found[2].name
    return [f"!{found[0].name}({', '.join(arguments)})"]


def passes_another_pointer(place: Place, random: Random, program: Program) -> Lines | None:
    state = place.state
    calls = [
        (f, i, q)
        for f in place.functions
        for i, p in enumerate(f.parameters)
        for q in state.pointers
        if isinstance(p, Pointer) and not _fits(q, p) and (p.is_const or not q.is_const)
    ]
    found = _pick(random, calls)
    if found is None:
        return None
    arguments = program.arguments(state, found[0])
    if arguments is None or found[2].root in _roots(state, arguments, found[1]):
        return None
    arguments[found[1]] = found[2].name
    return [f"!{found[0].name}({', '.join(arguments)})"]


def passes_one_memory_twice(place: Place, random: Random, program: Program) -> Lines | None:
    state = place.state
    for function in place.functions:
        arguments = program.arguments(state, function)
        pointers = [i for i, p in enumerate(function.parameters) if isinstance(p, Pointer)]
        if arguments is None or len(pointers) < 2:
            continue
        arguments[pointers[0]] = arguments[pointers[1]]
        fitting = [p for p in state.pointers if p.name == arguments[pointers[1]]]
        wanted = function.parameters[pointers[0]]
        if isinstance(wanted, Pointer) and _fits(fitting[0], wanted):
            return [f"!{function.name}({', '.join(arguments)})"]
    return None


def calls_lazily(place: Place, random: Random, program: Program) -> Lines | None:
    state = place.state
    for function in place.functions:
        arguments = program.arguments(state, function)
        values = [v for v in _scalars(state) if not v.at.covers(function.top)]
        found = _pick(random, values)
        if arguments is not None and found and function.top != ONE_THREAD:
            call = f"{function.name}({', '.join(arguments)})"
            form = random.choice(("{0} if {1} > 3 else 0", "0 if {1} > 3 else {0}"))
            return [f"!bad: int @ thread[1] = {form.format(call, found.name)}"]
    return None


# --------------------------------------------------------------------------- what is there


def _scalars(state: State) -> list[Value]:
    return [v for v in state.values if v.kind != "array"]


def _varying(state: State) -> list[Value]:
    return [v for v in _scalars(state) if not v.at.covers(state.code)]


def _here(state: State, random: Random) -> Pointer | None:
    """A pointer of the code's own perspective."""
    return _pick(random, [p for p in state.pointers if p.at == state.code])


def _fits(given: Pointer, wanted: Pointer) -> bool:
    return given.at == wanted.at or (wanted.is_const and given.at.covers(wanted.at))


def _roots(state: State, arguments: list[str], but: int) -> set[str]:
    others = [name for i, name in enumerate(arguments) if i != but]
    return {p.root for p in state.pointers if p.name in others}


BREAKS = (
    Break("P0201", takes_an_unknown_name),
    Break("P0301", takes_another_type),
    Break("P0335", assigns_a_counter),
    Break("P0336", stores_through_const),
    Break("P0341", reads_before_assigning),
    Break("P0390", misaligns_an_access),
    Break("P0391", parts_an_access),
    Break("P0401", broadens),
    Break("P0402", groups_by_no_divisor),
    Break("P0403", splits_too_much),
    Break("P0404", misaligns_an_arm),
    Break("P0405", writes_down),
    Break("P0406", assigns_for_others),
    Break("P0407", declares_broader),
    Break("P0408", declares_what_does_not_divide),
    Break("P0409", divides_by_a_condition),
    Break("P0409", divides_by_a_bound),
    Break("P0410", leaves_a_loop),
    Break("P0410", leaves_the_function),
    Break("P0411", counts_nothing),
    Break("P0412", counts_what_is_not_there),
    Break("P0413", narrows_from_elsewhere),
    Break("P0414", narrows_to_no_divisor),
    Break("P0415", offsets_inside_a_piece),
    Break("P0416", reads_what_is_hidden),
    Break("P0417", claims_for_two_arms),
    Break("P0418", uses_a_claim_outside),
    Break("P0420", stores_for_several),
    Break("P0421", indexes_an_array_per_thread),
    Break("P0423", calls_with_too_few),
    Break("P0424", passes_a_narrow_value),
    Break("P0425", passes_another_pointer),
    Break("P0426", passes_one_memory_twice),
    Break("P0427", calls_lazily),
    Break("P0428", assigns_a_broader_pointer),
    Break("P0441", broadcasts_too_far),
    Break("P0501", shares_in_the_grid),
    Break("P0503", shares_too_much),
    Break("P0603", overlaps),
)
