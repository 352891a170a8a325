"""P09xx: what the language has and this compiler does not build yet, one code a family."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem, Severity


class ClustersUnsupported(Problem):
    code = "P0906"
    title = "clusters are not supported yet"
    message = "`cluster =` above 1 is not supported yet"
    help_text = "launch single blocks: `block[1]`"


class TestsUnsupported(Problem):
    code = "P0907"
    title = "host tests are not run yet"
    severity = Severity.WARNING
    message = "`test` is not supported yet: its body is neither checked nor run"
    help_text = "test the kernel from the host for now"

