"""Before the package is built or installed, its kernels are: `kernels.prism` to a module."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGETS = ("sm_80", "sm_90", "sm_100", "sm_120")


class KernelHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds `kernels.py` and its stubs, where they are not up to date."""
        targets = [word for target in TARGETS for word in ("--target", target)]
        source, out = "src/row_softmax/kernels.prism", "src/row_softmax/kernels.py"
        command = [sys.executable, "-m", "prismc", "build", source, "-o", out, *targets]
        subprocess.run(command, cwd=self.root, check=True)
        # They are made, not kept in version control, and belong to the package all the same.
        build_data["artifacts"] += [out, f"{out}i"]
