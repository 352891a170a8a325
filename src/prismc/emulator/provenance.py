"""Which pointer parameters a kernel may write through, worked out from its PTX alone.

What is never written cannot race, so its loads need not be remembered. The analysis follows
pointers through registers, without regard to order; where it cannot follow, everything counts as
written.
"""

from __future__ import annotations

from prismc.emulator.flow import results_of, sources_of
from prismc.emulator.ptx.tree import Address, Function, Instruction, Register, Symbol, Vector
from prismc.emulator.semantics.registry import bits_of

_WRITERS = frozenset({"st", "atom", "red", "cp"})
_HARMLESS_CALLS = frozenset({"vprintf", "__assertfail"})
# The pointer could be any parameter's.
_ANY = "*"


def written_parameters(kernel: Function) -> frozenset[str] | None:
    """Names of parameters that stores may go through; None if that cannot be told."""
    body = kernel.body or ()
    if any(_hides_stores(instruction) for instruction in body):
        return None
    pointers = _pointers(kernel, body)
    written: set[str] = set()
    for instruction in body:
        form = instruction.form
        if form.name in _WRITERS or (form.name == "wmma" and form.has("store")):
            for operand in instruction.operands:
                if isinstance(operand, Address):
                    written |= _through(operand, pointers)
    return None if _ANY in written else frozenset(written)


def _hides_stores(instruction: Instruction) -> bool:
    """Calls of functions with bodies, and stores through tensor maps."""
    form = instruction.form
    if form.name == "call":
        names = {o.name for o in instruction.operands if isinstance(o, Symbol)}
        return not names <= _HARMLESS_CALLS or not names
    return form.has("tensor") and form.has("bulk_group")


def _through(address: Address, pointers: dict[int, frozenset[str]]) -> frozenset[str]:
    if isinstance(address.base, Register):
        return pointers.get(address.base.number, frozenset())
    return frozenset()


def _pointers(kernel: Function, body: tuple[Instruction, ...]) -> dict[int, frozenset[str]]:
    """For each register the parameters that its value may point into."""
    known: dict[int, frozenset[str]] = {}
    changed = True
    while changed:
        changed = False
        for instruction in body:
            found = _origin(kernel, instruction, known)
            for register in results_of(instruction):
                old = known.get(register, frozenset())
                if not found <= old:
                    known[register] = old | found
                    changed = True
    return known


def _origin(
    kernel: Function, instruction: Instruction, known: dict[int, frozenset[str]]
) -> frozenset[str]:
    form = instruction.form
    if form.name in ("ld", "ldu", "atom"):
        return _loaded(kernel, instruction)
    if form.name == "mov" and instruction.operands and isinstance(instruction.operands[-1], Vector):
        return frozenset({_ANY})
    found: frozenset[str] = frozenset()
    for register in sources_of(instruction):
        found |= known.get(register, frozenset())
    return found


def _loaded(kernel: Function, instruction: Instruction) -> frozenset[str]:
    """A parameter is itself; what comes from elsewhere may be any pointer, if it has 64 bits."""
    operand = instruction.operands[1] if len(instruction.operands) > 1 else None
    base = operand.base if isinstance(operand, Address) else None
    if isinstance(base, Symbol) and any(p.name == base.name for p in kernel.parameters):
        return frozenset({base.name})
    is_wide = any(bits_of(name) == 64 and name[0] != "f" for name in instruction.form.types)
    return frozenset({_ANY}) if is_wide else frozenset()
