"""Deferred trees of the standard library: those that `parse_module` makes, but for the ids."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.frontend.deferred import parse_deferred
from prismc.frontend.modules import ParsedFiles, load_program, modules_in, parse_once
from prismc.frontend.outline import outline
from prismc.frontend.parser import parse_module
from prismc.frontend.walk import is_same, walk
from prismc.source.files import Files, SourceFile
from prismc.source.resources import stdlib_folder

MODULES = modules_in(stdlib_folder())
PATHS = [str(stdlib_folder() / f"{name}.prism") for name in MODULES]


def is_filled(function: ast.Function) -> bool:
    """Whether the function's parts were parsed, without asking for them."""
    state: bool = cast(Any, function).deferred._is_filled
    return state


def functions(module: ast.Module) -> list[ast.Function]:
    return [node for node in module.declarations if isinstance(node, ast.Function)]


def whole(path: str) -> tuple[SourceFile, ast.Module]:
    file, sink = Files().read(path), Sink()
    module = parse_module(file, "module", sink)
    assert not sink.problems()
    return file, module


@pytest.mark.parametrize("path", PATHS, ids=MODULES)
def test_says_the_same_at_the_same_places(path: str) -> None:
    file, module = whole(path)
    deferred = parse_deferred(file, "module")
    spans = [node.span for node in deferred.declarations]
    assert spans == [node.span for node in module.declarations]
    assert not any(is_filled(function) for function in functions(deferred))
    assert is_same(deferred, module)
    assert [node.span for node in walk(deferred)] == [node.span for node in walk(module)]
    assert all(is_filled(function) for function in functions(deferred))


@pytest.mark.parametrize("path", PATHS, ids=MODULES)
def test_ids_are_unique_and_a_node_comes_after_its_parts(path: str) -> None:
    module = parse_deferred(Files().read(path), "module")
    nodes = list(walk(module))
    assert len({node.id for node in nodes}) == len(nodes)
    last = -1
    for declaration in module.declarations:
        ids = [node.id for node in walk(declaration)]
        assert max(ids) == declaration.id
        assert last < min(ids)
        last = declaration.id
    assert module.id > last


@pytest.mark.parametrize("path", PATHS, ids=MODULES)
def test_outlines_are_equal_and_parse_no_function(path: str) -> None:
    files: ParsedFiles = {}
    file = Files().read(path)
    deferred = parse_once(file, files)
    assert deferred.is_deferred
    assert outline(deferred) == outline(parse_once(file, {}, is_root=True))
    assert not any(is_filled(function) for function in functions(deferred.module))


def test_an_imported_function_is_parsed_once_it_is_read() -> None:
    files = Files()
    root = files.overlay("main.prism", "from std.block import sum\n")
    graph = load_program([root], (), files, Sink())
    block = next(module for module in graph.modules if module.name == "std.block")
    found = {function.name.text: function for function in functions(block)}
    assert not is_filled(found["sum"])
    body = found["sum"].body
    assert body
    assert found["sum"].body is body
    assert not is_filled(found["reduce"])


def test_what_a_function_does_not_have_is_not_parsed_for() -> None:
    function = functions(parse_deferred(Files().read(PATHS[0]), "module"))[0]
    assert not hasattr(function, "colour")
    assert not is_filled(function)


def test_a_root_and_an_edited_text_are_parsed_whole() -> None:
    parsed: ParsedFiles = {}
    files = Files()
    file = files.read(PATHS[0])
    assert parse_once(file, parsed).is_deferred
    assert not parse_once(file, parsed, is_root=True).is_deferred
    assert not parse_once(file, parsed).is_deferred  # what is there will do
    edited = files.overlay(PATHS[0], file.text + "def\n")
    again = parse_once(edited, parsed)
    assert again.problems
    assert not again.is_deferred


def test_modules_of_users_are_parsed_whole(tmp_path: Path) -> None:
    (tmp_path / "own.prism").write_text("def f() -> i32:\n    return (1\n")
    known = parse_once(Files().read(str(tmp_path / "own.prism")), {})
    assert known.problems
    assert not known.is_deferred


def test_the_last_line_of_a_function_may_have_a_comment_and_be_the_first() -> None:
    text = (
        "def f(x: i32) -> i32: return x  # one line\n\n# about the next\n@requires(thread[1])\n"
        "def g(x: i32) -> i32:\n    return x  # its last\n    # not its\n\n"
    )
    module = parse_deferred(SourceFile("m.prism", text), "m")
    expected = parse_module(SourceFile("m.prism", text), "m", Sink())
    assert len(expected.declarations) == 2
    assert [node.span for node in module.declarations] == [
        node.span for node in expected.declarations
    ]
    assert is_same(module, expected)


def test_an_error_in_the_library_is_our_own() -> None:
    text = "def f(x: i32) -> i32:\n    return x\ndef g(x: i32) -> i32:\n    return (x\n"
    good, bad = functions(parse_deferred(SourceFile("lib.prism", text), "lib"))
    assert good.body
    with pytest.raises(ValueError, match=r"lib\.prism:4: an error in the standard library"):
        _ = bad.body


def test_a_stray_line_in_the_library_is_our_own_error_too() -> None:
    text = "const N: int = 4\nstray line\n"
    with pytest.raises(ValueError, match=r"lib\.prism:2: an error in the standard library"):
        parse_deferred(SourceFile("lib.prism", text), "lib")


def test_threads_see_the_same_nodes() -> None:
    for path in PATHS[:3]:
        found = functions(parse_deferred(Files().read(path), "module"))
        with ThreadPoolExecutor(8) as pool:
            seen = list(pool.map(lambda n: [f.body for f in n], [found] * 8))
        for bodies in seen[1:]:
            assert all(one is other for one, other in zip(bodies, seen[0], strict=True))
