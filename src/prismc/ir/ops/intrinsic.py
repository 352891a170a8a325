"""Target text in the middle of a program; what is there for people: assertions and prints."""

from __future__ import annotations

from prismc.ir.core import Op, Value


class Asm(Op):
    """Inline PTX, always volatile.

    `pieces` alternates text and operand numbers, beginning and ending with text. Operands count
    over outputs, updates, inputs. The results are the outputs, then the new values of `updates`:
    the first `len(results) - len(updates)` results are outputs. Operand types are scalars other
    than bool. `touches_memory` asks for a memory clobber.
    """

    spelling = "asm"
    updates: tuple[Value, ...]
    inputs: tuple[Value, ...]
    pieces: tuple[str | int, ...]
    touches_memory: bool


class CudaText(Op):
    """C++ text, pasted as statements."""

    spelling = "cuda"
    text: str


class Assert(Op):
    """Ends the launch where `condition`, a bool, does not hold. `tells` calls the run-time with
    `message` (empty: what the program says there) and the place; otherwise the thread traps."""

    spelling = "assert"
    condition: Value
    message: str
    tells: bool


class Print(Op):
    """C's `printf`; arguments are scalars of C."""

    spelling = "print"
    arguments: tuple[Value, ...]
    format: str
