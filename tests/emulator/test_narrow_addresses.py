"""Addresses of 32 bits: their sums wrap, as those of other numbers of 32 bits do."""

from __future__ import annotations

import numpy as np
import pytest

from prismc.emulator.api import run_ptx
from prismc.emulator.findings import Kind
from prismc.emulator.report import text_of

# Thread t uses s[t] by way of an address that is 4096 bytes lower, below the start of the window.
KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    .shared .align 16 .b8 s[128];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.s32 %r4, %r3, %r2;
    add.s32 %r4, %r4, -4096;
    st.shared.u32 [%r4+STORE], %r1;
    bar.sync 0;
    ld.shared.u32 %r5, [%r4+4096];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r5;
    ret;
}
"""


@pytest.mark.parametrize(("offset", "kinds"), [(4096, set()), (4092, {Kind.BOUNDS})])
def test_an_offset_brings_a_negative_base_into_the_array(offset: int, kinds: set[Kind]) -> None:
    ptx = KERNEL.replace("STORE", str(offset))
    result = run_ptx(ptx, None, 1, 32, [np.zeros(32, np.uint32)])
    found = {finding.kind for finding in result.findings}
    assert found & {Kind.BOUNDS} == kinds, text_of(result)
    if not kinds:
        assert not found, text_of(result)
        assert (result.array(0) == np.arange(32)).all()
