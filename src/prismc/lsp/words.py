"""What an editor shows of the words that no file declares: built-in names and attributes.

`docs/language.md` is the reference; here is a line on each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from prismc.checker.host.functions import FUNCTIONS, MAKER_USAGE, MAKERS
from prismc.checker.names.symbols import HOST_BUILTINS, Symbol
from prismc.hardware.orders import ORDERS
from prismc.hardware.scalars import ALIASES, SCALARS


class Help(NamedTuple):
    """How a word is used, and what it is."""

    usage: str
    text: str


_FUNCTIONS = {
    "id": Help(
        "id(of)",
        "The index of this unit inside the code perspective. Without an argument it counts the "
        "units that the declared variable names.",
    ),
    "count": Help("count(of)", "How many units of a perspective the code perspective holds."),
    "bits": Help("bits(x)", "The same bits as an unsigned integer, or as the type expected."),
    "min": Help("min(a, b)", "The smaller of two numbers of one type."),
    "max": Help("max(a, b)", "The larger of two numbers of one type."),
    "abs": Help("abs(x)", "The absolute value."),
    "clamp": Help("clamp(x, low, high)", "x, or the nearer of the two limits."),
    "select": Help("select(c, a, b)", "a where c holds, else b; both are evaluated."),
    "pack": Help("pack(a, b)", "Narrow numbers in one word, low bits first."),
    "unpack": Help("unpack[f16](w)", "The narrow numbers of a word, low bits first."),
    "vec2": Help("vec2(a, b)", "A vector of two."),
    "vec4": Help("vec4(a, b, c, d)", "A vector of four."),
    "popc": Help("popc(x)", "How many bits of an integer are set."),
    "clz": Help("clz(x)", "How many zeros an integer begins with."),
    "ctz": Help("ctz(x)", "How many zeros an integer ends with."),
    "log2": Help("log2(x)", "The position of the highest bit of an integer that is set."),
    "size": Help("size(T)", "Bytes of one T in memory, known while compiling."),
    "layout_of": Help("layout_of(p)", "The layout of the memory that a pointer names."),
    "mirrors": Help("mirrors(p)", "How many copies of an array a cluster holds."),
    "broadcast": Help("broadcast(x)", "The first thread's value, for the whole group assigned to."),
    "load_vec": Help("load_vec[4](p, i)", "Elements i to i + 3 in one access."),
    "store_vec": Help("store_vec[4](p, i, v)", "Stores v as elements i to i + 3 in one access."),
    "load_into": Help(
        "load_into[4](a, i, p, j)",
        "Elements j to j + 3 of memory into elements i to i + 3 of a register array.",
    ),
    "is_shared": Help("is_shared(p)", "Whether p names shared memory, known while compiling."),
    "shared_address": Help("shared_address(p, i)", "The address of an element in shared memory."),
    "address": Help("address(p, i)", "The address of an element in global memory."),
    "descriptor": Help("descriptor(p, i)", "The descriptor of a shared tile for wgmma."),
    "asm": Help(
        'asm("text $0", outs(..), inouts(..), ins(..))',
        "PTX. `$k` counts the operands, `$name` is a generic or a constant, `$$` a dollar.",
    ),
    "cuda": Help('cuda("text")', "CUDA C++, pasted as it is."),
    "outs": Help("outs(x, ..)", "Operands of `asm` that it writes."),
    "inouts": Help("inouts(x, ..)", "Operands of `asm` that it reads and writes."),
    "ins": Help("ins(e, ..)", "Operands of `asm` that it reads."),
    "completion": Help("completion()", "The barrier at which a copy completes."),
    "print": Help('print("format", e, ..)', "Writes a line from the device; built with --asserts."),
    "assume": Help("assume(e)", "Says, unchecked, what holds; in `unsafe:` only."),
    "aligned": Help("aligned(p, bytes)", "Whether an address is a multiple; in `@assume`."),
    "disjoint": Help("disjoint(y)", "That the pieces of a partition never meet; in `assume`."),
}

_ORDERS = {
    "relaxed": "Atomic, and no order for other memory.",
    "acquire": "What comes after it comes after what the value's writer released.",
    "release": "What came before it is seen by who acquires the value.",
    "acq_rel": "Both acquire and release.",
}

_SWIZZLES = {
    f"swizzle{size}": Help(f"swizzle{size}", f"The layout of tensor maps that swaps {size} bytes.")
    for size in (32, 64, 128)
}

BUILTIN_HELP: Mapping[str, Help] = {
    **{name: Help(name, f"{each.bits} bits.") for name, each in SCALARS.items()},
    **{name: Help(name, f"Another name of `{of.name}`.") for name, of in ALIASES.items()},
    **_FUNCTIONS,
    **_SWIZZLES,
    **{name: Help(name, f"A memory order. {_ORDERS[name]}") for name in ORDERS},
}

_HOST_TEXTS = {
    "zeros": "An array of zeros; a length for each dimension.",
    "ones": "An array of ones; a length for each dimension.",
    "empty": "An array that is not initialised: reading an element before a write is a fault.",
    "iota": "0, 1, 2 .. in the shape of the lengths.",
    "random": "Floats from -1 to 1, integers from 0 to 99, or bools; the same for one seed.",
    "near": "Where two agree within `rtol` of the largest magnitude expected.",
    "where": "a where the condition holds, else b.",
    "abs": "The absolute value of each element.",
    "sqrt": "The square root of each element.",
    "exp": "e to the power of each element.",
    "log": "The natural logarithm of each element.",
    "sin": "The sine of each element.",
    "cos": "The cosine of each element.",
    "tanh": "The hyperbolic tangent of each element.",
    "floor": "Each element, rounded down.",
    "ceil": "Each element, rounded up.",
    "isnan": "Which elements are no numbers.",
    "isinf": "Which elements are infinite.",
    "sum": "The sum of all elements, or along an axis.",
    "prod": "The product of all elements, or along an axis.",
    "max": "The largest of all elements, or along an axis; `max(a, b)` is the larger of each two.",
    "min": "The smallest of all elements, or along an axis; `min(a, b)`, the smaller of each two.",
    "mean": "The mean of all elements, or along an axis.",
    "any": "Whether one element is true, or one along an axis.",
    "all": "Whether all elements are true, or all along an axis.",
    "argmax": "The position of the first largest element, as i32.",
    "argmin": "The position of the first smallest element, as i32.",
    "cumsum": "Running sums along an axis.",
    "sort": "The elements in order along an axis, the last one if none is named.",
    "reshape": "The same elements in another shape.",
    "transpose": "The array with its dimensions in reverse.",
    "matmul": "The product of matrices, or of stacks of them.",
    "outer": "All products of elements of two vectors.",
    "bincount": "How often each number below n is there, as i32.",
    "take": "The elements, or rows, at these positions.",
    "size": "The number of elements.",
}

# What tests have; see `docs/testing.md`.
HOST_HELP: Mapping[str, Help] = {
    **{name: BUILTIN_HELP[name] for name in (*SCALARS, *ALIASES)},
    "launch": Help("launch(k, blocks = n)(args)", "Runs a kernel; it changes its arrays."),
    **{name: Help(MAKER_USAGE[name], _HOST_TEXTS[name]) for name in MAKERS},
    **{name: Help(each.usage, _HOST_TEXTS[name]) for name, each in FUNCTIONS.items()},
}


def help_of(symbol: Symbol) -> Help | None:
    """What is said of a built-in name, in a kernel or in a test."""
    known = HOST_HELP if symbol is HOST_BUILTINS.get(symbol.name) else BUILTIN_HELP
    return known.get(symbol.name)


ATTRIBUTE_HELP: Mapping[str, Help] = {
    "requires": Help(
        "@requires(grid[1], block[1], thread[32])",
        "The bound: which group of threads runs this function. Its first entry is its top.",
    ),
    "launch": Help(
        "@launch(threads = 256)",
        "How a kernel is launched: `threads` of a block, `min_blocks`, `cluster`, `cooperative`.",
    ),
    "effects": Help(
        "@effects(reads(p), writes(p))",
        "What the text of an unsafe function does to memory, and which target it needs.",
    ),
    "assume": Help(
        "@assume(N % 4 == 0, aligned(A, 16))",
        "Facts about a kernel's arguments, which the launcher verifies.",
    ),
}

# The named arguments of attributes, and the effects.
ARGUMENT_WORDS: Mapping[str, tuple[str, ...]] = {
    "requires": ("smem",),
    "launch": ("threads", "min_blocks", "cluster", "cooperative"),
    "effects": ("reads", "writes", "scope", "syncs", "agent", "completes", "needs"),
    "assume": (),
}

LEVEL_HELP: Mapping[str, Help] = {
    "thread": Help("thread[n]", "n threads, aligned to n."),
    "warp": Help("warp[n]", "n warps: `thread[32 * n]`."),
    "warpgroup": Help("warpgroup[n]", "n warpgroups: `thread[128 * n]`."),
    "block": Help("block[n]", "n blocks; two or more are a cluster."),
    "grid": Help("grid[1]", "All threads of the launch."),
}

STATEMENT_HELP: Mapping[str, Help] = {
    "group": Help("group thread[32]:", "Each group of this size runs the body on its own."),
    "split": Help("split thread: case 32: ..", "Parts of the threads run different code."),
    "first": Help("first thread[1]:", "Only the first such group runs the body."),
    "partition": Help(
        "partition x as y @ thread[1] at e:",
        "Each group gets a piece of x, called y; x is hidden in the body.",
    ),
    "claim": Help("claim x as y @ thread[32]:", "One group has x for itself; x is hidden."),
    "async": Help("async x as y:", "Copies into y run on; what touches x later waits for them."),
    "shared": Help("shared x: f32[256]", "An array of the block's shared memory."),
    "pipeline": Help(
        "pipeline k in range(n) through S as s:",
        "`produce` fills the slots of S ahead while `consume` reads them.",
    ),
    "finish": Help("finish counter:", "The body is run by the block that comes last, alone."),
    "static": Help("static for, static if, static assert", "Expanded while compiling."),
    "unroll": Help("unroll for i in range(4):", "Asks the CUDA compiler to unroll a loop."),
    "test": Help('test "name":', "Host code that launches kernels and asserts, for `prismc test`."),
    "export": Help("export name = k[128]", "A kernel's instance, under a name for C."),
    "unsafe": Help("unsafe def, unsafe:", "May hold `asm`, `cuda` and unchecked assumptions."),
}
