"""The hand-written twins of the examples, on the PTX machine: they take what the examples take and
compute what NumPy does. A twin that does less would be no measure."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.numbers import random_for

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from pairs import PAIRS, Pair

from examples.launches import LAUNCHES
from prismc.backend.cuda_module import CudaModule, KernelEntry
from prismc.backend.toolchain.nvrtc import Nvrtc
from prismc.emulator.schedule import adversaries
from prismc.source.span import NOWHERE
from support.running import Compiled, compile_file

EXAMPLES = {pair.kernel: pair for pair in PAIRS if pair.folder == "examples"}
SLOW = ("sgemm_tiled_128", "sgemm_vectorised_128", "sgemm_warp_tiled_128")


def _twin(pair: Pair) -> Compiled:
    """The example with its twin's machine code: parameters and launch are the same."""
    example = compile_file(pair.program, pair.targets[0])
    entry = KernelEntry(name=pair.kernel, at=NOWHERE, threads=1)
    text = pair.twin.read_text(encoding="utf-8")
    module = CudaModule(name=pair.twin.name, text=text, kernels=(entry,), files=())
    compilation = Nvrtc().compile(module, pair.targets[0])
    assert compilation.ptx is not None, compilation.log
    example.ptx = compilation.ptx
    return example


def test_every_example_has_a_twin() -> None:
    assert {pair.source for pair in EXAMPLES.values()} == set(LAUNCHES)


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=pytest.mark.nightly) if each in SLOW else each for each in EXAMPLES],
)
def test_a_twin_computes_what_numpy_does(name: str) -> None:
    pair = EXAMPLES[name]
    random, example = random_for(name), LAUNCHES[pair.source]
    launches = (example.make(random, *sizes) for sizes in reversed(example.chosen))
    launch = next(each for each in launches if each.kernel in (None, pair.kernel))
    (plan,) = adversaries(1)
    assert launch._replace(kernel=pair.kernel).run(_twin(pair), plan) == ""
