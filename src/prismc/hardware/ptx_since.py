"""Since when PTX has what programs use of it.

PTX ISA: the "PTX ISA Notes" of each instruction, and "Release Notes". A row names the first words
of an instruction, the version that brought it, and the words that may follow; of these, some came
later. What is in no row is not known here. `tests/hardware/test_ptx_since.py` asks ptxas.
"""

from __future__ import annotations

from prismc.hardware.ptx_versions import LEAST, Version, version
from prismc.source.record import Record

_INTEGERS = "b16 b32 b64 s16 s32 s64 u16 u32 u64"
_BYTES = f"b8 s8 u8 {_INTEGERS}"
_FLOATS = "f32 f64 f16 f16x2 rn rz rm rp ftz sat approx"
_ORDER = "relaxed acquire release acq_rel weak volatile cta gpu sys cluster:7.8"
_SPACES = "global shared local const param shared::cta:7.8 shared::cluster:7.8"
_CACHES = "ca cg cs lu cv wb wt nc L1::no_allocate:7.4 L1::evict_last:7.4 L1::evict_first:7.4 " \
    "L2::64B:7.4 L2::128B:7.4 L2::256B:7.4 L2::cache_hint:7.4"  # fmt: skip
_MEMORY = f"{_ORDER} {_SPACES} {_CACHES} {_BYTES} f32 f64 v2 v4"
_SHAPES = "m8n8k4 m8n8k16 m8n8k32 m16n8k4 m16n8k8 m16n8k16 m16n8k32"
_PRODUCTS = " ".join(f"m64n{n}k{k}" for n in range(8, 257, 8) for k in (8, 16, 32, 64, 256))
_TENSOR = "tile bulk_group mbarrier::complete_tx::bytes multicast::cluster L2::cache_hint"

