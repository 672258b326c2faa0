"""Entity tags, computed from the version of the replica, and the path, query and accepted formats of the request.

Source: RFC 9110, sections 8.8.3 (ETag) and 13.1.2 (If-None-Match). The tags are weak, because a compressed answer has
the same tag. They are known before the answer is computed, because the answer to a request from a given version never
changes. So a tag must not match at another address, where there may be nothing. A service whose version numbers can
restart has to add a distinguishing value to the tags.
"""

from __future__ import annotations

import re
from datetime import date
from zlib import crc32

from kafka_replica.server.rest.negotiation import OfferedFormat
from kafka_replica.server.rest.request_and_answer import RestRequest

_tags = re.compile(r'(?:W/)?("[^"]*")').findall


def entity_tag(version: int, day: date | None, request: RestRequest, accepted: bytes) -> str:
    """Return the tag of the answer to a request from a version.

    Args:
        version: the number of the version.
        day: the date on which the answer depends; None if it depends on no date.
        request: the request.
        accepted: the formats that the request accepts; see ``media_types_of``.
    """
    requested = crc32(accepted, crc32(f"{request.path}\n{request.query}".encode(errors="surrogatepass")))
    return f'W/"{version}-{requested:08x}"' if day is None else f'W/"{day}-{version}-{requested:08x}"'


def media_types_of(accepted: tuple[OfferedFormat, ...]) -> bytes:
    """Return the media types of all accepted formats, for ``entity_tag``."""
    return "".join([f"\n{offer.content_type}" for offer in accepted]).encode(errors="surrogatepass")


def matches(if_none_match: str, tag: str) -> bool:
    """Return whether the header If-None-Match lists a tag; ``*`` does not count, as :func:`matches_any` states."""
    return tag.removeprefix("W/") in _tags(if_none_match)


def matches_any(if_none_match: str) -> bool:
    """Return whether the header If-None-Match is ``*``: any answer matches, once it is known that there is one."""
    return if_none_match.strip() == "*"
