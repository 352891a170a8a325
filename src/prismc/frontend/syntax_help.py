"""Bad snippets and how they are explained.

`HELP` is the table: each row has an explanation and the snippets that it is for. The rows are asked
in order, the first that knows the situation explains it; what none knows becomes "unexpected ..,
expected ..". Every snippet is a test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from prismc.diagnostics.problem import Problem
from prismc.frontend import explanations, foreign_declarations
from prismc.frontend.errors import UnexpectedToken
from prismc.frontend.expected import expected_words, found_words
from prismc.frontend.situation import Situation

Explanation = Callable[[Situation], Problem | None]


class Advice(NamedTuple):
    """One row: what explains, and for which snippets: small programs, each wrong in one place."""

    explain: Explanation
    snippets: tuple[str, ...]


def explain_error(at: Situation) -> Problem:
    """The first explanation that fits."""
    for advice in HELP:
        problem = advice.explain(at)
        if problem is not None:
            return problem
    return UnexpectedToken(
        at=at.span(),
        found=found_words(at.token, at.text()),
        expected=expected_words(at.accepted),
    )


def _inside(*lines: str) -> str:
    """The lines as the body of a function."""
    return "def f(a: int):\n" + "".join(f"    {line}\n" for line in lines)


HELP: tuple[Advice, ...] = (
    Advice(
        explanations.unexpected_indent,
        (_inside("b := a", "    c := a"), "    const N: int = 1\n"),
    ),
    Advice(
        explanations.missing_body,
        ("def f(a: int):\n", "def f(a: int):\nreturn a\n", _inside("if a > 0:", "b := a")),
    ),
    Advice(
        explanations.else_if,
        (_inside("if a > 0:", "    pass", "else if a < 0:", "    pass"),),
    ),
    Advice(
        explanations.missing_colon,
        (
            "def f(a: int)\n    pass\n",
            "kernel k(a: int)\n    pass\n",
            'test "t"\n    pass\n',
            _inside("if a > 0", "    pass"),
            _inside("if a > 0 pass"),
            _inside("if a > 0:", "    pass", "else", "    pass"),
            _inside("while a > 0", "    pass"),
            _inside("for i in range(a)", "    pass"),
            _inside("group thread[1]", "    pass"),
            _inside("split warp", "    case 1: pass"),
            _inside("split warp:", "    case 1", "        pass"),
            _inside("partition x as y @ thread[1] at a", "    pass"),
            _inside("unsafe", "    pass"),
        ),
    ),
    Advice(
        explanations.block_after_colon,
        (_inside("if a > 0: while a > 0: pass"), _inside("group thread[1]: group thread[1]: pass")),
    ),
    Advice(
        explanations.double_sign,
        (
            _inside("if a > 0 && a < 3:", "    pass"),
            _inside("if a > 0 || a < 3:", "    pass"),
            _inside("b := a ** 2"),
        ),
    ),
    Advice(
        explanations.comment,
        (
            _inside("b := a // twice"),
            _inside("// twice", "pass"),
            _inside("/* twice */", "pass"),
            "// twice\ndef f():\n    pass\n",
        ),
    ),
    Advice(explanations.increment, (_inside("a++"), _inside("a--"))),
    Advice(explanations.arrow, (_inside("b := p->x"),)),
    Advice(explanations.for_in_brackets, (_inside("for (i in range(3)):", "    pass"),)),
    Advice(
        explanations.type_first,
        (
            _inside("int b = a"),
            _inside("let b = a"),
            _inside("float b"),
            _inside("const int N = 1"),
            _inside("shared f32 s"),
            "def f(int a):\n    pass\n",
            "def f[int N](a: int):\n    pass\n",
        ),
    ),
    Advice(explanations.cast, (_inside("b := (float)a"), _inside("b := (float)3"))),
    Advice(
        foreign_declarations.pointer_with_star,
        (
            "kernel k(float* x):\n    pass\n",
            "kernel k(x: float*):\n    pass\n",
            "def f(n: int, float *x):\n    pass\n",
        ),
    ),
    Advice(
        foreign_declarations.const_first,
        ("kernel k(const float *x):\n    pass\n", "def f(const int n):\n    pass\n"),
    ),
    Advice(
        foreign_declarations.pointer_without_brackets,
        (
            "kernel k(x: ptr<f32>):\n    pass\n",
            "kernel k(x: ptr f32):\n    pass\n",
            "kernel k(x: ptr):\n    pass\n",
        ),
    ),
    Advice(
        foreign_declarations.shared_in_cuda,
        (_inside("__shared__ float s[64]"), _inside("extern __shared__ float s[]")),
    ),
    Advice(foreign_declarations.shared_with_value, (_inside("shared s: f32[64] = 0"),)),
    Advice(
        foreign_declarations.default_value,
        ("def f(n: int = 3):\n    pass\n", "kernel k(n: int, m: int = 3):\n    pass\n"),
    ),
    Advice(foreign_declarations.result_of_kernel, ("kernel k(n: int) -> int:\n    pass\n",)),
    Advice(foreign_declarations.shared_as_type, (_inside("s: shared f32[64]"),)),
    Advice(
        foreign_declarations.cuda_function,
        (
            "__global__ void k(float* x) {\n}\n",
            "@requires(thread[1])\n__device__ float f(float x) {\n}\n",
            "void f(int x)\n",
            "struct S:\n    x: int\n",
            "func f():\n    pass\n",
            "template <int N>\n",
        ),
    ),
    Advice(
        foreign_declarations.address_or_pointee,
        (_inside("b := &x[3]"), _inside("b := *p"), _inside("f(&x)")),
    ),
    Advice(
        foreign_declarations.foreign_import,
        (
            "from m import *\n",
            "from a.b import *\n",
            "import m.*\n",
            "import *\n",
            "import a, b\n",
            "from m import (a, b)\n",
            "from .m import a\n",
            "from . import m\n",
            'import "m.prism"\n',
        ),
    ),
    Advice(explanations.chained_assignment, (_inside("b = c = a"), _inside("b: int = c = a"))),
    Advice(explanations.results_assigned, (_inside("b, c = f(a)"), _inside("b, c[0] = f(a, a)"))),
    Advice(
        explanations.assignment_in_condition,
        (
            _inside("if a = 0:", "    pass"),
            _inside("while a = 0:", "    pass"),
            _inside("b := (a = 0)"),
            _inside("assert a = 0"),
            _inside("static if a = 0:", "    pass"),
        ),
    ),
    Advice(
        explanations.chained_comparison, (_inside("b := 0 < a < 3"), _inside("b := a == 1 == 2"))
    ),
    Advice(
        explanations.narrow_without_name,
        (
            _inside("partition x @ thread[1]:", "    pass"),
            _inside("partition x:", "    pass"),
            _inside("partition x at a:", "    pass"),
            _inside("claim x @ thread[1]:", "    pass"),
            _inside("async x:", "    pass"),
            _inside("partition x as y @ thread[1], z @ thread[1]:", "    pass"),
        ),
    ),
    Advice(
        explanations.narrow_without_perspective,
        (
            _inside("partition x as y:", "    pass"),
            _inside("claim x as y at a:", "    pass"),
            _inside("claim x as async y:", "    pass"),
        ),
    ),
    Advice(explanations.split_with_size, (_inside("split thread[32]:", "    case 1: pass"),)),
    Advice(
        explanations.level_without_size,
        (
            _inside("b: int @ thread = a"),
            _inside("group thread:", "    pass"),
            _inside("first warp:", "    pass"),
            _inside("b := count(block)"),
            "def f(a: int @ thread):\n    pass\n",
            "@launch(thread = 64)\nkernel k():\n    pass\n",
        ),
    ),
    Advice(
        explanations.arms_expected,
        (
            _inside("split warp:", "    pass"),
            _inside("split warp:", "    case 1: pass", "    b := a"),
            _inside("pipeline k in range(a) through s as t:", "    pass"),
            _inside("pipeline k in range(a) through s as t:", "    produce: pass", "    pass"),
            _inside(
                "pipeline k in range(a) through s as t:",
                "    produce: pass",
                "    consume: pass",
                "    pass",
            ),
        ),
    ),
    Advice(
        explanations.stray_arm,
        (
            _inside("case 1:", "    pass"),
            _inside("b := a", "case 1:", "    pass"),
            _inside("else:", "    pass"),
            _inside("while a > 0:", "    pass", "else:", "    pass"),
            _inside("elif a > 0:", "    pass"),
            _inside("consume:", "    pass"),
            "else:\n    pass\n",
        ),
    ),
    Advice(
        explanations.dangling_attribute,
        (
            "@requires(thread[1])\n",
            "@requires(thread[1])\nconst N: int = 1\n",
            "@requires(thread[1])\nx = 1\n",
        ),
    ),
    Advice(explanations.nested_unsafe, (_inside("unsafe def g():", "    pass"),)),
    Advice(
        explanations.nested_declaration,
        (
            _inside("def g():", "    pass"),
            _inside("import m"),
            _inside("@requires(thread[1])", "def g():", "    pass"),
            _inside('test "t":', "    pass"),
        ),
    ),
    Advice(
        explanations.not_a_declaration,
        ("x = 1\n", "pass\n", "if true:\n    pass\n", "const N: int = 1\nx = 1\n", "42\n"),
    ),
    Advice(
        explanations.reserved_word,
        (
            "def first():\n    pass\n",
            "const at: int = 1\n",
            "def f(align: int):\n    pass\n",
            _inside("b := layout + 1"),
            _inside("layout = 1"),
            _inside("for at in range(3):", "    pass"),
            _inside("export = 1"),
            "import test\n",
        ),
    ),
    Advice(
        explanations.statement_word_as_name,
        (
            _inside("group = 1"),
            _inside("first: int = 1"),
            _inside("split += 1"),
            _inside("vec: int = 1"),
        ),
    ),
    Advice(
        explanations.untyped,
        ("def f(a):\n    pass\n", "def f(a, b: int):\n    pass\n", _inside("shared s")),
    ),
)