# First words, version, words that may follow; a word alone is as old as its row.
_ROWS = (
    ("abs", "7.0", f"{_INTEGERS} {_FLOATS}"),
    ("activemask", "7.0", "b32"),
    ("add", "7.0", f"cc {_INTEGERS} {_FLOATS} bf16:7.8 bf16x2:7.8"),
    ("addc", "7.0", f"cc {_INTEGERS}"),
    ("and", "7.0", f"pred {_INTEGERS}"),
    ("atom", "7.0", f"add min max inc dec cas exch and or xor noftz {_MEMORY} f16 f16x2"),
    ("bar", "7.0", "sync arrive red warp popc and or pred u32"),
    ("barrier", "7.0", "sync arrive red aligned popc and or pred u32"),
    ("barrier.cluster", "7.8", "arrive wait aligned release:8.0 acquire:8.0 relaxed:8.0"),
    ("bfe", "7.0", _INTEGERS),
    ("bfi", "7.0", _INTEGERS),
    ("bfind", "7.0", f"shiftamt {_INTEGERS}"),
    ("bmsk", "7.6", "clamp wrap b32"),
    ("bra", "7.0", "uni"),
    ("brev", "7.0", _INTEGERS),
    ("brkpt", "7.0", ""),
    ("call", "7.0", "uni"),
    ("clz", "7.0", _INTEGERS),
    ("cnot", "7.0", _INTEGERS),
    ("copysign", "7.0", _FLOATS),
    ("cos", "7.0", _FLOATS),
    ("cp.async", "7.0", f"commit_group wait_group wait_all mbarrier arrive noinc b64 {_SPACES} "
     f"{_CACHES}"),
    ("cp.async.bulk", "8.0", "commit_group wait_group read"),
    ("cp.async.bulk.global", "8.0", "shared::cta bulk_group L2::cache_hint"),
    ("cp.async.bulk.shared::cluster", "8.0", "global shared::cta mbarrier::complete_tx::bytes "
     "multicast::cluster L2::cache_hint"),
    *((f"cp.async.bulk.tensor.{rank}d.global", "8.0", f"shared::cta {_TENSOR}")
      for rank in range(1, 6)),
    *((f"cp.async.bulk.tensor.{rank}d.shared::cluster", "8.0", f"global {_TENSOR}")
      for rank in range(1, 6)),
    ("cvt", "7.0", f"rni rzi rmi rpi {_BYTES} {_FLOATS}"),
    ("cvt.f32.bf16", "7.1", ""),
    ("cvt.rn.bf16.f32", "7.0", ""),
    ("cvt.rn.bf16x2.f32", "7.0", ""),
    ("cvt.rna.tf32.f32", "7.0", ""),
    ("cvta", "7.0", "to global shared local const u32 u64 param:7.7"),
    ("discard", "7.4", "global L2"),
    ("div", "7.0", f"full {_INTEGERS} {_FLOATS}"),
    ("dp2a", "7.0", "lo hi s32 u32"),
    ("dp4a", "7.0", "s32 u32"),
    ("elect", "8.0", "sync"),
    ("ex2", "7.0", _FLOATS),
    ("exit", "7.0", ""),
    ("fence", "7.0", "sc acq_rel cta gpu sys cluster:7.8"),
    ("fence.mbarrier_init", "8.0", "release cluster"),
    ("fence.proxy.alias", "7.5", ""),
    ("fence.proxy.async", "8.0", "global shared::cta shared::cluster"),
    ("fma", "7.0", f"relu bf16 bf16x2 {_FLOATS}"),
    ("fns", "7.0", "b32"),
    ("getctarank", "7.8", "shared::cluster u32 u64"),
    ("griddepcontrol", "7.8", "launch_dependents wait"),
    ("isspacep", "7.0", "global shared local const param:7.7 shared::cta:7.8 shared::cluster:7.8"),
    ("ld", "7.0", _MEMORY),
    ("ldmatrix", "7.0", f"sync aligned m8n8 x1 x2 x4 trans b16 {_SPACES}"),
    ("ldu", "7.0", _MEMORY),
    ("lg2", "7.0", _FLOATS),
    ("lop3", "7.0", "b32"),
    ("mad", "7.0", f"lo hi wide cc {_INTEGERS} {_FLOATS}"),
    ("madc", "7.0", f"lo hi cc {_INTEGERS}"),
    ("mapa", "7.8", "shared::cluster u32 u64"),
    ("match", "7.0", "any all sync b32 b64"),
    ("max", "7.0", f"{_INTEGERS} f32 f64 ftz f16 f16x2 bf16 bf16x2 NaN"),
    ("mbarrier", "7.0", f"init inval pending_count test_wait arrive noComplete b64 {_SPACES} "
     "arrive_drop parity:7.1 try_wait:7.8 expect_tx:8.0 complete_tx:8.0 acquire:8.0 release:8.0 "
     "relaxed:8.0 cta:8.0 cluster:8.0"),
    ("membar", "7.0", "cta gl sys"),
    ("min", "7.0", f"{_INTEGERS} f32 f64 ftz f16 f16x2 bf16 bf16x2 NaN"),
    ("mma", "7.0", f"sync aligned row col satfinite xor popc f16 f32 f64 bf16 tf32 s8 u8 s4 u4 s32 "
     f"{_SHAPES}"),
    ("mov", "7.0", f"pred f32 f64 {_INTEGERS}"),
    ("movmatrix", "7.8", "sync aligned m8n8 trans b16"),
    ("mul", "7.0", f"lo hi wide {_INTEGERS} {_FLOATS} bf16:7.8 bf16x2:7.8"),
    ("mul24", "7.0", "lo hi s32 u32"),
    ("nanosleep", "7.0", "u32"),
    ("neg", "7.0", f"{_INTEGERS} {_FLOATS} bf16 bf16x2"),
    ("not", "7.0", f"pred {_INTEGERS}"),
    ("or", "7.0", f"pred {_INTEGERS}"),
    ("popc", "7.0", _INTEGERS),
    ("prefetch", "7.0", "global local L1 L2 tensormap:8.0"),
    ("prmt", "7.0", "b32 f4e b4e rc8 ecl ecr rc16"),
    ("rcp", "7.0", _FLOATS),
    ("red", "7.0", f"add min max inc dec and or xor noftz {_MEMORY} f16 f16x2"),
    ("redux", "7.0", "sync add min max and or xor b32 s32 u32"),
    ("rem", "7.0", _INTEGERS),
    ("ret", "7.0", "uni"),
    ("rsqrt", "7.0", _FLOATS),
    ("sad", "7.0", _INTEGERS),
    ("selp", "7.0", f"f32 f64 {_INTEGERS}"),
    ("setmaxnreg", "8.0", "inc dec sync aligned u32"),
    ("setp", "7.0", f"eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz "
     f"f32 f64 f16 f16x2 {_INTEGERS} bf16:7.8 bf16x2:7.8"),
    ("shf", "7.0", "l r clamp wrap b32"),
    ("shfl", "7.0", "sync up down bfly idx b32"),
    ("shl", "7.0", _INTEGERS),
    ("shr", "7.0", _INTEGERS),
    ("sin", "7.0", _FLOATS),
    ("slct", "7.0", f"f32 f64 ftz {_INTEGERS}"),
    ("sqrt", "7.0", _FLOATS),
    ("st", "7.0", _MEMORY),
    ("stmatrix", "7.8", f"sync aligned m8n8 x1 x2 x4 trans b16 {_SPACES}"),
    ("sub", "7.0", f"cc {_INTEGERS} {_FLOATS} bf16:7.8 bf16x2:7.8"),
    ("subc", "7.0", f"cc {_INTEGERS}"),
    ("szext", "7.6", "clamp wrap s32 u32"),
    ("tanh", "7.0", "approx f32 f16 f16x2"),
    ("testp", "7.0", "finite infinite number notanumber normal subnormal f32 f64"),
    ("trap", "7.0", ""),
    ("vote", "7.0", "sync all any uni ballot pred b32"),
    ("wgmma", "8.0", "fence commit_group wait_group sync aligned"),
    ("wgmma.mma_async", "8.0", "sync aligned sp f16 f32 bf16 tf32 s32 s8 u8 b1 e4m3 e5m2 and popc "
     f"satfinite {_PRODUCTS}"),
    ("xor", "7.0", f"pred {_INTEGERS}"),
)  # fmt: skip

