"""Where the registers of products are fenced from what the code does to them.

`wgmma.fence` is due before the first product of a warpgroup, and between an access to registers and
a product that has them, unless that access is another product's of the same shape (PTX ISA,
"wgmma.fence"). So a scope of products is fenced if on some path to it the code may have touched its
registers since the last fence. A wait that hands registers over counts: compilers may move them
behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from prismc.checker.sync.graph import (
    Access,
    Arms,
    Choice,
    Exit,
    Graph,
    Jump,
    Loop,
    Node,
    Region,
    Sequence,
    Wait,
    follow,
    nodes_in,
)
from prismc.checker.sync.units import accesses_of
from prismc.checker.types import typed
from prismc.checker.types.walk import calls_in
from prismc.hardware.asynchronous import Agent, Completion
from prismc.source.record import Record

# The products of a scope, by the symbols of the functions that issue them.
Form = frozenset[str]
# Registers that are fenced, by the form of the products that had them since (none: only a fence).
Fenced = Mapping[int, Form]
_NO_PRODUCT: Form = frozenset()
_CODE: Form = frozenset(("",))


class ProductFence(Record):
    """A fence in front of a scope of products; `registers` are what these have."""

    scope: Region
    registers: tuple[int, ...]


def plan_product_fences(graph: Graph, body: typed.Body) -> tuple[ProductFence, ...]:
    """The fences of one function."""
    forms = {
        statement.id: _form(statement)
        for statement in body.all_statements
        if isinstance(statement, typed.Narrow) and statement.is_async
    }
    scopes = {
        node: forms[node.before.anchor]
        for node in nodes_in(graph.top.body)
        if isinstance(node, Region) and node.before.anchor in forms and product_registers(node.body)
    }
    found: dict[Region, None] = {}
    for threads in dict.fromkeys(scope.threads for scope in scopes):
        walk = _Walk(threads, scopes)
        walk.along(graph.top.body, {})
        found |= walk.fenced
    return tuple(ProductFence(scope=one, registers=product_registers(one.body)) for one in found)


def product_registers(nodes: Sequence) -> tuple[int, ...]:
    """The arrays that products write or read."""
    roots = (
        root
        for access in accesses_of(nodes)
        if access.queue is Completion.PRODUCT_GROUP
        for root in access.roots
    )
    return tuple(sorted({root.register for root in roots if root.is_private}))


def _form(scope: typed.Narrow) -> Form:
    return frozenset(
        call.callee.symbol
        for call in calls_in(scope.body)
        if call.callee.effects is None or call.callee.effects.agent is Agent.WGMMA
    )


class _Around(NamedTuple):
    """What leaves a loop's body early: states at `break` and at `continue`."""

    breaks: list[Fenced]
    continues: list[Fenced]


class _Walk:
    """Follows what is fenced for some threads, from the start of the function; `fenced` are the
    scopes that need a fence. (Going around a loop, what is fenced can only become less.)"""

    def __init__(self, threads: int, scopes: Mapping[Region, Form]) -> None:
        self._threads = threads
        self._scopes = scopes
        self._loops: list[_Around] = []
        self.fenced: dict[Region, None] = {}

    def along(self, nodes: Sequence, state: Fenced | None) -> Fenced | None:
        """The state behind nodes; None if no path goes on."""
        return follow(nodes, state, self._past)

    def _past(self, node: Node, state: Fenced) -> Fenced | None:
        match node:
            case Region():
                return self._region(node, state)
            case Arms(regions=regions):
                for arm in regions:
                    state = self._region(arm, state) or {}
                return state
            case Choice(head=head, arms=arms):
                state = self._touched(state, (head,))
                return _met(self.along(arm, state) for arm in arms)
            case Loop():
                return self._loop(node, state)
            case Jump(exit=exit_):
                if self._loops and exit_ is not Exit.RETURN:
                    around = self._loops[-1]
                    (around.breaks if exit_ is Exit.BREAK else around.continues).append(state)
                return None
            case Wait(registers=registers):
                return _without(state, registers)
            case _:
                return self._touched(state, (node,))

    def _region(self, region: Region, state: Fenced) -> Fenced | None:
        if not region.threads & self._threads:
            return state
        form = self._scopes.get(region)
        if form is None:
            return self.along(region.body, state)
        registers = product_registers(region.body)
        if any(state.get(register, _CODE) not in (form, _NO_PRODUCT) for register in registers):
            self.fenced[region] = None
        state = self._touched(state, region.body, of_scope=True)
        return {**state, **dict.fromkeys(registers, form)}

    def _loop(self, node: Loop, state: Fenced) -> Fenced | None:
        """A loop that is entered in a state, until its start sees nothing new."""
        state = self._touched(state, (node.head,))
        while True:
            tested = self._touched(state, (node.test,))
            self._loops.append(_Around([], []))
            end = self.along(node.body, tested)
            around = self._loops.pop()
            again = _met((state, end, *around.continues))
            if again is None or again == state:
                return _met((tested if node.ends else None, *around.breaks))
            state = again

    def _touched(self, state: Fenced, nodes: Sequence, *, of_scope: bool = False) -> Fenced:
        """What is fenced still behind nodes; the products of a scope are told apart by form."""
        touched = _by_code(accesses_of(nodes), self._threads, of_scope=of_scope)
        return _without(state, set(touched))


def _by_code(accesses: Iterable[Access], threads: int, *, of_scope: bool) -> Iterator[int]:
    """The registers that the code of some threads touches itself."""
    for access in accesses:
        is_product = access.queue is Completion.PRODUCT_GROUP
        if not (is_product and of_scope) and access.footprint.threads & threads:
            yield from (root.register for root in access.roots if root.is_private)


def _without(state: Fenced, registers: Iterable[int]) -> Fenced:
    gone = state.keys() & set(registers)
    return {one: form for one, form in state.items() if one not in gone} if gone else state


def _met(states: Iterable[Fenced | None]) -> Fenced | None:
    """What is fenced on every path that goes on."""
    live = [state for state in states if state is not None]
    if not live:
        return None
    found: dict[int, Form] = {}
    for register in live[0]:
        forms = {state.get(register, _CODE) for state in live}
        made = forms - {_NO_PRODUCT}
        if _CODE not in forms and len(made) <= 1:
            found[register] = next(iter(made), _NO_PRODUCT)
    return found
