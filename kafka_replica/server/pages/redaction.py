"""Redaction of addresses, local paths and secrets in error messages, for people without access to the machine."""

from __future__ import annotations

import re
from typing import Final

HIDDEN: Final = "[hidden]"
_WORD: Final = re.compile(r"\S+")
_PRIVATE: Final = re.compile(
    r"(^|['\"(\[=:,])[/~]|\\|://"  # absolute paths, and URLs
    r"|@[A-Za-z0-9]|(password|secret|token|credential)\S*="  # user names before a host, and secrets
    r"|[A-Za-z0-9\-.\]]+:[0-9]{1,5}\b"  # a host with a port
    r"|[0-9]{1,3}(\.[0-9]{1,3}){3}",  # IPv4 addresses
    re.IGNORECASE,
)
_ENDS: Final = ".,;:!?)'\""


def redacted(text: str) -> str:
    """Return a message in which each word that may contain a path, an address or a secret is replaced."""
    return _WORD.sub(_word, text)


def _word(found: re.Match[str]) -> str:
    word = found[0]
    if not _PRIVATE.search(word):
        return word
    return HIDDEN + word[len(word.rstrip(_ENDS)) :]
