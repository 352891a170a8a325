"""P0365 to P0368, P0612: what the rings and regions of a `pipeline` may be."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem


class BadRing(Problem):
    code = "P0365"
    title = "not a ring"
    message = "`{name}` {reason}"
    label = "a ring of this pipeline"
    help_text = (
        "declare it as `shared S: T[slots][n]`, with as many slots as the other rings, and name it "
        "once"
    )

    name: str
    reason: str


class RingRead(Problem):
    code = "P0366"
    title = "a ring is read where it is produced"
    message = "`{name}` is read in `produce`, where its slot holds an earlier iteration's elements"
    label = "read here"
    help_text = "read it in `consume`, or keep what you need in a variable"

    name: str


class RegionsDepend(Problem):
    code = "P0367"
    title = "the regions of a pipeline depend on one another"
    message = (
        "`{name}` is written in `{writer}` and used in `{other}`: later iterations are produced "
        "before earlier ones are consumed"
    )
    label = "used in `{other}`"
    help_text = "hand it over in a ring, or do both in one region"

    name: str
    writer: str
    other: str


class BadRegion(Problem):
    code = "P0368"
    title = "a statement that cannot stand in a pipeline's region"
    message = "{what} cannot stand in a region of a pipeline"
    help_text = "{advice}"

    what: str
    advice: str


class UnevenRings(Problem):
    code = "P0612"
    title = "a ring that is not filled in every iteration"
    message = "`{name}` is not filled whenever `{other}` is: its slot would hold old elements"
    label = "filled {where}"
    help_text = "fill all rings of the pipeline under the same conditions"

    name: str
    other: str
    where: str
