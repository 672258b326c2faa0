"""Entity tags, computed from the version of the replica, and the query and accepted formats of the request.

Source: RFC 9110, sections 8.8.3 (ETag) and 13.1.2 (If-None-Match). The tags are weak, because a compressed answer has
the same tag. They are known before the answer is computed, because the answer to a request from a given version never
changes. A tag is compared only with tags of the same address, so answers at different paths may have the same tag. A
service whose version numbers can restart has to add a distinguishing value to the tags.
"""

from __future__ import annotations

import re
from datetime import date
from zlib import crc32

from kafka_replica.server.rest.negotiation import OfferedFormat

_tags = re.compile(r'(?:W/)?("[^"]*")').findall


def entity_tag(version: int, day: date | None, query: str, accepted: tuple[OfferedFormat, ...]) -> str:
    """Return the tag of the answer to a request from a version.

    Args:
        version: the number of the version.
        day: the date on which the answer depends; None if it depends on no date.
        query: the query string of the request.
        accepted: the formats that the request accepts.
    """
    requested = "\n".join([query, *(offer.content_type for offer in accepted)])
    prefix = "" if day is None else f"{day}-"
    return f'W/"{prefix}{version}-{crc32(requested.encode(errors="surrogatepass")):08x}"'


def matches(if_none_match: str, tag: str) -> bool:
    """Return whether the header If-None-Match lists a tag; ``*`` does not count, as :func:`matches_any` states."""
    return tag.removeprefix("W/") in _tags(if_none_match)


def matches_any(if_none_match: str) -> bool:
    """Return whether the header If-None-Match is ``*``: any answer matches, once it is known that there is one."""
    return if_none_match.strip() == "*"