# Directives, types among them. Of debugging ones `.loc` has its newer attributes besides.
_DIRECTIVES = (
    "address_size align b8 const entry extern file func global loc local maxnctapersm maxnreg "
    "maxntid minnctapersm noinline param pragma ptr pred reg reqntid restrict section shared "
    "target version visible weak debug_str debug_abbrev debug_info debug_line debug_loc s8 u8 f16 "
    "f32 f64 b16 b32 b64 s16 s32 s64 u16 u32 u64 f16x2 noreturn reqnctapercluster:7.8 "
    "explicitcluster:7.8 maxclusterrank:7.8"
)
_REGISTERS = (
    "tid ntid ctaid nctaid laneid warpid nwarpid smid nsmid gridid clock clock64 clock_hi "
    "globaltimer globaltimer_lo globaltimer_hi lanemask_eq lanemask_le lanemask_lt lanemask_ge "
    "lanemask_gt envreg total_smem_size dynamic_smem_size clusterid:7.8 nclusterid:7.8 "
    "cluster_ctaid:7.8 cluster_nctaid:7.8 cluster_ctarank:7.8 cluster_nctarank:7.8 "
    "is_explicit_cluster:7.8 aggr_smem_size:8.1"
)
_PRAGMAS = "nounroll"


class Row(Record):
    """Instructions that begin alike: since when there are any, and since when with each word."""

    since: Version
    words: dict[str, Version]


def _since(words: str, first: Version) -> dict[str, Version]:
    parted = (word.partition(":") for word in words.replace("::", "\0").split())
    return {
        word.replace("\0", "::"): version(since) if since else first for word, _, since in parted
    }


INSTRUCTIONS: dict[tuple[str, ...], Row] = {
    tuple(name.split(".")): Row(since=version(since), words=_since(words, version(since)))
    for name, since, words in _ROWS
}
DIRECTIVES = _since(_DIRECTIVES, LEAST)
REGISTERS = _since(_REGISTERS, LEAST)
PRAGMAS = _since(_PRAGMAS, LEAST)


def instruction_since(words: tuple[str, ...]) -> Version | None:
    """Since when there is an instruction, given by its words; None if that is not known."""
    for length in range(len(words), 0, -1):
        row = INSTRUCTIONS.get(words[:length])
        if row is not None:
            found = [row.words.get(word) for word in words[length:]]
            return None if None in found else max([row.since, *filter(None, found)])
    return None
