"""The functions of an IR module as CUDA C++: what all targets have in common.

Device functions are always inlined, kernels have C linkage.
"""

from __future__ import annotations

from collections.abc import Iterator

from prismc.backend.cuda.emit_region import Regions
from prismc.backend.cuda.frame import SHARED_NAME, Frame
from prismc.backend.cuda.helpers import HELPER_NAMES
from prismc.backend.cuda.names import Scopes
from prismc.backend.cuda.types import (
    MAP_NAME,
    declarator,
    reference,
    scalar_of,
    type_text,
    vector_name,
)
from prismc.backend.cuda.writer import WIDTH, Writer
from prismc.backend.cuda_module import KernelEntry, KernelParameter
from prismc.hardware.scalars import Scalar
from prismc.hardware.symbols import TAKEN_SYMBOLS
from prismc.ir.core import Function, Module, Value, walk
from prismc.ir.ops.memory import Descriptor
from prismc.ir.types import ArrayType, MapType, PointerType, ScalarType, VectorType
from prismc.source.files import Files
from prismc.source.record import Record

POINTER_SIZE = 8
MAP_SIZE = 128


class Written(Record):
    """The text of a module's functions, and what has to stand before it: `helpers` that it calls,
    `scalars` and `vectors` in the order of the text. `files` are those its directives name."""

    module: Module
    text: str
    kernels: tuple[KernelEntry, ...]
    helpers: frozenset[str]
    scalars: frozenset[Scalar]
    vectors: tuple[VectorType, ...]
    files: tuple[str, ...]


def write_functions(module: Module, static_shared: int, files: Files) -> Written:
    """The functions of `module`; an array of more than `static_shared` bytes of shared memory has
    its size from the launch."""
    return _ModuleWriter(module, static_shared, files).run()


class _ModuleWriter:
    def __init__(self, module: Module, static_shared: int, files: Files) -> None:
        self._module = module
        self._static_shared = static_shared
        self._writer = Writer(files)
        self._needed: set[str] = set()
        self._scalars, self._vectors = _types_of(module)
        self._taken = _taken(self._vectors)
        self._has_matrices = _has_matrices(module)
        kernels = {one.symbol for one in module.functions if one.is_kernel}
        names = Scopes(self._taken | TAKEN_SYMBOLS | kernels)
        self._names = {
            one.symbol: one.symbol if one.is_kernel else names.new(one.symbol)
            for one in module.functions
        }

    def run(self) -> Written:
        for number, function in enumerate(self._module.functions):
            if number:
                self._writer.line("")
            self._function(function)
        return Written(
            module=self._module,
            text=self._writer.text,
            kernels=tuple(self._entry(one) for one in self._module.functions if one.is_kernel),
            helpers=frozenset(self._needed),
            scalars=self._scalars,
            vectors=self._vectors,
            files=self._writer.named_files,
        )

    def _need(self, helper: str) -> str:
        """Make `helper` part of the module."""
        self._needed.add(helper)
        return helper

    def _function(self, function: Function) -> None:
        outside = self._taken | frozenset(self._names.values())
        scopes = Scopes(outside)
        frame = Frame(function, self._writer, scopes, self._need, self._names)
        if any(isinstance(one.type, MapType) for one in function.parameters):
            self._need(MAP_NAME)
        parameters = [_parameter(function, one, frame.name(one)) for one in function.parameters]
        result = "void"
        if len(function.results) == 1:
            result = type_text(function.results[0])
        elif function.results:
            frame.result_names = tuple(scopes.new("result") for _ in function.results)
            for type, name in zip(function.results, frame.result_names, strict=True):
                parameters.append(reference(type, name))
        head = _qualifiers(function, result) + ("" if result.endswith("*") else " ")
        signature = _signature(f"{head}{self._names[function.symbol]}", parameters)
        self._writer.line(f"{signature} {{", function.span)
        with self._writer.indented():
            self._shared_memory(function)
            Regions(frame).region(function.body)
        self._writer.line("}")

    def _shared_memory(self, function: Function) -> None:
        if not function.shared:
            return
        aligned = f"__shared__ __align__({max(function.alignment, 1)})"
        name = f"{SHARED_NAME}_start" if self._has_matrices else SHARED_NAME
        if self._is_dynamic(function):
            launch = f"// A launch gives {function.shared} bytes of dynamic shared memory."
            self._writer.line(launch)
            self._writer.line(f"extern {aligned} unsigned char {name}[];")
        else:
            self._writer.line(f"{aligned} unsigned char {name}[{function.shared}];")
        if self._has_matrices:
            kept = f"{self._need('kept_address')}({name})"
            self._writer.line(f"unsigned char *{SHARED_NAME} = {kept};")

    def _is_dynamic(self, function: Function) -> bool:
        return function.shared > self._static_shared

    def _entry(self, function: Function) -> KernelEntry:
        assert function.launch is not None
        return KernelEntry(
            name=function.symbol,
            at=function.span,
            threads=function.launch.threads,
            dynamic_shared=function.shared if self._is_dynamic(function) else 0,
            shared=function.shared,
            parameters=tuple(
                _kernel_parameter(each, is_written=each in function.written)
                for each in function.parameters
            ),
            min_blocks=function.launch.min_blocks,
            cluster=function.launch.cluster,
            cooperative=function.launch.cooperative,
            conditions=function.conditions,
        )


