"""`make docs`: the documents, the error index and the standard library's pages as one site.

    python docs/site/build.py [-o FOLDER]

The pages are put together in FOLDER/pages, then Sphinx makes FOLDER/html of them; a warning of it,
a link that leads nowhere included, is an error. The site needs no network to be read.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path

import click
from sphinx.cmd.build import main as run_sphinx

from prismc.cli.main import COMMANDS, prismc
from prismc.driver.catalog import page, problem_classes
from prismc.driver.documentation import document_file
from prismc.driver.options import Options
from prismc.driver.session import Session
from prismc.source.resources import stdlib_folder

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
AREAS = {
    "P01": "Syntax and modules", "P02": "Names", "P03": "Types, constants, calls",
    "P04": "Perspectives", "P05": "Shared memory", "P06": "Synchronisation",
    "P07": "Building, files, options", "P09": "Not supported yet",
}  # fmt: skip
_LINKED = re.compile(r"\[([^\[\]]*)\]\((?!\w+:|#)([^()\s]+)\)")
_FENCE = re.compile(r"^(```+)[^`]*?^\1$", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Build the site; the exit code is Sphinx's."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "site")
    output: Path = parser.parse_args().output
    pages, html = output / "pages", output / "html"
    for folder in (pages, html):
        shutil.rmtree(folder, ignore_errors=True)
    put(pages, collect())
    for schema in DOCS.glob("*.json"):
        shutil.copy(schema, pages)
    options = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(output / "doctrees")]
    return run_sphinx(["-c", str(Path(__file__).parent), *options, str(pages), str(html)])


def put(folder: Path, pages: Mapping[str, str]) -> None:
    """Write pages, by their paths below the folder."""
    for name, text in pages.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def collect() -> dict[str, str]:
    """All pages by path. The documents of the tree come with their links changed to the site's."""
    sources = {ROOT / "README.md": "index.md", ROOT / "CONTRIBUTING.md": "contributing.md"}
    sources |= {file: file.name for file in sorted(DOCS.glob("*.md"))}
    decisions = {f: f"decisions/{f.name}" for f in sorted((DOCS / "decisions").glob("*.md"))}
    places = sources | decisions | {DOCS / "decisions": "decisions/index.md"}
    pages = {name: _moved(file, name, places) for file, name in (sources | decisions).items()}
    own = sorted(name for name in sources.values() if name != "index.md")
    pages |= {
        "decisions/index.md": _contents("Decisions", [Path(n).stem for n in decisions.values()]),
        "commands.md": _commands(),
        **_errors(),
        **_standard_library(),
    }
    order = ["language", *(Path(name).stem for name in own if name != "language.md")]
    listed = [*order, "commands", "stdlib/index", "errors/index", "decisions/index"]
    pages["index.md"] += "\n" + _tree(listed, hidden=True)
    return pages


def _moved(file: Path, name: str, places: Mapping[Path, str]) -> str:
    """The text of a document whose page is `name`: links to what is on the site lead there, of
    others only the words stay."""

    def link(match: re.Match[str]) -> str:
        words, (path, mark, anchor) = match[1], match[2].partition("#")
        target = (file.parent / path).resolve()
        if target in places:
            shown = os.path.relpath(places[target], os.path.dirname(name) or ".")
            return f"[{words}]({shown}{mark}{anchor})"
        if target.suffix == ".json" and target.parent == DOCS:
            return f"[{words}]({target.name})"
        return words

    return _outside_fences(file.read_text(encoding="utf-8"), lambda text: _LINKED.sub(link, text))


def _outside_fences(text: str, change: object) -> str:
    """The text with `change` applied to what is no code."""
    assert callable(change)
    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts += (change(text[end : fence.start()]), fence[0])
        end = fence.end()
    return "".join([*parts, change(text[end:])])


def _tree(names: Iterable[str], *, hidden: bool = False) -> str:
    options = ":hidden:\n" if hidden else ":maxdepth: 1\n"
    return f"```{{toctree}}\n{options}\n" + "".join(f"{name}\n" for name in names) + "```\n"


def _contents(title: str, names: Iterable[str]) -> str:
    return f"# {title}\n\n{_tree(names)}"


def _commands() -> str:
    """What `prismc COMMAND --help` says."""
    parts = ["# The commands\n"]
    for name, module in COMMANDS.items():
        command = getattr(import_module(f"prismc.cli.{module}"), module)
        context = click.Context(command, parent=click.Context(prismc, info_name="prismc"))
        context.info_name = name
        context.max_content_width = 100
        parts.append(f"## prismc {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def _errors() -> dict[str, str]:
    """A page for each code, and the index of all, by area."""
    classes = {kind.code: kind for kind in problem_classes()}
    pages = {f"errors/{code}.md": page(code) or f"# {code}\n" for code in classes}
    parts = ["# Error index\n", "`prismc explain CODE` shows the same pages.\n"]
    for area, title in AREAS.items():
        rows = [
            f"| [{code}]({code}.md) | {kind.severity.value} | {kind.title} |"
            for code, kind in classes.items()
            if code.startswith(area)
        ]
        parts.append(f"## {title}\n\n| code | | what |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    parts.append(_tree(classes, hidden=True))
    pages["errors/index.md"] = "\n".join(parts)
    return pages


def _standard_library() -> dict[str, str]:
    """A page for each module, from its comments."""
    pages: dict[str, str] = {}
    for file in sorted(stdlib_folder().glob("*.prism")):
        session = Session(Options())
        text = document_file(session, session.files.read(str(file)), f"std.{file.stem}")
        assert text is not None, session.problems
        pages[f"stdlib/{file.stem}.md"] = text
    names = [Path(name).stem for name in pages]
    pages["stdlib/index.md"] = _contents("The standard library", names)
    return pages


if __name__ == "__main__":
    sys.exit(main())
