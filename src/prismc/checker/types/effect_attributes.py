"""The attribute `@effects`: what an unsafe function does to memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prismc.checker.types import typed
from prismc.checker.types.attributes import Attributes, Declared
from prismc.checker.types.context import UNKNOWN, is_refused
from prismc.checker.types.effects import Box, Effects, Extent
from prismc.checker.types.model import PointerType, TensorMapType
from prismc.diagnostics.suggest import did_you_mean
from prismc.diagnostics.words import counted
from prismc.frontend import ast
from prismc.hardware.asynchronous import Agent, Completion
from prismc.hardware.groups import Perspective

_EFFECTS = ("reads", "writes", "scope", "syncs", "agent", "completes", "needs")
# The dimensions of a tensor, innermost first.
_DIMENSIONS = ("x", "y", "z", "u", "v")


class EffectAttributes(Attributes):
    """Reads `@effects(..)`."""

    def effects(self, node: Declared) -> Effects | None:
        """`@effects(..)`, None without it."""
        attribute = self._attribute(node, "effects")
        if attribute is None:
            return None
        variables: dict[str, list[typed.Variable]] = {"reads": [], "writes": []}
        words: dict[str, list[str]] = {"agent": [], "needs": []}
        whole: dict[str, Perspective | None] = {"scope": None, "syncs": None}
        completes: Completion | None = None
        size: typed.Expression | None = None
        parts: list[Extent | Box] = []
        for effect in attribute.arguments:
            name = self._effect_name(effect)
            if name is None or not isinstance(effect, ast.Call):
                continue
            if name in variables:
                named = self._effect_variables(effect)
                variables[name] += named
                parts += self._part_of(effect, named, is_write=name == "writes")
            elif name in whole:
                whole[name] = self.perspective_of(effect.arguments[0]) if effect.arguments else None
            elif name == "completes":
                completes, size = self._completion_of(effect)
            else:
                words[name] += self._effect_words(effect)
        return Effects(
            reads=tuple(variables["reads"]),
            writes=tuple(variables["writes"]),
            scope=whole["scope"],
            syncs=whole["syncs"],
            agent=self._agent(attribute, words["agent"]),
            completes=completes,
            bytes=size,
            needs=tuple(words["needs"]),
            span=attribute.span,
            extents=tuple(part for part in parts if isinstance(part, Extent)),
            boxes=tuple(part for part in parts if isinstance(part, Box)),
        )

    def _effect_name(self, effect: ast.Expression) -> str | None:
        if isinstance(effect, ast.Call) and isinstance(effect.callee, ast.Reference):
            name = effect.callee.name
            if name in _EFFECTS:
                return name
            advice = did_you_mean(name, _EFFECTS, f"there are: {', '.join(_EFFECTS)}")
            self._bad_attribute(effect.callee, "effects", f"`{name}` is unknown", advice)
            return None
        self._bad_attribute(
            effect, "effects", "this is no effect", "write `reads(p)`, `writes(p)`, .."
        )
        return None

    def _effect_variables(self, effect: ast.Call) -> list[typed.Variable]:
        found: list[typed.Variable] = []
        for node in effect.arguments:
            variable = self.variable_at(node)
            if variable is not None and variable.kind is typed.VariableKind.PARAMETER:
                found.append(variable)
            elif self.binding_at(node) is not UNKNOWN and self.symbol_at(node) is not None:
                self._bad_attribute(node, "effects", "this is no parameter", "name a parameter")
            else:
                self.is_failed = True
        return found

    def _part_of(
        self, effect: ast.Call, named: list[typed.Variable], *, is_write: bool
    ) -> Iterator[Extent | Box]:
        """What of one parameter's memory: `writes(p, element = i, bytes = n)`, no more than n bytes
        from element i on; `writes(m, x = i, y = j)`, a tensor map's box."""
        parts = {one.name.text: one.value for one in effect.named}
        if not parts:
            return
        reason = "this is no part of one parameter's memory"
        if len(effect.arguments) != 1:
            self._bad_attribute(effect, "effects", reason, "name one parameter in it")
        if len(effect.arguments) != 1 or not named:
            return
        if isinstance(named[0].type, TensorMapType):
            yield from self._box_of(effect, named[0], named[0].type, parts, is_write=is_write)
        elif not isinstance(named[0].type, PointerType):
            self._bad_attribute(effect, "effects", "this is no pointer", "name the array alone")
        elif "bytes" not in parts or not parts.keys() <= {"element", "bytes", "rank"}:
            advice = "write `writes(p, element = i, bytes = n)`, or the parameter alone"
            self._bad_attribute(effect, "effects", reason, advice)
        else:
            yield from self._extent_of(named[0], parts, is_write=is_write)

    def _box_of(
        self,
        effect: ast.Call,
        named: typed.Variable,
        of: TensorMapType,
        parts: Mapping[str, ast.Expression],
        *,
        is_write: bool,
    ) -> Iterator[Box]:
        wanted = _DIMENSIONS[: len(of.box)]
        if parts.keys() != set(wanted):
            reason = f"a box of this tensor map starts at {counted(len(wanted), 'number')}"
            corner = ", ".join(f"{name} = .." for name in wanted)
            word = "writes" if is_write else "reads"
            advice = f"write `{word}({named.name}, {corner})`, or the tensor map alone"
            self._bad_attribute(effect, "effects", reason, advice)
            return
        places = tuple(self.require_integer(parts[name], "an element") for name in wanted)
        if not any(map(is_refused, places)):
            yield Box(parameter=named, is_write=is_write, corner=places)

    def _extent_of(
        self, named: typed.Variable, parts: Mapping[str, ast.Expression], *, is_write: bool
    ) -> Iterator[Extent]:
        element = parts.get("element")
        first = None if element is None else self.require_integer(element, "an element")
        size = self.require_integer(parts["bytes"], "a number of bytes")
        rank = parts.get("rank")
        block = None if rank is None else self.require_integer(rank, "a block of the cluster")
        known = (size, *(each for each in (first, block) if each is not None))
        if not any(map(is_refused, known)):
            yield Extent(parameter=named, is_write=is_write, element=first, bytes=size, block=block)

    def _completion_of(self, effect: ast.Call) -> tuple[Completion | None, typed.Expression | None]:
        """What ends the effects: a group, or an mbarrier that counts `bytes = e`."""
        known = {completion.value: completion for completion in Completion}
        words = self._effect_words(effect)
        found = known.get(words[0]) if len(words) == 1 else None
        if found is None:
            advice = f"name one of {', '.join(f'`{word}`' for word in known)}"
            self._bad_attribute(effect, "effects", "this completes nothing", advice)
            return None, None
        size = next((one.value for one in effect.named if one.name.text == "bytes"), None)
        if (size is not None) != (found is Completion.MBARRIER) or len(effect.named) > 1:
            reason = "an mbarrier counts bytes, groups count nothing"
            advice = "write `completes(mbarrier, bytes = e)`, or a group's name alone"
            self._bad_attribute(effect, "effects", reason, advice)
            return None, None
        return found, None if size is None else self.require_integer(size, "a number of bytes")

    def _agent(self, attribute: ast.Attribute, words: list[str]) -> Agent:
        known = {agent.value: agent for agent in Agent}
        unknown = [word for word in words if word not in known]
        if unknown or len(words) > 1:
            reason = f"`{unknown[0]}` is no agent" if unknown else "there is one agent"
            advice = f"name one of {', '.join(f'`{word}`' for word in known)}"
            self._bad_attribute(attribute, "effects", reason, advice)
            return Agent.GENERIC
        return known[words[0]] if words else Agent.GENERIC

    def _effect_words(self, effect: ast.Call) -> list[str]:
        words: list[str] = []
        for node in effect.arguments:
            if isinstance(node, ast.Reference):
                words.append(node.name)
            else:
                self._bad_attribute(node, "effects", "a word stands here", "write a name")
        return words
