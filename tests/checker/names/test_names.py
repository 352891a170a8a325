"""Scopes, imports, private names: what each name refers to, and which names refer to nothing."""

from __future__ import annotations

import re

import pytest

from prismc.checker.names.words import ADVICE
from prismc.source.resources import stdlib_folder
from support.elaborating import assert_marked, elaborate

PROGRAMS = {
    "unknown": """
@requires(thread[1])
def f(n: int) -> int:
    return m  #! P0201
""",
    "one report for each use, none for what follows": """
@requires(thread[1])
def f(n: int) -> int:
    a: int = missing + n * 2  #! P0201
    b: int = a + absent  #! P0201
    return a + b
""",
    "used before it is declared": """
@requires(thread[1])
def f() -> int:
    a: int = b  #! P0203
    b: int = 1
    return a + b
""",
    "an initial value does not see its own variable": """
@requires(thread[1])
def f() -> int:
    a: int = a  #! P0203
    return a
""",
    "module scope has no order": """
@requires(thread[1])
def f() -> int:
    return g() + N

@requires(thread[1])
def g() -> int:
    return N

const N: int = M + 1
const M: int = 2
""",
    "a local ends with its block": """
@requires(thread[1])
def f(n: int) -> int:
    if n > 0:
        inner: int = n
    return inner  #! P0383
""",
    "sibling blocks do not see each other": """
@requires(thread[1])
def f(n: int):
    for i in range(n):
        e: int = i
    for i in range(n):
        e: int = i + 1
""",
    "twice in one scope": """
@requires(thread[1])
def f(n: int):
    x: int = 1
    x: f32 = 2.0  #! P0202
""",
    "a parameter and a local of the body share the scope": """
@requires(thread[1])
def f[N: int](n: int):
    n: int = 1  #! P0202
    N: int = 2  #! P0202
""",
    "two parameters": """
@requires(thread[1])
def f(n: int, n: f32):  #! P0202
    pass
""",
    "two functions, the first one counts": """
@requires(thread[1])
def f(n: int) -> int:
    return n

@requires(thread[1])
def f(n: f32) -> f32:  #! P0202
    return n

@requires(thread[1])
def g() -> int:
    return f(1)
""",
    "a constant and a kernel": """
const k: int = 1

@requires(grid[1], block[1], thread[32])
kernel k(n: int):  #! P0202
    pass
""",
    "a hidden outer variable": """
@requires(thread[1])
def f(n: int) -> int:
    best: int = 0
    for i in range(n):
        best: int = i  #! P0204
    return best
""",
    "loop variables and narrowed names are fresh": """
@requires(block[1], thread[32])
def f(x: ptr(f32), n: int):
    i: int @ thread[1] = id()
    for i in range(n):
        pass
    partition x as x @ thread[1] at i:
        x[0] = 1.0
""",
    "a local may have a module's name": """
const t: int = 3

@requires(block[1], thread[32])
def f() -> int @ thread[1]:
    t: int @ thread[1] = id()
    return t
""",
    "built-ins may be renamed": """
def max(a: int, b: int) -> int:
    return a

@requires(thread[1])
def f(size: int) -> int:
    return max(size, 2)
""",
    "names of attributes": """
const T: int = 64

@requires(grid[1], block[1], thread[U])  #! P0201
@launch(threads = T)
kernel k(n: int):
    pass
""",
    "an index function's parameter": """
@requires(block[1], thread[32])
def f(x: ptr(f32)):
    t: int @ thread[1] = id()
    partition x as y @ thread[1] by j => t + j * k:  #! P0201
        y[0] = 1.0
""",
    "branches that are not taken": """
@requires(thread[1])
def f() -> int:
    static if false:
        return nothing  #! P0201
    return 1
""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_program(text: str) -> None:
    assert_marked(text)


M = """
const open: int = 4
const _secret: int = 3

def twice(n: int) -> int:
    return n * 2 + unknown_here

@requires(thread[1])
def used(n: int) -> int:
    return n + _secret

@requires(thread[1])
def broken(n: int) -> int:
    return nobody
"""

MODULES = {
    "a private name": "from m import open, _secret  #! P0205",
    "a name that is not there": "from m import opne  #! P0206",
    "renamed": """
from m import used as u

@requires(thread[1])
def f() -> int:
    return u(1)
""",
    "through the module": """
import m

@requires(thread[1])
def f() -> int:
    return m.used(m.open)
""",
    "through an alias": """
import m as other

@requires(thread[1])
def f() -> int:
    return other.used(other.open) + m  #! P0201
""",
    "a private name through the module": """
import m

@requires(thread[1])
def f() -> int:
    return m._secret  #! P0205
""",
    "a name that the module lacks": """
import m

@requires(thread[1])
def f() -> int:
    return m.shut  #! P0206
""",
    "a module is no value": """
import m

@requires(thread[1])
def f() -> int:
    return m  #! P0321
""",
    "imported twice under one name": """
from m import open
from m import used as open  #! P0202
""",
    "a missing module reports no uses": """
from nowhere import a, b  #! P0190
import elsewhere  #! P0190

@requires(thread[1])
def f() -> int:
    return a(1) + b + elsewhere.c(2)
""",
}


@pytest.mark.parametrize("text", MODULES.values(), ids=MODULES)
def test_modules(text: str) -> None:
    assert_marked(text, {"m.prism": M})


def test_imported_bodies_are_resolved_where_they_are_used() -> None:
    done = elaborate(
        "from m import twice\n\n@requires(thread[1])\ndef f() -> int:\n    return twice(2)\n",
        modules={"m.prism": M},
    )
    assert [(p.at.file, p.code) for p in done.problems] == [("m.prism", "P0201")]


def test_a_package_and_its_modules() -> None:
    text = "import tools.sums\nimport tools.more\nconst A: int = tools.sums.N + tools.more.N\n"
    modules = {"tools/sums.prism": "const N: int = 1", "tools/more.prism": "const N: int = 2"}
    assert elaborate(text, modules=modules).problems == ()


def test_suggestions() -> None:
    text = "@requires(thread[1])\ndef f(width: int) -> int:\n    return widht\n"
    (problem,) = elaborate(text).problems
    assert problem.shown_help() == "did you mean `width`?"


def test_words_of_cuda_are_answered() -> None:
    text = "@requires(thread[1])\ndef f() -> int:\n    return threadIdx.x\n"
    (problem,) = elaborate(text).problems
    assert "id()" in problem.shown_help()


def test_functions_of_cuda_are_found_in_the_library() -> None:
    """What the advice tells to import is there."""
    advised = [text for text in ADVICE.values() if "import" in text]
    assert len(advised) > 20
    for text in advised:
        module, name = (
            re.search(r"std\.(\w+)", text),
            re.search(r"import `?(\w+)`?( from|`|$)", text),
        )
        assert module, text
        assert name, text
        source = (stdlib_folder() / f"{module[1]}.prism").read_text(encoding="utf-8")
        assert re.search(rf"def {name[1]}\b", source), text


@pytest.mark.parametrize(
    ("name", "help_text"),
    [("a", "declare it: `a := ..`"), ("sqrtf", "import it: `from std.math import sqrt`")],
)
def test_names_that_are_assigned_are_to_be_declared(name: str, help_text: str) -> None:
    (problem,) = elaborate(f"@requires(thread[1])\ndef f():\n    {name} = 1\n").problems
    assert problem.shown_help() == help_text


def test_one_letter_suggests_no_other_letter() -> None:
    (problem,) = elaborate("const A: int = B\n").problems
    assert problem.shown_help() == "declare `B` first, or import it"


def test_a_second_place_is_named() -> None:
    text = "@requires(thread[1])\ndef f():\n    x: int = 1\n    x: int = 2\n"
    done = elaborate(text)
    (problem,) = done.problems
    (related,) = problem.related
    assert done.files.position(related.at).line == 3


def test_a_name_of_the_standard_library_is_told_with_its_module() -> None:
    source = """
from std.warp import reduce

@requires(block[1], thread[32])
def f(x: ptr(i32)):
    shfl_idx(1, 0)
"""
    advice = [problem.shown_help() for problem in elaborate(source).problems]
    assert advice == [
        "`std.block` has it: `from std.block import reduce`",
        "import it: `from std.shuffle import shfl_idx`",
    ]
