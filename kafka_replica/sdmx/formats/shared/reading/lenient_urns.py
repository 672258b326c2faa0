"""URNs as registries write them in references: without a version, or in capitals."""

from __future__ import annotations

import re
from typing import Final

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.urns.urn import MAX_URN, Urn, parsed

_PREFIX: Final = "urn:sdmx:"
_without_version = re.compile(
    r"(urn:sdmx:[A-Za-z.]+=[A-Za-z0-9_.\-]+:[A-Za-z0-9_@$\-]+)((?:\.[A-Za-z0-9_@$.\-]+)?)"
).fullmatch


def parse_lenient(text: str) -> Urn:
    """Return the URN that a reference states. A missing version means 1.0, as in a <Ref> without a version (2.1).

    Raises:
        UrnError: the text is not a URN.
    """
    try:
        return parsed(text)
    except UrnError:
        if len(text) > MAX_URN:
            raise
        # RFC 8141, section 3.1: "urn" and the namespace identifier are case-insensitive.
        plain = _PREFIX + text[len(_PREFIX) :] if text[: len(_PREFIX)].lower() == _PREFIX else text
        found = _without_version(plain)
        if found is None and plain == text:
            raise
        return parsed(plain if found is None else f"{found[1]}({DEFAULT_VERSION}){found[2]}")
