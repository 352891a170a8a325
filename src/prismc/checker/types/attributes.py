"""Attributes: `@requires`, `@launch`, `@assume`."""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.call_errors import (
    BadAttribute,
    BadCluster,
    BadLaunchThreads,
    BadRequires,
    UnknownAttribute,
)
from prismc.checker.types.context import is_refused
from prismc.checker.types.model import BOOLEAN
from prismc.checker.types.pipelines import Pipelines
from prismc.checker.types.signature import Launch
from prismc.diagnostics.problem import Related
from prismc.diagnostics.suggest import did_you_mean, nearest
from prismc.diagnostics.words import counted
from prismc.frontend import ast
from prismc.hardware.groups import Bound, Level, Perspective
from prismc.hardware.primitives import LARGEST_CLUSTER, WARP_THREADS
from prismc.source.record import Record
from prismc.source.span import Span

_ATTRIBUTES = ("requires", "launch", "effects", "assume")
_LAUNCH = ("threads", "min_blocks", "cluster", "cooperative")
_LARGEST_BLOCK = 1024  # threads (CUDA C++ Programming Guide, "Compute Capabilities")

Declared = ast.Function | ast.Kernel


class Requires(Record):
    """What `@requires(..)` says: the bound, and `smem =` in bytes if it is there."""

    bound: Bound
    shared: int | None
    span: Span


