"""What a call needs: enough threads, arguments as broad as the parameters, no aliases."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from prismc.checker.perspectives.aliases import Name, names_in
from prismc.checker.perspectives.data import Data, Uniform
from prismc.checker.perspectives.errors import (
    ArgumentPointer,
    ArgumentsAlias,
    ArgumentVaries,
    CallBound,
)
from prismc.checker.perspectives.scope import Scope
from prismc.checker.types import typed
from prismc.checker.types.model import ArrayType, ErrorType, PointerType
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.groups import Bound, Level, Perspective


def check_call(
    call: typed.Call,
    scope: Scope,
    data: Data,
    uniform: Uniform,
    sink: Sink,
) -> None:
    """Judge one call (`docs/language.md`, "Calls"). `uniform` tells which
    parameters a callee loads into something broader than one thread."""
    if call.callee.kind is typed.InstanceKind.EXPRESSION:
        return
    if not _offers(call, scope, data, sink):
        return
    for parameter, argument in _pairs(call):
        if isinstance(argument.type, ErrorType) or scope.has_refused(argument):
            continue
        if isinstance(parameter.type, PointerType):
            _check_pointer(call, parameter, argument, data, sink)
        elif isinstance(parameter.type, ArrayType):
            _check_array(call, parameter, argument, data, sink)
        else:
            _check_scalar(call, parameter, argument, data, sink)
        needed = uniform.get(call.callee.symbol, {}).get(parameter)
        if needed is not None:
            _check_settled(call, parameter, argument, needed, data)
    _check_aliases(call, scope, sink)


def _pairs(call: typed.Call) -> Iterator[tuple[typed.Variable, typed.Expression]]:
    return zip(call.callee.parameters, call.arguments, strict=False)


def _offers(call: typed.Call, scope: Scope, data: Data, sink: Sink) -> bool:
    """Every level of the callee's bound has an entry here that the callee's size divides."""
    needed, here = call.callee.bound, scope.bound
    level = here.lacks(needed)
    if level is None:
        return True
    size = needed.size(level)
    required = f"`{call.callee.name}` requires it here"
    sink.report(
        CallBound(
            at=call.span,
            callee=call.callee.name,
            needs=_shown(Perspective(level, size), needed),
            offers=_offer(level, here, scope.code),
            code_perspective=scope.code,
            advice=_advice(level, size, here.size(level)),
            related=(
                Related(at=call.callee.requires_span, message=required),
                *data.speaker_note(),
            ),
        )
    )
    return False


def _shown(lacking: Perspective, bound: Bound) -> str:
    if bound.code == lacking:
        return str(lacking)
    return f"{lacking} units within {bound.code}"


def _offer(level: Level, here: Bound, code: Perspective) -> str:
    entry = here.size(level)
    return str(Perspective(level, entry)) if entry else str(code)


def _advice(level: Level, size: int, entry: int) -> str:
    needed = Perspective(level, size)
    if entry == 0 or entry < size:
        return f"call it where the code is at least {needed}: outside the narrower construct"
    return f"use a size that {size} divides, here or in `@requires`"


def _check_scalar(
    call: typed.Call,
    parameter: typed.Variable,
    argument: typed.Expression,
    data: Data,
    sink: Sink,
) -> None:
    varies = data.varies(argument)
    target = parameter.perspective
    if target.is_narrower_or_equal(varies):
        data.require_settled(argument, target)
        return
    sink.report(
        ArgumentVaries(
            at=argument.span,
            parameter=parameter.name,
            callee=call.callee.name,
            target=target,
            varies=varies,
            related=(_parameter_note(parameter), *data.culprit(argument, target)),
        )
    )


def _check_pointer(
    call: typed.Call,
    parameter: typed.Variable,
    argument: typed.Expression,
    data: Data,
    sink: Sink,
) -> None:
    assert isinstance(parameter.type, PointerType)
    _check_shared_view(
        call,
        parameter,
        argument,
        data,
        sink,
        may_be_broader=parameter.type.is_const or parameter.type.is_atomic,
    )


def _check_array(
    call: typed.Call,
    parameter: typed.Variable,
    argument: typed.Expression,
    data: Data,
    sink: Sink,
) -> None:
    _check_shared_view(call, parameter, argument, data, sink, may_be_broader=parameter.is_const)


def _check_shared_view(
    call: typed.Call,
    parameter: typed.Variable,
    argument: typed.Expression,
    data: Data,
    sink: Sink,
    *,
    may_be_broader: bool,
) -> None:
    """Pointers and arrays: equal perspectives, or only read (or atomic) and given broader."""
    given, target = data.varies(argument), parameter.perspective
    if given == target or (may_be_broader and target.is_narrower_or_equal(given)):
        return
    what = "pointer" if isinstance(parameter.type, PointerType) else "array"
    sink.report(
        ArgumentPointer(
            at=argument.span,
            parameter=parameter.name,
            callee=call.callee.name,
            what=what,
            target=target,
            given=given,
            advice=_pointer_advice(what, given, target, call.callee.name),
            related=(_parameter_note(parameter), *data.culprit(argument, target)),
        )
    )


def _pointer_advice(what: str, given: Perspective, target: Perspective, callee: str) -> str:
    if not target.is_narrower_or_equal(given):
        return f"`{callee}` needs a whole {target}'s {what}; pass the broader one"
    if what == "array":
        return f"declare the array `@ {target}`, or the parameter `const` if it is only read"
    return (
        f"narrow it first (`partition .. @ {target}` or `claim .. @ {target}`), "
        "or make the parameter `ptr(const ..)` if it is only read"
    )


def _parameter_note(parameter: typed.Variable) -> Related:
    how = "stated here" if parameter.is_stated else "by default, as its function requires"
    return Related(
        at=parameter.span, message=f"parameter `{parameter.name}` is {parameter.perspective}, {how}"
    )


def _check_settled(
    call: typed.Call,
    parameter: typed.Variable,
    argument: typed.Expression,
    needed: Perspective,
    data: Data,
) -> None:
    callee, name = call.callee.name, parameter.name
    data.require_settled_pointer(
        argument,
        argument.span,
        needed,
        advice=f"pass memory that is only read here, or use `broadcast(..)` in `{callee}`",
        note=Related(
            at=parameter.span, message=f"`{callee}` reads `{name}` as one value for each {needed}"
        ),
    )


def _check_aliases(call: typed.Call, scope: Scope, sink: Sink) -> None:
    """Two arguments that may name one memory are refused unless both parameters only read."""
    seen: list[tuple[typed.Variable, typed.Expression]] = []
    for parameter, argument in _pairs(call):
        if not isinstance(argument.type, PointerType):
            continue
        for other, other_argument in seen:
            shared = _shared_root(argument, other_argument, scope)
            if shared is not None and not _are_only_read(other, parameter):
                _report_alias(call, other, parameter, shared, other_argument, argument, sink)
                return
        seen.append((parameter, argument))


def _shared_root(one: typed.Expression, other: typed.Expression, scope: Scope) -> Name | None:
    """The first memory that both arguments may name, if they may name any."""
    for mine, others in product(names_in(one), names_in(other)):
        if scope.aliases.may_share(mine, others):
            roots = scope.aliases.memory(mine) & scope.aliases.memory(others)
            return min(roots, key=lambda root: (root.variable.id, root.slot))
    return None


def _are_only_read(one: typed.Variable, other: typed.Variable) -> bool:
    return all(
        isinstance(p.type, PointerType) and (p.type.is_const or p.type.is_atomic)
        for p in (one, other)
    )


def _report_alias(
    call: typed.Call,
    first: typed.Variable,
    second: typed.Variable,
    root: Name,
    first_argument: typed.Expression,
    argument: typed.Expression,
    sink: Sink,
) -> None:
    writer = second if isinstance(first.type, PointerType) and first.type.is_const else first
    sink.report(
        ArgumentsAlias(
            at=argument.span,
            first=first.name,
            second=second.name,
            callee=call.callee.name,
            root=root.shown,
            writer=writer.name,
            related=(
                Related(at=first_argument.span, message=f"passed as `{first.name}` here"),
                Related(at=writer.span, message=f"`{writer.name}` may be written"),
            ),
        )
    )
