"""P0433 to P0437: arrays that the blocks of a cluster keep alike, or read of one another."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem


class MirroredStore(Problem):
    code = "P0433"
    title = "a store into one copy of a mirrored array"
    message = "`{name}` is kept alike in {blocks} blocks, and this changes the copy of one"
    label = "changes one copy"
    help_text = "fill it by a bulk load in an asynchronous scope, or declare it `@ block[1]`"

    name: str
    blocks: int


class MulticastDiffers(Problem):
    code = "P0434"
    title = "a load for several blocks that not all of them take part in"
    message = "each of {blocks} blocks waits for what all of them load into `{name}`, but {reason}"
    label = "a load for {blocks} blocks"
    help_text = "{advice}"

    name: str
    blocks: int
    reason: str
    advice: str


class MirroredPart(Problem):
    code = "P0435"
    title = "an array that a part of a cluster mirrors"
    message = "`{name}` would be kept alike in {blocks} blocks, and {around}"
    help_text = "declare it `@ {advice}`, or `@ block[1]` for an array in each block"

    name: str
    blocks: int
    around: str
    advice: str


class OtherBlocks(Problem):
    code = "P0436"
    title = "another block's memory in code that knows of one block"
    message = "`{callee}` touches the memory of other blocks of a cluster, and {around}"
    label = "no other block is known here"
    help_text = "require `block[n]`, and launch the kernel with `cluster = n`"

    callee: str
    around: str


class OtherCopy(Problem):
    code = "P0437"
    title = "another block's copy of a mirrored array"
    message = "`{name}` is kept alike in {blocks} blocks, and `{callee}` names the copy of one"
    label = "touches one copy"
    help_text = "read the block's own copy, which holds the same, or declare it `@ block[1]`"

    name: str
    blocks: int
    callee: str
