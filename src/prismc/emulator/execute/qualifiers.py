"""The qualifiers of memory instructions: state space, order, scope, cache hints (PTX ISA 9.7.9)."""

from __future__ import annotations

from prismc.emulator.decode import Decoder
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.scopes import Qualifiers, Scope, Strength

SPACES = {
    "global": "global", "shared": "shared", "local": "local", "const": "const", "param": "param",
    "shared::cta": "shared", "shared::cluster": "shared", "param::entry": "param",
    "param::func": "param",
}  # fmt: skip
SCOPES = {"cta": Scope.CTA, "cluster": Scope.CLUSTER, "gpu": Scope.GPU, "sys": Scope.SYS}
STRENGTHS = {
    "weak": Strength.WEAK, "relaxed": Strength.RELAXED, "acquire": Strength.ACQUIRE,
    "release": Strength.RELEASE, "acq_rel": Strength.ACQ_REL, "volatile": Strength.RELAXED,
    "mmio": Strength.RELAXED,
}  # fmt: skip
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_HINTS = frozenset(
    {"ca", "cg", "cs", "cv", "lu", "wb", "wt", "nc", "unified", "noftz"}
    | {f"L{level}::{hint}" for level in (1, 2)
       for hint in ("evict_normal", "evict_unchanged", "evict_first", "evict_last",
                    "no_allocate", "cache_hint", "64B", "128B", "256B")}
)  # fmt: skip


def qualifiers_of(
    decoder: Decoder, site: Instruction, known: frozenset[str] = frozenset()
) -> Qualifiers:
    """The qualifiers of a memory instruction; any modifier that is neither here nor `known` is
    refused. A strong access without a scope has the widest one it may have.
    """
    space, count = "generic", 1
    strength, scope = Strength.WEAK, Scope.NONE
    for modifier in site.form.modifiers:
        if modifier in SPACES:
            space = SPACES[modifier]
        elif modifier in _VECTORS:
            count = _VECTORS[modifier]
        elif modifier in STRENGTHS:
            strength = max(strength, STRENGTHS[modifier])
            scope = Scope.SYS if modifier in ("volatile", "mmio") else scope
        elif modifier in SCOPES:
            scope = SCOPES[modifier]
        elif modifier not in _HINTS and modifier not in known:
            decoder.refuse(site, f"unknown modifier `.{modifier}`")
    if strength is not Strength.WEAK and scope is Scope.NONE:
        scope = Scope.GPU
    return Qualifiers(space=space, count=count, strength=strength, scope=scope)
