"""C of Python modules by mypyc, in which numbers stay Python's objects.

mypyc holds an `int` as a machine word, and a `bool` is an `int` to it: True goes into a field or a
result of that type, and 1 comes out. An `int` that meets the type `float` becomes one. A compiler
must say what its source says. So the two types get names, once all is checked, by which the part
of mypyc that chooses representations does not know them: numbers are then what values of unknown
types are, objects that nothing converts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from mypy.errors import CompileError
from mypy.fscache import FileSystemCache
from mypy.nodes import TypeInfo
from mypyc.build import construct_groups, get_mypy_config, mypycify
from mypyc.codegen import emitmodule
from mypyc.errors import Errors
from mypyc.ir.module_ir import ModuleIRs
from mypyc.ir.ops import Box, ComparisonOp, Value
from mypyc.ir.rtypes import RTuple
from mypyc.options import CompilerOptions
from setuptools import Extension

from records import BOXED


def extensions(arguments: list[str], group: str, folder: Path, level: str) -> list[Extension]:
    """The extensions of the modules that `arguments`, those of mypy, name; their C is written below
    `folder`. One of them, `group`, has the code of all. Ends the program where mypy complains."""
    compiled, sources, settings = get_mypy_config(arguments, None, _options(group), _CACHE)
    groups = construct_groups(compiled, False, True, group)
    try:
        result = emitmodule.parse_and_typecheck(sources, settings, _options(group), groups, _CACHE)
    except CompileError as error:
        sys.exit("\n".join(error.messages))
    for name in BOXED:
        info = result.manager.modules["builtins"].names[name].node
        assert isinstance(info, TypeInfo)
        info._fullname = f"boxed.{name}"
    errors = Errors(settings)
    modules, text, _ = emitmodule.compile_modules_to_c(result, _options(group), errors, groups)
    if errors.num_errors:
        sys.exit("\n".join(errors.new_messages()))
    if found := list(compared_tuples(modules)):
        sys.exit("\n".join(f"{place}: `is` of tuples" for place in found))
    needed = sorted(emitmodule.collect_source_dependencies(modules), key=lambda one: one.path)
    return mypycify(
        arguments,
        opt_level=level,
        debug_level="0",
        multi_file=True,
        group_name=group,
        target_dir=str(folder),
        skip_cgen_input=(text, [(one.path, one.include_dirs, one.internal) for one in needed]),
    )


def compared_tuples(modules: ModuleIRs) -> Iterator[str]:
    """Where `is` compares tuples of fixed length: C passes their parts, so that no two are one."""
    for name, module in modules.items():
        for function in module.functions:
            for block in function.blocks:
                for op in block.ops:
                    if isinstance(op, ComparisonOp) and (_is_tuple(op.lhs) or _is_tuple(op.rhs)):
                        yield f"{name}:{op.line}"


def _is_tuple(value: Value) -> bool:
    return isinstance(value, Box) and isinstance(value.src.type, RTuple)


def _options(group: str) -> CompilerOptions:
    return CompilerOptions(multi_file=True, group_name=group)


_CACHE = FileSystemCache()
