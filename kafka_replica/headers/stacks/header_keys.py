"""The keys of record headers: a string, and optionally a compact form for a 32-bit identifier.

Kafka's header keys are strings. A short key saves space, because every record repeats it, so a header key may have an
unsigned 32-bit identifier. Its compact form is ``#`` and the identifier in lower-case hexadecimal digits without
leading zeros: identifier 26 is the header key ``#1a``. Both forms name the same header. There are three ranges of
identifiers:

=============================  ===========================================================
``0`` to ``0xffff``            reserved: only this library assigns them
``0x10000`` to ``0x7fffffff``  public: agreed on between organisations
``0x80000000`` and above       private: free for use within one organisation
=============================  ===========================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from kafka_replica.errors import ConfigurationError

RESERVED: Final = range(0x1_0000)
"""Identifiers that only this library assigns."""
PUBLIC: Final = range(0x1_0000, 0x8000_0000)
"""Identifiers that organisations agree on."""
PRIVATE: Final = range(0x8000_0000, 0x1_0000_0000)
"""Identifiers for any use within one organisation."""

ASSIGNED: Final = MappingProxyType(
    {
        "content-type": 1,
        "content-encoding": 2,
        "uncompressed-size": 3,
        "record-signature": 4,
        "record-encryption": 5,
        "routing-hop": 6,
    }
)
"""The header keys of this library's pieces, with their identifiers in the reserved range."""

_COMPACT: Final = re.compile(r"#(0|[1-9a-f][0-9a-f]{0,7})")


def compact_key(identifier: int) -> str:
    """Return the compact form of an identifier, such as ``#1a`` for 26.

    Raises:
        ConfigurationError: the identifier is not an unsigned 32-bit integer.
    """
    if type(identifier) is not int or not 0 <= identifier <= PRIVATE[-1]:
        raise ConfigurationError(f"identifier={identifier!r} is not possible; it is an unsigned 32-bit integer")
    return f"#{identifier:x}"


def identifier_of(key: str) -> int | None:
    """Return the identifier of a header key in compact form; None for any other header key."""
    found = _COMPACT.fullmatch(key)
    return int(found[1], 16) if found else None


@dataclass(frozen=True, slots=True)
class HeaderKey:
    """The key of a header that a piece owns.

    Args:
        name: the key as a string.
        identifier: the identifier for the compact form, outside the reserved range; None means no compact form.

    Raises:
        ConfigurationError: the name is empty or begins with ``#``, or the identifier is invalid or reserved.
    """

    name: str
    identifier: int | None = None

    def __post_init__(self) -> None:
        if not self.name or self.name.startswith("#"):
            raise ConfigurationError(f"{self.name!r} is not a name for a header; '#' begins the compact form of others")
        if self.identifier is None:
            return
        compact_key(self.identifier)
        if self.identifier in RESERVED and ASSIGNED.get(self.name) != self.identifier:
            raise ConfigurationError(
                f"the identifier {self.identifier} of header {self.name!r} is reserved; use one from "
                f"{PUBLIC[0]:#x} (agreed on between organisations) or from {PRIVATE[0]:#x} (your own)"
            )

    @property
    def forms(self) -> tuple[str, ...]:
        """The header keys that name this header: the string, and the compact form if there is one."""
        return (self.name,) if self.identifier is None else (self.name, compact_key(self.identifier))


def assigned_key(name: str) -> HeaderKey:
    """Return the header key of one of this library's pieces."""
    return HeaderKey(name, ASSIGNED[name])


def key_named(name: str) -> HeaderKey:
    """Return the header key with a name, including the compact form if this library has assigned an identifier."""
    return HeaderKey(name, ASSIGNED.get(name))
