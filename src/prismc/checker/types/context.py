"""What elaborating one body shares: the environment, the code's bound, identifiers, reports.

The walk over a body is one object whose methods are spread over a ladder of classes, one file a
rung: `Context`, `Conversions`, `TypeExpressions`, `Operators`, `NumberBuiltins`, `MemoryBuiltins`,
`Builtins`, `Generics`, `Layouts`, `Calls`, `Expressions`, `Places`, `Assumptions`, `Unsafe`,
`Declarations`, `Statements`, `Constructs`, `Pipelines`, `Attributes`, `EffectAttributes`,
`Signatures`, and at the top `FunctionElaborator`.
A rung may call what stands below it, and `expression` and `statements`, which stand above.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol

from prismc.checker.names.symbols import ModuleNames, Symbol
from prismc.checker.types import typed
from prismc.checker.types.call_errors import ForbiddenInExpressionFunction
from prismc.checker.types.model import ERROR, LiteralType, ScalarType, Type
from prismc.checker.types.numbers import Number
from prismc.checker.types.origins import with_origin
from prismc.checker.types.variables import read_type
from prismc.diagnostics.problem import Problem, Related, Severity
from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.hardware.groups import Bound, Level, Perspective
from prismc.hardware.orders import MemoryOrder
from prismc.hardware.scalars import BOOL, F32, I32
from prismc.hardware.swizzles import Swizzle
from prismc.source.record import Record
from prismc.source.span import Span


class Unknown(Record):
    """What a generic parameter stands for while its body is tried without arguments, and what a
    refused constant stands for: it agrees with everything."""


UNKNOWN = Unknown()

# A generic argument: a type, a perspective, a memory order, a function, an int or a bool, or not
# known.
Argument = Type | Perspective | MemoryOrder | typed.Instance | int | bool | Unknown

# What a local name stands for while a body is elaborated.
Binding = (
    typed.Variable | typed.Constant | Type | Perspective | MemoryOrder | typed.Instance | Unknown
)


class Layout(Record):
    """A layout: its function, how many aligned elements it keeps side by side, and the swizzle that
    it is, if it is one."""

    function: typed.Instance
    run: int
    swizzle: Swizzle | None = None


# What is wrong with a function as the layout of so many elements, and how many stay side by side.
Judgement = tuple[str | None, int]


class Given(NamedTuple):
    """What is known of the memory behind an argument: its layout, and the blocks of the cluster
    that keep a copy of it."""

    layout: Layout | None = None
    mirrors: int = 1


class Request(Record):
    """Which instance is wanted: a function or kernel with its generic arguments.

    `threads` is the number of threads in a block where it is known and matters. `origin` is the use
    that asks, `chain` tells those that led to it; `depth` counts them. `symbol_name` is
    the name that an export gives. A `is_trial` request elaborates a generic body with UNKNOWN
    arguments, for what does not depend on them. `given` tells of the memory that the parameters are
    given, in their order; it is empty where there is nothing to tell.
    """

    symbol: Symbol
    arguments: tuple[Argument, ...] = ()
    threads: int | None = None
    origin: Span | None = None
    chain: tuple[Related, ...] = ()
    depth: int = 0
    symbol_name: str | None = None
    is_trial: bool = False
    given: tuple[Given, ...] = ()


class Program(Protocol):
    """What a body may ask of the program that it belongs to."""

    sink: Sink

    def next_id(self) -> int: ...

    def names_of(self, module: str) -> ModuleNames: ...

    def constant(self, symbol: Symbol) -> typed.Constant | None:
        """The value of a module's constant; None if it was refused."""

    def instance(self, request: Request) -> typed.Instance | None:
        """The instance, made when it is first asked for; None if its signature was refused."""

    def evaluate(self, callee: typed.Instance, arguments: tuple[Number, ...]) -> Number | None:
        """What an expression function gives for constants; None if that is not known."""

    def why_unknown(self, callee: typed.Instance, arguments: tuple[Number, ...]) -> str:
        """What the function does for which `evaluate` gave None; REFUSED if it was refused."""

    def symbol_of(self, callee: typed.Instance) -> Symbol: ...

    def swizzle(self, swizzle: Swizzle, size: int, at: Span) -> Layout:
        """The layout of elements of `size` bytes; `at` is the use that asks."""

    def swizzle_of(self, function: typed.Instance) -> Layout | None:
        """The layout that a function is, if it is a swizzle's."""


