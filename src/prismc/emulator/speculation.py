"""Loads that may be there ahead of their conditions, and what their values go into.

Compilers load early where an address is known to be good: `if (c) x += a[3];` becomes a load, an
addition and a select, and what stays the same in a loop is loaded before it. That is allowed, for
"a load which is part of a race returns undef, but does not have undefined behavior" (LLVM Atomic
Instructions and Concurrency Guide): only if something depends on the value is there harm.
"""

from __future__ import annotations

from collections.abc import Iterable

from prismc.emulator.findings import Finding, place_key
from prismc.emulator.flow import flow_of, results_of, sources_of
from prismc.emulator.ptx.tree import Function, Instruction, Module
from prismc.emulator.semantics.registry import Kind, Refused, find
from prismc.source.record import Record

_STRONG = frozenset({"volatile", "relaxed", "acquire", "mmio"})
# They hand a flag on that is no register.
_CARRYING = frozenset({"addc", "subc", "madc"})


class Slice(Record):
    """What may depend on some loads of a function, through registers: `registers`, and the pure
    instructions among those that set them.

    `deciding` has for each conjunction and disjunction those predicates that were there before the
    loads: `if (c) if (a[3])` has its load moved up to behind `c`, but in `if (a[3] && c)` it was
    above `c` from the beginning.
    """

    registers: frozenset[int]
    pure: frozenset[Instruction]
    deciding: dict[Instruction, frozenset[int]]


def suspects(findings: tuple[Finding, ...], module: Module) -> frozenset[Instruction]:
    """The weak loads that some findings are about, if what loads them need not use them. All copies
    are among them that the compiler has made of one."""
    named = {
        place_key(site)
        for finding in findings
        for site in (finding.site, finding.other)
        if site is not None and _is_weak_load(site)
    }
    if not named:
        return frozenset()
    return frozenset(
        body[index]
        for function in module.functions.values()
        if (body := function.body or ())
        for index in _open_loads(function, body, named)
    )


def _open_loads(
    function: Function, body: tuple[Instruction, ...], named: set[object]
) -> Iterable[int]:
    """Indexes of the loads at some places whose own blocks do not make use of them for certain."""
    if not any(_is_weak_load(site) and place_key(site) in named for site in body):
        return
    for block in flow_of(function).blocks:
        for index in range(block.first, block.last):
            site = body[index]
            is_named = _is_weak_load(site) and place_key(site) in named
            if is_named and not _is_used(site, body[index + 1 : block.last]):
                yield index


def _is_used(load: Instruction, behind: tuple[Instruction, ...]) -> bool:
    """Whether an effect depends on a load whatever the conditions are, in its own block."""
    held = set(results_of(load))
    for site in behind:
        if not held.isdisjoint(sources_of(site)):
            if not is_pure(site):
                return True
            if site.guard is None and not may_discard(site):
                held |= set(results_of(site))
        elif site.guard is None:
            held -= set(results_of(site))
    return False


def _is_weak_load(site: Instruction) -> bool:
    return site.form.name in ("ld", "ldu") and _STRONG.isdisjoint(site.form.modifiers)


def is_pure(site: Instruction) -> bool:
    """Whether an instruction does nothing but set registers from the same lane's registers."""
    form = site.form
    if form.name == "mov":
        return True
    if form.name in _CARRYING or form.has("cc"):
        return False
    try:
        return find(form).kind is Kind.LANES
    except Refused:
        return False


def may_discard(site: Instruction) -> bool:
    """Whether the result may not depend on all of the sources: selects, and conjunctions and
    disjunctions of predicates."""
    return site.form.name == "selp" or _joins_predicates(site)


def _joins_predicates(site: Instruction) -> bool:
    return site.form.name in ("and", "or") and site.form.types == ("pred",)


def slice_of(function: Function, loads: frozenset[Instruction]) -> Slice:
    """What may depend on some loads in one function."""
    body = function.body or ()
    registers = _reached(body, [site for site in body if site in loads])
    pure = frozenset(
        site for site in body if is_pure(site) and not registers.isdisjoint(results_of(site))
    )
    return Slice(registers=registers, pure=pure, deciding=_deciding(body, loads, pure))


def _reached(body: tuple[Instruction, ...], loads: list[Instruction]) -> frozenset[int]:
    """The registers that may depend on some loads."""
    registers = {register for site in loads for register in results_of(site)}
    size = 0
    while len(registers) != size:
        size = len(registers)
        for site in body:
            if not registers.isdisjoint(sources_of(site)) and is_pure(site):
                registers |= set(results_of(site))
    return frozenset(registers)


def _deciding(
    body: tuple[Instruction, ...], loads: frozenset[Instruction], pure: frozenset[Instruction]
) -> dict[Instruction, frozenset[int]]:
    joins = [(at, site) for at, site in enumerate(body) if _joins_predicates(site) and site in pure]
    found: dict[Instruction, frozenset[int]] = {}
    if joins:
        reached = [(at, _reached(body, [site])) for at, site in enumerate(body) if site in loads]
        for at, site in joins:
            sources = sources_of(site)
            last = max((k for k, r in reached if k < at and not r.isdisjoint(sources)), default=-1)
            found[site] = frozenset(r for r in sources if 0 <= _set_at(body, at, r) < last)
    return found


def _set_at(body: tuple[Instruction, ...], at: int, predicate: int) -> int:
    """The place in the text of the last comparison that a predicate at some place is made of."""
    for k in range(at - 1, -1, -1):
        site = body[k]
        if predicate in results_of(site):
            if site.form.types == ("pred",) and site.form.name in ("and", "or", "not", "mov"):
                return max((_set_at(body, k, source) for source in sources_of(site)), default=-1)
            return k
    return -1
