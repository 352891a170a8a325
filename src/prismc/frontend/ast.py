"""The syntax tree: every node on one page, grouped as types, expressions, statements, declarations.

Nodes are frozen and hold what the source says, nothing derived. `id` numbers the nodes of one
module so that facts can be kept beside the tree: in source order, a node after its parts, with
gaps. The span comes last; a node's span holds its parts' spans and no space around them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prismc.source.record import Record
from prismc.source.span import Span


class Node(Record):
    """Anything with a place in the source. `id` is unique within its module."""

    id: int
    span: Span


class Name(Node):
    """An identifier where it is declared or used, with its own span."""

    text: str


# --------------------------------------------------------------------------- expressions


class Expression(Node):
    """Base of expressions. Types used as generic arguments are expressions too."""


class Integer(Expression):
    value: int
    text: str


class Float(Expression):
    value: float
    text: str


class Boolean(Expression):
    value: bool


class String(Expression):
    """Adjacent literals are joined; `value` has its escapes resolved."""

    value: str


class Reference(Expression):
    """A name used as a value, a type or a function."""

    name: str


class Member(Expression):
    """`value.name`: a vector component, or a module's name."""

    value: Expression
    name: Name


class Unary(Expression):
    """`operator` is one of `-` `+` `~` `not`."""

    operator: str
    operand: Expression


class Binary(Expression):
    """`operator` is one of `+ - * / % << >> & | ^ < <= > >= == != and or`."""

    operator: str
    left: Expression
    right: Expression
    operator_span: Span


class Conditional(Expression):
    """`value if condition else otherwise`."""

    value: Expression
    condition: Expression
    otherwise: Expression


class Index(Expression):
    """`value[a, b]`: an element, a sub-array, a slot, an array type, or generic arguments.

    Named generic arguments (`f[N = 4]`) stand in `named`.
    """

    value: Expression
    arguments: tuple[Expression, ...]
    named: tuple[NamedArgument, ...] = ()


class NamedArgument(Node):
    """`name = value` in a call, in generic arguments or in an attribute."""

    name: Name
    value: Expression


class Call(Expression):
    """`callee(arguments)`; the callee may carry generic arguments as an `Index`."""

    callee: Expression
    arguments: tuple[Expression, ...]
    named: tuple[NamedArgument, ...] = ()


class PerspectiveLiteral(Expression):
    """`thread[32]`, `warp[k]`, `block[1]`: also the argument of `id(..)` and `count(..)`.

    `level` is one of `thread warp warpgroup block grid`. A bare level word stands only after
    `split`, where it is a field of `Split`.
    """

    level: str
    size: Expression


class Lambda(Expression):
    """`i => e`, the index function after `by`."""

    parameter: Name
    body: Expression


class PointerTypeExpression(Expression):
    """`ptr(T)`, `ptr(const T)`, `ptr(atomic T)`; the pointee may have a shape, `f32[M, N]`."""

    qualifier: str | None
    element: Expression


class VectorTypeExpression(Expression):
    """`vec(T, n)`."""

    element: Expression
    lanes: Expression


class FunctionTypeExpression(Expression):
    """`fn(T, T) -> T`, a generic kind."""

    parameters: tuple[Expression, ...]
    result: Expression


class TensorMapTypeExpression(Expression):
    """`tensor_map(bf16[64, 128], swizzle128)`; `layout` None when left out."""

    box: Expression
    layout: Expression | None


class QualifiedType(Expression):
    """`const T` or `async T` where a parameter's type stands."""

    qualifier: str
    type: Expression


# --------------------------------------------------------------------------- statements


class Statement(Node):
    """Base of statements."""


class At(Node):
    """`@ q`: a stated perspective, a literal or the name of a generic one."""

    perspective: Expression


class Declare(Statement):
    """`x: T @ q = e`; type None for `x := e` (then `at` is None and `value` is there)."""

    name: Name
    type: Expression | None
    at: At | None
    value: Expression | None


class DeclareSeveral(Statement):
    """`a, b := f(x)`: one name for each of the call's results."""

    names: tuple[Name, ...]
    value: Expression


class ConstantDeclaration(Statement):
    """`const N: int = e`, at top level or in a function; type None when it is left out."""

    name: Name
    type: Expression | None
    value: Expression


class Assign(Statement):
    """`target = e` or `target += e`; `operator` is "" or the binary operator before `=`."""

    target: Expression
    operator: str
    value: Expression


class AssignSeveral(Statement):
    """`x, y = y, x`: all values are read before any target is written."""

    targets: tuple[Expression, ...]
    values: tuple[Expression, ...]


class ExpressionStatement(Statement):
    """A call on a line of its own; the checker refuses anything else."""

    value: Expression


class Shared(Statement):
    """`shared x: T[n] @ q align a layout f`."""

    name: Name
    type: Expression
    at: At | None
    align: Expression | None
    layout: Expression | None


class If(Statement):
    """`if`; an `elif` is an `If` alone in `otherwise`. `is_static` for `static if`."""

    condition: Expression
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    is_static: bool = False


class While(Statement):
    condition: Expression
    body: tuple[Statement, ...]


class For(Statement):
    """`for i in range(start, stop, step)`; `mode` is "", "unroll" or "static"."""

    variable: Name
    range: tuple[Expression, ...]
    mode: str
    body: tuple[Statement, ...]


