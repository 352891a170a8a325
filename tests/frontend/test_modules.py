"""Imports: where modules are found, their order and names, and what can go wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.frontend.modules import ModuleGraph, load_program
from prismc.frontend.walk import find
from prismc.source.files import Files
from prismc.source.resources import stdlib_folder


class Loaded:
    """A program of texts, loaded from its first files."""

    def __init__(self, texts: dict[str, str], *roots: str, folders: tuple[str, ...] = ()) -> None:
        self.files, sink = Files(), Sink()
        for name, text in texts.items():
            self.files.overlay(name, text)
        files = [self.files.read(root) for root in roots or ("a.prism",)]
        self.graph: ModuleGraph = load_program(files, folders, self.files, sink)
        self.problems = sink.problems()

    def names(self) -> list[str]:
        return [module.name for module in self.graph.modules]

    def found(self) -> list[tuple[str, str, int]]:
        """Code, file and line of every problem."""
        return [(p.code, p.at.file, self.files.position(p.at).line) for p in self.problems]

    def links(self) -> list[tuple[str, str | None]]:
        """Each import, by importing module, and the file that it reached."""
        return [
            (module.name, target.file if (target := self.graph.imported(module, node)) else None)
            for module in self.graph.modules
            for kind in (ast.Import, ast.FromImport)
            for node in find(module, kind)
        ]


def test_dependency_order() -> None:
    loaded = Loaded(
        {
            "a.prism": "import b\nimport c\n",
            "b.prism": "from d import N\n",
            "c.prism": "import d\nimport b\n",
            "d.prism": "const N = 1\n",
        }
    )
    assert loaded.problems == ()
    assert loaded.names() == ["d", "b", "c", "a"]
    assert [root.name for root in loaded.graph.roots] == ["a"]
    assert sorted(loaded.links(), key=str) == [
        ("a", "b.prism"), ("a", "c.prism"), ("b", "d.prism"), ("c", "b.prism"), ("c", "d.prism"),
    ]  # fmt: skip


def test_dotted_paths_are_folders() -> None:
    loaded = Loaded({"a.prism": "import tools.sums\n", "tools/sums.prism": "import more\n",
                     "tools/more.prism": "", "more.prism": "const WRONG = 1\n"})  # fmt: skip
    assert loaded.problems == ()
    assert loaded.names() == ["more", "tools.sums", "a"]
    assert loaded.links() == [("tools.sums", "tools/more.prism"), ("a", "tools/sums.prism")]


def test_the_importing_files_folder_comes_before_the_given_ones() -> None:
    texts = {
        "src/a.prism": "import b\nimport c\n",
        "src/b.prism": "",
        "one/b.prism": "",
        "one/c.prism": "",
        "two/c.prism": "",
    }
    loaded = Loaded(texts, "src/a.prism", folders=("one", "two"))
    assert loaded.links() == [("a", "src/b.prism"), ("a", "one/c.prism")]


def test_the_standard_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "warp.prism").write_text("import std.shuffle\nfrom shuffle import N\n")
    (tmp_path / "shuffle.prism").write_text("const N = 1\n")
    monkeypatch.setattr("prismc.frontend.modules.stdlib_folder", lambda: tmp_path)
    loaded = Loaded({"a.prism": "import std.warp\nfrom std.shuffle import N\n"})
    assert loaded.problems == ()
    assert loaded.names() == ["std.shuffle", "std.warp", "a"]
    shuffle = str(tmp_path / "shuffle.prism")
    assert loaded.links().count(("std.warp", shuffle)) == 2
    assert loaded.links().count(("a", shuffle)) == 1


def test_a_local_std_shadows_the_library() -> None:
    loaded = Loaded({"a.prism": "import std.mine\n", "std/mine.prism": ""})
    assert loaded.links() == [("a", "std/mine.prism")]


def test_std_alone_is_no_module() -> None:
    loaded = Loaded({"a.prism": "import std\n"})
    assert loaded.found() == [("P0190", "a.prism", 1)]
    assert "the standard library has `std." in loaded.problems[0].shown_help()


def test_the_library_of_this_installation_parses() -> None:
    names = sorted(path.stem for path in stdlib_folder().glob("*.prism"))
    loaded = Loaded({"a.prism": "".join(f"import std.{name}\n" for name in names)})
    assert [(p.code, p.at) for p in loaded.problems] == []


def test_two_spellings_of_a_file_are_one_module(tmp_path: Path) -> None:
    (tmp_path / "a.prism").write_text("import b\n")
    (tmp_path / "b.prism").write_text("const N = 1\n")
    files, sink = Files(), Sink()
    root = files.read(str(tmp_path / "a.prism"))
    also = files.read(str(tmp_path / "." / "b.prism"))
    graph = load_program([root, also], [str(tmp_path)], files, sink)
    assert [module.name for module in graph.modules] == ["b", "a"]
    assert [module.name for module in graph.roots] == ["a", "b"]


def test_roots_share_what_they_import() -> None:
    loaded = Loaded({"a.prism": "import c\n", "b.prism": "import c\n", "c.prism": ""},
                    "a.prism", "b.prism", "a.prism")  # fmt: skip
    assert loaded.names() == ["c", "a", "b"]
    assert [root.name for root in loaded.graph.roots] == ["a", "b"]


def test_modules_of_one_name_are_told_apart() -> None:
    loaded = Loaded({"one/a.prism": "import b\n", "one/b.prism": "", "two/a.prism": "import b\n",
                     "two/b.prism": ""}, "one/a.prism", "two/a.prism")  # fmt: skip
    assert loaded.names() == ["b", "a", "b_2", "a_2"]
    assert loaded.links() == [("a", "one/b.prism"), ("a_2", "two/b.prism")]


def test_standard_input_has_a_name() -> None:
    assert Loaded({"<stdin>": "const N = 1\n"}, "<stdin>").names() == ["stdin"]


def test_a_missing_module() -> None:
    loaded = Loaded({"a.prism": "const N = 1\n\nfrom nowhere.near import x\n"}, folders=("lib",))
    assert loaded.found() == [("P0190", "a.prism", 3)]
    (problem,) = loaded.problems
    assert problem.shown_message() == "no module `nowhere.near`"
    assert problem.shown_label() == "looked for in `nowhere/near.prism`, `lib/nowhere/near.prism`"
    assert loaded.links() == [("a", None)]


def test_a_missing_module_with_a_likely_spelling(tmp_path: Path) -> None:
    (tmp_path / "sums.prism").write_text("")
    (tmp_path / "main.prism").write_text("import summs\n")
    files, sink = Files(), Sink()
    load_program([files.read(str(tmp_path / "main.prism"))], (), files, sink)
    (problem,) = sink.problems()
    assert problem.shown_help() == "did you mean `sums`?"


@pytest.mark.parametrize(
    ("texts", "place", "cycle"),
    [
        ({"a.prism": "import a\n"}, ("a.prism", 1), "a -> a"),
        ({"a.prism": "import b\n", "b.prism": "\nimport a\n"}, ("b.prism", 2), "a -> b -> a"),
        (
            {"a.prism": "import b\n", "b.prism": "import c\n", "c.prism": "from b import x\n"},
            ("c.prism", 1),
            "b -> c -> b",
        ),
    ],
)
def test_cycles(texts: dict[str, str], place: tuple[str, int], cycle: str) -> None:
    loaded = Loaded(texts)
    assert loaded.found() == [("P0191", *place)]
    assert loaded.problems[0].shown_message() == f"the imports form a cycle: {cycle}"
    assert len(loaded.names()) == len(texts)


def test_an_unreadable_module(tmp_path: Path) -> None:
    (tmp_path / "main.prism").write_text("import bytes_\n")
    (tmp_path / "bytes_.prism").write_bytes(b"# caf\xe9\n")
    files, sink = Files(), Sink()
    graph = load_program([files.read(str(tmp_path / "main.prism"))], (), files, sink)
    (problem,) = sink.problems()
    assert problem.code == "P0192"
    assert problem.is_environment
    assert [module.name for module in graph.modules] == ["main"]


def test_syntax_errors_of_imported_files_are_reported_there() -> None:
    loaded = Loaded({"a.prism": "import b\n", "b.prism": "const\n"})
    assert loaded.found() == [("P0101", "b.prism", 1)]
    assert loaded.links() == [("a", "b.prism")]


def test_a_long_chain_of_imports() -> None:
    texts = {f"m{i}.prism": f"import m{i + 1}\n" for i in range(1500)} | {"m1500.prism": ""}
    loaded = Loaded(texts, "m0.prism")
    assert loaded.problems == ()
    assert len(loaded.names()) == 1501
