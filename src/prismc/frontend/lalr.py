"""The LALR(1) machine: runs the tables over tokens, calling one action for each production.

It is a loop with explicit stacks, so nesting costs memory, never Python's call stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from prismc.frontend.tables import Rule, Tables, Token
from prismc.source.span import Span

# A span from a tuple, without the way through a function in Python.
_SPAN: Callable[[tuple[str, int, int]], Span] = partial(tuple.__new__, Span)

# Gets the span of the production and the values of its symbols: a token for a terminal.
Action = Callable[..., Any]


class Stuck(NamedTuple):
    """A token that no program can have here: its index, and the states below."""

    place: int
    states: list[int]


class Machine:
    """A parser of one file. Keeps what it learns about chains of unit rules between runs."""

    def __init__(self, tables: Tables, file: str, actions: Sequence[Action | None]) -> None:
        self._tables = tables
        self._file = file
        self._actions = actions
        self._jumps: dict[int, int] = {}

    def run(self, tokens: Iterable[Token]) -> Any:
        """The value of the start symbol, or `Stuck` at the first token that does not fit.

        `tokens` ends with END.
        """
        return self._run(tokens, 0, [self._tables.start])

    def resume(self, tokens: Sequence[Token], place: int, states: Sequence[int]) -> Stuck | None:
        """Runs on from the token at `place` with `states`: where it is stuck, if it is.

        For a machine whose actions make nothing: no values are at hand.
        """
        result = self._run(tokens[place:], place, list(states))
        return result if isinstance(result, Stuck) else None

    def _run(self, tokens: Iterable[Token], first: int, states: list[int]) -> Any:
        """Runs tokens of which the first is counted as `first`."""
        tables, actions, file = self._tables.actions, self._actions, self._file
        rules, jumps, span = self._tables.rules, self._jumps, _SPAN
        width, height = len(self._tables.terminals), len(tables)
        values: list[Any] = [None] * (len(states) - 1)
        starts = [0] * (len(states) - 1)
        end = 0
        for index, token in enumerate(tokens, first):
            kind, begin, _ = token
            while True:
                step = tables[states[-1]].get(kind)
                if step is None:
                    return Stuck(index, states)
                if step >= 0:
                    states.append(step)
                    values.append(token)
                    starts.append(begin)
                    end = token[2]
                    break
                symbol, length, _, blanks = rules[~step]
                action = actions[~step]
                if action is None:
                    states.pop()
                elif length:
                    start = starts[-length]
                    children = values[-length:]
                    for place in blanks:
                        children.insert(place, None)
                    del states[-length:], values[-length:], starts[-length:]
                    values.append(action(span((file, start, end)), *children))
                    starts.append(start)
                else:
                    values.append(action(span((file, end, end)), *(None for _ in blanks)))
                    starts.append(begin)
                key = (symbol * height + states[-1]) * width + kind
                state = jumps.get(key)
                if state is None:
                    state = jumps[key] = self._after(states[-1], symbol, kind)
                states.append(state)
        return values[-2]

    def _after(self, state: int, symbol: int, kind: int) -> int:
        """The state after `symbol`, past all unit rules that the token `kind` reduces at once."""
        tables, gotos = self._tables.actions, self._tables.gotos
        while True:
            target = gotos[state][symbol]
            step = tables[target].get(kind, 0)
            if step >= 0 or self._actions[~step] is not None:
                return target
            symbol = self._tables.rules[~step].symbol


def bind_actions(rules: Sequence[Rule], builder: object) -> list[Action | None]:
    """The builder's method for each rule; None where a rule hands its one value on."""
    return [getattr(builder, rule.action) if rule.action else None for rule in rules]


def no_actions(rules: Sequence[Rule]) -> list[Action | None]:
    """Actions that make nothing: the machine only says where it is stuck, if it is."""
    return [_nothing if rule.action else None for rule in rules]


def _nothing(span: Span, *values: object) -> None:
    return None


def acceptable(tables: Tables, states: Sequence[int]) -> list[int]:
    """The kinds of token that may follow when the machine's states are `states`, ascending."""
    return [kind for kind in sorted(tables.actions[states[-1]]) if accepts(tables, states, kind)]


def accepts(tables: Tables, states: Sequence[int], kind: int) -> bool:
    """Whether `kind` is shifted in the end: a reduction may be tried on a token that is not."""
    states = list(states)
    while True:
        step = tables.actions[states[-1]].get(kind)
        if step is None:
            return False
        if step >= 0:
            return True
        rule = tables.rules[~step]
        if rule.length:
            del states[-rule.length :]
        states.append(tables.gotos[states[-1]][rule.symbol])
