"""What one run is asked to do, frozen. How its result is shown is the command line's matter."""

from __future__ import annotations

from prismc.hardware.targets import DEFAULT_TARGET, Target
from prismc.source.record import Value


class Options(Value):
    """`races` (deny, warn, off) is how bad races inside one scope are; `defines` override constants
    of the root file, in the order given; `include` are folders that imports are looked up in;
    `compiler` is `nvrtc` or `nvcc`; `verify` checks the IR after every pass (for tests: a defect
    then shows where it arises); `dropped_sync` are numbers of planned operations to leave out (for
    tests: a program without them must be found at fault); `asserts` keeps assertions, prints and
    what is assumed in the code, `assumptions` only what `assume(..)` takes for true; `placement`
    (fewest, paper) is where barriers are put, `footprints` (evaluated, smt) how accesses are
    compared; `ptx_version` is what PTX states: the `least` that has what it uses, the `newest`,
    which is the compiler's own, or a number."""

    target: Target = DEFAULT_TARGET
    races: str = "warn"
    defines: tuple[tuple[str, str], ...] = ()
    include: tuple[str, ...] = ()
    compiler: str = "nvrtc"
    verify: bool = False
    dropped_sync: tuple[int, ...] = ()
    asserts: bool = False
    assumptions: bool = False
    placement: str = "fewest"
    footprints: str = "evaluated"
    ptx_version: str = "least"
