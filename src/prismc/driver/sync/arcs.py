"""The graph of a plan as SVG arcs that stand beside the rows of the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from prismc.driver.sync.account import Function, Reason
from prismc.driver.sync.text import reason_words

ROW = 20  # pixels, as in the page's style
MARGIN = 12
WIDEST = 320


def draw_arcs(
    function: Function, rows: Mapping[int, int], operation_rows: Mapping[int, int]
) -> str:
    """The drawing; `rows` tells the row of each line, `operation_rows` that of each operation."""
    height = ROW * (len(rows) + len(operation_rows))
    widest = MARGIN
    paths: list[str] = []
    for operation in function.operations:
        own = operation_rows[operation.number]
        for reason in operation.merged:
            ends = _ends(reason, function, rows)
            if ends is None:
                continue
            title = f"<title>{escape(reason_words(reason, function.file))}</title>"
            kind = f"{reason.hazard} loop" if reason.loop else reason.hazard
            for start, end in ((ends[0], own), (own, ends[1])):
                reach = _reach(start, end)
                widest = max(widest, reach)
                paths.append(
                    f'<path class="{kind}" data-of="{operation.number}" d="{_curve(start, end)}">'
                    f"{title}</path>"
                )
    width = MARGIN * 2 + widest
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
        + "".join((*paths, *_dots(operation_rows)))
        + "</svg>\n"
    )


def _dots(operation_rows: Mapping[int, int]) -> Iterator[str]:
    for row in operation_rows.values():
        yield f'<circle cx="{MARGIN}" cy="{_middle(row)}" r="4"/>'


def _ends(reason: Reason, function: Function, rows: Mapping[int, int]) -> tuple[int, int] | None:
    """The rows of both accesses; None where one is in the text of another function."""
    sides = (reason.earlier, reason.later)
    if any(side.file != function.file or side.line not in rows for side in sides):
        return None
    return rows[reason.earlier.line], rows[reason.later.line]


def _curve(start: int, end: int) -> str:
    reach = MARGIN + _reach(start, end)
    first, last = _middle(start), _middle(end)
    return f"M{MARGIN} {first}C{reach} {first},{reach} {last},{MARGIN} {last}"


def _reach(start: int, end: int) -> int:
    """How far to the right an arc goes: longer arcs go around shorter ones."""
    return min(WIDEST, MARGIN + abs(end - start) * ROW // 2)


def _middle(row: int) -> int:
    return row * ROW + ROW // 2
