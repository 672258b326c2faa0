"""Error messages without addresses and paths of the machine, for people who may see the service but not the machine."""

from __future__ import annotations

import re
from typing import Final

HIDDEN: Final = "[hidden]"
_WORD: Final = re.compile(r"\S+")
_PRIVATE: Final = re.compile(
    r"(^|['\"(\[=:,])[/~]|\\|://"  # absolute paths, and URLs
    r"|@[A-Za-z0-9]|(password|secret|token|credential)\S*="  # names of users, and secrets
    r"|[A-Za-z0-9\-.\]]+:[0-9]{1,5}\b"  # a host with a port
    r"|[0-9]{1,3}(\.[0-9]{1,3}){3}",  # addresses of IPv4
    re.IGNORECASE,
)
_ENDS: Final = ".,;:!?)'\""


def redacted(text: str) -> str:
    """Return a message in which each word that contains a path, an address or a secret is hidden."""
    return _WORD.sub(_word, text)


def _word(found: re.Match[str]) -> str:
    word = found[0]
    if not _PRIVATE.search(word):
        return word
    return HIDDEN + word[len(word.rstrip(_ENDS)) :]
