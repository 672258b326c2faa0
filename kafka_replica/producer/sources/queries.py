"""Which structures are asked for, as paths of the REST interface of SDMX. No I/O.

A query is written as ``type/agency/id/version``, in the words of version 2 of the interface: ``*`` is all, ``,`` parts
several. What is missing at the end is ``*``: all versions, too.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from kafka_replica.errors import ConfigurationError

Api: TypeAlias = Literal["1", "2"]
"""Version of the interface: 1.x goes with SDMX 2.1, 2.x with SDMX 3."""

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
    """The path of a query, with its parameters: all of each structure, and nothing that it refers to.

    Raises:
        ConfigurationError: it is no query.
    """
    said = [part.strip() for part in query.strip("/").split("/")]
    if len(said) > _PARTS or not all(said) or any(set(part) & set("?#& ") for part in said):
        raise ConfigurationError(f"structures: {query!r} should be like codelist/ECB/*/*: type, agency, id, version")
    parts = said + ["*"] * (_PARTS - len(said))
    if api == "2":
        return f"structure/{'/'.join(parts)}?references=none&detail=full"
    kind, *rest = parts
    old = [_in_version_1(part) for part in rest]
    return f"{'structure' if kind == '*' else kind}/{'/'.join(old)}?references=none&detail=full"


def accept_of(media_type: str, api: Api) -> str:
    """What is accepted, the best first: the format that is published, then those of the interface's own edition."""
    wanted = list(dict.fromkeys([*([media_type] if media_type else []), *_MEDIA_TYPES[api]]))
    return ", ".join(f"{each};q={1 - at / 20:.2f}" if at else each for at, each in enumerate(wanted))


def _in_version_1(part: str) -> str:
    if part == "*":
        return "all"
    if part in {"+", "~"}:
        return "latest"
    return part.replace(",", "+")
