"""Problems of narrowing: `partition` and `claim`."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem
from prismc.hardware.groups import Perspective


class NarrowElsewhere(Problem):
    code = "P0413"
    title = "narrowed by code of another perspective"
    message = (
        "`{name}` is {pointer_perspective}, so {pointer_perspective} code must "
        "{keyword} it; this is {code_perspective} code"
    )
    label = "`{name}` is {pointer_perspective}"
    help_text = "{advice}"

    name: str
    keyword: str
    pointer_perspective: Perspective
    code_perspective: Perspective
    advice: str


class NarrowTarget(Problem):
    code = "P0414"
    title = "a pointer cannot be narrowed to that"
    message = "`@ {to}`: {reason}"
    label = "{reason}"
    help_text = "narrow to a perspective within {code_perspective} whose size divides it"

    to: Perspective
    code_perspective: Perspective
    reason: str


class OffsetVaries(Problem):
    code = "P0415"
    title = "an offset that varies inside a piece"
    message = "the {what} must be the same in a whole {to}, but it varies per {varies}"
    label = "varies per {varies}"
    help_text = "compute it from values that are at least {to}, or narrow to {varies}"

    what: str
    to: Perspective
    varies: Perspective


class Hidden(Problem):
    code = "P0416"
    title = "a name that is hidden"
    message = "`{name}` is hidden by the {construct} of `{source}`"
    label = "hidden here, for reading too"
    help_text = "use `{view}`, or finish the {construct} first"

    name: str
    construct: str
    source: str
    view: str


class ClaimTwice(Problem):
    code = "P0417"
    title = "a claimed name in two arms"
    message = "`{name}` has one owner, but two arms of this split use it"
    label = "a second arm"
    help_text = "use `{name}` in one arm only, or narrow with `partition` instead of `claim`"

    name: str


class ClaimElsewhere(Problem):
    code = "P0418"
    title = "a claimed name used outside its arm"
    message = "`{name}` belongs to one {owner}: it can be used only inside one arm of that size"
    label = "{reason}"
    help_text = "use it inside `first {owner}:` or one arm of a `split`"

    name: str
    owner: Perspective
    reason: str


class MappedElsewhere(Problem):
    code = "P0442"
    title = "a view with an index function in another place"
    message = "`{name}` cannot {use}: its elements lie where an index function says"
    label = "made by `by`"
    help_text = "use `at` for it, or copy the elements first"

    name: str
    use: str
