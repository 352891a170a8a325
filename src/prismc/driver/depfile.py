"""Which files an output was made from, as a rule that make and Ninja read."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from prismc.driver.inputs import STANDARD_INPUT


def dependency_rule(outputs: Sequence[str], sources: Sequence[str]) -> str:
    """`outputs: sources`, and an empty rule for each source but the first, the root.

    The empty rules let make go on when an import is gone: it builds anew, and prismc tells of it.
    """
    made = " ".join(map(_escaped, outputs))
    used = [_escaped(source) for source in sources if source != STANDARD_INPUT]
    rule = " \\\n  ".join([f"{made}:", *used])
    return rule + "\n" + "".join(f"\n{source}:\n" for source in used[1:])


def _escaped(name: str) -> str:
    """A file name as a makefile spells it (GNU make manual, "Rule Syntax")."""
    name = name.replace(os.sep, "/").replace("$", "$$")
    return re.sub(r"([ #])", r"\\\1", name)
