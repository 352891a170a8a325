"""The device functions for mbarriers (PTX ISA, "mbarrier", from sm_80 on).

An arrival releases and a wait acquires, at the scope of the block, as these instructions do by
themselves; those between blocks of a cluster say so. From sm_90 on a wait may suspend the thread
(`try_wait`); earlier ones ask again.
"""

from __future__ import annotations

from prismc.backend.cuda.helper import Helper, function
from prismc.hardware.features import Feature
from prismc.hardware.targets import Target

_ADDRESS = "unsigned int at = (unsigned int)__cvta_generic_to_shared(mbarrier);"

_SIMPLE = {
    "mbarrier_init": Helper(
        text=function(
            "void mbarrier_init(unsigned long long *mbarrier, unsigned int arrivals)",
            _ADDRESS,
            'asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at), "r"(arrivals) : '
            '"memory");',
        )
    ),
    "mbarrier_arrive": Helper(
        text=function(
            "void mbarrier_arrive(unsigned long long *mbarrier)",
            _ADDRESS,
            'asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" '
            ':: "r"(at) : "memory");',
        )
    ),
    "mbarrier_arrive_far": Helper(
        text=function(
            "void mbarrier_arrive_far(unsigned long long *mbarrier, unsigned int rank)",
            _ADDRESS,
            "unsigned int far;",
            'asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(at), "r"(rank));',
            'asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" '
            ':: "r"(far) : "memory");',
        )
    ),
    "mbarrier_arrive_copies": Helper(
        text=function(
            "void mbarrier_arrive_copies(unsigned long long *mbarrier)",
            _ADDRESS,
            'asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at) : '
            '"memory");',
        )
    ),
    "mbarrier_expect": Helper(
        text=function(
            "void mbarrier_expect(unsigned long long *mbarrier, unsigned int bytes)",
            _ADDRESS,
            'asm volatile("{ .reg .b64 state; '
            'mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }"',
            '    :: "r"(at), "r"(bytes) : "memory");',
        )
    ),
}


def _until_complete(verb: str, operand: str) -> tuple[str, ...]:
    """The statement that asks, again and again, whether a phase is complete. The loop is one of
    PTX, which the compiler of C++ would unroll."""
    return (
        'asm volatile("{\\n"',
        '    ".reg .pred p;\\n"',
        '    "again:\\n"',
        f'    "mbarrier.{verb} p, [%0], %1;\\n"',
        '    "@!p bra again;\\n"',
        f'    "}}" :: "r"(at), {operand} : "memory");',
    )


def mbarrier_helpers(target: Target) -> dict[str, Helper]:
    """The functions as they read on `target`."""
    verb = "try_wait" if target.has(Feature.MBARRIER_TRY_WAIT) else "test_wait"
    return _SIMPLE | {
        "mbarrier_sync": Helper(
            text=function(
                "void mbarrier_sync(unsigned long long *mbarrier)",
                _ADDRESS,
                "unsigned long long state;",
                'asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : '
                '"memory");',
                *_until_complete(f"{verb}.shared.b64", '"l"(state)'),
            )
        ),
        "mbarrier_wait_far": Helper(
            text=function(
                "void mbarrier_wait_far(unsigned long long *mbarrier, unsigned int parity)",
                _ADDRESS,
                *_until_complete(f"{verb}.parity.acquire.cluster.shared::cta.b64", '"r"(parity)'),
            )
        ),
        "mbarrier_wait": Helper(
            text=function(
                "void mbarrier_wait(unsigned long long *mbarrier, unsigned int parity)",
                _ADDRESS,
                *_until_complete(f"{verb}.parity.shared.b64", '"r"(parity)'),
            )
        ),
    }
