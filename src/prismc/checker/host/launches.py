"""Launches in tests: which kernel, and whether the arguments are its parameters'."""

from __future__ import annotations

from collections.abc import Sequence

from prismc.checker.host.errors import (
    LaunchArgument,
    LaunchesNoKernel,
    LaunchNames,
)
from prismc.checker.host.values import UNKNOWN, Array, HostValue, Number, show
from prismc.checker.names.symbols import Symbol, SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.model import PointerType, ScalarType, TensorMapType, Type, VectorType
from prismc.checker.types.show import show as show_type
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.hardware.scalars import BOOL, Scalar
from prismc.source.record import Record
from prismc.source.span import Span


class Argument(Record):
    """One argument of a launch; `name` is None where its position tells the parameter.

    `variable` is the variable that it is, "" for any other expression.
    """

    name: ast.Name | None
    at: Span
    value: HostValue
    variable: str


def kernel_of(
    symbol: Symbol, at: Span, program: typed.Program, root: str, sink: Sink
) -> typed.Instance | None:
    """The kernel's instance that a launch names; None, with a problem where it is not known, for
    anything else."""
    if symbol.kind is SymbolKind.UNKNOWN:
        return None
    if symbol.kind not in (SymbolKind.KERNEL, SymbolKind.EXPORT):
        reason, advice = f"it is a {symbol.kind.value}", "name a kernel or an export"
    elif symbol.module != root:
        reason = f"it is declared in module `{symbol.module}`"
        advice = f"export it here: `export name = {symbol.name}[..]`, or test it there"
    elif isinstance(symbol.node, ast.Kernel) and symbol.node.generics:
        reason = "it is generic"
        advice = f"export an instance and launch that: `export name = {symbol.name}[..]`"
    else:
        body = program.bodies.get(symbol.name)
        return None if body is None else body.instance
    declared = Related(at=symbol.span, message=f"`{symbol.name}` is declared here")
    notes = (declared,) if symbol.span.file else ()
    sink.report(
        LaunchesNoKernel(at=at, name=symbol.name, reason=reason, advice=advice, related=notes)
    )
    return None


def check_arguments(
    kernel: typed.Instance, arguments: Sequence[Argument], at: Span, sink: Sink
) -> None:
    """Report what does not fit: names, number, types, lengths that are known."""
    chosen = _chosen(kernel, arguments, at, sink)
    if chosen is None:
        return
    for parameter, argument in chosen:
        advice = _mismatch(parameter.type, argument.value)
        if advice is not None:
            note = Related(at=parameter.span, message=f"`{parameter.name}` is declared here")
            sink.report(
                LaunchArgument(
                    at=argument.at,
                    parameter=parameter.name,
                    wanted=show_type(parameter.type),
                    found=show(argument.value),
                    advice=advice,
                    related=(note,),
                )
            )
    _refuse_shared_arrays(chosen, sink)


def _chosen(
    kernel: typed.Instance, arguments: Sequence[Argument], at: Span, sink: Sink
) -> list[tuple[typed.Variable, Argument]] | None:
    """Each parameter with its argument; None after a problem."""
    parameters = kernel.parameters
    given: dict[str, Argument] = {}
    what, place = "", at
    for position, argument in enumerate(arguments):
        name = argument.name.text if argument.name is not None else ""
        if argument.name is None and position < len(parameters):
            name = parameters[position].name
        if argument.name is None and position >= len(parameters):
            what, place = f"{len(arguments)} arguments for `{kernel.name}`", argument.at
        elif name not in (parameter.name for parameter in parameters):
            what, place = f"`{kernel.name}` has no parameter `{name}`", argument.at
        elif name in given:
            what, place = f"`{name}` is given twice", argument.at
        given[name] = argument
    missing = [parameter.name for parameter in parameters if parameter.name not in given]
    if missing and not what:
        what = f"no argument for {', '.join(f'`{name}`' for name in missing)}"
    if what:
        listed = ", ".join(f"`{p.name}: {show_type(p.type)}`" for p in parameters) or "none"
        note = Related(at=kernel.span, message=f"`{kernel.name}` is declared here")
        sink.report(LaunchNames(at=place, what=what, parameters=listed, related=(note,)))
        return None
    return [(parameter, given[parameter.name]) for parameter in parameters]


def _mismatch(wanted: Type, found: HostValue) -> str | None:
    """What to do about a value that is not of a parameter's type; None if it is."""
    if found == UNKNOWN:
        return None
    match wanted:
        case ScalarType(scalar=scalar):
            return _scalar_mismatch(scalar, found)
        case PointerType() | TensorMapType():
            return _array_mismatch(wanted, found)
        case _:
            return None


def _scalar_mismatch(scalar: Scalar, found: HostValue) -> str | None:
    if isinstance(found, Array):
        fits = not found.shape and found.scalar is scalar
        return None if fits else f"give it one {scalar}"
    assert isinstance(found, Number)
    if found.kind == "bool" or scalar is BOOL:
        return None if found.kind == "bool" and scalar is BOOL else f"give it one {scalar}"
    if found.kind == "float" and not scalar.is_float:
        return f"give it an integer, or convert it: `{scalar}(x)`"
    if isinstance(found.value, int) and scalar.is_integer and not _fits(found.value, scalar):
        return f"give it a number that {scalar} holds, not {found.value}"
    return None


def _fits(value: int, scalar: Scalar) -> bool:
    signed = scalar.kind.value == "signed"
    low = -(1 << (scalar.bits - 1)) if signed else 0
    return low <= value < low + (1 << scalar.bits)


def _array_mismatch(wanted: PointerType | TensorMapType, found: HostValue) -> str | None:
    scalar = _element(wanted)
    if scalar is None:
        return None
    if not isinstance(found, Array) or not found.shape:
        return f"give it an array: `zeros({scalar}, n)`"
    if found.scalar is not scalar:
        return f"make an array of {scalar}, or convert it: `{scalar}(x)`"
    if isinstance(wanted, TensorMapType) and len(wanted.box) != len(found.shape):
        return f"a tensor map of {len(wanted.box)} dimensions takes an array that has as many"
    return None


def _element(of: PointerType | TensorMapType) -> Scalar | None:
    element = of.element
    if isinstance(element, ScalarType):
        return element.scalar
    if isinstance(element, VectorType):
        return element.element
    return element if isinstance(element, Scalar) else None


def _refuse_shared_arrays(chosen: Sequence[tuple[typed.Variable, Argument]], sink: Sink) -> None:
    """One array for two parameters would be two arrays on one device and one on another."""
    first: dict[str, typed.Variable] = {}
    for parameter, argument in chosen:
        if not argument.variable or not isinstance(argument.value, Array):
            continue
        other = first.setdefault(argument.variable, parameter)
        if other is not parameter:
            sink.report(
                LaunchArgument(
                    at=argument.at,
                    parameter=parameter.name,
                    wanted="an array of its own",
                    found=f"`{argument.variable}`, which `{other.name}` is too",
                    advice=f"make a copy: `other := {argument.variable}`",
                )
            )
