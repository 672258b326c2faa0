"""Conversion of queries for structures to paths of the SDMX REST interface. No I/O.

A query has the form ``type/agency/id/version``, with the syntax of version 2 of the interface: ``*`` means all, and
``,`` separates several values. Missing parts at the end mean ``*``, which includes all versions.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from kafka_replica.errors import ConfigurationError

Api: TypeAlias = Literal["1", "2"]
"""The major version of the interface: 1 for SDMX 2.1, 2 for SDMX 3."""

_PARTS = 4
_MEDIA_TYPES: dict[Api, tuple[str, ...]] = {
    "2": (
        "application/vnd.sdmx.structure+xml;version=3.0.0",
        "application/vnd.sdmx.structure+json;version=2.0.0",
        "application/vnd.sdmx.structure+xml;version=3.1.0",
        "application/vnd.sdmx.structure+json;version=2.1.0",
        "application/vnd.sdmx.structure+xml;version=2.1",
        "application/vnd.fusion.json",
        "application/xml",
        "application/json",
    ),
    "1": (
        "application/vnd.sdmx.structure+xml;version=2.1",
        "application/vnd.sdmx.structure+json;version=1.0",
        "application/vnd.fusion.json",
        "application/xml",
        "application/json",
    ),
}


def path_of(query: str, api: Api) -> str:
    """Return the path of a query, with parameters that request full structures without referenced structures.

    Raises:
        ConfigurationError: the query is invalid.
    """
    segments = [part.strip() for part in query.strip("/").split("/")]
    if len(segments) > _PARTS or not all(segments) or any(set(part) & set("?#& ") for part in segments):
        raise ConfigurationError(f"structures: {query!r} should be like codelist/ECB/*/*: type, agency, id, version")
    parts = segments + ["*"] * (_PARTS - len(segments))
    if api == "2":
        return f"structure/{'/'.join(parts)}?references=none&detail=full"
    kind, *rest = parts
    old = [_in_version_1(part) for part in rest]
    return f"{'structure' if kind == '*' else kind}/{'/'.join(old)}?references=none&detail=full"


def accept_of(media_type: str, api: Api) -> str:
    """Return the header ``Accept``: first the published format, then the formats of the interface's SDMX edition."""
    every: list[str] = [*([media_type] if media_type else []), *_MEDIA_TYPES[api]]
    media_types = list(dict.fromkeys(every))
    return ", ".join(f"{each};q={1 - at / 20:.2f}" if at else each for at, each in enumerate(media_types))


def _in_version_1(part: str) -> str:
    if part == "*":
        return "all"
    if part in {"+", "~"}:
        return "latest"
    return part.replace(",", "+")
