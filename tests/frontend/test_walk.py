"""Trees of whole programs: ids, spans and walks."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from prismc.frontend import ast
from prismc.frontend.show import show_tree
from prismc.frontend.walk import children, deepest, find, walk
from support.syntax import Parsed, parse_clean

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.prism"))


@pytest.fixture(params=PROGRAMS, ids=lambda path: path.stem)
def parsed(request: pytest.FixtureRequest) -> Parsed:
    path: Path = request.param
    return parse_clean(path.read_text("utf-8"))


def test_every_class_of_node_is_in_a_program() -> None:
    seen = {
        type(node) for path in PROGRAMS for node in walk(parse_clean(path.read_text("utf-8")).tree)
    }
    classes = {
        cls for cls in vars(ast).values() if isinstance(cls, type) and issubclass(cls, ast.Node)
    }
    bases = {ast.Node, ast.Expression, ast.Statement, ast.Declaration}
    assert {cls.__name__ for cls in classes - bases - seen} == set()


def test_ids_are_unique_and_a_node_comes_after_its_parts(parsed: Parsed) -> None:
    ids = [node.id for node in walk(parsed.tree)]
    assert len(ids) == len(set(ids))
    for node in walk(parsed.tree):
        assert all(child.id < node.id for child in children(node))


def test_spans_nest_and_end_at_words(parsed: Parsed) -> None:
    for node in walk(parsed.tree):
        text = parsed.source(node)
        assert text
        if node is not parsed.tree:
            assert text == text.strip()
        for child in children(node):
            assert node.span.start <= child.span.start <= child.span.end <= node.span.end


def test_siblings_do_not_overlap(parsed: Parsed) -> None:
    for node in walk(parsed.tree):
        spans = sorted(child.span for child in children(node))
        for left, right in pairwise(spans):
            assert left.end <= right.start


def test_walk_is_in_source_order(parsed: Parsed) -> None:
    for declaration in parsed.tree.declarations:
        statements = [n.span.start for n in walk(declaration) if isinstance(n, ast.Statement)]
        assert statements == sorted(statements)


def test_find(parsed: Parsed) -> None:
    kernels = list(find(parsed.tree, ast.Kernel))
    assert kernels == [d for d in parsed.tree.declarations if isinstance(d, ast.Kernel)]
    assert all(isinstance(node, ast.Reference) for node in find(parsed.tree, ast.Reference))


def test_deepest() -> None:
    parsed = parse_clean("const A = 1\nconst B = f(a, (b + 1) * 2)\nconst C = 2\n")
    depth, node = deepest(parsed.tree.declarations)
    assert (depth, parsed.source(node)) == (5, "b")


def test_show_names_every_node(parsed: Parsed) -> None:
    shown = show_tree(parsed.tree, parsed.file)
    names = [node for node in walk(parsed.tree) if isinstance(node, ast.Name)]
    assert shown.count("\n") == len(list(walk(parsed.tree))) - len(names)
    assert shown == show_tree(parse_clean(parsed.file.text).tree, parsed.file)
