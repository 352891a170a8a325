"""Makes C extensions of the compiler's inner stages: `compile.py SOURCES RESULT`.

Below RESULT come the rewritten modules, beside each its extension, and the one library that holds
all their code.
"""

from __future__ import annotations

import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from setuptools import Distribution, Extension
from setuptools._distutils.ccompiler import new_compiler
from setuptools._distutils.sysconfig import customize_compiler
from setuptools.command.build_ext import build_ext

from boxed import extensions
from modules import PACKAGE, read_sources
from records import NATIVE, rewritten, tells_problems

# Where a build spends its time. Interpreted as ever are commands, the driver, the emulator and the
# language server, and the modules of diagnostics, which are used once in a run if at all.
STAGES = ("hardware", "frontend", "checker", "ir", "backend")
LEVEL = "1"  # -O3 takes gcc twice the time, for code that mostly calls Python's C functions
UNITS = 16  # every file that gcc gets reads the declarations of all modules
DEPTH = 10_000  # of expressions, as mypy goes through them


def main(sources: Path, result: Path) -> None:
    """Rewrites, compiles and links; what was generated on the way stays in `result`/generated."""
    sys.setrecursionlimit(DEPTH)
    shutil.copytree(sources / PACKAGE, result / PACKAGE, ignore=shutil.ignore_patterns("*.pyc"))
    modules = write_rewritten(sources, result)
    os.chdir(result)  # mypy names modules by their paths from here
    settings = ["--config-file", str(sources.parent / "pyproject.toml")]
    arguments = [*settings, "--follow-imports=silent", *modules]
    build(extensions(arguments, PACKAGE, Path("generated"), LEVEL))
    keep(result, modules)


def write_rewritten(sources: Path, result: Path) -> list[str]:
    """Puts the modules that are to be compiled into the copy; their paths in it."""
    known = read_sources(sources)
    texts = {
        name: rewritten(source, known)
        for name, source in known.items()
        if name.split(".")[1] in STAGES and not tells_problems(source, known)
        if not name.endswith(".__init__")
    }
    texts[NATIVE] = Path(__file__).with_name("native.py").read_text(encoding="utf-8")
    paths = {name: f"{name.replace('.', '/')}.py" for name in texts}
    for name, text in texts.items():
        (result / paths[name]).write_text(text, encoding="utf-8")
    return list(paths.values())


def build(made: list[Extension]) -> None:
    """Compiles and links into the current folder, as many files at a time as processors."""
    command = build_ext(Distribution({"ext_modules": made}))
    command.inplace, command.build_temp, command.parallel = 1, "objects", os.cpu_count()
    command.ensure_finalized()
    compile_apart(command, max(made, key=lambda extension: len(extension.sources)))
    command.run()


def compile_apart(command: build_ext, extension: Extension) -> None:
    """Turns the many sources of one extension into objects: setuptools would go one by one."""
    compiler = new_compiler()
    customize_compiler(compiler)
    if sys.platform == "linux":
        extension.extra_compile_args.append("-fvisibility=hidden")
        extension.extra_link_args.append("-s")
    compile_one = partial(
        compiler.compile,
        output_dir=command.build_temp,
        include_dirs=[*extension.include_dirs, *command.include_dirs, "."],
        extra_postargs=extension.extra_compile_args,
    )
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = pool.map(lambda source: compile_one([source]), units(extension.sources))
        extension.extra_objects = [path for paths in objects for path in paths]
    extension.sources = []


def units(sources: list[str]) -> list[str]:
    """The sources, but files that include about as much each in place of the modules' own."""
    modules = [path for path in sources if f"__native_{PACKAGE}___" in path]
    groups: list[list[str]] = [[] for _ in range(UNITS)]
    for source in sorted(modules, key=lambda path: (-os.path.getsize(path), path)):
        min(groups, key=lambda group: sum(map(os.path.getsize, group))).append(source)
    paths = [f"generated/unit{number}.c" for number in range(UNITS)]
    for path, group in zip(paths, groups, strict=True):
        Path(path).write_text("".join(f'#include "{source}"\n' for source in sorted(group)))
    return [*paths, *(path for path in sources if path not in modules)]


def keep(result: Path, modules: list[str]) -> None:
    """Removes from the copy whatever the wheel takes from the sources."""
    wanted = set(modules)
    for path in (result / PACKAGE).rglob("*"):
        name = path.relative_to(result).as_posix()
        if path.is_file() and path.suffix not in (".so", ".pyd") and name not in wanted:
            path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
