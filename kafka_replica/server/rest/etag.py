"""Entity tags: a version of the replica, and the request's address and accepted formats.

Source: RFC 9110, 8.8.3 (ETag) and 13.1.2 (If-None-Match). The tags are weak, because a compressed answer has the same
tag. They need no look-up: whoever holds the answer of a version needs no other of the same version. A service whose
version numbers can start again has to add a value to the tags that distinguishes these versions.
"""

from __future__ import annotations

import re
from datetime import date
from zlib import crc32

from kafka_replica.server.rest.messages import RestRequest
from kafka_replica.server.rest.negotiation import OfferedFormat

_tags = re.compile(r'(?:W/)?("[^"]*")').findall


def entity_tag(version: int, day: date | None, request: RestRequest, offers: tuple[OfferedFormat, ...]) -> str:
    """Return the tag of the answer to a request from a version; ``day`` is the date that the answer depends on."""
    asked = "\n".join([request.path, request.query, *(offer.content_type for offer in offers)])
    on = "" if day is None else f"{day}-"
    return f'W/"{on}{version}-{crc32(asked.encode(errors="surrogatepass")):08x}"'


def matches(if_none_match: str, tag: str) -> bool:
    """Return whether the header If-None-Match lists a tag; ``*`` names no version and does not count."""
    return tag.removeprefix("W/") in _tags(if_none_match)
