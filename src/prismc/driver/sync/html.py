"""A plan as one HTML page that needs no network: the source, the operations in it, and beside it
the graph, arcs from the earlier line through the operation to the later line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from prismc.driver.sync.account import COSTS, Function, Operation, Proof
from prismc.driver.sync.arcs import draw_arcs
from prismc.driver.sync.shapes import shaped_words
from prismc.driver.sync.text import (
    needs_words,
    reason_words,
    show_proof,
    standing,
    why_settled,
    without_lines,
    witness_words,
)
from prismc.source.files import Files

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --op: #0a7d32; --raw: #c2410c; --war: #1d4ed8;
  --waw: #7e22ce; }
@media (prefers-color-scheme: dark) { :root { --op: #4ade80; --raw: #fb923c; --war: #60a5fa;
  --waw: #d8b4fe; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h2 { font-size: 1.1rem; margin-top: 2.5rem; }
.beside { display: flex; align-items: flex-start; border: 1px solid var(--line); overflow: auto; }
.source { margin: 0; padding: 0; flex: 1 1 auto; font: 13px/20px ui-monospace, monospace; }
.source div { white-space: pre; height: 20px; padding-right: 1rem; }
.source .number { display: inline-block; width: 3.5rem; padding-right: 1rem; text-align: right;
  opacity: .5; }
.source .op { color: var(--op); font-weight: 600; cursor: pointer; }
svg { flex: 0 0 auto; } svg path { fill: none; stroke-width: 1.5; opacity: .55; }
.RAW { stroke: var(--raw); color: var(--raw); } .WAR { stroke: var(--war); color: var(--war); }
.WAW { stroke: var(--waw); color: var(--waw); } svg .loop { stroke-dasharray: 4 3; }
svg circle { fill: var(--op); }
.chosen svg path { opacity: .08; } .chosen svg path.shown { opacity: 1; stroke-width: 2.5; }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--op); font-weight: 600; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .1rem .8rem .1rem 0; }
"""

# Pointing at an operation shows its arcs alone; a click on its line opens its reasons.
_SCRIPT = """
for (const section of document.querySelectorAll('section')) {
  for (const item of section.querySelectorAll('[data-op]')) {
    const own = 'path[data-of="' + item.dataset.op + '"]';
    const show = on => { section.classList.toggle('chosen', on);
      section.querySelectorAll(own).forEach(path => path.classList.toggle('shown', on)); };
    item.addEventListener('mouseenter', () => show(true));
    item.addEventListener('mouseleave', () => show(false));
    if (item.classList.contains('op')) item.addEventListener('click', () => {
      const more = section.querySelector('details[data-op="' + item.dataset.op + '"]');
      more.open = true; more.scrollIntoView({block: 'nearest'}); });
  }
}
"""


def show_html(functions: Sequence[Function], files: Files, root: str, proof: Proof | None) -> str:
    """The whole page."""
    title = escape(f"Synchronisation of {root}")
    body = "".join(_section(each, files) for each in functions)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>'
        f"\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        "<p>Lines with + are what the compiler inserts. Arcs run from the earlier access through "
        'the operation to the later one: <b class="RAW">read after write</b>, <b class="WAR">write '
        'after read</b>, <b class="WAW">write after write</b>; dashed ones go around a loop.</p>\n'
        f"{body}{_proof(proof)}<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _proof(proof: Proof | None) -> str:
    return "" if proof is None else f"<pre>{escape(show_proof(proof))}</pre>\n"


def _section(function: Function, files: Files) -> str:
    parts = [f"<section>\n<h2>{escape(f'{function.title}: {function.count}')}</h2>\n"]
    if function.operations:
        rows: dict[int, int] = {}
        operation_rows: dict[int, int] = {}
        source = "".join(_rows(function, files, rows, operation_rows))
        arcs = draw_arcs(function, rows, operation_rows)
        parts.append(f'<div class="beside">\n<div class="source">{source}</div>\n{arcs}</div>\n')
    parts += [_details(each, function) for each in function.operations]
    words = (*map(shaped_words, function.pipelines), *why_settled(function))
    parts += [f"<p>{escape(line)}</p>\n" for line in words]
    return "".join([*parts, "</section>\n"])


def _rows(
    function: Function, files: Files, rows: dict[int, int], operation_rows: dict[int, int]
) -> Iterator[str]:
    """The rows of the source; notes the row of each line and of each operation."""
    file, row = files.known(function.file), 0
    for number in range(function.first_line, function.last_line + 1):
        for is_after in (False, True):
            if is_after:
                rows[number] = row
                row += 1
                text = escape(file.line(number))
                yield f'<div><span class="number">{number}</span>{text}</div>'
            for operation in standing(function, number, is_after=is_after):
                operation_rows[operation.number] = row
                row += 1
                words = f"{' ' * operation.indent}#{operation.number} {operation.title}"
                yield (
                    f'<div class="op" data-op="{operation.number}">'
                    f'<span class="number">+</span>{escape(words)}</div>'
                )


def _details(operation: Operation, function: Function) -> str:
    head = escape(f"#{operation.number} {operation.title}")
    facts = [
        ("instruction", operation.instruction),
        ("cost", f"class {operation.cost.value}, {COSTS[operation.cost]}"),
        *(("without it", words) for words in without_lines(operation)),
        *([] if operation.merged else [("without it", needs_words(operation))]),
        *(("orders", reason_words(each, function.file)) for each in operation.merged),
    ]
    if operation.witness is not None:
        facts.append(("found without it", witness_words(operation.witness)))
    table = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts
    )
    return (
        f'<details data-op="{operation.number}"><summary>{head}</summary>'
        f"<table>{table}</table></details>\n"
    )
