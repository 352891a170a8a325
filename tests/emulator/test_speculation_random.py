"""What loads are for nothing, in random programs: their values can be any without a difference."""

from __future__ import annotations

import random

import numpy as np
import pytest

from prismc.emulator.geometry import Dim3, Shape
from prismc.emulator.host import Arguments
from prismc.emulator.launch import Launch
from prismc.emulator.machine import Machine
from prismc.emulator.origins import OriginRecorder
from prismc.emulator.ptx.parser import parse_module
from prismc.emulator.ptx.tree import Module
from prismc.emulator.schedule import Plan

CELLS = 5
_VALUES, _PREDICATES = 6, 4
_HEAD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{
    .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd3, %r0, 8; add.s64 %rd4, %rd2, %rd3;
"""


class _Program:
    """The text of one random program: each load has a cell of its own."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._cells = list(range(CELLS))
        self._labels = 0
        lines = [f"mov.u32 %r{k}, {self._random.randrange(40)};" for k in range(1, _VALUES)]
        lines += [
            f"setp.lt.u32 %p{k}, %r0, {self._random.randrange(33)};" for k in range(_PREDICATES)
        ]
        lines += self._some(18)
        last, other = self._value(), self._value()
        lines += [f"st.global.u32 [%rd4], {last};", f"st.global.u32 [%rd4+4], {other};", "ret;"]
        self.text = _HEAD + "\n".join(lines) + "\n}\n"

    def _value(self) -> str:
        return f"%r{self._random.randrange(_VALUES)}"

    def _target(self) -> str:
        return f"%r{self._random.randrange(1, _VALUES)}"

    def _predicate(self) -> str:
        return f"%p{self._random.randrange(_PREDICATES)}"

    def _some(self, count: int) -> list[str]:
        return [line for _ in range(count) for line in self._step(count)]

    def _step(self, room: int) -> list[str]:
        kind = self._random.random()
        if kind < 0.2 and self._cells:
            return [
                f"{self._guard()}ld.global.u32 {self._target()}, [%rd1+{4 * self._cells.pop()}];"
            ]
        if kind < 0.4:
            name = self._random.choice(("add.u32", "xor.b32", "and.b32", "min.u32", "mul.lo.u32"))
            return [f"{self._guard()}{name} {self._target()}, {self._value()}, {self._value()};"]
        if kind < 0.55:
            sides = f"{self._value()}, {self._value()}, {self._predicate()}"
            return [f"selp.b32 {self._target()}, {sides};"]
        if kind < 0.65:
            return [f"setp.lt.u32 {self._predicate()}, {self._value()}, {self._value()};"]
        if kind < 0.8:
            name = self._random.choice(("and", "or"))
            return [f"{name}.pred {self._predicate()}, {self._predicate()}, {self._predicate()};"]
        if kind < 0.85:
            return [f"mov.u32 {self._target()}, {self._value()};"]
        if room < 4:
            return []
        self._labels += 1
        label = f"L{self._labels}"
        if kind < 0.95:
            return [f"@{self._predicate()} bra {label};", *self._some(3), f"{label}:"]
        counter = f"%r{_VALUES + self._labels % 8}"
        step = [f"add.u32 {counter}, {counter}, 1;", f"setp.lt.u32 %p8, {counter}, 3;"]
        return [f"mov.u32 {counter}, 0;", f"{label}:", *self._some(3), *step, f"@%p8 bra {label};"]

    def _guard(self) -> str:
        return f"@{self._predicate()} " if self._random.random() < 0.2 else ""


def _outputs(module: Module, cells: np.ndarray, recorder: OriginRecorder) -> np.ndarray:
    kernel = module.functions["k"]
    launch = Launch(module, kernel, Shape(Dim3(1), Dim3(32), Dim3(1)), Plan(), frozenset())
    launch.uses = recorder
    arguments = Arguments(launch.layout.memory, kernel, [cells, np.zeros((32, 2), np.uint32)])
    machine = Machine(launch)
    machine.prepare(tuple(arguments.contents), 0)
    machine.run()
    found = arguments.download(1)
    assert found is not None
    return found


@pytest.mark.parametrize("start", range(0, 100, 50))
def test_what_is_for_nothing_changes_nothing(start: int) -> None:
    discarded = 0
    for seed in range(start, start + 50):
        module = parse_module(_Program(seed).text)
        body = module.functions["k"].body or ()
        loads = [one for one in body if one.form.name == "ld" and one.form.has("global")]
        cells = np.arange(3, 3 + 7 * CELLS, 7, dtype=np.uint32)
        recorder = OriginRecorder(frozenset(loads))
        plain = _outputs(module, cells, recorder)
        used = recorder.used()
        for load in loads:
            address = load.operands[1]
            cell = getattr(address, "offset", 0) // 4
            lanes = np.zeros(32, np.bool_)
            for execution in used[load]:
                lanes |= False if execution is None else execution[:32]
            discarded += int(np.count_nonzero(~lanes))
            for value in (0, 21, 2**31):
                other = cells.copy()
                other[cell] = value
                changed = _outputs(module, other, OriginRecorder(frozenset()))
                assert (changed[~lanes] == plain[~lanes]).all(), (seed, cell, value)
    assert discarded > 1000, "most loads are used: nothing was tested"
