"""Problems as people read them: the head, where it broke, why it could, what to do.

```
error[P0403]: `x` varies per thread[1], `y` must be one value per block[1]
 --> kernel.prism:5:9
  |
4 |     y: int @ block[1] = 0
  |     - `y` is declared here
5 |     y = x
  |         ^ varies per thread[1]
  |
  = help: declare `y` as `int @ thread[1]`
```
Colours are the caller's: see `prismc.diagnostics.style`.
"""

from __future__ import annotations

from collections.abc import Iterable

from prismc.diagnostics.display import printable
from prismc.diagnostics.excerpt import Mark, draw_excerpt, last_line_number
from prismc.diagnostics.problem import Fix, Problem, Severity
from prismc.diagnostics.style import OF_SEVERITY, Role, Style, plain
from prismc.source.files import Files, SourceFile
from prismc.source.span import Span


def render_problems(
    problems: Iterable[Problem], files: Files, style: Style = plain, max_errors: int = 0
) -> str:
    """All problems, a blank line between them, then a summary line; empty for none.

    `max_errors` limits how many errors are printed, 0 prints them all; the summary counts all.
    """
    everything = tuple(problems)
    blocks: list[str] = []
    errors = 0
    for problem in everything:
        errors += problem.severity is Severity.ERROR
        if max_errors and errors > max_errors:
            break
        blocks.append(render_problem(problem, files, style))
    if everything:
        hidden = len(everything) - len(blocks)
        blocks.append(_summary(everything, hidden))
    return "\n".join(blocks)


def _summary(problems: tuple[Problem, ...], hidden: int) -> str:
    words = []
    for severity in Severity:
        number = sum(problem.severity is severity for problem in problems)
        if number:
            words.append(f"{number} {severity.value}{'s' if number > 1 else ''}")
    text = ", ".join(words)
    return f"{text} ({hidden} not shown; see --max-errors)\n" if hidden else f"{text}\n"


def render_problem(problem: Problem, files: Files, style: Style = plain) -> str:
    """One problem; ends with a line end."""
    return "\n".join(_Rendering(problem, files, style).rows()) + "\n"


class _Rendering:
    def __init__(self, problem: Problem, files: Files, style: Style) -> None:
        self.problem = problem
        self.files = files
        self.style = style
        self.role = OF_SEVERITY[problem.severity]
        self.places = self.marks_by_file()
        greatest = max((last_line_number(*place) for place in self.places), default=0)
        self.width = len(str(greatest))

    def marks_by_file(self) -> list[tuple[SourceFile, list[Mark]]]:
        """The marks of each file, the file where it broke first."""
        marks = [Mark(self.problem.at, self.problem.shown_label(), self.role)]
        marks += [Mark(r.at, r.message, Role.SECOND) for r in self.problem.related]
        by_file: dict[str, list[Mark]] = {}
        for mark in marks:
            by_file.setdefault(mark.at.file, []).append(mark)
        return [(self.files.known(name), found) for name, found in by_file.items() if name]

    def rows(self) -> list[str]:
        rows = [self.head()]
        for number, (file, marks) in enumerate(self.places):
            rows.append(self.arrow(marks[0].at, "-->" if number == 0 else ":::"))
            if file.text:
                rows += draw_excerpt(file, marks, self.width, self.style)
            else:
                rows += [self.attached(Role.NOTE, "note", m.label) for m in marks if m.label]
        return rows + self.advice()

    def head(self) -> str:
        code = f"[{self.problem.code}]" if self.problem.code else ""
        kind = self.style(self.role, f"{self.problem.severity.value}{code}")
        return kind + self.style(Role.MESSAGE, f": {printable(self.problem.shown_message())}")

    def arrow(self, at: Span, arrow: str) -> str:
        line, column = self.files.position(at)
        return (
            self.style(Role.FRAME, " " * self.width + arrow)
            + f" {printable(at.file)}:{line}:{column}"
        )

    def advice(self) -> list[str]:
        """Notes first, then help, then fixes: what to do comes last."""
        rows = [self.attached(Role.NOTE, "note", note) for note in self.problem.notes]
        rows += [
            self.attached(Role.NOTE, "note", related.message)
            for related in self.problem.related
            if not related.at.file
        ]
        if text := self.problem.shown_help():
            rows.append(self.attached(Role.HELP, "help", text))
        if rows and self.places:
            rows.insert(0, self.style(Role.FRAME, " " * self.width + " |"))
        for fix in self.problem.fixes:
            if fix.is_certain:  # the help has told of the others
                rows += self.fix(fix)
        return rows

    def attached(self, role: Role, kind: str, text: str) -> str:
        first, *rest = map(printable, text.split("\n"))
        indent = " " * self.width
        head = self.style(Role.FRAME, f"{indent} =") + f" {self.style(role, kind)}: {first}"
        return "\n".join([head, *(f"{indent}   {' ' * len(kind)}  {line}" for line in rest)])

    def fix(self, fix: Fix) -> list[str]:
        """A change as the line would read after it, with `+` under what is new."""
        file = self.files.known(fix.at.file)
        rows = [self.attached(Role.HELP, "fix", fix.title)]
        changed = file.text[fix.at.start : fix.at.end]
        if "\n" in changed or "\n" in fix.text or not file.text:
            return rows
        number, column = file.position(fix.at.start)
        line = file.line(number)
        patched = line[: column - 1] + fix.text + line[column - 1 + len(changed) :]
        above = number - 1
        after = SourceFile(file.name, "\n" * above + patched)
        start = above + column - 1
        new = Span(file.name, start, start + len(fix.text))
        drawn = draw_excerpt(after, [Mark(new, "", Role.HELP)], self.width, self.style)
        return rows + (drawn if fix.text else drawn[:-1])
