"""What a build made, as JSON: symbols, arguments, launch shapes, costs and origins.

`docs/record.schema.json` describes it.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from prismc.backend.cuda_module import KernelParameter, spell_file
from prismc.backend.host.images import ptx_version
from prismc.backend.host.interface import HostKernel, HostModule
from prismc.backend.host.types import pointee_alignment, prism_type
from prismc.backend.toolchain.build import Binary
from prismc.backend.toolchain.report import KernelReport
from prismc.driver.session import Session
from prismc.source.version import VERSION

RECORD_VERSION = 1


def record_text(session: Session, module: HostModule, binaries: tuple[Binary, ...]) -> str:
    """The record of one Prism file that was built for the targets of `binaries`."""
    record = {
        "version": RECORD_VERSION,
        "prismc": VERSION,
        "compiler": binaries[0].compiler,
        "source": module.source,
        "sources": [
            {"file": spell_file(name), "sha256": _sha256(session.files.known(name).text.encode())}
            for name in session.sources
        ],
        "defines": dict(session.options.defines),
        "signature": module.signature,
        "targets": [_target(binary) for binary in binaries],
        "kernels": [
            _kernel(kernel, [binary.reports[number] for binary in binaries])
            for number, kernel in enumerate(module.kernels)
        ],
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _target(binary: Binary) -> dict[str, Any]:
    version = ptx_version(binary.ptx)
    return {
        "name": binary.target,
        "ptx_version": f"{version // 10}.{version % 10}",
        "ptx_sha256": _sha256(binary.ptx.encode()),
        "cubin_sha256": _sha256(binary.cubin),
    }


def _kernel(kernel: HostKernel, reports: list[KernelReport]) -> dict[str, Any]:
    entry = kernel.entry
    return {
        "symbol": entry.name,
        "parameters": _parameters(entry.parameters),
        "launch": {
            "threads": entry.threads,
            "min_blocks": entry.min_blocks,
            "cluster": entry.cluster,
            "cooperative": entry.cooperative,
        },
        "targets": {
            report.target: _costs(report, dynamic)
            for report, dynamic in zip(reports, kernel.dynamic_shared, strict=True)
        },
    }


def _parameters(parameters: tuple[KernelParameter, ...]) -> list[dict[str, Any]]:
    """Each parameter with its place in the argument buffer: each at its alignment."""
    described: list[dict[str, Any]] = []
    offset = 0
    for parameter in parameters:
        offset = -(-offset // parameter.alignment) * parameter.alignment
        described.append(
            {
                "name": parameter.name,
                "type": prism_type(parameter),
                "offset": offset,
                "size": parameter.size,
                "alignment": parameter.alignment,
                "is_pointer": parameter.is_pointer,
                "pointee_alignment": pointee_alignment(parameter) or None,
            }
        )
        offset += parameter.size
    return described


def _costs(report: KernelReport, dynamic_shared: int) -> dict[str, int]:
    return {
        "registers": report.registers,
        "shared_bytes": report.shared_bytes,
        "dynamic_shared_bytes": dynamic_shared,
        "stack_bytes": report.stack_bytes,
        "spill_store_bytes": report.spill_stores,
        "spill_load_bytes": report.spill_loads,
        "resident_blocks": report.resident,
    }