def _has_matrices(module: Module) -> bool:
    """Whether the engines of Tensor Cores read matrices from shared memory, whose descriptors and
    mbarriers need its address in each turn of a loop."""
    return any(
        isinstance(op, Descriptor) for function in module.functions for op in walk(function.body)
    )


def _taken(vectors: tuple[VectorType, ...]) -> frozenset[str]:
    return HELPER_NAMES | {vector_name(vector) for vector in vectors}


def _qualifiers(function: Function, result: str) -> str:
    """What stands before a function's name. A kernel's least number of blocks is always stated:
    without it ptxas ignores `setmaxnreg` (C7508)."""
    launch = function.launch
    if launch is None:
        return f"__device__ __forceinline__ {result}"
    cluster = f" __cluster_dims__({launch.cluster}, 1, 1)" if launch.cluster > 1 else ""
    bounds = f"__launch_bounds__({launch.threads}, {max(launch.min_blocks, 1)})"
    return f'extern "C" __global__ void{cluster} {bounds}'


def _signature(head: str, parameters: list[str]) -> str:
    """A function's head on one line if it fits, else a line for each parameter."""
    line = f"{head}({', '.join(parameters)})"
    if len(line) + 2 <= WIDTH:
        return line
    return f"{head}(\n    " + ",\n    ".join(parameters) + ")"


def _parameter(function: Function, value: Value, name: str) -> str:
    """Arrays go by reference; a kernel's pointers are to memory that no other one reaches."""
    if isinstance(value.type, ArrayType):
        return reference(value.type, name)
    if function.is_kernel and isinstance(value.type, PointerType):
        return f"{type_text(value.type)}__restrict__ {name}"
    if isinstance(value.type, MapType):
        how = "const __grid_constant__ " if function.is_kernel else "const "
        return how + (declarator if function.is_kernel else reference)(value.type, name)
    return declarator(value.type, name)


def _kernel_parameter(value: Value, *, is_written: bool) -> KernelParameter:
    """What the host is told of a kernel's parameter; a tensor map `is_written` if the kernel stores
    through it. Raises TypeError for what no host can pass."""
    type = value.type
    if isinstance(type, MapType):
        return KernelParameter(
            name=value.hint,
            scalar=type.element.name,
            lanes=1,
            is_pointer=False,
            is_const=not is_written,
            size=MAP_SIZE,
            box=type.box,
            swizzle=type.swizzle,
        )
    element = type.element if isinstance(type, PointerType) else type
    if isinstance(element, VectorType):
        scalar, lanes = element.element, element.lanes
    else:
        scalar, lanes = scalar_of(element), 1
    is_pointer = isinstance(type, PointerType)
    return KernelParameter(
        name=value.hint,
        scalar=scalar.name,
        lanes=lanes,
        is_pointer=is_pointer,
        is_const=isinstance(type, PointerType) and type.is_const,
        size=POINTER_SIZE if is_pointer else scalar.size * lanes,
    )


def _types_of(module: Module) -> tuple[frozenset[Scalar], tuple[VectorType, ...]]:
    """The scalars of the module, and its vectors in the order of the text."""
    scalars: set[Scalar] = set()
    vectors: dict[VectorType, None] = {}
    for held in {id(value.type): value.type for value in _values(module)}.values():
        inner = held.element if isinstance(held, ArrayType | PointerType) else held
        if isinstance(inner, VectorType):
            vectors[inner] = None
            scalars.add(inner.element)
        elif isinstance(inner, ScalarType):
            scalars.add(inner.scalar)
    return frozenset(scalars), tuple(vectors)


def _values(module: Module) -> Iterator[Value]:
    for function in module.functions:
        yield from function.parameters
        for op in walk(function.body):
            yield from op.results
            for region in op.regions:
                yield from region.arguments
