"""Where the walk stands: who is speaking, what encloses the line, what is hidden or claimed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prismc.checker.perspectives.aliases import Aliases, Name
from prismc.checker.types import typed
from prismc.checker.types.narrowing import NarrowKind
from prismc.checker.types.walk import expressions_in
from prismc.hardware.groups import Bound, Perspective
from prismc.source.record import Record
from prismc.source.span import Span


class Frame(Record):
    """One enclosing construct. `keyword` is `function group split first loop pipeline` or a
    narrowing's.

    `bound` holds inside it. `arm` is there for the arms of a split, `statement` its split.
    """

    keyword: str
    bound: Bound
    header: Span
    arm: typed.Arm | None = None
    split: typed.Split | None = None

    @property
    def narrows_code(self) -> bool:
        return self.keyword in ("function", "group", "split", "first")

    @property
    def blocks_exits(self) -> bool:
        return self.keyword not in ("function", "loop")


class Hiding(Record):
    """A narrowing that is open: whose memory it hides, and by which view it shows it."""

    source: Name
    view: typed.Variable
    keyword: str
    header: Span
    depth: int


class Claimed:
    """A claimed name: from which frame on it counts, and the arm of each split that has used it."""

    def __init__(self, depth: int, owner: Perspective, header: Span) -> None:
        self.depth = depth
        self.owner = owner
        self.header = header
        self.used_by: dict[int, tuple[typed.Arm, Span]] = {}


class Scope:
    """The mutable state of the walk over one body."""

    def __init__(self, body: typed.Body) -> None:
        self.instance = body.instance
        self.aliases = Aliases(body)
        self.frames: list[Frame] = [
            Frame(
                keyword="function",
                bound=body.instance.bound,
                header=body.instance.requires_span,
            )
        ]
        self.claims: dict[typed.Variable, Claimed] = {}
        # Of these nobody knows how often they vary: what they take part in is no second mistake.
        self.refused: set[typed.Variable] = set()
        self._hidings: list[Hiding] = []
        self._depth_of: dict[typed.Variable, int] = {}

    @property
    def bound(self) -> Bound:
        return self.frames[-1].bound

    @property
    def code(self) -> Perspective:
        return self.frames[-1].bound.code

    def speaker(self) -> Frame:
        """The construct that made the code perspective what it is."""
        return next(frame for frame in reversed(self.frames) if frame.narrows_code)

    @contextmanager
    def inside(self, frame: Frame) -> Iterator[None]:
        self.frames.append(frame)
        yield
        self.frames.pop()

    @contextmanager
    def loop(self, header: Span) -> Iterator[None]:
        with self.inside(Frame(keyword="loop", bound=self.bound, header=header)):
            yield

    @contextmanager
    def narrowing(self, narrow: typed.Narrow) -> Iterator[None]:
        """Hide the sources and show the views for the body of `narrow`."""
        before = len(self._hidings)
        self._hidings += [self.hiding_by(narrow, view) for view in narrow.views]
        for view in narrow.views:
            self._depth_of[view.variable] = len(self._hidings)
            if narrow.kind is NarrowKind.CLAIM:
                owner = view.variable.perspective
                self.claims[view.variable] = Claimed(len(self.frames), owner, narrow.header)
        frame = Frame(keyword=narrow.keyword, bound=self.bound, header=narrow.header)
        with self.inside(frame):
            yield
        del self._hidings[before:]

    def hiding_by(self, narrow: typed.Narrow, view: typed.View) -> Hiding:
        """What a view of a narrowing that is not open yet will hide."""
        return Hiding(
            source=source_of(view),
            view=view.variable,
            keyword=narrow.keyword,
            header=narrow.header,
            depth=len(self._hidings) + len(narrow.views),
        )

    def has_refused(self, expression: typed.Expression) -> bool:
        """Whether a variable with a refused perspective takes part in an expression."""
        return bool(self.refused) and any(
            isinstance(part, typed.Read | typed.Slot) and part.variable in self.refused
            for part in expressions_in(expression)
        )

    def declared(self, variable: typed.Variable) -> None:
        """A variable that begins here: hidings that are open already do not hide it."""
        self._depth_of[variable] = len(self._hidings)

    def hiding_of(self, name: Name) -> Hiding | None:
        """The innermost open narrowing that hides a name, or None."""
        depth = self._depth_of.get(name.variable, 0)
        for hiding in reversed(self._hidings):
            if depth < hiding.depth and self.aliases.may_share(hiding.source, name):
                return hiding
        return None


def source_of(view: typed.View) -> Name:
    """What a view narrows; elaboration lets nothing else through."""
    match view.source:
        case typed.Read(variable=variable):
            return Name(variable)
        case typed.Slot(variable=variable, index=index):
            return Name(variable, index)
        case _:
            raise TypeError(f"a view's source is a variable or a slot, not {view.source!r}")
