"""P06xx: order between threads that cannot be made, or that should not be needed."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem, Severity


class NoOrderBetweenBlocks(Problem):
    code = "P0601"
    title = "no order between blocks"
    message = (
        "blocks {verb} `{root}` here that other blocks may {other_verb} in the same kernel; "
        "nothing orders blocks before the kernel ends"
    )
    label = "{example}"
    help_text = "split the kernel in two here, {way}"

    root: str
    verb: str
    other_verb: str
    example: str
    way: str


class NoPlaceInGrid(Problem):
    code = "P0611"
    title = "no place for a barrier of the grid"
    message = (
        "blocks {verb} `{root}` here that other blocks may {other_verb}, and no barrier of the "
        "grid can stand between: only code of the grid may hold one"
    )
    label = "{example}"
    help_text = "end the code of the block between the two, so that all blocks can wait there"

    root: str
    verb: str
    other_verb: str
    example: str


class OverlappingIterations(Problem):
    code = "P0602"
    title = "pieces overlap between iterations"
    severity = Severity.WARNING
    message = (
        "pieces of `{root}` overlap between iterations: thread {first} and, in a later one, "
        "thread {second} write the same element"
    )
    label = "a barrier runs in every iteration because of this store"
    help_text = "choose offsets that keep each thread's elements apart in all iterations"

    root: str
    first: int
    second: int


class OverlappingPieces(Problem):
    code = "P0603"
    title = "pieces overlap"
    severity = Severity.WARNING
    message = "{units} {first} and {second} {doing} element {element} of `{root}`: {outcome}"
    label = "touched by several {units} at once"
    help_text = "{advice}"

    root: str
    first: int
    second: int
    element: str
    units: str = "threads"
    doing: str = "both write"
    outcome: str = "any of the values may stay"
    advice: str = "give each thread elements of its own, or let one write: `first thread[1]:`"


class MeetingPieces(Problem):
    code = "P0608"
    title = "pieces meet, and a barrier stands between"
    severity = Severity.WARNING
    message = (
        "thread {first} {earlier_verb} and thread {second} {verb} element {element} of `{root}` "
        "through `{view}`: pieces overlap, so a barrier stands between"
    )
    label = "thread {second} {verb} here"
    help_text = "choose offsets that keep each thread's elements apart, or name the array itself"

    root: str
    view: str
    first: int
    second: int
    element: str
    earlier_verb: str
    verb: str


class DeniedMeeting(MeetingPieces):
    """The same under `--races deny`."""

    severity = Severity.ERROR


class UnprovenPieces(Problem):
    code = "P0609"
    title = "pieces are not shown to be apart"
    message = (
        "pieces of `{view}` are not shown to be apart: two threads may write one element of "
        "`{root}`, or one write it and one read it"
    )
    label = "not shown to stay in the thread's own piece"
    help_text = (
        "choose offsets that are known, state what lengths keep to "
        "(`@assume(n > 0, n % 32 == 0)`), or that pieces are apart: "
        "`assume(disjoint({view}))` in `unsafe`"
    )

    root: str
    view: str


class DeniedIterations(OverlappingIterations):
    """The same under `--races deny`."""

    severity = Severity.ERROR


class DeniedPieces(OverlappingPieces):
    """The same under `--races deny`."""

    severity = Severity.ERROR


class InsideStatement(Problem):
    code = "P0604"
    title = "order is needed inside one statement"
    message = "`{root}` needs a barrier in the middle of this statement"
    label = "{verb} here"
    help_text = "split the statement in two: keep the first result in a variable"

    root: str
    verb: str


class NoPlace(Problem):
    code = "P0605"
    title = "no place for a barrier"
    message = "`{root}` needs a barrier before this, on a path that has no place for one"
    label = "{verb} here"
    help_text = (
        "let every path through the loop's body end at its last statement, without `continue`"
    )

    root: str
    verb: str


class NarrowCode(Problem):
    code = "P0606"
    title = "order among more threads than the code speaks for"
    message = (
        "`{root}` needs an order among all threads of {needs}, and this is {code_perspective} code"
    )
    label = "{verb} here"
    help_text = "end the {code_perspective} code between the two, so that all of {needs} can wait"

    root: str
    needs: str
    code_perspective: str
    verb: str


class UnbalancedLoads(Problem):
    code = "P0630"
    title = "loads that different threads would wait for"
    message = "different threads would wait for the bulk loads into {roots}"
    label = "some threads come here"
    help_text = (
        "fill two arrays, or let all scopes that fill this one, and what reads it, stand in code "
        "of the same threads"
    )

    roots: str


class UnfinishedCopy(Problem):
    code = "P0607"
    title = "touched while copies are on their way"
    message = "`{root}` is touched while an asynchronous copy may still be on its way"
    label = "{verb} here"
    help_text = "end the `async` scope before this, so that it can be waited for"

    root: str
    verb: str


class NoMbarriers(Problem):
    code = "P0610"
    title = "a barrier that the target does not have"
    message = (
        "each thread[{size}] has to wait for its threads before this, and {target} has no barrier "
        "for that: {reason}"
    )
    label = "needs the order"
    help_text = (
        "use groups of 2, 4, 8 or 16 threads, or of a multiple of 32, or build for sm_80 or later, "
        "which has mbarriers"
    )

    size: int
    target: str
    reason: str


class PartOfCluster(Problem):
    code = "P0613"
    title = "an order between some blocks of a cluster"
    message = (
        "`{root}` needs an order between {blocks} of the {cluster} blocks of a cluster, and only a "
        "whole cluster can wait"
    )
    label = "{blocks} blocks would wait for one another"
    help_text = "launch clusters of {blocks} blocks, or make it code of block[{cluster}]"

    root: str
    blocks: int
    cluster: int
