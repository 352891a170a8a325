"""Which code runs on which device, and which is taken where several do.

CUDA C++ Programming Guide, "Binary Compatibility", "PTX Compatibility", "Architecture-Specific" and
"Family-Specific Features": machine code runs on devices of its major number from its minor number
on, PTX on all later devices; code of `sm_90a` on 9.0 only, of `sm_100f` in its family.
"""

from __future__ import annotations

from pathlib import Path

from host.support import execute, program

# A device; then code that runs there, the best first; then code that does not.
CASES = {
    75: (["sm_75", "sm_75 PTX"], ["sm_80", "sm_80 PTX", "sm_70a"]),
    80: (["sm_80", "sm_80 PTX", "sm_75 PTX"], ["sm_75", "sm_86", "sm_90", "sm_90a PTX"]),
    86: (["sm_86", "sm_80", "sm_86 PTX", "sm_80 PTX"], ["sm_87", "sm_89", "sm_89 PTX"]),
    90: (
        ["sm_90a", "sm_90", "sm_90 PTX", "sm_89 PTX", "sm_80 PTX", "sm_90a PTX"],
        ["sm_89", "sm_100", "sm_100f"],
    ),
    100: (
        ["sm_100a", "sm_100f", "sm_100", "sm_100 PTX", "sm_90 PTX"],
        ["sm_90", "sm_90a", "sm_90a PTX", "sm_103", "sm_103a", "sm_110"],
    ),
    103: (["sm_103a", "sm_100f", "sm_103", "sm_100", "sm_100 PTX"], ["sm_100a", "sm_110f"]),
    121: (["sm_121a", "sm_120f", "sm_121", "sm_120"], ["sm_120a", "sm_110f", "sm_100f", "sm_100"]),
}


def _fit(code: str, device: int) -> str:
    """A call of the header's own judgement."""
    name, _, ptx = code.partition(" ")
    digits, kind = name.removeprefix("sm_"), " "
    if not digits[-1].isdigit():
        digits, kind = digits[:-1], digits[-1]
    target = f"prism_target_{{\"{name}\", {digits}, '{kind}'}}"
    return f"    {{ const prism_target_ target = {target};\n      " + (
        f'std::printf("%d\\n", prism_fit_(&target, {"true" if ptx else "false"}, {device})); }}\n'
    )


def test_code_is_chosen_as_the_guide_says(saxpy: Path, tmp_path: Path) -> None:
    calls = [
        _fit(code, device) for device, (runs, fails) in CASES.items() for code in (*runs, *fails)
    ]
    text = '#include <cstdio>\n#include "saxpy.h"\nint main()\n{\n' + "".join(calls) + "}\n"
    host = program(tmp_path, text, f"-I{saxpy}")
    fits = iter(map(int, execute(host, None).stdout.split()))
    for device, (runs, fails) in CASES.items():
        scores = [next(fits) for _ in runs]
        assert all(scores), device
        assert scores == sorted(scores, reverse=True), device
        assert len(set(scores)) == len(scores), device
        assert [next(fits) for _ in fails] == [0] * len(fails), device
