"""URNs as registries write them where they refer to something: with a version left out, or in capitals."""

from __future__ import annotations

import re
from typing import Final

from kafka_replica.errors import UrnError
from kafka_replica.sdmx.readers.identity import DEFAULT_VERSION
from kafka_replica.sdmx.urn import MAX_URN, Urn, parsed

_PREFIX: Final = "urn:sdmx:"
_without_version = re.compile(
    r"(urn:sdmx:[A-Za-z.]+=[A-Za-z0-9_.\-]+:[A-Za-z0-9_@$\-]+)((?:\.[A-Za-z0-9_@$.\-]+)?)"
).fullmatch


def stated(text: str) -> Urn:
    """Return the URN that a reference states. Without a version it means 1.0, as a <Ref> without one does (2.1).

    Raises:
        UrnError: it is none.
    """
    try:
        return parsed(text)
    except UrnError:
        if len(text) > MAX_URN:
            raise
        # RFC 8141, section 3.1: "urn" and the namespace's name mean the same in any case.
        plain = _PREFIX + text[len(_PREFIX) :] if text[: len(_PREFIX)].lower() == _PREFIX else text
        found = _without_version(plain)
        if found is None and plain == text:
            raise
        return parsed(plain if found is None else f"{found[1]}({DEFAULT_VERSION}){found[2]}")
