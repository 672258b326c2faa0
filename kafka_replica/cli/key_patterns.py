"""Match keys with the patterns of ``list``, and write the message for a pattern that matches no key."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from typing import Final

from kafka_replica.records import key_text
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.urns.urn import Urn

_START: Final = 4  # the number of characters of a key that is not a URN, in the example of a pattern


def key_matches(key: bytes, pattern: str) -> bool:
    """Return whether a key matches a pattern.

    ``*`` matches any text and ``?`` one character. A pattern with these wildcards must match the whole key or, if the
    key is a URN, its ``ID``, ``AGENCY:ID``, ``AGENCY:ID(VERSION)`` or ``CLASS=AGENCY:ID(VERSION)``. A pattern without
    wildcards may occur anywhere in the key.
    """
    if not _has_wildcard(pattern):
        return pattern in key_text(key)
    glob = pattern.replace("[", "[[]")
    return any(fnmatchcase(name, glob) for name in _names_of(key))


def no_match_message(keys: Collection[bytes], pattern: str) -> str:
    """Return the message for a pattern that matches none of the keys; it suggests a pattern that matches the first."""
    if not keys:
        return f"no key matches {pattern!r}: the topic has no keys"
    compared = "keys, and ids and references of artefacts" if _has_wildcard(pattern) else "any part of a key"
    return f'no key matches {pattern!r}, which is compared with {compared}; an example is "{_example(min(keys))}"'


def _has_wildcard(pattern: str) -> bool:
    return "*" in pattern or "?" in pattern


def _names_of(key: bytes) -> Iterator[str]:
    """Yield the names of a key with which patterns with wildcards are compared."""
    yield key_text(key)
    urn = _urn_of(key)
    if urn is not None:
        yield from (urn.id, f"{urn.agency}:{urn.id}", urn.reference, f"{urn.cls}={urn.reference}")


def _urn_of(key: bytes) -> Urn | None:
    """Return a key as a URN, or None if it is not a URN; with several topics, keys begin with the topic."""
    try:
        return Urn.parse(key.rpartition(b"\0")[2])
    except UrnError:
        return None


def _example(key: bytes) -> str:
    """Return a pattern that matches a key."""
    urn = _urn_of(key)
    return f"{key_text(key)[:_START]}*" if urn is None else f"{urn.agency}:*"