class Attributes(Pipelines):
    """Reads a declaration's attributes; None stands for one that was refused."""

    def _attribute(self, node: Declared, name: str) -> ast.Attribute | None:
        """The attribute of this name, the first if there are several."""
        found = [attribute for attribute in node.attributes if attribute.name.text == name]
        for repeated in found[1:]:
            self._bad_attribute(
                repeated.name, name, "it stands here already", "remove one of the two"
            )
        return found[0] if found else None

    def _bad_attribute(
        self,
        node: ast.Node,
        attribute: str,
        reason: str,
        advice: str,
        related: tuple[Related, ...] = (),
    ) -> None:
        self.report(
            BadAttribute(
                at=node.span, attribute=attribute, reason=reason, advice=advice, related=related
            )
        )

    def _named_once(self, attribute: ast.Attribute) -> list[ast.NamedArgument]:
        """The named arguments; one that repeats a name is reported and left out."""
        known: dict[str, ast.NamedArgument] = {}
        for argument in attribute.named:
            if argument.name.text in known:
                self._bad_attribute(
                    argument.name,
                    attribute.name.text,
                    f"`{argument.name.text}` is given already",
                    "remove one of the two",
                )
            known.setdefault(argument.name.text, argument)
        return list(known.values())

    def check_attributes(self, node: Declared) -> None:
        """Unknown attributes, and those that do not belong on this kind of declaration."""
        for attribute in node.attributes:
            name = attribute.name.text
            if name not in _ATTRIBUTES:
                advice = did_you_mean(name, _ATTRIBUTES, f"there are: {', '.join(_ATTRIBUTES)}")
                self.report(UnknownAttribute(at=attribute.name.span, name=name, advice=advice))
            if name == "launch" and not isinstance(node, ast.Kernel):
                self._bad_attribute(
                    attribute.name,
                    name,
                    "it belongs to a kernel",
                    "remove it",
                    self.note(node.name.span, f"`{node.name.text}` is a `def`"),
                )
            if name == "effects" and not (isinstance(node, ast.Function) and node.is_unsafe):
                self._bad_attribute(
                    attribute.name,
                    name,
                    "it belongs to an `unsafe def`; of other functions effects are derived",
                    "remove it",
                    self.note(node.name.span, f"`{node.name.text}` is not `unsafe`"),
                )

    # ------------------------------------------------------------------ requires

    def requires(self, node: Declared) -> Requires | None:
        """The bound; an expression function has that of one thread."""
        self.check_attributes(node)
        attribute = self._attribute(node, "requires")
        if attribute is None:
            if isinstance(node, ast.Kernel):
                if self._is_misspelt(node, "requires"):
                    return None
                self._bad_requires(
                    node.name,
                    f"kernel `{node.name.text}` has none",
                    "write `@requires(grid[1], block[1], thread[n])` above it",
                )
                return None
            return Requires(bound=Bound(0, 0, 1, 1), shared=None, span=node.name.span)
        shared = self._shared_bytes(attribute)
        entries = [self._entry(argument) for argument in attribute.arguments]
        known = [entry for entry in entries if entry is not None]
        if len(known) != len(entries):
            return None
        if not known:
            self._bad_requires(attribute, "it names no perspective", "write `@requires(thread[1])`")
            return None
        if isinstance(node, ast.Kernel) and known[0].level is not Level.GRID:
            self._bad_requires(
                attribute.arguments[0],
                f"the grid runs kernel `{node.name.text}`, not {known[0]}",
                "begin with `grid[1]`, and narrow with `group`",
            )
            return None
        bound = self._bound(attribute, known)
        if bound is None:
            return None
        return Requires(bound=bound, shared=shared, span=attribute.span)

    def _is_misspelt(self, node: Declared, name: str) -> bool:
        """Whether an unknown attribute was probably meant to be this one."""
        return any(
            nearest(attribute.name.text, _ATTRIBUTES) == name for attribute in node.attributes
        )

    def _is_unknown(self, node: ast.Expression) -> bool:
        """Whether a name means nothing here, which was reported."""
        return isinstance(node, ast.Reference) and self.symbol_at(node) is None

    def _bad_requires(self, node: ast.Node, reason: str, advice: str) -> None:
        self.report(BadRequires(at=node.span, reason=reason, advice=advice))

    def _entry(self, node: ast.Expression) -> Perspective | None:
        if isinstance(node, ast.PerspectiveLiteral | ast.Reference):
            return self.perspective_of(node)
        if isinstance(node, ast.Index) and self._is_unknown(node.value):
            return None
        self._bad_requires(node, "this is no perspective", "write `level[n]`")
        return None

    def _bound(self, attribute: ast.Attribute, entries: list[Perspective]) -> Bound | None:
        """Levels go down; after specialisation later entries at or above the top's are dropped."""
        sizes = dict.fromkeys((Level.GRID, Level.BLOCK, Level.THREAD), 0)
        top = entries[0].level
        last: Level | None = None
        for node, entry in zip(attribute.arguments, entries, strict=True):
            if last is not None and entry.level >= top and self.generics:
                continue
            if last is not None and entry.level >= last:
                self._bad_requires(
                    node,
                    f"{entry} is not below {last.name.lower()}",
                    "name the levels from broad to narrow, each once",
                )
                return None
            sizes[entry.level] = entry.size
            last = entry.level
        for level in sizes:
            if level < top and sizes[level] == 0:
                sizes[level] = 1
        base = 0 if top is Level.GRID else sizes[top]
        return Bound(sizes[Level.GRID], sizes[Level.BLOCK], sizes[Level.THREAD], base)

    def _shared_bytes(self, attribute: ast.Attribute) -> int | None:
        """`smem =` in bytes, None if it is left out."""
        found: int | None = None
        for argument in self._named_once(attribute):
            if argument.name.text != "smem":
                advice = did_you_mean(argument.name.text, ("smem",), "only `smem = bytes` is named")
                self._bad_requires(argument.name, f"`{argument.name.text}` is unknown", advice)
                continue
            found = self.constant_integer(argument.value, "`smem`")
            if found is not None and found < 0:
                self._bad_requires(argument.value, "`smem` is negative", "give bytes")
        return found

    # ------------------------------------------------------------------ launch

    def launch(self, node: Declared) -> Launch:
        """`@launch(..)`; threads default to the bound's thread entry."""
        attribute = self._attribute(node, "launch")
        entry = self.bound.thread
        values = {"threads": entry, "min_blocks": 0, "cluster": 1}
        cooperative = False
        spans: dict[str, Span] = {}
        for argument in self._named_once(attribute) if attribute is not None else ():
            name = argument.name.text
            if name not in _LAUNCH:
                advice = did_you_mean(name, _LAUNCH, f"there are: {', '.join(_LAUNCH)}")
                self._bad_attribute(argument.name, "launch", f"`{name}` is unknown", advice)
            elif name == "cooperative":
                constant = self.constant_value(argument.value, "`cooperative`", BOOLEAN)
                cooperative = constant is not None and bool(constant.value)
            else:
                value = self.constant_integer(argument.value, f"`{name}`")
                spans[name] = argument.value.span
                if value is not None and value < 1:
                    self._bad_attribute(
                        argument.value, "launch", f"`{name}` is {value}", "give 1 or more"
                    )
                elif value is not None:
                    values[name] = value
        if attribute is not None and attribute.arguments:
            self._bad_attribute(
                attribute.arguments[0], "launch", "its arguments are named", "write `threads = ..`"
            )
        at = spans.get("threads", attribute.span if attribute is not None else node.name.span)
        bound = self._attribute(node, "requires")
        self._check_threads(values["threads"], entry, at, bound)
        self._check_cluster(values["cluster"], values["threads"], spans.get("cluster", at), bound)
        return Launch(
            threads=values["threads"],
            min_blocks=values["min_blocks"],
            cluster=values["cluster"],
            cooperative=cooperative,
            span=attribute.span if attribute is not None else node.name.span,
        )

    def _check_threads(
        self, threads: int, entry: int, at: Span, bound: ast.Attribute | None
    ) -> None:
        related: tuple[Related, ...] = ()
        if threads > _LARGEST_BLOCK:
            reason = f"a block has at most {_LARGEST_BLOCK} threads"
        elif entry and threads % entry:
            reason = f"it is no multiple of the thread[{entry}] that the kernel requires"
            related = self.note(bound.span, "required here") if bound is not None else ()
        else:
            return
        self.report(BadLaunchThreads(at=at, threads=threads, reason=reason, related=related))

    def _check_cluster(
        self, cluster: int, threads: int, at: Span, bound: ast.Attribute | None
    ) -> None:
        """A cluster holds whole `block[n]` of the bound; warps do not straddle its blocks."""
        entry = self.bound.block
        related: tuple[Related, ...] = ()
        if cluster > LARGEST_CLUSTER:
            reason = f"a cluster has at most {LARGEST_CLUSTER} blocks"
            advice = "launch smaller clusters"
        elif entry and cluster % entry:
            reason = f"the kernel requires block[{entry}]"
            advice = f"write `cluster = {entry}` in `@launch(..)`, or a multiple of it"
            related = self.note(bound.span, "required here") if bound is not None else ()
        elif cluster > 1 and threads % WARP_THREADS:
            reason = f"its blocks of {threads} threads are no whole warps"
            advice = f"launch a multiple of {WARP_THREADS} threads a block"
        else:
            return
        self.report(
            BadCluster(
                at=at,
                blocks=counted(cluster, "block"),
                reason=reason,
                advice=advice,
                related=related,
            )
        )

    # ------------------------------------------------------------------ assume

    def assumptions(self, node: Declared) -> tuple[typed.Expression, ...]:
        """Conditions over the parameters: launches verify a kernel's, calls prove a function's."""
        made: list[typed.Expression] = []
        for attribute in node.attributes:
            if attribute.name.text != "assume":
                continue
            made += [self.assumption(node, "`@assume`") for node in attribute.arguments]
        return tuple(condition for condition in made if not is_refused(condition))
