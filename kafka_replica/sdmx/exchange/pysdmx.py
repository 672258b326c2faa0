"""Artefacts as objects of pysdmx, by way of an SDMX-JSON message and pysdmx's own reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import msgspec

from kafka_replica.common.json_decoders import ONE_AT_A_TIME
from kafka_replica.errors import MissingExtraError
from kafka_replica.sdmx.errors import NotExpressibleError, UnwritableError
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.writing.messages import write_message

_Object: TypeAlias = dict[str, Any]

_UNREAD: Final = frozenset({
    "cascadeValues", "codelistExtensions", "endIndex", "epochMaps", "frequencyFormatMappings",
    "metadataAttributeUsages", "releaseCalendar", "startIndex",
})  # fmt: skip
"""Properties that pysdmx's reader skips, although the rest has another meaning without them."""
_UNREAD_IN_REGIONS: Final = {"include": True, "removePrefix": False}
"""Properties of the members of a region that pysdmx's reader skips, with their defaults."""


def to_pysdmx(artefact: Artefact, *, language: str | None = None) -> Any:
    """Return the artefact as an object of pysdmx's model.

    **Much is lost**: the result is what pysdmx reads from an SDMX-JSON message. ``docs/sdmx-libraries.md`` lists the
    losses. An artefact whose meaning would change through a loss is refused.

    Args:
        artefact: an artefact of a class that SDMX-JSON and pysdmx have.
        language: the language of names, descriptions and texts; a text that lacks it is in English, or in its first
            language.

    Raises:
        MissingExtraError: pysdmx is not installed (extra ``pysdmx``).
        NotExpressibleError: SDMX-JSON cannot represent the artefact, or pysdmx cannot read it, or a part that matters.
    """
    try:
        from pysdmx.io import read_sdmx  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("converting to pysdmx", "pysdmx") from error
    doing = f"converting {artefact.urn} to pysdmx"
    try:
        message = msgspec.json.decode(write_message(artefact, Format.SDMX_JSON_2_0))
    except UnwritableError as error:
        reason = str(error).partition("; choose ")[0]  # without the advice for another format
        raise NotExpressibleError(f"{doing}, which reads SDMX-JSON 2.0: {reason}") from error
    lost = set()
    for parent, node in _objects("", message["data"]):
        lost |= _lost(parent, node)
        _adapt(parent, node, language)
    if lost:
        raise NotExpressibleError(f"{doing}: pysdmx does not read {', '.join(sorted(lost))}, which changes the meaning")
    try:
        with ONE_AT_A_TIME:  # it prepares the types of its own messages at the first use
            read = read_sdmx(msgspec.json.encode(message).decode(), validate=False)
    except Exception as error:  # its readers raise AttributeError and others, too
        raise NotExpressibleError(f"{doing}: pysdmx cannot read it: {error.__cause__ or error}") from error
    found = [*(getattr(read, "structures", None) or ()), *(getattr(read, "reports", None) or ())]
    if not found:
        raise NotExpressibleError(f"{doing}: it has no class for a {artefact.urn.cls}")
    return found[0]


def _objects(parent: str, node: Any) -> Iterator[tuple[str, _Object]]:
    """Yield all objects of a message, each with the property that holds it."""
    if isinstance(node, dict):
        yield parent, node
        for name, value in node.items():
            yield from _objects(name, value)
    elif isinstance(node, list):
        for value in node:
            yield from _objects(parent, value)


def _lost(parent: str, node: _Object) -> set[str]:
    found = set(_UNREAD & node.keys())
    if parent in {"keyValues", "components"}:
        found |= {name for name, default in _UNREAD_IN_REGIONS.items() if node.get(name, default) != default}
    if parent in {"cubeRegions", "keys"}:
        found |= {"components"} & node.keys()
    return found


def _adapt(parent: str, node: _Object, language: str | None) -> None:
    """Write what SDMX-JSON leaves open in the form that pysdmx requires; choose the language."""
    if parent == "metadataAttributes":
        node.update({"minOccurs": 1, "maxOccurs": 1, "isPresentational": False} | node)
    for name in ("name", "description", "text"):
        node[name] = (node.get(f"{name}s") or {}).get(language, node.get(name))
        if node[name] is None:
            del node[name]
