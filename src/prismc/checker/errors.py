"""P09xx: what the language has and this compiler does not build yet, one code a family."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem


class ClustersUnsupported(Problem):
    code = "P0906"
    title = "clusters are not supported yet"
    message = "`cluster =` above 1 is not supported yet"
    help_text = "launch single blocks: `block[1]`"