class Context(ABC):
    """State of the walk. `bound` is the code's bound at the statement that is being elaborated.

    `destination` is the perspective that a bare `id()` counts, inside a declaration or an
    assignment that states one. `instance` is None while a signature or a module's constant is
    elaborated.
    """

    def __init__(self, program: Program, module: str, request: Request | None = None) -> None:
        self.program = program
        self.module = module
        self.request = request
        names = program.names_of(module)
        self.uses = names.uses
        self.declared = names.declared
        self.environment: dict[Symbol, Binding] = {}
        self.layouts: dict[str, Layout] = {}
        # Arrays of one size often have one layout.
        self.judged_layouts: dict[tuple[typed.Instance, int], Judgement] = {}
        self.shapes: dict[typed.Variable, tuple[ast.Expression, ...]] = {}
        self.instance: typed.Instance | None = None
        self.generics: tuple[tuple[str, str], ...] = ()
        self.bound = Bound(0, 0, 1, 1)
        self.destination: Perspective | None = None
        self.is_unsafe = False
        # Inside a branch of a `static if` whose condition is not known: it may not exist.
        self.is_undecided = False
        # Whether an assertion over what the instance is made with has failed: what follows it was
        # written for other constants.
        self.is_misused = False
        self.is_failed = False
        self._has_forbidden = False
        self.loops = 0
        # Statements that static loops have made, and whether there are too many.
        self.expansions = 0
        self.is_too_long = False
        # Every call of the body with its place, for recursion and the order of the program.
        self.calls: list[tuple[typed.Instance, Span]] = []

    @abstractmethod
    def expression(self, node: ast.Expression, expected: Type | None = None) -> typed.Expression:
        """The typed form of an expression; `expected` is the type that it will have to have, for
        what adapts to it. The result may have another type: `require_type` judges."""

    def known_layout(self, layout: Layout) -> Layout:
        """Note a layout that pointers here may have; pointer types name it by its function."""
        return self.layouts.setdefault(layout.function.symbol, layout)

    @abstractmethod
    def statements(self, nodes: tuple[ast.Statement, ...]) -> tuple[typed.Statement, ...]:
        """The typed form of a body."""

    # ------------------------------------------------------------------ facts about the walk

    @property
    def is_trial(self) -> bool:
        """Whether a generic body is tried without arguments."""
        return self.request is not None and self.request.is_trial

    @property
    def is_expression_function(self) -> bool:
        """Whether this is the body of a `def` without `@requires`."""
        return self.instance is not None and self.instance.kind is typed.InstanceKind.EXPRESSION

    def id(self) -> int:
        """A new identifier, unique in the program."""
        return self.program.next_id()

    def symbol_at(self, node: ast.Expression) -> Symbol | None:
        """What a reference or a module's member names; None for other expressions."""
        return self.uses.get(node.id)

    def binding_at(self, node: ast.Expression) -> Binding | None:
        """What a local name stands for."""
        symbol = self.uses.get(node.id)
        return self.environment.get(symbol) if symbol is not None else None

    def bind(self, name: ast.Name, binding: Binding) -> None:
        """Say what a declared name stands for from here on."""
        symbol = self.declared.get(name.id)
        if symbol is not None:
            self.environment[symbol] = binding

    # ------------------------------------------------------------------ reports

    def report(self, problem: Problem) -> None:
        """Report with the use that asked for this instance, when it has generic arguments."""
        origin, chain = (self.request.origin, self.request.chain) if self.request else (None, ())
        generics = () if self.is_trial else self.generics
        self.program.sink.report(with_origin(problem, generics, origin, chain))
        if problem.severity is Severity.ERROR:
            self.is_failed = True

    def forbid(self, at: Span, what: str, function: ast.Name | None = None) -> None:
        """Refuse what an expression function cannot hold: once, since `@requires` allows it all.
        `function` is its name while its signature is elaborated."""
        self.is_failed = True
        if self._has_forbidden:
            return
        self._has_forbidden = True
        if function is not None:
            name, span = function.text, function.span
        else:
            assert self.instance is not None
            name, span = self.instance.name, self.instance.span
        note = Related(at=span, message="it has no `@requires`")
        self.report(ForbiddenInExpressionFunction(at=at, what=what, function=name, related=(note,)))

    def refused(self, span: Span) -> typed.Refused:
        """The result of an expression that was refused."""
        self.is_failed = True
        return typed.Refused(id=self.id(), span=span, type=ERROR)

    # ------------------------------------------------------------------ small nodes

    def constant(self, span: Span, type_: Type, value: Number) -> typed.Constant:
        """A constant node."""
        return typed.Constant(id=self.id(), span=span, type=type_, value=value)

    def read(self, span: Span, variable: typed.Variable) -> typed.Read:
        """A use of a variable."""
        return typed.Read(id=self.id(), span=span, type=read_type(variable), variable=variable)

    def variable(
        self,
        name: ast.Name,
        type_: Type,
        kind: typed.VariableKind,
        stated: Perspective | None,
        *,
        is_const: bool = False,
        slots: int = 0,
        alignment: int = 0,
        layout: typed.Instance | None = None,
        run: int = 1,
    ) -> typed.Variable:
        """A new variable at the code's perspective, or the stated one; bound to its name."""
        made = typed.Variable(
            id=self.id(),
            name=name.text,
            type=type_,
            kind=kind,
            perspective=stated or self.bound.code,
            is_stated=stated is not None,
            bound=self.bound,
            span=name.span,
            is_const=is_const,
            slots=slots,
            alignment=alignment,
            layout=layout,
            run=run,
        )
        self.bind(name, made)
        return made


def is_refused(expression: typed.Expression) -> bool:
    """Whether an expression was refused, so that what follows from it stays silent."""
    return expression.type is ERROR


def default_type(of: Type) -> Type:
    """The type of a literal that meets none: `int`, or `f32`."""
    if isinstance(of, LiteralType):
        return ScalarType(scalar=F32 if of.is_float else I32)
    return of


def is_boolean(of: Type) -> bool:
    return isinstance(of, ScalarType) and of.scalar is BOOL


def is_block_level(bound: Bound) -> bool:
    """Whether code with this bound sees how many threads a block has."""
    return bound.code.level is not Level.THREAD
