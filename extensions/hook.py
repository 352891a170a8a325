"""The build hook of the compiled wheel: the inner stages of the compiler become C extensions.

It does so if PRISMC_COMPILED is set; a plain wheel and an editable installation do without.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Of mypy the very version: `boxed.py` goes between its steps.
TOOLS = ["mypy==2.4.*", "setuptools>=65"]


class CompiledStages(BuildHookInterface[Any]):
    """Puts what `compile.py` makes into the wheel, in place of the sources it was made of."""

    def dependencies(self) -> list[str]:
        """What has to be installed for it; mypy reads the types of prismc's own dependencies."""
        return [*TOOLS, *self.metadata.core.dependencies] if self._is_wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compiles, and tells the wheel what to take from where."""
        if version == "editable" or not self._is_wanted():
            return
        root = Path(self.root)
        result = root / "build" / "compiled"
        shutil.rmtree(result, ignore_errors=True)
        program = root / "extensions" / "compile.py"
        subprocess.run([sys.executable, program, root / "src", result], check=True)
        found = [*result.glob("*.*"), *(result / "prismc").rglob("*.*")]
        made = [path.relative_to(result).as_posix() for path in found if path.is_file()]
        build_data["force_include"] |= {str(result / path): path for path in made}
        excluded = self.build_config.target_config.setdefault("exclude", [])
        excluded += [f"/src/{path}" for path in made if path.endswith(".py")]
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def _is_wanted(self) -> bool:
        return os.environ.get("PRISMC_COMPILED", "") not in ("", "0")
