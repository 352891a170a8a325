"""The names that reports use for arrays."""

from __future__ import annotations

import pytest

from emulator.compilers import ptx_of
from prismc.emulator.names import source_name
from prismc.emulator.ptx.parser import parse_module


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("tile", "tile"),
        ("_ZZ5saxpyE4tile", "tile"),
        ("_ZZ4fillE4flag_$_3", "flag"),
        ("_ZZN3foo3barEiE1s_0", "s"),
        ("_ZN3foo3barE", "bar"),
        ("_ZZ5scan2PKiE2s4", "s4"),
        ("_ZZ3fooPA32_fE1s", "s"),
        ("_ZZ3fooILi4EEvPfE3buf", "buf"),
    ],
)
def test_source_name(symbol: str, name: str) -> None:
    assert source_name(symbol) == name


def test_a_static_array_of_a_kernel() -> None:
    module = parse_module(
        ptx_of(
            'extern "C" __global__ void k(int* x) {'
            " __shared__ int rows[32]; rows[threadIdx.x] = x[threadIdx.x]; __syncthreads();"
            " x[threadIdx.x] = rows[31 - threadIdx.x]; }"
        )
    )
    variables = [*module.variables, *module.functions["k"].variables]
    assert [source_name(v.name) for v in variables if v.space == "shared"] == ["rows"]
