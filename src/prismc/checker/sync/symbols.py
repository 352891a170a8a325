"""The symbols of one instance, and the numbers of its threads and units."""

from __future__ import annotations

from prismc.checker.sync.forms import (
    ALWAYS,
    BLOCK_WIDE,
    GRID_WIDE,
    Atom,
    Coefficient,
    Form,
    Origin,
    combine,
    constant,
    is_uniform,
    natural_value_if,
    plus,
    scaled,
    show_operand,
    symbol,
)
from prismc.checker.types import typed
from prismc.checker.types.fold import remainder
from prismc.checker.types.model import Type
from prismc.hardware.groups import Level, Perspective

# Operations of which types of different sizes have different results.
_WRAPPING = ("+", "-", "*", "<<")


class Symbols:
    """A symbol for each value of an instance that is not known: one value, one symbol.

    The instance has `threads` threads, a block `block_threads`; an instance of several blocks is a
    cluster or a part of one.
    """

    def __init__(self, threads: int, block_threads: int) -> None:
        self._block_threads = block_threads
        self._blocks = threads // block_threads if block_threads else 1
        self._index: Coefficient = tuple(range(threads)) if threads > 1 else 0
        self._atoms: dict[object, Atom] = {}

    # ----------------------------------------------------------------------- values

    def of(
        self,
        name: str,
        key: object,
        width: int,
        loops: tuple[int, ...],
        *,
        step: int = 0,
        is_regular: bool = True,
        natural_if: frozenset[Atom] | None = None,
        below: int = 0,
        origin: Origin | None = None,
    ) -> Form:
        """The symbol of `key`, which is made as the others say if there is none yet."""
        if key not in self._atoms:
            self._atoms[key] = Atom(
                name=name,
                order=len(self._atoms),
                width=width,
                loops=loops,
                step=step,
                is_regular=is_regular,
                natural_if=ALWAYS if below else natural_if,
                below=below,
                origin=origin,
            )
        return symbol(self._atoms[key])

    def operation(self, sign: str, left: Form, right: Form, of: Type, below: int) -> Form | None:
        """An operation on uniform values is a uniform symbol, the same for the same operands: in
        one type `of`, if it may wrap. If `below` is not 0, the result is from 0 on and less."""
        if not is_uniform(left) or not is_uniform(right):
            return None
        atoms = {atom: None for form in (left, right) for product in form for atom in product}
        kind = of if sign in _WRAPPING else None
        key = (sign, frozenset(left.items()), frozenset(right.items()), kind, below)
        loops = dict.fromkeys(loop for atom in atoms for loop in atom.loops)
        needed = natural_value_if(left)
        if sign in ("/", ">>") and needed is not None:
            of_right = natural_value_if(right)
            needed = None if of_right is None else needed | of_right
        return self.of(
            f"({show_operand(left)} {sign} {show_operand(right)})",
            key,
            min((atom.width for atom in atoms), default=GRID_WIDE),
            tuple(loops),
            natural_if=needed if sign in ("%", "/", ">>") else None,
            below=below,
            origin=Origin(sign, (left, right)),
        )

    def inner(self, atom: Atom) -> Form:
        """A symbol of a callee's body: nobody else has its value, nor does the next call of it. The
        index of the block is the caller's, too."""
        is_block = atom.origin is not None and atom.origin.operation == "block"
        if is_block and atom.width == BLOCK_WIDE * self._blocks:
            return self._instances()
        return self.of(
            atom.name, ("inner", atom), 0, (), natural_if=atom.natural_if, below=atom.below
        )

    def of_parameter(self, parameter: typed.Variable) -> Atom | None:
        """The symbol that stands for a parameter's value, if anything has read it."""
        return self._atoms.get((parameter.id,))

    def of_block(self) -> Atom | None:
        """The symbol that stands for the block's index (the cluster's, where blocks are in one), if
        anything has read it."""
        return self._atoms.get("block")

    # ----------------------------------------------------------------------- units

    def unit_index(self, of: Perspective | None, within: Perspective) -> Form | None:
        """`id(of)` inside `within`; None if nothing is known of it."""
        if of is None:
            return None
        if of.level is Level.THREAD and within.level is not Level.GRID:
            is_threads = within.level is Level.THREAD
            size = within.size if is_threads else within.size * self._block_threads
            return constant(combine(lambda t, n: t % size // n, self._index, of.size))
        if within.level is not Level.GRID:
            size = of.size * self._block_threads
            unit = combine(lambda t, n: t // n, self._index, size) if size else 0
            return constant(combine(remainder, unit, within.size // of.size))
        if of.level is Level.GRID:
            return constant(0)
        size = of.size if of.level is Level.THREAD else of.size * self._block_threads
        threads = self._blocks * self._block_threads
        if not size or threads % size:
            return None
        here = constant(combine(lambda t, n: t // n, self._index, size))
        return plus(scaled(self._instances(), threads // size), here)

    def unit_count(self, of: Perspective) -> Form:
        """`count(of)`."""
        is_all = of.level is Level.BLOCK and of.size == self._blocks
        return self.of(
            f"count({of})",
            ("count", of),
            GRID_WIDE,
            (),
            natural_if=ALWAYS,
            origin=Origin("count") if is_all else None,
        )

    def _instances(self) -> Form:
        """The index of the block in the grid, or of the cluster where blocks are in one."""
        return self.of(
            "block",
            "block",
            BLOCK_WIDE * self._blocks,
            (),
            natural_if=ALWAYS,
            origin=Origin("block"),
        )
