"""Images packed for programs: several in one fatbin, or in an object that links."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from prismc.backend.host.images import Image
from prismc.backend.toolchain.compilation import ToolchainFailure
from prismc.backend.toolchain.find import find_c_compiler, find_fatbinary
from prismc.backend.toolchain.workshop import at_work, more_room, workshop


def pack_fatbin(images: Sequence[Image]) -> bytes:
    """All images in one file that the driver loads. Raises ToolchainFailure."""
    program = find_fatbinary()
    with workshop() as folder:
        options = ["--create=out.fatbin", "-64"]
        for number, image in enumerate(images):
            kind = "ptx" if image.ptx_version else "elf"
            file = f"{number}.{kind}"
            (folder / file).write_bytes(image.content)
            architecture = image.target.removeprefix("sm_")
            options.append(f"--image3=kind={kind},sm={architecture},file={file}")
        _run(folder, str(program), *options)
        return (folder / "out.fatbin").read_bytes()


def compile_object(name: str, text: str) -> bytes:
    """A C text as an object of this machine; `name` is what the object calls it.

    Raises ToolchainFailure.
    """
    compiler = find_c_compiler()
    with workshop() as folder:
        (folder / name).write_text(text, encoding="utf-8")
        _run(folder, *compiler, "-c", "-fPIC", name, "-o", "out.o")
        return (folder / "out.o").read_bytes()


def compile_shared_library(source: Path, definitions: Mapping[str, str]) -> bytes:
    """A C file, with texts for its macros, as a shared library. Raises ToolchainFailure."""
    compiler = find_c_compiler()
    with workshop() as folder:
        macros = [f"-D{name}={json.dumps(text)}" for name, text in definitions.items()]
        options = ["-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread", *macros]
        _run(folder, *compiler, *options, str(source), "-o", "out.so")
        return (folder / "out.so").read_bytes()


def _run(folder: Path, program: str, *arguments: str) -> None:
    try:
        run = subprocess.run(
            [program, *arguments], cwd=folder, env=at_work(folder), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    except OSError as error:
        raise ToolchainFailure(
            f"`{program}` does not start: {error.strerror}", "install it anew"
        ) from error
    if run.returncode:
        said = (run.stderr or run.stdout).strip().splitlines() or [f"exit code {run.returncode}"]
        is_full = os.strerror(errno.ENOSPC) in said[0]
        remedy = more_room() if is_full else "install a newer version of this tool"
        raise ToolchainFailure(f"`{Path(program).name}` fails: {said[0]}", remedy)
