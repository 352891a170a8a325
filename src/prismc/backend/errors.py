"""P07xx: what the CUDA compiler says about the code prismc generated, told at Prism lines."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem, Severity


class CompilerUnusable(Problem):
    """No program is at fault: the machine lacks a usable CUDA compiler (exit code 2)."""

    code = "P0701"
    title = "the CUDA compiler cannot be used"
    message = "the CUDA compiler cannot be used: {reason}"
    help_text = "{remedy}"
    is_environment = True

    reason: str
    remedy: str


class GeneratedCodeRefused(Problem):
    code = "P0702"
    title = "the CUDA compiler refuses the generated code"
    message = "{tool} refuses the code generated here for {target}: {text}"
    label = "the generated code comes from this line"
    help_text = (
        "correct the `asm` or `cuda` text that this line uses; where there is none, "
        "this is a defect of prismc: please report it with the output of `--emit cuda`"
    )

    tool: str
    target: str
    text: str


class InstructionIgnored(Problem):
    """ptxas exits with success, yet drops `setmaxnreg` or serialises `wgmma` (C7507 to C7511)."""

    code = "P0703"
    title = "the assembler gave up an instruction"
    message = "ptxas gives up an instruction for {target}: {text} ({note})"
    label = "the instruction comes from this line"
    help_text = "{remedy}"

    target: str
    note: str
    text: str
    remedy: str


class RegistersSpill(Problem):
    code = "P0704"
    title = "registers spill to memory"
    severity = Severity.WARNING
    message = (
        "`{kernel}` does not fit its registers on {target}: "
        "{stores} bytes are stored to memory and {loads} bytes loaded back"
    )
    label = "each thread has {registers} registers here"
    help_text = (
        "keep fewer values alive at a time (smaller register arrays, less unrolling), "
        "or lower `threads` or `min_blocks` in `@launch`"
    )

    kernel: str
    target: str
    registers: int
    stores: int
    loads: int


class CompilerRemark(Problem):
    code = "P0705"
    title = "the CUDA compiler warns about the generated code"
    severity = Severity.WARNING
    message = "{tool} warns about the code generated here for {target}: {text}"
    label = "the generated code comes from this line"
    help_text = "rewrite this line so that the warning does not apply"

    tool: str
    target: str
    text: str


class PtxTooOld(Problem):
    code = "P0766"
    title = "a program uses more than a version of PTX has"
    message = "`{what}` came with PTX {since}, and `--ptx-version {wanted}` is asked for"
    label = "it comes from this line"
    help_text = "ask for PTX {since}, or for the least that will do: leave `--ptx-version` out"

    what: str
    since: str
    wanted: str


class PtxUnknown(Problem):
    code = "P0767"
    title = "it is not known since when PTX has an instruction"
    message = "prismc does not know since when PTX has `{what}`: it cannot state PTX {wanted}"
    label = "it comes from this line"
    help_text = (
        "leave `--ptx-version` out: the text then states {stated}, as the CUDA compiler wrote it"
    )

    what: str
    wanted: str
    stated: str


class PtxNewerThanCompiler(Problem):
    code = "P0768"
    title = "a version of PTX is newer than the CUDA compiler"
    message = "{compiler} writes PTX {stated}, and `--ptx-version {wanted}` is asked for"
    help_text = "ask for PTX {stated} at most, or install a newer `nvidia-cuda-nvrtc`"
    is_environment = True

    compiler: str
    stated: str
    wanted: str
