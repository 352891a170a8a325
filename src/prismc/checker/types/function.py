"""One instance: its signature, then its body. The top of the ladder (see `context`)."""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.escapes import check_escapes
from prismc.checker.types.flow import check_flow
from prismc.checker.types.signatures import Signatures
from prismc.checker.types.walk import body_of
from prismc.frontend import ast


class FunctionElaborator(Signatures):
    """Elaborates what one request asks for."""

    def body(self) -> typed.Body:
        """The instance with its statements; `is_failed` tells whether all of it was accepted."""
        assert self.request is not None
        assert self.instance is not None
        node = self.request.symbol.node
        assert isinstance(node, ast.Function | ast.Kernel)
        statements = self.statements(node.body)
        body = body_of(self.instance, statements)
        if not self.is_failed and not _is_written_in_cuda(body):
            for problem in (*check_flow(body), *check_escapes(body)):
                self.report(problem)
        return body


def _is_written_in_cuda(body: typed.Body) -> bool:
    """Raw C++ may return and assign where nobody sees it."""
    return any(isinstance(inner, typed.CudaText) for inner in body.all_statements)
