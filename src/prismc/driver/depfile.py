"""Which files an output was made from, as a rule that make and Ninja read, as C compilers write it.

(GCC manual, "Options Controlling the Preprocessor": -MD, -MMD, -MF, -MT, -MP.)
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from prismc.source.record import Value
from prismc.source.resources import stdlib_folder


class DepfileStyle(Value):
    """`targets` stand before the colon as they are; without any, the outputs do. `is_phony` adds an
    empty rule for each prerequisite but the first: make goes on when an import is gone, builds
    anew, and prismc tells of it. `has_system_files` names the standard library and the compiler."""

    targets: tuple[str, ...] = ()
    is_phony: bool = False
    has_system_files: bool = True


def dependency_rule(
    outputs: Sequence[str],
    sources: Sequence[str],
    tools: Sequence[str] = (),
    style: DepfileStyle = DepfileStyle(),  # noqa: B008 - it is a frozen value
) -> str:
    """`outputs: sources tools`, the root file being the first of the sources."""
    made = " ".join(style.targets or map(_escaped, outputs))
    files = [*sources, *tools]
    if not style.has_system_files:
        library = os.fspath(stdlib_folder())
        files = [source for source in sources if os.path.dirname(source) != library]
    used = [_escaped(file) for file in files]
    rule = " \\\n  ".join([f"{made}:", *used])
    phony = used[1:] if style.is_phony else ()
    return rule + "\n" + "".join(f"\n{file}:\n" for file in phony)


def _escaped(name: str) -> str:
    """A file name as a makefile spells it (GNU make manual, "Rule Syntax")."""
    name = name.replace(os.sep, "/").replace("$", "$$")
    return re.sub(r"([ #])", r"\\\1", name)
