"""Functions of host code: how each is called, and what is known of its result.

They are NumPy's of the same name (`near` is our own), except that results keep the element type of
what they are made from, and that positions and counts are i32.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from prismc.checker.host.operators import combined, common_scalar, computes
from prismc.checker.host.values import (
    RATHER,
    UNKNOWN,
    Array,
    Complaint,
    HostValue,
    Number,
    Shape,
    broadcast,
    same_length,
    show,
)
from prismc.hardware.scalars import BOOL, I32, Scalar
from prismc.source.record import Record

Result = HostValue | Complaint
Named = Mapping[str, HostValue]


class Function(Record):
    """How a function is called: `usage` as it reads, at least and at most so many values, and the
    arguments that are named. `rule` gets the values; all are known not to be refused."""

    usage: str
    least: int
    most: int
    rule: Callable[[Sequence[HostValue], Named], Result]
    named: tuple[str, ...] = ()


def _wrong(what: str) -> Complaint:
    return Complaint(kind="arguments", what=what)


def _types(name: str, *values: HostValue, advice: str = RATHER) -> Complaint:
    listed = " and ".join(map(show, values))
    return Complaint(kind="types", what=f"`{name}` of {listed}", advice=advice)


def _shapes(name: str, *values: HostValue, advice: str = "give lengths that fit") -> Complaint:
    listed = " and ".join(map(show, values))
    return Complaint(kind="shapes", what=f"`{name}` of {listed}", advice=advice)


# --------------------------------------------------------------------------- arrays made


def lengths(values: Sequence[HostValue]) -> Shape | Complaint:
    """A shape from the numbers of a call."""
    found: list[int | None] = []
    for value in values:
        if not isinstance(value, Number) or value.kind != "int":
            return _wrong(f"a length is an int, not {show(value)}")
        if value.value is not None and value.value < 0:
            return _wrong(f"a length is 0 or more, not {value.value}")
        found.append(None if value.value is None else int(value.value))
    return tuple(found)


def made(scalar: Scalar, values: Sequence[HostValue]) -> Result:
    """`zeros(T, n)` and the like."""
    shape = lengths(values)
    return shape if isinstance(shape, Complaint) else Array(scalar=scalar, shape=shape)


def made_randomly(scalar: Scalar, values: Sequence[HostValue]) -> Result:
    """`random(T, n, seed)`."""
    if len(values) < 2:
        return _wrong("`random` needs a shape and a seed")
    seed = lengths(values[-1:])
    return seed if isinstance(seed, Complaint) else made(scalar, values[:-1])


def converted(scalar: Scalar, value: HostValue) -> HostValue:
    """`f32(x)` of a number or an array."""
    if isinstance(value, Array):
        return Array(scalar=scalar, shape=value.shape)
    kind = "bool" if scalar is BOOL else "float" if scalar.is_float else "int"
    same = isinstance(value, Number) and value.kind == kind
    return value if same else Number(kind=kind)


# --------------------------------------------------------------------------- element by element


def _elementwise(
    name: str, fits: Callable[[Scalar], bool], result: Scalar | None = None
) -> Callable[[Sequence[HostValue], Named], Result]:
    """A function of each element, for the types that fit."""

    def rule(values: Sequence[HostValue], named: Named) -> Result:
        (value,) = values
        if isinstance(value, Number) and value.kind != "bool":
            kind = "bool" if result is BOOL else "int" if name == "abs" else "float"
            return Number(kind=value.kind if name == "abs" else kind)
        if not isinstance(value, Array) or not fits(value.scalar):
            return _types(name, value, advice="convert it: `f32(x)`, `f64(x)`")
        return Array(scalar=result or value.scalar, shape=value.shape)

    return rule


def _is_float(scalar: Scalar) -> bool:
    return scalar.is_float and computes(scalar)


def _where(values: Sequence[HostValue], named: Named) -> Result:
    condition, *sides = values
    if not isinstance(condition, Array) or condition.scalar is not BOOL:
        return _types("where", *values, advice="its first argument is an array of bools")
    if not any(isinstance(side, Array) for side in sides):
        return _types("where", *values, advice="make one side an array: `zeros(f32, n) + 1`")
    scalar = common_scalar(*sides)
    if scalar is None:
        return _types("where", *values)
    shape: Shape | None = condition.shape
    for side in sides:
        if shape is not None and isinstance(side, Array):
            shape = broadcast(shape, side.shape)
    return _shapes("where", *values) if shape is None else Array(scalar=scalar, shape=shape)


def _near(values: Sequence[HostValue], named: Named) -> Result:
    found = combined("==", values[0], values[1])
    if isinstance(found, Complaint):
        return Complaint(kind=found.kind, what=f"`near`: {found.what}", advice=found.advice)
    return found


# --------------------------------------------------------------------------- along an axis


def _axis(named: Named, rank: int) -> int | Complaint | None:
    """The axis that is named, None without one; from the end, if negative."""
    given = named.get("axis")
    if given is None:
        return None
    if not isinstance(given, Number) or given.kind != "int" or given.value is None:
        return _wrong("`axis` is a number that is known")
    axis = int(given.value)
    if not -rank <= axis < rank:
        return _wrong(f"`axis` is {axis}, the array has {rank} dimensions")
    return axis % rank


def _reduction(
    name: str, fits: Callable[[Scalar], bool], result: Scalar | None = None
) -> Callable[[Sequence[HostValue], Named], Result]:
    """One value of all elements, or of all along an axis."""

    def rule(values: Sequence[HostValue], named: Named) -> Result:
        if len(values) == 2:
            return combined_extreme(name, values, named)
        (value,) = values
        if not isinstance(value, Array) or not fits(value.scalar):
            return _types(name, value, advice="give it an array of a type that it takes")
        axis = _axis(named, len(value.shape))
        if isinstance(axis, Complaint):
            return axis
        shape = () if axis is None else value.shape[:axis] + value.shape[axis + 1 :]
        return Array(scalar=result or value.scalar, shape=shape)

    return rule


def combined_extreme(name: str, values: Sequence[HostValue], named: Named) -> Result:
    """`max(a, b)`, the larger of each two elements."""
    if named:
        return _wrong(f"`{name}` of two values has no `axis`")
    found = combined("+", *values)
    if isinstance(found, Complaint):
        return Complaint(
            kind=found.kind, what=found.what.replace("`+`", f"`{name}`"), advice=found.advice
        )
    return Number(kind=found.kind) if isinstance(found, Number) else found


def _along(name: str, default: int | None = None) -> Callable[[Sequence[HostValue], Named], Result]:
    """A function that keeps the shape and works along an axis; without a default, arrays of more
    than one dimension must name it."""

    def rule(values: Sequence[HostValue], named: Named) -> Result:
        value = values[0]
        if not isinstance(value, Array) or not computes(value.scalar):
            return _types(name, value, advice="give it an array of numbers")
        axis = _axis(named, len(value.shape))
        if isinstance(axis, Complaint):
            return axis
        if axis is None and default is None and len(value.shape) != 1:
            return _wrong(f"`{name}` of {show(value)} needs an axis")
        return value

    return rule


# --------------------------------------------------------------------------- shapes


def _reshape(values: Sequence[HostValue], named: Named) -> Result:
    value, *rest = values
    if not isinstance(value, Array):
        return _types("reshape", value, advice="give it an array")
    shape = lengths(rest)
    if isinstance(shape, Complaint):
        return shape
    known = [length for length in shape if length is not None]
    if value.size is not None and len(known) == len(shape) and prod(known) != value.size:
        what = f"`reshape` of {show(value)} to [{', '.join(map(str, known))}]"
        return Complaint(kind="shapes", what=what, advice="keep the number of elements")
    return Array(scalar=value.scalar, shape=shape)


def _transpose(values: Sequence[HostValue], named: Named) -> Result:
    (value,) = values
    if not isinstance(value, Array):
        return _types("transpose", value, advice="give it an array")
    return Array(scalar=value.scalar, shape=value.shape[::-1])


def _matmul(values: Sequence[HostValue], named: Named) -> Result:
    left, right = values
    if not isinstance(left, Array) or not isinstance(right, Array):
        return _types("matmul", left, right, advice="give it two arrays")
    if left.scalar is not right.scalar or not computes(left.scalar):
        return _types("matmul", left, right, advice="convert them: `f32(a)`, `f64(b)`")
    if not left.shape or not right.shape:
        return _shapes("matmul", left, right)
    inner = right.shape[-2 if len(right.shape) > 1 else -1]
    batch = broadcast(left.shape[:-2], right.shape[:-2])
    if batch is None or not same_length(left.shape[-1], inner):
        return _shapes(
            "matmul", left, right, advice="give the right side as many rows as the left has columns"
        )
    rows = left.shape[-2:-1] if len(left.shape) > 1 else ()
    columns = right.shape[-1:] if len(right.shape) > 1 else ()
    return Array(scalar=left.scalar, shape=batch + rows + columns)


def _outer(values: Sequence[HostValue], named: Named) -> Result:
    left, right = values
    if not isinstance(left, Array) or not isinstance(right, Array):
        return _types("outer", left, right, advice="give it two arrays")
    if left.scalar is not right.scalar or not computes(left.scalar):
        return _types("outer", left, right)
    if len(left.shape) != 1 or len(right.shape) != 1:
        return _shapes("outer", left, right, advice="give it two arrays of one dimension")
    return Array(scalar=left.scalar, shape=left.shape + right.shape)


def _bincount(values: Sequence[HostValue], named: Named) -> Result:
    value, size = values
    if not isinstance(value, Array) or not value.scalar.is_integer:
        return _types("bincount", value, advice="give it an array of integers")
    if len(value.shape) != 1:
        return _shapes("bincount", value, advice="give it an array of one dimension")
    return made(I32, [size])


def _take(values: Sequence[HostValue], named: Named) -> Result:
    value, indices = values
    if not isinstance(value, Array) or not value.shape:
        return _types("take", value, indices, advice="give it an array")
    if not isinstance(indices, Array) or not indices.scalar.is_integer:
        return _types("take", value, indices, advice="the indices are an array of integers")
    return Array(scalar=value.scalar, shape=indices.shape + value.shape[1:])


def _size(values: Sequence[HostValue], named: Named) -> Result:
    (value,) = values
    if not isinstance(value, Array):
        return _types("size", value, advice="give it an array")
    return Number(kind="int", value=value.size)


def _any_number(scalar: Scalar) -> bool:
    return computes(scalar)


def _is_bool(scalar: Scalar) -> bool:
    return scalar is BOOL


_FLOATS = "sqrt exp log sin cos tanh floor ceil"

# Functions of a type and a shape; the values after the type.
MAKERS: Mapping[str, Callable[[Scalar, Sequence[HostValue]], Result]] = {
    "zeros": made,
    "ones": made,
    "empty": made,
    "iota": made,
    "random": made_randomly,
}
MAKER_USAGE = {name: f"{name}(f32, n)" for name in MAKERS} | {"random": "random(f32, n, seed)"}

FUNCTIONS: Mapping[str, Function] = {
    **{
        name: Function(usage=f"{name}(x)", least=1, most=1, rule=_elementwise(name, _is_float))
        for name in _FLOATS.split()
    },
    **{
        name: Function(
            usage=f"{name}(x)", least=1, most=1, rule=_elementwise(name, _is_float, BOOL)
        )
        for name in ("isnan", "isinf")
    },
    "abs": Function(usage="abs(x)", least=1, most=1, rule=_elementwise("abs", _any_number)),
    **{
        name: Function(
            usage=f"{name}(x, axis = 0)",
            least=1,
            most=2 if name in ("max", "min") else 1,
            rule=_reduction(name, fits, result),
            named=("axis",),
        )
        for name, fits, result in (
            ("sum", _any_number, None),
            ("prod", _any_number, None),
            ("max", _any_number, None),
            ("min", _any_number, None),
            ("mean", _is_float, None),
            ("argmax", _any_number, I32),
            ("argmin", _any_number, I32),
            ("any", _is_bool, None),
            ("all", _is_bool, None),
        )
    },
    "cumsum": Function(
        usage="cumsum(x, axis = 0)", least=1, most=1, rule=_along("cumsum"), named=("axis",)
    ),
    "sort": Function(
        usage="sort(x, axis = 0)", least=1, most=1, rule=_along("sort", -1), named=("axis",)
    ),
    "where": Function(usage="where(condition, a, b)", least=3, most=3, rule=_where),
    "reshape": Function(usage="reshape(x, m, n)", least=2, most=9, rule=_reshape),
    "transpose": Function(usage="transpose(x)", least=1, most=1, rule=_transpose),
    "matmul": Function(usage="matmul(a, b)", least=2, most=2, rule=_matmul),
    "outer": Function(usage="outer(a, b)", least=2, most=2, rule=_outer),
    "bincount": Function(usage="bincount(x, n)", least=2, most=2, rule=_bincount),
    "take": Function(usage="take(x, indices)", least=2, most=2, rule=_take),
    "size": Function(usage="size(x)", least=1, most=1, rule=_size),
    "near": Function(
        usage="near(found, expected, rtol = 0.001)", least=2, most=2, rule=_near, named=("rtol",)
    ),
}


def called(name: str, values: Sequence[HostValue], named: Named) -> Result:
    """What is known of a call's result, or why it has none."""
    function = FUNCTIONS[name]
    unknown = [each for each in named if each not in function.named]
    if unknown:
        return _wrong(f"`{name}` has no argument `{unknown[0]}`")
    if not function.least <= len(values) <= function.most:
        return _wrong(f"{len(values)} values for `{name}`")
    if UNKNOWN in (*values, *named.values()):
        return UNKNOWN
    rtol = named.get("rtol")
    if rtol is not None and not (isinstance(rtol, Number) and rtol.kind != "bool"):
        return _wrong(f"`rtol` is a number, not {show(rtol)}")
    return function.rule(values, named)
