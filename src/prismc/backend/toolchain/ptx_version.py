"""The version that a PTX text states, which decides about the drivers that load it.

Compilers state their own, the newest. Where all that a text uses was there before, an older one is
as true, and older drivers take it (PTX ISA, ".version").
"""

from __future__ import annotations

import re

from prismc.backend.cuda_module import CudaModule
from prismc.backend.errors import PtxNewerThanCompiler, PtxTooOld, PtxUnknown
from prismc.backend.toolchain.backmap import origin_of
from prismc.backend.toolchain.compilation import Compilation
from prismc.diagnostics.problem import Problem
from prismc.diagnostics.sink import Sink
from prismc.hardware.ptx_since import DIRECTIVES, PRAGMAS, REGISTERS, instruction_since
from prismc.hardware.ptx_versions import LEAST, Version, version, version_text
from prismc.hardware.targets import TARGETS, Target
from prismc.source.files import Files
from prismc.source.record import Value
from prismc.source.span import NOWHERE

_VERSION = re.compile(r"^\s*\.version\s+(\d+\.\d+)", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PRAGMA = re.compile(r'\.pragma\s+"([^"]*)"')
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# Directives that end with their line; other statements may be of several lines.
_LINES = re.compile(r"^\s*\.(?:version|target|address_size|file|loc)\b[^\n]*$", re.MULTILINE)
# A statement begins behind another, a brace or a label.
_INSTRUCTION = re.compile(
    r"(?:^|[;{}]|(?<=\w):(?=\s))\s*(?:@!?%?[\w$]+\s+)?([a-z]\w*(?:(?:\.|::)\w+)*)(?=[\s;])"
)
_DIRECTIVE = re.compile(r"(?<![\w$%.])\.([a-z]\w*)")
_INLINED = re.compile(r"\.loc\s.*\b(?:function_name|inlined_at)\b")
_INLINED_SINCE = (7, 2)
_REGISTER = re.compile(r"%([a-z]\w*)")
# Variables that compilers and `asm` texts declare: one or two letters and a number, or short names.
_VARIABLE = re.compile(r"(?:[a-z]{1,2}\d*|SPL?|envreg\d+)")


class Need(Value):
    """What of a text asks for a version; `since` is None where that is not known."""

    what: str
    since: Version | None


def restated(
    compilation: Compilation, module: CudaModule, wanted: str, files: Files, sink: Sink
) -> str | None:
    """The PTX of a compilation with the version that is `wanted`: the `least` that has all it uses,
    the `newest`, or a number; None where that one has not all, which is reported."""
    ptx = compilation.ptx
    assert ptx is not None
    if wanted == "newest":
        return ptx
    stated, need = stated_version(ptx), greatest_need(ptx, TARGETS[compilation.target])
    if wanted == "least":
        return ptx if need.since is None else with_version(ptx, min(stated, need.since))
    number = version(wanted)
    if number == stated or (need.since is not None and need.since <= number < stated):
        return with_version(ptx, number)
    sink.report(_refusal(compilation, module, need, number, files))
    return None


def _refusal(
    compilation: Compilation, module: CudaModule, need: Need, wanted: Version, files: Files
) -> Problem:
    ptx = compilation.ptx or ""
    shown, stated = version_text(wanted), version_text(stated_version(ptx))
    if wanted > stated_version(ptx):
        return PtxNewerThanCompiler(
            at=NOWHERE, compiler=compilation.compiler, stated=stated, wanted=shown
        )
    line = next((n for n, text in enumerate(ptx.split("\n"), 1) if need.what in text), 0)
    at, related = origin_of(compilation, module, files, line)
    if need.since is None:
        return PtxUnknown(at=at, related=related, what=need.what, wanted=shown, stated=stated)
    since = version_text(need.since)
    return PtxTooOld(at=at, related=related, what=need.what, since=since, wanted=shown)


def stated_version(ptx: str) -> Version:
    """The `.version` of a text. Raises ValueError where there is none."""
    match = _VERSION.search(ptx)
    if match is None:
        raise ValueError("PTX without a .version")
    return version(match[1])


def with_version(ptx: str, number: Version) -> str:
    """The text with another `.version`."""
    return _VERSION.sub(f".version {version_text(number)}", ptx, count=1)


def greatest_need(ptx: str, target: Target) -> Need:
    """What asks for the newest version, or else what is not known; the target, where nothing asks
    for more."""
    greatest = Need(what=target.name, since=max(target.ptx, LEAST))
    for need in _needs(ptx):
        if need.since is None:
            return need
        assert greatest.since is not None
        if need.since > greatest.since:
            greatest = need
    return greatest


def _needs(ptx: str) -> list[Need]:
    """What a text uses, each once."""
    text = _COMMENT.sub("", ptx)
    found = {f'.pragma "{name}"': PRAGMAS.get(name) for name in _PRAGMA.findall(text)}
    if _INLINED.search(text):
        found[".loc with `inlined_at`"] = _INLINED_SINCE
    text = _STRING.sub('""', text)
    for name in set(_INSTRUCTION.findall(_LINES.sub("", text))):
        found[name] = instruction_since(tuple(name.split(".")))
    for name in set(_DIRECTIVE.findall(text)):
        found[f".{name}"] = DIRECTIVES.get(name)
    for name in set(_REGISTER.findall(text)):
        if not _VARIABLE.fullmatch(name):
            found[f"%{name}"] = REGISTERS.get(name)
    return [Need(what=what, since=since) for what, since in sorted(found.items())]