class Break(Statement):
    pass


class Continue(Statement):
    pass


class Return(Statement):
    """`return`, `return e`, `return a, b`."""

    values: tuple[Expression, ...]


class Pass(Statement):
    pass


class Assert(Statement):
    """`assert e, "text"`; `is_static` for `static assert`."""

    condition: Expression
    message: String | None
    is_static: bool = False


class Group(Statement):
    """`group P:`. `header` covers the line up to the colon."""

    perspective: Expression
    body: tuple[Statement, ...]
    header: Span


class Case(Node):
    """`case n:`, one arm of a split."""

    size: Expression
    body: tuple[Statement, ...]
    header: Span


class Split(Statement):
    """`split l:` with its arms; `level` is the word as written."""

    level: str
    cases: tuple[Case, ...]
    header: Span


class First(Statement):
    """`first l[n]:`, a split with the one arm n."""

    perspective: Expression
    body: tuple[Statement, ...]
    header: Span


class Narrow(Node):
    """One pair of a partition, claim or async: `x as y @ q at e`, or `by i => f`.

    `pointer` is a name or a slot `S[c]`. `is_async` for `as async y` and in an `async` statement.
    `at` is None in an `async` statement only. At most one of `offset` (one expression, or two for
    a shaped pointee) and `function` is there.
    """

    pointer: Expression
    name: Name
    is_async: bool
    at: At | None
    offset: tuple[Expression, ...]
    function: Lambda | None


class Partition(Statement):
    pairs: tuple[Narrow, ...]
    body: tuple[Statement, ...]
    header: Span


class Claim(Statement):
    pairs: tuple[Narrow, ...]
    body: tuple[Statement, ...]
    header: Span


class Async(Statement):
    pairs: tuple[Narrow, ...]
    body: tuple[Statement, ...]
    header: Span


class Ring(Node):
    """`A_s as a` after `through`."""

    pointer: Name
    name: Name


class Pipeline(Statement):
    """`pipeline k in range(..) through A_s as a, ..:` with its two regions."""

    variable: Name
    range: tuple[Expression, ...]
    rings: tuple[Ring, ...]
    produce: tuple[Statement, ...]
    consume: tuple[Statement, ...]
    header: Span


class Finish(Statement):
    """`finish c:`, run by the block that arrives last."""

    counter: Expression
    body: tuple[Statement, ...]
    header: Span


class Unsafe(Statement):
    """`unsafe:` and what it holds."""

    body: tuple[Statement, ...]
    header: Span


# --------------------------------------------------------------------------- declarations


class Attribute(Node):
    """`@requires(..)`, `@launch(..)`, `@effects(..)`, `@assume(..)`, arguments as written."""

    name: Name
    arguments: tuple[Expression, ...]
    named: tuple[NamedArgument, ...]


class Generic(Node):
    """`N: int` among the generics; `kind` is `type`, `int`, `bool`, `perspective` or `fn(..)`."""

    name: Name
    kind: Expression


class Parameter(Node):
    name: Name
    type: Expression
    at: At | None


class Result(Node):
    """One result of a function: its type and its stated perspective."""

    type: Expression
    at: At | None


class Declaration(Node):
    """Base of what stands at top level."""


class ImportedName(Node):
    """`b as c` in `from m import a, b as c`; `alias` is None without `as`."""

    name: Name
    alias: Name | None


class Import(Declaration):
    """`import m` or `import m as n`; `path` is the dotted name."""

    path: tuple[str, ...]
    path_span: Span
    alias: Name | None


class FromImport(Declaration):
    """`from m import a, b as c`."""

    path: tuple[str, ...]
    path_span: Span
    names: tuple[ImportedName, ...]


class Constant(Declaration):
    """A top-level `const`."""

    name: Name
    type: Expression | None
    value: Expression


class Function(Declaration):
    """`def`; without a `@requires` attribute it is an expression function. `header` ends at `:`.

    The parts of one that is `deferred` (see there) are parsed when the first of them is read.
    """

    __slots__ = ("deferred",)

    attributes: tuple[Attribute, ...]
    name: Name
    generics: tuple[Generic, ...]
    parameters: tuple[Parameter, ...]
    results: tuple[Result, ...]
    body: tuple[Statement, ...]
    is_unsafe: bool
    header: Span

    if not TYPE_CHECKING:  # to which any name would be an attribute

        def __getattr__(self, field: str) -> object:
            """Asked for what is not there: a field that was deferred, or no field."""
            if field not in self.__fields__:
                raise AttributeError(f"a function has no `{field}`")
            self.deferred(self)
            return object.__getattribute__(self, field)


class Kernel(Declaration):
    """`kernel k[..](..):`, an entry point."""

    attributes: tuple[Attribute, ...]
    name: Name
    generics: tuple[Generic, ...]
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    header: Span


class Export(Declaration):
    """`export name = k[128, 64]`."""

    name: Name
    value: Expression


class Test(Declaration):
    """`test "name":`, host code."""

    name: String
    body: tuple[Statement, ...]
    header: Span


class Module(Node):
    """One file. `name` is how imports call it (`std.mma`), or the file's stem for a root file.

    `broken` holds the names that declarations with syntax errors would have declared: a use of one
    is not to be reported, the syntax error was.
    """

    name: str
    file: str
    declarations: tuple[Declaration, ...]
    broken: tuple[str, ...] = ()
