"""The names of the standard library as a pattern finds them are those that the parser finds."""

from __future__ import annotations

from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.frontend.parser import parse_module
from prismc.frontend.standard import standard_modules, standard_names
from prismc.source.files import SourceFile
from prismc.source.resources import stdlib_folder

_DECLARATIONS = (ast.Function, ast.Constant, ast.Kernel, ast.Export)


def _declared(module: str) -> list[str]:
    path = stdlib_folder() / f"{module.removeprefix('std.')}.prism"
    tree = parse_module(SourceFile(str(path), path.read_text(encoding="utf-8")), module, Sink())
    names = [d.name.text for d in tree.declarations if isinstance(d, _DECLARATIONS)]
    return [name for name in names if not name.startswith("_")]


def test_every_public_name_has_its_module() -> None:
    expected: dict[str, str] = {}
    for module in standard_modules():
        for name in _declared(module):
            expected.setdefault(name, module)
    assert dict(standard_names()) == expected
    assert expected["reduce"] == "std.block"
