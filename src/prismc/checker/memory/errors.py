"""P05xx: shared memory, where it may stand and how much of it there is."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem
from prismc.hardware.groups import Perspective


class SharedAtGrid(Problem):
    code = "P0501"
    title = "shared memory outside a block"
    message = (
        "shared memory belongs to a block or to threads in it; this is {code_perspective} code"
    )
    label = "declared in {code_perspective} code"
    help_text = "declare it inside `group block[1]:`"

    code_perspective: Perspective


class SharedBudget(Problem):
    code = "P0502"
    title = "more shared memory than declared"
    message = (
        "{needed} bytes of shared memory are needed here, `smem = {declared}` allows {declared}"
    )
    label = "{cause}"
    help_text = "raise `smem`, leave it out, or let arrays share bytes by giving them scopes"

    needed: int
    declared: int
    cause: str


class SharedLimit(Problem):
    code = "P0503"
    title = "more shared memory than the target has"
    message = "{needed} bytes of shared memory are needed here, {target} has {limit} for a block"
    label = "{cause}"
    help_text = "use smaller arrays, or build for a target with more shared memory"

    needed: int
    target: str
    limit: int
    cause: str


class LocalLimit(Problem):
    code = "P0504"
    title = "a register array that no thread can hold"
    message = "`{name}` takes {size} bytes in each thread, which has {limit} at most"
    help_text = "use a smaller array, or memory that threads share"

    name: str
    size: int
    limit: int
