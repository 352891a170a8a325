"""The header of a module: what each kernel needs, and a typed launch function in C11 and C++17.

The text of `runtime.h` stands in it: it needs no other file, and no part of the CUDA toolkit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from prismc.backend.cuda_module import KernelEntry, KernelParameter
from prismc.backend.host.errors import HeaderNameTaken, report_unverified
from prismc.backend.host.formulas import c_formula
from prismc.backend.host.interface import HostKernel, HostModule
from prismc.backend.host.types import (
    c_element,
    map_constants,
    map_element,
    pointee_alignment,
    prism_type,
    vector_name,
    vector_type,
)
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.source.identifiers import identifier
from prismc.source.span import NOWHERE, Span
from prismc.source.version import VERSION

_RUNTIME = Path(__file__).with_name("runtime.h")
# The text is C too, which has other casts and another null pointer than C++.
_QUIET = """\
#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuseless-cast"
#endif
#endif"""
_LOUD = """\
#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif"""
_TARGET = re.compile(r"sm_(\d+)([af]?)")


def emit_header(module: HostModule, sink: Sink) -> str:
    """The text of the header; two things in it that would have one name are reported."""
    runtime = _RUNTIME.read_text(encoding="utf-8")
    _refuse_clashes(module, runtime, sink)
    report_unverified([kernel.entry for kernel in module.kernels], sink)
    guard = f"PRISM_{module.name.upper()}_H"
    parts = [
        _opening(module, guard),
        _QUIET,
        runtime,
        *_vectors(module),
        *(_constants(kernel.entry, module) for kernel in module.kernels),
        _description(module),
        *(_launch(index, kernel.entry, module) for index, kernel in enumerate(module.kernels)),
        _loading(module),
        _LOUD,
        "#endif",
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def wrapper(kernel: KernelEntry, parameter: KernelParameter) -> str:
    """What makes an argument of a kernel: `saxpy_x`."""
    return f"{kernel.name}_{identifier(parameter.name)}"


# ------------------------------------------------------------------ names


def _names(module: HostModule) -> Iterator[tuple[str, Span, str]]:
    """Each name that the header declares for its module: where it comes from, what for."""
    for suffix in ("module_", "images", "state_", "functions_", "load", "load_file"):
        yield f"{module.name}_{suffix}", NOWHERE, f"file `{module.source}`"
    for kernel in module.kernels:
        entry = kernel.entry
        for suffix in ("launch", *(name for name, _ in _figures(entry)), "TARGETS"):
            yield f"{entry.name}_{suffix}", entry.at, f"kernel `{entry.name}`"
        for parameter in entry.parameters:
            what = f"parameter `{parameter.name}` of kernel `{entry.name}`"
            yield wrapper(entry, parameter), entry.at, what
            if parameter.is_map:
                yield f"{wrapper(entry, parameter)}_map", entry.at, what


def _refuse_clashes(module: HostModule, runtime: str, sink: Sink) -> None:
    own = set(re.findall(r"\bprism_\w+", runtime))
    known: dict[str, tuple[Span, str]] = dict.fromkeys(own, (NOWHERE, "each header itself"))
    told: set[tuple[str, str]] = set()
    for name, at, what in _names(module):
        first, other = known.get(name, (NOWHERE, what))
        if name in known and (what, other) not in told:
            told.add((what, other))
            related = (Related(at=first, message=f"{other} gives `{name}` here"),)
            sink.report(
                HeaderNameTaken(
                    at=at,
                    name=name,
                    what=what,
                    other=other,
                    advice="rename a kernel or a parameter" if at.file else "rename the file",
                    related=related if first.file else (),
                )
            )
        known.setdefault(name, (at, what))


# ------------------------------------------------------------------ parts


def _opening(module: HostModule, guard: str) -> str:
    source = module.source.replace("*/", "*_/")
    lines = [
        f"/* Launch functions for the kernels of {source}, made by prismc {VERSION}.",
        "",
        "   Link the object that was built with this header. Or define PRISM_IMAGES_FROM_FILES",
        f"   before the header and call {module.name}_load_file. With PRISM_USE_CUDART the driver",
        "   is found by CUDA's runtime, which needs the toolkit; without it, by its name.",
        "",
        *(line for kernel in module.kernels for line in _synopsis(kernel.entry)),
        "   Each returns PRISM_OK, or else a status that `prism_message()` explains. */",
        f"#ifndef {guard}",
        f"#define {guard}",
    ]
    return "\n".join(lines)


def _synopsis(kernel: KernelEntry) -> Iterator[str]:
    arguments = [f"{wrapper(kernel, each)}(..)" for each in kernel.parameters]
    yield f"   {kernel.name}_launch({', '.join(['blocks', 'stream', *arguments])})"
    for parameter in kernel.parameters:
        yield f"       {parameter.name}: {prism_type(parameter)}"
    yield ""


def _vectors(module: HostModule) -> Iterator[str]:
    made: dict[str, str] = {}
    for kernel in module.kernels:
        for parameter in kernel.entry.parameters:
            if parameter.lanes > 1:
                made.setdefault(vector_name(parameter), vector_type(parameter))
    yield from made.values()


def _figures(kernel: KernelEntry) -> tuple[tuple[str, int], ...]:
    return (
        ("THREADS", kernel.threads),
        ("SHARED_BYTES", kernel.shared),
        ("CLUSTER", kernel.cluster),
        ("COOPERATIVE", int(kernel.cooperative)),
    )


def _constants(kernel: KernelEntry, module: HostModule) -> str:
    """A kernel's figures as constants, and the types of its arguments."""
    figures = ", ".join(f"{kernel.name}_{name} = {value}" for name, value in _figures(kernel))
    lines = [
        f"/* ---- {kernel.name} */",
        f"enum {{ {figures} }};",
        f'#define {kernel.name}_TARGETS "{" ".join(module.targets)}"',
    ]
    for parameter in kernel.parameters:
        kind = "POINTER" if parameter.is_pointer or parameter.is_map else "VALUE"
        lines.append(f"PRISM_{kind}_({wrapper(kernel, parameter)}, {c_element(parameter)})")
        if parameter.is_map:
            lines += _map_function(wrapper(kernel, parameter), parameter)
    return "\n".join(lines)


def _map_function(name: str, parameter: KernelParameter) -> Iterator[str]:
    """The function that makes a tensor map for a parameter."""
    rank = len(parameter.box)
    yield f"/* The map of an array of {rank} dimensions; its extents, the outermost first. */"
    yield f"PRISM_INLINE_ prism_status {name}_map("
    yield f"    prism_tensor_map *map, const {map_element(parameter)} *array,"
    yield "    const uint64_t *extents, const uint64_t *strides)"
    yield "{"
    yield f"    static const prism_map_ fixed = {map_constants(parameter, name)};"
    yield "    return prism_encode_map_(&fixed, map, array, extents, strides);"
    yield "}"


def _description(module: HostModule) -> str:
    """The function that describes the module to the run time."""
    name, count = module.name, max(len(module.kernels), 1)
    lines = [
        f"PRISM_ONE_(prism_state_ {name}_state_);",
        f"PRISM_ONE_(struct CUfunc_st *{name}_functions_[PRISM_CONTEXTS_ * {count}]);",
        "#ifndef PRISM_IMAGES_FROM_FILES",
        "#ifdef __cplusplus",
        f'extern "C" const prism_images_ {name}_images;',
        "#else",
        f"extern const prism_images_ {name}_images;",
        "#endif",
        "#endif",
        f"PRISM_INLINE_ const prism_module_ *{name}_module_(void)",
        "{",
        "    static const prism_target_ targets[] = {",
        *(f"        {_target(target)}," for target in module.targets),
        "    };",
    ]
    for index, kernel in enumerate(module.kernels):
        lines += _parameters(index, kernel)
    lines += [
        f"    static const prism_kernel_ kernels[{count}] = {{",
        *(f"        {_kernel(index, each.entry)}," for index, each in enumerate(module.kernels)),
        *([] if module.kernels else ["        {NULL, 0, 0, 0, 0, NULL, NULL},"]),
        "    };",
        "    static const prism_module_ module = {",
        f'        "{name}", "{module.signature}", {len(module.targets)}, {len(module.kernels)},',
        "        targets, kernels,",
        "#ifdef PRISM_IMAGES_FROM_FILES",
        "        NULL,",
        "#else",
        f"        &{name}_images,",
        "#endif",
        f"        &{name}_state_, {name}_functions_,",
        "    };",
        "    return &module;",
        "}",
    ]
    return "\n".join(lines)


def _target(target: str) -> str:
    match = _TARGET.fullmatch(target)
    assert match is not None
    return f"{{\"{target}\", {match[1]}, '{match[2] or ' '}'}}"


def _parameters(index: int, kernel: HostKernel) -> Iterator[str]:
    """A kernel's parameters, and the dynamic shared memory on each target."""
    rows = [
        f'{{"{each.name}", {each.size}, {each.alignment}, {pointee_alignment(each)}, '
        f"{int(each.is_pointer and not each.is_const)}}}"
        for each in kernel.entry.parameters
    ]
    if rows:
        yield f"    static const prism_parameter_ parameters_{index}[] = {{"
        yield from (f"        {row}," for row in rows)
        yield "    };"
    shared = ", ".join(map(str, kernel.dynamic_shared))
    yield f"    static const unsigned shared_{index}[] = {{{shared}}};"


def _kernel(index: int, kernel: KernelEntry) -> str:
    count = len(kernel.parameters)
    parameters = f"parameters_{index}" if count else "NULL"
    facts = f"{kernel.threads}, {kernel.cluster}, {int(kernel.cooperative)}, {count}"
    return f'{{"{kernel.name}", {facts}, {parameters}, shared_{index}}}'


def _launch(index: int, kernel: KernelEntry, module: HostModule) -> str:
    """The launch function of a kernel."""
    wrappers = [wrapper(kernel, parameter) for parameter in kernel.parameters]
    takes = [f"struct {each} argument_{number}" for number, each in enumerate(wrappers)]
    values = [
        f"(void *)(uintptr_t)argument_{number}.value"
        if parameter.is_map
        else f"&argument_{number}.value"
        for number, parameter in enumerate(kernel.parameters)
    ] or ["NULL"]
    lines = [
        f"PRISM_INLINE_ prism_status {kernel.name}_launch(",
        "    " + ",\n    ".join(["prism_grid grid", "prism_stream stream", *takes]) + ")",
        "{",
        "    void *arguments[] = {",
        *(f"        {value}," for value in values),
        "    };",
        *_conditions(kernel),
        f"    return prism_launch_({module.name}_module_(), {index}, grid, stream, arguments);",
        "}",
    ]
    return "\n".join(lines)


def _conditions(kernel: KernelEntry) -> Iterator[str]:
    """Returns where an assumption does not hold. One that always does is no reason to warn."""
    known = {each.name: f"argument_{n}.value" for n, each in enumerate(kernel.parameters)}
    conditions = [each for each in kernel.conditions if each.formula is not None]
    if not conditions:
        return
    yield "#pragma GCC diagnostic push"
    yield '#pragma GCC diagnostic ignored "-Wtype-limits"'
    for condition in conditions:
        assert condition.formula is not None
        yield f"    if (!{c_formula(condition.formula, known)})"
        yield f'        return prism_refuse_("{kernel.name}", "{condition.text}");'
    yield "#pragma GCC diagnostic pop"


def _loading(module: HostModule) -> str:
    return f"""/* Load the kernels for this thread's context now; the first launch would. */
PRISM_INLINE_ prism_status {module.name}_load(void)
{{
    return prism_load_({module.name}_module_());
}}

#ifdef PRISM_IMAGES_FROM_FILES
/* Read a cubin, fatbin or PTX file of the same build; the first launch loads it. */
PRISM_INLINE_ prism_status {module.name}_load_file(const char *path)
{{
    return prism_read_file_({module.name}_module_(), path);
}}
#endif"""
