"""Every snippet of the table is explained by its own row, once, and is wrong in one place only."""

from __future__ import annotations

import pytest

from prismc.diagnostics.fixes import with_fixes
from prismc.frontend import recovery
from prismc.frontend.situation import Situation
from prismc.frontend.syntax_help import HELP, Advice, explain_error
from support.syntax import parse

ROWS = [(advice, snippet) for advice in HELP for snippet in advice.snippets]


@pytest.mark.parametrize(
    ("advice", "snippet"), ROWS, ids=[f"{a.explain.__name__}-{s!r}" for a, s in ROWS]
)
def test_snippet(advice: Advice, snippet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    situations: list[Situation] = []

    def note(at: Situation) -> object:
        situations.append(at)
        return explain_error(at)

    monkeypatch.setattr(recovery, "explain_error", note)
    parsed = parse(snippet)
    assert len(parsed.problems) == 1
    first = next(row for row in HELP if row.explain(situations[0]) is not None)
    assert first is advice
    for problem in parsed.problems:
        for fix in problem.fixes:
            assert parse(with_fixes(snippet, [fix])).problems == (), "a fix that does not mend"


def test_every_row_has_a_snippet() -> None:
    assert [row.explain.__name__ for row in HELP if not row.snippets] == []
