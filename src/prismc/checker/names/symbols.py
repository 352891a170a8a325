"""What a name stands for, and the facts that name resolution leaves beside the tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from prismc.frontend import ast
from prismc.hardware.orders import ORDERS
from prismc.hardware.swizzles import SWIZZLES
from prismc.source.record import Record
from prismc.source.span import NOWHERE, Span


class SymbolKind(Enum):
    """What declared a name; the value is how messages call it."""

    CONSTANT = "constant"
    FUNCTION = "function"
    KERNEL = "kernel"
    EXPORT = "export"
    MODULE = "module"
    GENERIC = "generic parameter"
    PARAMETER = "parameter"
    LOCAL = "variable"
    LOOP = "loop variable"
    BUILTIN = "built-in"
    UNKNOWN = "unknown name"


class Symbol(Record):
    """One declared name; its identity is what a use refers to.

    `node` is the declaration: a function, a kernel, a constant, the statement of a local. An
    UNKNOWN symbol stands for a name whose declaration was refused: its uses report nothing.
    """

    name: str
    kind: SymbolKind
    module: str
    span: Span
    node: ast.Node | None = None


class ModuleNames(Record):
    """Facts of one module, keyed by node id.

    `top` holds the names of its top level. `uses` says what each `Reference` (and each `Member`
    that names something of a module) refers to, `declared` what each declaring `Name` made. A
    node that is in neither was refused.
    """

    top: Mapping[str, Symbol]
    uses: Mapping[int, Symbol]
    declared: Mapping[int, Symbol]


class Names(Record):
    """The facts of all modules, by module name."""

    modules: Mapping[str, ModuleNames]


_SCALARS = (
    "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 tf32 f32 f64 f8e4m3 f8e5m2 int uint float double"
)
_FUNCTIONS = (
    "id count bits min max abs clamp select pack unpack vec2 vec4 popc clz ctz log2 size layout_of "
    "mirrors broadcast load_vec store_vec load_into is_shared shared_address address descriptor "
    "asm cuda outs inouts ins completion print assume aligned disjoint"
)
_HOST_FUNCTIONS = (
    "launch zeros ones empty iota random near where abs sqrt exp log sin cos tanh floor ceil isnan "
    "isinf sum prod max min mean any all argmax argmin cumsum sort reshape transpose matmul outer "
    "bincount take size"
)


def _builtins(words: Iterable[str]) -> Mapping[str, Symbol]:
    return {
        word: Symbol(name=word, kind=SymbolKind.BUILTIN, module="", span=NOWHERE) for word in words
    }


# What tests know, which are host code.
HOST_BUILTINS = _builtins((*_SCALARS.split(), *_HOST_FUNCTIONS.split()))
BUILTINS = _builtins((*_SCALARS.split(), *_FUNCTIONS.split(), *SWIZZLES, *ORDERS))
