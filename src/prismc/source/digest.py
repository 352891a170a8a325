"""Digests: short names for contents, equal exactly where the contents are."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # hashlib's own; that loads OpenSSL too, a 30th of a start-up
except ImportError:
    from hashlib import blake2b


def digest(content: bytes) -> str:
    """32 hexadecimal digits; two contents that share them are not to be found (BLAKE2b)."""
    return blake2b(content, digest_size=16).hexdigest()


def text_digest(text: str) -> str:
    """The digest of a text; one with lone surrogates has its own, too."""
    return digest(text.encode("utf-8", "surrogatepass"))
