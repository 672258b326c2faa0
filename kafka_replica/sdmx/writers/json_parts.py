"""Shared parts of the writers of both kinds of JSON: objects without empty members, references, facets of a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from kafka_replica.sdmx.containers import StubTuple
from kafka_replica.sdmx.representation import TextFormat
from kafka_replica.sdmx.urn import Urn

Json: TypeAlias = dict[str, Any]


def obj(*parts: Mapping[str, Any], **members: Any) -> Json:
    """Write an object of these members, without empty ones: None, and empty lists."""
    found: Json = {}
    for part in (*parts, members):
        for name, value in part.items():
            if value is not None and not (isinstance(value, list) and not value):
                found[name] = value
    return found


def urn(one: Urn | None) -> str | None:
    """Write a reference."""
    return None if one is None else str(one)


def urns(found: Iterable[Urn]) -> list[str]:
    """Write references."""
    return [str(one) for one in found]


def parts(found: tuple[Any, ...]) -> list[Any]:
    """Return the parts of an artefact, or none for a stub."""
    return [] if isinstance(found, StubTuple) else list(found)


def true(value: bool) -> bool | None:
    """Write a flag that is left out if it is false."""
    return True if value else None


def facets(one: TextFormat) -> Json:
    """Return the facets of a text, except for its type and sentinel values, whose spelling varies."""
    return obj(
        isSequence=one.is_sequence,
        isMultiLingual=one.is_multi_lingual,
        minLength=one.min_length,
        maxLength=one.max_length,
        minValue=one.min_value,
        maxValue=one.max_value,
        startValue=one.start_value,
        endValue=one.end_value,
        interval=one.interval,
        startTime=one.start_time,
        endTime=one.end_time,
        timeInterval=one.time_interval,
        decimals=one.decimals,
        pattern=one.pattern,
    )
