"""P051x: what the target cannot do."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem


class NeedsTarget(Problem):
    code = "P0510"
    title = "an operation that the target does not have"
    message = "`{callee}` needs {needed}, which {target} does not have"
    label = "not for {target}"
    help_text = "build for {newer} (`--target {newer}`), or do without it"

    callee: str
    needed: str
    target: str
    newer: str


class NoClusters(Problem):
    code = "P0432"
    title = "clusters on a target that has none"
    message = "`{kernel}` is launched in clusters of {blocks} blocks, which {target} does not have"
    label = "not for {target}"
    help_text = "build for {newer} (`--target {newer}`), or launch single blocks"

    kernel: str
    blocks: int
    target: str
    newer: str


class UnknownNeed(Problem):
    code = "P0511"
    title = "`needs(..)` of something unknown"
    message = "`{word}` is neither a target nor a feature"
    label = "no target and no feature is called so"
    help_text = "name a target, as `needs(sm_80)`, or a feature that `prismc targets` lists"

    word: str


class KernelNameTaken(Problem):
    """Told by `check`, though it is about what is built: only a kernel keeps its name there."""

    code = "P0706"
    title = "a kernel has a name that CUDA C++ reserves"
    message = "CUDA C++ cannot have a kernel called `{name}`"
    label = "the kernel's symbol is its name"
    help_text = "rename the kernel"

    name: str
