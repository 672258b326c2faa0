"""Entity tags that are valid for one version of one incarnation, and one release. Source: RFC 9110, section 8.8.3.

Version numbers restart with each incarnation, a store that lost versions in a power cut uses their numbers again, and
another release may write the same artefact differently. So the tag of an answer, which depends on the version number,
gets a suffix that identifies the incarnation, the position and the release.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import Final

from kafka_replica.records import Position

_is_tag: Final = re.compile(r'(W/)?"([^"]*)"').fullmatch
_opaque_tags: Final = re.compile(r'(?:W/)?"([^"]*)"').findall


@lru_cache(8)
def suffix_of(incarnation: str, position: Position | None, release: str) -> str:
    """Return the suffix of an incarnation, a position and a release.

    Args:
        incarnation: the incarnation of the replica.
        position: the position of the version; None for an answer whose request names the version (``asOf``).
        release: the release of this library.
    """
    place = "" if position is None else f"/{position} {sorted(map(repr, position.open))}"
    return "." + hashlib.sha256(f"{incarnation}/{release}{place}".encode()).hexdigest()[:12]


def with_suffix(tag: str, suffix: str, *, compressed: bool) -> str:
    """Return the tag for clients; it is weak if the answer is compressed, because the bytes then differ."""
    found = _is_tag(tag.strip())
    if found is None:
        return tag
    weak = "W/" if compressed else found[1] or ""
    return f'{weak}"{found[2]}{suffix}"'


def without_suffix(if_none_match: str, suffix: str) -> str:
    """Return the header ``If-None-Match`` with only the tags that have the suffix, which is removed."""
    if not if_none_match:
        return ""
    if if_none_match.strip() == "*":
        return "*"
    known = [tag.removesuffix(suffix) for tag in _opaque_tags(if_none_match) if tag.endswith(suffix)]
    return ", ".join(f'"{tag}"' for tag in known)
