"""What a build tells of a pipeline; the words are those of `prismc sync` (`sync/shapes.py`).

It stands alone because a build that is up to date reads it, and needs no checker for that.
"""

from __future__ import annotations

from prismc.source.record import Value


class PipelineReport(Value):
    """The pipeline of a kernel, or of a function that it calls, on one target, in `words`."""

    function: str
    target: str
    words: str
