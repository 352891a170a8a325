"""What a refusal or a warning is made of.

A problem is a small record beside the check that reports it. Its class holds the words, its fields
hold the facts; `{field}` in the words is filled from the fields. One class, one code: the driver's
catalog collects the classes, nobody registers them.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from prismc.source.record import Record
from prismc.source.span import Span


class Severity(Enum):
    """How bad it is. Only errors make exit code 1 (warnings do under `--deny`)."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Related(Record):
    """A second place that explains the first, with its own words: "`t` varies per thread here"."""

    at: Span
    message: str


class Fix(Record):
    """A change that mends a problem: replace the text of `at` by `text`.

    One that `is_certain` to be what was meant may be applied unseen; another, as a name that is
    spelled nearly so, is for a person to choose.
    """

    at: Span
    text: str
    title: str
    is_certain: bool = True


class Problem(Record):
    """Base of all diagnostics.

    A subclass sets the class variables; `message`, `label` and `help_text` may name fields in
    braces. `label` stands under the carets of `at`; `related` tells the second place.
    """

    code: ClassVar[str] = ""
    title: ClassVar[str] = ""
    severity: ClassVar[Severity] = Severity.ERROR
    message: ClassVar[str] = ""
    label: ClassVar[str] = ""
    help_text: ClassVar[str] = ""
    is_environment: ClassVar[bool] = False  # the machine or the command line, no program: exit 2

    at: Span
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()
    notes: tuple[str, ...] = ()

    def _filled(self, template: str) -> str:
        if "{" not in template:
            return template
        return template.format_map({field: getattr(self, field) for field in self.__fields__})

    def shown_message(self) -> str:
        """The sentence of the head line: the class's message, or else its title."""
        return self._filled(type(self).message or type(self).title)

    def shown_label(self) -> str:
        return self._filled(type(self).label)

    def shown_help(self) -> str:
        return self._filled(type(self).help_text)


class Suppression(Record):
    """A warning that is not told, and why: the comment at `at`, or the command line without one."""

    problem: Problem
    reason: str
    at: Span | None
