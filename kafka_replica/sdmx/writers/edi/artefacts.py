"""Codelists, concepts and key families as segments of SDMX-EDI.

Source: SDMX 2.1 Section 4, "SDMX-EDI: Syntax and Documentation".
"""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.earlier import KeyFamilyDimension
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.model import Attribute, Codelist, Component, ConceptScheme, DataStructure, Dimension
from kafka_replica.sdmx.representation import Representation, TextFormat
from kafka_replica.sdmx.writers.edi.syntax import released, segment, texts

_TYPES: Final = {"Alpha": "A", "String": "AN", "Numeric": "N"}
_LEVELS: Final = {"dataset": "1", "dimensions": "4", "observation": "5", "group": "9"}
_WITH_OBSERVATIONS: Final = {"OBS_STATUS", "OBS_CONF", "OBS_PRE_BREAK"}
"""Attributes that are next to the observation in data messages."""


def codelist(one: Codelist) -> list[str]:
    """Write VLI, then CDV and FTX for each code."""
    if one.codes.is_stub:
        raise UnwritableError("SDMX-EDI has no place for stubs")
    english = one.names.texts[0][1] if len(one.names.texts) == 1 and one.names.texts[0][0] == "en" else None
    found = [segment("VLI", one.id, "", "", released(english or ""))]
    if english is None:
        found += texts(one.names)
    for id_, code in one.codes.items():
        found.append(segment("CDV", released(id_)))
        found += texts(code.names)
    return found


def concept_scheme(one: ConceptScheme) -> list[str]:
    """Write STC and FTX for each concept; the concepts are standalone."""
    if one.concepts.is_stub or not one.concepts:
        raise UnwritableError("SDMX-EDI has no place for a scheme of concepts, only for concepts")
    found: list[str] = []
    for id_, concept in one.concepts.items():
        found.append(segment("STC", released(id_)))
        found += texts(concept.names)
    return found


def key_family(one: DataStructure) -> list[str]:
    """Write ASI, then SCD with ATT and IDE for each component, numbered if it is part of the key or its array."""
    if one.dimension_list.is_stub:
        raise UnwritableError("SDMX-EDI has no place for stubs")
    found = [segment("ASI", one.id), *texts(one.names)]
    for dimension in one.dimension_list.values():
        found += _dimension(dimension)
    for measure in one.measures.values():
        found += _component("3", measure, str(len(one.dimension_list) + 1))
    for attribute in one.attributes.values():
        found += _attribute(attribute, has_measure=bool(one.measures))
    return found


def _dimension(one: Dimension) -> list[str]:
    if one.urn.cls == "MeasureDimension":
        raise UnwritableError(f"SDMX-EDI has no place for the measure dimension {one.urn}")
    if one.is_time:
        return _component("1", one, str(one.position))
    is_frequency = one.id == "FREQ" or (isinstance(one, KeyFamilyDimension) and "Frequency" in one.roles)
    return _component("13" if is_frequency else "4", one, str(one.position))


def _component(kind: str, one: Component, position: str = "", *more: str) -> list[str]:
    if one.concept is None or one.concept.item is None:
        raise UnwritableError(f"{one.urn} names no concept, and SDMX-EDI knows components by theirs")
    place: tuple[str, ...] = ("", position) if position else ()
    found = [segment("SCD", kind, one.concept.item, "", "", "", place)]
    own = one.representation or Representation()
    if own.format is not None:
        written = _format(own.format, is_time=one.urn.cls == "TimeDimension")
        found += [segment("ATT", "3", "5", ("", "", "", written))] if written else []
    found += more
    if own.enumeration is not None:
        found.append(segment("IDE", "1", own.enumeration.id))
    return found


def _format(one: TextFormat, *, is_time: bool) -> str:
    kind = "AN" if is_time else _TYPES.get(one.text_type or "")
    if is_time and one.max_length is None:
        return ""
    if kind is None or one.max_length is None:
        raise UnwritableError(
            f"SDMX-EDI has no place for the format {one.text_type or 'without a type'}: it knows letters, digits, "
            "and any characters, up to a length"
        )
    return f"{kind}{one.max_length}" if one.min_length == one.max_length else f"{kind}..{one.max_length}"


def _attribute(one: Attribute, *, has_measure: bool) -> list[str]:
    level = _LEVELS[one.relationship.kind]
    kind = "Z09"
    if one.id == "TIME_FORMAT":
        kind = "1"
    elif one.id in _WITH_OBSERVATIONS and level == "5" and has_measure:
        kind = "3"
    usage = segment("ATT", "3", "35", ("2" if one.mandatory else "1", "USS"))
    return _component(kind, one, "", usage, segment("ATT", "3", "32", (level, "ALV")))
