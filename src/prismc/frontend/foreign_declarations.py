"""Declarations as C, C++ and CUDA write them, and imports as Python does, for `syntax_help`, as in
`explanations`."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem
from prismc.frontend.errors import ForeignSpelling
from prismc.frontend.explanations import foreign
from prismc.frontend.situation import Situation

_DECLARATION_WORDS = {
    "__global__": "write `kernel name(..):` under `@requires(grid[1], block[1], thread[n])`",
    "__device__": "write `def name(..) -> type:` under `@requires(..)`, which says who runs it",
    **dict.fromkeys(
        ("func", "function", "fun"), "write `def name(..) -> type:`, under `@requires(..)`"
    ),
    **dict.fromkeys(
        ("struct", "class", "enum", "union", "typedef", "using", "namespace"),
        "leave it out: values are scalars, vectors and arrays, names go by module",
    ),
    "template": "write generics behind the name: `def name[T: type, N: int](..)`",
    **dict.fromkeys(("extern", "static", "inline"), "leave it out, and write `def name(..):`"),
    "void": "write `def name(..):`, or `kernel name(..):` for what the host launches",
}


def pointer_with_star(at: Situation) -> Problem | None:
    """`float* x` among parameters, `x: float*` anywhere."""
    if at.token != "*" or at.word(-1) != "NAME":
        return None
    pointee = at.text(-1)
    if at.word(-2) == ":":
        return foreign(at, -1, 0, _instead("x", pointee), f"ptr({pointee})")
    if at.accepted != [":"]:
        return None
    if at.word(1) == "NAME":
        name = at.text(1)
        return foreign(at, -1, 1, _instead(name, pointee), f"{name}: ptr({pointee})")
    return foreign(at, -1, 0, _instead("x", pointee))


def _instead(name: str, pointee: str) -> str:
    return f"write `{name}: ptr({pointee})`, with `const {pointee}` where it is only read"


def const_first(at: Situation) -> Problem | None:
    """`const float *x` and `const int n` among parameters."""
    if at.token != "const" or at.word(-1) not in ("(", ",") or at.word(1) != "NAME":
        return None
    written = at.text(1)
    if at.word(2) == "*" and at.word(3) == "NAME":
        right = f"{at.text(3)}: ptr(const {written})"
        return foreign(at, 0, 3, f"write `{right}`", right)
    if at.word(2) == "NAME":
        right = f"{at.text(2)}: {written}"
        return foreign(at, 0, 2, f"put the type after the name: `{right}`", right)
    return None


def pointer_without_brackets(at: Situation) -> Problem | None:
    """`ptr<f32>`, `ptr f32` and `ptr` alone."""
    if at.word(-1) != "ptr" or at.accepted != ["("]:
        return None
    if at.token == "NAME":
        return foreign(at, -1, 0, f"write `ptr({at.text()})`", f"ptr({at.text()})")
    if at.token != "<" or at.word(1) != "NAME":
        return foreign(at, -1, -1, "say what it points to, as in `ptr(f32)`")
    fix = f"ptr({at.text(1)})"
    return foreign(at, -1, 2 if at.word(2) == ">" else 1, f"write `{fix}`")


def shared_as_type(at: Situation) -> Problem | None:
    """`s: shared f32[64]`: the word begins the declaration."""
    if at.token != "shared" or at.word(-1) != ":" or at.word(-2) != "NAME":
        return None
    return foreign(at, -2, 0, f"begin with it: `shared {at.text(-2)}: ..`")


def shared_in_cuda(at: Situation) -> Problem | None:
    """`__shared__ float s[64];`, and `extern __shared__`."""
    if at.token != "NAME" or at.line_start() != -1:
        return None
    if at.text() == "__shared__":
        return foreign(at, -1, 0, "write `shared name: f32[n]`; n is a constant")
    if at.text(-1) != "__shared__":
        return None
    name = at.text(1) if at.word(1) == "NAME" else "name"
    length = at.text(3) if at.word(2) == "[" and at.word(3) in ("INTEGER", "NAME") else "n"
    return foreign(at, -1, 0, f"write `shared {name}: {at.text()}[{length}]`")


def shared_with_value(at: Situation) -> Problem | None:
    """`shared s: f32[64] = 0`."""
    if at.token != "=" or at.line_word() != "shared":
        return None
    instead = "declare it without a value: its threads store the first ones, by a `partition`"
    return ForeignSpelling(at=at.span(), written="shared name: type = value", instead=instead)


def default_value(at: Situation) -> Problem | None:
    """`def f(n: int = 3)`."""
    opening = at.previous(("(", "["))
    if at.token != "=" or at.line_word() not in ("def", "kernel", "unsafe"):
        return None
    if opening is None or at.word(opening) == "[":
        return None
    instead = "leave the value out: each call passes all arguments"
    return ForeignSpelling(at=at.span(), written="parameter: type = value", instead=instead)


def result_of_kernel(at: Situation) -> Problem | None:
    """`kernel k() -> int:`."""
    if at.token != "->" or at.line_word() != "kernel":
        return None
    instead = "leave the result out: a kernel stores what the host is to see"
    return ForeignSpelling(at=at.span(), written="kernel name(..) -> type", instead=instead)


def cuda_function(at: Situation) -> Problem | None:
    """`__global__ void f(..)` and other declarations of C, where one begins."""
    if at.token != "NAME" or at.line_start() != 0 or "def" not in at.accepted:
        return None
    instead = _DECLARATION_WORDS.get(at.text())
    return None if instead is None else foreign(at, 0, 0, instead)


def address_or_pointee(at: Situation) -> Problem | None:
    """`&x[3]` and `*p` where a value begins."""
    if at.token not in ("&", "*") or "INTEGER" not in at.accepted or at.word(1) != "NAME":
        return None
    if at.token == "*":
        return foreign(at, 0, 1, f"write `{at.text(1)}[0]`", f"{at.text(1)}[0]")
    instead = "name what begins there by `partition`, or pass the pointer and an index"
    return foreign(at, 0, 1, instead)


def foreign_import(at: Situation) -> Problem | None:
    """`from m import *`, `import m.*`, `from m import (a, b)`, `from .m import a`, `import a, b`,
    `import "m.prism"`."""
    word, start = at.line_word(), at.line_start()
    if word not in ("import", "from"):
        return None
    path = "".join(at.text(offset) for offset in range(start + 1, 0))
    module = path.removesuffix("import").strip(".") or "m"
    match at.token:
        case "*" if at.word(-1) == "import" != word:
            instead = f"name what is used: `from {module} import a, b`"
        case "*" if word == "import" and at.word(-1) in ("import", "."):
            instead = f"name a module, `import {module}`, or parts: `from {module} import a, b`"
        case "(" if at.word(-1) == "import":
            instead = "leave the brackets out; a module may be imported from on several lines"
        case "." if at.word(-1) == word:
            instead = "leave the dots out: a module beside this file is `m`"
        case "," if word == "import":
            instead = "import one module a line"
        case "STRING" if at.word(-1) == word:
            name = at.text().strip('"').removesuffix(".prism").replace("/", ".").strip(".")
            instead = f"write the module's name: `{word} {name}`"
        case _:
            return None
    return foreign(at, start, 0, instead)
